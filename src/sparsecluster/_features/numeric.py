"""Numbers: delta_a(i, j) = (x_ia - x_ja)^2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._kernels.objective import between_scores
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._utils.arrays import Floats, Labels, Subset, Table
from .alone import runs_labels, runs_within
from .features import Features, Rows, quadratic_sums
from .likelihood import Likelihood, multinomial
from .units import counted_totals, explained_share, has_two_values

# For a larger share of the columns, zero weights for the others are cheaper than a copy of the chosen ones.
COPY_SHARE = 0.5
# A table of at most this many bytes is kept: freeing it would not be worth computing it again.
SMALL = 2**24
# Number of values copied together: few enough to stay in the cache.
BLOCK_VALUES = 2**17


@dataclass(frozen=True)
class Source:
    """The user's table, which is never changed, and how to read it; `unit` is that of a table as it is."""

    values: Table
    samples: Subset
    columns: Subset
    standardize: bool
    unit: float = 1.0

    def table(self) -> Table:
        """The samples and columns in the given order, centered and, if asked for, standardized.

        Standardized columns have a total of 1; columns with only two values have a total of 1 on average.
        """
        table = np.ascontiguousarray(self.values[np.ix_(self.samples, self.columns)])
        # Twice, because the mean of large values has a rounding error, which the second pass removes.
        for _ in range(2):
            table -= table.mean(axis=0, dtype=np.float64).astype(table.dtype)
        if self.standardize:
            # Divide by the largest value first, so that squares of very large or small values stay within range.
            table /= np.maximum(table.max(axis=0), -table.min(axis=0))
            total = totals(table)
            two_valued = has_two_values(table)
            if two_valued.any():
                apart = np.where(two_valued, np.ptp(table, axis=0).astype(np.float64) ** 2, 1.0)
                total /= counted_totals(total, True, two_valued, apart)
            table /= np.sqrt(total).astype(table.dtype)
        elif self.unit != 1.0:
            table /= self.unit
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        # Samples and columns that are not used need not be sent to other processes.
        values, samples, columns = self.values, self.samples, self.columns
        if samples.size * columns.size < values.size or not values.flags.forc:
            values, samples, columns = (
                values[np.ix_(samples, columns)],
                np.arange(samples.size),
                np.arange(columns.size),
            )
        return Source, (values, samples, columns, self.standardize, self.unit)


def totals(table: Table) -> Floats:
    """T_a of every centered column."""
    return np.einsum("ia,ia->a", table, table, dtype=np.float64)


class NumericFeatures(Features):
    """Columns of a table of finite numbers, one feature each; no column may be constant."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.n_samples, self.n_features = source.samples.size, source.columns.size
        self._table: Table | None = None
        self._is_permuted = False
        self._total: Floats | None = None
        self.shares = np.ones(self.n_features)
        # Shared with all permuted copies: permuting a column does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}
        # Columns with two values, found when they are first needed.
        self._two_valued: Subset | None = None

    @property
    def table(self) -> Table:
        if self._table is None:
            self._table = self.source.table()
        return self._table

    @property
    def total(self) -> Floats:
        if self._total is None:
            self._total = totals(self.table)
        return self._total

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return between_scores(self.table, self.total, labels, n_clusters)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        found = super().likelihood(labels, n_clusters, members)
        if self._two_valued is None:
            self._two_valued = np.flatnonzero(has_two_values(self.table))
        if self._two_valued.size:
            # The table is centered, so the larger of two values is the positive one.
            codes = (self.table[:, self._two_valued] > 0).astype(np.int64)
            found.gains[self._two_valued] = multinomial(codes, labels, n_clusters).gains
        return found

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, None]:
        gram = np.zeros((self.n_samples, self.n_samples))
        # In blocks of columns, so that the copy of the chosen ones stays small.
        step = max(1, BLOCK_VALUES // self.n_samples)
        for first in range(0, subset.size, step):
            rows = take_columns(self.table, subset[first : first + step])
            if weights is not None:
                rows *= np.sqrt(weights[first : first + step]).astype(rows.dtype)
            gram += rows @ rows.T
        return gram, None

    def rows(self, subset: Subset, weights: Floats | None = None) -> Rows:
        counted = self.shares[: subset.size] if weights is None else weights
        if subset.size <= COPY_SHARE * self.n_features:
            return Rows(take_columns(self.table, subset), counted)
        of_all = np.zeros(self.n_features)
        of_all[subset] = counted
        return Rows(self.table, of_all)

    def pair_sums(self, counts: Floats) -> Floats:
        return quadratic_sums(self.table, counts)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            self._best_scores[n_clusters] = explained_share(runs_within(self.table, n_clusters), self.total)
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        return runs_labels(self.table[:, feature], n_clusters)

    def permuted(self, seed: int) -> Self:
        copy = type(self)(self.source)
        copy._best_scores = self._best_scores
        copy._table = self.source.table() if self._table is None else self._table.copy()
        shuffle_columns(copy._table, np.arange(self.n_features), np.uint64(seed))
        copy._is_permuted = True
        return copy

    def release(self) -> None:
        if self._table is not None and self._table.nbytes > SMALL:
            self._table = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process can make the table from the source, which is sent in any case. Best scores are sent: they are
        # those of the data, also for permuted copies.
        return vars(self) if self._is_permuted else vars(self) | {"_table": None}
