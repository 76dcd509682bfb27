"""What the clusters look like in each chosen column, so that any sample can be assigned to the nearest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.base import Features, Floats, Labels, Subset
from .kinds import Dissimilarity, Measure
from .source import SampleSource


class Profile(NamedTuple):
    """One column: its measure, mean distance to all samples as one cluster, weight of a distance, share of a score."""

    measure: Measure
    spread: float
    weight: float
    share: float

    def distances(self, new: Any) -> Floats:
        """To each cluster; one in which the column is never observed is as far as a typical one."""
        apart = self.measure(new)
        unknown = np.isnan(apart)
        return np.where(unknown & ~unknown.all(axis=1, keepdims=True), self.spread, apart)


class Profiles(NamedTuple):
    """The chosen columns, and the sum of the weights of the features that they make up (without weights, their number).

    The order of the columns is that in which values are given to the methods.
    """

    columns: Sequence[Profile]
    whole: float

    def distances(self, values: Iterable[Any]) -> Floats:
        """Sum over the columns of weight times distance, n_samples x k, as if all values were observed."""
        total: Any = 0.0
        observed: Any = 0.0
        for column, new in zip(self.columns, values, strict=True):
            apart = column.distances(new)
            known = ~np.isnan(apart[:, :1])
            total = total + np.where(known, column.weight * apart, 0.0)
            observed = observed + column.share * known
        return np.asarray(total / np.where(observed > 0, observed, 1.0))

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

    def typical(self) -> float:
        """The distance of a typical sample to all samples as one cluster."""
        return sum(each.weight * each.spread for each in self.columns) / sum(each.share for each in self.columns)


def make_profile(kind: Dissimilarity, codes: Any, labels: Any, k: int, total: float, share: float) -> Profile:
    """The profile of one column; `total` is what it counts in the clustering."""
    apart = kind.measure(codes, np.zeros_like(labels), 1)(codes)[:, 0]
    observed = ~np.isnan(apart)
    spread = float(apart[observed].mean())
    return Profile(kind.measure(codes, labels, k), spread, total / (spread * observed.sum()), share)


def profiles_of(
    source: SampleSource, features: Features, labels: Labels, k: int, subset: Subset, weights: Floats | None = None
) -> Profiles:
    """What the clusters look like in the columns of the chosen features, in the order of the source's columns.

    weights[a] is how many times feature a counts; once if there are none.
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
