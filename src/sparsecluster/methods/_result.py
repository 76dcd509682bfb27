"""The result of a fit, and the only place where it is put back in the user's order of samples, columns and clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._data.reading import Reader, Reading
from .._data.source import places_of
from .._features.features import Features
from .._utils.arrays import Floats, Labels, Subset

Axis = Literal["sample", "feature", "cluster"] | None
# The label of samples that belong to no cluster, as in scikit-learn.
OUTLIER = -1
# The largest value of a new sample in the units of the clusters: its square and sums of squares must be finite.
FARTHEST = 1e100


class NoClustersError(ValueError):
    """The error of a method that finds no clusters in a table, for example because no feature separates any."""


class Clusters(Protocol):
    """The clusters in a form that allows new samples to be assigned to them."""

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the nearest cluster of each sample, given the values of the chosen columns."""

    def explained(self, values: Sequence[Any]) -> float:
        """Return the share of the variation of the chosen features that the nearest clusters explain."""


class SoftClusters(Clusters, Protocol):
    """Clusters to which samples belong with a probability."""

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample, of shape (n_samples, n_clusters)."""


def have_shapes(*expected: tuple[Any, tuple[int, ...]]) -> bool:
    """Whether arrays, each given with the shape that it must have, are arrays of these shapes.

    >>> have_shapes((np.zeros(3), (3,)), (np.zeros((2, 3)), (2, 3)))
    True
    """
    return all(isinstance(array, np.ndarray) and array.shape == shape for array, shape in expected)


def placed(table: Any, origin: Floats, units: Floats) -> Floats:
    """Samples in the units of the clusters; none is so far away that the square of its distance would overflow.

    >>> placed(np.array([[3.0], [1e300]]), np.array([1.0]), np.array([2.0])).tolist()
    [[1.0], [1e+100]]
    """
    with np.errstate(over="ignore"):
        return np.clip((np.asarray(table, dtype=np.float64) - origin) / units, -FARTHEST, FARTHEST)


class Kept(NamedTuple):
    """What a fitted estimator stores in addition to its public attributes.

    Attributes
    ----------
    reader : Reader
        Reads new samples.
    clusters : Clusters or None
        Assigns new samples to the clusters. None if the method cannot do this.
    n_chosen, n_features : int
        Number of chosen features and of all features.
    n_left_out : int
        Number of columns that are constant or missing too often.
    sizes : tuple of int
        Number of samples in each cluster.
    """

    reader: Reader
    clusters: Clusters | None
    n_chosen: int
    n_features: int
    n_left_out: int = 0
    sizes: tuple[int, ...] = ()


class Array(NamedTuple):
    """An array whose axes correspond to samples, features or clusters, or to none of these (None).

    For example, soft memberships have the axes ("sample", "cluster"), and features of single clusters have the axes
    ("cluster", "feature"). `fill` is the value for samples and columns that were left out.
    """

    values: npt.NDArray[Any]
    axes: tuple[Axis, ...]
    fill: float = 0.0


@dataclass(frozen=True)
class Result:
    """What a method has found, with samples and features in the order of the source.

    Attributes
    ----------
    features : Features
        The features that were clustered.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    subset : ndarray of shape (n_chosen,)
        Indices of the chosen features.
    n_clusters : int
        Number of clusters.
    weights : ndarray of shape (n_features,) or None
        Weight of each feature, or None if the method has no weights.
    arrays : dict of str to Array
        Other attributes whose axes correspond to samples, features or clusters.
    attributes : dict of str to Any
        Other attributes, which are set unchanged: the objective, tuning curves, chosen parameters.
    clusters : callable or None
        Function that takes the `Order` and returns the object that assigns new samples to the clusters.
    others : sequence of (Result, float or None)
        Other clusterings, and the criterion by which they were ranked.
    scores : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature. Computed from the features if it is not given.
    outside : ndarray of shape (n_samples,), dtype=bool, or None
        Samples that the method itself leaves out of its clusters; `labels` has the nearest cluster of these. They are
        left out of the sizes, scores and centers as well, and must not be all samples of a cluster. None if there are
        none. A method that leaves samples out needs `clusters` of its own if it predicts.
    """

    features: Features
    labels: Labels
    subset: Subset
    n_clusters: int
    weights: Floats | None = None
    arrays: Mapping[str, Array] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    clusters: Callable[[Order], Clusters] | None = None
    others: Sequence[tuple[Result, float | None]] = ()
    scores: Floats = None  # type: ignore[assignment]
    outside: npt.NDArray[np.bool_] | None = None

    def with_attributes(self, arrays: Mapping[str, Array] | None = None, **attributes: Any) -> Result:
        """Return the same result with more attributes."""
        return replace(self, arrays={**self.arrays, **(arrays or {})}, attributes={**self.attributes, **attributes})

    @property
    def sizes(self) -> Subset:
        """Number of samples in each cluster."""
        return np.bincount(self.labels[self.inside], minlength=self.n_clusters)

    def labels_in(self, order: Order) -> Any:
        """Return the labels in the user's order of samples and clusters; -1 for samples in no cluster."""
        labels = np.full(self.labels.size, OUTLIER)
        labels[self.inside] = order.clusters[self.labels[self.inside]]
        return order.restore(Array(labels, ("sample",), OUTLIER))

    def centers_in(self, order: Order) -> npt.NDArray[Any] | None:
        """Return the center of each column in each cluster, in the user's order and units; None if there is none."""
        return order.reading.source.centers(self.labels_in(order), self.n_clusters)

    @property
    def inside(self) -> Subset:
        """Places of the samples that are in a cluster."""
        return np.arange(self.labels.size) if self.outside is None else np.flatnonzero(~self.outside)

    def __post_init__(self) -> None:
        if self.scores is None:
            object.__setattr__(self, "scores", self.features.scores(self.labels, self.n_clusters))


