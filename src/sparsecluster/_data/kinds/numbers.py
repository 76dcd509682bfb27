"""Numbers compared by their squared difference, which is the default, or by their distance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._features.coordinates import Block, CoordinateFeatures
from ..._features.features import Features
from ..._features.manhattan import ManhattanFeatures
from ..._utils.arrays import Floats, Subset, Table
from ..._utils.text import brief
from ..content import Content
from ..dates import Meaning
from .dissimilarity import Dissimilarity, Measured, observed_by_cluster, register

# New values count as no farther away than this many times the range of the fitted ones, so that squares stay finite and
# clusters can be told apart from there.
FARTHEST = 1e6

# ---------------------------------------------------------------- all numbers


@dataclass(frozen=True)
class Numbers(Dissimilarity):
    """A column of numbers; dates are numbers of days."""

    meaning: Meaning = "numbers"

    keeps_numbers = True

    @classmethod
    def learn(cls, content: Content, column: str) -> Self:
        if content.numbers is None:
            advice = "hamming" if content.order is None else "ordinal"
            raise ValueError(
                f'metric="{cls.name}" compares numbers, but column {brief(column)} holds levels. Use "{advice}" for it.'
            )
        return cls(content.meaning)

    def encode(self, content: Content, column: str) -> Floats:
        return numbers_in(content, column)

    def extent(self, codes: Table) -> float:
        return float(np.nanmax(codes) - np.nanmin(codes))


def numbers_in(content: Content, column: str) -> Floats:
    """The numbers of a column that held numbers when the data were first read."""
    if content.numbers is None:
        raise ValueError(
            f"Column {brief(column)} held numbers in fit but does not hold numbers now. Pass it in the same form."
        )
    return content.numbers


def coordinate_features(
    kinds: Sequence[Any], table: Floats, standardize: bool, shares: Floats, owners: Subset
) -> Features:
    """Features of columns whose dissimilarity is a squared distance between the coordinates in `block`."""
    blocks: dict[int, Block] = {}
    families: dict[Any, list[int]] = {}
    for j, kind in enumerate(kinds):
        families.setdefault(kind.blocks, []).append(j)
    for make, own in families.items():
        blocks |= zip(own, make([kinds[j] for j in own], table[:, own]), strict=True)
    return CoordinateFeatures([blocks[j] for j in range(len(kinds))], standardize, shares, owners)


def distance_features(
    kinds: Sequence[Any], table: Floats, standardize: bool, shares: Floats, owners: Subset
) -> Features:
    """Features of columns whose dissimilarity is the distance between codes."""
    return ManhattanFeatures(table, standardize, shares, owners)


# ---------------------------------------------------------------- squared differences


@dataclass(frozen=True)
class MeanMeasure:
    """((x - m_c) / u)^2, where m_c is the mean of the cluster and u is a unit that keeps squares within range."""

    means: Floats
    unit: float

    def __call__(self, new: Table) -> Floats:
        far = FARTHEST * self.unit
        low, high = np.fmin.reduce(self.means) - far, np.fmax.reduce(self.means) + far
        near = np.clip(np.asarray(new, dtype=np.float64), low, high)
        return np.asarray(((near[:, None] - self.means) / self.unit) ** 2)

    def check(self) -> int:
        means = self.means
        if not (isinstance(means, np.ndarray) and means.dtype == np.float64 and means.ndim == 1):
            raise ValueError("the means of the clusters must be numbers")
        if not isinstance(self.unit, float | int):
            raise ValueError("the unit of a column must be a number")
        return len(means)


def cluster_means(columns: Floats, labels: Any, k: int) -> Floats:
    """The mean of the observed values of each of q columns in each cluster, of shape (q, k), given those (q, n)."""
    # Means are computed from the smallest value, so that a small spread about a large value keeps its digits.
    origins = np.fmin.reduce(columns, axis=1)
    # With the values of a sample side by side, those of one cluster are picked and summed faster.
    rows = np.ascontiguousarray((columns - origins[:, None]).T)
    missing = np.isnan(rows)
    has_missing = missing.any()
    rows[missing] = 0.0
    sums, counts = np.empty((k, len(columns))), np.empty((k, len(columns)))
    for c in range(k):
        inside = np.flatnonzero(labels == c)
        sums[c] = rows[inside].sum(axis=0)
        counts[c] = inside.size - (missing[inside].sum(axis=0) if has_missing else 0)
    with np.errstate(invalid="ignore"):
        return np.asarray((origins + sums / counts).T)


def ranges(columns: Floats) -> Floats:
    """The largest observed value less the smallest of columns, of shape (q, n)."""
    return np.asarray(np.fmax.reduce(columns, axis=1) - np.fmin.reduce(columns, axis=1))


def mean_measures(kinds: Sequence[Any], columns: Iterable[Any], labels: Any, k: int) -> Measured:
    """The measures of several columns of numbers that are compared by their squared difference, all at once."""
    each = columns if isinstance(columns, np.ndarray) else list(columns)
    values = np.asarray(each, dtype=np.float64, order="F")
    units, seen = ranges(values), ~np.isnan(values)
    measures = list(map(MeanMeasure, cluster_means(values, labels, k), units.tolist()))
    center = cluster_means(values, np.zeros_like(labels), 1)
    apart = np.where(seen, ((values - center) / units[:, None]) ** 2, 0.0)
    observed = seen.sum(axis=1, dtype=np.float64)
    return Measured(measures, apart.sum(axis=1) / observed, observed)


@register("sqeuclidean", measures=[MeanMeasure])
@dataclass(frozen=True)
class SquaredEuclidean(Numbers):
    """delta(x, y) = (x - y)^2."""

    words = "squared difference"
    power = 2
    has_center = True
    is_tried = False
    features = staticmethod(coordinate_features)
    measured = staticmethod(mean_measures)

    def pairs(self, left: Table, right: Table) -> Floats:
        return np.asarray((left[:, None] - right[None, :]) ** 2, dtype=np.float64)

    def block(self, codes: Floats) -> Block:
        """The codes themselves as coordinates."""
        return Block(codes[:, None])

    def is_squared_difference(self, codes: Table) -> bool:
        return True

    def measure(self, codes: Any, labels: Any, k: int) -> MeanMeasure:
        column = np.asarray(codes, dtype=np.float64)[None]
        return MeanMeasure(cluster_means(column, labels, k)[0], float(ranges(column)[0]))

    def center(self, codes: Table) -> float:
        observed = codes[~np.isnan(codes)]
        return float(np.mean(observed)) if observed.size else np.nan


# ---------------------------------------------------------------- distances


@dataclass(frozen=True)
class SortedMeasure:
    """Mean of |x - y| over the sorted values y of the cluster, from running sums, minus half of their mean distance."""

    runs: Sequence[Floats]
    sums: Sequence[Floats]
    halves: Sequence[float]
    origin: float

    @classmethod
    def make(cls, values: Table, labels: Any, k: int) -> Self:
        """The measure for the values and labels of `fit`."""
        # Measured from the smallest value, so that a small spread about a large value keeps its digits.
        origin = float(np.nanmin(values))
        runs = [np.sort(each.astype(np.float64)) for each in observed_by_cluster(values - origin, labels, k)]
        sums = [np.concatenate([[0.0], np.cumsum(run)]) for run in runs]
        halves = [
            float(mean_distance(run, run, total).mean()) / 2 if run.size else np.nan
            for run, total in zip(runs, sums, strict=True)
        ]
        return cls(runs, sums, halves, origin)

    def __call__(self, new: Table) -> Floats:
        far = FARTHEST * max((run[-1] for run in self.runs if run.size), default=0.0)
        near = np.clip(np.asarray(new, dtype=np.float64) - self.origin, -far, far)
        clusters = zip(self.runs, self.sums, self.halves, strict=True)
        columns = [mean_distance(near, run, sums) - half for run, sums, half in clusters]
        return np.where(np.isnan(new)[:, None], np.nan, np.column_stack(columns))

    def check(self) -> int:
        shapes = [each.shape for each in self.sums]
        is_row = all(run.ndim == 1 for run in self.runs)
        if not is_row or len(self.halves) != len(self.runs) or shapes != [(run.size + 1,) for run in self.runs]:
            raise ValueError("the sorted values of the clusters are inconsistent")
        return len(self.runs)


def mean_distance(new: Table, run: Floats, sums: Floats) -> Floats:
    """Mean of |x - y| over the values y of a sorted run, for every x."""
    if not run.size:
        return np.full(new.size, np.nan)
    below = np.searchsorted(run, new)
    return np.asarray((new * (2 * below - run.size) + sums[-1] - 2 * sums[below]) / run.size)


@register("manhattan", "euclidean", measures=[SortedMeasure])
@dataclass(frozen=True)
class Distance(Numbers):
    """delta(x, y) = |x - y|, which for single numbers is both the Manhattan and the Euclidean distance."""

    words = "distance"
    has_center = True
    is_tried = False
    features = staticmethod(distance_features)

    def pairs(self, left: Table, right: Table) -> Floats:
        return np.asarray(np.abs(left[:, None] - right[None, :]), dtype=np.float64)

    def measure(self, codes: Any, labels: Any, k: int) -> SortedMeasure:
        return SortedMeasure.make(codes, labels, k)
