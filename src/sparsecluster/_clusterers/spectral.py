"""Spectral clustering: k-means on the leading eigenvectors of a Gaussian affinity."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .._features.features import Rows, dissimilarity
from .._utils.arrays import Floats, Labels
from .clusterer import Clusterer, Task, named_like
from .kmeans import kmeans

# Runs of k-means on the eigenvectors per start: their cost is negligible next to that of the eigenvectors.
RUNS = 10
# Dissimilarities below this share of the largest are rounding errors: the two samples are equal.
EQUAL = 1e-12


class Spectral(Clusterer):
    """K-means on the rows, scaled to length 1, of the k leading eigenvectors of W^(-1/2) A W^(-1/2).

    A is the Gaussian affinity of the samples and W the diagonal of its row sums. (Ng, Jordan and Weiss, "On spectral
    clustering", NIPS 2001.) `warm` affects only the numbering of the clusters.
    """

    needs = "pairs"

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        affinity = gaussian_affinity(dissimilarity(features.pairs(subset).similarity))
        rows = Rows(spectral_rows(affinity, k), np.ones(k))
        return named_like(kmeans(rows, k, rng, n_starts=RUNS * n_starts), warm, k)


def gaussian_affinity(apart: Floats) -> Floats:
    """exp(-D_ij / (2 h)), where h is the median dissimilarity of the pairs of samples that differ.

    The median adapts to the units of D and to the number of features, and a few outliers hardly affect it. A smaller h
    finds clusters of unusual shapes (two moons), but with heavy tails it makes every outlier a cluster of its own.
    Equal samples are left out: if features take only few values, they can be most of the pairs, and the median would
    be 0.
    """
    above = apart[np.triu_indices_from(apart, 1)]
    differ = above[above > EQUAL * above.max()]
    scale = np.median(differ) if differ.size else 1.0
    return np.exp(apart / (-2.0 * scale))


def spectral_rows(affinity: Floats, n_clusters: int) -> Floats:
    """The rows of the k leading eigenvectors of the normalized affinity, each scaled to length 1.

    Ng, Jordan and Weiss set the diagonal of A to zero. Here it is kept, so that the row sum of a sample far from all
    others is 1 instead of 0.
    """
    n = len(affinity)
    root = np.sqrt(affinity.sum(axis=1))
    vectors = eigh(affinity / np.outer(root, root), subset_by_index=(n - n_clusters, n - 1))[1]
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    # A row may be zero, if the affinity falls into more than k unconnected blocks.
    return np.ascontiguousarray(vectors / np.maximum(lengths, np.finfo(float).tiny))
