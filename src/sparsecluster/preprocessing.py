"""Gene expression: each sample centered and scaled, after logarithms where the values ask for them."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._features.base import Floats
from ._utils.checks import check_bool

# Counts and raw intensities go beyond this; logarithms of them do not.
LARGEST_LOG = 50.0


class ExpressionScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Prepares samples x genes: log2(1 + x) where the values ask for it, then every sample to mean 0 and variance 1.

    Samples differ in how much of everything was measured; this puts them on the same footing. Logarithms are taken if
    no value is below zero and some are above 50. Gaps stay gaps.

    Parameters
    ----------
    log : "auto" or bool, default="auto"
        Whether to take logarithms.

    Attributes
    ----------
    log_ : whether logarithms are taken.

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
        """Decide whether to take logarithms."""
        if self.log != "auto":
            check_bool("log", self.log, ' or "auto"')
        table = self._read(X, reset=True)
        low, high = np.nanmin(table), np.nanmax(table)
        self.log_ = bool(low >= 0 and high > LARGEST_LOG) if self.log == "auto" else bool(self.log)
        if self.log_ and low < 0:
            raise ValueError(f"log=True needs values of at least 0; the smallest is {low:.4g}.")
        return self

    def transform(self, X: Any) -> Floats:
        """Every sample on the same footing."""
        check_is_fitted(self)
        table = self._read(X, reset=False).astype(np.float64)
        if self.log_:
            if np.nanmin(table) < 0:
                raise ValueError("Logarithms were taken in fit, and now some values are below 0.")
            table = np.log2(1.0 + table)
        # Of a sample without any value there is nothing to say; it stays as it is.
        seen = ~np.isnan(table)
        counts = np.maximum(seen.sum(axis=1, keepdims=True), 1)
        table = table - np.where(seen, table, 0.0).sum(axis=1, keepdims=True) / counts
        spread = np.sqrt((np.where(seen, table, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
        return np.asarray(table / np.where(spread > 0, spread, 1.0))

    def _read(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
