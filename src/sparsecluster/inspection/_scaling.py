"""Columns about their means, and in standard deviations; missing values stay missing."""

from __future__ import annotations

import numpy as np

from .._features.base import Floats


def centered(table: Floats) -> Floats:
    """Every column minus its mean; NaN where values are missing."""
    origin = np.nan_to_num(np.fmin.reduce(table, axis=0))
    # Means of differences, so that a small spread about a large value keeps its digits.
    shifted = table - origin
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    return np.asarray(shifted - np.nansum(shifted, axis=0) / seen)


def as_block(points: Floats, standardize: bool) -> Floats:
    """The coordinates of one column minus their means; if standardized, with variance 1 in all."""
    table = centered(points)
    if not standardize:
        return table
    n_observed = max(int(np.count_nonzero(~np.isnan(points[:, 0]))), 1)
    variance = float(np.nansum(table**2)) / n_observed
    return np.asarray(table / np.sqrt(variance) if variance > 0 else table)


def standardized(table: Floats) -> Floats:
    """Every column minus its mean, divided by its standard deviation; zeros where a column does not vary.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    # Halves first, then divided by the width: neither differences nor squares leave the range of numbers.
    halves = table / 2
    low = np.nan_to_num(np.fmin.reduce(halves, axis=0))
    width = np.nan_to_num(np.fmax.reduce(halves - low, axis=0))
    unit = centered((halves - low) / np.where(width > 0, width, 1.0))
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    spread = np.sqrt(np.nansum(unit**2, axis=0) / seen)
    return np.asarray(unit / np.where(spread > 0, spread, 1.0))
