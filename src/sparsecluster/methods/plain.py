"""Plain methods from scikit-learn that use all features equally, as a baseline for sparse clustering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from .._clusterers.clusterer import Clusterer
from .._clusterers.kmedoids import KMedoids
from .._clusterers.own import Own
from .._data.metric import Metric
from .._data.reading import Reading
from .._features.features import Features
from .._utils.checks import check_choice
from .._utils.parameters import rng_of
from ._base import SparseClusterer
from ._bounded import check_pairs
from ._clusters import NClusters
from ._mixins import NearestCluster
from ._result import Result

Algorithm = Literal["kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"]
# Number of starts of the methods that have random starts.
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
    """A plain method on all features: scikit-learn's K-means, hierarchical or spectral clustering, or K-medoids.

    Samples are compared by D(i, j) = sum_a delta_a(i, j). The methods are those of scikit-learn, applied to the
    coordinates of the samples or to D. K-medoids is FasterPAM from the package kmedoids.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen; see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    algorithm : {"kmeans", "kmeans++", "complete", "ward", "spectral", "kmedoids"}, default="kmeans++"
        Clustering method:

        - "kmeans" is K-means with 30 random starts.
        - "kmeans++" is K-means with 30 starts seeded by k-means++.
        - "complete" and "ward" are hierarchical clustering with complete linkage and with Ward's linkage.
        - "spectral" is spectral clustering of the Gaussian affinity exp(-D / (2 h)), where h is the median of the
          nonzero values of D.
        - "kmedoids" is K-medoids.
    metric : str, callable or dict, default="auto"
        Dissimilarity of two values of a column, with the same options as in `SASClustering`. The default for numbers is
        "sqeuclidean", the squared difference (x - y)^2; "euclidean" and "manhattan" are the plain distance |x - y|.
        K-means and Ward's linkage need coordinates, which only "sqeuclidean" and "hamming" have.
    standardize : bool, default=True
        Whether to give all features the same weight, regardless of their units.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of all features that are used. The method does not select features, but leaves out columns that are
        constant or missing too often.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Columns that are constant or missing too often are left out and have score 0.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X, as in `SASClustering`.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

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
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        algorithm: Algorithm = "kmeans++",
        metric: Metric = "auto",
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.algorithm = algorithm
        self.metric = metric
        self.standardize = standardize
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_choice("algorithm", self.algorithm, list(ALGORITHMS))

    def _clusterer(self, features: Features) -> Clusterer:
        # Our own K-means finds clusters again in a fraction of the time.
        return super()._clusterer(features) if self.algorithm.startswith("kmeans") else ALGORITHMS[self.algorithm]()

    def _checked(self, features: Features) -> Clusterer:
        """Return the clusterer, or raise an error if it cannot use these features."""
        clusterer = ALGORITHMS[self.algorithm]()
        if clusterer.needs == "rows" and not features.has_rows:
            raise ValueError(
                f'algorithm="{self.algorithm}" needs coordinates of the samples, but these features have only '
                'dissimilarities of pairs of samples. Use "complete", "spectral" or "kmedoids".'
            )
        return clusterer

    def _solve(self, reading: Reading, k: int) -> Result:
        features = reading.source.features()
        clusterer = self._checked(features)
        if clusterer.needs == "pairs":
            check_pairs(type(self).__name__, features.n_samples)
        everything = np.arange(features.n_features)
        labels = clusterer.cluster(features, everything, k, rng_of(self.random_state), n_starts=STARTS)
        return Result(features, labels, everything, k)
