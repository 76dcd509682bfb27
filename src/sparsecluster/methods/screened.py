"""Screening, then clustering: a test of every feature on its own chooses those on which samples are grouped."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np

from .._clusterers.registry import make_clusterer
from .._features.base import Subset
from .._utils.checks import check_choice, check_count, check_number
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from ._base import CompleteNumbers, NearestCluster, SparseClusterer
from ._result import Array, Result
from ._screening import TESTS, Screening, Test, by_false_discovery_rate, by_higher_criticism, by_number, screen


class ScreenedClustering(CompleteNumbers, NearestCluster, SparseClusterer):
    """Tests every feature on its own for more than one group, and clusters the samples on those that pass.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    test : {"ks", "moments", "mode", "variance"}, default="ks"
        What each feature is tested for:

        - "ks": not normal, by the Kolmogorov-Smirnov statistic sqrt(n) sup_x |F_a(x) - Phi(x)| with Efron's correction
          of the null (Jin and Wang, 2016);
        - "moments": skewness or kurtosis unlike those of a normal distribution, for noise of unknown variance
          (Verzelen and Arias-Castro, 2017);
        - "mode": more than one mode, by the dip statistic, half the excess mass (Chan and Hall, 2010);
        - "variance": a variance above that of the noise, which all features share: (n - 1) s_a^2 / sigma^2 against
          chi-squared (Azizyan, Singh and Wasserman, 2013; Verzelen and Arias-Castro, 2017).
    threshold : {"hc", "fdr"} or int, default="hc"
        How many features pass: by higher criticism (Jin and Wang), by the false discovery rate (Benjamini and
        Hochberg), or so many.
    level : float, default=0.1
        The false discovery rate that threshold="fdr" allows.
    noise_variance : float, default=None
        sigma^2 of test="variance", in the units of X; by default from the median of the features' variances.
    clusterer : str or object, default="auto"
        As in `SASClustering`.
    standardize : bool, default=True
        Give every feature that passed the same weight in the clustering. Tests look at X as it is.
    n_init : int, default=20
        Starts of the clusterer.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    support_ : mask of the features that passed (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    statistics_, p_values_ : of every feature; NaN for columns kept out.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X.

    Notes
    -----
    P-values of all tests but "variance" come from 100,000 simulated normal samples of n samples, which are kept in the
    user's cache folder ($SPARSECLUSTER_CACHE) for the next time.

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
        n_clusters: int = 3,
        *,
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
        self.test = test
        self.threshold = threshold
        self.level = level
        self.noise_variance = noise_variance
        self.clusterer = clusterer
        self.standardize = standardize
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the columns of X that pass the test, and the groups of its rows.

        Parameters
        ----------
        X : array or data frame of n samples x p columns of numbers, without gaps.
        y : ignored.
        """
        check_parameters(vars(self))
        n_init = check_count("n_init", self.n_init, 1)
        check_choice("test", self.test, TESTS)
        check_number("level", self.level, "a number between 0 and 1", lambda x: 0 < x < 1)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, "None or a number above 0", lambda x: 0 < x < np.inf)
        if isinstance(self.threshold, str):
            check_choice("threshold", self.threshold, ["hc", "fdr"], " or a number of features")
        rng = rng_of(self.random_state)
        k = int(self.n_clusters)
        reading = self._reading(X)
        table = self._complete_table(reading)
        if not isinstance(self.threshold, str):
            check_count("threshold", self.threshold, 1, reading.source.columns.size, 'Or use "hc" or "fdr".')
        with one_thread_blas():
            features = reading.source.features()
            clusterer = make_clusterer(self.clusterer, features.has_rows)
            screening = screen(table, self.test, self.noise_variance)
            subset = self._passed(screening, reading.n_samples)
            labels = clusterer.cluster(features, subset, k, rng, n_starts=n_init)
            arrays = {
                "statistics_": Array(screening.statistics, ("feature",), np.nan),
                "p_values_": Array(screening.p_values, ("feature",), np.nan),
            }
            return self._keep(reading, features, Result(labels, subset, features.scores(labels, k), arrays=arrays))

    def _passed(self, screening: Screening, n_samples: int) -> Subset:
        if isinstance(self.threshold, Integral):
            return by_number(screening, int(self.threshold))
        if self.threshold == "hc":
            return by_higher_criticism(screening.p_values, n_samples)
        passed = by_false_discovery_rate(screening.p_values, float(self.level))
        if passed.size:
            return passed
        warnings.warn(
            f"No feature passes at a false discovery rate of {self.level}; the one of smallest p-value is taken. Use "
            'threshold="hc" or a number, or another test.',
            UserWarning,
            stacklevel=3,
        )
        return by_number(screening, 1)
