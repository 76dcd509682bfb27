"""What all estimators share: reading the data, the selector API, assigning new samples, and a summary in words."""

from __future__ import annotations

import html
import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._data.kinds import SquaredEuclidean
from .._data.profiles import profiles_of
from .._data.reading import Reading, Request, TableReader, read_matrices, read_sparse, read_table
from .._data.source import TableSource
from .._features.features import Features
from .._utils.arrays import Floats
from .._utils.checks import NAMES_SHOWN, frames_in_package, listed
from ._result import Clusters, Kept, Order, Result
from ._validation import checked, names_of, refuse_sparse, refuse_words


class SparseClusterer(SelectorMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators, which cluster samples and select features through scikit-learn's selector API.

    A subclass ends its `fit` with `_keep`, which sets the attributes below and those that its `Result` names.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Clusters are numbered from the largest (0) to the smallest.
    support_ : ndarray of shape (n_features,), dtype=bool
        Mask of the chosen features.
    feature_scores_ : ndarray of shape (n_features,)
        Score 1 - Delta_a[C] / T_a of each feature, and 0 for columns that were left out.
    feature_weights_ : ndarray of shape (n_features,)
        Weight of each feature. Only available if the method has weights.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Center of each column in each cluster, in the units of X. Only available if every column has a center.
    """

    n_clusters: int
    _kept: Kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    # ------------------------------------------------------------ reading

    def read(self, X: Any) -> Reading:
        """Read a table as `fit` does, without fitting.

        The result can be passed to `fit` in place of the table, also to the `fit` of another estimator with the same
        `metric` and `feature_groups`. In this way, several numbers of clusters can be tried while the table is read
        only once.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table. With `metric="precomputed"`, p matrices of shape (n_samples, n_samples).

        Returns
        -------
        reading : Reading
            The table as numbers, with the dissimilarity and the name of each column, and notes about columns that are
            left out.

        Examples
        --------
        >>> from sparsecluster import SASClustering
        >>> from sparsecluster.datasets import shifted_groups
        >>> X, *_ = shifted_groups(mu=2.0, n_features=20, n_useful=5, group_size=10)
        >>> reading = SASClustering().read(X)
        >>> [int(SASClustering(k, n_features_to_select=5).fit(reading).labels_.max()) + 1 for k in (2, 3)]
        [2, 3]
        """
        return self._read_as(X, self._request())

    def _request(self) -> Request:
        """Return the parameters that determine how this estimator reads a table."""
        given = vars(self)
        metric, groups = given.get("metric", "auto"), given.get("feature_groups")
        return Request(metric, groups, bool(given.get("standardize", True)))

    def _read_as(self, X: Any, request: Request) -> Reading:
        if isinstance(request.metric, str) and request.metric == "precomputed":
            reading = read_matrices(X, request)
            self.n_features_in_ = reading.n_columns
            # Matrices have no column names, and those of an earlier fit must not be kept.
            self.__dict__.pop("feature_names_in_", None)
            return reading
        given = checked(self, X, reset=True)
        return (read_sparse if hasattr(given.X, "tocsc") else read_table)(given, request)

    def _reading(self, X: Any) -> Reading:
        """Read X for the requested number of clusters, and warn about columns that are left out."""
        if isinstance(X, Reading):
            reading, self.n_features_in_ = self._adopted(X), X.n_columns
            self.__dict__.pop("feature_names_in_", None)
            if X.has_names:
                self.feature_names_in_ = np.array(X.names, dtype=object)
        else:
            reading = self.read(X)
        reading = reading.for_clusters(int(self.n_clusters))
        for note in reading.notes:
            warnings.warn(note, UserWarning, stacklevel=frames_in_package())
        return reading

    def _adopted(self, reading: Reading) -> Reading:
        """A reading that another estimator may have made, with the `standardize` of this one."""
        own = self._request()
        for name in ("metric", "feature_groups"):
            theirs, ours = getattr(reading.request, name), getattr(own, name)
            if theirs is not ours and theirs != ours:
                raise ValueError(
                    f"The table was read with {name}={theirs!r}, but this estimator has {name}={ours!r}. Read the "
                    "table with the same value."
                )
        return reading.standardized(own.standardize)

    # ------------------------------------------------------------ fitting

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the samples and select the features that separate the clusters.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted estimator.
        """

    def fit_predict(self, X: Any, y: None = None) -> npt.NDArray[np.intp]:
        """Fit the estimator and return the cluster of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The table, as in `fit`.
        y : None
            Ignored.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample.
        """
        return self.fit(X).labels_

    def _keep(self, reading: Reading, features: Features, found: Result) -> Self:
        """Set the attributes from a result, in the user's order of samples, columns and clusters."""
        # Remove what an earlier fit has set, because this fit may not set all of it.
        for name in [name for name in vars(self) if name.endswith("_") and name not in LEARNED_IN_READING]:
            delattr(self, name)
        k = int(self.n_clusters)
        order = Order.of(reading, found.labels, found.subset, k)
        found_labels = order.clusters[found.labels]
        self.labels_ = np.empty(reading.n_samples, np.intp)
        self.labels_[reading.source.samples] = found_labels
        self.support_ = np.zeros(reading.n_columns, bool)
        self.support_[reading.source.columns[order.chosen_columns]] = True
        self.feature_scores_ = order.by_column(found.scores)
        if found.weights is not None:
            self.feature_weights_ = order.by_column(found.weights)
        for name, array in found.arrays.items():
            setattr(self, name, order.restore(array))
        for name, value in found.attributes.items():
            setattr(self, name, value)
        centers = reading.source.centers(self.labels_, k)
        if centers is not None:
            self.cluster_centers_ = centers
        clusters = self._clusters_of(reading, features, found, order)
        n_left_out = reading.n_columns - reading.source.columns.size
        self._kept = Kept(reading.reader, clusters, found.subset.size, reading.n_features, n_left_out)
        return self

    def _clusters_of(self, reading: Reading, features: Features, found: Result, order: Order) -> Clusters | None:
        """Return the object that assigns new samples to the clusters, or None if the method has none."""
        return None if found.clusters is None else found.clusters(order)

    # ------------------------------------------------------------ showing

    def summary(self) -> str:
        """Describe the result in a few lines.

        Returns
        -------
        text : str
            The sizes of the clusters, the number of chosen features, and the features with the highest scores.
        """
        check_is_fitted(self)
        sizes = np.bincount(self.labels_)
        chosen = np.flatnonzero(self.support_)
        ranked = chosen[np.argsort(-self.feature_scores_[chosen], kind="stable")]
        names = names_of(self)
        best = ", ".join(f"{names[a]} ({self.feature_scores_[a]:.2f})" for a in ranked[:NAMES_SHOWN])
        return "\n".join(
            [
                f"{sizes.size} clusters of {', '.join(map(str, sizes))} samples",
                f"{self._kept.n_chosen} of {self._kept.n_features} features chosen; the clusters explain "
                f"{self.feature_scores_[chosen].mean():.0%} of their variation",
                f"highest scores: {best}",
            ]
        )

    def _html_repr(self) -> str:
        """Show the summary above scikit-learn's diagram of the estimator in notebooks."""
        picture: str = super()._html_repr()
        if not hasattr(self, "labels_"):
            return picture
        lines = "<br>".join(html.escape(line) for line in self.summary().splitlines())
        return f"<p style='font-family:system-ui,sans-serif;line-height:1.5'>{lines}</p>{picture}"


# Attributes that are set while reading and therefore belong to the fit that follows.
LEARNED_IN_READING = ("n_features_in_", "feature_names_in_")


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


class NearestCluster:
    """Mixin that assigns new samples to the nearest cluster, using only the chosen features and their weights."""

    _kept: Kept
    support_: npt.NDArray[np.bool_]
    n_clusters: int

    def _clusters_of(self, reading: Reading, features: Features, found: Result, order: Order) -> Clusters:
        if found.clusters is not None:
            return found.clusters(order)
        labels = order.clusters[found.labels].astype(np.int32)
        profiles = profiles_of(reading.source, features, labels, int(self.n_clusters), found.subset, found.weights)
        # Put the columns from the order of the source into the user's order.
        return profiles._replace(columns=[profiles.columns[j] for j in np.argsort(np.argsort(order.chosen_columns))])

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Assign samples to the nearest cluster, using only the chosen features.

        In feature a, the distance of sample i to cluster C is

            d_a(i, C) = mean_{j in C} delta_a(i, j) - (1/2) mean_{j, j' in C} delta_a(j, j'),

        which for squared differences is the squared distance to the center of the cluster. `IFPCA` and
        `RegularizedKMeans` use the centers that they compute during `fit` instead.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            New samples, with the same columns as in `fit`. With `metric="precomputed"`, their dissimilarities to the
            samples of `fit`, of shape (p, n_samples, n_samples_fit).

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample.
        """
        return self._known_clusters().nearest(self._new_values(X))

    def score(self, X: Any, y: None = None) -> float:
        """Return the share of the variation of the chosen features that the nearest clusters explain.

        The score is

            1 - sum_{a in S} w_a mean_i d_a(i, C(i)) / v_a,

        where C(i) is the cluster that `predict` assigns to sample i, d_a is the distance of a sample to a cluster (for
        squared differences, (x_ia - c_ka)^2), and v_a is the mean distance of the samples of `fit` to all of them taken
        as one cluster (the variance). The weights w_a sum to 1. Without weights they are 1/s, and the score of
        `SASClustering` on the data of `fit` is `objective_` / s.

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
