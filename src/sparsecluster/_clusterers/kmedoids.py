"""K-medoids with the FasterPAM algorithm of the optional package kmedoids."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._features.features import dissimilarity
from .._kernels.pairs import seed_pairs
from .._utils.arrays import Floats, Labels, Subset
from .clusterer import Clusterer, Task

# A limit that is not reached in practice: a handful of iterations are the most that have been observed.
ITERATIONS = 1000


class KMedoids(Clusterer):
    """Clusters around k samples, the medoids m_1, ..., m_k, chosen to make sum_i min_c D_S(i, m_c) small.

    Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101, 2021. Each run starts from
    labels, either `warm` or given by k-means++ seeds. Their medoids are swapped for other samples until no swap lowers
    the sum.
    """

    needs = "pairs"

    def __init__(self) -> None:
        try:
            import kmedoids
        except ImportError as error:
            raise ImportError(
                'clusterer="kmedoids" needs the package kmedoids, which is not installed. '
                "Install it with: pip install sparsecluster[kmedoids]"
            ) from error
        self._fasterpam: Any = kmedoids.fasterpam

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        similarity = features.pairs(subset).similarity
        apart = dissimilarity(similarity)
        starts = [warm] if warm is not None else [seed_pairs(similarity, rng.random(k)) for _ in range(n_starts)]
        # The package's own random starts are no better in the same time; with these, all starts are of one kind.
        runs = [self._fasterpam(apart, medoids_of(apart, start, k), ITERATIONS, n_cpu=1) for start in starts]
        best = min(runs, key=lambda run: run.loss)
        return nearest(apart, best.medoids.astype(np.intp))


def medoids_of(apart: Floats, labels: Labels, n_clusters: int) -> Subset:
    """The medoid of every cluster: the sample with the smallest sum of dissimilarities to the others."""
    members = labels[:, None] == np.arange(n_clusters)
    sums = np.where(members, apart @ members, np.inf)
    return sums.argmin(axis=0)


def nearest(apart: Floats, medoids: Subset) -> Labels:
    """The nearest medoid of every sample; a medoid belongs to its own cluster even if another medoid equals it."""
    labels = apart[:, medoids].argmin(axis=1).astype(np.int32)
    labels[medoids] = np.arange(medoids.size)
    return labels
