"""Clusterers by name, and features and groups to try them on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsecluster._clusterers.kmeans import HillClimb
from sparsecluster._clusterers.registry import CLUSTERERS, make_clusterer
from sparsecluster._features.features import Features, dissimilarity
from tests import naive

NAMES = sorted(CLUSTERERS)
OWN = {
    "own KMeans": SklearnKMeans(),
    "own GaussianMixture": GaussianMixture(covariance_type="diag"),
    "own average": AgglomerativeClustering(metric="precomputed", linkage="average"),
    "own spectral": SpectralClustering(affinity="precomputed"),
    "own pipeline": make_pipeline(StandardScaler(), SklearnKMeans(3)),
}
LINKAGES = ["average", "complete", "ward"]
PASSES = 1000


class OnlyPairs(Features):
    """Features known by their dissimilarities alone, p x n x n."""

    has_rows = False

    def __init__(self, apart):
        self.apart = apart
        self.n_features, self.n_samples = apart.shape[:2]

    def within(self, labels):
        halves = self.apart / 2
        return np.array([-naive.similarity_objective(-half, labels) for half in halves])

    @property
    def total(self):
        return self.within(np.zeros(self.n_samples))

    def scores(self, labels, n_clusters):
        return 1 - self.within(labels) / self.total

    def seen_pairs(self, subset, weights=None):
        return -self.apart[subset].sum(axis=0) / 2, None

    def univariate(self, n_clusters):
        return np.ones(self.n_features)

    def univariate_labels(self, feature, n_clusters):
        return HillClimb().cluster(self, np.array([feature]), n_clusters, np.random.default_rng(0))

    def permuted(self, seed):
        orders = np.random.default_rng(seed).permuted(np.tile(np.arange(self.n_samples), (self.n_features, 1)), axis=1)
        return OnlyPairs(np.array([matrix[np.ix_(o, o)] for matrix, o in zip(self.apart, orders, strict=True)]))


def make(name, has_rows=True):
    if name == "kmedoids":
        pytest.importorskip("kmedoids")
    return make_clusterer(OWN.get(name, name), has_rows)


def run(name, features, k, seed=0, **options):
    """Labels on all features."""
    subset = np.arange(features.n_features)
    clusterer = make(name, features.has_rows) if isinstance(name, str) else name
    return clusterer.cluster(features, subset, k, np.random.default_rng(seed), **options)


def clear_groups(seed=0, n=60, p=8, k=3):
    """A table with k groups of equal size that nobody can miss, and the groups."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    return rng.standard_normal((n, p)) + 8 * rng.permuted(np.tile(np.arange(k), (p, 1)), axis=1).T[truth], truth


def random_dissimilarities(rng, p, n):
    """Dissimilarities that are not distances: no inequality of the triangle."""
    apart = np.triu(rng.random((p, n, n)), 1)
    return apart + apart.transpose(0, 2, 1)


def dissimilarities_of(features):
    return dissimilarity(features.pairs(np.arange(features.n_features)).similarity)
