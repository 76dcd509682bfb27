"""Plain methods that use all features alike, by scikit-learn: what sparse clustering has to beat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from .._clusterers.base import Clusterer
from .._clusterers.kmedoids import KMedoids
from .._clusterers.own import Own
from .._data.metric import Metric
from .._utils.checks import check_choice
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from ._base import NearestCluster, SparseClusterer
from ._bounded import check_pairs
from ._result import Result

Algorithm = Literal["kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"]
# Starts of those that have some.
STARTS = 30
ALGORITHMS: dict[str, Callable[[], Clusterer]] = {
    "kmeans": lambda: Own(KMeans(init="random", n_init=STARTS)),
    "kmeans++": lambda: Own(KMeans(init="k-means++", n_init=STARTS)),
    "complete": lambda: Own(AgglomerativeClustering(metric="precomputed", linkage="complete")),
    "ward": lambda: Own(AgglomerativeClustering(linkage="ward")),
    "spectral": lambda: Own(SpectralClustering(affinity="precomputed", n_init=STARTS, assign_labels="kmeans")),
    "kmedoids": KMedoids,
}


class PlainClustering(NearestCluster, SparseClusterer):
    """A plain method on all features: scikit-learn's K-means, hierarchical and spectral clustering, or K-medoids.

    All samples are compared by D(i, j) = sum_a delta_a(i, j). The methods are those of scikit-learn, given the
    coordinates of the samples or D; K-medoids is FasterPAM of the package kmedoids.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    algorithm : {"kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"}, default="kmeans++"
        K-means from 30 random starts or from 30 seedings by k-means++; hierarchical clustering with complete or Ward's
        linkage; spectral clustering of the Gaussian affinity exp(-D / (2 h)) with h the median of D; K-medoids.
    metric : str, callable or dict, default="auto"
        How a column tells samples apart, as in `SASClustering`. K-means and Ward need coordinates.
    standardize : bool, default=True
        Give every feature the same weight, whatever its units.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    support_ : all features that are not constant.
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X.

    Examples
    --------
    >>> from sparsecluster import PlainClustering, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, _ = shifted_groups(mu=2.0, n_features=100, seed=0)
    >>> rand_index(truth, PlainClustering(n_clusters=3, algorithm="ward").fit(X).labels_)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        algorithm: Algorithm = "kmeans++",
        metric: Metric = "auto",
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.metric = metric
        self.standardize = standardize
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n samples x p columns, or p matrices n x n with metric="precomputed";
            gaps are welcome.
        y : ignored.
        """
        check_parameters(vars(self))
        check_choice("algorithm", self.algorithm, list(ALGORITHMS))
        k = int(self.n_clusters)
        reading = self._reading(X)
        with one_thread_blas():
            features = reading.source.features()
            clusterer = ALGORITHMS[self.algorithm]()
            if clusterer.needs == "rows" and not features.has_rows:
                raise ValueError(
                    f'algorithm="{self.algorithm}" needs coordinates of the samples, and these features have only '
                    'dissimilarities of pairs. Use "complete", "spectral" or "kmedoids".'
                )
            if clusterer.needs == "pairs":
                check_pairs(type(self).__name__, reading.n_samples)
            everything = np.arange(features.n_features)
            labels = clusterer.cluster(features, everything, k, rng_of(self.random_state), n_starts=STARTS)
            return self._keep(reading, features, Result(labels, everything, features.scores(labels, k)))
