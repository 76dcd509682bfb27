"""Levels that are whole numbers near to each other, such as genotypes or grades: all columns are read at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.levels import mark_levels, rank_levels
from .._utils.arrays import Table
from .kinds.levels import Hamming, Ordinal
from .source import ColumnTable

# The metrics by which the codes of numbers are their ranks among the values that occur.
RANKED: dict[Any, type[Hamming | Ordinal]] = {"hamming": Hamming, "ordinal": Ordinal}
# Values that are further apart are not looked up in a table.
MOST_APART = 256


def levels_at_once(X: Table, metric: Any) -> ColumnTable | None:
    """The columns of a table of numbers as codes, as if each were read alone, and the meaning of the codes.

    None unless the metric is one of levels or ranks for all columns, and the values of each column differ by whole
    numbers that are not too large.
    """
    if not isinstance(metric, str) or metric not in RANKED:
        return None
    table = np.ascontiguousarray(X, dtype=np.float64)
    low = np.fmin.reduce(table, axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.fmax.reduce(table, axis=0) - low
    if not (apart < MOST_APART).all():
        return None
    marks = np.zeros((low.size, int(apart.max()) + 1), np.uint8)
    if not mark_levels(table, low, marks):
        return None
    codes = np.empty_like(table)
    rank_levels(table, low, np.cumsum(marks, axis=1) - 1.0, codes)
    # Columns with the same levels share one object.
    _, first, which = np.unique(np.column_stack([low, marks]), axis=0, return_index=True, return_inverse=True)
    kinds = [RANKED[metric](tuple((low[a] + np.flatnonzero(marks[a])).tolist())) for a in first.tolist()]
    return ColumnTable(codes, tuple(kinds[number] for number in which.ravel().tolist()))
