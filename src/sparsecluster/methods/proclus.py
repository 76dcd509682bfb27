"""PROCLUS: medoids whose clusters have features of their own (Aggarwal, Procopiuc, Wolf, Yu and Park, 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.reading import Reading
from .._kernels.segmental import distances_from
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_bool, check_count, check_number, is_auto
from .._utils.parameters import rng_of
from .._utils.progress import Progress, Verbosity
from .._utils.text import brief
from ._base import SparseClusterer
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._projected import FEWEST, Climb, candidates_of, climb, distances_to, information, nearest_of, values_to_compare
from ._result import Array, Order, Result, have_shapes, placed
from ._screening import spreads

# The largest number of runs by which values of `n_dimensions` are compared; the chosen one is run `n_init` times.
TUNING_RUNS = 5


class ProjectedMedoids(NamedTuple):
    """Medoids in the chosen columns, after standardization, and which of these columns belong to which cluster.

    `own` is 1 for columns of the cluster and 0 for others, and `typical` has the mean deviation of the samples of `fit`
    from their mean in each column.
    """

    origin: Floats
    units: Floats
    medoids: Floats
    own: Floats
    typical: Floats

    def _apart(self, values: Sequence[Any]) -> tuple[Floats, Labels]:
        at = placed(np.column_stack(values), self.origin, self.units)
        apart = distances_to(at, self.medoids, self.own > 0)
        return apart, nearest_of(apart, np.column_stack([distances_from(at, medoid) for medoid in self.medoids]))

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the nearest medoid of each sample."""
        return self._apart(values)[1].astype(np.intp)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of the distances to the nearest medoid / sum of the typical deviations in the features of it."""
        apart, labels = self._apart(values)
        without = (self.own @ self.typical / self.own.sum(axis=1))[labels]
        return float(1.0 - apart.min(axis=1).sum() / without.sum())

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        columns = ((each, (n_chosen,)) for each in (self.origin, self.units, self.typical))
        is_shaped = have_shapes(*columns, (self.medoids, (k, n_chosen)), (self.own, (k, n_chosen)))
        return is_shaped and bool(np.isin(self.own, (0.0, 1.0)).all() and self.own.any(axis=1).all())


class PROCLUS(CompleteNumbers, NearestCluster, SparseClusterer):
    """PROCLUS: projected clustering, in which every cluster has features of its own (Aggarwal et al., 1999).

    Every cluster i has a medoid m_i, which is one of the samples, and a set D_i of features in which its samples are
    close to each other. A sample belongs to the medoid with the smallest segmental distance

        d_i(x) = (1/|D_i|) sum_{a in D_i} |x_a - m_ia|.

    The medoids and features are sought for which the mean deviation of the samples from the centroids c_i,

        (1/n) sum_i |C_i| w_i,   w_i = (1/|D_i|) sum_{a in D_i} mean_{x in C_i} |x_a - c_ia|,

    is small, where the sets D_i have k l features in total and at least two each.

    1. Candidates for the medoids are samples that are far from each other: B k samples, each the one farthest from
       those before, among A k random samples.
    2. The features of k medoids are those in which the samples around a medoid, which are no farther from it than the
       nearest other medoid, deviate least from it. With X_ia their mean deviation, and Y_i and s_i the mean and the
       standard deviation of X_i1, ..., X_ip, these are the features with the smallest (X_ia - Y_i) / s_i.
    3. Medoids of clusters that are too small are replaced by other candidates, until this does not reduce the objective
       any more.
    4. The features are chosen once more, from the clusters instead of the samples around the medoids, and the samples
       are assigned to them.

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
        Agreement that the core features must reach; see `SASClustering`. The core is sought by K-means, which uses the
        same features for all clusters and therefore may not find clusters that have features of their own.
    n_dimensions : "auto" or float, default="auto"
        Average number l of features per cluster, at least 2; k l is rounded to a whole number. "auto" chooses among up
        to 12 whole numbers from 2 to p by a Bayesian information criterion, each with up to 5 runs; see Notes. The
        paper assumes that l is known.
    min_deviation : float, default=0.1
        A medoid is replaced if its cluster has fewer than n / k times this share of samples, in [0, 1]. The medoid of
        the smallest cluster is always replaced.
    sample_factor : int, default=30
        The number A of random samples per cluster, among which candidates for the medoids are sought.
    medoid_factor : int, default=3
        The number B of candidates per cluster.
    outliers : bool, default=False
        Whether samples that lie outside the spheres of influence of all medoids are left out of the clusters and get
        the label -1. The sphere of a medoid reaches to the nearest other medoid, in the features of its cluster. In
        either case, `is_outlier_` tells which samples these are.
    standardize : bool, default=True
        Whether to scale all features to variance 1. The method assumes that deviations in different features can be
        compared.
    n_init : int, default=10
        Number of runs, each with its own candidates. The one with the smallest objective is returned.
    max_iter : int, default=20
        A run ends after this many sets of medoids that are not better than the best one before.
    random_state : int, RandomState instance or None, default=0
        Seed of the random samples and medoids.
    verbose : bool or "auto", default="auto"
        Whether to show progress; see `SASClustering`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    cluster_features_ : ndarray of shape (n_clusters, n_features), dtype=bool
        Features of each cluster.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the features of all clusters together, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0. A feature in which one cluster is narrow may have a low score.
    medoids_ : ndarray of shape (n_clusters,)
        Row of X that is the medoid of each cluster.
    is_outlier_ : ndarray of shape (n_samples,), dtype=bool
        Whether each sample lies outside the spheres of all medoids, or was left out by `trim`.
    n_dimensions_ : float
        Average number of features per cluster.
    bic_curve_ : TuningCurve or None
        The criterion over the values of `n_dimensions`, or None if it was given.
    objective_ : float
        The objective of the result, in standard deviations if `standardize=True` and in the units of X otherwise.
    n_iter_ : int
        Number of sets of medoids that were tried in the best run.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    `n_dimensions="auto"` runs the method for every l and chooses the one with the largest

        sum_i sum_{a in D_i} (n_i (log(t_a / y_ia) + y_ia / t_a - 1) - log(n) / 2),

    where t_a and y_ia are the mean deviations in feature a of all samples and of the n_i samples of cluster i. This is
    the gain in log likelihood from the deviations of single clusters, if deviations follow a Laplace distribution,
    minus the price of the parameters. It is not part of the publication.

    Distances in all features, by which candidates and the samples around a medoid are found, are Manhattan distances.
    If a sample is equally far from several medoids, it belongs to the one that is nearest in all features, so that no
    cluster is empty.

    References
    ----------
    C. C. Aggarwal, C. Procopiuc, J. L. Wolf, P. S. Yu and J. S. Park, "Fast algorithms for projected clustering",
    Proceedings of the ACM SIGMOD International Conference on Management of Data (1999), 61-72.

    Examples
    --------
    Two clusters, which are narrow in different features:

    >>> import numpy as np
    >>> from sparsecluster import PROCLUS
    >>> X = np.random.default_rng(0).uniform(size=(60, 6))
    >>> X[:30, :2] = 0.2 + 0.05 * X[:30, :2]
    >>> X[30:, 2:5] = 0.7 + 0.05 * X[30:, 2:5]
    >>> found = PROCLUS(n_clusters=2, n_dimensions=2.5).fit(X)
    >>> found.cluster_features_.astype(int)
    array([[1, 1, 0, 0, 0, 0],
           [0, 0, 1, 1, 1, 0]])
    >>> [np.unique(found.labels_[part]).tolist() for part in (slice(30), slice(30, 60))]
    [[0], [1]]
    """

    _any_unit = True

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        n_dimensions: float | str = "auto",
        min_deviation: float = 0.1,
        sample_factor: int = 30,
        medoid_factor: int = 3,
        outliers: bool = False,
        standardize: bool = True,
        n_init: int = 10,
        max_iter: int = 20,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.n_dimensions = n_dimensions
        self.min_deviation = min_deviation
        self.sample_factor = sample_factor
        self.medoid_factor = medoid_factor
        self.outliers = outliers
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        for name in ("sample_factor", "medoid_factor", "n_init"):
            check_count(name, getattr(self, name), 1)
        check_number("min_deviation", self.min_deviation, "a share in [0, 1]", lambda x: 0 <= x <= 1)
        check_bool("outliers", self.outliers)
        if not is_auto(self.n_dimensions):
            allowed = f'"auto" or a number of at least {FEWEST}'
            advice = 'Use "auto" to choose it.'
            check_number("n_dimensions", self.n_dimensions, allowed, lambda x: FEWEST <= x < np.inf, advice)

    def _solve(self, reading: Reading, k: int) -> Result:
        raw = self._complete_table(reading)
        totals = self._totals(reading, k)
        origin = raw.mean(axis=0)
        # One unit for all columns keeps the sums of very large or small values finite and different from zero.
        unit = 1.0 if self.standardize else float(np.abs(raw - origin).max())
        units = spreads(raw) if self.standardize else np.full(origin.size, unit)
        table = (raw - origin) / units
        typical = np.abs(table).mean(axis=0)
        seeds = rng_of(self.random_state).integers(2**31, size=(int(self.n_init), 2)).tolist()
        curve = None
        if is_auto(self.n_dimensions):
            runs = self._runs(table, k, totals, seeds[:TUNING_RUNS])
            scores = np.array([information(table, each.found.labels, each.found.own, typical) for each in runs])
            curve = TuningCurve("n_dimensions", np.array(totals) // k, "bic", scores, totals[scores.argmax()] // k)
            totals = [totals[curve.place]]
        (best,) = self._runs(table, k, totals, seeds)
        found, subset = best.found, np.flatnonzero(best.found.own.any(axis=0))

        def clusters(order: Order) -> ProjectedMedoids:
            by_cluster = table[best.medoids], found.own.astype(np.float64)
            medoids, own = (order.restore(Array(each, ("cluster", None)))[:, order.chosen] for each in by_cluster)
            place, scale, usual = (each[order.chosen] for each in (origin, units, typical))
            return ProjectedMedoids(place, scale, medoids, own, usual)

        arrays = {
            "cluster_features_": Array(found.own, ("cluster", "feature")),
            "medoids_": Array(reading.source.samples[best.medoids], ("cluster",)),
            "is_outlier_": Array(best.outside, ("sample",), True),
        }
        attributes = {
            "n_dimensions_": float(found.own.sum() / k),
            "bic_curve_": curve,
            "objective_": found.objective * unit,
            "n_iter_": best.n_tries,
        }
        outside = best.outside if self.outliers and best.outside.any() else None
        features = reading.source.features()
        return Result(features, found.labels, subset, k, None, arrays, attributes, clusters, outside=outside)

    def _totals(self, reading: Reading, k: int) -> list[int]:
        """Return the numbers of features of all clusters together that are tried."""
        if is_auto(self.n_dimensions):
            return [k * int(size) for size in values_to_compare(reading.n_usable)]
        given = float(self.n_dimensions)
        if given > reading.n_columns:
            raise ValueError(
                f"n_dimensions must be at most {reading.n_columns}, the number of columns of X; got "
                f'{brief(self.n_dimensions)}. Use "auto" to choose it.'
            )
        # Some columns may be constant, in X or in a part of its samples. Then there may be fewer, and all are taken.
        return [round(k * given)]

    def _runs(self, table: Floats, k: int, totals: Sequence[int], seeds: Sequence[Sequence[int]]) -> list[Climb]:
        """Return the best of several runs for each number of features."""
        best: dict[int, Climb] = {}
        sizes = k * int(self.sample_factor), k * int(self.medoid_factor)
        for first, second in Progress(self.verbose).track(seeds, "runs", len(seeds)):
            candidates = candidates_of(table, k, *sizes, np.random.default_rng(first))
            for total in totals:
                rng = np.random.default_rng(second)
                run = climb(candidates, k, total, int(self.max_iter), float(self.min_deviation), rng)
                if total not in best or run.found.objective < best[total].found.objective:
                    best[total] = run
        return [best[total] for total in totals]

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Assign samples to the medoid with the smallest segmental distance, in the features of its cluster.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample, also of samples outside the spheres of all medoids.
        """
        return super().predict(X)

    def score(self, X: Any, y: None = None) -> float:
        """Return the share of the deviations that the nearest medoids explain, in the features of their clusters.

        The score is

            1 - sum_i d(i) / sum_i t(i),

        where d(i) is the segmental distance of sample i to the nearest medoid, and t(i) is the mean deviation of the
        samples of `fit` from their mean, in the features of that medoid's cluster.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples, as in `predict`.
        y : None
            Ignored.

        Returns
        -------
        score : float
            The explained share. The best value is 1.
        """
        return super().score(X)
