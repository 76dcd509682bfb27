"""Numbers: delta_a(i, j) = (x_ia - x_ja)^2."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from .._kernels.alternation import alternate_rows
from .._kernels.kinds import Numbers
from .._kernels.nulls import null_objectives_pairs, null_objectives_rows
from .._kernels.objective import between_scores
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._kernels.settled import is_settled
from .._kernels.sums import arranged, measure_columns, scale_columns, updated_scores
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
# For a subset of this many values, a copy of its columns takes longer than a look at whether any sample would move.
LARGE_VALUES = 2**22
# Totals that differ by less than this share are equal.
SAME_TOTAL = 1e-9
# With more clusters than this share of the samples, their sums would take too much memory to be kept.
SUMS_SHARE = 0.1


class Scaling(NamedTuple):
    """How the values of each column are centered, scaled and rounded, in the words of `scale_columns`."""

    first_means: Table
    means_left: Table
    largest: Table
    roots: Table
    anchors: Floats


@dataclass(frozen=True)
class Source:
    """The user's table, which is never changed, and how to read it; `unit` is that of a table as it is."""

    values: Table
    samples: Subset
    columns: Subset
    standardize: bool
    unit: float = 1.0
    # Kept when it is first needed: all permuted copies have the same.
    _scaling: list[Scaling] = field(default_factory=list, init=False, repr=False, compare=False)

    def table(self) -> Table:
        """The samples and columns in the given order, centered and, if asked for, standardized.

        Standardized columns have a total of 1; columns with only two values have a total of 1 on average. The values
        are rounded so that sums of them are exact, which costs a few of their last bits.
        """
        table = np.empty((self.samples.size, self.columns.size), self.values.dtype)
        arranged(self.values, self.samples, self.columns, table)
        if not self._scaling:
            self._scaling.append(self._scale_of(table))
        scale_columns(table, *self._scaling[0])
        return table

    def _scale_of(self, raw: Table) -> Scaling:
        """The scale of every column."""
        p = raw.shape[1]
        means, largest, spreads = np.zeros((2, p), raw.dtype), np.empty(p, raw.dtype), np.empty((2, p))
        measure_columns(raw, 0.0 if self.standardize else self.unit, means, largest, spreads)
        total, apart = spreads
        counted = counted_totals(total, self.standardize, apart > 0, np.where(apart > 0, apart, 1.0))
        roots = np.sqrt(total / counted).astype(raw.dtype) if self.standardize else np.ones_like(largest)
        return Scaling(means[0], means[1], largest, roots, anchors_of(counted, len(raw)))

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


def anchors_of(total: Floats, n_samples: int) -> Floats:
    """The numbers that round every column to multiples of a power of two, so that sums of its values are exact.

    The sum of centered values over any of n samples is at most sqrt(n T_a) / 2. The multiples are so small that this
    sum still has a bit to spare, and so have differences of two such sums.
    """
    return 1.5 * np.ldexp(1.0, np.frexp(np.sqrt(n_samples * total))[1])


def totals(table: Table) -> Floats:
    """T_a of every centered column."""
    return np.einsum("ia,ia->a", table, table, dtype=np.float64)


class LastSums(threading.local):
    """The labels that a thread has scored last, and the sums of all columns over their clusters."""

    state: tuple[Labels, Floats] | None = None


