"""Few dimensions instead of many features: principal components or metagenes, and the clusters found there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA

from .._data.centers import means
from .._mixtures.gaussian import Mixture, Setting, best_complete, bic_of, by_cluster
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels, Subset
from ._nmf import amounts_of, ranks, unit_length
from ._result import Order, have_shapes, placed
from .raftery_dean import GaussianComponents, components

How = Literal["pca", "shift", "ranks"]
# With more samples and features than this, only the leading components are computed, by an iteration.
EXACT = 1000
# Components whose length is below this share of the longest one are considered rounding errors.
RANK = 1e-8
# Points count as different if they differ by more than this share of the largest coordinate.
DIFFERENT = 1e-9


class Reduction(NamedTuple):
    """How samples are placed in few dimensions.

    Attributes
    ----------
    how : {"pca", "shift", "ranks"}
        Principal components, or metagenes of a table made nonnegative by shifting features or by ranks.
    is_unit : bool
        Whether the amounts of metagenes are scaled to unit length.
    origin, units : ndarray of shape (n_features,)
        Zero and unit of each feature; not used for ranks.
    components : ndarray of shape (n_components, n_features)
        Directions of the principal components, or metagenes.
    """

    how: How
    is_unit: bool
    origin: Floats
    units: Floats
    components: Floats

    def scaled(self, table: Floats) -> Floats:
        """Return the table that is reduced."""
        if self.how == "ranks":
            return ranks(table)
        scaled = placed(table, self.origin, self.units)
        return scaled if self.how == "pca" else np.maximum(scaled, 0.0)

    def embed(self, table: Floats) -> Floats:
        """Place samples, given their original values."""
        scaled = self.scaled(table)
        if self.how == "pca":
            return scaled @ self.components.T
        amounts = amounts_of(scaled, self.components)
        return unit_length(amounts) if self.is_unit else amounts

    def chosen(self, order: Order) -> Reduction:
        """Return the reduction for the columns in the user's order."""
        places = order.chosen
        parts = self.origin[places], self.units[places], np.ascontiguousarray(self.components[:, places])
        return Reduction(self.how, self.is_unit, *parts)


def principal(scaled: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the directions of the principal components, and the share of the variance along each.

    There are no more than the rank of the table. All of them are computed, unless the table is large: then `most`.
    """
    is_large = min(scaled.shape) > EXACT and most < min(scaled.shape) // 2
    options: dict[str, Any] = {"svd_solver": "arpack", "random_state": 0} if is_large else {"svd_solver": "full"}
    found = PCA(most if is_large else None, **options).fit(scaled)
    real = found.singular_values_ > RANK * found.singular_values_[0]
    return found.components_[real], found.explained_variance_ratio_[real]


def first_equal(table: Floats) -> Subset:
    """Return the first row that is equal to each row."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), place) for place, row in enumerate(table)], dtype=np.intp)


def are_distinct(points: Floats, k: int) -> bool:
    """Whether at least k points are different."""
    unit = DIFFERENT * (np.abs(points).max() or 1.0)
    return len(np.unique(np.round(points / unit), axis=0)) >= k


def variance_curve(shares: Floats, required: float) -> TuningCurve:
    """Return the share of the variance along the first components, and the fewest whose share is enough."""
    score = np.cumsum(shares)
    # The last sum may fall short of 1 by a rounding error.
    enough = np.append(score[:-1] >= required, True)
    details = {"required": np.full(score.size, required)}
    tried = np.arange(1, score.size + 1)
    return TuningCurve("n_components", tried, "share of variance", score, int(tried[enough.argmax()]), None, details)


class Placed(NamedTuple):
    """Samples in the reduced space.

    Attributes
    ----------
    reduction : Reduction
        How they were placed.
    points : ndarray of shape (n_samples, n_components)
        Their coordinates.
    curve : TuningCurve or None
        How the number of components was chosen.
    n_iter : int or None
        Number of steps of the factorization.
    mixtures : dict of int to Mixture
        Mixtures that have been fitted already, by the number of components.
    """

    reduction: Reduction
    points: Floats
    curve: TuningCurve | None
    n_iter: int | None = None
    mixtures: Mapping[int, Mixture] = MappingProxyType({})


# ---------------------------------------------------------------- the clusters


class ReducedClusters(NamedTuple):
    """The reduction, and the clusters as Gaussians in the reduced space."""

    reduction: Reduction
    gaussians: GaussianComponents

    def _placed(self, values: Sequence[Any]) -> Sequence[Any]:
        return list(self.reduction.embed(np.column_stack(values)).T)

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample."""
        return self.gaussians.memberships(self._placed(values))

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the most probable cluster of each sample."""
        return self.gaussians.nearest(self._placed(values))

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the cluster's center / to the center of all, in the reduced space."""
        return self.gaussians.explained(self._placed(values))

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the parts, which may come from a file, belong together."""
        reduction, gaussians = self.reduction, self.gaussians
        if not isinstance(reduction, Reduction) or not isinstance(gaussians, GaussianComponents):
            return False
        arrays = (*reduction[2:], *gaussians)
        if not all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in arrays):
            return False
        q = gaussians.origin.size
        return (
            reduction.how in ("pca", "shift", "ranks")
            and isinstance(reduction.is_unit, bool)
            and have_shapes((reduction.origin, (n_chosen,)), (reduction.units, (n_chosen,)))
            and have_shapes((reduction.components, (q, n_chosen)))
            and gaussians.is_for(q, k)
        )


def clusters_of(placed: Placed, found: Mixture, order: Order) -> ReducedClusters:
    """Return a mixture of the points, centered at their mean, with columns and clusters in the user's order."""
    q = placed.points.shape[1]
    gaussians = components(found, np.arange(q), order, placed.points.mean(axis=0), np.ones(q))
    return ReducedClusters(placed.reduction.chosen(order), gaussians)


def fit_mixture(points: Floats, setting: Setting) -> Mixture:
    """Fit a mixture of Gaussians to points, which are centered first."""
    return best_complete(np.ascontiguousarray((points - points.mean(axis=0)).T), setting)


def evidence(found: Mixture, points: Floats) -> float:
    """Return the BIC of a mixture less that of one Gaussian for each coordinate."""
    n, q = points.shape
    alone = -0.5 * n * float((np.log(2.0 * np.pi * points.var(axis=0)) + 1.0).sum())
    return found.bic - bic_of(alone, 2 * q, n)


def nearest_centers(points: Floats, labels: Labels, k: int) -> Mixture:
    """Return a mixture whose most probable cluster is the one with the nearest center."""
    centers = means(points, labels, k) - points.mean(axis=0)
    return Mixture("EII", -np.inf, np.full(k, 1.0 / k), centers, np.ones(centers.shape), by_cluster(labels, k), True, 0)
