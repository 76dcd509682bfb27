"""Mixture models with variable selection for mixed data (Marbac and Sedki, 2017; Marbac, Sedki and Patin, 2020)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from .._data.metric import Metric
from .._data.reading import Reading
from .._features.features import Features
from .._mixtures.em import one_hot
from .._mixtures.independent import Columns, columns_of
from .._mixtures.selection import Fit, Model, Partition, ascend, em, expect, is_whole, random_mixture
from .._search.climb import Problem, climb, labels_at
from .._search.curve import TuningCurve
from .._search.starts import coordinate_start, ladder, random_start
from .._search.subsample import draw_subsample
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_choice, check_count, check_number, is_auto
from .._utils.parameters import rng_of
from .._utils.progress import Progress, Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._components import Components, components
from ._criteria.choice import Choice, at_least_two
from ._criteria.refit import fit_each
from ._mixins import SoftMemberships
from ._result import Array, Order, Result

# Steps of the short runs from every start, and the number of the best ones that are continued, as in VarSelLCM.
SHORT, KEPT = 10, 20
# Two results are the same if their BIC agrees to this number of decimals.
DIGITS = 6
# With more samples than this, the starts are compared on a random part of them.
MOST_STARTED = 1000
# Largest absolute logarithm of the square of a prior scale in standard deviations.
MOST_LOG = 500.0
# The largest lower bound of the variances by default.
MOST_LEAST = 0.1


# ---------------------------------------------------------------- starts


def starts(model: Model, problem: Problem, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield probabilities of the clusters, of shape (n_samples, k), without end.

    If there are many features, EM hardly leaves its start, so that the variety of the starts matters. The kinds take
    turns: clusters by all features and then by ever fewer of them, each time those that the clusters explain best, as
    in SAS clustering; by random subsets; by the features with the best clusters of their own; and mixtures around
    random samples.
    """
    p, k = problem.features.n_features, model.n_clusters

    def shrinking() -> Iterator[Labels]:
        while True:
            labels = problem.cluster(np.arange(p), rng)
            for size in ladder(p):
                labels = climb(problem, labels, size, rng).labels
                yield labels

    alone = (labels_at(problem, coordinate_start(problem, size, rng), rng) for size in ladder(p))
    for shrunken in shrinking():
        yield one_hot(shrunken, k)
        yield one_hot(labels_at(problem, random_start(problem, 1, rng), rng), k)
        yield expect(model, random_mixture(model, rng))[0]
        yield from (one_hot(labels, k) for labels in islice(alone, 1))


class Runs(NamedTuple):
    """The best results of short runs of EM, best first, and the partition with the largest integrated likelihood."""

    fits: list[Fit]
    partition: Partition


def short_runs(model: Model, begins: Iterable[Floats], prior: Floats, steps: int = SHORT) -> Runs:
    """Run a few steps of EM from every start and, since it may end in a local maximum, again after moves of samples.

    These are moves of single samples by the integrated likelihood, where `prior` is the square of the prior scale of
    each number. If there are many features, they lead out of local maxima of the BIC in which EM ends very soon.
    """
    fits: list[Fit] = []
    partitions: list[Partition] = []
    for begin in begins:
        fit = em(model, begin, steps)
        # A random start may have too few clusters.
        if fit.is_whole or is_whole(begin):
            partitions.append(ascend(model, fit.labels, prior))
            fits += [fit, em(model, one_hot(partitions[-1].labels, model.n_clusters), steps)]
    # Several starts may lead to the same result.
    different = {round(fit.bic, DIGITS): fit for fit in sorted(fits, key=lambda fit: fit.rank)}
    best = sorted(different.values(), key=lambda fit: fit.rank, reverse=True)[:KEPT]
    return Runs(best, max(partitions, key=lambda each: each.value))


def long_run(model: Model, runs: Runs, by_micl: bool, max_iter: int) -> Fit:
    """Continue the best short runs to the end, or estimate the parameters for the best partition."""
    if by_micl:
        begin = one_hot(runs.partition.labels, model.n_clusters)
        return em(model, begin, max_iter, runs.partition.relevant)
    return max((continued(model, fit, max_iter) for fit in runs.fits), key=lambda fit: fit.rank)


def continued(model: Model, fit: Fit, max_iter: int) -> Fit:
    """Continue a run of EM until it has converged or made `max_iter` steps."""
    if not fit.is_whole or len(fit.history) >= max_iter:
        return fit
    longer = em(model, fit.memberships, max_iter - len(fit.history))
    return longer._replace(history=fit.history + longer.history) if longer.is_whole else fit


# ---------------------------------------------------------------- the estimator


