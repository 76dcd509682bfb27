"""COSA, clustering objects on subsets of attributes (Friedman and Meulman, 2004), in its original and a simple form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

from .._clusterers.clusterer import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.kinds import SquaredEuclidean
from .._data.metric import Metric
from .._data.reading import Reading, Request
from .._features.features import Features, dissimilarity
from .._features.matrices import Matrices, MatrixFeatures
from .._features.weighted import WeightedFeatures
from .._kernels.cosa import inverse_exponential, sample_weights
from .._search.climb import Problem
from .._search.curve import Rule, TuningCurve
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_choice, check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.parameters import rng_of
from .._utils.progress import Progress, Verbosity
from ._base import SparseClusterer
from ._bounded import check_pairs
from ._clusters import NClusters
from ._result import Array, Result
from ._weights import Tuning, Weighting, best_weighting, path, tuned

# The default of the authors' program, for dissimilarities with mean 1.
USUAL_PENALTY = 0.2
# The homotopy parameter starts at the penalty and grows by this share of the penalty in every iteration.
GROWTH = 0.1
# The weights have converged when they change by less than this share of the largest possible change.
SETTLED = 1e-5
# The penalties that are compared for common weights.
PENALTIES = np.geomspace(0.02, 1.0, 10)
# The largest number of dissimilarities (pairs times features) that are kept in memory, 4 GiB.
MOST_VALUES = 2**29


# ---------------------------------------------------------------- weights for every sample


class SampleWeights(NamedTuple):
    """Feature weights of each sample, of shape (n_samples, n_features), and the resulting distances of all pairs."""

    weights: Floats
    distances: Floats
    n_iter: int


def original(
    apart: Floats, n_samples: int, penalty: float, n_neighbors: int, max_iter: int, progress: Progress
) -> SampleWeights:
    """Friedman and Meulman's algorithm, which alternates between feature weights and distances.

    The nearest neighbors of a sample determine which features matter to it, and these features determine its distances.
    The distances start as inverse exponential distances, in which any few features can make two samples close, and
    become weighted sums as the homotopy parameter grows.
    """
    p = apart.shape[1]
    weights = np.full((n_samples, p), 1.0 / p)
    scale, n_iter = penalty, 0
    distances = inverse_exponential(apart, weights, scale)
    for _ in progress.track(range(max_iter), "weight updates (at most)", max_iter):
        n_iter += 1
        square = squareform(distances)
        np.fill_diagonal(square, np.inf)
        neighbors = np.argsort(square, axis=1, kind="stable")[:, :n_neighbors]
        new = sample_weights(apart, neighbors, penalty)
        change = np.abs(new - weights).sum() / (2 * n_samples)
        weights, scale = new, scale + GROWTH * penalty
        distances = inverse_exponential(apart, weights, scale)
        if change <= SETTLED:
            break
    return SampleWeights(weights, distances, n_iter)


def by_pair(features: Features, squares: Any) -> Floats:
    """Dissimilarities of all pairs (rows) in each feature (columns), scaled to mean 1.

    The square root is taken in the features that `squares` marks.
    """
    n, p = features.n_samples, features.n_features
    if n * (n - 1) // 2 * p > MOST_VALUES:
        raise ValueError(
            f"COSA stores all {n * (n - 1) // 2} pairs of samples in all {p} features, which takes more than 4 GiB. "
            'Use fewer samples or features, or weights="common".'
        )
    apart = np.empty((n * (n - 1) // 2, p))
    for a in range(p):
        similarity, seen = features.seen_pairs(np.array([a]))
        column = squareform(dissimilarity(similarity), checks=False)
        column = np.sqrt(column) if squares[a] else column
        if seen is not None:
            # A pair with a missing value counts as an average pair.
            known = squareform(seen, checks=False) > 0
            column[~known] = column[known].mean()
        apart[:, a] = column / column.mean()
    return apart


# ---------------------------------------------------------------- one weight for all


class Entropic(NamedTuple):
    """Weights in proportion to exp(g_a / l).

    They minimize sum_a w_a (1 - g_a) + l w_a log w_a over weights that sum to 1. The objective is 1 - l log p minus
    this minimum, which is the soft maximum l log mean_a exp(g_a / l) of the gains.
    """

    penalty: float

    def __call__(self, gains: Floats) -> tuple[Floats, float]:
        top = gains.max()
        depths = (gains - top) / self.penalty
        powers = np.exp(depths)
        return powers / powers.sum(), float(top + self.penalty * np.log1p(np.expm1(depths).mean()))

    def at_once(self, problem: Problem, labels: Labels) -> None:
        """Return None, since there is no compiled alternation for these weights."""


# ---------------------------------------------------------------- the estimator


class COSA(SparseClusterer):
    """Clustering objects on subsets of attributes (COSA; Friedman and Meulman, 2004).

    The original form is `weights="samples"`, in which each cluster may have its own features. With d_ija the
    dissimilarity of samples i and j in feature a, divided by its mean, and N_i the nearest neighbors of sample i, two
    steps alternate:

        w_ia  =  exp(-S_ia / l) / sum_b exp(-S_ib / l),   S_ia = mean of d_ija over j in N_i,
        D_ij  =  -h W log( (1/W) sum_a max(w_ia, w_ja) exp(-d_ija / h) ),   W = sum_a max(w_ia, w_ja),

    where h starts at l and grows, so that D becomes a weighted sum of the d. The samples are then clustered by D. As in
    the paper, numbers are compared by the distance |x - y|, also with `metric="sqeuclidean"`.

    The simple form is `weights="common"` (Section 2.1 of the SAS paper). It minimizes, over clusterings C and weights
    w >= 0 that sum to 1,

        sum_a w_a Delta_a[C] / T_a + l w_a log w_a,

    by alternating between the clusterer on weighted features and the weights, which for given clusters are in
    proportion to exp(-Delta_a[C] / (T_a l)).

    The weights become small but never zero, so COSA does not select features.

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
    weights : {"samples", "common"}, default="samples"
        Whether there is one weight for each sample and feature ("samples") or one for each feature ("common").
    penalty : "auto" or float, default="auto"
        Strength l of the entropy penalty. A large value makes all weights equal. "auto" is the authors' value 0.2 for
        `weights="samples"`, and chooses among 10 values from 0.02 to 1 by the gap statistic for `weights="common"`.
    n_neighbors : "auto" or int, default="auto"
        Number of nearest neighbors in N_i, for `weights="samples"`. "auto" is the square root of the number of samples,
        as the authors recommend.
    clusterer : str or object, default="auto"
        Clustering method, as in `SASClustering`. For `weights="samples"` it must work on pairs of samples, and "auto"
        is hierarchical clustering with average linkage.
    metric : str, callable or dict, default="auto"
        Dissimilarity of two values of a column, with the same options as in `SASClustering`. The default for numbers is
        "sqeuclidean", the squared difference (x - y)^2; "euclidean" and "manhattan" are the plain distance |x - y|.
    rule : {"max", "1se"}, default="max"
        Choose the penalty with the largest gap ("max"), or the smallest penalty whose gap is within one standard error
        of it ("1se").
    n_permutations : int, default=25
        Number of permuted copies for the gap statistic.
    n_init : int, default=20
        Number of starts of the clusterer.
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
        Weight of each feature. For `weights="samples"`, the mean of `sample_weights_` over the samples.
    sample_weights_ : ndarray of shape (n_samples, n_features)
        Weight w_ia of each feature for each sample. Only available for `weights="samples"`.
    dissimilarity_ : ndarray of shape (n_samples, n_samples)
        The matrix D. Only available for `weights="samples"`.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of all features that are used. The method does not select features, but leaves out columns that are
        constant or missing too often.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Columns that are constant or missing too often are left out and have score 0.
    penalty_ : float
        The strength l.
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of l, or None if l was not tuned.
    n_iter_ : int
        Number of alternations.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X, as in `SASClustering`.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    References
    ----------
    J. H. Friedman and J. J. Meulman, "Clustering objects on subsets of attributes", Journal of the Royal Statistical
    Society B 66 (2004), 815-849.

    Examples
    --------
    >>> from sparsecluster import COSA, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=2.0, n_features=100, seed=0)
    >>> found = COSA(n_clusters=3, weights="common").fit(X)
    >>> rand_index(truth, found.labels_), bool(found.feature_weights_[useful].sum() > 0.9)
    (1.0, True)
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        weights: Literal["samples", "common"] = "samples",
        penalty: float | str = "auto",
        n_neighbors: int | str = "auto",
        clusterer: str | object = "auto",
        metric: Metric = "auto",
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
        self.weights = weights
        self.penalty = penalty
        self.n_neighbors = n_neighbors
        self.clusterer = clusterer
        self.metric = metric
        self.rule = rule
        self.n_permutations = n_permutations
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_choice("weights", self.weights, ["samples", "common"])
        check_count("n_init", self.n_init, 1)
        if not is_auto(self.penalty):
            check_number("penalty", self.penalty, '"auto" or a number above 0', lambda x: 0 < x < np.inf)
        if not is_auto(self.n_neighbors):
            check_count("n_neighbors", self.n_neighbors, 1, advice='Use "auto" for the square root of n_samples.')

    def _solve(self, reading: Reading, k: int) -> Result:
        # Features are weighted so that all of them have the same total.
        plain = reading.source.features()
        features = WeightedFeatures(plain, 1.0 / plain.total)
        fit = self._by_sample if self.weights == "samples" else self._in_common
        return replace(fit(reading, features, k, rng_of(self.random_state)), features=plain)

    def _request(self) -> Request:
        return Request(self.metric)

    def _by_sample(self, reading: Reading, features: Features, k: int, rng: np.random.Generator) -> Result:
        """Fit the original form."""
        n = features.n_samples
        check_pairs(type(self).__name__, n)
        clusterer = make_clusterer("average" if is_auto(self.clusterer) else self.clusterer, has_rows=False)
        near = max(1, int(np.sqrt(n))) if is_auto(self.n_neighbors) else int(self.n_neighbors)
        check_count("n_neighbors", near, 1, n - 1, f"X has {n} rows.")
        penalty = USUAL_PENALTY if is_auto(self.penalty) else float(self.penalty)
        apart = by_pair(features, squared_columns(reading))
        found = original(apart, n, penalty, near, int(self.max_iter), Progress(self.verbose))
        square = squareform(found.distances)
        labels = cluster_pairs(clusterer, square, k, rng, int(self.n_init))
        return Result(
            features,
            labels,
            np.arange(features.n_features),
            k,
            found.weights.mean(axis=0),
            {
                "dissimilarity_": Array(square, ("sample", "sample"), np.nan),
                "sample_weights_": Array(found.weights, ("sample", "feature")),
            },
            {"penalty_": penalty, "n_iter_": found.n_iter, "gap_curve_": None},
        )

    def _in_common(self, reading: Reading, features: Features, k: int, rng: np.random.Generator) -> Result:
        """Fit the simple form."""
        n_init = int(self.n_init)
        clusterer = make_clusterer(self.clusterer, features.has_rows)
        problem = Problem(features, clusterer, k, int(self.max_iter))
        known: list[Labels] = []
        curve: TuningCurve | None = None
        if is_auto(self.penalty):

            def solve(copy: Features, penalties: Floats, own_rng: np.random.Generator) -> list[Weighting]:
                weighs = [Entropic(penalty) for penalty in penalties.tolist()]
                return path(problem._replace(features=copy), weighs, own_rng, n_init)

            workers = workers_for(self.n_jobs, self.verbose, features.n_samples * features.n_features)
            tuning = Tuning("penalty", PENALTIES, int(self.n_permutations), self.rule, workers)
            curve, found = tuned(features, tuning, solve, rng)
            known = [found.labels]
        penalty = float(self.penalty if curve is None else curve.chosen)
        best = best_weighting(problem, Entropic(penalty), rng, n_init, known)
        attributes = {"penalty_": penalty, "n_iter_": len(best.history), "gap_curve_": curve}
        return Result(features, best.labels, np.arange(features.n_features), k, best.weights, {}, attributes)


def squared_columns(reading: Reading) -> Any:
    """Return which features are compared by the squared difference."""
    source = reading.source
    return np.array([isinstance(source.kind(a), SquaredEuclidean) for a in source.columns.tolist()])


def cluster_pairs(clusterer: Clusterer, apart: Floats, k: int, rng: np.random.Generator, n_starts: int) -> Labels:
    """Cluster samples by a single matrix of dissimilarities."""
    first = np.zeros(1, np.intp)
    matrices = Matrices(lambda _: apart, 1, len(apart), frozenset(), computed=False)
    return clusterer.cluster(MatrixFeatures(matrices, first, False, np.ones(1), first), first, k, rng, None, n_starts)
