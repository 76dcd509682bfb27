"""Numbers in a table that is mostly zero, which is never made dense as a whole: delta_a(i, j) = (x_ia - x_ja)^2."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._kernels.sparse import dense_columns, shuffle_samples, sparse_gram, sparse_rows, sparse_scores
from .._utils.arrays import Floats, Labels, Subset
from .alone import runs_labels, runs_within
from .features import Features, SparseRows
from .likelihood import Likelihood, of_counts
from .mixed import shares_of
from .numeric import BLOCK_VALUES
from .units import Flags, counted_totals, explained_share

# For columns with a larger share of stored values, products of dense columns are cheaper than those of stored values.
DENSE_SHARE = 1 / 8


class Columns(NamedTuple):
    """Columns x - means where x is mostly zero, compressed by column.

    The nonzero values of column a of x are values[starts[a]:starts[a+1]], for the samples in that range of `samples`.
    """

    values: Floats
    samples: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    means: Floats


def two_values(values: Floats, starts: npt.NDArray[np.int64], n_samples: int) -> tuple[Flags, Floats]:
    """Which columns take two values, counting the zeros that are not stored; and the square of their difference."""
    counts = np.diff(starts)
    low, high = (extreme.reduceat(values, starts[:-1]) for extreme in (np.minimum, np.maximum))
    at_an_end = (values == np.repeat(low, counts)) | (values == np.repeat(high, counts))
    full = counts == n_samples
    two = np.logical_and.reduceat(at_an_end, starts[:-1]) & (full | (low == high))
    return two, np.where(full, high - low, np.maximum(np.abs(low), np.abs(high))) ** 2


class Binary(NamedTuple):
    """The columns with two values; the stored values that are one of the two, and the column of each among these."""

    columns: Subset
    stored: Subset
    owners: Subset


def binary(table: Columns, n_samples: int) -> Binary:
    """The columns that take two values. A column without zeros is centered, so that its larger value is positive."""
    counts = np.diff(table.starts)
    two = two_values(table.values, table.starts, n_samples)[0]
    stored = np.flatnonzero(np.repeat(two, counts) & (np.repeat(counts < n_samples, counts) | (table.values > 0)))
    place = np.cumsum(two) - 1
    return Binary(np.flatnonzero(two), stored, np.repeat(place, counts)[stored])


def centered_columns(part: Any, standardize: bool, owners: Subset) -> tuple[Columns, Floats]:
    """The columns of a sparse matrix, compressed by column, after centering and, if asked for, standardization.

    Also returns the totals of the columns, which are their shares if standardized (see `counted_totals`).
    """
    n, p = part.shape
    values, starts = part.data.astype(np.float64), part.indptr.astype(np.int64)
    counts = np.diff(starts)
    column = np.repeat(np.arange(p), counts)

    def over(each: Floats) -> Floats:
        return np.bincount(column, weights=each, minlength=p).astype(np.float64, copy=False)

    # Twice, because the mean of large values has a rounding error, which the second pass removes.
    means = np.zeros(p)
    for _ in range(2):
        means += (over(values - means[column]) - (n - counts) * means) / n
        # A column without zeros is centered explicitly, so that a small spread about a large value keeps its digits.
        # A column that contains a zero cannot have a small spread about a large value.
        shift = np.where(counts == n, means, 0.0)
        values -= shift[column]
        means -= shift
    if standardize:
        # Divide by the largest value first, so that squares of very large or small values stay within range.
        scale = np.maximum.reduceat(np.abs(values), starts[:-1])
        values, means = values / scale[column], means / scale
    total = over((values - means[column]) ** 2) + (n - counts) * means**2
    shares = shares_of(owners)
    # Columns of a group count by their shares, whether standardized or not.
    if standardize or shares.min() < 1.0:
        counted = counted_totals(total, standardize, *two_values(values, starts, n), shares)
        scale = np.sqrt(np.divide(total, counted, out=np.ones(p), where=counted > 0))
        values, means, total = values / scale[column], means / scale, counted
    return Columns(values, part.indices.astype(np.int32), starts, means), total


class SparseFeatures(Features):
    """Columns of a sparse table of finite numbers, one feature each; no column may be constant.

    `part` is compressed by column and stores every value once. owners[a] is the feature that column a belongs to in the
    end, since columns may form groups.
    """

    def __init__(self, part: Any, standardize: bool, owners: Subset) -> None:
        self.n_samples, self.n_features = part.shape
        self.columns, self._total = centered_columns(part, standardize, owners)
        self.shares, self.streams = shares_of(owners), owners
        # Shared with all permuted copies: permuting a column does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}
        self._binary: Binary | None = None

    @property
    def total(self) -> Floats:
        return self._total

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return self.shares * sparse_scores(*self.columns, self.total, labels, n_clusters)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        found = super().likelihood(labels, n_clusters, members)
        if self._binary is None:
            self._binary = binary(self.columns, self.n_samples)
        columns, stored, owners = self._binary
        if columns.size:
            cells = labels[self.columns.samples[stored]].astype(np.int64) * columns.size + owners
            ones = np.bincount(cells, minlength=n_clusters * columns.size).reshape(n_clusters, columns.size)
            sizes = np.bincount(labels, minlength=n_clusters)[:, None]
            found.gains[columns] = of_counts([sizes - ones, ones]).gains
        return found

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, None]:
        table = self.columns if weights is None else self._scaled(subset, np.sqrt(weights))
        dense = np.diff(table.starts)[subset] > DENSE_SHARE * self.n_samples
        gram = sparse_gram(*table, subset[~dense], self.n_samples)
        for block in self._blocks(table, subset[dense]):
            gram += block.T @ block
        return gram, None

    def _scaled(self, subset: Subset, scale: Floats) -> Columns:
        """The columns, with those of a subset multiplied by `scale` and all others zero."""
        of_all = np.zeros(self.n_features)
        of_all[subset] = scale
        values = self.columns.values * np.repeat(of_all, np.diff(self.columns.starts))
        return self.columns._replace(values=values, means=self.columns.means * of_all)

    def _blocks(self, table: Columns, subset: Subset) -> Iterator[Floats]:
        """Dense columns, stored as rows, in blocks that are small enough to stay in the cache."""
        step = max(1, BLOCK_VALUES // self.n_samples)
        for first in range(0, subset.size, step):
            yield dense_columns(*table, subset[first : first + step], self.n_samples)

    def rows(self, subset: Subset, weights: Floats | None = None) -> SparseRows:
        values, columns, starts = sparse_rows(*self.columns[:3], subset, self.n_samples)
        counted = np.ones(subset.size) if weights is None else weights
        return SparseRows(values, columns, starts, self.columns.means[subset], counted)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            blocks = self._blocks(self.columns, np.arange(self.n_features))
            within = [runs_within(block.T, n_clusters) for block in blocks]
            self._best_scores[n_clusters] = self.shares * explained_share(np.concatenate(within), self.total)
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        return runs_labels(dense_columns(*self.columns, np.array([feature]), self.n_samples)[0], n_clusters)

    def permuted(self, seed: int) -> Self:
        # Permuting a column changes only the samples of its values; everything else is shared.
        other = copy(self)
        samples = shuffle_samples(
            self.columns.samples, self.columns.starts, self.n_samples, self.streams, np.uint64(seed)
        )
        other.columns = self.columns._replace(samples=samples)
        return other
