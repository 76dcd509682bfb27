"""Features that are scored by the amount that a clustering explains instead of by the share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._utils.arrays import Floats, Labels, Subset
from .features import Coordinates, Features
from .likelihood import Likelihood


class Amounts(Features):
    """Features whose score is T_a - Delta_a[C], the amount of the dissimilarity that the clustering explains.

    The amount is what a clusterer that lowers sum_{a in S} Delta_a[C] raises, so that a search on these features
    follows one objective in both steps also if the features are not standardized.
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self.n_samples, self.n_features, self.shares = features.n_samples, features.n_features, features.shares
        self.has_rows, self.has_missing = features.has_rows, features.has_missing
        # Shared with all permuted copies: permuting a feature does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}

    @property
    def total(self) -> Floats:
        return self.features.total

    def by_member(self, values: Floats) -> Floats:
        return self.features.by_member(values)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return self.features.explained(labels, n_clusters)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        return self.features.likelihood(labels, n_clusters, members)

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        return self.features.seen_pairs(subset, weights)

    def rows(self, subset: Subset, weights: Floats | None = None) -> Coordinates:
        return self.features.rows(subset, weights)

    def pair_sums(self, counts: Floats) -> Floats:
        return self.features.pair_sums(counts)

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            owners = self.features.by_member(np.arange(float(self.n_features))).astype(np.intp)
            per_share = np.bincount(owners, self.total) / np.bincount(owners, self.shares)
            best = self.features.univariate(n_clusters) * per_share
            # The members of a group differ in what a share of them amounts to.
            for feature in np.flatnonzero(np.bincount(owners) > 1).tolist():
                best[feature] = self.scores(self.univariate_labels(feature, n_clusters), n_clusters)[feature]
            self._best_scores[n_clusters] = best
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        return self.features.univariate_labels(feature, n_clusters)

    def like_this(self, features: Features) -> Features:
        return type(self)(features)

    def release(self) -> None:
        self.features.release()

    def permuted(self, seed: int) -> Self:
        copy = type(self)(self.features.permuted(seed))
        copy._best_scores = self._best_scores
        return copy
