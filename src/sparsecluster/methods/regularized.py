"""Regularized K-means: a group lasso on the centers, its strength by stability (Sun, Wang and Fang 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import cheaper_form, kmeans
from .._data.centers import means
from .._features.base import Floats, Labels, Pairs, Rows, Subset
from .._kernels.shrink import shrunken_centers
from .._search.curve import TuningCurve
from .._utils.checks import check_count, check_number, is_auto
from .._utils.parallel import one_thread_blas, workers_for
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Verbosity
from ._base import CompleteNumbers, NearestCluster, SparseClusterer
from ._result import Array, Order, Result
from ._screening import spreads, standardized

# Penalties compared, as in the authors' code.
PENALTIES = np.logspace(-2, 2, 20)
# In a cluster of fewer samples nothing can be said about stability.
FEWEST = 2


class Penalized(NamedTuple):
    """Labels and shrunken centers that no step improves, and the number of steps to them."""

    labels: Labels
    centers: Floats
    n_iter: int

    @property
    def is_empty(self) -> bool:
        """Whether all centers are at the origin."""
        return not self.centers.any()


# ---------------------------------------------------------------- the algorithm


def start(table: Floats, k: int, rng: np.random.Generator, n_init: int) -> Labels:
    """K-means without a penalty."""
    on_pairs = cheaper_form(len(table), k, n_init) == "pairs"
    data = Pairs(table @ table.T) if on_pairs else Rows(table, np.ones(table.shape[1]))
    return kmeans(data, k, rng, n_starts=n_init)


def nearest_center(table: Floats, centers: Floats) -> Labels:
    """The nearest center of every row; of equal ones the first."""
    used = np.flatnonzero(centers.any(axis=0))
    links = table[:, used] @ centers[:, used].T
    return ((centers**2).sum(axis=1) - 2.0 * links).argmin(axis=1).astype(np.int32)


def penalized(table: Floats, labels: Labels, k: int, penalty: float, max_iter: int) -> Penalized:
    """Alternate from K-means: centers by the adaptive group lasso, labels by the nearest center.

    The penalty of feature a is lambda over the length of its centers in K-means (the adaptive part).
    """
    lengths = np.sqrt((means(table, labels, k) ** 2).sum(axis=0))
    # A feature without any difference between the clusters is left out, unless nothing is penalized.
    penalties = np.full(lengths.size, np.inf if penalty > 0 else 0.0)
    np.divide(penalty, lengths, out=penalties, where=lengths > 0)
    for n_iter in range(1, max_iter + 1):  # noqa: B007  (how many there were)
        shares = np.bincount(labels, minlength=k) / labels.size
        centers = shrunken_centers(means(table, labels, k), shares, penalties)
        new = nearest_center(table, centers)
        # Where a cluster loses its last sample the centers say no more; the labels before are kept.
        if np.array_equal(new, labels) or np.unique(new).size < k:
            break
        labels = new
    return Penalized(labels, centers, n_iter)


def disagreement(one: Labels, other: Labels) -> float:
    """Share of the pairs of samples that one labeling joins and the other does not."""
    joined = (one[:, None] == one) != (other[:, None] == other)
    return float(joined.sum() / (one.size * (one.size - 1)))


def instability(table: Floats, one: Penalized, other: Penalized) -> float:
    """How differently two sets of centers group the same samples; 1 where one of them says nothing."""
    if one.is_empty or other.is_empty:
        return 1.0
    k = len(one.centers)
    groupings = [nearest_center(table, each.centers) for each in (one, other)]
    if min(np.bincount(labels, minlength=k).min() for labels in groupings) < FEWEST:
        return 1.0
    return disagreement(*groupings)


def steadiest(instabilities: Floats) -> int:
    """The value that is steadiest in most bootstrap samples (rows); of equal ones the last, which chooses most."""
    last = instabilities.shape[1] - 1
    votes = np.bincount(chosen_by_sample(instabilities), minlength=last + 1)
    return int(last - np.argmax(votes[::-1]))


def chosen_by_sample(instabilities: Floats) -> Subset:
    """The steadiest value in each bootstrap sample; of equal ones the last."""
    return np.asarray(instabilities.shape[1] - 1 - np.argmin(instabilities[:, ::-1], axis=1))


# ---------------------------------------------------------------- the estimator


class ShrunkenCenters(NamedTuple):
    """Centers in the chosen columns, standardized."""

    origin: Floats
    units: Floats
    centers: Floats

    def _apart(self, values: Sequence[Any]) -> Floats:
        at = (np.column_stack(values) - self.origin) / self.units
        return (at[:, None, :] - self.centers) ** 2

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """The nearest center."""
        return self._apart(values).sum(axis=2).argmin(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squares to the nearest center / sum of squares to the origin."""
        at = (np.column_stack(values) - self.origin) / self.units
        return float(1.0 - self._apart(values).sum(axis=2).min(axis=1).sum() / (at**2).sum())


