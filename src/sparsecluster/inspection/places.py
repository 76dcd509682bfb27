"""Where samples are among the clusters: the distance to their own, the second-best one, and the silhouette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .._blocks.collections import is_collection
from .._data.profiles import Profiles
from .._utils.arrays import Floats, Subset
from ..methods._result import OUTLIER

# The number of decimals in files.
DECIMALS = 6


class Placed(NamedTuple):
    """Distance of each sample to its cluster, second-best cluster and silhouette; NaN if unknown.

    The distance is computed from the chosen features and their weights. Its unit is the distance of a typical sample to
    the center of all samples. For standardized numbers, it is the root mean square, over the features, of the
    difference from the center of the cluster in standard deviations. The silhouette is simplified to
    (b - a) / max(a, b), where a and b are the distances to the own and to the second-best cluster. It is near 1 for
    samples well inside their cluster, near 0 between two clusters, and negative for samples closer to another cluster.
    For a sample in no cluster, the second-best cluster is the nearest one, the distance is measured to it, and the
    silhouette is NaN.
    """

    distance: Floats
    second: Subset
    silhouette: Floats


class Places(NamedTuple):
    """Where new samples are among the clusters. `place_samples` returns it.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample as `predict` assigns it, and -1 if the sample has no observed value in any of the chosen
        features.
    distance : ndarray of shape (n_samples,) or None
        Distance to the cluster, in the unit of `labels.csv`: the distance of a typical sample of the fit to the center
        of all samples. NaN for samples in no cluster, and None for methods without distances.
    second : ndarray of shape (n_samples,) or None
        The second-nearest cluster or, for mixtures, the second most probable one; -1 if it is unknown. None for methods
        without distances and probabilities.
    silhouette : ndarray of shape (n_samples,) or None
        (b - a) / max(a, b), where a and b are the distances to the nearest and to the second-nearest cluster. It is
        near 1 for samples well inside their cluster and near 0 between two clusters. NaN and None as for `distance`.
    memberships : ndarray of shape (n_samples, n_clusters) or None
        Probability of each cluster; None for methods that are not mixtures.
    """

    labels: Subset
    distance: Floats | None = None
    second: Subset | None = None
    silhouette: Floats | None = None
    memberships: Floats | None = None

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a table with one row per sample, with the same names and decimals as in `labels.csv`.

        Returns
        -------
        columns : dict of str to ndarray of shape (n_samples,)
            "cluster" and, if they are known, "distance", "second_cluster" and "silhouette"; for mixtures "probability",
            which is that of the cluster, and "second_cluster".
        """
        known = {
            "cluster": self.labels,
            "probability": _own(self.memberships, self.labels),
            "distance": self.distance,
            "second_cluster": self.second,
            "silhouette": self.silhouette,
        }
        return {name: _rounded(values) for name, values in known.items() if values is not None}


def place_samples(estimator: Any, X: Any) -> Places:
    """Assign new samples to the clusters, and tell how well each of them belongs to its cluster.

    `predict` returns only the clusters. This function also returns what `labels.csv` has about the samples of the fit.
    The table is read only once.

    Parameters
    ----------
    estimator : estimator of this package
        It must be fitted, or read from a file, and have `predict`.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        New samples, as in `predict`.

    Returns
    -------
    Places
        Clusters, distances, second-best clusters, silhouettes and probabilities, as far as the method has them.

    Examples
    --------
    The last of three new samples is halfway between two clusters:

    >>> import numpy as np
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.inspection import place_samples
    >>> X = np.array([[0.0, 3.0], [0.1, 1.0], [0.2, 2.0], [9.0, 1.0], [9.1, 3.0], [9.2, 2.0]])
    >>> sas = SASClustering(n_clusters=2, n_features_to_select=1).fit(X)
    >>> places = place_samples(sas, [[0.1, 7.0], [9.1, 7.0], [4.7, 7.0]])
    >>> [bool(places.labels[i] == sas.labels_[j]) for i, j in [(0, 0), (1, 3), (2, 3)]]
    [True, True, True]
    >>> places.distance.round(2), places.silhouette.round(2)
    (array([0.  , 0.  , 0.98]), array([1.  , 1.  , 0.04]))
    >>> list(places.columns())
    ['cluster', 'distance', 'second_cluster', 'silhouette']
    """
    check_is_fitted(estimator)
    name = type(estimator).__name__
    if not hasattr(estimator, "predict"):
        raise TypeError(
            f"{name} cannot assign new samples to its clusters. Fit one of the methods that predict, such as "
            "SASClustering; `sparsecluster methods` lists them."
        )
    if is_collection(X):
        raise TypeError(
            "place_samples takes a table in memory; got a Dask collection. Call it for each block, for example with "
            "map_partitions, or use predict, which takes Dask collections."
        )
    clusters, values = estimator._kept.clusters, estimator._new_values(X)
    labels = estimator._assigned(values)
    memberships = clusters.memberships(values) if hasattr(estimator, "predict_proba") else None
    by_distance = memberships is None and isinstance(clusters, Profiles)
    placed = places_by(squared_distances(clusters, values), labels) if by_distance else None
    return places_among(labels, placed, memberships)


def places_among(labels: Subset, placed: Placed | None, memberships: Floats | None) -> Places:
    """Return the places of samples of which the distances, the probabilities or neither are known."""
    if memberships is not None:
        others = memberships.copy()
        np.put_along_axis(others, memberships.argmax(axis=1)[:, None], -1.0, axis=1)
        second = np.where(labels == OUTLIER, OUTLIER, others.argmax(axis=1))
        return Places(labels, second=second, memberships=memberships)
    if placed is None:
        return Places(labels)
    return Places(labels, *placed)


def places_by(squared: Floats, labels: Subset) -> Placed:
    """Return the places of samples, given their squared distances to all clusters, of shape (n_samples, n_clusters)."""
    outliers = labels == OUTLIER
    inside = np.flatnonzero(~outliers)
    others = squared.copy()
    others[inside, labels[inside]] = np.inf
    second, b = others.argmin(axis=1), np.sqrt(others.min(axis=1))
    second[np.isnan(b)] = OUTLIER
    a = b.copy()
    a[inside] = np.sqrt(squared[inside, labels[inside]])
    silhouette = (b - a) / np.maximum(np.maximum(a, b), np.finfo(float).tiny)
    silhouette[outliers] = np.nan
    return Placed(a, second, silhouette)


def squared_distances(clusters: Profiles, values: Sequence[Any]) -> Floats:
    """Return squared distances to the clusters, relative to the mean distance to the center of all; NaN if unknown."""
    squared = np.maximum(clusters.distances(values), 0.0) / clusters.typical()
    unknown = [np.isnan(each.distances(new)[:, 0]) for each, new in zip(clusters.columns, values, strict=True)]
    squared[np.all(unknown, axis=0)] = np.nan
    return squared


def _own(memberships: Floats | None, labels: Subset) -> Floats | None:
    """Return the probability of the cluster that each sample is in; NaN for samples in no cluster."""
    if memberships is None:
        return None
    own = np.take_along_axis(memberships, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return np.where(labels == OUTLIER, np.nan, own)


def _rounded(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.round(values, DECIMALS) if values.dtype.kind == "f" else values
