"""Preprocessing of gene expression data."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._utils.arrays import Floats
from ._utils.checks import check_bool

# Counts and raw intensities exceed this value, but their logarithms do not.
LARGEST_LOG = 50.0


class ExpressionScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transform gene expression data by log2(1 + x) if necessary, and scale each sample to mean 0 and variance 1.

    Samples differ in their total amount of measured material, and scaling makes them comparable. With `log="auto"`,
    logarithms are taken if no value is negative and some value is above 50, which is typical of counts and raw
    intensities. Missing values stay missing.

    Parameters
    ----------
    log : "auto" or bool, default="auto"
        Whether to take logarithms. "auto" decides by the range of the values.

    Attributes
    ----------
    log_ : bool
        Whether logarithms are taken.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`. Defined only if X has column names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsecluster import ExpressionScaler
    >>> counts = np.array([[0.0, 10.0, 100.0], [5.0, 50.0, 500.0]])
    >>> scaler = ExpressionScaler().fit(counts)
    >>> scaler.log_, scaler.transform(counts).mean(axis=1).round(6).tolist()
    (True, [0.0, 0.0])
    """

    def __init__(self, log: Literal["auto"] | bool = "auto") -> None:
        self.log = log

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: None = None) -> Self:
        """Decide whether to take logarithms.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Expression of each gene (column) in each sample (row). Missing values are allowed.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted transformer.
        """
        if self.log != "auto":
            check_bool("log", self.log, ' or "auto"')
        table = self._read(X, reset=True)
        low, high = np.nanmin(table), np.nanmax(table)
        self.log_ = bool(low >= 0 and high > LARGEST_LOG) if self.log == "auto" else bool(self.log)
        if self.log_ and low < 0:
            raise ValueError(
                f"log=True requires values of at least 0; the smallest is {low:.4g}. Use log=False if the values are "
                "logarithms already."
            )
        return self

    def transform(self, X: Any) -> Floats:
        """Take logarithms if `fit` decided so, and scale each sample to mean 0 and variance 1.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples with the same columns as in `fit`. Missing values are allowed.

        Returns
        -------
        X_scaled : ndarray of shape (n_samples, n_features)
            Scaled samples.
        """
        check_is_fitted(self)
        table = self._read(X, reset=False).astype(np.float64)
        if self.log_:
            if np.nanmin(table) < 0:
                raise ValueError(
                    "Logarithms were taken in fit, but some of the new values are below 0. Pass values on the same "
                    "scale as in fit."
                )
            table = np.log2(1.0 + table)
        # A sample without any observed value is left unchanged.
        seen = ~np.isnan(table)
        counts = np.maximum(seen.sum(axis=1, keepdims=True), 1)
        table = table - np.where(seen, table, 0.0).sum(axis=1, keepdims=True) / counts
        spread = np.sqrt((np.where(seen, table, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
        return np.asarray(table / np.where(spread > 0, spread, 1.0))

    def _read(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