class Order(NamedTuple):
    """How samples, columns and clusters are put from the order of the search into the user's order.

    Attributes
    ----------
    reading : Reading
        The reading, which holds the positions of the samples and columns.
    clusters : ndarray of shape (n_clusters,)
        New number of each cluster; the largest cluster gets 0.
    chosen : ndarray of shape (n_chosen_columns,)
        Feature of each chosen column, in the user's order of columns.
    chosen_columns : ndarray of shape (n_chosen_columns,)
        Positions of these columns among the columns of the source.
    """

    reading: Reading
    clusters: Subset
    chosen: Subset
    chosen_columns: Subset

    @classmethod
    def of(cls, reading: Reading, found: Result) -> Order:
        """Return the order that belongs to a result."""
        k = found.n_clusters
        names = np.empty(k, np.intp)
        names[np.argsort(-found.sizes, kind="stable")] = np.arange(k)
        source = reading.source
        places = places_of(source, found.subset)
        places = places[np.argsort(source.columns[places])]
        return cls(reading, names, source.owners[places], places)

    def restore(self, array: Array) -> npt.NDArray[Any]:
        """Return an array with all its axes in the user's order."""
        values = array.values
        for axis, follows in enumerate(array.axes):
            values = self._along(values.swapaxes(axis, 0), follows, array.fill).swapaxes(axis, 0)
        return np.ascontiguousarray(values)

    def by_column(self, values: Floats, fill: float = 0.0) -> Floats:
        """Return values given per feature as values per column of the user's table."""
        return self.restore(Array(values, ("feature",), fill))

    def _along(self, values: npt.NDArray[Any], follows: Axis, fill: float) -> npt.NDArray[Any]:
        source = self.reading.source
        if follows is None:
            return values
        if follows == "feature":
            restored = np.full((self.reading.n_columns, *values.shape[1:]), fill, dtype=values.dtype)
            restored[source.columns] = values[source.owners]
            return restored
        places, count = self.clusters, len(values)
        if follows == "sample":
            places, count = source.samples, self.reading.n_samples
        restored = np.full((count, *values.shape[1:]), fill, dtype=values.dtype)
        restored[places] = values
        return restored
