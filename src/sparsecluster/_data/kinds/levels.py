"""Categories: levels that are equal or not, and ordered levels compared by the distance between their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._features.coordinates import Block, level_blocks
from ..._features.units import power_of_two
from ..._utils.arrays import Floats, Subset, Table
from ..._utils.text import brief
from ..content import Content, is_missing
from ..dates import Meaning
from .dissimilarity import Dissimilarity, Measured, register
from .numbers import Distance, SortedMeasure, coordinate_features, distance_features

# ---------------------------------------------------------------- helpers for columns with levels


def ascending(levels: list[Any]) -> tuple[Any, ...]:
    """Levels in ascending order; by type and text if they cannot be compared."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def codes_of(content: Content, levels: tuple[Any, ...], unknown: float) -> Floats:
    """The position of every value among the levels; NaN if it is missing, `unknown` if it is not among them."""
    if content.numbers is not None and levels and all(isinstance(level, float | int) for level in levels):
        numbers, known = content.numbers, np.array(levels, dtype=np.float64)
        places = np.minimum(np.searchsorted(known, numbers), known.size - 1)
        # Infinity is no level: it keeps its value, so that it is refused as in columns of numbers.
        return np.where(np.isfinite(numbers), np.where(known[places] == numbers, places, unknown), numbers)
    values = content.numbers.tolist() if content.numbers is not None else content.values
    assert values is not None
    codes: dict[Any, float] = {level: float(code) for code, level in enumerate(levels)}
    # Each distinct value is looked up once; NaN differs from itself, so missing values are found by identity.
    found = {value: np.nan if is_missing(value) else codes.get(value, unknown) for value in set(values)}
    return np.array([found[value] for value in values], dtype=np.float64)


# ---------------------------------------------------------------- equal or different


@dataclass(frozen=True)
class LevelMeasure:
    """1 - q_l - (1 - sum q^2) / 2, where q_l is the share of level l in the cluster; last row: any other level."""

    apart: Floats

    def __call__(self, new: Table) -> Floats:
        missing = np.isnan(new)
        known = np.where(missing | (new >= len(self.apart)), -1, new).astype(int)
        return np.where(missing[:, None], np.nan, self.apart[known])

    def check(self) -> int:
        apart = self.apart
        if not (isinstance(apart, np.ndarray) and apart.dtype == np.float64 and apart.ndim == 2):
            raise ValueError("the distances of the levels must be a two-dimensional array of numbers")
        return int(apart.shape[1])


def level_measures(kinds: Sequence[Any], columns: Iterable[Any], labels: Any, k: int) -> Measured:
    """The measures of several columns of levels, all at once."""
    codes = np.asarray(columns if isinstance(columns, np.ndarray) else list(columns), dtype=np.float64)
    seen, inside = ~np.isnan(codes), (labels >= 0) & (labels < k)
    # Every column has one place more than levels, for any other level.
    widths = np.fmax.reduce(codes, axis=1).astype(np.intp) + 2
    starts, count = np.cumsum(widths) - widths, int(widths.sum())
    places = np.where(seen, codes, 0.0).astype(np.intp) + starts[:, None]
    clusters = np.where(inside, labels, 0).astype(np.intp)
    apart = distances_by_level((places + clusters * count)[seen & inside], starts, widths, k)
    measures = [LevelMeasure(np.array(own.T)) for own in np.split(apart, starts[1:], axis=1)]
    # To a single cluster of all samples.
    of_all = distances_by_level(places[seen], starts, widths, 1)[0]
    sums = np.add.reduceat(np.bincount(places[seen], minlength=count) * of_all, starts)
    observed = seen.sum(axis=1, dtype=np.float64)
    return Measured(measures, sums / observed, observed)


def distances_by_level(places: Subset, starts: Subset, widths: Subset, k: int) -> Floats:
    """1 - q_l - (1 - sum q^2) / 2 for all clusters and levels; places[j] is the level of one value, and its cluster."""
    counts = np.bincount(places, minlength=k * int(widths.sum())).reshape(k, -1)
    with np.errstate(invalid="ignore"):
        shares = counts / np.repeat(np.add.reduceat(counts, starts, axis=1), widths, axis=1)
    squares = np.repeat(np.add.reduceat(shares**2, starts, axis=1), widths, axis=1)
    return np.asarray(1.0 - shares - (1.0 - squares) / 2)


@register("hamming", measures=[LevelMeasure])
@dataclass(frozen=True)
class Hamming(Dissimilarity):
    """delta(x, y) = 1 if the levels differ, else 0: half the squared distance between indicator columns."""

    levels: tuple[Any, ...] = ()
    meaning: Meaning = "numbers"

    words = "same level or not"
    has_center = True
    is_tried = False
    codes_are_names = True
    features = staticmethod(coordinate_features)
    measured = staticmethod(level_measures)
    scale = "level"

    @classmethod
    def learn(cls, content: Content, column: str) -> Self:
        return cls(ascending(content.distinct()), content.meaning)

    def encode(self, content: Content, column: str) -> Floats:
        # A level that did not occur in fit gets a code of its own.
        return codes_of(content, self.levels, float(len(self.levels)))

    def pairs(self, left: Table, right: Table) -> Floats:
        return (left[:, None] != right[None, :]).astype(np.float64)

    def extent(self, codes: Table) -> float:
        return 1.0

    @staticmethod
    def blocks(kinds: Sequence[Any], table: Floats) -> list[Block]:
        """The corners of a simplex, one per level."""
        return level_blocks(table)

    def is_squared_difference(self, codes: Table) -> bool:
        return np.unique(codes).size == 2

    def measure(self, codes: Any, labels: Any, k: int) -> Any:
        return level_measures([self], codes[None], labels, k).measures[0]


# ---------------------------------------------------------------- ordered


@register("ordinal")
@dataclass(frozen=True)
class Ordinal(Dissimilarity):
    """delta(x, y) = |rank of x - rank of y|."""

    levels: tuple[Any, ...] = ()
    meaning: Meaning = "numbers"

    words = "distance of ranks"
    has_center = True
    is_tried = False
    features = staticmethod(distance_features)
    scale = "rank"

    @classmethod
    def learn(cls, content: Content, column: str) -> Self:
        if content.has_levels and content.order is None:
            raise ValueError(
                f'metric="ordinal" compares ranks, but the levels of column {brief(column)} have no order. Make it an '
                'ordered category, or use "hamming".'
            )
        return cls(content.order or ascending(content.distinct()), content.meaning)

    def encode(self, content: Content, column: str) -> Floats:
        if content.numbers is not None and self.levels and all(isinstance(each, float | int) for each in self.levels):
            # A number between two levels gets a rank between theirs.
            known = np.array(self.levels, dtype=np.float64)
            # In a unit in which the differences between levels can be divided by.
            unit = power_of_two(np.abs(known[np.isfinite(known)]).max(initial=0.0))
            with np.errstate(over="ignore", invalid="ignore"):
                ranks = np.interp(content.numbers * unit, known * unit, np.arange(known.size))
            return np.where(np.isinf(content.numbers), content.numbers, ranks)
        return codes_of(content, self.levels, np.nan)

    def pairs(self, left: Table, right: Table) -> Floats:
        return Distance().pairs(left, right)

    def measure(self, codes: Any, labels: Any, k: int) -> SortedMeasure:
        return SortedMeasure.make(codes, labels, k)

    def center(self, codes: Table) -> Any:
        """The median level; of two middle levels, the lower one."""
        observed = np.sort(codes[~np.isnan(codes)])
        return self.levels[int(observed[(observed.size - 1) // 2])] if observed.size else None
