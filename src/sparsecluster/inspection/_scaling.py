"""Centering and standardizing columns. Missing values stay missing."""

from __future__ import annotations

import numpy as np

from .._utils.arrays import Floats


def centered(table: Floats) -> Floats:
    """Subtract its mean from each column. Missing values are NaN."""
    origin = np.nan_to_num(np.fmin.reduce(table, axis=0))
    # The mean of the differences is exact even if the values are large compared to their spread.
    shifted = table - origin
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    return np.asarray(shifted - np.nansum(shifted, axis=0) / seen)


def as_block(points: Floats, standardize: bool) -> Floats:
    """Center the coordinates of one column and, if asked for, scale them to a total variance of 1."""
    table = centered(points)
    if not standardize:
        return table
    n_observed = max(int(np.count_nonzero(~np.isnan(points[:, 0]))), 1)
    variance = float(np.nansum(table**2)) / n_observed
    return np.asarray(table / np.sqrt(variance) if variance > 0 else table)


def standardized(table: Floats) -> Floats:
    """Subtract its mean from each column and divide by its standard deviation. Constant columns become 0.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    # The values are halved and divided by their range first, so that neither differences nor squares overflow.
    halves = table / 2
    low = np.nan_to_num(np.fmin.reduce(halves, axis=0))
    width = np.nan_to_num(np.fmax.reduce(halves - low, axis=0))
    unit = centered((halves - low) / np.where(width > 0, width, 1.0))
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    spread = np.sqrt(np.nansum(unit**2, axis=0) / seen)
    return np.asarray(unit / np.where(spread > 0, spread, 1.0))
