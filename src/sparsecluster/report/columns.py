"""The user's columns as numbers that can be drawn, whatever kind of table they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .._features.base import Floats
from ..inspection._components import dense_plane


def drawable(estimator: Any, X: Any, columns: Any) -> Floats:
    """Some columns of X as numbers, NaN in gaps: levels as their codes, other things as the estimator reads them."""
    if scipy.sparse.issparse(X):
        given: Any = X
        return np.asarray(given.tocsc()[:, columns].toarray(), np.float64)
    form = getattr(estimator, "_form", None)
    if form is not None and hasattr(form, "columns"):
        values = form.new_values(estimator, X, np.asarray(columns))
        return np.column_stack([np.asarray(each, np.float64) for each in values]) if values else np.empty((len(X), 0))
    raise ValueError("these features have no columns to draw")


def standardized(values: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1 of what is seen; gaps are 0."""
    seen = ~np.isnan(values)
    counts = np.maximum(seen.sum(axis=0), 1)
    filled = np.where(seen, values, 0.0)
    centered = np.where(seen, values - filled.sum(axis=0) / counts, 0.0)
    spread = np.sqrt((centered**2).sum(axis=0) / counts)
    return np.asarray(centered / np.where(spread > 0, spread, 1.0))


def two_components(values: Floats) -> tuple[Floats, list[float]]:
    """The first two principal components of standardized columns, and their shares of the variance."""
    places, shares = dense_plane(standardized(values))
    return places, shares.tolist()
