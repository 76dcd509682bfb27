"""A user's own dissimilarity of two values, applied to all pairs of a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._features.base import Floats

# Entries of a matrix computed in one call that are computed one by one as well, to see that they mean the same.
CHECKED = 20


def all_pairs(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Floats:
    """function(x, y) for all x in `left` and y in `right`: in one call where it takes arrays, else one by one."""
    rng = np.random.default_rng(0)
    try:
        with np.errstate(all="ignore"):
            matrix = np.asarray(function(left[:, None], right[None, :]), dtype=np.float64)
        if matrix.shape == (len(left), len(right)):
            places = rng.integers([len(left), len(right)], size=(CHECKED, 2))
            if all(matrix[i, j] == float(function(left[i], right[j])) for i, j in places):
                return matrix
    except Exception:
        pass
    return np.array([[float(function(x, y)) for y in right] for x in left]).reshape(len(left), len(right))


def column_matrix(function: Callable[[Any, Any], Any], values: Any, seen: Any) -> Floats:
    """function(x_i, x_j) of all pairs of samples, NaN where one of them is not seen."""
    matrix = np.full((len(values), len(values)), np.nan)
    places = np.flatnonzero(seen)
    matrix[np.ix_(places, places)] = all_pairs(function, values[places], values[places])
    return matrix
