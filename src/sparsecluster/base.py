"""What every estimator here shares: chosen features, names, prediction by nearest centre, a summary."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .checks import NAMES_SHOWN, check_finite, check_numeric_columns
from .features.base import Table


class SparseClusterer(SelectorMixin, ClusterMixin, BaseEstimator):
    """Groups items and selects features: `labels_` and a mask, with scikit-learn's selector API.

    A subclass sets, in `fit`, `labels_`, `support_`, `feature_scores_`, `cluster_centers_` (k x p, in user's units),
    `_spread` (standard deviation of each feature) and `_scale` (what it is divided by before distances are taken).
    """

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _names(self) -> list[str]:
        """Names of all columns seen in fit."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{a}" for a in range(self.n_features_in_)] if names is None else list(names)

    def _new_items(self, X: Any) -> Table:
        check_is_fitted(self)
        check_numeric_columns(X)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=False)
        check_finite(X, self._names())
        return X

    def _nearest(self, X: Table) -> npt.NDArray[np.intp]:
        """Nearest centre on the chosen features, given alone, each divided by its scale."""
        centres, scale = self.cluster_centers_[:, self.support_], self._scale[self.support_]
        return np.argmin([(((X - centre) / scale) ** 2).sum(axis=1) for centre in centres], axis=0)

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Nearest cluster of each item, by the chosen features alone."""
        return self._nearest(self._new_items(X)[:, self.support_])

    def score(self, X: Any, y: None = None) -> float:
        """Share of the chosen features' spread that the nearest centres explain; 1 is perfect.

        1 - (1/s) sum_{a in S} mean_i (x_ia - c_{k(i) a})^2 / v_a, with v_a the variance of feature a in `fit`.
        On the data of `fit` it is `objective_` / s.
        """
        chosen = self._new_items(X)[:, self.support_]
        centres = self.cluster_centers_[:, self.support_][self._nearest(chosen)]
        return float(1.0 - np.mean(((chosen - centres) / self._spread[self.support_]) ** 2))

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
                f"{chosen.size} of {self.n_features_in_} features make them; the clusters explain "
                f"{self.feature_scores_[chosen].mean():.0%} of their spread",
                f"most telling: {best}",
            ]
        )
