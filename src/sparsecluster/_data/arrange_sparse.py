"""The arrangement of a sparse table: the same as for a dense copy of the table, but from the stored values."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix

from .._kernels.order import mixed
from .._kernels.stored import stored_column_prints, stored_row_prints
from .._utils.arrays import Subset
from .arrange import ROUNDS, Arrangement, are_told_apart, order_of

ByColumn: TypeAlias = "csc_array[Any] | csc_matrix[Any]"
ByRow: TypeAlias = "csr_array[Any] | csr_matrix[Any]"


def tidy(matrix: ByColumn | ByRow, columns: Subset, samples: Subset | None = None) -> ByColumn:
    """A copy of the given columns and samples (default: all) in which each value is stored once and zeros are not."""
    part = matrix.tocsc()[:, columns]
    if samples is not None:
        part = part[samples]
    part.sum_duplicates()
    part.eliminate_zeros()
    return part


def sparse_arrangement(matrix: ByColumn | ByRow, columns: Subset) -> Arrangement:
    """`arrangement` of matrix.toarray()."""
    by_column = tidy(matrix, columns)
    bits = by_column.data.astype(np.float64, copy=False).view(np.uint64)
    places, starts = by_column.indices, by_column.indptr
    rows = np.zeros(matrix.shape[0], np.uint64)
    every = np.ones(rows.size, bool)
    for _ in range(ROUNDS):
        # What is compressed by column is the transposed table compressed by row, so that no other copy is needed.
        prints = stored_row_prints(bits, places, starts, mixed(rows), every)
        rows = stored_column_prints(bits, places, starts, mixed(prints), rows.size)
        if are_told_apart(prints, rows.size):
            break
    order = order_of(prints, lambda a: _key(by_column, a))
    # Copies that are made only if some rows have equal fingerprints.
    arranged = cache(lambda: by_column[:, order].tocsr())
    return Arrangement(order_of(rows, lambda i: _key(arranged(), i)), columns[order], np.unique(rows).size)


def _key(matrix: ByColumn | ByRow, at: int) -> bytes:
    """A short key that sorts like the bytes of the dense row or column.

    All bytes of 0.0 are zero. Of two rows, the larger is therefore the one whose first stored value comes earlier or,
    in the same place, has larger bytes. The key lists places, counted downwards, each followed by the value.
    """
    stored = slice(matrix.indptr[at], matrix.indptr[at + 1])
    values = matrix.data[stored].astype(np.float64) + 0.0
    pairs = np.empty(values.size, [("place", ">i8"), ("value", values.dtype)])
    pairs["place"] = max(matrix.shape) - matrix.indices[stored]
    pairs["value"] = values
    return pairs.tobytes()
