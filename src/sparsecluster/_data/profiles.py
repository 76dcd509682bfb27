"""What the clusters look like in each chosen column, so that any sample can be placed in the nearest.

The distance of a sample to cluster C in column a is its average dissimilarity to the samples of C less half of their own,

    d_a(i, C) = mean_{j in C} delta_a(i, j) - (1/2) mean_{j, j' in C} delta_a(j, j'),

which for squared differences is the squared distance to the center, and in each case what the paper's objective pays
for the sample in C. It sums over the samples of C to the within of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._features.base import Features, Floats, Labels, Subset, Table
from .columns import Column, is_gap
from .functions import all_pairs
from .source import SampleSource


class Measure(Protocol):
    """Distances of new values of one column to every cluster, n x k; NaN where the sample or the cluster has none."""

    def __call__(self, new: Any) -> Floats: ...


class Profile(NamedTuple):
    """One column: its measure, mean distance to all samples as one cluster, weight of a distance, share of a score."""

    measure: Measure
    spread: float
    weight: float
    share: float

    def distances(self, new: Any) -> Floats:
        """To each cluster; one in which the column is never seen is as far as a typical one."""
        apart = self.measure(new)
        unknown = np.isnan(apart)
        return np.where(unknown & ~unknown.all(axis=1, keepdims=True), self.spread, apart)


class Profiles(NamedTuple):
    """The chosen columns, and the sum of the weights of the features that they make up (without any, their number)."""

    columns: Sequence[Profile]
    whole: float

    def distances(self, values: Iterable[Any]) -> Floats:
        """Sum over the columns of weight times distance, n x k, as if all were seen."""
        total: Any = 0.0
        seen: Any = 0.0
        for column, new in zip(self.columns, values, strict=True):
            apart = column.distances(new)
            known = ~np.isnan(apart[:, :1])
            total = total + np.where(known, column.weight * apart, 0.0)
            seen = seen + column.share * known
        return np.asarray(total / np.where(seen > 0, seen, 1.0))

    def nearest(self, values: Iterable[Any]) -> npt.NDArray[np.intp]:
        """The cluster of smallest distance."""
        return np.argmin(self.distances(values), axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """Weighted mean over the features of the share of their spread that the nearest clusters explain."""
        labels = self.nearest(values)[:, None]
        explained: Any = 0.0
        for column, new in zip(self.columns, values, strict=True):
            left = np.take_along_axis(column.distances(new), labels, axis=1)
            if not np.isnan(left).all():
                explained += column.share * (1.0 - np.nanmean(left) / column.spread)
        return float(explained / self.whole)


def make_profile(
    make: Callable[[Any, Any, int], Measure], train: Any, labels: Any, k: int, total: float, share: float
) -> Profile:
    """The profile of one column; `make` builds its measure from values, labels and k, `total` is what it counts."""
    apart = make(train, np.zeros_like(labels), 1)(train)[:, 0]
    seen = ~np.isnan(apart)
    spread = float(apart[seen].mean())
    return Profile(make(train, labels, k), spread, total / (spread * seen.sum()), share)


def profiles_of(
    source: SampleSource,
    measure: Callable[[int], Callable[[Any, Any, int], Measure]],
    features: Features,
    labels: Labels,
    k: int,
    subset: Subset,
    weights: Floats | None = None,
) -> Profiles:
    """What the clusters look like in the columns of the chosen features, in the order of the source's columns.

    `measure(column)` says how a column is measured; weights[a] is how many times feature a counts.
    """
    counted = np.ones(features.n_features) if weights is None else weights
    chosen, owners = np.isin(source.owners, subset), source.owners
    total, shares = features.total, features.shares
    profiles = []
    for j in np.flatnonzero(chosen).tolist():
        column, times = int(source.columns[j]), float(counted[owners[j]])
        train = source.look(column, source.samples, source.samples)
        profile = make_profile(measure(column), train, labels, k, total[j], shares[j])
        profiles.append(profile._replace(weight=profile.weight * times, share=profile.share * times))
    return Profiles(profiles, float(counted[subset].sum()))


def by_cluster(values: Any, labels: Any, k: int) -> list[Any]:
    """Values seen in each cluster."""
    seen = ~np.isnan(values)
    return [values[seen & (labels == c)] for c in range(k)]


# ---------------------------------------------------------------- one measure a kind


class NumberMeasure(NamedTuple):
    """((x - m_k) / u)^2 with m_k the mean of the cluster and u a unit that keeps squares within range."""

    means: Floats
    unit: float

    @classmethod
    def make(cls, values: Table, labels: Any, k: int) -> NumberMeasure:
        """From the values of `fit`."""
        seen = np.flatnonzero(~np.isnan(values))
        known, own = values[seen].astype(np.float64), labels[seen]
        # Means of differences, so that a small spread about a large value keeps its digits.
        origin = known.min()
        with np.errstate(invalid="ignore"):
            means = np.bincount(own, known - origin, k) / np.bincount(own, minlength=k)
        return cls(origin + means, float(known.max() - origin))

    def __call__(self, new: Table) -> Floats:
        return ((np.asarray(new, dtype=np.float64)[:, None] - self.means) / self.unit) ** 2


class LevelMeasure(NamedTuple):
    """1 - q_l - (1 - sum q^2) / 2 with q the shares of the levels in the cluster; the last row is for other levels."""

    apart: Floats

    @classmethod
    def make(cls, codes: Table, labels: Any, k: int) -> LevelMeasure:
        """From the codes of `fit`."""
        n_levels = int(np.nanmax(codes)) + 1
        groups = by_cluster(codes, labels, k)
        counts = np.array([[*np.bincount(group.astype(int), minlength=n_levels), 0] for group in groups])
        with np.errstate(invalid="ignore"):
            shares = counts / counts.sum(axis=1, keepdims=True)
        return cls((1.0 - shares - (1.0 - (shares**2).sum(axis=1, keepdims=True)) / 2).T)

    def __call__(self, new: Table) -> Floats:
        gap = np.isnan(new)
        known = np.where(gap | (new >= len(self.apart)), -1, new).astype(int)
        return np.where(gap[:, None], np.nan, self.apart[known])


class RunMeasure(NamedTuple):
    """Mean |x - y| over the sorted values y of the cluster by running sums, less half of their mean difference."""

    runs: Sequence[Floats]
    sums: Sequence[Floats]
    halves: Sequence[float]
    origin: float

    @classmethod
    def make(cls, values: Table, labels: Any, k: int) -> RunMeasure:
        """From the values of `fit`."""
        # From the smallest value on, so that a small spread about a large value keeps its digits.
        origin = float(np.nanmin(values))
        runs = [np.sort(group.astype(np.float64)) for group in by_cluster(values - origin, labels, k)]
        sums = [np.concatenate([[0.0], np.cumsum(run)]) for run in runs]
        halves = [mean_distance(run, run, total).mean() / 2 if run.size else np.nan
                  for run, total in zip(runs, sums, strict=True)]  # fmt: skip
        return cls(runs, sums, halves, origin)

    def __call__(self, new: Table) -> Floats:
        clusters = zip(self.runs, self.sums, self.halves, strict=True)
        columns = [mean_distance(new - self.origin, run, sums) - half for run, sums, half in clusters]
        return np.where(np.isnan(new)[:, None], np.nan, np.column_stack(columns))


def mean_distance(new: Table, run: Floats, sums: Floats) -> Floats:
    """Mean of |x - y| over the values y of a sorted run, for every x."""
    if not run.size:
        return np.full(new.size, np.nan)
    below = np.searchsorted(run, new)
    return np.asarray((new * (2 * below - run.size) + sums[-1] - 2 * sums[below]) / run.size)


class FunctionMeasure(NamedTuple):
    """Mean of the user's function over the values of the cluster, less half of its mean over their pairs."""

    function: Callable[[Any, Any], Any]
    column: Column
    groups: Sequence[Any]
    halves: Sequence[float]

    def make(self, values: Table, labels: Any, k: int) -> FunctionMeasure:
        """From the values of `fit`, with this function."""
        groups = [self.column.decode(group) for group in by_cluster(values, labels, k)]
        halves = [all_pairs(self.function, group, group).mean() / 2 if len(group) else np.nan for group in groups]
        return self._replace(groups=groups, halves=halves)

    def __call__(self, new: Any) -> Floats:
        # New words have no code, so they come as they are.
        values = new if new.dtype == object else self.column.decode(new)
        seen = np.array([i for i, value in enumerate(values) if not is_gap(value)], np.intp)
        apart = np.full((len(new), len(self.groups)), np.nan)
        for c, group in enumerate(self.groups):
            if len(group) and seen.size:
                apart[seen, c] = all_pairs(self.function, values[seen], group).mean(axis=1) - self.halves[c]
        return apart


class CrossMeasure(NamedTuple):
    """Mean of the given dissimilarities to the samples of the cluster, less half of that of their pairs."""

    members: Sequence[Any]
    halves: Sequence[float]

    @classmethod
    def make(cls, matrix: Table, labels: Any, k: int) -> CrossMeasure:
        """From the matrix of `fit`."""
        members = [np.flatnonzero(labels == c) for c in range(k)]
        return cls(members, [float(seen_mean(matrix[np.ix_(group, group)])) / 2 for group in members])

    def __call__(self, new: Table) -> Floats:
        return np.column_stack([seen_mean(new[:, group], 1) - half for group, half in zip(*self, strict=True)])


def seen_mean(block: Table, axis: int | None = None) -> Any:
    """Mean of what is seen; NaN where nothing is."""
    seen = ~np.isnan(block)
    with np.errstate(invalid="ignore"):
        return np.where(seen, block, 0.0).sum(axis=axis) / seen.sum(axis=axis)
