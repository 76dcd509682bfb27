"""Categories by the levels of the samples: the Hamming dissimilarity is 0 for equal levels and 1 for different ones."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._kernels.counts import add_matches, add_seen_levels, level_scores, numbered_levels, updated_squares
from .._kernels.matrices import mirror
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._utils.arrays import Floats, Labels, Mask, Subset
from .last import Last


class SeenLevelRows(NamedTuple):
    """Coordinates beside categories, both with missing values, as in the kernels of `seen_levels`."""

    table: Floats
    weights: Floats
    seen: Mask
    levels: npt.NDArray[np.uint32]
    units: Floats
    level_seen: Mask
    shares: Floats
    n_levels: int


def corners(count: int) -> Floats:
    """The corners of a regular simplex with sides of length 1, of shape (count, count - 1).

    These are scaled indicator columns without the direction that all corners share. In column j the first j corners
    have the same value, the next one has the opposite sign, and the others are zero (Helmert).
    """
    at = np.zeros((count, count - 1))
    for j in range(1, count):
        at[:j, j - 1], at[j, j - 1] = 1.0, -j
        at[:, j - 1] /= np.sqrt(2.0 * j * (j + 1))
    return at


class Levels:
    """Categories of the same samples, with `codes` of shape (n_samples, n_categories), NaN if missing.

    A difference of level counts as much as `units` says, which are 1 until they are set.
    """

    def __init__(self, codes: Floats) -> None:
        self.codes = np.where(np.isnan(codes), -1, codes).astype(np.int32)
        self.n_levels = self.codes.max(axis=0, initial=-1).astype(np.int64) + 1
        self.starts: Subset = np.concatenate([[0], np.cumsum(self.n_levels)])
        self.observed = (self.codes >= 0).sum(axis=0).astype(np.float64)
        self.units = np.ones(self.n_levels.size)
        self._last = Last()
        # sum_l n_l^2 / n with all samples in one cluster.
        self.one: Floats = updated_squares(self.codes, self.starts, np.zeros(len(codes), np.int32), *self.last(1))

    @property
    def total(self) -> Floats:
        """T_a of every category before it is multiplied by its unit: half of n - sum_l n_l^2 / n."""
        return (self.observed - self.one) / 2

    def last(self, n_clusters: int) -> tuple[Any, ...]:
        """The labels that were scored last, and their counts; at first, no sample has a label."""
        last = self._last
        if last.state is None or len(last.state[1]) != n_clusters:
            shapes = (int(self.starts[-1]), self.units.size, self.units.size)
            counts = [np.zeros((n_clusters, width), np.int64) for width in shapes]
            last.state = np.full(len(self.codes), -1, np.int32), *counts
        return tuple(last.state)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        """1 - Delta_a[C] / T_a of every category over the observed samples."""
        of_all = self.codes, self.starts, self.one, self.observed
        return level_scores(*of_all, labels, *self.last(n_clusters))

    def counts(self) -> npt.NDArray[np.int64]:
        """The number of samples with each level, of shape (n_categories, most levels), filled up with zeros."""
        counts = np.zeros((self.units.size, int(self.n_levels.max(initial=0))), np.int64)
        in_order = np.bincount((self.codes + self.starts[:-1])[self.codes >= 0], minlength=int(self.starts[-1]))
        counts[np.arange(counts.shape[1]) < self.n_levels[:, None]] = in_order
        return counts

    def add_pairs(self, chosen: Subset, weights: Floats, similarity: Floats) -> None:
        """Add half the weight of every category in which two samples have the same level."""
        own = np.zeros_like(similarity)
        add_matches(take_columns(self.codes, chosen), self.units[chosen] * weights / 2, own)
        mirror(own)
        similarity += own

    def add_seen(self, chosen: Subset, weights: Floats, seen: Floats) -> None:
        """Add the weight of every category that is observed in both samples."""
        own = np.zeros_like(seen)
        add_seen_levels(take_columns(self.codes, chosen), weights, own)
        mirror(own)
        seen += own

    def numbered(self, chosen: Subset) -> tuple[npt.NDArray[np.uint32], int]:
        """The levels of some categories, numbered one after the other, and the number of all levels."""
        widths = self.n_levels[chosen]
        return numbered_levels(self.codes, chosen, np.cumsum(widths) - widths), int(widths.sum())

    def seen(self, chosen: Subset) -> Mask:
        """A mask of the observed levels of some categories."""
        return (take_columns(self.codes, chosen) >= 0).astype(np.uint8)

    def center(self, chosen: Subset, units: Floats) -> float:
        """n times the squared norm of the mean of indicator columns whose squared distance is twice the units."""
        return float(units @ self.one[chosen]) / 2

    @property
    def widths(self) -> Subset:
        """The number of coordinates of each category."""
        return self.n_levels - 1

    @cached_property
    def coordinates(self) -> tuple[Floats, Mask]:
        """Centered coordinates with the same dissimilarities, of shape (n_samples, q), and a mask; 0 if missing."""
        table = np.zeros((len(self.codes), int(self.widths.sum())))
        ends = np.cumsum(self.widths)
        for a, end in enumerate(ends.tolist()):
            seen = np.flatnonzero(self.codes[:, a] >= 0)
            own = corners(int(self.n_levels[a]))[self.codes[seen, a]]
            table[seen, end - own.shape[1] : end] = (own - own.mean(axis=0)) * np.sqrt(self.units[a])
        return table, np.repeat((self.codes >= 0).astype(np.uint8), self.widths, axis=1)

    def permuted(self, streams: Subset, seed: int) -> Self:
        """A copy in which the samples are permuted within each category."""
        other = copy(self)
        other.__dict__.pop("coordinates", None)
        other._last = Last()
        other.codes = self.codes.copy()
        shuffle_columns(other.codes, streams, np.uint64(seed))
        return other


def columns_of(starts: Any, chosen: Subset) -> Subset:
    """The columns of some features, where those of feature a begin at starts[a]."""
    first, widths = starts[chosen], starts[chosen + 1] - starts[chosen]
    return np.arange(widths.sum()) + np.repeat(first - (np.cumsum(widths) - widths), widths)
