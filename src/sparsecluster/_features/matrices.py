"""Any dissimilarity: one n x n matrix per feature, given or computed, and read when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._kernels.kinds import Triangular
from .._kernels.matrices import (
    add_permuted_stack,
    add_seen_stack,
    add_stack,
    mirror,
    seen_stack_within,
    updated_within,
)
from .._kernels.order import shuffle_columns
from .._utils.arrays import Floats, Labels, Subset, Table
from .alone import pairs_labels
from .features import Features, Pairs, as_if_all_seen
from .last import Last
from .triangles import Triangles
from .units import SMALLEST, counted_totals, exact_anchor, exact_unit

# Bytes of matrices that are kept in memory if reading one means computing or rearranging it.
KEEP_BYTES = 2**28
# Bytes of matrices that are put together: in one stack, which saves one call per matrix, or in triangles, which take as
# much, and once more for every permuted copy.
STACK_BYTES = 2**28
# Up to so many entries, which stay in the cache, it is faster to take the rows first and then the columns.
FEW_ENTRIES = 2**16


class Matrices:
    """Matrices of shape (n_samples, n_samples), each read by a function when it is needed.

    Parameters
    ----------
    read : callable
        Returns the matrix of a given number.
    count, n_samples : int
        The number of matrices, and the number of rows of each.
    incomplete : frozenset of int
        The matrices with missing values (NaN).
    computed : bool
        Whether reading a matrix means computing or rearranging it, so that it is worth keeping.
    """

    def __init__(
        self, read: Callable[[int], Any], count: int, n_samples: int, incomplete: frozenset[int], computed: bool
    ) -> None:
        self.read, self.count, self.n_samples, self.incomplete, self.computed = (
            read,
            count,
            n_samples,
            incomplete,
            computed,
        )
        self._kept: dict[int, Table] = {}
        self._stack: Floats | None = None
        # Whether the matrices are rounded when they are read, to multiples of `units`.
        self.exact, self.units = False, np.ones(count)

    def __getitem__(self, a: int) -> Table:
        if a in self._kept:
            return self._kept[a]
        matrix = self.given(a)
        if self.exact:
            matrix, self.units[a] = rounded(matrix)
        # A matrix that is already in memory or in one of the user's files is not kept a second time.
        if self.computed and (len(self._kept) + 1) * matrix.nbytes <= KEEP_BYTES:
            self._kept[a] = matrix
        return matrix

    def given(self, a: int) -> Table:
        """A matrix that is read anew, neither rounded nor kept."""
        return with_marked_diagonal(self.read(a)) if a in self.incomplete else as_floats(self.read(a))

    def __getstate__(self) -> dict[str, Any]:
        # To another process goes the stack, if there is one, instead of what it was made of.
        source = {} if self._stack is None else {"read": self._stack.__getitem__}
        return vars(self) | source | {"_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._kept = {} if self._stack is None else dict(enumerate(self._stack))

    def arranged(self, samples: Subset) -> Matrices:
        """The matrices restricted to the given samples, in the given order."""
        return Matrices(
            lambda a: entries(self[a], samples, samples), self.count, samples.size, self.incomplete, computed=True
        )

    def round_off(self) -> None:
        """From now on, round the matrices so that sums of them are exact, which costs a few of their last bits."""
        self.exact, self._kept = True, {}

    def values(self, a: int) -> tuple[bool, float, float]:
        """Whether a matrix takes only one value besides 0, its largest value, and the share of samples it observes."""
        matrix = self[a]
        missing = np.isnan(matrix)
        largest = 0.0 if missing.all() else float(np.nanmax(matrix))
        return (
            bool(((matrix == 0) | (matrix == largest) | missing).all()),
            largest,
            float(np.sqrt(1.0 - missing.mean())),
        )

    def stacks(self, chosen: Subset) -> Iterator[tuple[Table, Subset, slice]]:
        """The chosen matrices as tuples (stack, places, part): matrix number chosen[part][f] is stack[places[f]].

        Small matrices come in one stack, larger ones one by one, so that only one at a time has to be in memory.
        """
        if self.count * self.n_samples**2 * 8 <= STACK_BYTES:
            if self._stack is None:
                self._stack = np.stack([np.asarray(self[a], dtype=np.float64) for a in range(self.count)])
                self._kept = dict(enumerate(self._stack))
            yield self._stack, chosen, slice(None)
        else:
            for f, a in enumerate(chosen.tolist()):
                yield self[a][None], np.zeros(1, np.intp), slice(f, f + 1)


def rounded(matrix: Table) -> tuple[Table, float]:
    """A copy of a matrix in which all values are multiples of a power of two, and this power; see `exact_unit`."""
    unit = exact_unit(np.fmax.reduce(matrix, axis=None, initial=0.0), len(matrix))
    anchor = np.float64(exact_anchor(unit))
    return ((matrix + anchor) - anchor).astype(matrix.dtype, copy=False), unit


def entries(matrix: Table, rows: Subset, columns: Subset) -> Table:
    """The entries of a matrix in the given rows and columns."""
    if rows.size * matrix.shape[1] <= FEW_ENTRIES:
        return matrix.take(rows, axis=0).take(columns, axis=1)
    return matrix[np.ix_(rows, columns)]


def as_floats(given: Any) -> Table:
    """A matrix as the kernels read it, without a copy if it already holds floats."""
    matrix = np.asarray(given)
    return matrix if matrix.dtype in (np.float64, np.float32) else matrix.astype(np.float64)


def with_marked_diagonal(given: Any) -> Floats:
    """A copy whose diagonal is 0 for samples that have some observed pair, and NaN for the others."""
    matrix = np.array(given, dtype=np.float64)
    matrix[np.isnan(matrix)] = np.nan  # the same bit pattern for all NaN
    np.fill_diagonal(matrix, np.nan)
    alone = np.isnan(matrix).all(axis=1)
    np.fill_diagonal(matrix, np.where(alone, np.nan, 0.0))
    return matrix


class MatrixFeatures(Features):
    """The chosen matrices, one feature each; orders[f, i] is the row of sample i in the matrix of feature f.

    `shares` multiply the scores (see `Features`), and features with equal `streams` are permuted together.
    """

    has_rows = False

    def __init__(self, matrices: Matrices, chosen: Subset, standardize: bool, shares: Floats, streams: Subset) -> None:
        self.matrices, self.chosen, self.shares, self.streams = matrices, chosen, shares, streams
        self.n_samples, self.n_features = matrices.n_samples, chosen.size
        self.orders: npt.NDArray[np.intp] = np.tile(np.arange(self.n_samples), (chosen.size, 1))
        self.is_permuted = False
        self.has_missing = not matrices.incomplete.isdisjoint(chosen.tolist())
        # Small complete matrices are read only here. Large ones and those with missing values are read in each pass.
        self.triangles: Triangles | None = None
        if not self.has_missing and chosen.size * self.n_samples**2 * 8 <= STACK_BYTES:
            self.triangles = Triangles.of(map(matrices.given, chosen.tolist()), self.n_samples, chosen.size)
        self._unpermuted = self.triangles
        matrices.round_off()
        one_cluster = np.zeros(self.n_samples, np.int32)
        if self.triangles is not None:
            self._whole, seen = self.triangles.within(one_cluster, 1), np.ones(chosen.size)
            two_valued, apart = self.triangles.extremes()
        else:
            self._whole = self._within(np.arange(chosen.size), one_cluster, 1)
            values = zip(*map(matrices.values, chosen.tolist()), strict=True)
            two_valued, apart, seen = (np.array(each) for each in values)
        self._total = counted_totals(self._whole, standardize, two_valued, apart, shares, seen)
        # Between the samples of a subsample, a matrix may be all zeros; its feature then has no weight and no score.
        self._units = np.divide(self._total, self._whole, out=np.zeros(chosen.size), where=self._whole > SMALLEST)
        # Shared with all permuted copies: permuting a feature does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}
        self._last_scores, self._last_pairs = Last(), Last()
        # The number that rounds the dissimilarities of all features so that sums of them over features are exact.
        largest = float(np.max(apart * self._units)) * chosen.size
        self._anchor = 1.5 * float(np.ldexp(1.0, np.frexp(largest)[1] + 1))

    def __getstate__(self) -> dict[str, Any]:
        # To another process go the triangles, if there are any, instead of what they were made of.
        return vars(self) | ({} if self.triangles is None else {"matrices": None})

    @property
    def total(self) -> Floats:
        return self._total

    def _within(self, subset: Subset, labels: Labels, n_clusters: int) -> Floats:
        if self.has_missing:
            within = np.empty(subset.size)
            for stack, places, part in self.matrices.stacks(self.chosen[subset]):
                within[part] = seen_stack_within(stack, places, self.orders[subset[part]], labels, n_clusters)
                del stack  # before the next one is read
            return within
        return self._updated_within(subset, labels, *self._no_labels(subset.size, n_clusters))

    def _no_labels(self, n_features: int, n_clusters: int) -> tuple[Labels, npt.NDArray[np.int64]]:
        """Labels that no sample has, and sums to be filled."""
        return np.full(self.n_samples, -1, np.int32), np.zeros((n_features, n_clusters), np.int64)

    def _updated_within(self, subset: Subset, labels: Labels, old: Labels, sums: npt.NDArray[np.int64]) -> Floats:
        """Withins, from the sums of the old labels, which are changed to those of the labels."""
        within = np.empty(subset.size)
        for stack, places, part in self.matrices.stacks(self.chosen[subset]):
            orders, units = self.orders[subset[part]], self.matrices.units[self.chosen[subset[part]]]
            within[part] = updated_within(stack, places, orders, units, labels, old, sums[part])
            del stack
        return within

    def _explained(self, within: Floats, subset: Subset) -> Floats:
        whole = self._whole[subset]
        left = np.divide(within, whole, out=np.ones(subset.size), where=whole > SMALLEST)
        return self.shares[subset] * np.clip(1.0 - left, 0.0, 1.0)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        every, last = np.arange(self.n_features), self._last_scores
        if self.triangles is not None:
            return self._explained(self.triangles.within(labels, n_clusters), every)
        if self.has_missing:
            return self._explained(self._within(every, labels, n_clusters), every)
        if last.state is None or last.state[1].shape[1] != n_clusters:
            last.state = self._no_labels(self.n_features, n_clusters)
        old, sums = last.state
        # An interrupted pass leaves no sums behind.
        last.state = None
        within = self._updated_within(every, labels, old, sums)
        last.state = labels.copy(), sums
        return self._explained(within, every)

    def climbing(self, n_clusters: int, size: int) -> Triangular | None:
        found = self.triangles
        if found is None:
            return None
        # A feature without a total has no score.
        has_total = self._whole > SMALLEST
        whole, shares = np.where(has_total, self._whole, 1.0), np.where(has_total, self.shares, 0.0)
        by_pair = found.values, found.table, found.units
        return Triangular(*by_pair, whole, shares, self._units, self._anchor, *found.sums(n_clusters))

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        if not self.has_missing:
            return self._plain_pairs(subset, weights), None
        counted = np.ones(subset.size) if weights is None else weights
        total, seen = np.zeros((2, self.n_samples, self.n_samples))
        for stack, places, part in self.matrices.stacks(self.chosen[subset]):
            orders, units = self.orders[subset[part]], self._units[subset[part]] * counted[part]
            add_seen_stack(stack, places, orders, units, self.shares[subset[part]] * counted[part], total, seen)
            del stack
        mirror(total)
        mirror(seen)
        return -total / 2, seen

    def _plain_pairs(self, subset: Subset, weights: Floats | None) -> Floats:
        """Similarity on a subset; without weights, from that on the last one if they have most features in common."""
        counted = np.zeros(self.n_features)
        counted[subset] = 1.0 if weights is None else weights
        shape = (self.n_samples, self.n_samples) if self.triangles is None else self.triangles.values.shape[1]
        before, total = np.zeros(self.n_features), np.zeros(shape)
        last = self._last_pairs
        if weights is None and last.state is not None and np.abs(counted - last.state[0]).sum() <= subset.size:
            before, total = last.state
        if weights is None:
            # An interrupted pass leaves no sum behind.
            last.state = None
        changed = np.flatnonzero(counted != before)
        self._add(changed, (counted - before)[changed], self._anchor if weights is None else 0.0, total)
        if weights is None:
            last.state = counted, total
        if self.triangles is not None:
            return self.triangles.matrix(total, -0.5)
        similarity = total / -2.0
        mirror(similarity)
        return similarity

    def _add(self, features: Subset, weights: Floats, anchor: float, total: Floats) -> None:
        """Add the weighted dissimilarities of some features to the lower triangle of a matrix, or to all pairs."""
        if self.triangles is not None:
            self.triangles.add(features, self._units[features] * weights, anchor, total)
            return
        for stack, places, part in self.matrices.stacks(self.chosen[features]):
            units = self._units[features[part]] * weights[part]
            if self.is_permuted:
                add_permuted_stack(stack, places, self.orders[features[part]], units, anchor, total)
            else:
                add_stack(stack, places, units, anchor, total)
            del stack

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            every = np.arange(self.n_features)
            labels = (self.univariate_labels(f, n_clusters) for f in range(self.n_features))
            within = [self._within_alone(f, own, n_clusters) for f, own in enumerate(labels)]
            self._best_scores[n_clusters] = self._explained(np.concatenate(within), every)
        return self._best_scores[n_clusters]

    def _within_alone(self, feature: int, labels: Labels, n_clusters: int) -> Floats:
        """Within of a single feature."""
        if self.triangles is None:
            return self._within(np.array([feature]), labels, n_clusters)
        matrix, unit = self.triangles.matrix(self.triangles.values[feature], 1.0), self.triangles.units[[feature]]
        place, order = np.zeros(1, np.intp), np.arange(self.n_samples)[None]
        return updated_within(matrix[None], place, order, unit, labels, *self._no_labels(1, n_clusters))

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        # In the order of the rows, so that a permuted copy finds the same clusters as the data.
        if self._unpermuted is not None:
            similarity = self._unpermuted.matrix(self._unpermuted.values[feature], -0.5)
        else:
            similarity = -np.asarray(self.matrices[int(self.chosen[feature])], dtype=np.float64) / 2
        if self.has_missing:
            similarity = as_if_all_seen(np.nan_to_num(similarity), (~np.isnan(similarity)).astype(np.float64))
        return pairs_labels(Pairs(similarity), n_clusters)[self.orders[feature]]

    def permuted(self, seed: int) -> Self:
        other = copy(self)
        other._last_scores, other._last_pairs = Last(), Last()
        orders = self.orders.T.copy()
        shuffle_columns(orders, self.streams, np.uint64(seed))
        other.orders, other.is_permuted = np.ascontiguousarray(orders.T), True
        if self._unpermuted is not None:
            other.triangles = self._unpermuted.permuted(other.orders)
        return other

    def release(self) -> None:
        if self.triangles is not None:
            self.triangles.release()
