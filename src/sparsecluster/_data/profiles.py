"""Profiles of the clusters in the chosen columns, by which any sample can be assigned to the nearest cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.features import Features
from .._utils.arrays import Floats, Labels, Subset
from .kinds import Dissimilarity, Measure
from .source import SampleSource


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


def make_profile(kind: Dissimilarity, codes: Any, labels: Any, k: int, total: float, share: float) -> Profile:
    """The profile of one column; `total` is its total in the clustering, see `Features.total`."""
    apart = kind.measure(codes, np.zeros_like(labels), 1)(codes)[:, 0]
    observed = ~np.isnan(apart)
    spread = float(apart[observed].mean())
    return Profile(kind.measure(codes, labels, k), spread, total / (spread * observed.sum()), share)


def profiles_of(
    source: SampleSource, features: Features, labels: Labels, k: int, subset: Subset, weights: Floats | None = None
) -> Profiles:
    """Profiles of the columns of the chosen features, in the order of the source's columns.

    weights[a] is the factor of the dissimilarity of feature a; 1 by default.
    """
    counted = np.ones(features.n_features) if weights is None else weights
    owners, total, shares = source.owners, features.total, features.shares
    profiles = []
    for j in np.flatnonzero(np.isin(owners, subset)).tolist():
        column, times = int(source.columns[j]), float(counted[owners[j]])
        codes = source.look(column, source.samples, source.samples)
        profile = make_profile(source.kind(column), codes, labels, k, total[j], shares[j])
        profiles.append(profile._replace(weight=profile.weight * times, share=profile.share * times))
    return Profiles(profiles, float(counted[subset].sum()))
