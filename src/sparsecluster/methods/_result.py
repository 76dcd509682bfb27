"""What a fit ends with, and the one place where it is put back in the user's order of samples, columns and clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._data.reading import Reader, Reading
from .._features.base import Floats, Labels, Subset

Axis = Literal["sample", "feature", "cluster"] | None


class Clusters(Protocol):
    """Where the clusters are, so that new samples can be assigned to them."""

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """The nearest cluster of every sample, by the values of the chosen columns."""

    def explained(self, values: Sequence[Any]) -> float:
        """Share of the spread of the chosen features that the nearest clusters explain."""


class Kept(NamedTuple):
    """What a fitted estimator keeps for itself, besides its attributes.

    Attributes
    ----------
    reader : how new samples are read.
    clusters : what assigns them to the clusters; None for methods that cannot.
    n_chosen, n_features : number of selected features and of all features.
    """

    reader: Reader
    clusters: Clusters | None
    n_chosen: int
    n_features: int


class Array(NamedTuple):
    """An array whose axes follow samples, features or clusters; None for an axis of its own.

    Soft memberships are ("sample", "cluster"), features of single clusters ("cluster", "feature"). `fill` is the value
    for columns that were left out.
    """

    values: npt.NDArray[Any]
    axes: tuple[Axis, ...]
    fill: float = 0.0


@dataclass(frozen=True)
class Result:
    """What a method found, in the order in which the source gives samples and features.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    subset : ndarray of shape (n_chosen,)
        The chosen features.
    scores : ndarray of shape (n_features,)
        1 - Delta_a[C] / T_a of every feature.
    weights : ndarray of shape (n_features,) or None
        How many times every feature counts, if the method has weights.
    arrays : dict of str to Array
        Other attributes that follow samples, features or clusters.
    attributes : dict of str to Any
        Other attributes, set as they are: the objective, curves, chosen parameters.
    clusters : callable or None
        Makes, from the `Order`, what assigns new samples to the clusters.
    """

    labels: Labels
    subset: Subset
    scores: Floats
    weights: Floats | None = None
    arrays: Mapping[str, Array] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    clusters: Callable[[Order], Clusters] | None = None


class Order(NamedTuple):
    """From the order of a search to the user's.

    Attributes
    ----------
    reading : the reading, which knows the places of samples and columns.
    clusters : clusters[c] is the name that cluster c gets: 0 for the largest.
    chosen : chosen[j] is the feature of the j-th chosen column of the user.
    chosen_columns : their places among the source's columns.
    """

    reading: Reading
    clusters: Subset
    chosen: Subset
    chosen_columns: Subset

    @classmethod
    def of(cls, reading: Reading, labels: Labels, subset: Subset, k: int) -> Order:
        """The order of a result."""
        names = np.empty(k, np.intp)
        names[np.argsort(-np.bincount(labels, minlength=k), kind="stable")] = np.arange(k)
        source = reading.source
        places = np.flatnonzero(np.isin(source.owners, subset))
        places = places[np.argsort(source.columns[places])]
        return cls(reading, names, source.owners[places], places)

    def restore(self, array: Array) -> npt.NDArray[Any]:
        """An array in the user's order, axis by axis."""
        values = array.values
        for axis, follows in enumerate(array.axes):
            values = np.moveaxis(self._along(np.moveaxis(values, axis, 0), follows, array.fill), 0, axis)
        return np.ascontiguousarray(values)

    def by_column(self, values: Floats, fill: float = 0.0) -> Floats:
        """What is known of each feature, for each of the user's columns that belong to it."""
        return self.restore(Array(values, ("feature",), fill))

    def _along(self, values: npt.NDArray[Any], follows: Axis, fill: float) -> npt.NDArray[Any]:
        source = self.reading.source
        if follows is None:
            return values
        if follows == "feature":
            restored = np.full((self.reading.n_columns, *values.shape[1:]), fill, dtype=values.dtype)
            restored[source.columns] = values[source.owners]
            return restored
        places = source.samples if follows == "sample" else self.clusters
        restored = np.empty_like(values)
        restored[places] = values
        return restored
