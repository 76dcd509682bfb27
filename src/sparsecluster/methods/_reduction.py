"""Few dimensions instead of many features: principal components or metagenes, and the clusters found there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA

from .._data.centers import means
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Labels, Subset
from ._nmf import amounts_of, ranks, unit_length
from ._reduced_mixtures import Gaussians, Mixture
from ._result import Array, Order, have_shapes

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
        scaled = (table - self.origin) / self.units
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
    """The reduction, the clusters in the reduced space, and the mean of all samples there."""

    reduction: Reduction
    gaussians: Gaussians
    middle: Floats

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample."""
        return self.gaussians.memberships(self.reduction.embed(np.column_stack(values)))

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the most probable cluster of each sample."""
        return self.memberships(values).argmax(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """1 - sum of squared distances to the cluster's center / to the center of all, in the reduced space."""
        points = self.reduction.embed(np.column_stack(values))
        centers = self.gaussians.centers[self.gaussians.memberships(points).argmax(axis=1)]
        return float(1.0 - ((points - centers) ** 2).sum() / ((points - self.middle) ** 2).sum())

    @classmethod
    def ordered(cls, reduction: Reduction, gaussians: Gaussians, points: Floats, order: Order) -> ReducedClusters:
        """Return what was found with columns and clusters in the user's order."""
        weights = order.restore(Array(gaussians.weights, ("cluster",)))
        centers = order.restore(Array(gaussians.centers, ("cluster", None)))
        roots = order.restore(Array(gaussians.roots, ("cluster", None, None)))
        return cls(reduction.chosen(order), Gaussians(weights, centers, roots), points.mean(axis=0))

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the parts, which may come from a file, belong together."""
        reduction, gaussians = self.reduction, self.gaussians
        if not isinstance(reduction, Reduction) or not isinstance(gaussians, Gaussians):
            return False
        arrays = (*reduction[2:], *gaussians, self.middle)
        if not all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in arrays):
            return False
        q = self.middle.size
        return (
            reduction.how in ("pca", "shift", "ranks")
            and isinstance(reduction.is_unit, bool)
            and have_shapes((reduction.origin, (n_chosen,)), (reduction.units, (n_chosen,)))
            and have_shapes((reduction.components, (q, n_chosen)), (self.middle, (q,)), (gaussians.weights, (k,)))
            and have_shapes((gaussians.centers, (k, q)), (gaussians.roots, (k, q, q)))
        )


def nearest_centers(points: Floats, labels: Labels, k: int) -> Gaussians:
    """Return Gaussians whose most probable cluster is the one with the nearest center."""
    q = points.shape[1]
    return Gaussians(np.full(k, 1.0 / k), means(points, labels, k), np.broadcast_to(np.eye(q), (k, q, q)).copy())
