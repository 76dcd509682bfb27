"""RSKC: sparse K-means that leaves out the samples farthest from their centers (Kondo, Salibian-Barrera and Zamar)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from .._clusterers.trimmed import Partition, farthest, own_distances, seeded, settled
from .._data.centers import means
from .._data.reading import Reading
from .._features.features import Features
from .._features.numeric import NumericFeatures
from .._kernels.moves import SAME
from .._kernels.trimmed import center_distances, kept_means
from .._kernels.weights import bounded_weights
from .._search.climb import LEAST_GAIN
from .._search.curve import Rule
from .._utils.arrays import Floats, Labels, Mask
from .._utils.checks import check_count, check_number
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._bounded import BoundedWeights, usual_bounds
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._result import Array, Order, Result
from ._screening import spreads
from ._weights import Weighting
from .regularized import ShrunkenCenters
from .sparse_kmeans import LARGEST_SHARE, SMALLEST_BOUND


class Solution(NamedTuple):
    """Weights, the clusters of trimmed K-means with these weights, and the samples that are far in all features.

    The history holds the objective after each update of the weights.
    """

    clusters: Partition
    is_far: Mask
    weights: Floats
    objective: float
    history: tuple[float, ...]

    @property
    def is_left_out(self) -> Mask:
        """Mask of the samples that are left out by either distance."""
        return self.clusters.is_out | self.is_far

    @property
    def weighting(self) -> Weighting:
        """The part that all methods with weights have."""
        return Weighting(self.clusters.labels, self.weights, self.objective, self.history)


# ---------------------------------------------------------------- the alternation


def weighted_rows(table: Floats, weights: Floats) -> Floats:
    """Rows whose squared distances are sum_a w_a (x_ia - x_ja)^2, with at most as many columns as there are samples.

    If more features have a weight, the samples are rotated into the space that they span, which keeps all distances.
    """
    used = np.flatnonzero(weights)
    rows = table[:, used] * np.sqrt(weights[used])
    return rows if used.size <= len(rows) else np.ascontiguousarray(np.asarray(np.linalg.qr(rows.T, mode="r")).T)


def between(table: Floats, labels: Labels, is_out: Mask, k: int) -> Floats:
    """Between-cluster sum of squares of each column, without the samples that are left out."""
    centers, sizes = kept_means(table, labels, is_out, k)
    return np.asarray(sizes @ (centers - sizes @ centers / max(sizes.sum(), 1.0)) ** 2)


def judged(table: Floats, clusters: Partition, k: int) -> tuple[Mask, Floats]:
    """The samples that are farthest from their centers in all features, and the gains without any of the farthest."""
    labels, is_out, _ = clusters
    apart = center_distances(table, kept_means(table, labels, is_out, k)[0])
    is_far = farthest(own_distances(apart, labels), labels, int(is_out.sum()), is_out)
    return is_far, between(table, labels, is_out | is_far, k)


class Problem(NamedTuple):
    """What all alternations on one table have in common."""

    table: Floats
    k: int
    n_out: int
    bound: float
    max_iter: int

    def starts(self, rng: np.random.Generator, n_init: int) -> list[Partition]:
        """Solutions of trimmed K-means on all features with equal weights, the best of them first."""
        rows = weighted_rows(self.table, np.ones(self.table.shape[1]))
        found = [settled(rows, seeded(rows, self.k, self.n_out, rng), self.k, rng) for _ in range(n_init)]
        # Of solutions that differ by a rounding error, the first remains the first.
        least = min(each.within for each in found)
        return sorted(found, key=lambda each: each.within > least * (1.0 + SAME))

    def alternate(self, clusters: Partition, rng: np.random.Generator) -> Solution:
        """Alternate until the objective stops rising, and return the last weights that have raised it."""
        is_far, gains = judged(self.table, clusters, self.k)
        weights = bounded_weights(gains, self.bound)
        history = [float(weights @ gains)]
        while True:
            clusters = settled(weighted_rows(self.table, weights), clusters, self.k, rng)
            is_far, gains = judged(self.table, clusters, self.k)
            new = bounded_weights(gains, self.bound)
            if len(history) == self.max_iter or new @ gains <= history[-1] * (1.0 + LEAST_GAIN):
                return Solution(clusters, is_far, weights, float(weights @ gains), tuple(history))
            weights = new
            history.append(float(weights @ gains))

    def path(self, bounds: Floats, rng: np.random.Generator, n_init: int) -> list[Weighting]:
        """One solution for each bound, in ascending order. Each starts from the clusters of the next larger bound."""
        clusters, found = self.starts(rng, n_init)[0], []
        for bound in bounds[::-1].tolist():
            solution = self._replace(bound=bound).alternate(clusters, rng)
            clusters = solution.clusters
            found.append(solution.weighting)
        return found[::-1]

    def is_better(self, one: Solution, other: Solution) -> bool:
        """Whether one solution is better than another, judged by the samples that both keep.

        Each leaves out other samples. An outlier that is a cluster of its own, and therefore kept, must not count.
        """
        is_out = one.is_left_out | other.is_left_out
        gains = (between(self.table, each.clusters.labels, is_out, self.k) for each in (one, other))
        values = [float(bounded_weights(each, self.bound) @ each) for each in gains]
        return values[0] > values[1] * (1.0 + LEAST_GAIN)


# ---------------------------------------------------------------- the estimator


class RobustSparseKMeans(CompleteNumbers, NearestCluster, BoundedWeights):
    """RSKC, robust sparse K-means: sparse K-means without the samples that are farthest from their centers.

    Sparse K-means (Witten and Tibshirani, 2010) alternates between K-means on weighted features and an update of the
    weights. A few outliers can ruin both steps, so a share alpha of the samples is left out of each (Kondo,
    Salibian-Barrera and Zamar, 2016):

    1. Given the weights w, the clusters are those of trimmed K-means: the floor(alpha n) samples with the largest
       weighted distances sum_a w_a (x_ia - c_ka)^2 to their centers are left out of the centers.
    2. The floor(alpha n) samples with the largest unweighted distances sum_a (x_ia - c_ka)^2 to these centers are left
       out as well. They may be outliers in features that have no weight yet.
    3. Given the clusters, the weights maximize

           sum_a w_a g_a   with   w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

       where g_a is the between-cluster sum of squares of feature a over the samples left out in neither step.

    A feature is chosen if its weight is not zero. Samples that are left out still get the label of the nearest center.

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
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`. This is the
        trimming that every method has: it runs the whole method on the samples that are kept, and those left out get
        the label -1. The method's own trimming is `contamination`, so that `trim` is rarely needed here.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    contamination : float, default=0.1
        Share alpha of the samples that each of the two distances leaves out, in [0, 0.5). It should be at least the
        share of outliers; a larger one costs little if the clusters are clear. With 0 the method is sparse K-means.
    l1_bound : "auto" or float, default="auto"
        Upper bound b of |w|_1, at least 1. With b = 1 a single feature is chosen, and for b >= sqrt(p) the bound has
        no effect. "auto" chooses b by the gap statistic.
    bounds : sequence of float or None, default=None
        Values of b that "auto" compares. By default, 10 values from 1.2 to 0.9 sqrt(p), evenly spaced on the log scale,
        as for `SparseKMeans`.
    standardize : bool, default=True
        Whether to give all features the same total sum of squares, regardless of their units.
    rule : {"max", "1se"}, default="max"
        Choose the bound with the largest gap ("max"), or the smallest bound whose gap is within one standard error of
        it ("1se").
    n_permutations : int, default=25
        Number of permuted copies for the gap statistic.
    n_init : int, default=20
        Number of starts.
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
    weighted_outliers_ : ndarray of shape (n_samples,), dtype=bool
        Mask of the samples that are left out because of their weighted distance.
    unweighted_outliers_ : ndarray of shape (n_samples,), dtype=bool
        Mask of the samples that are left out because of their unweighted distance.
    is_outlier_ : ndarray of shape (n_samples,), dtype=bool
        Mask of the samples that are in either mask. There are at least floor(alpha n) of them, whether or not the data
        have outliers.
    trimmed_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster without `weighted_outliers_`, in the units of X. Samples are assigned to the
        nearest of these.
    feature_weights_ : ndarray of shape (n_features,)
        Weight w_a of each feature, and 0 for constant columns.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features with nonzero weight, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1], over
        all samples. Constant columns are left out and have score 0.
    objective_ : float
        Value of the maximized sum for the final clusters.
    l1_bound_ : float
        The bound b.
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of b, or None if `l1_bound` was given.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster over all its samples, in the units of X.
    history_ : tuple of float
        Objective after each update of the weights.
    n_iter_ : int
        Number of alternations.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    With alpha = 0 no step lowers the objective. With trimming there is no such guarantee, since the samples over which
    it is summed change: the alternation ends at the first update of the weights that does not raise the objective, and
    the weights before it are kept. As in the R package, the final clusters are those of trimmed K-means with these
    weights, which makes the final objective a little different from the last one in `history_` if it would have fallen.

    The objectives of two starts are sums over different samples, and an outlier that forms a cluster of its own has a
    distance of zero to its center, is not left out, and raises the objective. Two solutions are therefore compared on
    the samples that both of them keep.

    Differences from the R package RSKC: R repeats trimmed K-means from 200 random starts in every alternation and
    follows only the best, whereas here every start is followed to the end. A cluster never loses all its samples to the
    trimming here. R accepts missing values by scaling distances up to the observed share of the weight; here they are
    refused. R leaves both the bound and alpha to the user; here the bound is tuned as for sparse K-means.

    References
    ----------
    Y. Kondo, M. Salibian-Barrera and R. Zamar, "RSKC: An R package for a robust and sparse K-means clustering
    algorithm", Journal of Statistical Software 72(5) (2016). D. M. Witten and R. Tibshirani, "A framework for feature
    selection in clustering", Journal of the American Statistical Association 105 (2010), 713-726.

    Examples
    --------
    >>> from sparsecluster import RobustSparseKMeans, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.0, n_features=200, group_size=20, seed=0)
    >>> X[[0, 25, 50], 190] = 25.0, -25.0, 30.0
    >>> found = RobustSparseKMeans(n_clusters=3, l1_bound=6.0, standardize=False).fit(X)
    >>> rand_index(truth, found.labels_), int(found.support_.sum()), int(found.support_[useful].sum())
    (1.0, 48, 48)
    >>> bool(found.unweighted_outliers_[[0, 25, 50]].all())
    True
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        contamination: float = 0.1,
        l1_bound: float | str = "auto",
        bounds: Sequence[float] | None = None,
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
        self.contamination = contamination
        self.l1_bound = l1_bound
        self.bounds = bounds
        self.standardize = standardize
        self.rule = rule
        self.n_permutations = n_permutations
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_number("contamination", self.contamination, "a share of the samples in [0, 0.5)", lambda x: 0 <= x < 0.5)

    def _solve(self, reading: Reading, k: int) -> Result:
        raw = self._complete_table(reading)
        rng, n_init = rng_of(self.random_state), int(self.n_init)
        features = reading.source.features()
        usual = usual_bounds(features.n_features, SMALLEST_BOUND, LARGEST_SHARE, np.geomspace)
        n_out = number_out(float(self.contamination), len(raw), k)
        problem = Problem(table_of(features), k, n_out, np.inf, int(self.max_iter))

        def solve(copy: Features, bounds: Floats, own_rng: np.random.Generator) -> list[Weighting]:
            return problem._replace(table=table_of(copy)).path(bounds, own_rng, n_init)

        chosen = self._choose(features, usual, solve, rng)
        problem = problem._replace(bound=chosen.bound)
        best = None
        for start in problem.starts(rng, n_init):
            found = problem.alternate(start, rng)
            if best is None or problem.is_better(found, best):
                best = found
        assert best is not None
        return with_outliers(self._weighted(features, k, chosen, best.weighting), raw, problem.table, best)


def number_out(share: float, n_samples: int, k: int) -> int:
    """The number of samples that each distance leaves out. At least one sample must be left for each cluster."""
    # A product such as 0.29 * 100, which is a little below 29 in floating point, is not rounded down to 28.
    return min(int(share * n_samples + 1e-9), n_samples - k)


def table_of(features: Features) -> Floats:
    """The standardized table of features that are numbers without missing values."""
    return np.asarray(cast(NumericFeatures, features).table, dtype=np.float64)


def with_outliers(found: Result, raw: Floats, table: Floats, best: Solution) -> Result:
    """The result with its outliers, and with the centers without them, to which new samples are assigned."""
    k, labels, is_out = found.n_clusters, best.clusters.labels, best.clusters.is_out
    centers = means(raw[~is_out], labels[~is_out], k)
    # Squared distances in these units are the weighted distances of the standardized table.
    units = spreads(raw) / spreads(table)
    units[found.subset] /= np.sqrt(best.weights[found.subset])

    def clusters(order: Order) -> ShrunkenCenters:
        origin, own = raw.mean(axis=0)[order.chosen], units[order.chosen]
        placed = order.restore(Array(centers, ("cluster", None)))[:, order.chosen]
        return ShrunkenCenters(origin, own, np.ascontiguousarray((placed - origin) / own))

    arrays = {
        "weighted_outliers_": Array(is_out, ("sample",)),
        "unweighted_outliers_": Array(best.is_far, ("sample",)),
        "is_outlier_": Array(best.is_left_out, ("sample",)),
        "trimmed_centers_": Array(centers, ("cluster", "feature"), np.nan),
    }
    return replace(found.with_attributes(arrays), clusters=clusters)
