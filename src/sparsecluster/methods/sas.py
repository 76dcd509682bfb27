"""SAS clustering as a scikit-learn estimator: checks its parameters, calls the search, stores what it found."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._clusterers.registry import make_clusterer
from .._data.metric import Metric
from .._data.reading import Reading
from .._search.curve import GapKind, Rule
from .._search.search import ROUNDS, NInit
from .._search.sizes import Null, Search
from .._search.solve import Plan, solve
from .._utils.checks import check_choice, check_count, check_size, is_auto
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from .._utils.progress import Verbosity
from ._base import NearestCluster, SparseClusterer
from ._result import Result


class SASClustering(NearestCluster, SparseClusterer):
    """Sparse Alternate Sum clustering (Arias-Castro and Pu, 2017).

    Finds k groups of samples and the s features that make them, by maximizing over clusterings C and subsets S of size s

        sum_{a in S} (1 - Delta_a[C] / T_a),

    where Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j) is the within-cluster dissimilarity of feature a
    (for numbers, the within-cluster sum of squares) and T_a the same with all samples in one cluster. Where s is not
    given it is chosen by the gap statistic against copies of the data in which every feature is permuted on its own.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    n_features_to_select : "auto", int or float, default="auto"
        Number s of features, or their share in (0, 1]. "auto" chooses it by the gap statistic.
    metric : str, callable or dict, default="auto"
        How a column tells samples apart: "sqeuclidean" (squared difference), "manhattan" (distance), "hamming" (same level
        or not), "ordinal" (distance of ranks), or a function of two values. "auto" goes by the types of the columns:
        numbers and dates by squared difference, ordered categories by rank, text, categories and truth values by level.
        A dict {column: metric} says it for some columns. "precomputed": X is p dissimilarity matrices n x n.
    clusterer : str or object, default="auto"
        Step 1: "kmeans", "hillclimb" (any dissimilarity), "kmedoids", "spectral", "hierarchical" (or "average",
        "complete", "ward"), "partition" (clusters of equal size), or any object with `fit_predict`. "auto" is "kmeans"
        where samples have coordinates (numbers and levels) and "hillclimb" elsewhere: both climb the objective above.
    feature_groups : dict or sequence, default=None
        Columns that are chosen together: {group: columns}, or one name for each column, None for one that stands alone.
        A group is one feature; its dissimilarity is the mean of those of its columns.
    standardize : bool, default=True
        Give every feature the same weight in the clustering, whatever its units. Features that only tell alike from
        unlike (levels, or two numbers) are compared by the plain Hamming dissimilarity and have the same weight on
        average. Scores do not depend on the scale of a feature either way.
    search : {"path", "grid", "golden"}, default="path"
        Sizes to compare: all of them, every `step`-th (Algorithm 2 of the paper), or by golden section.
    step : int, default=None
        Step of the grid; by default about 50 sizes.
    gap : {"between", "within"}, default="between"
        What the gap compares: the part of the spread that the clusters explain, or the part that they leave.
    null : {"refit", "fixed"}, default="refit"
        On a permuted copy, choose features anew (the paper's text) or keep those of the data (the authors' code).
    rule : {"max", "1se"}, default="max"
        Take the size of largest gap, or the smallest size within one standard error of it.
    n_permutations : int, default=25
        Number of permuted copies.
    init : {"auto", "coordinate", "random", "shrinking"} or array, default="auto"
        Where climbs begin: the features that cluster best on their own (the paper's start), random subsets, or all
        features fewer by and by. "auto" uses all three. An integer array of n samples is a labeling to begin with; a
        boolean array of p features is a subset.
    n_init : "auto" or int, default="auto"
        Number of starts. "auto" goes on until several starts agree on the best, within limits.
    consensus : bool, default=True
        Where the best starts end in different places, return the climb from what they have in common instead of the
        best one, which then owes its place to noise.
    subsample : int or None, default=2000
        Where there are more samples than this, s is chosen and starts are made on so many of them, drawn at random; the
        last climb is on all samples. A quarter of it where the clusterer works on pairs of samples. None uses all samples
        throughout.
    max_iter : int, default=100
        Most passes through Steps 1 and 2 of Algorithm 1 in one climb.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed. The same seed gives the same result; None draws a new one every time.
    verbose : bool or "auto", default="auto"
        "auto" shows progress on a terminal when a fit takes more than two seconds.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    support_ : mask of the chosen features (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature, in [0, 1], times the share of the samples in which it is
        seen; for each column that of its group; 0 for columns kept out.
    objective_ : sum of the scores of the chosen features.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X; the median of a column compared
        by "manhattan", the commonest level of one with levels. Not for functions and precomputed matrices.
    gap_curve_ : the `TuningCurve` behind the choice of s; None where s was given.
    history_ : one entry for every pass of the climb: objective, samples moved, features changed.
    n_iter_ : number of passes.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    The result depends on the data, the parameters and the seed, not on threads or on the order of rows and columns.

    Gaps (NaN, None, NA) need no filling in: a pair of samples counts for a feature where both are seen. This assumes that
    whether a value is missing does not depend on the group.

    References
    ----------
    E. Arias-Castro and X. Pu, "A simple approach to sparse clustering", Computational Statistics & Data Analysis 105
    (2017), 217-228.

    Examples
    --------
    >>> from sparsecluster import SASClustering, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> sas = SASClustering(n_clusters=3).fit(X)
    >>> rand_index(truth, sas.labels_)
    1.0
    >>> int(sas.get_support().sum()), bool(useful[sas.get_support()].all())
    (50, True)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        n_features_to_select: int | float | str = "auto",
        metric: Metric = "auto",
        clusterer: str | object = "auto",
        feature_groups: Any = None,
        standardize: bool = True,
        search: Search = "path",
        step: int | None = None,
        gap: GapKind = "between",
        null: Null = "refit",
        rule: Rule = "max",
        n_permutations: int = 25,
        init: str | npt.ArrayLike = "auto",
        n_init: NInit = "auto",
        consensus: bool = True,
        subsample: int | None = 2000,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.n_features_to_select = n_features_to_select
        self.metric = metric
        self.clusterer = clusterer
        self.feature_groups = feature_groups
        self.standardize = standardize
        self.search = search
        self.step = step
        self.gap = gap
        self.null = null
        self.rule = rule
        self.n_permutations = n_permutations
        self.init = init
        self.n_init = n_init
        self.consensus = consensus
        self.subsample = subsample
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the clusters of the rows of X and the columns that make them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table; missing values are allowed. With metric="precomputed", p matrices of shape (n_samples,
            n_samples): an array of shape (p, n_samples, n_samples), in memory or memory-mapped, a list, or a function
            that returns matrix a = 0, 1, ... and raises IndexError after the last. A `Reading` made by `read` is
            accepted as well.
        y : ignored.

        Returns
        -------
        SASClustering
            The fitted estimator.
        """
        self._check_words()
        reading = self._reading(X)
        size = check_size(self.n_features_to_select, reading.n_features)
        if size is not None and size > reading.n_usable:
            raise ValueError(
                f"n_features_to_select asks for {size} features, but only {reading.n_usable} of {reading.n_features} "
                "vary and are observed often enough. Ask for fewer features."
            )
        rng = rng_of(self.random_state)
        with one_thread_blas():
            features = reading.source.features()
            clusterer = make_clusterer(self.clusterer, features.has_rows)
            found, curve = solve(
                reading.source, features, clusterer, int(self.n_clusters), self._plan(reading, size), rng
            )
            attributes = {
                "objective_": found.objective,
                "history_": found.history,
                "n_iter_": len(found.history),
                "gap_curve_": curve,
            }
            result = Result(found.labels, found.subset, found.scores, attributes=attributes)
            return self._keep(reading, features, result)

    def _check_words(self) -> None:
        """Parameters that do not depend on the data."""
        check_parameters(vars(self))
        if isinstance(self.init, str):
            check_choice("init", self.init, list(ROUNDS), " or an array of labels or of selected features")
        if not is_auto(self.n_init):
            check_count("n_init", self.n_init, 1, advice='Or use "auto".')

    def _plan(self, reading: Reading, size: int | None) -> Plan:
        """How to search, with a start that is given in the order of the source."""
        shared = {name: getattr(self, name) for name in Plan._fields if name in vars(self) and name != "init"}
        plan = Plan(size, **shared)
        if isinstance(self.init, str):
            return plan._replace(init=self.init)
        source, n, p, k = reading.source, reading.n_samples, reading.n_columns, int(self.n_clusters)
        given = np.asarray(self.init)
        if given.dtype == bool and given.shape == (p,):
            subset = np.unique(source.owners[given[source.columns]])
            if subset.size:
                return plan._replace(subset=subset)
        if given.dtype.kind in "iu" and given.shape == (n,):
            names, labels = np.unique(given[source.samples], return_inverse=True)
            if names.size == k:
                return plan._replace(labels=labels.astype(np.int32))
        raise ValueError(
            f"init as an array must hold {n} integers that name all {k} clusters, or {p} booleans of which at least one "
            f"selects a column that varies; got {given.dtype} of shape {given.shape}."
        )
