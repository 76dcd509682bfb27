"""Sparse hierarchical clustering (Witten and Tibshirani 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._clusterers.hierarchical import LINKAGES, ON_COORDINATES, Linkage, cut, merges
from .._data.metric import Metric
from .._features.base import Features, Floats, Subset
from .._features.weighted import WeightedFeatures
from .._search.climb import LEAST_GAIN
from .._search.curve import Rule
from .._utils.checks import check_choice
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Verbosity
from ._bounded import Bounded, BoundedWeights, check_pairs, usual_bounds
from ._weights import Weighting

# Bounds compared: evenly from 1.1 to this share of sqrt(p), as in sparcl.
SMALLEST_BOUND, LARGEST_SHARE = 1.1, 0.7
NO_LABELS = np.empty(0, np.int32)


# ---------------------------------------------------------------- the algorithm


def sparse_weights(features: Features, bound: float, max_iter: int, weights: Floats | None = None) -> Weighting:
    """Weights that maximize |D w|_2, where D holds delta_a(i, j) by pair and feature: a power method with a bound.

    For given w the best U is D w, scaled to length 1; for given U the gains of the features are D' U. It begins with
    equal weights unless some are given.
    """
    weigh = Bounded(bound)
    weights = np.ones(features.n_features) if weights is None else weights
    best: Weighting | None = None
    for _ in range(max_iter):
        apart = features.pair_total(weights)
        # Every pair stands twice in the matrix.
        weights, objective = weigh(features.pair_sums(apart / (np.linalg.norm(apart) / np.sqrt(2))))
        if best is not None and objective <= best.objective * (1 + LEAST_GAIN):
            break
        history = (objective,) if best is None else (*best.history, objective)
        best = Weighting(NO_LABELS, weights, objective, history)
    assert best is not None
    return best


def path(features: Features, bounds: Floats, max_iter: int) -> list[Weighting]:
    """A solution for each of some ascending bounds: from many features down to few, each from where the last ended."""
    found: list[Weighting] = []
    for bound in bounds[::-1].tolist():
        found.append(sparse_weights(features, bound, max_iter, found[-1].weights if found else None))
    return found[::-1]


# ---------------------------------------------------------------- the estimator


class SparseHierarchical(BoundedWeights):
    """Sparse hierarchical clustering: a tree on a weighted dissimilarity, most weights zero (Witten, Tibshirani 2010).

    The weights maximize, together with a matrix U of pairs,

        sum_a w_a sum_{i<j} delta_a(i, j) U_ij   with   sum_{i<j} U_ij^2 <= 1,  w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    and the tree is built on D(i, j) = sum_a w_a delta_a(i, j), which is the best U but for its length. Nothing here
    looks at clusters: features that spread the pairs most, together, get the weight.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k at which the tree is cut.
    l1_bound : "auto" or float, default="auto"
        The bound b, at least 1 (one feature). "auto" chooses it by the gap statistic.
    linkage : str, default="average"
        How far apart two clusters are: "average", "complete", "single", "weighted" (SciPy's names), or "ward",
        "centroid", "median" for samples with coordinates.
    bounds : sequence of float, default=None
        Bounds that "auto" compares; by default 10 evenly from 1.1 to 0.7 sqrt(p), as in R's sparcl.
    metric : str, callable or dict, default="auto"
        How a column tells samples apart, as in `SASClustering`.
    standardize : bool, default=True
        Give every feature the same total T_a, whatever its units.
    rule : {"max", "1se"}, default="max"
        Take the bound of largest gap, or the smallest bound within one standard error of it.
    n_permutations : int, default=10
        Number of copies in which every feature is permuted. (The program sparcl permutes the pairs of samples, not the
        samples; its paper says samples.)
    max_iter : int, default=200
        Most steps to the weights.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the permutations; nothing else is random.
    verbose : bool or "auto", default="auto"
        "auto" shows progress on a terminal when a fit takes more than two seconds.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    feature_weights_ : w_a of every feature; 0 for columns kept out.
    support_ : mask of the features whose weight is not zero (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    linkage_matrix_ : the tree in SciPy's form, for scipy.cluster.hierarchy.dendrogram; heights are values of D.
    objective_ : the maximized sum.
    l1_bound_ : the bound b.
    gap_curve_ : the `TuningCurve` behind the choice of b; None where b was given.
    history_ : the objective after every step.
    n_iter_ : number of steps.

    References
    ----------
    D. M. Witten and R. Tibshirani, "A framework for feature selection in clustering", Journal of the American
    Statistical Association 105 (2010), 713-726.

    Examples
    --------
    >>> from sparsecluster import SparseHierarchical, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=2.0, n_features=100, n_useful=10, seed=0)
    >>> found = SparseHierarchical(n_clusters=3, l1_bound=3.0, linkage="complete", standardize=False).fit(X)
    >>> rand_index(truth, found.labels_) > 0.95, bool(useful[found.support_].all())
    (True, True)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        l1_bound: float | str = "auto",
        linkage: Linkage = "average",
        bounds: Sequence[float] | None = None,
        metric: Metric = "auto",
        standardize: bool = True,
        rule: Rule = "max",
        n_permutations: int = 10,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.l1_bound = l1_bound
        self.linkage = linkage
        self.bounds = bounds
        self.metric = metric
        self.standardize = standardize
        self.rule = rule
        self.n_permutations = n_permutations
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the weights of the columns of X, the tree of its rows and their groups.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n samples x p columns, or p matrices n x n with metric="precomputed";
            gaps are welcome.
        y : ignored.
        """
        check_parameters(vars(self))
        check_choice("linkage", self.linkage, LINKAGES)
        k, max_iter = int(self.n_clusters), int(self.max_iter)
        reading = self._reading(X)
        check_pairs(type(self).__name__, reading.n_samples)
        with one_thread_blas():
            features = reading.source.features()
            if self.linkage in ON_COORDINATES and not features.has_rows:
                raise ValueError(
                    f'linkage="{self.linkage}" needs coordinates of the samples, and these features have only '
                    'dissimilarities of pairs. Use "average", "complete", "single" or "weighted".'
                )
            usual = usual_bounds(features.n_features, SMALLEST_BOUND, LARGEST_SHARE, np.linspace)

            def solve(copy: Features, bounds: Floats, _: np.random.Generator) -> list[Weighting]:
                return path(copy, bounds, max_iter)

            chosen = self._choose(reading, features, usual, solve, rng_of(self.random_state))
            found = sparse_weights(features, chosen.bound, max_iter)
            weighted = WeightedFeatures(features, found.weights)
            tree = merges(weighted, weighted.used, self.linkage)
            named = with_leaves(tree, reading.source.samples)
            found = found._replace(labels=cut(tree, k))
            return self._keep_weighting(reading, features, chosen, found, linkage_matrix_=named)


def with_leaves(tree: Floats, samples: Subset) -> Floats:
    """The tree with leaf i called samples[i]."""
    named = tree.copy()
    is_leaf = named[:, :2] < samples.size
    named[:, :2][is_leaf] = samples[named[:, :2][is_leaf].astype(np.intp)]
    return named
