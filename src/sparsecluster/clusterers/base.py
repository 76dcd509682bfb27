"""The contract of clusterers: C-hat in Algorithm 1."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..features.base import Features, Labels, Subset


class Clusterer(ABC):
    """Groups items by the sum of dissimilarities over a subset of features."""

    @abstractmethod
    def cluster(
        self,
        features: Features,
        subset: Subset,
        n_clusters: int,
        rng: np.random.Generator,
        warm: Labels | None = None,
        n_starts: int = 1,
    ) -> Labels:
        """Labels 0..k-1, every one of them used.

        `warm` labels are improved, never made worse; without them the best of `n_starts` fresh starts is taken.
        """
