"""One arrangement for a table, however its rows and columns arrive.

Random numbers are drawn by position and sums are rounded in an order. Both would make the answer depend on how the rows
and columns happen to be arranged, so they are first put in an order that only their contents decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels.order import column_fingerprints, mixed, row_fingerprints
from .base import Subset, Table

# Rows looked at together; a block of the usual width stays in the second-level cache.
BLOCK_VALUES = 2**17
# In each round columns are told apart by the rows so far and rows by the columns; few tables need the third.
ROUNDS = 3


class Arrangement(NamedTuple):
    """Order of the items and of the columns, and a number of items that surely differ."""

    items: Subset
    columns: Subset
    distinct_items: int


def arrangement(table: Table, columns: Subset) -> Arrangement:
    """The order of the rows and of the given columns of a table, decided by their contents alone.

    Columns that no fingerprint tells apart, as those of an identity matrix, are ordered by their values in the rows as
    they come: then the order of the columns never matters, and that of the rows only in tables so small and symmetric.
    """
    rows = np.zeros(len(table), np.uint64)
    prints = np.zeros(columns.size, np.uint64)
    step = max(1, BLOCK_VALUES // columns.size)
    blocks = [slice(first, first + step) for first in range(0, len(table), step)]
    for _ in range(ROUNDS):
        salts, prints = mixed(rows), np.zeros_like(prints)
        for block in blocks:
            column_fingerprints(_bits(table[block], columns), salts[block], prints)
        salts, rows = mixed(prints), np.zeros_like(rows)
        for block in blocks:
            row_fingerprints(_bits(table[block], columns), salts, rows[block])
    ordered = columns[order_of(prints, lambda a: _bytes(table[:, columns[a]]))]
    return Arrangement(order_of(rows, lambda i: _bytes(table[i, ordered])), ordered, np.unique(rows).size)


def order_of(prints: npt.NDArray[np.uint64], contents: Callable[[int], bytes]) -> Subset:
    """By fingerprint; where two are equal, by what is there."""
    order = np.argsort(prints, kind="stable")
    same = np.flatnonzero(np.diff(prints[order]) == 0)
    tied = np.union1d(same, same + 1)
    if tied.size:
        keys = {i: (prints[i], contents(i)) for i in order[tied].tolist()}
        order[tied] = sorted(keys, key=keys.__getitem__)
    return order


def _bytes(values: Table) -> bytes:
    # Zeros of one sign, as in their bits.
    return (values + 0.0).tobytes()


def _bits(block: Table, columns: Subset) -> npt.NDArray[np.uint64]:
    if columns.size < block.shape[1]:
        block = block[:, columns]
    # Adding zero turns -0.0 into 0.0: they are equal and must have equal fingerprints.
    return (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)
