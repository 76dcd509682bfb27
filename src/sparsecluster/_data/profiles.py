"""Profiles of the clusters in the chosen columns, by which any sample can be assigned to the nearest cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.features import Features
from .._utils.arrays import Floats, Labels, Subset
from .kinds import Measure
from .kinds.dissimilarity import Measured
from .source import SampleSource, codes_in, places_of

# Number of values that are measured together.
BLOCK_VALUES = 2**18


class Profile(NamedTuple):
    """The profile of the clusters in one column.

    Attributes
    ----------
    measure : Measure
        The distances to every cluster.
    spread : float
        The mean distance of the samples to a single cluster of all samples.
    weight : float
        The factor of a distance in the sum over the columns.
    share : float
        The factor of the column's score; see `Features.shares`.
    """

    measure: Measure
    spread: float
    weight: float
    share: float

    def distances(self, new: Any) -> Floats:
        """Distances to each cluster; `spread` for a cluster in which the column is never observed."""
        apart = self.measure(new)
        unknown = np.isnan(apart)
        return np.where(unknown & ~unknown.all(axis=1, keepdims=True), self.spread, apart)


class Profiles(NamedTuple):
    """The profiles of the chosen columns, and the sum of the weights of their features (by default, their number).

    The methods take the values of the columns in the same order.
    """

    columns: Sequence[Profile]
    whole: float

    def distances(self, values: Iterable[Any], most: float = np.inf) -> Floats:
        """Weighted sum of the distances over the columns, of shape (n_samples, k).

        To make up for missing values, the sum is divided by the sum of the shares of the observed columns. No column
        counts more than `most` times its spread.
        """
        total: Any = 0.0
        observed: Any = 0.0
        for column, new in zip(self.columns, values, strict=True):
            apart = np.minimum(column.distances(new), most * column.spread)
            known = ~np.isnan(apart[:, :1])
            total = total + np.where(known, column.weight * apart, 0.0)
            observed = observed + column.share * known
        return np.asarray(total / np.where(observed > 0, observed, 1.0))

    def nearest(self, values: Iterable[Any]) -> npt.NDArray[np.intp]:
        """The cluster with the smallest distance, for every sample."""
        return np.argmin(self.distances(values), axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """The share of the spread that the nearest clusters explain, as a weighted mean over the features."""
        labels = self.nearest(values)[:, None]
        explained: Any = 0.0
        for column, new in zip(self.columns, values, strict=True):
            left = np.take_along_axis(column.distances(new), labels, axis=1)
            if not np.isnan(left).all():
                explained += column.share * (1.0 - np.nanmean(left) / column.spread)
        return float(explained / self.whole)

    def typical(self) -> float:
        """The mean distance of a sample to a single cluster of all samples."""
        return sum(each.weight * each.spread for each in self.columns) / sum(each.share for each in self.columns)


def profiles_of(
    source: SampleSource, features: Features, labels: Labels, k: int, subset: Subset, weights: Floats | None = None
) -> Profiles:
    """Profiles of the columns of the chosen features, in the order of the source's columns.

    weights[a] is the factor of the dissimilarity of feature a; 1 by default.
    """
    counted = np.ones(features.n_features) if weights is None else weights
    places = places_of(source, subset)
    times = counted[source.owners[places]]
    measures, spreads, observed = measured_in(source, source.columns[places], labels, k)
    # The sum of the distances of the observed samples to a single cluster is the total of the column.
    factors = features.total[places] / (spreads * observed) * times
    shares = features.shares[places] * times
    columns = list(map(Profile, measures, spreads.tolist(), factors.tolist(), shares.tolist()))
    return Profiles(columns, float(counted[subset].sum()))


def measured_in(source: SampleSource, columns: Subset, labels: Labels, k: int) -> Measured:
    """What the clusters look like in some of the user's columns; those of one family are measured together."""
    kinds = [source.kind(a) for a in columns.tolist()]
    families: dict[Any, list[int]] = {}
    for j, kind in enumerate(kinds):
        families.setdefault(kind.measured, []).append(j)
    measures: list[Any] = [None] * columns.size
    spreads, observed = np.empty(columns.size), np.empty(columns.size)
    step = max(1, BLOCK_VALUES // labels.size)
    for measured, every in families.items():
        for own in (every[first : first + step] for first in range(0, len(every), step)):
            found = measured([kinds[j] for j in own], codes_in(source, columns[own]), labels, k)
            spreads[own], observed[own] = found.spreads, found.observed
            for j, measure in zip(own, found.measures, strict=True):
                measures[j] = measure
    return Measured(measures, spreads, observed)
