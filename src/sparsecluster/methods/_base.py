"""What all estimators share: reading the data, the selector API, assigning new samples, and a summary in words."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._blocks.collections import is_collection
from .._blocks.large import Large
from .._clusterers.clusterer import Clusterer
from .._clusterers.registry import make_clusterer
from .._data.content import holds_words
from .._data.ranges import RAW_LIMITS, in_range
from .._data.reading import Reading, Request, read_matrices, read_sparse, read_table
from .._features.features import Features
from .._search.clusters import Candidates
from .._utils.arrays import Labels, Subset
from .._utils.checks import frames_in_package
from .._utils.parallel import one_thread_blas
from .._utils.parameters import check_parameters
from .._utils.progress import Progress
from .._utils.text import brief
from ._alternatives import Alternative, alternative_of
from ._clusters import check_n_clusters, choose_clusters, is_given
from ._core import check_core_agreement, with_core
from ._criteria.auto import auto
from ._criteria.choice import Choice
from ._large import columns_in_blocks, fit_by_sample, fit_collection
from ._notebook import ShownInNotebooks
from ._result import Clusters, Kept, Order, Result
from ._summary import summary_lines
from ._trim import check_trim, scored_inside, solve_trimmed, without_far
from ._validation import checked, chosen_columns

# Attributes that are set while reading and therefore belong to the fit that follows.
LEARNED_IN_READING = ("n_features_in_", "feature_names_in_")


class SparseClusterer(ShownInNotebooks, SelectorMixin, ClusterMixin, BaseEstimator):
    """Base class of the estimators, which cluster samples and select features through scikit-learn's selector API.

    A subclass implements `_solve`, which returns a `Result`. `fit` sets the attributes below from it, and those that
    the result names.

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

    n_clusters: Any
    _kept: Kept
    # Whether a unit that all columns share makes no difference, even if they are not standardized.
    _any_unit: ClassVar[bool] = False
    # Whether variances are reported in the squared units of X.
    _reports_variances: ClassVar[bool] = False
    # The smallest and the largest dissimilarity of features that are not standardized.
    _raw_limits: ClassVar[tuple[float, float]] = RAW_LIMITS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def transform(self, X: Any) -> Any:
        """Return the chosen columns.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Dask collection of shape (n_samples, n_features)
            Table with the same columns as in `fit`, of any content.

        Returns
        -------
        chosen : ndarray, sparse matrix, data frame or Dask collection of shape (n_samples, n_chosen)
            The chosen columns, as an array of objects if they do not hold only numbers. With
            `set_output(transform="pandas")` or "polars", a data frame. Those of a Dask collection are one.
        """
        check_is_fitted(self)
        if is_collection(X):
            return columns_in_blocks(self, X)
        chosen = chosen_columns(self, X)
        return super().transform(X) if chosen is None else chosen

    def inverse_transform(self, X: Any) -> Any:
        """Return a table with all columns, in which those that were not chosen are zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_chosen)
            Numbers in the chosen columns.

        Returns
        -------
        table : ndarray or sparse matrix of shape (n_samples, n_features)
            The columns of `X` in their places, and zeros elsewhere.
        """
        check_is_fitted(self)
        if holds_words(X):
            raise ValueError(
                "inverse_transform takes numbers only: it sets the columns that were not chosen to zero, which text, "
                "categories and dates do not have."
            )
        return super().inverse_transform(X)

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
        """Read X, unless it has been read already."""
        if isinstance(X, Reading):
            reading, self.n_features_in_ = self._adopted(X), X.n_columns
            self.__dict__.pop("feature_names_in_", None)
            if X.has_names:
                self.feature_names_in_ = np.array(X.names, dtype=object)
        else:
            reading = self.read(X)
        return in_range(
            reading, any_unit=self._any_unit, reports_variances=self._reports_variances, raw=self._raw_limits
        )

    def _adopted(self, reading: Reading) -> Reading:
        """A reading that another estimator may have made, with the `standardize` of this one."""
        own = self._request()
        for name in ("metric", "feature_groups"):
            theirs, ours = getattr(reading.request, name), getattr(own, name)
            if theirs is not ours and theirs != ours:
                raise ValueError(
                    f"The table was read with {name}={brief(theirs)}, but this estimator has {name}={brief(ours)}. "
                    "Read the table with the same value."
                )
        return reading.standardized(own.standardize)

    # ------------------------------------------------------------ fitting

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the samples and select the features that separate the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table. Missing values are allowed, except for methods that require complete numbers. With
            `metric="precomputed"`, p matrices of shape (n_samples, n_samples): an array of shape (p, n_samples,
            n_samples), in memory or memory-mapped, a list of matrices, or a function that returns matrix a = 0, 1, ...
            and raises IndexError after the last one. The result of `read` is accepted as well. A Dask array or data
            frame is fitted in blocks of rows by `SASClustering`; other methods bring it into memory.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._check()
        if is_collection(X):
            return fit_collection(self, X)
        reading = self._reading(X)
        with one_thread_blas():
            return self._fit(reading)

    def _fit(self, reading: Reading) -> Self:
        """Fit a table that has been read."""
        large = self._in_blocks(reading)
        if large is not None:
            return fit_by_sample(self, large)
        # A few outliers would look like more clusters.
        chosen = choose_clusters(self, reading if is_given(self.n_clusters) else without_far(self, reading))
        reading = reading.for_clusters(chosen.k)
        for note in reading.notes:
            warnings.warn(note, UserWarning, stacklevel=frames_in_package())
        reading, found, outlier_scores = solve_trimmed(self, reading, chosen)
        self._keep(reading, with_core(self, reading, scored_inside(reading, found)))
        self.n_clusters_curve_ = chosen.curve
        if outlier_scores is not None:
            self.outlier_scores_ = outlier_scores
        self.alternatives_ = [
            Alternative(self._alternative(reading, with_core(self, reading, each)), value)
            for each, value in found.others
        ]
        return self

    def _in_blocks(self, X: Any) -> Large | None:
        """Return a table that was read, or a Dask collection, in blocks if a sample of it is searched, or else None."""
        return None

    def _alternative(self, reading: Reading, found: Result) -> Self:
        """Return an estimator with the same parameters that is fitted to another result."""
        other = clone(self)
        for name in LEARNED_IN_READING:
            if name in vars(self):
                setattr(other, name, vars(self)[name])
        other._keep(reading, found)
        other.n_clusters_curve_, other.alternatives_ = self.n_clusters_curve_, []
        return other

    def use_alternative(self, number: int) -> Self:
        """Return an estimator that is fitted to another good clustering of the same samples.

        Parameters
        ----------
        number : int
            Position in `alternatives_`, from 0.

        Returns
        -------
        estimator : object
            Estimator of the same class and with the same parameters, whose attributes describe the alternative.
        """
        return alternative_of(self, number)

    def _choose_core(self, found: Result, core: Subset) -> Result:
        """Return the result, in which the core may replace the chosen features."""
        return found

    def _clusterer(self, features: Features) -> Clusterer:
        """Return the clusterer that finds the clusters again on some of the features."""
        return make_clusterer("auto", features.has_rows)

    def _check(self) -> None:
        """Check the parameters that do not depend on the data."""
        given = vars(self)
        check_parameters(given)
        check_trim(given.get("trim", 0.0))
        check_core_agreement(given.get("core_agreement", 0.9))
        check_n_clusters(self.n_clusters, given.get("max_clusters"), given.get("cluster_criterion", "auto"))

    @abstractmethod
    def _solve(self, reading: Reading, k: int) -> Result:
        """Find k clusters of the samples of a reading, and the features that separate them."""

    def _solve_from(self, reading: Reading, k: int, labels: Labels | None) -> Result:
        """Do the same as `_solve`, where labels that are probably good may serve as a start."""
        return self._solve(reading, k)

    def _improve(self, reading: Reading, k: int, found: Result, labels: Labels) -> Result:
        """Update a result after some of the samples were exchanged, given the labels of the new samples."""
        return self._solve(reading, k)

    def _candidates(self, reading: Reading, ks: Sequence[int]) -> Candidates:
        """Find clusterings for several numbers of clusters, among which a criterion can choose."""
        progress = Progress(vars(self).get("verbose", "auto"))
        found = {k: [self._solve(reading, k).labels] for k in progress.track(ks, "numbers of clusters", len(ks))}
        return Candidates(reading.source.features(), found)

    def _choose_clusters(self, reading: Reading, ks: Sequence[int]) -> Choice:
        """Choose the number of clusters if `cluster_criterion="auto"`. Methods with a criterion of their own use it."""
        return auto(self, reading, ks)

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

    def _keep(self, reading: Reading, found: Result) -> Self:
        """Set the attributes from a result, in the user's order of samples, columns and clusters."""
        # Remove what an earlier fit has set, because this fit may not set all of it.
        for name in [name for name in vars(self) if name.endswith("_") and name not in LEARNED_IN_READING]:
            delattr(self, name)
        order = Order.of(reading, found)
        self.n_clusters_ = found.n_clusters
        self.labels_ = found.labels_in(order)
        self.support_ = np.zeros(reading.n_columns, bool)
        self.support_[reading.source.columns[order.chosen_columns]] = True
        self.feature_scores_ = order.by_column(found.scores)
        if found.weights is not None:
            self.feature_weights_ = order.by_column(found.weights)
        for name, array in found.arrays.items():
            setattr(self, name, order.restore(array))
        for name, value in found.attributes.items():
            setattr(self, name, value)
        centers = found.centers_in(order)
        if centers is not None:
            self.cluster_centers_ = centers
        clusters = self._clusters_of(reading, found, order)
        n_left_out = reading.n_columns - reading.source.columns.size
        sizes = tuple(sorted(found.sizes.tolist(), reverse=True))
        self._kept = Kept(reading.reader, clusters, found.subset.size, reading.n_features, n_left_out, sizes)
        return self

    def _clusters_of(self, reading: Reading, found: Result, order: Order) -> Clusters | None:
        """Return the object that assigns new samples to the clusters, or None if the method has none."""
        return None if found.clusters is None else found.clusters(order)

    # ------------------------------------------------------------ showing

    def summary(self) -> str:
        """Describe the result in a few lines.

        Returns
        -------
        text : str
            The sizes of the clusters, the number of chosen features, and the features with the highest scores, in all
            and of each cluster that has features of its own.
        """
        check_is_fitted(self)
        return "\n".join(summary_lines(self))
