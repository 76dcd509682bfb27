"""Sparse K-means (Witten and Tibshirani 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._clusterers.base import Clusterer
from .._clusterers.kmeans import KMeans
from .._data.metric import Metric
from .._features.base import Features, Floats
from .._search.climb import Problem
from .._search.curve import Rule
from .._utils.checks import check_count
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Verbosity
from ._base import NearestCluster
from ._bounded import Bounded, BoundedWeights, usual_bounds
from ._weights import Weighting, best_weighting, path

# Bounds compared: from 1.2 to this share of sqrt(p), evenly on the log scale, as in sparcl.
SMALLEST_BOUND, LARGEST_SHARE = 1.2, 0.9


class SparseKMeans(NearestCluster, BoundedWeights):
    """Sparse K-means: clusters and a weight for every feature, most of them zero (Witten and Tibshirani, 2010).

    Maximizes over clusterings C and weights w

        sum_a w_a (T_a - Delta_a[C])   with   w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    where Delta_a[C] is the within-cluster sum of squares of feature a and T_a the same with all samples in one cluster.
    For given C the weights are w = S(g, D) / |S(g, D)|_2 with g_a = T_a - Delta_a[C], S the soft threshold and D = 0,
    or else such that |w|_1 = b, which is solved in closed form. For given w the clusters are those of K-means on
    features multiplied by sqrt(w_a). A feature is selected if its weight is not zero.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    l1_bound : "auto" or float, default="auto"
        The bound b, at least 1 (one feature); from sqrt(p) on it has no effect. "auto" chooses it by the gap statistic.
    bounds : sequence of float, default=None
        Bounds that "auto" compares; by default 10 from 1.2 to 0.9 sqrt(p), evenly on the log scale, as in R's sparcl.
    metric : str or dict, default="auto"
        How a column tells samples apart: "sqeuclidean" (squared difference) or "hamming" (same level or not), or a dict
        {column: metric}; "auto" goes by the types of the columns.
    standardize : bool, default=True
        Give every feature the same total T_a, whatever its units.
    rule : {"max", "1se"}, default="max"
        Take the bound of largest gap, or the smallest bound within one standard error of it.
    n_permutations : int, default=25
        Number of permuted copies.
    n_init : int, default=20
        Starts: K-means runs on all features at the beginning of a path, and whole alternations at the chosen bound.
    max_iter : int, default=100
        Most alternations from one start; a few are usual.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed.
    verbose : bool or "auto", default="auto"
        "auto" shows progress on a terminal when a fit takes more than two seconds.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    feature_weights_ : w_a of every feature; 0 for columns kept out.
    support_ : mask of the features whose weight is not zero (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    objective_ : the maximized sum.
    l1_bound_ : the bound b.
    gap_curve_ : the `TuningCurve` behind the choice of b; None where b was given.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X.
    history_ : the objective after every alternation.
    n_iter_ : number of alternations.

    References
    ----------
    D. M. Witten and R. Tibshirani, "A framework for feature selection in clustering", Journal of the American
    Statistical Association 105 (2010), 713-726.

    Examples
    --------
    >>> from sparsecluster import SparseKMeans, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> found = SparseKMeans(n_clusters=3, l1_bound=6.0).fit(X)
    >>> rand_index(truth, found.labels_)
    1.0
    >>> int(found.support_.sum()), int(found.support_[useful].sum()), round(float(found.feature_weights_.sum()), 3)
    (45, 45, 6.0)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        l1_bound: float | str = "auto",
        bounds: Sequence[float] | None = None,
        metric: Metric = "auto",
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
        self.l1_bound = l1_bound
        self.bounds = bounds
        self.metric = metric
        self.standardize = standardize
        self.rule = rule
        self.n_permutations = n_permutations
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _clusterer(self, features: Features) -> Clusterer:
        """Step 1, if it can be done on these features."""
        if not features.has_rows:
            raise ValueError(
                f"{type(self).__name__} needs coordinates of the samples, and these features have only dissimilarities "
                'of pairs. Use SparseKMedoids, or metric="sqeuclidean" for numbers and "hamming" for levels.'
            )
        return KMeans()

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X and the weights of its columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of n samples x p columns; gaps are welcome.
        y : ignored.
        """
        check_parameters(vars(self))
        n_init = check_count("n_init", self.n_init, 1)
        reading = self._reading(X)
        rng = rng_of(self.random_state)
        with one_thread_blas():
            features = reading.source.features()
            problem = Problem(features, self._clusterer(features), int(self.n_clusters), int(self.max_iter))
            usual = usual_bounds(features.n_features, SMALLEST_BOUND, LARGEST_SHARE, np.geomspace)

            def solve(copy: Features, bounds: Floats, own_rng: np.random.Generator) -> list[Weighting]:
                weighs = [Bounded(bound) for bound in bounds.tolist()]
                return path(problem._replace(features=copy), weighs, own_rng, n_init)

            chosen = self._choose(reading, features, usual, solve, rng)
            known = [] if chosen.found is None else [chosen.found.labels]
            best = best_weighting(problem, Bounded(chosen.bound), rng, n_init, known)
            return self._keep_weighting(reading, features, chosen, best)
