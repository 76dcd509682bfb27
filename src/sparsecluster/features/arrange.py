"""One arrangement for a table, however its rows and columns arrive.

Random numbers are drawn by position and sums are rounded in an order. Both would make the answer depend on how the rows
and columns happen to be arranged, so they are first put in an order that only their contents decide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels.order import column_fingerprints, row_fingerprints
from .base import Subset, Table

# Rows looked at together; a block of the usual width stays in the second-level cache.
BLOCK_VALUES = 2**17


class Arrangement(NamedTuple):
    """Order of the items and of the columns, and the number of items that differ."""

    items: Subset
    columns: Subset
    distinct_items: int


def arrangement(table: Table, columns: Subset) -> Arrangement:
    """The order of the rows and of the given columns of a table, decided by their contents alone.

    Only equal rows (or columns) have their order left to chance, and it does not matter which of them is which.
    """
    rows = np.zeros(len(table), np.uint64)
    prints = np.zeros(columns.size, np.uint64)
    step = max(1, BLOCK_VALUES // columns.size)
    blocks = [slice(first, first + step) for first in range(0, len(table), step)]
    for block in blocks:
        row_fingerprints(_bits(table[block], columns), prints, rows[block])
    for block in blocks:
        column_fingerprints(_bits(table[block], columns), rows[block], prints)
    rows[:] = 0
    for block in blocks:
        row_fingerprints(_bits(table[block], columns), prints, rows[block])
    by_print = np.argsort(prints, kind="stable")
    return Arrangement(np.argsort(rows, kind="stable"), columns[by_print], np.unique(rows).size)


def _bits(block: Table, columns: Subset) -> npt.NDArray[np.uint64]:
    if columns.size < block.shape[1]:
        block = block[:, columns]
    # Adding zero turns -0.0 into 0.0: they are equal and must have equal fingerprints.
    return (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)
