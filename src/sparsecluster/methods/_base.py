"""What every estimator here shares: reading, the selector API, prediction by the nearest cluster, a summary."""

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

from .._data.profiles import profiles_of
from .._data.reading import Reading, Request, TableReader, read_matrices, read_sparse, read_table
from .._data.source import TableSource
from .._features.base import Features, Floats
from .._utils.checks import NAMES_SHOWN, frames_in_package, listed
from ._result import Clusters, Kept, Order, Result
from ._validation import checked, names_of, refuse_sparse, refuse_words


class SparseClusterer(SelectorMixin, ClusterMixin, BaseEstimator):
    """Clusters samples and selects the features that make the clusters, with scikit-learn's selector API.

    A subclass ends its `fit` with `_keep`, which sets

    - labels_ : cluster of every sample; clusters are numbered from the largest to the smallest,
    - support_ : mask of the selected features,
    - feature_scores_ : 1 - Delta_a[C] / T_a of every feature, 0 for columns that were left out,
    - feature_weights_ : how many times every feature counts, if the method has weights,
    - cluster_centers_ : the middle of every column in every cluster, in the units of X, if all columns have one.
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

        The reading can be given to `fit` in the place of the table, also of other estimators with the same `metric`:
        several numbers of clusters can be tried on one reading.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table; or p matrices of shape (n_samples, n_samples) with metric="precomputed".

        Returns
        -------
        Reading
            The table as numbers, with what they mean, the names of the columns, and notes.

        Examples
        --------
        >>> from sparsecluster import SASClustering
        >>> from sparsecluster.datasets import shifted_groups
        >>> X, *_ = shifted_groups(mu=2.0, n_features=20, n_useful=5, group_size=10)
        >>> reading = SASClustering().read(X)
        >>> [SASClustering(k, n_features_to_select=5).fit(reading).labels_.max() + 1 for k in (2, 3)]
        [np.int64(2), np.int64(3)]
        """
        return self._read_as(X, self._request())

    def _request(self) -> Request:
        """How this estimator reads tables."""
        given = vars(self)
        metric, groups = given.get("metric", "auto"), given.get("feature_groups")
        return Request(metric, groups, bool(given.get("standardize", True)))

    def _read_as(self, X: Any, request: Request) -> Reading:
        if isinstance(request.metric, str) and request.metric == "precomputed":
            reading = read_matrices(X, request)
            self.n_features_in_ = reading.n_columns
            # Matrices have no names; those of an earlier fit must not stay.
            self.__dict__.pop("feature_names_in_", None)
            return reading
        given = checked(self, X, reset=True)
        return (read_sparse if hasattr(given.X, "tocsc") else read_table)(given, request)

    def _reading(self, X: Any) -> Reading:
        """The reading of X for as many clusters as are asked for; what is left out is said in warnings."""
        if isinstance(X, Reading):
            reading, self.n_features_in_ = X, X.n_columns
            self.__dict__.pop("feature_names_in_", None)
            if X.has_names:
                self.feature_names_in_ = np.array(X.names, dtype=object)
        else:
            reading = self.read(X)
        reading = reading.for_clusters(int(self.n_clusters))
        for note in reading.notes:
            warnings.warn(note, UserWarning, stacklevel=frames_in_package())
        return reading

    # ------------------------------------------------------------ fitting

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Find the clusters of the rows of X and the columns that make them."""

    def fit_predict(self, X: Any, y: None = None) -> npt.NDArray[np.intp]:
        """Fit, and return the labels.

        Parameters
        ----------
        X : as in `fit`.
        y : ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of every sample.
        """
        return self.fit(X).labels_

    def _keep(self, reading: Reading, features: Features, found: Result) -> Self:
        """Set what was found, in the user's order of samples, columns and clusters."""
        # What an earlier fit set and this one does not must not stay.
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
        self._kept = Kept(reading.reader, clusters, found.subset.size, reading.n_features)
        return self

    def _clusters_of(self, reading: Reading, features: Features, found: Result, order: Order) -> Clusters | None:
        """What assigns new samples to the clusters; None for methods that cannot."""
        return None if found.clusters is None else found.clusters(order)

    # ------------------------------------------------------------ showing

    def summary(self) -> str:
        """Describe the result in a few lines.

        Returns
        -------
        str
            Sizes of the clusters, number of selected features, and the features of highest score.
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
                f"{self._kept.n_chosen} of {self._kept.n_features} features selected; the clusters explain "
                f"{self.feature_scores_[chosen].mean():.0%} of their variation",
                f"highest scores: {best}",
            ]
        )

    def _html_repr(self) -> str:
        """What notebooks show: the result in words, above scikit-learn's picture of the estimator."""
        picture: str = super()._html_repr()
        if not hasattr(self, "labels_"):
            return picture
        lines = "<br>".join(html.escape(line) for line in self.summary().splitlines())
        return f"<p style='font-family:system-ui,sans-serif;line-height:1.5'>{lines}</p>{picture}"


