"""Regularized K-means: a group lasso on the centers, tuned by stability (Sun, Wang and Fang, 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import cheaper_form, kmeans
from .._data.centers import means
from .._data.reading import Reading
from .._features.features import Pairs, Rows
from .._kernels.shrink import shrunken_centers
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels, Subset
from .._utils.checks import check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._result import Array, NoClustersError, Order, Result, have_shapes, placed
from ._screening import spreads, standardized

# The penalties that are compared, as in the authors' code.
PENALTIES = np.logspace(-2, 2, 20)
# Stability cannot be assessed if a cluster has fewer samples than this.
FEWEST = 2


class Penalized(NamedTuple):
    """Labels and shrunken centers that no further step improves, and the number of steps."""

    labels: Labels
    centers: Floats
    n_iter: int

    @property
    def is_empty(self) -> bool:
        """Whether all centers are zero."""
        return not self.centers.any()


# ---------------------------------------------------------------- the algorithm


def start(table: Floats, k: int, rng: np.random.Generator, n_init: int) -> Labels:
    """Run K-means without a penalty."""
    on_pairs = cheaper_form(len(table), table.shape[1], k, n_init) == "pairs"
    data = Pairs(table @ table.T) if on_pairs else Rows(table, np.ones(table.shape[1]))
    return kmeans(data, k, rng, n_starts=n_init)


def nearest_center(table: Floats, centers: Floats) -> Labels:
    """Return the nearest center of each row. Ties go to the first center."""
    used = np.flatnonzero(centers.any(axis=0))
    links = table[:, used] @ centers[:, used].T
    return ((centers**2).sum(axis=1) - 2.0 * links).argmin(axis=1).astype(np.int32)


def penalized(table: Floats, labels: Labels, k: int, penalty: float, max_iter: int) -> Penalized:
    """Alternate from the K-means solution between centers by the adaptive group lasso and labels by the nearest center.

    The penalty of feature a is lambda divided by the length of its K-means centers, which makes the lasso adaptive.
    """
    lengths = np.sqrt((means(table, labels, k) ** 2).sum(axis=0))
    # A feature whose K-means centers are all zero is dropped, unless the penalty is zero.
    penalties = np.full(lengths.size, np.inf if penalty > 0 else 0.0)
    np.divide(penalty, lengths, out=penalties, where=lengths > 0)
    for n_iter in range(1, max_iter + 1):  # noqa: B007  (used after the loop)
        shares = np.bincount(labels, minlength=k) / labels.size
        centers = shrunken_centers(means(table, labels, k), shares, penalties)
        new = nearest_center(table, centers)
        # If a cluster loses its last sample, stop and keep the previous labels.
        if np.array_equal(new, labels) or np.unique(new).size < k:
            break
        labels = new
    return Penalized(labels, centers, n_iter)


def disagreement(one: Labels, other: Labels) -> float:
    """Return the share of the pairs of samples that are together in one labeling and apart in the other."""
    joined = (one[:, None] == one) != (other[:, None] == other)
    return float(joined.sum() / (one.size * (one.size - 1)))


def instability(table: Floats, one: Penalized, other: Penalized) -> float:
    """Return how differently two sets of centers cluster the same samples, and 1 if one of them is degenerate."""
    if one.is_empty or other.is_empty:
        return 1.0
    k = len(one.centers)
    groupings = [nearest_center(table, each.centers) for each in (one, other)]
    if min(np.bincount(labels, minlength=k).min() for labels in groupings) < FEWEST:
        return 1.0
    return disagreement(*groupings)


def steadiest(instabilities: Floats) -> int:
    """Return the index of the value that is most stable in the largest number of bootstrap samples (rows).

    Ties go to the last value, which is the sparsest.
    """
    last = instabilities.shape[1] - 1
    votes = np.bincount(chosen_by_sample(instabilities), minlength=last + 1)
    return int(last - np.argmax(votes[::-1]))


def chosen_by_sample(instabilities: Floats) -> Subset:
    """Return the index of the most stable value in each bootstrap sample. Ties go to the last value."""
    return np.asarray(instabilities.shape[1] - 1 - np.argmin(instabilities[:, ::-1], axis=1))


# ---------------------------------------------------------------- the estimator


class ShrunkenCenters(NamedTuple):
    """Centers in the chosen columns, after standardization."""

    origin: Floats
    units: Floats
    centers: Floats

    def _apart(self, values: Sequence[Any]) -> Floats:
        at = placed(np.column_stack(values), self.origin, self.units)
        return (at[:, None, :] - self.centers) ** 2

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the nearest center of each sample."""
        return self._apart(values).sum(axis=2).argmin(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the nearest center / sum of squared distances to the origin."""
        at = placed(np.column_stack(values), self.origin, self.units)
        return float(1.0 - self._apart(values).sum(axis=2).min(axis=1).sum() / (at**2).sum())

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        return have_shapes((self.origin, (n_chosen,)), (self.units, (n_chosen,)), (self.centers, (k, n_chosen)))


class RegularizedKMeans(CompleteNumbers, NearestCluster, SparseClusterer):
    """Regularized K-means: a penalty shrinks the centers of useless features to zero (Sun, Wang and Fang, 2012).

    Minimizes over clusterings C and centers m

        (1/n) sum_k sum_{i in C_k} |x_i - m_k|^2 + sum_a l_a sqrt(m_1a^2 + ... + m_ka^2),   l_a = l / |c_a|_2,

    where x is centered and c_a are the K-means centers in feature a, so that features that K-means finds useful are
    penalized less. A feature is chosen if its centers are not all zero.

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
    penalty : "auto" or float, default="auto"
        Strength l of the penalty; 0 gives K-means. "auto" chooses among 20 values from 0.01 to 100 by stability. Each
        bootstrap sample votes for the value for which the centers found on the bootstrap sample and the centers found
        on all data cluster the bootstrap sample most similarly, and the value with the most votes is chosen.
    standardize : bool, default=True
        Whether to scale all features to variance 1, which the default penalties assume.
    n_bootstraps : int, default=20
        Number of bootstrap samples.
    n_init : int, default=20
        Number of starts of K-means.
    max_iter : int, default=100
        Maximum number of alternations.
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
        Length |m_a|_2 of the shrunken centers of each feature.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features with nonzero centers, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    penalty_ : float
        The strength l.
    instability_curve_ : TuningCurve or None
        Mean instability over the values of the penalty, or None if the penalty was given. `frame()` also has the votes
        of the bootstrap samples.
    instability_ : ndarray of shape (n_bootstraps, n_penalties) or None
        Share of the pairs of samples that are clustered differently, for each bootstrap sample and each penalty that
        leaves at least one feature. None if the penalty was given.
    n_iter_ : int
        Number of alternations.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X and without shrinkage.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    References
    ----------
    W. Sun, J. Wang and Y. Fang, "Regularized k-means clustering of high-dimensional data and its asymptotic
    consistency", Electronic Journal of Statistics 6 (2012), 148-167.

    Examples
    --------
    >>> from sparsecluster import RegularizedKMeans, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.5, n_features=100, seed=0)
    >>> found = RegularizedKMeans(n_clusters=3, penalty=0.3).fit(X)
    >>> rand_index(truth, found.labels_), int(found.support_.sum()), int(found.support_[useful].sum())
    (1.0, 50, 50)
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        penalty: float | str = "auto",
        standardize: bool = True,
        n_bootstraps: int = 20,
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
        self.penalty = penalty
        self.standardize = standardize
        self.n_bootstraps = n_bootstraps
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        if not is_auto(self.penalty):
            allowed = '"auto" or a number of at least 0'
            check_number("penalty", self.penalty, allowed, lambda x: 0 <= x < np.inf, 'Use "auto" to tune it.')

    def _solve(self, reading: Reading, k: int) -> Result:
        raw = self._complete_table(reading)
        rng = rng_of(self.random_state)
        table = standardized(raw) if self.standardize else raw - raw.mean(axis=0)
        labels = start(table, k, rng, int(self.n_init))
        curve, instabilities = None, None
        if is_auto(self.penalty):
            curve, instabilities = self._tuned(table, labels, k, rng)
        penalty = float(self.penalty if curve is None else curve.chosen)
        found = penalized(table, labels, k, penalty, int(self.max_iter))
        self._check_some_left(table, labels, k, penalty, found)
        weights = np.sqrt((found.centers**2).sum(axis=0))
        units = spreads(raw) if self.standardize else np.ones(raw.shape[1])

        def clusters(order: Order) -> ShrunkenCenters:
            centers = order.restore(Array(found.centers, ("cluster", None)))[:, order.chosen]
            return ShrunkenCenters(raw.mean(axis=0)[order.chosen], units[order.chosen], centers)

        attributes = {
            "penalty_": penalty,
            "instability_": instabilities,
            "instability_curve_": curve,
            "n_iter_": found.n_iter,
        }
        subset = np.flatnonzero(weights)
        return Result(reading.source.features(), found.labels, subset, k, weights, {}, attributes, clusters)

    def _tuned(self, table: Floats, labels: Labels, k: int, rng: np.random.Generator) -> tuple[TuningCurve, Floats]:
        """Choose the penalty by the stability selection of the paper, as implemented in the authors' code.

        Returns the tuning curve and the instabilities, of shape (n_bootstraps, n_penalties).
        """
        max_iter, n_init, n = int(self.max_iter), int(self.n_init), len(table)
        fits = [penalized(table, labels, k, penalty, max_iter) for penalty in PENALTIES]
        # Skip penalties that leave no feature. If all of them do, keep the smallest, which raises an error later.
        usable = [place for place, each in enumerate(fits) if not each.is_empty] or [0]
        on_all, penalties = [fits[place] for place in usable], PENALTIES[usable]

        def one_sample(own_rng: np.random.Generator) -> list[float]:
            sample = table[own_rng.integers(n, size=n)]
            begin = start(sample, k, own_rng, n_init)
            on_sample = (penalized(sample, begin, k, penalty, max_iter) for penalty in penalties)
            return [instability(sample, one, other) for one, other in zip(on_all, on_sample, strict=True)]

        workers = workers_for(self.n_jobs, self.verbose, table.size)
        samples = workers.map(one_sample, rng.spawn(int(self.n_bootstraps)), "bootstrap samples")
        found = np.array(list(samples))
        winners = chosen_by_sample(found)
        details = {"votes": np.bincount(winners, minlength=penalties.size).astype(np.float64)}
        chosen = float(penalties[steadiest(found)])
        return TuningCurve("penalty", penalties, "instability", found.mean(axis=0), chosen, None, details), found

    def _check_some_left(self, table: Floats, labels: Labels, k: int, penalty: float, found: Penalized) -> None:
        if not found.is_empty:
            return
        centers, shares = means(table, labels, k), np.bincount(labels, minlength=k) / labels.size
        most = (2.0 * np.sqrt(((shares[:, None] * centers) ** 2).sum(axis=0) * (centers**2).sum(axis=0))).max()
        raise NoClustersError(
            f"penalty={penalty:.4g} leaves no feature: all centers are zero. Use one below about {most:.4g}, or "
            '"auto" to tune it. If "auto" fails as well, more samples are needed.'
        )
