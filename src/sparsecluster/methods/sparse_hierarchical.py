"""Sparse hierarchical clustering (Witten and Tibshirani, 2010)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._clusterers.hierarchical import LINKAGES, ON_COORDINATES, Linkage, cut, merges
from .._data.metric import Metric
from .._data.reading import Reading
from .._features.features import Features
from .._features.products import Product, product_by_pairs, products
from .._features.weighted import WeightedFeatures
from .._kernels.weights import bounded_weights
from .._search.climb import LEAST_GAIN
from .._search.curve import Rule
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_choice
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._bounded import BoundedWeights, check_pairs, usual_bounds
from ._clusters import NClusters
from ._result import Result
from ._weights import Weighting

# The default bounds are evenly spaced from 1.1 to this share of sqrt(p), as in sparcl.
SMALLEST_BOUND, LARGEST_SHARE = 1.1, 0.7
NO_LABELS = np.empty(0, np.int32)


# ---------------------------------------------------------------- the algorithm


def sparse_weights(features: Features, bound: float, max_iter: int) -> Weighting:
    """Maximize |D w|_2 over the weights, where D holds delta_a(i, j) by pair and feature, from equal weights."""
    return climbed(products(features), equal_gains(features), bound, max_iter)[0]


def path(features: Features, bounds: Floats, max_iter: int) -> list[Weighting]:
    """Return one solution for each of several ascending bounds.

    The path is followed from the largest bound to the smallest, and each solution starts from the gains of the one
    before.
    """
    product, gains = products(features), equal_gains(features)
    found: list[Weighting] = []
    for bound in bounds[::-1].tolist():
        weighting, gains = climbed(product, gains, bound, max_iter)
        found.append(weighting)
    return found[::-1]


def equal_gains(features: Features) -> Floats:
    """Return the gains D' U for U = D w of length 1, with equal weights w."""
    gains = product_by_pairs(features, np.ones(features.n_features))
    return gains / np.sqrt(gains.sum())


def climbed(product: Product, start: Floats, bound: float, max_iter: int) -> tuple[Weighting, Floats]:
    """Maximize |D w|_2 by a power method with momentum; return the weights and their gains.

    For given w, the best U is D w scaled to length 1. For given U, the gains of the features are D' U, of which the
    best weights follow. So a plain step never lowers |D w|. As gains change slowly, every step goes on beyond them in
    the direction of their last change, the further the longer this has paid (Nesterov). A step that does not raise
    |D w| is undone and a plain one follows. If that does not raise it either, the climb is at its end.
    """
    weights = bounded_weights(start, bound)
    history = [float(weights @ start)]
    last = gains = product(weights)
    paid = 0
    for _ in range(max_iter - 1):
        new = bounded_weights(gains + paid / (paid + 3) * (gains - last), bound)
        new_gains = product(new)
        objective = float(np.sqrt(new @ new_gains))
        if objective > history[-1] * (1 + LEAST_GAIN):
            weights, last, gains = new, gains, new_gains
            history.append(objective)
            paid += 1
        elif paid:
            paid = 0
        else:
            break
    return Weighting(NO_LABELS, weights, history[-1], tuple(history)), gains / np.sqrt(weights @ gains)


# ---------------------------------------------------------------- the estimator


