"""Features with several coordinates or missing values: categories and incomplete numbers.

The Hamming dissimilarity is half the squared distance between indicator columns, so K-means on coordinates works for
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from .._kernels.kinds import Categories, Incomplete
from .._kernels.levels import number_levels
from .._kernels.missing import seen_scores
from .._kernels.objective import between_scores
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._kernels.views import LevelRows
from .._utils.arrays import Floats, Labels, Mask, Subset
from .alone import level_labels, level_score, pairs_labels, runs_labels, runs_within
from .features import Features, Pairs, Rows, SeenRows, quadratic_sums
from .levels import Levels, SeenLevelRows, columns_of
from .likelihood import Likelihood, multinomial
from .numeric import LARGE_VALUES, SUMS_SHARE
from .units import Flags, counted_totals, explained_share, has_two_values


class Block(NamedTuple):
    """Coordinates of one feature, of shape (n_samples, width), NaN if missing.

    With `n_levels`, they are the numbers 0, 1, ... of the levels of a category, in a single column.
    """

    coordinates: Floats
    n_levels: int = 0


def number_block(column: Floats) -> Block:
    """A column of numbers."""
    return Block(column[:, None])


def level_blocks(codes: Floats) -> list[Block]:
    """Categories, of shape (n_samples, n_categories), whose codes are whole numbers, or NaN if missing.

    Levels are numbered by their first samples, so that their codes make no difference. The level of the first sample
    has the last number.
    """
    numbers = np.subtract(codes, np.fmin.reduce(codes, axis=0), order="C")
    widths = np.fmax.reduce(numbers, axis=0).astype(np.intp) + 1
    counts = np.zeros(widths.size, np.intp)
    number_levels(numbers, np.cumsum(widths) - widths, np.full(widths.sum(), -1), counts)
    return [Block(numbers[:, a : a + 1], count) for a, count in enumerate(counts.tolist())]


class CoordinateFeatures(Features):
    """Features with one or more columns of coordinates each, centered at the mean of the observed values.

    A category of two levels is one column; one of several levels is kept as the codes of its levels, in `coded`, and
    has as many coordinates as levels less one if it is asked for coordinates. `shares` multiply the scores (see
    `Features`), and features with equal `streams` are permuted together.
    """

    def __init__(self, blocks: Sequence[Block], standardize: bool, shares: Floats, streams: Subset) -> None:
        self.n_features, self.shares, self.streams = len(blocks), shares, streams
        self.n_samples = len(blocks[0].coordinates)
        n_levels = np.array([block.n_levels for block in blocks])
        self.levels, is_coded = n_levels > 0, n_levels > 2
        # The features with columns, those with codes, and the place of every feature among its kind.
        self.plain, self.of_codes = np.flatnonzero(~is_coded), np.flatnonzero(is_coded)
        self.places = np.where(is_coded, np.cumsum(is_coded), np.cumsum(~is_coded)) - 1
        self.is_coded = is_coded
        empty = np.empty((self.n_samples, 0))
        self.coded = Levels(np.concatenate([empty, *(blocks[a].coordinates for a in self.of_codes.tolist())], axis=1))
        self._set_columns([blocks[a].coordinates for a in self.plain.tolist()], standardize)
        self._best_scores: dict[int, Floats] = {}

    def _set_columns(self, columns: Sequence[Floats], standardize: bool) -> None:
        """Center and scale the columns of the plain features, and set the units of the others."""
        widths = np.array([each.shape[1] for each in columns], np.intp)
        self.starts = np.concatenate([[0], np.cumsum(widths)])
        table = np.concatenate([np.empty((self.n_samples, 0)), *columns], axis=1)
        missing = np.isnan(table)
        self.has_missing = bool(missing.any() or (self.coded.codes < 0).any())
        self.seen: Mask | None = (~missing).astype(np.uint8) if self.has_missing else None
        # Twice, because the mean of large values has a rounding error, which the second pass removes.
        for _ in range(2):
            table = table - np.nanmean(table, axis=0)
        self.table: Floats = np.nan_to_num(table, nan=0.0)
        is_level, first = self.levels[self.plain], self.starts[:-1]
        # Features of which nothing is known but several coordinates.
        self.several = np.zeros(self.n_features, bool)
        self.several[self.plain] = ~is_level & (widths > 1)
        if standardize and first.size:
            # Divide by the largest value first, so that squares of very large or small values stay within range.
            largest = np.maximum.reduceat(np.abs(self.table).max(axis=0), first)
            self.table /= np.repeat(np.where(is_level, 1.0, largest), widths)
        squares = np.einsum("ia,ia->a", self.table, self.table)
        total = self._of_both(squares, self.coded.total)
        two_valued, apart = self._two_valued()
        self._few = two_valued & ~self.levels
        self._levels_of: Any = None
        seen = np.ones(self.n_features)
        seen[self.plain] = 1.0 - missing[:, first].mean(axis=0)
        seen[self.of_codes] = self.coded.observed / self.n_samples
        self._total = counted_totals(total, standardize, two_valued, apart, self.shares, seen)
        scale = np.divide(self._total, total, out=np.zeros(self.n_features), where=total > 0)
        self.coded.units = scale[self.of_codes]
        by_column = np.repeat(scale[self.plain], widths)
        self.table *= np.sqrt(by_column)
        # A column with a single level left has no spread, but its total must still be usable as a divisor.
        self._columns = np.maximum(squares * by_column, np.finfo(float).tiny)
        self._part = self._columns * np.repeat((self.shares / self._total)[self.plain], widths)
        self._column_shares = np.repeat(self.shares[self.plain] / widths, widths)

    @property
    def total(self) -> Floats:
        return self._total

    def _of_both(self, by_column: Floats, by_code: Floats) -> Floats:
        """One value per feature: the sum over the columns of a plain one, or that of a coded one."""
        values = np.empty(self.n_features)
        if self.plain.size:
            is_single = self.starts[-1] == self.plain.size
            values[self.plain] = by_column if is_single else np.add.reduceat(by_column, self.starts[:-1])
        values[self.of_codes] = by_code
        return values

    def _two_valued(self) -> tuple[Flags, Floats]:
        """Which features have a dissimilarity that takes only one value besides 0, and that value."""
        numbers = self._with_missing(self.starts[:-1])
        apart = np.ones(self.n_features)
        apart[self.plain] = (np.fmax.reduce(numbers, axis=0) - np.fmin.reduce(numbers, axis=0)) ** 2
        two_valued = self.levels.copy()
        two_valued[self.plain] |= has_two_values(numbers) & ~self.several[self.plain]
        return two_valued, np.where(self.levels, 1.0, apart)

    def _split(self, subset: Subset) -> tuple[Subset, Subset]:
        """The places of the plain and of the coded features of a subset."""
        if not self.of_codes.size:
            return subset, self.of_codes
        is_coded = self.is_coded[subset]
        return self.places[subset[~is_coded]], self.places[subset[is_coded]]

    def columns(self, plain: Subset) -> Subset:
        """The columns of some of the plain features."""
        return plain if self.starts[-1] == self.plain.size else columns_of(self.starts, plain)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        by_code = self.coded.scores(labels, n_clusters) * self.shares[self.of_codes]
        if self.seen is None:
            by_column = between_scores(self.table, self._columns, labels, n_clusters)
        else:
            by_column = seen_scores(self.table, self.seen, self._columns, labels, n_clusters)
        return self._of_both(by_column * self._part, by_code)

    def climbing(self, n_clusters: int, size: int) -> Categories | Incomplete | None:
        coded, is_single = self.coded, self.starts[-1] == self.plain.size
        is_small = n_clusters <= SUMS_SHARE * self.n_samples and self.n_samples * size < LARGE_VALUES
        if not (is_single and is_small) or (self.seen is not None and self.of_codes.size):
            return None
        if self.seen is not None:
            return Incomplete(self.table, self.seen, self._columns, self._part)
        by_column, places = (self.table, self._columns, self._part), (self.is_coded, self.places)
        scales = coded.units, self.shares[self.of_codes]
        by_code: tuple[Any, ...] = coded.codes, coded.starts, coded.one, coded.observed, *coded.last(n_clusters)
        return Categories(*by_column, *places, *scales, *by_code)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        found = super().likelihood(labels, n_clusters, members)
        found.parameters[self.several] = np.diff(self.starts)[self.places[self.several]]
        categories = np.flatnonzero(self.levels | self._few)
        if categories.size:
            known = multinomial(self._all_codes(categories), labels, n_clusters)
            found.gains[categories], found.parameters[categories] = known
        return found

    def _all_codes(self, features: Subset) -> Any:
        """The levels of some features, of shape (n_samples, n_features), -1 if missing; computed once."""
        if self._levels_of is None:
            self._levels_of = np.column_stack([self._codes(a) for a in features.tolist()])
        return self._levels_of

    def _counted(self, subset: Subset, weights: Floats | None) -> tuple[Floats, Floats]:
        """The weights of the columns of the plain features of a subset, and those of its coded features."""
        of_each = np.ones(subset.size) if weights is None else weights
        if not self.of_codes.size:
            plain, coded = of_each, of_each[:0]
        else:
            is_coded = self.is_coded[subset]
            plain, coded = of_each[~is_coded], of_each[is_coded]
        if self.starts[-1] == self.plain.size:
            return plain, coded
        return np.repeat(plain, np.diff(self.starts)[self._split(subset)[0]]), coded

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        (plain, coded), (counted, of_codes) = self._split(subset), self._counted(subset, weights)
        columns = self.columns(plain)
        rows = take_columns(self.table, columns)
        if weights is not None:
            rows *= np.sqrt(counted)
        similarity = rows @ rows.T
        if coded.size:
            self.coded.add_pairs(coded, of_codes, similarity)
        if self.seen is None:
            return similarity, None
        # Over the values observed in both: sum (x_i - x_j)^2 = sum x_i^2 seen_j + sum seen_i x_j^2 - 2 sum x_i x_j.
        seen = take_columns(self.seen, columns).astype(np.float64)
        squares = rows**2 @ seen.T
        similarity -= (squares + squares.T) / 2
        both = (seen * (self._column_shares[columns] * counted)) @ seen.T
        if coded.size:
            # Half the weight of every category observed in both is the similarity of a sample to itself.
            own = np.zeros_like(similarity)
            self.coded.add_seen(coded, self.coded.units[coded] * of_codes, own)
            similarity -= own / 2
            self.coded.add_seen(coded, self.shares[self.of_codes][coded] * of_codes, both)
        return similarity, both

    def rows(self, subset: Subset, weights: Floats | None = None) -> Rows | SeenRows:
        (plain, coded), (counted, of_codes) = self._split(subset), self._counted(subset, weights)
        table, seen = self._taken(plain)
        if coded.size:
            coordinates, known = self.coded.coordinates
            columns = columns_of(np.concatenate([[0], np.cumsum(self.coded.widths)]), coded)
            table = np.concatenate([table, coordinates[:, columns]], axis=1)
            counted = np.concatenate([counted, np.repeat(of_codes, self.coded.widths[coded])])
            seen = None if seen is None else np.concatenate([seen, known[:, columns]], axis=1)
        return Rows(table, counted) if seen is None else SeenRows(table, counted, seen)

    def _taken(self, plain: Subset) -> tuple[Floats, Mask | None]:
        """The columns of some plain features, and a mask of their observed values."""
        columns = self.columns(plain)
        return take_columns(self.table, columns), None if self.seen is None else take_columns(self.seen, columns)

    def level_rows(self, subset: Subset, weights: Floats | None = None) -> Rows | SeenRows | LevelRows | SeenLevelRows:
        """`rows`, with codes in the place of the coordinates of categories, by which K-means is faster."""
        plain, coded = self._split(subset)
        if not coded.size:
            return self.rows(subset, weights)
        counted, of_codes = self._counted(subset, weights)
        table, seen = self._taken(plain)
        levels, n_levels = self.coded.numbered(coded)
        units = self.coded.units[coded] * of_codes
        if seen is None:
            return LevelRows(table, counted, levels, units, self.coded.center(coded, units), n_levels)
        known, shares = self.coded.seen(coded), of_codes * self.coded.widths[coded]
        return SeenLevelRows(table, counted, seen, levels, units, known, shares, n_levels)

    def pair_sums(self, counts: Floats) -> Floats:
        if self.seen is not None:
            return super().pair_sums(counts)
        by_code = quadratic_sums(self.coded.coordinates[0], counts)
        firsts = np.cumsum(self.coded.widths) - self.coded.widths
        by_code = np.add.reduceat(by_code, firsts) if firsts.size else by_code
        return self._of_both(quadratic_sums(self.table, counts), by_code)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            best = np.ones(self.n_features)
            numbers = np.flatnonzero(~self.levels & ~self.several)
            columns = self.starts[:-1][self.places[numbers]]
            within = runs_within(self._with_missing(columns), n_clusters)
            best[numbers] = explained_share(within, self._columns[columns])
            best[self.of_codes] = level_score(self.coded.counts(), n_clusters)
            for a in np.flatnonzero(self.levels & ~self.is_coded).tolist():
                best[a] = level_score(np.bincount(self._codes(a) + 1)[1:], n_clusters)
            for a in np.flatnonzero(self.several).tolist():
                labels = self.univariate_labels(a, n_clusters)
                best[a] = self.scores(labels, n_clusters)[a] / self.shares[a]
            self._best_scores[n_clusters] = self.shares * best
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        if self.levels[feature]:
            codes = self._codes(feature)
            return level_labels(np.where(codes < 0, np.nan, codes), n_clusters)
        columns = self.columns(self.places[[feature]])
        if self.several[feature]:
            return self._climbed_labels(feature, columns, n_clusters)
        return runs_labels(self._with_missing(columns)[:, 0], n_clusters)

    def _climbed_labels(self, feature: int, columns: Subset, n_clusters: int) -> Labels:
        """A good clustering by several coordinates, which does not depend on the order of the samples."""
        order = np.lexsort(self._with_missing(columns).T)
        similarity = self.pairs(np.array([feature])).similarity
        labels = np.empty(self.n_samples, np.int32)
        labels[order] = pairs_labels(Pairs(similarity[np.ix_(order, order)]), n_clusters)
        return labels

    def _with_missing(self, columns: Any) -> Floats:
        table = self.table[:, columns]
        return table if self.seen is None else np.where(self.seen[:, columns], table, np.nan)

    def _codes(self, feature: int) -> Any:
        """The level of every sample, numbered from 0; -1 if missing. A plain feature has two values."""
        place = self.places[feature]
        if self.is_coded[feature]:
            return self.coded.codes[:, place]
        # The columns are centered, so the larger of two values is the positive one.
        column = self.starts[place]
        codes = (self.table[:, column] > 0).astype(np.int32)
        return codes if self.seen is None else np.where(self.seen[:, column], codes, -1)

    def permuted(self, seed: int) -> Self:
        other = copy(self)
        other._levels_of = None
        streams = np.repeat(self.streams[self.plain], np.diff(self.starts))
        other.table = self.table.copy()
        shuffle_columns(other.table, streams, np.uint64(seed))
        if self.seen is not None:
            other.seen = self.seen.copy()
            shuffle_columns(other.seen, streams, np.uint64(seed))
        other.coded = self.coded.permuted(self.streams[self.of_codes], seed)
        return other
