"""Features with weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._utils.arrays import Floats, Labels, Subset
from .features import Coordinates, Features
from .likelihood import Likelihood


class WeightedFeatures(Features):
    """Features whose dissimilarities are multiplied by weights in pairs and rows: delta_S = sum_{a in S} w_a delta_a.

    A score is a share of the feature's own total, so weights do not change it.
    """

    def __init__(self, features: Features, weights: Floats) -> None:
        self.features, self.weights = features, weights
        self.n_samples, self.n_features, self.shares = features.n_samples, features.n_features, features.shares
        self.has_rows, self.has_missing = features.has_rows, features.has_missing

    @property
    def total(self) -> Floats:
        return self.features.total * self.features.by_member(self.weights)

    def by_member(self, values: Floats) -> Floats:
        return self.features.by_member(values)

    @property
    def used(self) -> Subset:
        """The features with a nonzero weight."""
        return np.flatnonzero(self.weights)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return self.features.scores(labels, n_clusters)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        return self.features.likelihood(labels, n_clusters, members)

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        return self.features.seen_pairs(subset, self._times(subset, weights))

    def rows(self, subset: Subset, weights: Floats | None = None) -> Coordinates:
        return self.features.rows(subset, self._times(subset, weights))

    def level_rows(self, subset: Subset, weights: Floats | None = None) -> Any:
        return self.features.level_rows(subset, self._times(subset, weights))

    def _times(self, subset: Subset, weights: Floats | None) -> Floats:
        own = self.weights[subset]
        return own if weights is None else own * weights

    def pair_sums(self, counts: Floats) -> Floats:
        return self.weights * self.features.pair_sums(counts)

    def univariate(self, n_clusters: int) -> Floats:
        return self.features.univariate(n_clusters)

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        return self.features.univariate_labels(feature, n_clusters)

    def release(self) -> None:
        self.features.release()

    def permuted(self, seed: int) -> Self:
        return type(self)(self.features.permuted(seed), self.weights)