class SparseHierarchical(BoundedWeights):
    """Sparse hierarchical clustering: a tree on a sparsely weighted dissimilarity (Witten and Tibshirani, 2010).

    The weights maximize, together with a matrix U of pairs,

        sum_a w_a sum_{i<j} delta_a(i, j) U_ij   with   sum_{i<j} U_ij^2 <= 1,  w >= 0,  |w|_2 <= 1,  |w|_1 <= b,

    and the tree is built on D(i, j) = sum_a w_a delta_a(i, j), which is the best U up to a factor. The weights do not
    depend on any clusters: they favor features that, taken together, spread the pairs of samples the most.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k at which the tree is cut. With several numbers, one of them is chosen by
        `cluster_criterion`. "auto" chooses among 2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries; see `SASClustering`.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen; see `SASClustering`.
    trim : float, default=0.0
        Largest share of the samples that may be left out as outliers, in [0, 0.5); see `SASClustering`.
    core_agreement : float or None, default=0.9
        Agreement that the core features must reach; see `SASClustering`.
    l1_bound : "auto" or float, default="auto"
        Upper bound b of |w|_1, at least 1. With b = 1 a single feature is chosen, and for b >= sqrt(p) the bound has
        no effect. "auto" chooses b by the gap statistic.
    linkage : {"average", "complete", "single", "weighted", "centroid", "median", "ward"}, default="average"
        Distance between two clusters, with the names of SciPy. "ward", "centroid" and "median" need samples with
        coordinates (numbers and levels).
    bounds : sequence of float or None, default=None
        Values of b that "auto" compares. By default, 10 evenly spaced values from 1.1 to 0.7 sqrt(p), as in the R
        package sparcl.
    metric : str, callable or dict, default="auto"
        Dissimilarity of two values of a column, with the same options as in `SASClustering`. The default for numbers is
        "sqeuclidean", the squared difference (x - y)^2; "euclidean" and "manhattan" are the plain distance |x - y|.
    standardize : bool, default=True
        Whether to give all features the same total T_a, regardless of their units.
    rule : {"max", "1se"}, default="max"
        Choose the bound with the largest gap ("max"), or the smallest bound whose gap is within one standard error of
        it ("1se").
    n_permutations : int, default=10
        Number of copies for the gap statistic, in which the samples are permuted within each feature, as the paper
        says. (The R package sparcl permutes the pairs of samples instead.)
    max_iter : int, default=200
        Maximum number of iterations for the weights.
    n_jobs : int or None, default=None
        Number of threads. None means 1 unless in a `joblib.parallel_config` context, and -1 means all processors. The
        result does not depend on the number of threads.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations. Nothing else is random.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    feature_weights_ : ndarray of shape (n_features,)
        Weight w_a of each feature, and 0 for columns that are left out.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features with nonzero weight, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Columns that are constant or missing too often are left out and have score 0.
    objective_ : float
        Value of the maximized sum.
    l1_bound_ : float
        The bound b.
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of b, or None if `l1_bound` was given.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The tree in SciPy's format, for example for `scipy.cluster.hierarchy.dendrogram`. Heights are values of D. Leaf
        i is sample i or, if `trim` leaves samples out, the i-th of the other samples.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X, as in `SASClustering`.
    history_ : tuple of float
        Objective after each iteration.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

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
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
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
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
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

    def _check(self) -> None:
        super()._check()
        check_choice("linkage", self.linkage, LINKAGES)

    def _solve(self, reading: Reading, k: int) -> Result:
        max_iter = int(self.max_iter)
        check_pairs(type(self).__name__, reading.n_used)
        features = reading.source.features()
        if self.linkage in ON_COORDINATES and not features.has_rows:
            raise ValueError(
                f'linkage="{self.linkage}" needs coordinates of the samples, but these features have only '
                'dissimilarities of pairs of samples. Use "average", "complete", "single" or "weighted".'
            )
        usual = usual_bounds(features.n_features, SMALLEST_BOUND, LARGEST_SHARE, np.linspace)

        def solve(copy: Features, bounds: Floats, _: np.random.Generator) -> list[Weighting]:
            return path(copy, bounds, max_iter)

        chosen = self._choose(features, usual, solve, rng_of(self.random_state))
        found = sparse_weights(features, chosen.bound, max_iter)
        weighted = WeightedFeatures(features, found.weights)
        tree = merges(weighted, weighted.used, self.linkage)
        # Samples that are left out are not counted, so that leaves and inner nodes have different numbers.
        named = with_leaves(tree, np.argsort(np.argsort(reading.source.samples)))
        found = found._replace(labels=cut(tree, k))
        return self._weighted(features, k, chosen, found, linkage_matrix_=named)


def with_leaves(tree: Floats, samples: Subset) -> Floats:
    """Return the tree with leaf i renamed to samples[i]."""
    named = tree.copy()
    is_leaf = named[:, :2] < samples.size
    named[:, :2][is_leaf] = samples[named[:, :2][is_leaf].astype(np.intp)]
    return named
