"""Sparse K-medoids: Sparse K-means for any dissimilarity, as compared with SAS clustering in Table 4 of its paper."""

from __future__ import annotations

from .._clusterers.clusterer import Clusterer
from .._clusterers.kmedoids import KMedoids
from .._features.features import Features
from ._bounded import check_pairs
from .sparse_kmeans import SparseKMeans


class SparseKMedoids(SparseKMeans):
    """Sparse K-means with K-medoids in place of K-means, for any dissimilarity.

    Alternates between two steps. For given weights, the clusters are those of K-medoids, which chooses samples m_1..m_k
    with a small value of sum_i min_c sum_a w_a delta_a(i, m_c). For given clusters, the weights maximize

        sum_a w_a (T_a - Delta_a[C])   with   w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    where Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j), and T_a is the same with all samples in one
    cluster. The two steps improve different sums, so the alternation ends as soon as the second sum does not increase.

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
    l1_bound : "auto" or float, default="auto"
        Upper bound b of |w|_1, at least 1. With b = 1 a single feature is chosen, and for b >= sqrt(p) the bound has
        no effect. "auto" chooses b by the gap statistic.
    bounds : sequence of float or None, default=None
        Values of b that "auto" compares. By default, 10 values from 1.2 to 0.9 sqrt(p), evenly spaced on the log scale,
        as in the R package sparcl.
    metric : str, callable or dict, default="auto"
        Dissimilarity of two values of a column, with the same options as in `SASClustering`. The default for numbers is
        "sqeuclidean", the squared difference (x - y)^2; "euclidean" and "manhattan" are the plain distance |x - y|.
    standardize : bool, default=True
        Whether to give all features the same total T_a, regardless of their units.
    rule : {"max", "1se"}, default="max"
        Choose the bound with the largest gap ("max"), or the smallest bound whose gap is within one standard error of
        it ("1se").
    n_permutations : int, default=25
        Number of permuted copies for the gap statistic.
    n_init : int, default=20
        Number of starts: runs of K-medoids on all features at the beginning of a path of bounds, and whole alternations
        at the chosen bound.
    max_iter : int, default=100
        Maximum number of alternations from one start. A few are usually enough.
    n_jobs : int or None, default=None
        Number of threads. None means 1 unless in a `joblib.parallel_config` context, and -1 means all processors. The
        result does not depend on the number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    feature_weights_ : ndarray of shape (n_features,)
        Weight w_a of each feature, and 0 for columns that are left out.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features with nonzero weight, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Columns that are constant or missing too often are left out and have score 0.
    objective_ : float
        Value of the maximized sum.
    l1_bound_ : float
        The bound b.
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of b, or None if `l1_bound` was given.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X, as in `SASClustering`.
    history_ : tuple of float
        Objective after each alternation.
    n_iter_ : int
        Number of alternations.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    `predict` assigns a sample by its average dissimilarity to the samples of a cluster, not by the medoids.

    References
    ----------
    D. M. Witten and R. Tibshirani, "A framework for feature selection in clustering", Journal of the American
    Statistical Association 105 (2010), 713-726. K-medoids: Section 4.4 of E. Arias-Castro and X. Pu, "A simple approach
    to sparse clustering", Computational Statistics & Data Analysis 105 (2017), 217-228.

    Examples
    --------
    >>> from sparsecluster import SparseKMedoids, rand_index
    >>> from sparsecluster.datasets import bernoulli_groups
    >>> X, truth, useful = bernoulli_groups(q=0.9, n_features=60, seed=0)
    >>> found = SparseKMedoids(n_clusters=3, metric="hamming", l1_bound=3.5).fit(X)
    >>> rand_index(truth, found.labels_) > 0.95
    True
    """

    def _clusterer(self, features: Features) -> Clusterer:
        check_pairs(type(self).__name__, features.n_samples)
        return KMedoids()