class NumericFeatures(Features):
    """Columns of a table of finite numbers, one feature each; no column may be constant."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.n_samples, self.n_features = source.samples.size, source.columns.size
        self._table: Table | None = None
        self._is_permuted = False
        self._total: Floats | None = None
        self._of_all: Floats | None = None
        self._last = LastSums()
        self.shares = np.ones(self.n_features)
        # Shared with all permuted copies: permuting a column does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}
        # The labels behind it, in the order of the sorted values, by feature and number of clusters.
        self._best_runs: dict[tuple[int, int], Labels] = {}
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

    @property
    def of_all(self) -> Floats:
        """The sum of every column: not quite zero, because the values are rounded."""
        if self._of_all is None:
            self._of_all = self.table.sum(axis=0, dtype=np.float64)
        return self._of_all

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        if not self.can_climb(n_clusters):
            return between_scores(self.table, self.total, labels, n_clusters)
        return updated_scores(self.table, self.total, self.of_all, labels, *self._sums(n_clusters))

    def _sums(self, n_clusters: int) -> tuple[Labels, Floats]:
        """The labels that were scored last, and their cluster sums; at first, all samples are in the first cluster."""
        last = self._last
        if last.state is None or len(last.state[1]) != n_clusters:
            last.state = np.zeros(self.n_samples, np.int32), np.zeros((n_clusters, self.n_features))
            last.state[1][0] = self.of_all
        return last.state

    def can_climb(self, n_clusters: int, size: int = 0) -> bool:
        """Whether there are compiled climbs: cluster sums can be kept, and copies of the chosen columns are small."""
        return n_clusters <= SUMS_SHARE * self.n_samples and self.n_samples * size < LARGE_VALUES

    def climbing(self, n_clusters: int, size: int) -> Numbers | None:
        if not self.can_climb(n_clusters, size):
            return None
        return Numbers(self.table, self.total, self.of_all, *self._sums(n_clusters))

    def alternate(self, labels: Labels, n_clusters: int, bound: float, max_iter: int) -> tuple[Floats, Floats]:
        """The alternation of Sparse K-means in one call; see `alternate_rows`."""
        of_table = self.table, self.total, self.of_all
        found: tuple[Floats, Floats] = alternate_rows(*of_table, labels, bound, max_iter, *self._sums(n_clusters))
        return found

    def null_objectives(self, subsets: Sequence[Subset], on_pairs: bool) -> Callable[[int, Floats], Floats]:
        """The objectives of K-means on given subsets of a permuted copy, of which only these features are made.

        They are a function of the seed of the copy and of the uniform random numbers of the starts, of shape
        (n_subsets, n_starts, k).
        """
        members = np.concatenate(subsets)
        used = np.unique(members)
        table, total = take_columns(self.table, used), self.total[used]
        places, starts = np.searchsorted(used, members), np.cumsum([0, *(subset.size for subset in subsets)])
        on_pairs = on_pairs and np.ptp(total) <= SAME_TOTAL * total[0]
        table = table.astype(np.float64, copy=False) if on_pairs else table
        objectives_of = null_objectives_pairs if on_pairs else null_objectives_rows

        def of_copy(seed: int, uniforms: Floats) -> Floats:
            copy = table.copy()
            shuffle_columns(copy, used, np.uint64(seed))
            objectives: Floats = objectives_of(copy, total, places, starts, uniforms)
            return objectives

        return of_copy

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
        # In blocks of columns, so that the copy of the chosen ones stays small. All of them need no copy.
        step = max(1, BLOCK_VALUES // self.n_samples)
        is_all = np.array_equal(subset, np.arange(self.n_features))
        for first in range(0, subset.size, step):
            block = slice(first, first + step)
            rows = self.table[:, block] if is_all else take_columns(self.table, subset[block])
            if weights is not None:
                rows = rows * np.sqrt(weights[block]).astype(rows.dtype)
            gram += rows @ rows.T
        return gram, None

    def rows(self, subset: Subset, weights: Floats | None = None) -> Rows:
        counted = self.shares[: subset.size] if weights is None else weights
        if subset.size <= COPY_SHARE * self.n_features:
            return Rows(take_columns(self.table, subset), counted)
        of_all = np.zeros(self.n_features)
        of_all[subset] = counted
        return Rows(self.table, of_all)

    def is_settled(self, subset: Subset, labels: Labels, n_clusters: int) -> bool:
        is_large = self.n_samples * subset.size >= LARGE_VALUES and subset.size <= COPY_SHARE * self.n_features
        return is_large and is_settled(self.table, subset, labels, n_clusters)

    def pair_sums(self, counts: Floats) -> Floats:
        return quadratic_sums(self.table, counts)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            self._best_scores[n_clusters] = explained_share(runs_within(self.table, n_clusters), self.total)
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        key, column = (feature, n_clusters), self.table[:, feature]
        if key not in self._best_runs:
            # Clusters are numbered in the order of their values.
            self._best_runs[key] = np.sort(runs_labels(column, n_clusters))
        labels = np.empty(self.n_samples, np.int32)
        labels[np.argsort(column, kind="stable")] = self._best_runs[key]
        return labels

    def permuted(self, seed: int) -> Self:
        copy = type(self)(self.source)
        copy._best_scores, copy._best_runs = self._best_scores, self._best_runs
        copy._total, copy._of_all = self.total, self.of_all
        copy._table = self.source.table() if self._table is None else self._table.copy()
        shuffle_columns(copy._table, np.arange(self.n_features), np.uint64(seed))
        copy._is_permuted = True
        return copy

    def release(self) -> None:
        if self._table is not None and self._table.nbytes > SMALL:
            self._table, self._last = None, LastSums()

    def __getstate__(self) -> dict[str, Any]:
        # Another process can make the table from the source, which is sent in any case. Best scores are sent: they are
        # those of the data, also for permuted copies. What a thread has scored last belongs to this process.
        left = {"_last": None} if self._is_permuted else {"_last": None, "_table": None}
        return vars(self) | left

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _last=LastSums())
