"""IF-PCA-HCT: influential features by Kolmogorov-Smirnov and higher criticism, then PCA and K-means (Jin and Wang)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._clusterers.kmeans import kmeans
from .._data.centers import means
from .._features.base import Floats, Rows
from .._utils.checks import check_count
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters, rng_of
from ._base import CompleteNumbers, NearestCluster, SparseClusterer
from ._result import Array, Order, Result
from ._screening import (
    by_higher_criticism,
    higher_criticism,
    ks_statistics,
    ks_test,
    null_statistics,
    spreads,
    standardized,
)

# Singular values below this share of the largest are rounding.
RANK = 1e-10


class Projected(NamedTuple):
    """The chosen features standardized, projected on the leading directions, and the centers of the clusters there."""

    means: Floats
    units: Floats
    directions: Floats
    centers: Floats

    def placed(self, values: Sequence[Any]) -> Floats:
        """Squared distance of every sample to every center."""
        at = ((np.column_stack(values) - self.means) / self.units) @ self.directions
        return ((at[:, None, :] - self.centers) ** 2).sum(axis=2)

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """The nearest center."""
        return self.placed(values).argmin(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squares to the nearest center / sum of squares, in the projection."""
        at = ((np.column_stack(values) - self.means) / self.units) @ self.directions
        return float(1.0 - self.placed(values).min(axis=1).sum() / (at**2).sum())


class IFPCA(CompleteNumbers, NearestCluster, SparseClusterer):
    """IF-PCA-HCT: features that are not normal, chosen by higher criticism; PCA on them; K-means (Jin and Wang, 2016).

    1. Every feature is standardized and compared with the normal distribution by the Kolmogorov-Smirnov statistic
       sqrt(n) sup_x |F_a(x) - Phi(x)|. The statistics get the mean and standard deviation of a simulated null (Efron's
       correction), which then gives p-values.
    2. Features are kept up to the p-value at which higher criticism is largest: with pi the j-th smallest p-value and
       t = j / (p + 1), HC = sqrt(p) (t - pi) / sqrt(t) / sqrt(max(sqrt(n) (t - pi) / t, 0) + 1).
    3. Samples are grouped by K-means on the k - 1 leading left singular vectors of the kept features.

    There is nothing to tune.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of groups k.
    n_init : int, default=30
        Starts of K-means.
    random_state : int, RandomState or None, default=0
        Seed of K-means. The simulated null has its own and is always the same.

    Attributes
    ----------
    labels_ : cluster of every sample; clusters are numbered from the largest to the smallest.
    support_ : mask of the kept features (also `get_support()`).
    feature_scores_ : 1 - Delta_a[C] / T_a of every feature.
    statistics_, p_values_, higher_criticism_ : of every feature; NaN for columns kept out.
    embedding_ : the k - 1 left singular vectors, n x (k - 1); fewer where the kept features have a lower rank.
    cluster_centers_ : mean of every column in every cluster, k x p, in the units of X.

    Notes
    -----
    The null is 100,000 simulated samples of n samples, kept in the user's cache folder ($SPARSECLUSTER_CACHE) for the
    next time. The authors simulate 100 p samples anew in every run.

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
        self, n_clusters: int = 3, *, n_init: int = 30, random_state: int | np.random.RandomState | None = 0
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the influential columns of X and the groups of its rows.

        Parameters
        ----------
        X : array or data frame of n samples x p columns of numbers, without gaps.
        y : ignored.
        """
        check_parameters(vars(self))
        n_init, k = check_count("n_init", self.n_init, 1), int(self.n_clusters)
        rng = rng_of(self.random_state)
        reading = self._reading(X)
        table, n = self._complete_table(reading), reading.n_samples
        with one_thread_blas():
            screening = ks_test(table, null_statistics("ks", n, ks_statistics)[:, 0])
            subset = by_higher_criticism(screening.p_values, n)
            vectors, directions = leading(standardized(table[:, subset]), k - 1)
            labels = kmeans(Rows(vectors, np.ones(vectors.shape[1])), k, rng, n_starts=n_init)
            features = reading.source.features()
            centers = means(vectors, labels, k)

            def clusters(order: Order) -> Projected:
                chosen = table[:, order.chosen]
                own = np.searchsorted(subset, order.chosen)
                placed = order.restore(Array(centers, ("cluster", None)))
                return Projected(chosen.mean(axis=0), spreads(chosen), directions[own], placed)

            arrays = {
                "statistics_": Array(screening.statistics, ("feature",), np.nan),
                "p_values_": Array(screening.p_values, ("feature",), np.nan),
                "higher_criticism_": Array(higher_criticism(screening.p_values, n), ("feature",), np.nan),
                "embedding_": Array(vectors, ("sample", None)),
            }
            scores = features.scores(labels, k)
            return self._keep(reading, features, Result(labels, subset, scores, arrays=arrays, clusters=clusters))


def leading(table: Floats, count: int) -> tuple[Floats, Floats]:
    """The leading left singular vectors u of a table Z, n x count, and V / s, for which Z (V / s) = u."""
    left, lengths, right = np.linalg.svd(table, full_matrices=False)
    real = min(count, int((lengths > lengths[0] * RANK).sum()))
    # The sign of a singular vector is free: the largest entry is made positive.
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])[:real]
    return np.ascontiguousarray(left[:, :real] * signs), (right[:real] / lengths[:real, None]).T * signs
