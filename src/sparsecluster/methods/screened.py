"""Screening followed by clustering: features are chosen by a test of each single feature."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np

from .._clusterers.clusterer import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.reading import Reading
from .._features.features import Features
from .._utils.arrays import Subset
from .._utils.checks import check_choice, check_count, check_number, frames_in_package
from .._utils.parameters import rng_of
from ._base import SparseClusterer
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._result import Array, Result
from ._screening import TESTS, Screening, Test, by_false_discovery_rate, by_higher_criticism, by_number, screen


class ScreenedClustering(CompleteNumbers, NearestCluster, SparseClusterer):
    """Test each feature on its own for the presence of clusters, and cluster the samples on the features that pass.

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
    test : {"ks", "moments", "mode", "variance"}, default="ks"
        Test of each feature:

        - "ks" tests for a deviation from the normal distribution by the Kolmogorov-Smirnov statistic
          sqrt(n) sup_x |F_a(x) - Phi(x)|, with Efron's correction of the null distribution (Jin and Wang, 2016).
        - "moments" tests for a skewness or kurtosis that differs from that of a normal distribution, for noise of
          unknown variance (Verzelen and Arias-Castro, 2017).
        - "mode" tests for more than one mode by the dip statistic, which is half the excess mass (Chan and Hall, 2010).
        - "variance" tests for a larger variance than that of the noise, which is the same in all features, by comparing
          (n - 1) s_a^2 / sigma^2 with the chi-squared distribution (Azizyan, Singh and Wasserman, 2013; Verzelen and
          Arias-Castro, 2017).
    threshold : {"hc", "fdr"} or int, default="hc"
        How many features pass: chosen by higher criticism ("hc", Jin and Wang), by the false discovery rate ("fdr",
        Benjamini and Hochberg), or given as a number.
    level : float, default=0.1
        False discovery rate for `threshold="fdr"`.
    noise_variance : float or None, default=None
        The noise variance sigma^2 for `test="variance"`, in the units of X. By default, it is estimated from the median
        of the variances of the features.
    clusterer : str or object, default="auto"
        Clustering method, as in `SASClustering`.
    standardize : bool, default=True
        Whether to give all features that pass the same weight in the clustering. The tests always use the original
        values.
    n_init : int, default=20
        Number of starts of the clusterer.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features that passed, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    statistics_ : ndarray of shape (n_features,)
        Test statistic of each feature, and NaN for constant columns.
    p_values_ : ndarray of shape (n_features,)
        P-value of each feature, and NaN for constant columns.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    The p-values of all tests except "variance" come from 100,000 simulated normal columns with n samples. These are
    kept in the user's cache folder, which can be changed by the environment variable SPARSECLUSTER_CACHE.

    References
    ----------
    J. Jin and W. Wang, "Influential features PCA for high dimensional clustering", Annals of Statistics 44 (2016).
    N. Verzelen and E. Arias-Castro, "Detection and feature selection in sparse mixture models", Annals of Statistics 45
    (2017). Y. Chan and P. Hall, "Using evidence of mixed populations to select variables for clustering very
    high-dimensional data", Journal of the American Statistical Association 105 (2010). M. Azizyan, A. Singh and
    L. Wasserman, "Minimax theory for high-dimensional Gaussian mixtures with sparse mean separation", NIPS 2013.

    Examples
    --------
    >>> from sparsecluster import ScreenedClustering, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.5, n_features=200, seed=0)
    >>> found = ScreenedClustering(n_clusters=3, test="variance", threshold="fdr").fit(X)
    >>> rand_index(truth, found.labels_)
    1.0
    >>> int(found.support_.sum()), int(found.support_[useful].sum())
    (52, 50)
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        test: Test = "ks",
        threshold: str | int = "hc",
        level: float = 0.1,
        noise_variance: float | None = None,
        clusterer: str | object = "auto",
        standardize: bool = True,
        n_init: int = 20,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.test = test
        self.threshold = threshold
        self.level = level
        self.noise_variance = noise_variance
        self.clusterer = clusterer
        self.standardize = standardize
        self.n_init = n_init
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_choice("test", self.test, TESTS)
        check_number("level", self.level, "a number between 0 and 1", lambda x: 0 < x < 1)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, "None or a number above 0", lambda x: 0 < x < np.inf)
        if isinstance(self.threshold, str):
            check_choice("threshold", self.threshold, ["hc", "fdr"], " or a number of features")

    def _solve(self, reading: Reading, k: int) -> Result:
        table = self._complete_table(reading)
        if not isinstance(self.threshold, str):
            check_count("threshold", self.threshold, 1, reading.source.columns.size, 'Use "hc" or "fdr" to choose it.')
        features = reading.source.features()
        clusterer = self._clusterer(features)
        screening = screen(table, self.test, self.noise_variance)
        subset = self._passed(screening, len(table))
        labels = clusterer.cluster(features, subset, k, rng_of(self.random_state), n_starts=int(self.n_init))
        arrays = {
            "statistics_": Array(screening.statistics, ("feature",), np.nan),
            "p_values_": Array(screening.p_values, ("feature",), np.nan),
        }
        return Result(features, labels, subset, k, arrays=arrays)

    def _clusterer(self, features: Features) -> Clusterer:
        return make_clusterer(self.clusterer, features.has_rows)

    def _passed(self, screening: Screening, n_samples: int) -> Subset:
        if isinstance(self.threshold, Integral):
            return by_number(screening, int(self.threshold))
        if self.threshold == "hc":
            return by_higher_criticism(screening.p_values, n_samples)
        passed = by_false_discovery_rate(screening.p_values, float(self.level))
        if passed.size:
            return passed
        warnings.warn(
            f"No feature passes at a false discovery rate of {self.level}, so the feature with the smallest p-value is "
            'used. Consider threshold="hc", a number of features, or another test.',
            UserWarning,
            stacklevel=frames_in_package(),
        )
        return by_number(screening, 1)
