"""What every estimator here shares: chosen features, names, prediction by the nearest cluster, a summary."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .checks import NAMES_SHOWN


class SparseClusterer(SelectorMixin, ClusterMixin, BaseEstimator):
    """Groups items and selects features: `labels_` and a mask, with scikit-learn's selector API.

    A subclass sets, in `fit`, `labels_`, `support_`, `feature_scores_`, `_form` (how new items are read),
    `_profiles` (the clusters in each chosen column, in the order of the columns) and `_n_features` (of all columns).
    """

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

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Nearest cluster of each item, by the chosen features alone.

        The nearest is the one with the smallest average dissimilarity to its items less half of their own average
        dissimilarity, which for squared differences is the distance to the centre. With metric="precomputed", X holds
        the dissimilarities of the new items to those of `fit`, (p, new, n).
        """
        values = self._new_values(X)
        return self._profiles.nearest(values)

    def score(self, X: Any, y: None = None) -> float:
        """Share of the chosen features' spread that the nearest clusters explain; 1 is perfect.

        1 - (1/s) sum_{a in S} mean_i d_a(i, C_k(i)) / v_a, with d_a the distance of an item to a cluster, for squared
        differences (x_ia - c_ka)^2, and v_a the mean of that to all items of `fit` as one cluster, the variance. On
        the data of `fit` it is `objective_` / s.
        """
        values = self._new_values(X)
        return self._profiles.explained(values)

    def _new_values(self, X: Any) -> list[Any]:
        check_is_fitted(self)
        return self._form.new_values(self, X, np.flatnonzero(self.support_))

    def fit_predict(self, X: Any, y: None = None) -> npt.NDArray[np.intp]:
        """Labels of the items of X."""
        return self.fit(X).labels_

    @abstractmethod
    def fit(self, X: Any, y: None = None) -> Self:
        """Find the groups of the rows of X and the columns that make them."""

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
                f"{sizes.size} clusters of {', '.join(map(str, sizes))} items",
                f"{self._profiles.n_features} of {self._n_features} features make them; the clusters explain "
                f"{self.feature_scores_[chosen].mean():.0%} of their spread",
                f"most telling: {best}",
            ]
        )
