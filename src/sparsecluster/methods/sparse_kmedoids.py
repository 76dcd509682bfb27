"""Sparse K-medoids: Sparse K-means for any dissimilarity (the opponent in Table 4 of the SAS paper)."""

from __future__ import annotations

from .._clusterers.base import Clusterer
from .._clusterers.kmedoids import KMedoids
from .._features.base import Features
from ._bounded import check_pairs
from .sparse_kmeans import SparseKMeans


class SparseKMedoids(SparseKMeans):
    """Sparse K-means with K-medoids in the place of K-means, for any dissimilarity.

    Alternates between two steps. For given weights the clusters are those of K-medoids, which chooses samples m_1..m_k
    that make sum_i min_c sum_a w_a delta_a(i, m_c) small. For given clusters the weights maximize

        sum_a w_a (T_a - Delta_a[C])   with   w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    where Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j) and T_a is the same with all samples in one cluster.
    The steps raise different sums, so the alternation ends where the second one does not gain.

    Parameters
    ----------
    n_clusters, l1_bound, bounds, standardize, rule, n_permutations, n_init, max_iter, n_jobs, random_state, verbose :
        as in `SparseKMeans`.
    metric : str, callable or dict, default="auto"
        Any that `SASClustering` takes: "sqeuclidean", "manhattan", "hamming", "ordinal", "precomputed", a function of two
        values, or a dict {column: metric}.

    Attributes
    ----------
    As in `SparseKMeans`. `predict` places a sample by its average dissimilarity to the samples of a cluster.

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
