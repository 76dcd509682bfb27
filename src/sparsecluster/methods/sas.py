"""SAS clustering as a scikit-learn estimator, which checks the parameters, calls the search and stores the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._blocks.large import Large
from .._clusterers.clusterer import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.metric import Metric
from .._data.reading import Reading
from .._features.amounts import Amounts
from .._features.features import Features
from .._search.climb import Climb, Problem
from .._search.clusters import Candidates
from .._search.curve import GapKind, Rule, TuningCurve
from .._search.search import ROUNDS, Compare, NInit
from .._search.sizes import Criterion, Null, Search
from .._search.solve import Plan, solve, try_clusters
from .._utils.arrays import Labels, Subset
from .._utils.checks import check_choice, check_count, check_size, is_auto
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._large import in_blocks
from ._mixins import NearestCluster
from ._result import Array, Result

Objective = Literal["auto", "share", "amount"]


class SASClustering(NearestCluster, SparseClusterer):
    """Sparse Alternate Sum clustering (Arias-Castro and Pu, 2017).

    Finds k clusters of samples and the s features that separate them. The objective, which is maximized over
    clusterings C and subsets S of s features, is

        sum_{a in S} (1 - Delta_a[C] / T_a),

    where Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j) is the within-cluster dissimilarity of feature a
    (for numbers, the within-cluster sum of squares), and T_a is the same with all samples in one cluster. Without
    standardization, it is sum_{a in S} (T_a - Delta_a[C]), which is what K-means maximizes. If s is not given, it is
    chosen by the gap statistic, which compares the data with copies in which each feature is permuted independently.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=3
        Number of clusters k. With several numbers, one of them is chosen by `cluster_criterion`. "auto" chooses among
        2, ..., `max_clusters`.
    max_clusters : int or None, default=None
        Largest number of clusters that `n_clusters="auto"` tries. The default is 10, or a fifth of the number of
        samples if that is less.
    cluster_criterion : str, default="auto"
        How the number of clusters is chosen:

        - "auto" is "bic", except for complete tables of numbers with at least five samples per column in which the
          columns depend on each other within clusters. For these, it is the gap statistic of K-means.
        - "bic" compares models with and without clusters, and takes about as long as a fit.
        - "gap" is the gap statistic (Tibshirani, Walther and Hastie, 2001), with references drawn uniformly along the
          principal components; for "gap_uniform", they are drawn uniformly in each column. "logdet_gap" compares log
          determinants instead of log sums of squares.
        - "prediction_strength" compares the clusters of two halves of the samples (Tibshirani and Walther, 2005).
        - "stadion" compares the clusters of the data with those of the data with noise (Mourer et al., 2020).

        "gap", "gap_uniform", "logdet_gap" and "stadion" need numbers without missing values. All criteria except "bic"
        fit many tables, with the number of features that was chosen on the data for each k.
    trim : float, default=0.0
        Largest share of the samples that may be left out of the clusters and of the scores as outliers, in [0, 0.5);
        their number is rounded up. These samples, which are farther from all clusters than usual, get the label -1.
    core_agreement : float or None, default=0.9
        Adjusted Rand index, in (0, 1], that the clusters must reach if the samples are clustered afresh on the core
        features alone. None means that the core is not sought.
    n_features_to_select : "auto", "core", int or float, default="auto"
        Number s of features to select, or their share in (0, 1] if it is a float. "auto" chooses s by `criterion`.
        "core" does the same, and then selects only the core: the fewest of these features that are enough to find the
        clusters again.
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
    objective : {"auto", "share", "amount"}, default="auto"
        What a feature adds to the objective: the share 1 - Delta_a[C] / T_a of it that the clusters explain, or the
        amount T_a - Delta_a[C]. "auto" is "share" if the features are standardized and "amount" otherwise, so that
        both steps follow the same objective. The authors' code uses "share" in either case.
    criterion : {"gap", "bic"}, default="gap"
        How s is chosen: by the gap statistic, or by a Bayesian information criterion. The latter needs no permuted
        copies, so that a fit takes a half to a quarter of the time. It adds up the log likelihood ratios of the
        features with and without the clusters, minus the price of their parameters and of the choice of the subset; see
        the user guide. If the signal is so weak that the BIC is not above 0 for any s, the gap statistic decides.
    search : {"path", "grid", "golden"}, default="path"
        Numbers of features to compare: all of them ("path"), every `step`-th one ("grid", Algorithm 2 of the paper), or
        those visited by a golden-section search ("golden"). The BIC always compares all of them.
    step : int or None, default=None
        Step of the grid. By default, the grid has about 50 sizes.
    gap : {"between", "within"}, default="between"
        What the gap statistic compares: the variation that the clusters explain ("between") or the variation that is
        left within them ("within"). The formulas are given in `TuningCurve`.
    null : {"refit", "fixed"}, default="refit"
        Whether features are chosen anew on each permuted copy ("refit", as in the text of the paper), or those
        chosen on the data are kept ("fixed", as in the authors' code).
    rule : {"max", "1se", "core"}, default="max"
        Choose the number of features with the largest gap ("max"), or the smallest one whose gap is within one standard
        error of it ("1se"). "core" selects only the core of the solution, also if its number of features is given.
    n_permutations : int, default=25
        Number of permuted copies.
    init : {"auto", "coordinate", "random", "shrinking"} or array-like, default="auto"
        Where the search starts: from the features that cluster best on their own ("coordinate", as in the paper), from
        random subsets ("random"), or from all features, whose number is reduced step by step ("shrinking"); "auto" uses
        all three. Integers of shape (n_samples,) are initial labels, and booleans of shape (n_features,) a subset.
    n_init : "auto" or int, default="auto"
        Number of starts, also on each copy. "auto" continues until several agree on the best solution, up to a limit.
    compare : {"chosen", "all"}, default="chosen"
        Compare the solutions from different starts by the objective, or by what the clusters explain of all features.
        "all" is better if features are strongly correlated, as genes are, and worse if most are independent noise.
    consensus : bool, default=True
        If the best starts lead to different solutions, start once more from what these have in common and return the
        result, instead of the single best solution, which may owe its objective to noise.
    n_alternatives : int, default=3
        Largest number of alternatives to look for. They take a small part of the time of a fit in which s is chosen.
    subsample : int or None, default=2000
        If X has more samples than this, the search works on a random subsample of this size, and only the last climb
        uses all samples, in blocks of rows. Clusterers that work on pairs of samples use a quarter of this size. None
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
        Sum of the scores of the chosen features, or of the amounts T_a - Delta_a[C]; see `objective`.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X: the mean for "sqeuclidean", the median for "euclidean"
        and "manhattan", the middle level for "ordinal", and the most frequent level for "hamming". Not available if the
        metric of a column is callable or "precomputed".
    n_clusters_ : int
        Number of clusters.
    n_clusters_curve_ : TuningCurve or None
        Criterion over the numbers of clusters that were tried, or None if `n_clusters` was given.
    gap_curve_ : TuningCurve or None
        Gap statistic over the values of s, or None if s was given or chosen by the BIC.
    bic_curve_ : TuningCurve or None
        BIC over the values of s, or None if s was not chosen by it.
    core_support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the core: the fewest features, in the order of their scores, that give the same clusters if the samples
        are clustered afresh on them alone. All chosen features if these do not give the clusters again.
    full_support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features by which the clusters were found. Only available if the core replaces them in `support_`.
    core_size_ : int
        Number of features in the core.
    core_curve_ : TuningCurve
        Adjusted Rand index with the clusters over the numbers of features that were tried.
    outlier_scores_ : ndarray of shape (n_samples,)
        How far each sample is from the nearest cluster, as a number of standard deviations above the median sample;
        above 4 for outliers. Only available if `trim` is above 0.
    alternatives_ : list of Alternative
        Other good clusterings of the same samples that are really different, the best first; see `use_alternative`.
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
    The result depends on the data, the parameters and the seed, but not on the order of rows and columns, on threads or
    on the blocks of a Dask collection, for which `labels_` is a Dask array if it has more rows than `subsample`.

    Missing values (NaN, None, NA) need not be imputed: for each feature, pairs in which both values are observed are
    compared. This assumes that whether a value is missing does not depend on the cluster.

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
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        n_features_to_select: int | float | str = "auto",
        metric: Metric = "auto",
        clusterer: str | object = "auto",
        feature_groups: Any = None,
        standardize: bool = True,
        objective: Objective = "auto",
        criterion: Criterion = "gap",
        search: Search = "path",
        step: int | None = None,
        gap: GapKind = "between",
        null: Null = "refit",
        rule: Rule = "max",
        n_permutations: int = 25,
        init: str | npt.ArrayLike = "auto",
        n_init: NInit = "auto",
        compare: Compare = "chosen",
        consensus: bool = True,
        n_alternatives: int = 3,
        subsample: int | None = 2000,
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
        self.n_features_to_select = n_features_to_select
        self.metric = metric
        self.clusterer = clusterer
        self.feature_groups = feature_groups
        self.standardize = standardize
        self.objective = objective
        self.criterion = criterion
        self.search = search
        self.step = step
        self.gap = gap
        self.null = null
        self.rule = rule
        self.n_permutations = n_permutations
        self.init = init
        self.n_init = n_init
        self.compare = compare
        self.consensus = consensus
        self.n_alternatives = n_alternatives
        self.subsample = subsample
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_choice("search", self.search, ["path", "grid", "golden"])
        check_choice("criterion", self.criterion, ["gap", "bic"])
        if self._wants_core() and self.core_agreement is None:
            raise ValueError("core_agreement is None, but the core is to be selected. Use a number such as 0.9.")
        if self._by_amount() and self.gap == "within":
            raise ValueError(
                'gap="within" compares shares, but without standardization the objective is a sum of amounts. Use '
                'gap="between", standardize=True or objective="share".'
            )
        if isinstance(self.init, str):
            check_choice("init", self.init, list(ROUNDS), ", or an array of labels or of chosen features")
        if not is_auto(self.n_init):
            check_count("n_init", self.n_init, 1, advice='Use "auto" to continue until several starts agree.')

    def _by_amount(self) -> bool:
        """Whether features are chosen by the amount that the clusters explain."""
        return self.objective == "amount" or (self.objective == "auto" and not self.standardize)

    def _in_blocks(self, X: Any) -> Large | None:
        return in_blocks(self, X)

    def _solve(self, reading: Reading, k: int) -> Result:
        return self._solve_from(reading, k, None)

    def _improve(self, reading: Reading, k: int, found: Result, labels: Labels) -> Result:
        features = reading.source.features()
        size = min(found.subset.size, features.n_features)
        plan = Plan(size, labels=labels, consensus=False, n_alternatives=0, max_iter=int(self.max_iter))
        rng = rng_of(self.random_state)
        climbed = solve(reading.source, self._scored(features), self._clusterer(features), k, plan, rng).climb
        return Result(features, climbed.labels, climbed.subset, k)

    def _candidates(self, reading: Reading, ks: Sequence[int]) -> Candidates:
        features = self._scored(reading.source.features())
        problem = Problem(features, self._clusterer(features), ks[0], int(self.max_iter))
        return try_clusters(reading.source, problem, ks, self._plan(reading, None, None), rng_of(self.random_state))

    def _clusterer(self, features: Features) -> Clusterer:
        return make_clusterer(self.clusterer, features.has_rows)

    def _scored(self, features: Features) -> Features:
        """Features that are scored by what they add to the objective."""
        return Amounts(features) if self._by_amount() else features

    def _solve_from(self, reading: Reading, k: int, labels: Labels | None) -> Result:
        size = check_size(self.n_features_to_select, reading.n_features)
        if size is not None and size > reading.n_usable:
            raise ValueError(
                f"n_features_to_select asks for {size} features, but only {reading.n_usable} of {reading.n_features} "
                "vary and are observed often enough. Ask for fewer features."
            )
        features = reading.source.features()
        clusterer = self._clusterer(features)
        plan, rng = self._plan(reading, k, size), rng_of(self.random_state)
        plan = plan if labels is None else plan._replace(known=(labels,))
        found, curve, others = solve(reading.source, self._scored(features), clusterer, k, plan, rng)
        tuned: dict[str, TuningCurve | None] = {"gap_curve_": None, "bic_curve_": None}
        if curve is not None:
            tuned[f"{curve.criterion}_curve_"] = curve

        def result(found: Climb, **more: Any) -> Result:
            attributes = {"objective_": found.objective, "history_": found.history, "n_iter_": len(found.history)}
            return Result(features, found.labels, found.subset, k, attributes={**attributes, **tuned}, **more)

        return result(found, others=[(result(each.climb), each.value) for each in others])

    def _wants_core(self) -> bool:
        """Whether the core replaces the chosen features."""
        asked = self.n_features_to_select
        return self.rule == "core" or (isinstance(asked, str) and asked == "core")

    def _choose_core(self, found: Result, core: Subset) -> Result:
        if not self._wants_core():
            return found
        gains = self._scored(found.features).scores(found.labels, found.n_clusters)
        whole = np.zeros(gains.size, bool)
        whole[found.subset] = True
        return replace(found, subset=core).with_attributes(
            {"full_support_": Array(whole, ("feature",))}, objective_=float(gains[core].sum())
        )

    def _plan(self, reading: Reading, k: int | None, size: int | None) -> Plan:
        """Return the plan of the search. A start that is given as an array is put in the order of the source."""
        shared = {name: getattr(self, name) for name in Plan._fields if name in vars(self) and name != "init"}
        plan = Plan(size, **shared)
        if isinstance(self.init, str) or k is None:
            return plan._replace(init=self.init if isinstance(self.init, str) else "auto")
        source, n, p = reading.source, reading.n_samples, reading.n_columns
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
