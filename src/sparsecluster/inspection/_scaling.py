"""Centering and standardizing columns by some of their rows, all by default. Missing values stay missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import Floats

ALL: Any = slice(None)
# Standardized values of other rows than those that a column is scaled by are no larger than this.
FARTHEST = 1e6


def centered(table: Floats, rows: Any = ALL) -> Floats:
    """Subtract its mean from each column. Missing values are NaN."""
    origin = np.nan_to_num(np.fmin.reduce(table[rows], axis=0))
    # The mean of the differences is exact even if the values are large compared to their spread.
    shifted = table - origin
    seen = np.maximum((~np.isnan(table[rows])).sum(axis=0), 1)
    return np.asarray(shifted - np.nansum(shifted[rows], axis=0) / seen)


def as_block(points: Floats, standardize: bool, rows: Any = ALL) -> Floats:
    """Center the coordinates of one column and, if asked for, scale them to a total variance of 1."""
    table = centered(points, rows)
    if not standardize:
        return table
    n_observed = max(int(np.count_nonzero(~np.isnan(points[rows, 0]))), 1)
    variance = float(np.nansum(table[rows] ** 2)) / n_observed
    return np.asarray(table / np.sqrt(variance) if variance > 0 else table)


def standardized(table: Floats, rows: Any = ALL) -> Floats:
    """Subtract its mean from each column and divide by its standard deviation. Constant columns become 0.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    # The values are halved and divided by their range first, so that neither differences nor squares overflow.
    halves = table / 2
    low = np.nan_to_num(np.fmin.reduce(halves[rows], axis=0))
    width = np.nan_to_num(np.fmax.reduce(halves[rows] - low, axis=0))
    with np.errstate(over="ignore"):
        unit = (halves - low) / np.where(width > 0, width, 1.0)
    unit = centered(np.clip(unit, -FARTHEST, FARTHEST), rows)
    seen = np.maximum((~np.isnan(table[rows])).sum(axis=0), 1)
    spread = np.sqrt(np.nansum(unit[rows] ** 2, axis=0) / seen)
    return np.asarray(unit / np.where(spread > 0, spread, 1.0))
