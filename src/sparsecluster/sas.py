"""SAS clustering as a scikit-learn estimator: checks its parameters, calls the search, stores what it found."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .base import SparseClusterer
from .checks import (
    check_bool,
    check_choice,
    check_count,
    check_distinct,
    check_finite,
    check_jobs,
    check_numeric_columns,
    check_size,
    usable_columns,
)
from .climb import Climb, Problem, climb
from .clusterers.kmeans import KMeans
from .consensus import consensus
from .features.arrange import arrangement
from .features.base import Floats, Labels, Table
from .features.numeric import NumericFeatures, Source
from .gap import Effort, GapCurve, GapKind, Null, Rule, Search, choose_size
from .parallel import Workers, one_thread_blas
from .progress import Progress, Verbosity
from .sample import draw_sample, spread
from .search import ROUNDS, NInit, search_size

# Values looked at together.
BLOCK_VALUES = 2**20
# Values in a table below which threads only wait for each other.
THREADS_PAY = 2**18


class SASClustering(SparseClusterer):
    """Sparse Alternate Sum clustering (Arias-Castro and Pu, 2017).

    Finds k groups of items and the s features that make them, by maximising over clusterings C and subsets S of size s

        sum_{a in S} (1 - Delta_a[C] / T_a),

    where Delta_a[C] is the within-cluster sum of squares of feature a and T_a its total sum of squares. Where s is not
    given it is chosen by the gap statistic against copies of the data in which every feature is permuted on its own.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    n_features_to_select : "auto", int or float, default="auto"
        Number s of features, or their share in (0, 1]. "auto" chooses it by the gap statistic.
    standardize : bool, default=True
        Give every feature the same weight in the clustering. Scores do not depend on the scale of a feature either way.
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
        features fewer by and by. "auto" uses all three. An integer array of n items is a labelling to begin with; a
        boolean array of p features is a subset.
    n_init : "auto" or int, default="auto"
        Number of starts. "auto" goes on until several starts agree on the best, within limits.
    consensus : bool, default=True
        Where the best starts end in different places, return the climb from what they have in common instead of the
        best one, which then owes its place to noise.
    subsample : int or None, default=2000
        Where there are more items than this, s is chosen and starts are made on so many of them, drawn at random; the
        last climb is on all items. None uses all items throughout.
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
    labels_ : cluster of every item; clusters are numbered from the largest to the smallest.
    support_ : mask of the chosen features (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature, in [0, 1]; 0 for constant columns.
    objective_ : sum of the scores of the chosen features.
    cluster_centers_ : mean of every feature in every cluster, k x p, in the units of X.
    gap_curve_ : the `GapCurve` behind the choice of s; None where s was given.
    history_ : one entry for every pass of the climb: objective, items moved, features changed.
    n_iter_ : number of passes.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    The result depends on the data, the parameters and the seed, not on threads or on the order of rows and columns.

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
        """Find the groups of the rows of X and the columns that make them.

        Parameters
        ----------
        X : array or data frame of n items x p features, all finite numbers.
        y : ignored.
        """
        self._check_words()
        check_numeric_columns(X)
        X = validate_data(
            self, X, dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=2, order=None
        )
        n, p = X.shape
        check_finite(X, self._names())
        check_count("n_clusters", self.n_clusters, 2, n, f"X has n_samples={n} rows.")
        size = check_size(self.n_features_to_select, p)
        usable = usable_columns(X, self._names())
        if size is not None and size > usable.size:
            raise ValueError(
                f"n_features_to_select asks for {size} features; only {usable.size} of {p} columns are not constant."
            )
        order = arrangement(X, usable)
        if order.distinct_items < self.n_clusters:
            check_distinct(X, self.n_clusters)
        source = Source(X, order.items, order.columns, bool(self.standardize))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        with one_thread_blas():
            found, curve = self._solve(source, size, rng)
        self._store(X, source, found, curve)
        return self

    def _check_words(self) -> None:
        """Parameters that do not depend on the data."""
        check_choice("search", self.search, ["path", "grid", "golden"])
        check_choice("gap", self.gap, ["between", "within"])
        check_choice("null", self.null, ["refit", "fixed"])
        check_choice("rule", self.rule, ["max", "1se"])
        check_count("n_clusters", self.n_clusters, 2)
        check_count("n_permutations", self.n_permutations, 1)
        check_count("max_iter", self.max_iter, 1)
        for name in ("step", "subsample"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1)
        for name in ("standardize", "consensus"):
            check_bool(name, getattr(self, name))
        if self.verbose != "auto":
            check_bool("verbose", self.verbose, ' or "auto"')
        check_jobs(self.n_jobs)
        if isinstance(self.init, str):
            check_choice("init", self.init, list(ROUNDS), " or an array of labels or of chosen features")
        if not (isinstance(self.n_init, str) and self.n_init == "auto"):
            check_count("n_init", self.n_init, 1, advice='Or use "auto".')

    def _solve(self, source: Source, size: int | None, rng: np.random.Generator) -> tuple[Climb, GapCurve | None]:
        """The climb to return, by way of a sample of the items where there are many."""
        problem = Problem(NumericFeatures(source), KMeans(), int(self.n_clusters), int(self.max_iter))
        sample = None
        if self.subsample is not None and source.items.size > self.subsample and isinstance(self.init, str):
            sample = draw_sample(source, self.subsample, problem.n_clusters, size or 1, rng)
        if sample is None:
            return self._search(problem, source, size, rng)
        on_sample = problem._replace(features=NumericFeatures(sample.source))
        found, curve = self._search(on_sample, sample.source, size, rng)
        labels = spread(problem, sample, found)
        return climb(problem, labels, found.subset.size, rng), curve

    def _search(
        self, problem: Problem, source: Source, size: int | None, rng: np.random.Generator
    ) -> tuple[Climb, GapCurve | None]:
        """The best climb at the given size, or at the one that the gap statistic chooses."""
        n_jobs = self.n_jobs if source.items.size * source.columns.size >= THREADS_PAY else 1
        workers = Workers(n_jobs, Progress(self.verbose))
        init, n_init, known = self._starts(problem, source, rng)
        curve = None
        if size is None:
            curve, known = choose_size(
                problem,
                rng,
                search=self.search,
                kind=self.gap,
                rule=self.rule,
                step=self.step,
                effort=Effort(init, n_init, known, self.n_permutations, self.null),
                workers=workers,
            )
            size = curve.chosen
        pool = search_size(problem, size, rng, init=init, n_init=n_init, known=known, workers=workers)
        return (consensus(problem, pool, rng) if self.consensus else pool.best), curve

    def _starts(self, problem: Problem, source: Source, rng: np.random.Generator) -> tuple[str, NInit, list[Labels]]:
        """Kind and number of fresh starts, and the labels to start from where they are given."""
        if isinstance(self.init, str):
            return self.init, self.n_init, []
        n, p = source.values.shape
        given = np.asarray(self.init)
        if given.dtype == bool and given.shape == (p,):
            subset = np.flatnonzero(given[source.columns])
            if subset.size:
                return "auto", 0, [problem.cluster(subset, rng)]
        if given.dtype.kind in "iu" and given.shape == (n,):
            names, labels = np.unique(given[source.items], return_inverse=True)
            if names.size == problem.n_clusters:
                return "auto", 0, [labels.astype(np.int32)]
        raise ValueError(
            f"init as an array must be {n} whole numbers that name all {problem.n_clusters} clusters, or {p} booleans "
            f"of which one chooses a column that is not constant; got {given.dtype} of shape {given.shape}."
        )

    def _store(self, X: Table, source: Source, found: Climb, curve: GapCurve | None) -> None:
        """Back to the user's order of rows and columns; clusters from the largest to the smallest."""
        n, p = X.shape
        sizes = np.bincount(found.labels, minlength=self.n_clusters)
        rank = np.empty(sizes.size, np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
        self.labels_ = np.empty(n, np.intp)
        self.labels_[source.items] = rank[found.labels]
        self.support_ = np.zeros(p, bool)
        self.support_[source.columns[found.subset]] = True
        self.feature_scores_ = np.zeros(p)
        self.feature_scores_[source.columns] = found.scores
        self.objective_ = found.objective
        self.history_ = found.history
        self.n_iter_ = len(found.history)
        self.gap_curve_ = curve
        self.cluster_centers_, self._spread = centres_and_spread(X, self.labels_, int(self.n_clusters))
        self._scale = self._spread if self.standardize else np.ones(p)


def centres_and_spread(X: Table, labels: npt.NDArray[np.intp], k: int) -> tuple[Floats, Floats]:
    """Mean of every column in every cluster, and the standard deviation of every column.

    Sums are of differences to the first row in units of the largest, so that a small spread about a large value keeps
    its digits and no square is out of range.
    """
    n = len(X)
    origin = X[0].astype(np.float64)
    unit = np.maximum(X.max(axis=0) - origin, origin - X.min(axis=0))
    unit[unit == 0] = 1.0
    sums, squares = np.zeros((k, X.shape[1])), np.zeros(X.shape[1])
    block = max(1, BLOCK_VALUES // X.shape[1])
    for first in range(0, n, block):
        shifted = (X[first : first + block] - origin) / unit
        squares += (shifted**2).sum(axis=0)
        sums += (labels[first : first + block] == np.arange(k)[:, None]).astype(np.float64) @ shifted
    variance = squares / n - (sums.sum(axis=0) / n) ** 2
    centres = origin + unit * (sums / np.bincount(labels, minlength=k)[:, None])
    return centres, unit * np.sqrt(np.maximum(variance, 0.0))
