"""Features with several coordinates or missing values: categories as indicator columns, and incomplete numbers.

The Hamming dissimilarity is half the squared distance between indicator columns, so K-means on coordinates works for
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from .._kernels.missing import seen_scores
from .._kernels.objective import between_scores
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._utils.arrays import Floats, Labels, Mask, Subset
from .alone import level_labels, level_score, pairs_labels, runs_labels, runs_within
from .features import Features, Pairs, Rows, SeenRows, quadratic_sums
from .likelihood import Likelihood, multinomial
from .units import Flags, counted_totals, explained_share, has_two_values


class Block(NamedTuple):
    """Coordinates of one feature, of shape (n_samples, width), NaN if missing; and whether they stand for levels."""

    coordinates: Floats
    levels: bool = False


def number_block(column: Floats) -> Block:
    """A column of numbers."""
    return Block(column[:, None])


def level_block(codes: Floats) -> Block:
    """A categorical column with L levels as L - 1 columns; the squared distance of two different levels is 1."""
    missing = np.isnan(codes)
    levels, first, at = np.unique(codes[~missing], return_index=True, return_inverse=True)
    # Levels in the order of their first samples, so that their names make no difference.
    rank = np.argsort(np.argsort(first))
    coordinates = np.full((codes.size, levels.size - 1), np.nan)
    coordinates[~missing] = corners(levels.size)[rank[at]]
    return Block(coordinates, levels=True)


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


class CoordinateFeatures(Features):
    """Features with one or more columns of coordinates each, centered at the mean of the observed values.

    `shares` multiply the scores (see `Features`), and features with equal `streams` are permuted together.
    """

    def __init__(self, blocks: Sequence[Block], standardize: bool, shares: Floats, streams: Subset) -> None:
        widths = np.array([block.coordinates.shape[1] for block in blocks])
        self.n_features, self.shares, self.streams = len(blocks), shares, streams
        self.levels = np.array([block.levels for block in blocks])
        # Features of which nothing is known but several coordinates.
        self.several = ~self.levels & (widths > 1)
        self.starts = np.concatenate([[0], np.cumsum(widths)])
        table = np.concatenate([block.coordinates for block in blocks], axis=1)
        self.n_samples = len(table)
        missing = np.isnan(table)
        self.has_missing = bool(missing.any())
        self.seen: Mask | None = (~missing).astype(np.uint8) if self.has_missing else None
        # Twice, because the mean of large values has a rounding error, which the second pass removes.
        for _ in range(2):
            table = table - np.nanmean(table, axis=0)
        self.table: Floats = np.nan_to_num(table, nan=0.0)
        if standardize:
            # Divide by the largest value first, so that squares of very large or small values stay within range.
            largest = np.maximum.reduceat(np.abs(self.table).max(axis=0), self.starts[:-1])
            self.table /= np.repeat(np.where(self.levels, 1.0, largest), widths)
        columns = np.einsum("ia,ia->a", self.table, self.table)
        total = np.add.reduceat(columns, self.starts[:-1])
        two_valued, apart = self._two_valued()
        self._few = two_valued & ~self.levels
        self._levels_of: Any = None
        seen = 1.0 - missing[:, self.starts[:-1]].mean(axis=0)
        self._total = counted_totals(total, standardize, two_valued, apart, shares, seen)
        scale = np.repeat(np.divide(self._total, total, out=np.zeros(len(blocks)), where=total > 0), widths)
        self.table *= np.sqrt(scale)
        # A column with a single level left has no spread, but its total must still be usable as a divisor.
        self._columns = np.maximum(columns * scale, np.finfo(float).tiny)
        self._part = self._columns * np.repeat(shares / self._total, widths)
        self._column_shares = np.repeat(shares / widths, widths)
        self._best_scores: dict[int, Floats] = {}

    @property
    def total(self) -> Floats:
        return self._total

    def _two_valued(self) -> tuple[Flags, Floats]:
        """Which features have a dissimilarity that takes only one value besides 0, and that value."""
        first = self.starts[:-1]
        numbers = self._with_missing(first)
        apart = (np.fmax.reduce(numbers, axis=0) - np.fmin.reduce(numbers, axis=0)) ** 2
        return self.levels | (has_two_values(numbers) & ~self.several), np.where(self.levels, 1.0, apart)

    def columns(self, subset: Subset) -> Subset:
        """The columns of a subset of the features."""
        if self.starts[-1] == self.n_features:
            return subset
        first, widths = self.starts[subset], np.diff(self.starts)[subset]
        return np.arange(widths.sum()) + np.repeat(first - (np.cumsum(widths) - widths), widths)

    def _explained(self, by_column: Floats) -> Floats:
        return np.add.reduceat(by_column * self._part, self.starts[:-1])

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        if self.seen is None:
            return self._explained(between_scores(self.table, self._columns, labels, n_clusters))
        return self._explained(seen_scores(self.table, self.seen, self._columns, labels, n_clusters))

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        found = super().likelihood(labels, n_clusters, members)
        found.parameters[self.several] = np.diff(self.starts)[self.several]
        categories = np.flatnonzero(self.levels | self._few)
        if categories.size:
            known = multinomial(self._all_codes(categories), labels, n_clusters)
            found.gains[categories], found.parameters[categories] = known
        return found

    def _all_codes(self, features: Subset) -> Any:
        """The levels of some features, of shape (n_samples, n_features), -1 if missing; computed once."""
        if self._levels_of is None:
            codes = np.column_stack([self._codes(a) for a in features.tolist()])
            self._levels_of = np.where(np.isnan(codes), -1, codes).astype(np.int64)
        return self._levels_of

    def _counted(self, subset: Subset, weights: Floats | None) -> Floats:
        """The weight of each column of a subset of the features."""
        widths = np.diff(self.starts)[subset]
        return np.ones(widths.sum()) if weights is None else np.repeat(weights, widths)

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        columns, counted = self.columns(subset), self._counted(subset, weights)
        rows = take_columns(self.table, columns)
        if weights is not None:
            rows *= np.sqrt(counted)
        if self.seen is None:
            return rows @ rows.T, None
        # Over the values observed in both: sum (x_i - x_j)^2 = sum x_i^2 seen_j + sum seen_i x_j^2 - 2 sum x_i x_j.
        seen = take_columns(self.seen, columns).astype(np.float64)
        squares = rows**2 @ seen.T
        return rows @ rows.T - (squares + squares.T) / 2, (seen * (self._column_shares[columns] * counted)) @ seen.T

    def rows(self, subset: Subset, weights: Floats | None = None) -> Rows | SeenRows:
        columns, counted = self.columns(subset), self._counted(subset, weights)
        table = take_columns(self.table, columns)
        return Rows(table, counted) if self.seen is None else SeenRows(table, counted, take_columns(self.seen, columns))

    def pair_sums(self, counts: Floats) -> Floats:
        if self.seen is not None:
            return super().pair_sums(counts)
        return np.add.reduceat(quadratic_sums(self.table, counts), self.starts[:-1])

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            best = np.ones(self.n_features)
            numbers = np.flatnonzero(~self.levels & ~self.several)
            columns = self.starts[:-1][numbers]
            within = runs_within(self._with_missing(columns), n_clusters)
            best[numbers] = explained_share(within, self._columns[columns])
            for a in np.flatnonzero(self.levels).tolist():
                codes = self._codes(a)
                best[a] = level_score(np.unique(codes[~np.isnan(codes)], return_counts=True)[1], n_clusters)
            for a in np.flatnonzero(self.several).tolist():
                labels = self.univariate_labels(a, n_clusters)
                best[a] = self.scores(labels, n_clusters)[a] / self.shares[a]
            self._best_scores[n_clusters] = self.shares * best
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        if self.levels[feature]:
            return level_labels(self._codes(feature), n_clusters)
        if self.several[feature]:
            return self._climbed_labels(feature, n_clusters)
        return runs_labels(self._with_missing(self.columns(np.array([feature])))[:, 0], n_clusters)

    def _climbed_labels(self, feature: int, n_clusters: int) -> Labels:
        """A good clustering by several coordinates, which does not depend on the order of the samples."""
        subset = np.array([feature])
        order = np.lexsort(self._with_missing(self.columns(subset)).T)
        similarity = self.pairs(subset).similarity
        labels = np.empty(self.n_samples, np.int32)
        labels[order] = pairs_labels(Pairs(similarity[np.ix_(order, order)]), n_clusters)
        return labels

    def _with_missing(self, columns: Any) -> Floats:
        table = self.table[:, columns]
        return table if self.seen is None else np.where(self.seen[:, columns], table, np.nan)

    def _codes(self, feature: int) -> Floats:
        """The level of every sample, numbered from 0; NaN if missing."""
        block = self._with_missing(slice(self.starts[feature], self.starts[feature + 1]))
        missing = np.isnan(block[:, 0])
        codes = np.full(self.n_samples, np.nan)
        codes[~missing] = np.unique(block[~missing], axis=0, return_inverse=True)[1].ravel()
        return codes

    def permuted(self, seed: int) -> Self:
        other = copy(self)
        other._levels_of = None
        streams = np.repeat(self.streams, np.diff(self.starts))
        other.table = self.table.copy()
        shuffle_columns(other.table, streams, np.uint64(seed))
        if self.seen is not None:
            other.seen = self.seen.copy()
            shuffle_columns(other.seen, streams, np.uint64(seed))
        return other
