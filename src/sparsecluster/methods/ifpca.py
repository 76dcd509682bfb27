"""IF-PCA-HCT: features chosen by Kolmogorov-Smirnov and higher criticism, then PCA and K-means (Jin and Wang)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import kmeans
from .._data.centers import means
from .._data.reading import Reading
from .._features.features import Rows
from .._utils.arrays import Floats, Subset
from .._utils.checks import check_count
from .._utils.parameters import rng_of
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._clusters import NClusters
from ._mixins import CompleteNumbers, NearestCluster
from ._result import Array, Order, Result, have_shapes, placed
from ._screening import (
    Screening,
    by_higher_criticism,
    higher_criticism,
    ks_null,
    ks_test,
    spreads,
    standardized,
)

# Singular values below this share of the largest one are considered rounding errors.
RANK = 1e-10


class Projected(NamedTuple):
    """Standardization of the chosen features, the leading directions, and the cluster centers in their projection."""

    means: Floats
    units: Floats
    directions: Floats
    centers: Floats

    def placed(self, values: Sequence[Any]) -> Floats:
        """Return the squared distance of each sample to each center."""
        at = placed(np.column_stack(values), self.means, self.units) @ self.directions
        return ((at[:, None, :] - self.centers) ** 2).sum(axis=2)

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the nearest center of each sample."""
        return self.placed(values).argmin(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the nearest center / total sum of squares, in the projection."""
        at = placed(np.column_stack(values), self.means, self.units) @ self.directions
        return float(1.0 - self.placed(values).min(axis=1).sum() / (at**2).sum())

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        n_directions = np.shape(self.directions)[-1]
        along = (self.directions, (n_chosen, n_directions)), (self.centers, (k, n_directions))
        return have_shapes((self.means, (n_chosen,)), (self.units, (n_chosen,)), *along)


class IFPCA(CompleteNumbers, NearestCluster, SparseClusterer):
    """IF-PCA-HCT: PCA and K-means on features that are not normally distributed (Jin and Wang, 2016).

    1. Each feature is standardized and compared with the normal distribution by the Kolmogorov-Smirnov statistic
       sqrt(n) sup_x |F_a(x) - Phi(x)|. The statistics are rescaled to the mean and standard deviation of a simulated
       null distribution (Efron's correction), from which the p-values are computed.
    2. Features are chosen up to the p-value at which higher criticism is largest: with pi the j-th smallest p-value
       and t = j / (p + 1), HC = sqrt(p) (t - pi) / sqrt(t) / sqrt(max(sqrt(n) (t - pi) / t, 0) + 1).
    3. The samples are clustered by K-means on the k - 1 leading left singular vectors of the chosen features.

    The method has no tuning parameters.

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
    n_init : int, default=30
        Number of starts of K-means.
    random_state : int, RandomState instance or None, default=0
        Seed of K-means. The simulated null distribution has a fixed seed and is always the same.
    verbose : bool or "auto", default="auto"
        Whether to show progress. "auto" shows it on a terminal if the fit takes more than two seconds. With thousands
        of samples, simulating the null distribution takes tens of seconds; it is then kept on disk for later fits.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the chosen features, as returned by `get_support`.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature: the share of the feature that the clusters explain, in [0, 1].
        Constant columns are left out and have score 0.
    statistics_ : ndarray of shape (n_features,)
        Kolmogorov-Smirnov statistic of each feature, and NaN for constant columns.
    p_values_ : ndarray of shape (n_features,)
        P-value of each feature, and NaN for constant columns.
    higher_criticism_ : ndarray of shape (n_features,)
        HC of each feature, and NaN for constant columns.
    embedding_ : ndarray of shape (n_samples, n_clusters - 1)
        The leading left singular vectors. There are fewer of them if the chosen features have a lower rank.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each column in each cluster, in the units of X.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Notes
    -----
    The null distribution consists of 100,000 simulated columns with n samples. It is kept in the user's cache folder,
    which can be changed by the environment variable SPARSECLUSTER_CACHE. The authors simulate 100 p columns in every
    run.

    References
    ----------
    J. Jin and W. Wang, "Influential features PCA for high dimensional clustering", Annals of Statistics 44 (2016),
    2323-2359.

    Examples
    --------
    >>> from sparsecluster import IFPCA, rand_index
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=4.0, n_features=200, n_useful=20, seed=0)
    >>> found = IFPCA(n_clusters=2).fit(X[truth < 2])
    >>> rand_index(truth[truth < 2], found.labels_), int(found.support_[useful].sum())
    (1.0, 11)
    """

    def __init__(
        self,
        n_clusters: NClusters = 3,
        *,
        max_clusters: int | None = None,
        cluster_criterion: str = "auto",
        trim: float = 0.0,
        core_agreement: float | None = 0.9,
        n_init: int = 30,
        random_state: int | np.random.RandomState | None = 0,
        verbose: Verbosity = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.cluster_criterion = cluster_criterion
        self.trim = trim
        self.core_agreement = core_agreement
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def _check(self) -> None:
        super()._check()
        check_count("n_init", self.n_init, 1)

    def _solve(self, reading: Reading, k: int) -> Result:
        table = self._complete_table(reading)
        rng = rng_of(self.random_state)
        screening, subset = influential(table, self.verbose)
        vectors, directions = leading(standardized(table[:, subset]), k - 1)
        labels = kmeans(Rows(vectors, np.ones(vectors.shape[1])), k, rng, n_starts=int(self.n_init))
        centers = means(vectors, labels, k)

        def clusters(order: Order) -> Projected:
            chosen = table[:, order.chosen]
            own = np.searchsorted(subset, order.chosen)
            placed = order.restore(Array(centers, ("cluster", None)))
            return Projected(chosen.mean(axis=0), spreads(chosen), directions[own], placed)

        arrays = {
            "statistics_": Array(screening.statistics, ("feature",), np.nan),
            "p_values_": Array(screening.p_values, ("feature",), np.nan),
            "higher_criticism_": Array(higher_criticism(screening.p_values, len(table)), ("feature",), np.nan),
            "embedding_": Array(vectors, ("sample", None), np.nan),
        }
        return Result(reading.source.features(), labels, subset, k, arrays=arrays, clusters=clusters)


def influential(table: Floats, verbose: Verbosity = "auto") -> tuple[Screening, Subset]:
    """Test each feature by the Kolmogorov-Smirnov statistic, and choose features by higher criticism."""
    screening = ks_test(table, ks_null(len(table), verbose))
    return screening, by_higher_criticism(screening.p_values, len(table))


def leading(table: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the leading left singular vectors u of a table Z, and the matrix V / s, for which Z (V / s) = u."""
    left, lengths, right = np.linalg.svd(table, full_matrices=False)
    real = min(count, int((lengths > lengths[0] * RANK).sum()))
    # The sign of a singular vector is arbitrary, so the largest entry is made positive.
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])[:real]
    return np.ascontiguousarray(left[:, :real] * signs), (right[:real] / lengths[:real, None]).T * signs
