"""The middle of every column in every cluster, in the user's units: for reading, not for computing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from .._features.base import Floats, Table
from .columns import Column, ColumnTable

# Values looked at together.
BLOCK_VALUES = 2**20


def centers(table: ColumnTable, labels: npt.NDArray[np.intp], k: int) -> npt.NDArray[Any] | None:
    """k x p: means, medians of columns compared by distance, commonest levels; None where a function compares."""
    columns = table.columns
    if any(not isinstance(column.kind, str) for column in columns):
        return None
    if all(column.kind == "sqeuclidean" for column in columns):
        return means(table.values, labels, k)
    groups = [table.values[labels == c] for c in range(k)]
    middles = [[middle(group[:, a], column) for a, column in enumerate(columns)] for group in groups]
    has_levels = any(column.levels is not None for column in columns)
    return np.array(middles, dtype=object if has_levels else np.float64)


def sparse_means(X: Any, labels: npt.NDArray[np.intp], k: int) -> Floats:
    """Means of the columns of a sparse matrix."""
    members = scipy.sparse.csr_array((np.ones(labels.size), (labels, np.arange(labels.size))), (k, labels.size))
    return np.asarray((members @ X).toarray() / np.bincount(labels, minlength=k)[:, None])


def middle(values: Table, column: Column) -> Any:
    """Mean, median or commonest level of what is seen; None or NaN where nothing is."""
    seen = values[~np.isnan(values)]
    if not seen.size:
        return np.nan if column.levels is None else None
    if column.levels is None:
        return float(np.mean(seen) if column.kind == "sqeuclidean" else np.median(seen))
    if column.kind == "hamming":
        return column.levels[int(np.argmax(np.bincount(seen.astype(int))))]
    # The lower of two middle ranks: half a level does not exist.
    return column.levels[int(np.sort(seen)[(seen.size - 1) // 2])]


def means(X: Table, labels: npt.NDArray[np.integer[Any]], k: int) -> Floats:
    """Mean of what is seen of every column in every cluster.

    Sums are of differences to a value of the column, so that a small spread about a large value keeps its digits.
    """
    origin = np.nan_to_num(np.fmin.reduce(X, axis=0).astype(np.float64))
    sums, counts = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1]))
    block = max(1, BLOCK_VALUES // X.shape[1])
    for first in range(0, len(X), block):
        shifted = X[first : first + block] - origin
        seen = ~np.isnan(shifted)
        member = (labels[first : first + block] == np.arange(k)[:, None]).astype(np.float64)
        sums += member @ np.where(seen, shifted, 0.0)
        counts += member @ seen
    with np.errstate(invalid="ignore"):
        return np.asarray(origin + sums / counts)
