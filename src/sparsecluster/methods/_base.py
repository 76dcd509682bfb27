"""What every estimator here shares: chosen features, names, prediction by the nearest cluster, a summary."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._data.checks import NAMES_SHOWN
from .._data.profiles import profiles_of
from .._data.reading import Data, Form, refuse_sparse
from .._data.source import columns_of
from .._features.base import Features, Floats, Labels, Subset


class Grouping(NamedTuple):
    """What a fit ends with, in the order in which the source gives samples and features."""

    labels: Labels
    subset: Subset
    scores: Floats
    weights: Floats | None = None


class SparseClusterer(SelectorMixin, ClusterMixin, BaseEstimator):
    """Groups samples and says which features make the groups, with scikit-learn's selector API.

    A subclass ends its `fit` with `_keep`, which sets

    - labels_ : cluster of every sample; clusters are numbered from the largest to the smallest,
    - support_ : mask of the chosen features,
    - feature_scores_ : 1 - Delta_a[C] / T_a of every feature, 0 for columns kept out,
    - feature_weights_ : how many times every feature counts, where the method has weights,
    - cluster_centers_ : the middle of every column in every cluster, in the units of X, where that has a meaning.
    """

    n_clusters: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _names(self) -> list[str]:
        """Names of all columns seen in fit."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{a}" for a in range(self.n_features_in_)] if names is None else list(names)

    def fit_predict(self, X: Any, y: None = None) -> npt.NDArray[np.intp]:
        """Labels of the samples of X."""
        return self.fit(X).labels_

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X and the columns that make them."""

    def _keep(self, data: Data, features: Features, found: Grouping) -> None:
        """Back to the user's order of rows and columns; clusters from the largest to the smallest."""
        source, k = data.source, int(self.n_clusters)
        sizes = np.bincount(found.labels, minlength=k)
        rank = np.empty(k, np.int32)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(k)
        found = found._replace(labels=rank[found.labels])
        self.labels_ = np.empty(data.n_samples, np.intp)
        self.labels_[source.samples] = found.labels
        self.support_ = np.zeros(data.n_columns, bool)
        self.support_[columns_of(source, found.subset)] = True
        self.feature_scores_ = by_column(data, found.scores)
        if found.weights is not None:
            self.feature_weights_ = by_column(data, found.weights)
        self._form, self._n_chosen, self._n_features = data.form, found.subset.size, data.n_features
        self.__dict__.pop("cluster_centers_", None)
        centers = data.form.centers(source, self.labels_, k)
        if centers is not None:
            self.cluster_centers_ = centers
        self._keep_clusters(data, features, found)

    def _keep_clusters(self, data: Data, features: Features, found: Grouping) -> None:
        """What a subclass needs to know to place new samples; nothing here."""

    def summary(self) -> str:
        """The result in a few lines of text."""
        check_is_fitted(self)
        sizes = np.bincount(self.labels_)
        chosen = np.flatnonzero(self.support_)
        ranked = chosen[np.argsort(-self.feature_scores_[chosen], kind="stable")]
        names = self._names()
        best = ", ".join(f"{names[a]} ({self.feature_scores_[a]:.2f})" for a in ranked[:NAMES_SHOWN])
        return "\n".join(
            [
                f"{sizes.size} clusters of {', '.join(map(str, sizes))} samples",
                f"{self._n_chosen} of {self._n_features} features make them; the clusters explain "
                f"{self.feature_scores_[chosen].mean():.0%} of their spread",
                f"most telling: {best}",
            ]
        )

    def _html_repr(self) -> str:
        """What notebooks show: the result in words, above scikit-learn's picture of the estimator."""
        picture: str = super()._html_repr()
        if not hasattr(self, "labels_"):
            return picture
        lines = "<br>".join(html.escape(line) for line in self.summary().splitlines())
        return f"<p style='font-family:system-ui,sans-serif;line-height:1.5'>{lines}</p>{picture}"


class CompleteNumbers:
    """An estimator that takes dense tables of numbers without gaps."""

    _form: Form
    n_features_in_: int
    support_: npt.NDArray[np.bool_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = False
        tags.input_tags.sparse = False
        return tags

    def _new_values(self, X: Any) -> list[Any]:
        refuse_sparse(type(self).__name__, X)
        values = self._form.new_values(self, X, np.arange(self.n_features_in_))
        if any(np.isnan(column).any() for column in values):
            raise ValueError(f"Input X contains NaN; {type(self).__name__} places samples without gaps. Fill them in.")
        return [values[a] for a in np.flatnonzero(self.support_)]


def by_column(data: Data, values: Floats, kept_out: float = 0.0) -> Floats:
    """What is known of each feature, for each of the user's columns that belong to it."""
    of_all = np.full(data.n_columns, kept_out)
    of_all[data.source.columns] = values[data.source.owners]
    return of_all


class Clusters(Protocol):
    """Where the clusters are, so that new samples can be placed."""

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """The nearest cluster of every sample, by what the chosen columns say of it."""

    def explained(self, values: Sequence[Any]) -> float:
        """Share of the spread of the chosen features that the nearest clusters explain."""


class NearestCluster:
    """Places new samples in the nearest cluster, by the chosen features and their weights alone."""

    _form: Form
    _clusters: Clusters
    support_: npt.NDArray[np.bool_]
    n_clusters: int

    def _keep_clusters(self, data: Data, features: Features, found: Grouping) -> None:
        source, chosen = data.source, columns_of(data.source, found.subset)
        labels, k, subset = found.labels, int(self.n_clusters), found.subset
        profiles = profiles_of(source, data.form.measure, features, labels, k, subset, found.weights)
        self._clusters = profiles._replace(columns=[profiles.columns[j] for j in np.argsort(chosen)])

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Nearest cluster of each sample, by the chosen features alone.

        The nearest is the one with the smallest average dissimilarity to its samples less half of their own average
        dissimilarity, which for squared differences is the distance to the center. With metric="precomputed", X holds
        the dissimilarities of the new samples to those of `fit`, (p, new, n).
        """
        check_is_fitted(self)
        return self._clusters.nearest(self._new_values(X))

    def score(self, X: Any, y: None = None) -> float:
        """Share of the chosen features' spread that the nearest clusters explain; 1 is perfect.

        1 - sum_{a in S} w_a mean_i d_a(i, C_k(i)) / v_a, with d_a the distance of a sample to a cluster, for squared
        differences (x_ia - c_ka)^2, and v_a the mean of that to all samples of `fit` as one cluster, the variance. The
        weights w_a sum to 1; without any they are 1/s, and on the data of `fit` the score is `objective_` / s.
        """
        check_is_fitted(self)
        return self._clusters.explained(self._new_values(X))

    def _new_values(self, X: Any) -> list[Any]:
        return self._form.new_values(self, X, np.flatnonzero(self.support_))
