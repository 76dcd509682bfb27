"""K-medoids by FasterPAM, from the optional package kmedoids."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._features.base import Floats, Labels, Subset, dissimilarity
from .._kernels.pairs import seed_pairs
from .base import Clusterer, Task

# A bound that is never reached: a handful of iterations are the most seen.
ITERATIONS = 1000


class KMedoids(Clusterer):
    """Each sample joins the nearest of k samples, the medoids m_1..m_k, that make sum_i min_c D_S(i, m_c) small.

    Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101, 2021. A start is a
    labeling, `warm` or by k-means++ seeds, whose medoids are then swapped until no swap lowers the sum.
    """

    needs = "pairs"

    def __init__(self) -> None:
        try:
            import kmedoids
        except ImportError as error:
            raise ImportError(
                'clusterer="kmedoids" needs the package kmedoids, which is not installed. '
                "Install it by: pip install sparsecluster[kmedoids]"
            ) from error
        self._fasterpam: Any = kmedoids.fasterpam

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        similarity = features.pairs(subset).similarity
        apart = dissimilarity(similarity)
        starts = [warm] if warm is not None else [seed_pairs(similarity, rng.random(k)) for _ in range(n_starts)]
        # Not by the package's own random starts: in the same time they are no better, and so all starts are one thing.
        runs = [self._fasterpam(apart, medoids_of(apart, start, k), ITERATIONS, n_cpu=1) for start in starts]
        best = min(runs, key=lambda run: run.loss)
        return nearest(apart, best.medoids.astype(np.intp))


def medoids_of(apart: Floats, labels: Labels, n_clusters: int) -> Subset:
    """Of every cluster, the sample with the smallest sum of dissimilarities to the others."""
    members = labels[:, None] == np.arange(n_clusters)
    sums = np.where(members, apart @ members, np.inf)
    return sums.argmin(axis=0)


def nearest(apart: Floats, medoids: Subset) -> Labels:
    """The nearest medoid of every sample; a medoid is its own, even where another one equals it."""
    labels = apart[:, medoids].argmin(axis=1).astype(np.int32)
    labels[medoids] = np.arange(medoids.size)
    return labels
