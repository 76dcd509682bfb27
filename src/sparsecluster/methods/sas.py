"""SAS clustering as a scikit-learn estimator, which checks the parameters, calls the search and stores the result."""

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

    Finds k clusters of samples and the s features that separate them. The objective, which is maximized over
    clusterings C and subsets S of s features, is

        sum_{a in S} (1 - Delta_a[C] / T_a),

    where Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j) is the within-cluster dissimilarity of feature a
    (for numbers, the within-cluster sum of squares), and T_a is the same with all samples in one cluster. If s is not
    given, it is chosen by the gap statistic, which compares the data with copies in which each feature is permuted
    independently.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters k.
    n_features_to_select : "auto", int or float, default="auto"
        Number s of features to select, or their share in (0, 1] if it is a float. "auto" chooses s by the gap
        statistic.
    metric : str, callable or dict, default="auto"
        Dissimilarity of two values of a column:

        - "sqeuclidean" is the squared difference (x - y)^2.
        - "euclidean" and "manhattan" are the plain distance |x - y|, which is the same for single numbers.
        - "hamming" is 0 for equal levels and 1 for different levels.
        - "ordinal" is the distance between the ranks of ordered levels.
        - A callable takes two values and returns their dissimilarity.
        - "auto" chooses by the type of the column: "sqeuclidean" for numbers and dates, "ordinal" for ordered
          categories, and "hamming" for other categories, text and booleans.
        - A dict {column: metric} sets the metric of some columns, and "auto" is used for the others.
        - "precomputed" means that X consists of p dissimilarity matrices of shape (n_samples, n_samples).
    clusterer : str or object, default="auto"
        Clustering method of Step 1: "kmeans", "hillclimb" (for any dissimilarity), "kmedoids", "spectral",
        "hierarchical" (the same as "average"), "complete", "ward", "partition" (clusters of equal size), or an object
        with a method `fit_predict`. "auto" is "kmeans" if the samples have coordinates (numbers and levels) and
        "hillclimb" otherwise. Both maximize the objective above.
    feature_groups : dict, sequence or None, default=None
        Columns that are chosen together, as a dict {group: columns} or as a sequence with one group name per column
        and None for a column on its own. Each group is one feature, whose dissimilarity is the mean of those of its
        columns.
    standardize : bool, default=True
        Whether to give all features the same weight in the clustering, regardless of their units. Features that only
        distinguish equal from different values (levels, or numbers with two values) are compared by the plain Hamming
        dissimilarity and have the same weight on average. The scores do not depend on the scale of a feature in any
        case.
    search : {"path", "grid", "golden"}, default="path"
        Numbers of features to compare: all of them ("path"), every `step`-th one ("grid", Algorithm 2 of the paper), or
        those visited by a golden-section search ("golden").
    step : int or None, default=None
        Step of the grid. By default, the grid has about 50 sizes.
    gap : {"between", "within"}, default="between"
        What the gap statistic compares: the variation that the clusters explain ("between") or the variation that is
        left within them ("within"). The formulas are given in `TuningCurve`.
    null : {"refit", "fixed"}, default="refit"
        Whether features are chosen anew on each permuted copy ("refit", as in the text of the paper), or those
        chosen on the data are kept ("fixed", as in the authors' code).
    rule : {"max", "1se"}, default="max"
        Choose the number of features with the largest gap ("max"), or the smallest one whose gap is within one standard
        error of it ("1se").
    n_permutations : int, default=25
        Number of permuted copies.
    init : {"auto", "coordinate", "random", "shrinking"} or array-like, default="auto"
        Where the search starts: from the features that cluster best on their own ("coordinate", as in the paper), from
        random subsets ("random"), or from all features, whose number is then reduced step by step ("shrinking"). "auto"
        uses all three. An integer array of shape (n_samples,) is used as initial labels, and a boolean array of shape
        (n_features,) as initial subset.
    n_init : "auto" or int, default="auto"
        Number of starts. "auto" continues until several starts agree on the best solution, up to a limit.
    consensus : bool, default=True
        If the best starts lead to different solutions, start once more from what these have in common and return the
        result, instead of the single best solution, which may owe its objective to noise.
    subsample : int or None, default=2000
        If X has more samples than this, s is chosen and the starts are made on a random subsample of this size, and
        only the last climb uses all samples. Clusterers that work on pairs of samples use a quarter of this size. None
        always uses all samples.
    max_iter : int, default=100
        Maximum number of passes through Steps 1 and 2 of Algorithm 1 from one start.
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
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the chosen features, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1]. The
        score of a feature with missing values is multiplied by the share of the samples in which it is observed.
        Columns of a feature group have the score of the group. Columns that are constant or missing too often are left
        out and have score 0.
    objective_ : float
        Sum of the scores of the chosen features.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X: the mean for "sqeuclidean", the median for "euclidean"
        and "manhattan", the middle level for "ordinal", and the most frequent level for "hamming". Not available if the
        metric of a column is callable or "precomputed".
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of s, or None if `n_features_to_select` was given.
    history_ : tuple of Step
        Entries (objective, samples_moved, features_changed), one for each pass through Steps 1 and 2 that led to the
        solution.
    n_iter_ : int
        Number of these passes.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    The result depends on the data, the parameters and the seed, but not on the number of threads or on the order of the
    rows and columns.

    Missing values (NaN, None, NA) do not need to be imputed: for each feature, only pairs of samples in which both
    values are observed are compared. This assumes that whether a value is missing does not depend on the cluster.

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
        """Cluster the samples and select the features that separate the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table. Missing values are allowed. With `metric="precomputed"`, p matrices of shape (n_samples,
            n_samples): an array of shape (p, n_samples, n_samples), in memory or memory-mapped, a list of matrices, or
            a function that returns matrix a = 0, 1, ... and raises IndexError after the last one. The result of `read`
            is accepted as well.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted estimator.
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
        """Check the parameters that do not depend on the data."""
        check_parameters(vars(self))
        if isinstance(self.init, str):
            check_choice("init", self.init, list(ROUNDS), ", or an array of labels or of chosen features")
        if not is_auto(self.n_init):
            check_count("n_init", self.n_init, 1, advice='Use "auto" to continue until several starts agree.')

    def _plan(self, reading: Reading, size: int | None) -> Plan:
        """Return the plan of the search. A start that is given as an array is put in the order of the source."""
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
            f"An array given as init must hold {n} integer labels that use all {k} clusters, or {p} booleans of which "
            f"at least one selects a column that varies; got {given.dtype} of shape {given.shape}."
        )
