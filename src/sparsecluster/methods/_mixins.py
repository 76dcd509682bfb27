"""What only some estimators have: complete numbers as input, the nearest cluster of new samples, soft memberships."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .._blocks.collections import is_collection
from .._data.kinds import SquaredEuclidean
from .._data.kinds.dissimilarity import missing_in
from .._data.profiles import profiles_of
from .._data.reading import Reading, Request, TableReader
from .._data.source import TableSource
from .._utils.arrays import Floats
from .._utils.checks import NAMES_SHOWN, and_more, frames_in_package, listed
from ._large import labels_in_blocks
from ._result import Clusters, Kept, Order, Result, SoftClusters
from ._validation import checked, refuse_sparse, refuse_words


class CompleteNumbers:
    """Mixin for estimators that accept only dense tables of numbers without missing values."""

    n_features_in_: int
    support_: npt.NDArray[np.bool_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = False
        tags.input_tags.sparse = False
        return tags

    def read(self, X: Any) -> Reading:
        """Read a table as `fit` does, without fitting.

        The result can be passed to `fit` in place of the table, so that several numbers of clusters can be tried while
        the table is read only once.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Table of numbers without missing values.

        Returns
        -------
        reading : Reading
            The table, with the name of each column and notes about columns that are left out.
        """
        name = type(self).__name__
        refuse_sparse(name, X)
        refuse_words(name, X)
        return self._read_as(X, self._request())  # type: ignore[attr-defined]

    def _request(self) -> Request:
        return Request("sqeuclidean", None, bool(vars(self).get("standardize", True)))

    def _adopted(self, reading: Reading) -> Reading:
        # Whether its columns are compared as numbers is checked with the table.
        if reading.request.feature_groups is not None:
            raise ValueError(
                f"The table was read with feature_groups, which {type(self).__name__} does not have. Read it without "
                "them."
            )
        return reading.standardized(self._request().standardize)

    def _complete_table(self, reading: Reading) -> Floats:
        """Return the numbers of a reading, with samples and columns in the same order as in its features."""
        name, source = type(self).__name__, reading.source
        kinds = [source.kind(a) for a in source.columns.tolist()]
        if not isinstance(source, TableSource) or not all(isinstance(kind, SquaredEuclidean) for kind in kinds):
            raise TypeError(f"{name} requires a dense table of numbers. Read the table with {name}().read(X).")
        values = source.table.values
        missing = np.flatnonzero(np.isnan(values).any(axis=0))
        if missing.size:
            raise ValueError(
                f"Input X contains NaN in {missing.size} of {reading.n_columns} columns: "
                f"{listed(reading.names[a] for a in missing.tolist())}. {name} does not accept missing values. Impute "
                "them first, or use SASClustering or SparseKMeans, which do not need imputation."
            )
        return values[np.ix_(source.samples, source.columns)].astype(np.float64)

    def _new_values(self, X: Any) -> list[Any]:
        refuse_sparse(type(self).__name__, X)
        values = new_values(self, X, np.arange(self.n_features_in_))
        if any(np.isnan(column).any() for column in values):
            raise ValueError(
                f"Input X contains NaN, but {type(self).__name__} does not accept missing values. Impute them first."
            )
        return [values[a] for a in np.flatnonzero(self.support_)]


def new_values(estimator: Any, X: Any, columns: npt.NDArray[np.intp]) -> list[Any]:
    """Return the values of some of the columns for new samples, read in the same way as in `fit`."""
    reader = estimator._kept.reader
    if isinstance(reader, TableReader):
        X = checked(estimator, X, reset=False, has_words=reader.has_words)
    return reader.new_values(X, columns)


def nothing_observed(values: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Which samples have no observed value in any column; a column may also be a matrix of dissimilarities."""
    blank = np.ones(len(values[0]), bool)
    for column in values:
        missing = missing_in(column)
        blank &= missing.all(axis=1) if missing.ndim > 1 else missing
        if not blank.any():
            break
    return blank


