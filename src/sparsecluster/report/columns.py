"""The user's columns as numbers that can be drawn, whatever kind of table they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..features.base import Floats


def drawable(estimator: Any, X: Any, columns: Any) -> Floats:
    """Some columns of X as numbers, NaN in gaps: levels as their codes, other things as the estimator reads them."""
    if scipy.sparse.issparse(X):
        given: Any = X
        return np.asarray(given.tocsc()[:, columns].toarray(), np.float64)
    form = getattr(estimator, "_form", None)
    if form is not None and hasattr(form, "columns"):
        values = form.new_values(estimator, X, np.asarray(columns))
        return np.column_stack([np.asarray(each, np.float64) for each in values]) if values else np.empty((len(X), 0))
    return np.asarray(np.asarray(X)[:, columns], np.float64)


def standardised(values: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1 of what is seen; gaps are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = values - np.nanmean(values, axis=0)
        spread = np.nanstd(values, axis=0)
    return np.nan_to_num(centred / np.where(spread > 0, spread, 1.0), nan=0.0)


def two_components(values: Floats) -> tuple[Floats, list[float]]:
    """The first two principal components of standardised columns, and their shares of the variance."""
    Z = standardised(values)
    if Z.shape[1] == 1:
        Z = np.column_stack([Z, np.zeros(len(Z))])
    # Of a wide table the n x n products are enough.
    gram = Z @ Z.T
    lengths, left = np.linalg.eigh(gram)
    lengths, left = np.maximum(lengths[::-1][:2], 0.0), left[:, ::-1][:, :2]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    total = max(float(np.trace(gram)), np.finfo(float).tiny)
    return left * signs * np.sqrt(lengths), (lengths / total).tolist()