# Attributes that reading sets, which belong to the fit that follows it.
LEARNED_IN_READING = ("n_features_in_", "feature_names_in_")


class CompleteNumbers:
    """An estimator that takes dense tables of numbers without missing values."""

    n_features_in_: int
    support_: npt.NDArray[np.bool_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = False
        tags.input_tags.sparse = False
        return tags

    def read(self, X: Any) -> Reading:
        """Read a table of numbers without missing values; see `SparseClusterer.read`."""
        name = type(self).__name__
        refuse_sparse(name, X)
        refuse_words(name, X)
        request = Request("sqeuclidean", None, bool(vars(self).get("standardize", True)))
        return self._read_as(X, request)  # type: ignore[attr-defined]

    def _complete_table(self, reading: Reading) -> Floats:
        """The numbers of a reading, in the order and with the columns that the features have."""
        name, source = type(self).__name__, reading.source
        if not isinstance(source, TableSource):
            raise TypeError(f"{name} takes dense tables of numbers. Read the table by {name}().read(X).")
        values = source.table.values
        missing = np.flatnonzero(np.isnan(values).any(axis=0))
        if missing.size:
            raise ValueError(
                f"Input X contains NaN in {missing.size} of {reading.n_columns} columns: "
                f"{listed(reading.names[a] for a in missing.tolist())}. {name} takes numbers without missing values: impute "
                "them first, or use SASClustering or SparseKMeans, which need no imputation."
            )
        return values[np.ix_(source.samples, source.columns)].astype(np.float64)

    def _new_values(self, X: Any) -> list[Any]:
        refuse_sparse(type(self).__name__, X)
        values = new_values(self, X, np.arange(self.n_features_in_))
        if any(np.isnan(column).any() for column in values):
            raise ValueError(
                f"Input X contains NaN; {type(self).__name__} takes samples without missing values. Impute them first."
            )
        return [values[a] for a in np.flatnonzero(self.support_)]


def new_values(estimator: Any, X: Any, columns: npt.NDArray[np.intp]) -> list[Any]:
    """What some of the columns say of new samples, read as in fit."""
    reader = estimator._kept.reader
    if isinstance(reader, TableReader):
        X = checked(estimator, X, reset=False, has_words=reader.has_words)
    return reader.new_values(X, columns)


class NearestCluster:
    """Assigns new samples to the nearest cluster, by the selected features and their weights alone."""

    _kept: Kept
    support_: npt.NDArray[np.bool_]
    n_clusters: int

    def _clusters_of(self, reading: Reading, features: Features, found: Result, order: Order) -> Clusters:
        if found.clusters is not None:
            return found.clusters(order)
        labels = order.clusters[found.labels].astype(np.int32)
        profiles = profiles_of(reading.source, features, labels, int(self.n_clusters), found.subset, found.weights)
        # From the order of the source's columns to the user's.
        return profiles._replace(columns=[profiles.columns[j] for j in np.argsort(np.argsort(order.chosen_columns))])

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Assign samples to the nearest cluster, by the selected features alone.

        The nearest cluster is the one with the smallest mean dissimilarity to its samples less half of their own mean
        dissimilarity, which for squared differences is the squared distance to the center.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            New samples, with the columns of `fit`. With metric="precomputed", their dissimilarities to the samples of
            `fit`, of shape (p, n_samples, n_samples_fit).

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of every sample.
        """
        return self._known_clusters().nearest(self._new_values(X))

    def score(self, X: Any, y: None = None) -> float:
        """Share of the variation of the selected features that the nearest clusters explain; 1 is perfect.

        1 - sum_{a in S} w_a mean_i d_a(i, C_k(i)) / v_a, with d_a the distance of a sample to a cluster, for squared
        differences (x_ia - c_ka)^2, and v_a the mean of that to all samples of `fit` as one cluster, the variance. The
        weights w_a sum to 1; without weights they are 1/s, and on the data of `fit` the score is `objective_` / s.

        Parameters
        ----------
        X : as in `predict`.
        y : ignored.

        Returns
        -------
        float
        """
        return self._known_clusters().explained(self._new_values(X))

    def _known_clusters(self) -> Clusters:
        check_is_fitted(self)
        assert self._kept.clusters is not None
        return self._kept.clusters

    def _new_values(self, X: Any) -> list[Any]:
        return new_values(self, X, np.flatnonzero(self.support_))
