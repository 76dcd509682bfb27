"""Sparse K-means (Witten and Tibshirani, 2010)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._clusterers.clusterer import Clusterer
from .._clusterers.kmeans import KMeans
from .._data.metric import Metric
from .._data.reading import Reading
from .._features.features import Features
from .._search.climb import Problem
from .._search.curve import Rule
from .._utils.arrays import Floats
from .._utils.checks import check_count
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._bounded import Bounded, BoundedWeights, usual_bounds
from ._clusters import NClusters
from ._mixins import NearestCluster
from ._result import Result
from ._weights import Weighting, best_weighting, path

# The default bounds go from 1.2 to this share of sqrt(p), evenly spaced on the log scale, as in sparcl.
SMALLEST_BOUND, LARGEST_SHARE = 1.2, 0.9


class SparseKMeans(NearestCluster, BoundedWeights):
    """Sparse K-means: clusters and feature weights, most of which are zero (Witten and Tibshirani, 2010).

    Maximizes over clusterings C and weights w

        sum_a w_a (T_a - Delta_a[C])   with   w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    where Delta_a[C] is the within-cluster sum of squares of feature a, and T_a is the same with all samples in one
    cluster. For given C, the weights are w = S(g, D) / |S(g, D)|_2 with g_a = T_a - Delta_a[C], where S is the soft
    threshold. D is 0 if this satisfies the L1 bound, and otherwise it is chosen, in closed form, such that |w|_1 = b.
    For given w, the clusters are those of K-means on features multiplied by sqrt(w_a). A feature is chosen if its
    weight is not zero.

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
    metric : str or dict, default="auto"
        Dissimilarity of two values of a column: "sqeuclidean" is the squared difference (x - y)^2, the default for
        numbers, and "hamming" is 0 for equal levels and 1 for different levels. "auto" chooses by the type of the
        column, and a dict {column: metric} sets the metric of some columns. K-means needs coordinates, which other
        metrics do not have; use `SparseKMedoids` for the plain distance |x - y| ("euclidean" or "manhattan") and the
        rest.
    standardize : bool, default=True
        Whether to give all features the same total T_a, regardless of their units.
    rule : {"max", "1se"}, default="max"
        Choose the bound with the largest gap ("max"), or the smallest bound whose gap is within one standard error of
        it ("1se").
    n_permutations : int, default=25
        Number of permuted copies for the gap statistic.
    n_init : int, default=20
        Number of starts: runs of K-means on all features at the beginning of a path of bounds, and whole alternations
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
        Mean of each column in each cluster, in the units of X, or the most frequent level for "hamming".
    history_ : tuple of float
        Objective after each alternation.
    n_iter_ : int
        Number of alternations.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    References
    ----------
    D. M. Witten and R. Tibshirani, "A framework for feature selection in clustering", Journal of the American
    Statistical Association 105 (2010), 713-726.

    Examples
    --------
    >>> from sparsecluster import SparseKMeans, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> found = SparseKMeans(n_clusters=3, l1_bound=6.0).fit(X)
    >>> rand_index(truth, found.labels_)
    1.0
    >>> int(found.support_.sum()), int(found.support_[useful].sum()), round(float(found.feature_weights_.sum()), 3)
    (45, 45, 6.0)
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        l1_bound: float | str = "auto",
        bounds: Sequence[float] | None = None,
        metric: Metric = "auto",
        standardize: bool = True,
        rule: Rule = "max",
        n_permutations: int = 25,
        n_init: int = 20,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.l1_bound = l1_bound
        self.bounds = bounds
        self.metric = metric
        self.standardize = standardize
        self.rule = rule
        self.n_permutations = n_permutations
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _clusterer(self, features: Features) -> Clusterer:
        """Return the clusterer of the first step, or raise an error if it cannot use these features."""
        if not features.has_rows:
            raise ValueError(
                f"{type(self).__name__} needs coordinates of the samples, but these features have only dissimilarities "
                'of pairs of samples. Use SparseKMedoids, or metric="sqeuclidean" for numbers and "hamming" for levels.'
            )
        return KMeans()

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)

    def _solve(self, reading: Reading, k: int) -> Result:
        rng, n_init = rng_of(self.random_state), int(self.n_init)
        features = reading.source.features()
        problem = Problem(features, self._clusterer(features), k, int(self.max_iter))
        usual = usual_bounds(features.n_features, SMALLEST_BOUND, LARGEST_SHARE, np.geomspace)

        def solve(copy: Features, bounds: Floats, own_rng: np.random.Generator) -> list[Weighting]:
            weighs = [Bounded(bound) for bound in bounds.tolist()]
            return path(problem._replace(features=copy), weighs, own_rng, n_init)

        chosen = self._choose(features, usual, solve, rng)
        known = [] if chosen.found is None else [chosen.found.labels]
        best = best_weighting(problem, Bounded(chosen.bound), rng, n_init, known)
        return self._weighted(features, k, chosen, best)