class NearestCluster:
    """Mixin that assigns new samples to the nearest cluster, using only the chosen features and their weights."""

    _kept: Kept
    support_: npt.NDArray[np.bool_]

    def _clusters_of(self, reading: Reading, found: Result, order: Order) -> Clusters:
        if found.clusters is not None:
            return found.clusters(order)
        labels = order.clusters[found.labels].astype(np.int32)
        profiles = profiles_of(reading.source, found.features, labels, found.n_clusters, found.subset, found.weights)
        # Put the columns from the order of the source into the user's order.
        ranks = np.argsort(np.argsort(order.chosen_columns)).tolist()
        return profiles._replace(columns=[profiles.columns[j] for j in ranks])

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Assign samples to the nearest cluster, using only the chosen features.

        In feature a, the distance of sample i to cluster C is

            d_a(i, C) = mean_{j in C} delta_a(i, j) - (1/2) mean_{j, j' in C} delta_a(j, j'),

        which for squared differences is the squared distance to the center of the cluster. `IFPCA`,
        `RegularizedKMeans` and `RobustSparseKMeans` use the centers that they compute during `fit` instead.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`. With `metric="precomputed"`, their dissimilarities to the
            samples of `fit`, of shape (p, n_samples, n_samples_fit).

        Returns
        -------
        labels : ndarray or Dask array of shape (n_samples,)
            Cluster of each sample, and -1, with a warning, for samples that have no observed value in any of the chosen
            features.

        Notes
        -----
        A few samples of `fit` may get another label than in `labels_`. During `fit`, samples with missing values are
        compared pair by pair if there are no coordinates (distances, ranks, functions), and with features of several
        kinds the search ends with the largest objective, which need not put every sample in the nearest cluster.
        """
        self._known_clusters()
        return labels_in_blocks(self, X) if is_collection(X) else self._assigned(self._new_values(X))

    def _assigned(self, values: list[Any]) -> npt.NDArray[np.intp]:
        """Return the clusters of new samples, given their values in the chosen columns."""
        labels = self._known_clusters().nearest(values)
        blank = np.flatnonzero(nothing_observed(values))
        if blank.size:
            labels[blank] = -1
            warnings.warn(
                f"{blank.size} of {labels.size} samples have no observed value in any of the chosen features, so they "
                f"are in no cluster and get the label -1: rows {', '.join(map(str, blank[:NAMES_SHOWN].tolist()))}"
                f"{and_more(blank.size)} (counted from 0).",
                UserWarning,
                stacklevel=frames_in_package(),
            )
        return labels

    def score(self, X: Any, y: None = None) -> float:
        """Return the share of the variation of the chosen features that the nearest clusters explain.

        The score is

            1 - sum_{a in S} w_a mean_i d_a(i, C(i)) / v_a,

        where C(i) is the cluster that `predict` assigns to sample i, d_a is the distance of a sample to a cluster (for
        squared differences, (x_ia - c_ka)^2), and v_a is the mean distance of the samples of `fit` to all of them taken
        as one cluster (the variance). The weights w_a sum to 1. Without weights they are 1/s, and the score of
        `SASClustering` on the data of `fit` is the mean of `feature_scores_` over the chosen features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples, as in `predict`.
        y : None
            Ignored.

        Returns
        -------
        score : float
            The explained share. The best value is 1.
        """
        return self._known_clusters().explained(self._new_values(X))

    def _known_clusters(self) -> Clusters:
        check_is_fitted(self)
        assert self._kept.clusters is not None
        return self._kept.clusters

    def _new_values(self, X: Any) -> list[Any]:
        return new_values(self, X, np.flatnonzero(self.support_))


class SoftMemberships(NearestCluster):
    """Mixin for mixtures, whose samples belong to every cluster with a probability.

    The result of a fit must have `SoftClusters`, and `memberships_` among its arrays.
    """

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Assign samples to the cluster with the highest probability.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample.
        """
        return super().predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability that each sample belongs to each cluster.

        Features that are not chosen have the same distribution in all clusters, so they do not matter.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            Probabilities, which sum to 1 for each sample.
        """
        clusters = cast(SoftClusters, self._known_clusters())
        return clusters.memberships(self._new_values(X))
