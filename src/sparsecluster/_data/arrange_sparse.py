"""The arrangement of a sparse table: the same as for a dense copy of the table, but from the stored values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix

from .._kernels.order import mixed
from .._kernels.sparse import sparse_fingerprints
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
    by_row = by_column.tocsr()
    rows = np.zeros(matrix.shape[0], np.uint64)
    for _ in range(ROUNDS):
        prints = _fingerprints(by_column, mixed(rows))
        rows = _fingerprints(by_row, mixed(prints))
        if are_told_apart(prints, rows.size):
            break
    order = order_of(prints, lambda a: _key(by_column, a))
    arranged = by_column[:, order].tocsr()
    return Arrangement(order_of(rows, lambda i: _key(arranged, i)), columns[order], np.unique(rows).size)


def _fingerprints(matrix: ByColumn | ByRow, salts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Fingerprints of the columns or rows, depending on how the matrix is compressed."""
    bits = matrix.data.astype(np.float64).view(np.uint64)
    return sparse_fingerprints(bits, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64), salts)


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