class RegularizedKMeans(CompleteNumbers, NearestCluster, SparseClusterer):
    """Regularized K-means: a penalty shrinks the centers of useless features to zero (Sun, Wang and Fang, 2012).

    Minimizes over clusterings C and centers m

        (1/n) sum_k sum_{i in C_k} |x_i - m_k|^2 + sum_a l_a sqrt(m_1a^2 + ... + m_ka^2),   l_a = l / |c_a|_2,

    with x centered and c_a the centers of K-means in feature a, so that features that K-means finds useful are penalized
    less. A feature is selected if its centers are not all zero.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    penalty : "auto" or float, default="auto"
        The strength l; 0 is K-means. "auto" chooses it by stability: of 20 values from 0.01 to 100, in each bootstrap
        sample the one is taken for which centers found on the sample and on all data group the sample most alike; the
        value taken most often wins.
    standardize : bool, default=True
        Give every feature variance 1. Penalties are meant for that.
    n_bootstraps : int, default=20
        Number of bootstrap samples.
    n_init : int, default=20
        Starts of K-means.
    max_iter : int, default=100
        Most alternations.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed.
    verbose : bool or "auto", default="auto"
        "auto" shows progress on a terminal when a fit takes more than two seconds.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    feature_weights_ : |m_a|_2, the length of the shrunken centers of every feature.
    support_ : mask of the features for which that is not zero (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    penalty_ : the strength l.
    instability_ : for each bootstrap sample (rows) and penalty that leaves a feature (columns) the share of pairs that
        are grouped differently; None where the penalty was given.
    n_iter_ : number of alternations.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X, not shrunken.

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
        n_clusters: int = 3,
        *,
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
        self.penalty = penalty
        self.standardize = standardize
        self.n_bootstraps = n_bootstraps
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X and the columns whose centers are not zero.

        Parameters
        ----------
        X : array or data frame of n samples x p columns of numbers, without gaps.
        y : ignored.
        """
        check_parameters(vars(self))
        n_init, k = check_count("n_init", self.n_init, 1), int(self.n_clusters)
        if not is_auto(self.penalty):
            allowed = '"auto" or a number of at least 0'
            check_number("penalty", self.penalty, allowed, lambda x: 0 <= x < np.inf, 'Use "auto" to tune it.')
        reading = self._reading(X)
        raw = self._complete_table(reading)
        rng = rng_of(self.random_state)
        with one_thread_blas():
            table = standardized(raw) if self.standardize else raw - raw.mean(axis=0)
            labels = start(table, k, rng, n_init)
            curve, instabilities = None, None
            if is_auto(self.penalty):
                curve, instabilities = self._tuned(table, labels, rng, n_init)
            penalty = float(self.penalty if curve is None else curve.chosen)
            found = penalized(table, labels, k, penalty, int(self.max_iter))
            self._check_some_left(table, labels, penalty, found)
            features, weights = reading.source.features(), np.sqrt((found.centers**2).sum(axis=0))
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
            scores = features.scores(found.labels, k)
            result = Result(found.labels, np.flatnonzero(weights), scores, weights, {}, attributes, clusters)
            return self._keep(reading, features, result)

    def _tuned(
        self, table: Floats, labels: Labels, rng: np.random.Generator, n_init: int
    ) -> tuple[TuningCurve, Floats]:
        """The penalty by the paper's stability selection, in the form of the authors' code; and all instabilities."""
        k, max_iter, n = int(self.n_clusters), int(self.max_iter), len(table)
        fits = [penalized(table, labels, k, penalty, max_iter) for penalty in PENALTIES]
        # Penalties that leave no feature are no choice; the smallest is, and then says so.
        on_all = [each for each in fits if not each.is_empty] or fits[:1]
        penalties = PENALTIES[: len(on_all)]

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

    def _check_some_left(self, table: Floats, labels: Labels, penalty: float, found: Penalized) -> None:
        if not found.is_empty:
            return
        k = int(self.n_clusters)
        centers, shares = means(table, labels, k), np.bincount(labels, minlength=k) / labels.size
        most = (2.0 * np.sqrt(((shares[:, None] * centers) ** 2).sum(axis=0) * (centers**2).sum(axis=0))).max()
        raise ValueError(
            f"penalty={penalty:.4g} leaves no feature: all centers are zero. Use one below about {most:.4g}, or "
            '"auto" with more samples.'
        )