class VarSelMixture(SoftMemberships, SparseClusterer):
    """Mixture model with variable selection for numbers and categories (Marbac, Sedki and Patin, 2020).

    Given the cluster, the features are independent. A relevant feature has its own distribution in every cluster, and
    any other feature has the same distribution in all of them. Numbers are Gaussian, with a mean and a variance in
    every cluster, and categories, also ordered ones, have a probability for each level. With `criterion="bic"`, the
    relevant features S and the parameters maximize

        sum_i log sum_c pi_c prod_{a in S} f_a(x_ia | c) + sum_i sum_{a not in S} log f_a(x_ia) - (nu / 2) log n,

        nu = k - 1 + sum_{a in S} k d_a + sum_{a not in S} d_a,

    where d_a = 2 for a number and d_a = L - 1 for a category with L levels. EM selects the features in its M-step: a
    feature is relevant if the increase of its expected log likelihood by the clusters exceeds (k - 1) d_a (log n) / 2.
    No step lowers the criterion. Missing values are left out of all sums, which is valid if they are missing at random.

    With `criterion="micl"`, the labels z and the relevant features maximize the integrated complete-data likelihood
    log p(x, z | S), in which all parameters are integrated over conjugate priors. Moves of single samples alternate
    with the selection of the features. The parameters are then estimated by EM for the selected features.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses
        among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen. "auto" chooses the number with the largest `bic_`, or the largest `micl_`
        with `criterion="micl"`. `n_clusters_curve_` shows by how much they exceed those of a single cluster. For the
        others, see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    criterion : {"bic", "micl"}, default="bic"
        The criterion that is maximized: the BIC, or the maximum integrated complete-data likelihood (MICL).
    metric : str or dict, default="auto"
        Which columns are numbers and which are categories: "sqeuclidean" makes a column Gaussian, and "hamming" or
        "ordinal" make it a category. "auto" decides by the type of the column, and a dict {column: metric} sets it for
        some columns. The model has no distribution for other metrics.
    min_variance : "auto" or float, default="auto"
        Lower bound of the variances in the clusters, as a share of the variance of the column. Without a bound, the
        likelihood of a cluster of one sample would be infinite. "auto" is e / n^2, but at most 0.1: in a typical
        column, such a cluster then gains no more than its price.
    prior_scale : float or None, default=None
        Prior scale of the standard deviations in the MICL, in the units of X. None is the standard deviation of each
        column, so that units do not matter. VarSelLCM uses 1.
    n_init : int, default=100
        Number of starts. From each of them there is a short run of EM, and the best 20 are continued.
    max_iter : int, default=1000
        Maximum number of steps of EM.
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. Pass an int for the same result on every run, or None for a new seed every time.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: the most probable one, or the partition that attains `micl_` with `criterion="micl"`.
        Clusters are numbered from the largest (0) to the smallest.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Probability of each cluster for each sample, and NaN for samples that are left out.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the relevant features, as returned by `get_support`.
    feature_gains_ : ndarray of shape (n_features,)
        Increase of the log likelihood by the clusters minus the price of the parameters, for each feature, or of its
        integrated log likelihood with `criterion="micl"`. A feature is relevant if it is above 0. NaN for columns that
        are left out.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Columns that are constant or missing too often are left out and have score 0.
    bic_ : float
        The maximized BIC, log likelihood - (nu / 2) log n, in the units of X; larger is better.
    one_cluster_bic_ : float
        BIC of the model with a single cluster. If it exceeds `bic_`, the data may have no clusters.
    micl_, one_cluster_micl_ : float or None
        The integrated complete-data likelihood of `labels_` and that of a single cluster (on the log scale), or None
        with `criterion="bic"`.
    history_ : tuple of float
        BIC after each step of EM, from the start that led to the result.
    n_iter_ : int
        Number of steps of EM.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each number in each cluster, in the units of X, and the most frequent level of each category.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    All k clusters have samples, whereas VarSelLCM may leave some empty in a partition by MICL, and at least one feature
    is relevant. Clusters of a single sample are avoided as long as there are other results; VarSelLCM discards them as
    degenerate. No probability of a level is below 1e-6. Counts are modeled as Gaussian; the Poisson distribution of
    VarSelLCM for integers is not included. With more than 1000 samples, the starts are compared on 1000 of them.

    References
    ----------
    M. Marbac and M. Sedki, "Variable selection for model-based clustering using the integrated complete-data
    likelihood", Statistics and Computing 27 (2017), 1049-1063. M. Marbac, M. Sedki and T. Patin, "Variable selection
    for mixed data clustering: application in human population genomics", Journal of Classification 37 (2020), 124-142.

    Examples
    --------
    >>> from sparsecluster import VarSelMixture, rand_index
    >>> from sparsecluster.datasets import mixed_groups
    >>> X, truth, useful = mixed_groups(n_features=40, n_useful=10, shift=2.0, likely=0.8, seed=0)
    >>> found = VarSelMixture(n_clusters=3).fit(X)
    >>> rand_index(truth, found.labels_)
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
        criterion: str = "bic",
        metric: Metric = "auto",
        min_variance: float | str = "auto",
        prior_scale: float | None = None,
        n_init: int = 100,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.criterion = criterion
        self.metric = metric
        self.min_variance = min_variance
        self.prior_scale = prior_scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)
        check_choice("criterion", self.criterion, ["bic", "micl"])
        if not is_auto(self.min_variance):
            allowed = '"auto" or a number above 0 and below 1'
            check_number("min_variance", self.min_variance, allowed, lambda x: 0 < x < 1)
        if self.prior_scale is not None:
            check_number("prior_scale", self.prior_scale, "None or a number above 0", lambda x: 0 < x < np.inf)

    def _solve(self, reading: Reading, k: int) -> Result:
        columns, features = columns_of(type(self).__name__, reading), reading.source.features()
        n, rng = columns.n_samples, rng_of(self.random_state)
        least = min(math.e / n**2, MOST_LEAST) if is_auto(self.min_variance) else float(self.min_variance)
        model = Model.of(columns, k, least)
        fit, partition = self._search(model, reading, features, rng)
        by_micl = self.criterion == "micl"
        labels, gains = (partition.labels, partition.gains) if by_micl else (fit.labels, fit.mixture.gains)
        # Densities in the units of X.
        shift = -float(columns.numbers.counts @ np.log(columns.numbers.units))
        attributes = {
            "bic_": fit.bic + shift,
            "one_cluster_bic_": model.one_cluster() + shift,
            "micl_": partition.value + shift if by_micl else None,
            "one_cluster_micl_": partition.alone + shift if by_micl else None,
            "history_": tuple(bic + shift for bic in fit.history),
            "n_iter_": len(fit.history),
        }
        arrays = {
            "memberships_": Array(fit.memberships, ("sample", "cluster"), np.nan),
            "feature_gains_": Array(gains, ("feature",), np.nan),
        }

        def clusters(order: Order) -> Components:
            return components(columns, fit.mixture, order)

        subset = np.flatnonzero(fit.mixture.relevant)
        return Result(features, labels, subset, k, None, arrays, attributes, clusters)

    def _search(
        self, model: Model, reading: Reading, features: Features, rng: np.random.Generator
    ) -> tuple[Fit, Partition]:
        """Return the best result of EM and the best partition, on a part of the samples first if there are many."""
        n_init, k, prior = int(self.n_init), model.n_clusters, self._prior(model.columns)
        clusterer, progress = self._clusterer(features), Progress(self.verbose)
        by_micl, max_iter = self.criterion == "micl", int(self.max_iter)

        def best(model: Model, features: Features) -> tuple[Fit, Partition]:
            begins = islice(starts(model, Problem(features, clusterer, k), rng), n_init)
            runs = short_runs(model, progress.track(begins, "starts", n_init), prior, min(SHORT, max_iter))
            return long_run(model, runs, by_micl, max_iter), runs.partition

        is_large = model.columns.n_samples > MOST_STARTED
        part = draw_subsample(reading.source, MOST_STARTED, k, 1, rng) if is_large else None
        if part is None:
            return best(model, features)
        found, _ = best(model.take(part.places), part.source.features())
        memberships, _ = expect(model, found.mixture)
        if not is_whole(memberships):
            return best(model, features)
        runs = short_runs(model, [memberships], prior, min(SHORT, max_iter))
        return long_run(model, runs, by_micl, max_iter), runs.partition

    def _prior(self, columns: Columns) -> Floats:
        """Square of the prior scale of each number, which has variance 1."""
        counts, units = columns.numbers.counts, columns.numbers.units
        if self.prior_scale is None:
            return np.asarray(counts / (counts - 1.0))
        return np.exp(np.clip(2.0 * (np.log(float(self.prior_scale)) - np.log(units)), -MOST_LOG, MOST_LOG))

    def _choose_clusters(self, reading: Reading, ks: Sequence[int]) -> Choice:
        """Choose the number of clusters with the largest criterion."""
        found = [each.attributes for each in fit_each(self, reading, ks).values()]
        own, alone = f"{self.criterion}_", f"one_cluster_{self.criterion}_"
        gains = np.array([0.0, *(each[own] - each[alone] for each in found)])
        values = [1, *ks]
        best = at_least_two(f"The {self.criterion.upper()}", values, gains, values[int(np.argmax(gains))])
        return Choice(best, TuningCurve("k", np.array(ks), self.criterion, gains[1:], best))
