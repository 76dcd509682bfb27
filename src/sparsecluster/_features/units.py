"""How much each feature counts when samples are clustered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .base import Floats, Table

Flags = npt.NDArray[np.bool_]


def counted_totals(
    total: Floats, standardize: bool, two_valued: Flags, largest: Any = 1.0, shares: Any = 1.0, seen: Any = 1.0
) -> Floats:
    """The total that each feature is given in the sum of dissimilarities, where a member of a group has its share.

    Standardized features have their share as total, whatever their units. A feature whose dissimilarity is either 0 or
    one value, its `largest` (levels, two numbers), has a unit of its own, and needs none of this: dividing by the total
    would make a level that few samples have count more than one that divides them. Such features keep the plain Hamming
    dissimilarity, as in the authors' code, on a scale where they have their share on average. `seen` is the share of
    the samples that have a value.
    """
    if not standardize:
        return np.asarray(total * shares / seen)
    counted = np.broadcast_to(np.asarray(shares, dtype=np.float64), total.shape).copy()
    if two_valued.any():
        spread = (total / np.maximum(largest * seen, np.finfo(float).tiny))[two_valued]
        counted[two_valued] *= spread / max(spread.mean(), np.finfo(float).tiny)
    return counted


def has_two_values(table: Table) -> Flags:
    """Which columns take no more than two values, missing values (NaN) aside."""
    low, high = np.fmin.reduce(table, axis=0), np.fmax.reduce(table, axis=0)
    # Most columns that are numbers show it in their first rows; only the others are looked at to the end.
    few = np.ones(table.shape[1], bool)
    for row in table[:8]:
        few &= (row == low) | (row == high) | np.isnan(row)
    rest = table[:, few]
    few[few] = ((rest == low[few]) | (rest == high[few]) | np.isnan(rest)).all(axis=0)
    return few
