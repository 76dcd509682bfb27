"""Screening followed by clustering: features are chosen by a test of each single feature."""

from __future__ import annotations

import itertools
import warnings
from numbers import Integral

import numpy as np

from .._clusterers.clusterer import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.reading import Reading
from .._features.features import Features
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_choice, check_count, check_number, frames_in_package, is_auto
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from .._utils.text import brief
from ._base import SparseClusterer
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._result import Array, NoClustersError, Order, Result
from ._screening import (
    TESTS,
    Screening,
    azizyan_alpha,
    by_false_discovery_rate,
    by_higher_criticism,
    by_number,
    by_variance_ratio,
    screen,
    spreads,
)
from .ifpca import Projected, leading

THRESHOLDS = ("hc", "fdr", "azizyan")


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
    test : str, default="ks"
        Test of each feature:

        - "ks" tests for a deviation from the normal distribution by the Kolmogorov-Smirnov statistic
          sqrt(n) sup_x |F_a(x) - Phi(x)|, with Efron's correction of the null distribution (Jin and Wang, 2016).
        - "moments" tests for a skewness or kurtosis that differs from that of a normal distribution, for noise of
          unknown variance (Verzelen and Arias-Castro, 2017).
        - "skewness", "kurtosis" and "absolute" are such tests of one moment. Clusters of unequal sizes have a large
          skewness |m_3| / m_2^(3/2). Two clusters of equal sizes have a small kurtosis m_4 / m_2^2 (the statistic is
          3 - m_4 / m_2^2) and a large mean absolute deviation over the standard deviation.
        - "mode" tests for more than one mode by the dip statistic, which is half the excess mass (Chan and Hall, 2010).
        - "dip" is the same test with p-values for uniform instead of normal noise, as by Hartigan and Hartigan (1985).
          No other noise with one mode has larger dips, so this is conservative.
        - "bandwidth" tests for more than one mode by the smallest bandwidth for which a density estimate has one mode
          (Silverman, 1981), divided by the standard deviation.
        - "variance" tests for a larger variance than that of the noise, which is the same in all features, by comparing
          (n - 1) s_a^2 / sigma^2 with the chi-squared distribution (Azizyan, Singh and Wasserman, 2013; Verzelen and
          Arias-Castro, 2017).
    threshold : {"hc", "fdr", "azizyan"} or int, default="hc"
        How many features pass: chosen by higher criticism ("hc", Jin and Wang), by the false discovery rate ("fdr",
        Benjamini and Hochberg), or given as a number. With `test="variance"`, "azizyan" chooses the features whose
        variance is above (1 + alpha) / (1 - alpha) times the smallest. With two clusters and `clusterer="auto"`, the
        clusters are then the signs of the first principal component of these features (Azizyan, Singh and Wasserman).
    level : float, default=0.1
        False discovery rate for `threshold="fdr"`.
    alpha : "auto" or float, default="auto"
        For `threshold="azizyan"`, the share of the noise variance by which variances of noise may differ from it.
        "auto" is the authors' alpha = sqrt(6 log(np) / n) + 2 log(np) / n, which must be below 1, so there must be at
        least 10 log(np) samples or so.
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
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds. With thousands
        of samples, simulating the null distribution takes tens of seconds; it is then kept on disk for later fits.

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
    alpha_ : float or None
        The value of `alpha`. None if `threshold` is not "azizyan".
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    The p-values of all tests except "variance" come from 100,000 simulated normal columns with n samples. These are
    kept in the user's cache folder, which can be changed by the environment variable SPARSECLUSTER_CACHE. For "dip",
    the columns are uniform, and for "bandwidth" there are 20,000. Silverman's bootstrap is conservative, and Hall and
    York (2001) calibrate it; here, the critical bandwidth itself is calibrated.

    Not everything follows the papers. Verzelen and Arias-Castro consider projections to several features as well; the
    tests of single features are their simplest case, and their thresholds, whose constants could not be verified, are
    replaced by `threshold`. As far as we know, Chan and Hall prefer the excess mass to other tests of modes; how they
    calibrate it and how many features they keep could not be verified. Azizyan et al. assume two clusters and the same
    noise variance in all features; the method is theirs with `n_clusters=2` and `standardize=False`, but the constants
    of alpha could not be checked against the paper.

    References
    ----------
    J. Jin and W. Wang, "Influential features PCA for high dimensional clustering", Annals of Statistics 44 (2016).
    N. Verzelen and E. Arias-Castro, "Detection and feature selection in sparse mixture models", Annals of Statistics 45
    (2017). Y. Chan and P. Hall, "Using evidence of mixed populations to select variables for clustering very
    high-dimensional data", Journal of the American Statistical Association 105 (2010). M. Azizyan, A. Singh and
    L. Wasserman, "Minimax theory for high-dimensional Gaussian mixtures with sparse mean separation", NIPS 2013.
    J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985). B. W. Silverman,
    "Using kernel density estimates to investigate multimodality", Journal of the Royal Statistical Society B 43 (1981).
    P. Hall and M. York, "On the calibration of Silverman's test for multimodality", Statistica Sinica 11 (2001).

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
        test: str = "ks",
        threshold: str | int = "hc",
        level: float = 0.1,
        alpha: float | str = "auto",
        noise_variance: float | None = None,
        clusterer: str | object = "auto",
        standardize: bool = True,
        n_init: int = 20,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.test = test
        self.threshold = threshold
        self.level = level
        self.alpha = alpha
        self.noise_variance = noise_variance
        self.clusterer = clusterer
        self.standardize = standardize
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_choice("test", self.test, TESTS)
        check_number("level", self.level, "a number between 0 and 1", lambda x: 0 < x < 1)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, "None or a number above 0", lambda x: 0 < x < np.inf)
        if isinstance(self.threshold, str):
            check_choice("threshold", self.threshold, THRESHOLDS, " or a number of features")
        if not is_auto(self.alpha):
            check_number("alpha", self.alpha, '"auto" or a number between 0 and 1', lambda x: 0 < x < 1)
        if self.threshold == "azizyan" and self.test != "variance":
            raise ValueError(
                f'threshold="azizyan" compares variances: use test="variance"; got test={brief(self.test)}.'
            )

    def _solve(self, reading: Reading, k: int) -> Result:
        table = self._complete_table(reading)
        if not isinstance(self.threshold, str):
            check_count("threshold", self.threshold, 1, reading.source.columns.size, 'Use "hc" or "fdr" to choose it.')
        features = reading.source.features()
        clusterer = self._clusterer(features)
        alpha, rng = self._alpha(*table.shape), rng_of(self.random_state)
        screening = screen(table, self.test, self.noise_variance, verbose=self.verbose)
        subset = self._passed(screening, len(table), alpha)
        arrays = {
            "statistics_": Array(screening.statistics, ("feature",), np.nan),
            "p_values_": Array(screening.p_values, ("feature",), np.nan),
        }
        if alpha is not None and k == 2 and is_auto(self.clusterer):
            found = self._by_sign(features, table, subset)
        else:
            labels = clusterer.cluster(features, subset, k, rng, n_starts=int(self.n_init))
            found = Result(features, labels, subset, k)
        return found.with_attributes(arrays, alpha_=alpha)

    def _by_sign(self, features: Features, table: Floats, subset: Subset) -> Result:
        """Divide the samples into two clusters by the sign of the first principal component of the chosen features."""
        units = spreads(table)[subset]
        units = units if self.standardize else np.full(subset.size, units.max())
        middle = table[:, subset].mean(axis=0)
        vectors, directions = leading((table[:, subset] - middle) / units, 1)
        # With centers at the same distance on both sides of the mean, the nearest one has the same sign.
        centers = np.abs(vectors).mean() * np.array([[-1.0], [1.0]])

        def clusters(order: Order) -> Projected:
            own = np.searchsorted(subset, order.chosen)
            placed = order.restore(Array(centers, ("cluster", None)))
            return Projected(middle[own], units[own], directions[own], placed)

        return Result(features, (vectors[:, 0] > 0).astype(np.int32), subset, 2, clusters=clusters)

    def _alpha(self, n: int, p: int) -> float | None:
        """Return the value of alpha, or None if it is not needed."""
        if self.threshold != "azizyan":
            return None
        alpha = azizyan_alpha(n, p) if is_auto(self.alpha) else float(self.alpha)
        if alpha < 1:
            return alpha
        enough = next(m for m in itertools.count(n) if azizyan_alpha(m, p) < 1)
        raise NoClustersError(
            f"With {n} samples and {p} features, alpha is {alpha:.3g}, but it must be below 1, or no variance would be "
            f'large enough. This takes {enough} samples. Give alpha a value below 1, or use threshold="hc" or "fdr".'
        )

    def _clusterer(self, features: Features) -> Clusterer:
        return make_clusterer(self.clusterer, features.has_rows)

    def _passed(self, screening: Screening, n_samples: int, alpha: float | None) -> Subset:
        if isinstance(self.threshold, Integral):
            return by_number(screening, int(self.threshold))
        if self.threshold == "hc":
            return by_higher_criticism(screening.p_values, n_samples)
        if alpha is not None:
            # The statistics are multiples of the variances.
            passed, bar = by_variance_ratio(screening.statistics, alpha), f"with alpha={alpha:.3g}"
        else:
            passed = by_false_discovery_rate(screening.p_values, float(self.level))
            bar = f"at a false discovery rate of {self.level}"
        if passed.size:
            return passed
        warnings.warn(
            f"No feature passes {bar}, so the feature with the smallest p-value is used. Consider "
            'threshold="hc", a number of features, or another test.',
            UserWarning,
            stacklevel=frames_in_package(),
        )
        return by_number(screening, 1)
