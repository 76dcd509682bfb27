"""COSA, clustering objects on subsets of attributes (Friedman and Meulman 2004), in its original and a simple form."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import squareform

from .._clusterers.base import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.kinds import SquaredEuclidean
from .._data.metric import Metric
from .._data.reading import Reading, Request
from .._features.base import Features, Floats, Labels, dissimilarity
from .._features.matrices import Matrices, MatrixFeatures
from .._features.weighted import WeightedFeatures
from .._kernels.cosa import inverse_exponential, sample_weights
from .._search.climb import Problem
from .._search.curve import Rule, TuningCurve
from .._utils.checks import check_choice, check_count, check_number, is_auto
from .._utils.parallel import one_thread_blas, workers_for
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Progress, Verbosity
from ._base import SparseClusterer
from ._bounded import check_pairs
from ._result import Array, Result
from ._weights import Tuning, Weighting, best_weighting, path, tuned

# The authors' own value, for dissimilarities with mean 1; their program has it as default.
USUAL_PENALTY = 0.2
# The homotopy parameter begins at the penalty and grows by this share of it at every step.
GROWTH = 0.1
# Weights that change by less than this, as a share of the most they could, have settled.
SETTLED = 1e-5
# Penalties compared for common weights.
PENALTIES = np.geomspace(0.02, 1.0, 10)
# Values of pairs and features that are kept in memory: 4 GiB.
MOST_VALUES = 2**29


# ---------------------------------------------------------------- weights for every sample


class SampleWeights(NamedTuple):
    """Weights of features for every sample, n x p, and the distances of pairs of samples that they give."""

    weights: Floats
    distances: Floats
    n_iter: int


def original(
    apart: Floats, n_samples: int, penalty: float, n_neighbors: int, max_iter: int, progress: Progress
) -> SampleWeights:
    """Friedman and Meulman's algorithm: near samples say which features matter to a sample, and these say who is near.

    Distances begin as inverse exponential ones, in which any few features can make two samples near, and become weighted
    sums as the homotopy parameter grows.
    """
    p = apart.shape[1]
    weights = np.full((n_samples, p), 1.0 / p)
    scale, n_iter = penalty, 0
    distances = inverse_exponential(apart, weights, scale)
    for _ in progress.track(range(max_iter), "steps to the weights, at most", max_iter):
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
    """Dissimilarities of all pairs (rows) in every feature (columns), each with mean 1; roots of those in `squares`."""
    n, p = features.n_samples, features.n_features
    if n * (n - 1) // 2 * p > MOST_VALUES:
        raise ValueError(
            f"COSA keeps all {n * (n - 1) // 2} pairs of samples in all {p} features, which is more than 4 GiB. Give it "
            'fewer samples or features, or use weights="common".'
        )
    apart = np.empty((n * (n - 1) // 2, p))
    for a in range(p):
        similarity, seen = features.seen_pairs(np.array([a]))
        column = squareform(dissimilarity(similarity), checks=False)
        column = np.sqrt(column) if squares[a] else column
        if seen is not None:
            # A pair that is not seen counts as an average pair.
            known = squareform(seen, checks=False) > 0
            column[~known] = column[known].mean()
        apart[:, a] = column / column.mean()
    return apart


# ---------------------------------------------------------------- one weight for all


class Entropic(NamedTuple):
    """Weights in proportion to exp(g_a / l), which minimize sum_a w_a (1 - g_a) + l w_a log w_a where they sum to 1.

    The objective is 1 - l log p less that minimum: the soft maximum l log mean_a exp(g_a / l) of the gains.
    """

    penalty: float

    def __call__(self, gains: Floats) -> tuple[Floats, float]:
        top = gains.max()
        depths = (gains - top) / self.penalty
        powers = np.exp(depths)
        return powers / powers.sum(), float(top + self.penalty * np.log1p(np.expm1(depths).mean()))

    def at_once(self, problem: Problem, labels: Labels) -> None:
        """Step by step."""


# ---------------------------------------------------------------- the estimator


class COSA(SparseClusterer):
    """COSA: clusters that may each have their own features, or weights common to all (Friedman and Meulman, 2004).

    Original form, `weights="samples"`. With d_ija the dissimilarity of samples i and j in feature a, divided by its mean,
    and N_i the nearest samples of i, two steps alternate:

        w_ia  =  exp(-S_ia / l) / sum_b exp(-S_ib / l),   S_ia = mean of d_ija over j in N_i,
        D_ij  =  -h W log( (1/W) sum_a max(w_ia, w_ja) exp(-d_ija / h) ),   W = sum_a max(w_ia, w_ja),

    where h begins at l and grows, so that D becomes the weighted sum of the d. Samples are then clustered by D. Numbers
    are compared by their distance |x - y|, as the authors do.

    Simple form, `weights="common"` (Section 2.1 of the SAS paper). Minimizes over clusterings C and weights w >= 0 that
    sum to 1

        sum_a w_a Delta_a[C] / T_a + l w_a log w_a,

    by alternating between the clusterer on weighted features and w_a in proportion to exp(-Delta_a[C] / (T_a l)).

    Weights get small, but none is zero: COSA does not select features.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    weights : {"samples", "common"}, default="samples"
        A weight for every sample and feature, or one for every feature.
    penalty : "auto" or float, default="auto"
        The strength l of the entropy; a large one makes all weights equal. "auto" is the authors' 0.2 for
        weights="samples", and the gap statistic over 10 values from 0.02 to 1 for weights="common".
    n_neighbors : "auto" or int, default="auto"
        Size of N_i; "auto" is sqrt(n), as the authors advise. Only for weights="samples".
    clusterer : str or object, default="auto"
        "auto" is hierarchical clustering with average linkage for weights="samples", which may be any clusterer that
        works on pairs; and as in `SASClustering` for weights="common".
    metric : str, callable or dict, default="auto"
        How a column tells samples apart, as in `SASClustering`.
    rule : {"max", "1se"}, default="max"
        Take the penalty of largest gap, or the smallest within one standard error of it.
    n_permutations : int, default=25
        Number of permuted copies, where the penalty is tuned.
    n_init : int, default=20
        Starts of the clusterer.
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
    feature_weights_ : weight of every feature; for weights="samples" the mean over the samples.
    sample_weights_ : w_ia, n x p; only for weights="samples".
    dissimilarity_ : D, n x n; only for weights="samples".
    support_ : all features that are not constant.
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    penalty_ : the strength l.
    gap_curve_ : the `TuningCurve` behind the choice of l; None where there is none.
    n_iter_ : number of alternations.

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
        n_clusters: int = 3,
        *,
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

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X and the weights of its columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n samples x p columns, or p matrices n x n with metric="precomputed";
            gaps are welcome.
        y : ignored.
        """
        check_parameters(vars(self))
        check_choice("weights", self.weights, ["samples", "common"])
        check_count("n_init", self.n_init, 1)
        if not is_auto(self.penalty):
            check_number("penalty", self.penalty, '"auto" or a number above 0', lambda x: 0 < x < np.inf)
        if not is_auto(self.n_neighbors):
            check_count("n_neighbors", self.n_neighbors, 1, advice='Or use "auto".')
        reading = self._reading(X)
        rng = rng_of(self.random_state)
        with one_thread_blas():
            # Whatever they are, all features have the same total.
            plain = reading.source.features()
            features = WeightedFeatures(plain, 1.0 / plain.total)
            found = (self._by_sample if self.weights == "samples" else self._in_common)(reading, features, rng)
            return self._keep(reading, plain, found)

    def _request(self) -> Request:
        return Request(self.metric)

    def _by_sample(self, reading: Reading, features: Features, rng: np.random.Generator) -> Result:
        """The original form."""
        n, k = reading.n_samples, int(self.n_clusters)
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
            labels,
            np.arange(features.n_features),
            features.scores(labels, k),
            found.weights.mean(axis=0),
            {
                "dissimilarity_": Array(square, ("sample", "sample")),
                "sample_weights_": Array(found.weights, ("sample", "feature")),
            },
            {"penalty_": penalty, "n_iter_": found.n_iter, "gap_curve_": None},
        )

    def _in_common(self, reading: Reading, features: Features, rng: np.random.Generator) -> Result:
        """The simple form."""
        n_init, k = int(self.n_init), int(self.n_clusters)
        clusterer = make_clusterer(self.clusterer, features.has_rows)
        problem = Problem(features, clusterer, k, int(self.max_iter))
        known: list[Labels] = []
        curve: TuningCurve | None = None
        if is_auto(self.penalty):

            def solve(copy: Features, penalties: Floats, own_rng: np.random.Generator) -> list[Weighting]:
                weighs = [Entropic(penalty) for penalty in penalties.tolist()]
                return path(problem._replace(features=copy), weighs, own_rng, n_init)

            workers = workers_for(self.n_jobs, self.verbose, reading.n_samples * reading.n_features)
            tuning = Tuning("penalty", PENALTIES, int(self.n_permutations), self.rule, workers)
            curve, found = tuned(features, tuning, solve, rng)
            known = [found.labels]
        penalty = float(self.penalty if curve is None else curve.chosen)
        best = best_weighting(problem, Entropic(penalty), rng, n_init, known)
        attributes = {"penalty_": penalty, "n_iter_": len(best.history), "gap_curve_": curve}
        scores = features.scores(best.labels, k)
        return Result(best.labels, np.arange(features.n_features), scores, best.weights, {}, attributes)


def squared_columns(reading: Reading) -> Any:
    """Which features are compared by squared difference."""
    source = reading.source
    return np.array([isinstance(source.kind(a), SquaredEuclidean) for a in source.columns.tolist()])


def cluster_pairs(clusterer: Clusterer, apart: Floats, k: int, rng: np.random.Generator, n_starts: int) -> Labels:
    """Clusters by a dissimilarity of samples that stands for all features at once."""
    first = np.zeros(1, np.intp)
    matrices = Matrices(lambda _: apart, 1, len(apart), frozenset(), computed=False)
    return clusterer.cluster(MatrixFeatures(matrices, first, False, np.ones(1), first), first, k, rng, None, n_starts)
