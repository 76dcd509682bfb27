"""Sums over the samples of every cluster, in whole numbers, so that they can be added in any order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from .._features.units import power_of_two
from .._kernels.passes import (
    SPLIT,
    count_levels,
    sum_numbers,
    sum_squares,
    sum_stored,
    sum_stored_squares,
)
from .._utils.arrays import Floats, Labels, Subset

Counts = npt.NDArray[np.int64]
# Rows that are summed together: sums of fewer than 2^26 values are exact, and those of a slice stay in the cache.
SLICE_VALUES = 2**17


class Scale(NamedTuple):
    """How the codes of the columns enter sums: numbers as u = (x - origin) * unit in [-1, 1], levels by their counts.

    Attributes
    ----------
    origin, unit : ndarray of shape (n_columns,)
        The middle of the values, and a power of two. The unit of a column of levels is 0.
    low, high : ndarray of shape (n_columns,)
        The smallest and the largest code; NaN if no value is observed.
    levels : ndarray of shape (n_columns,)
        The number of levels of every column; 0 for a column of numbers.
    """

    origin: Floats
    unit: Floats
    low: Floats
    high: Floats
    levels: Counts

    @classmethod
    def of(cls, low: Floats, high: Floats, levels: Counts, is_sparse: bool = False) -> Scale:
        """The scale of columns with the given extremes. In a sparse table the origin is 0, which is not stored."""
        with np.errstate(invalid="ignore"):
            origin = np.zeros_like(low) if is_sparse else np.nan_to_num(low + (high - low) / 2.0)
            reach = np.fmax(np.abs(high - origin), np.abs(low - origin))
        usable = (levels == 0) & (reach > 0.0)
        unit = np.where(usable, power_of_two(np.where(usable, reach, 1.0)), 0.0)
        return cls(origin, unit, low, high, levels)

    def among(self, columns: Subset) -> Scale:
        """The scale of some of the columns."""
        origin, unit, low, high, levels = self
        return Scale(origin[columns], unit[columns], low[columns], high[columns], levels[columns])

    def widened(self, sums: Sums, columns: Subset) -> Sums:
        """Sums over some of the columns as sums over all, with zeros for the others."""
        k = sums.sizes.size
        shape, firsts = (k, self.levels.size), self.firsts
        seen, highs, lows = (np.zeros(shape, np.int64) for _ in range(3))
        for wide, narrow in ((seen, sums.seen), (highs, sums.highs), (lows, sums.lows)):
            wide[:, columns] = narrow
        counts = np.zeros((k, firsts[-1]), np.int64)
        owner = np.repeat(self.coded, self.levels[self.coded])
        counts[:, np.isin(owner, columns)] = sums.counts
        return sums._replace(seen=seen, highs=highs, lows=lows, counts=counts)

    @property
    def coded(self) -> Subset:
        """The columns of levels."""
        return np.flatnonzero(self.levels)

    @property
    def firsts(self) -> Counts:
        """The place of the first level of every column of levels among the levels of all of them."""
        return np.concatenate([[0], np.cumsum(self.levels[self.coded])]).astype(np.int64)


class Sums(NamedTuple):
    """Sums over the samples of k clusters.

    Attributes
    ----------
    sizes : ndarray of shape (k,)
        The number of samples.
    seen : ndarray of shape (k, n_columns)
        The number of observed values.
    highs, lows : ndarray of shape (k, n_columns)
        The sum of u is highs / 2^26 + lows / 2^52; see `_kernels.passes`.
    counts : ndarray of shape (k, n_levels)
        The number of samples with every level, for all columns of levels one after the other.
    moved : ndarray of shape ()
        The number of samples that were in another cluster before.
    """

    sizes: Counts
    seen: Counts
    highs: Counts
    lows: Counts
    counts: Counts
    moved: Counts

    @property
    def means(self) -> Floats:
        """The mean of u in every cluster; NaN where no value is observed."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(joined(self.highs, self.lows) / self.seen)


class Moments(NamedTuple):
    """Sums over all samples as one cluster, of shape (n_columns,): squares of u, and values at either end."""

    sums: Sums
    highs: Counts
    lows: Counts
    ends: Counts

    @property
    def squares(self) -> Floats:
        """The sum of squares of u."""
        return joined(self.highs, self.lows)


def is_sparse(block: Any) -> bool:
    """Whether a block is a sparse matrix, which is then compressed by row."""
    return bool(scipy.sparse.issparse(block))


def joined(highs: Counts, lows: Counts) -> Floats:
    """A sum from its two whole numbers."""
    return np.asarray(highs / SPLIT + lows / SPLIT**2)


def added(one: Any, other: Any) -> Any:
    """The sum of two results of a pass, each an array or a tuple of such."""
    if isinstance(one, tuple):
        parts = (added(left, right) for left, right in zip(one, other, strict=True))
        return type(one)._make(parts) if hasattr(one, "_make") else tuple(parts)
    return one + other


def whole(sums: Floats) -> Counts:
    """Exact sums of whole numbers, as integers."""
    return sums.astype(np.int64)


def sums_of(block: Any, scale: Scale, labels: Labels, k: int, moved: int = 0) -> Sums:
    """The sums of a block of codes, of shape (n_rows, n_columns), dense or compressed by row."""
    shape = (k, block.shape[1])
    highs, lows, seen = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    sizes = np.bincount(labels, minlength=k).astype(np.int64)
    firsts = scale.firsts
    counts = np.zeros((k, firsts[-1]), np.int64)
    if is_sparse(block):
        sum_stored(block.data, block.indices, block.indptr, scale.unit, labels, highs, lows, seen)
        seen[:] = sizes[:, None]
    else:
        sum_numbers(block, scale.origin, scale.unit, labels, highs, lows, seen)
        if scale.coded.size:
            count_levels(block, scale.coded, firsts, labels, counts)
    return Sums(sizes, whole(seen), whole(highs), whole(lows), counts, np.int64(moved))  # type: ignore[arg-type]


def moments_of(block: Any, scale: Scale) -> Moments:
    """The moments of a block of codes."""
    sums = sums_of(block, scale, np.zeros(block.shape[0], np.int32), 1)
    highs, lows, ends = (np.zeros(block.shape[1]) for _ in range(3))
    if is_sparse(block):
        sum_stored_squares(block.data, block.indices, scale.unit, scale.low, scale.high, highs, lows, ends)
        # Zeros are not stored, but may be one of the ends.
        at_zero = (scale.low == 0.0) | (scale.high == 0.0)
        ends += np.where(at_zero, block.shape[0] - np.bincount(block.indices, minlength=block.shape[1]), 0)
    else:
        sum_squares(block, scale.origin, scale.unit, scale.low, scale.high, highs, lows, ends)
    return Moments(sums, whole(highs), whole(lows), whole(ends))
