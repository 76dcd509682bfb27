"""Spectral clustering: k-means on the leading eigenvectors of a Gaussian affinity."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .._features.base import Floats, Labels, Rows, dissimilarity
from .base import Clusterer, Task, named_like
from .kmeans import kmeans

# K-means runs on the eigenvectors for each start asked for: next to the eigenvectors they cost nothing.
RUNS = 10
# Dissimilarities below this share of the largest are rounding: the two samples are equal.
EQUAL = 1e-12


class Spectral(Clusterer):
    """K-means on the rows, scaled to length 1, of the k leading eigenvectors of W^(-1/2) A W^(-1/2).

    A is the Gaussian affinity of the samples and W the diagonal of its row sums. (Ng, Jordan and Weiss, "On spectral
    clustering", NIPS 2001.) The clusters do not depend on `warm`, only their names.
    """

    needs = "pairs"

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        affinity = gaussian_affinity(dissimilarity(features.pairs(subset).similarity))
        rows = Rows(spectral_rows(affinity, k), np.ones(k))
        return named_like(kmeans(rows, k, rng, n_starts=RUNS * n_starts), warm, k)


def gaussian_affinity(apart: Floats) -> Floats:
    """exp(-D_ij / (2 h)) with h the median of the dissimilarities of samples that differ.

    The median follows the units of D and the number of features, and a few far samples do not move it. A smaller h finds
    groups of odd shapes (two moons), but where tails are heavy every far sample then becomes a group of its own. Equal
    samples are left out: with few values to a feature they can be most of the pairs, and the median would be 0.
    """
    above = apart[np.triu_indices_from(apart, 1)]
    differ = above[above > EQUAL * above.max()]
    scale = np.median(differ) if differ.size else 1.0
    return np.exp(apart / (-2.0 * scale))


def spectral_rows(affinity: Floats, n_clusters: int) -> Floats:
    """The samples in the k leading eigenvectors of the normalized affinity, each scaled to length 1.

    Ng, Jordan and Weiss put zeros on the diagonal of A. Here it stays, so that the row sum of a sample far from all
    others is 1 and not 0.
    """
    n = len(affinity)
    root = np.sqrt(affinity.sum(axis=1))
    vectors = eigh(affinity / np.outer(root, root), subset_by_index=(n - n_clusters, n - 1))[1]
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    # A sample may be in none of the leading vectors, where more than k groups have nothing to do with each other.
    return np.ascontiguousarray(vectors / np.maximum(lengths, np.finfo(float).tiny))
