"""A table in memory, read in blocks of rows, so that nothing of its size is ever copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import joblib
import numpy as np

from .._utils.arrays import Labels, Subset
from .sums import added, is_sparse

T = TypeVar("T")

# The number of values in a block: few enough to stay in the cache, enough to make the overhead of a call small.
BLOCK_VALUES = 2**18
# How many times as many values a sparse block stores: the sums of all its columns should be made for many rows at once.
STORED_MORE = 8


def slices(n_rows: int, n_columns: int) -> list[slice]:
    """The rows of a table in blocks that stay in the cache."""
    step = max(1, BLOCK_VALUES // max(n_columns, 1))
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]


def slices_of(values: Any) -> list[slice]:
    """The rows of a table in blocks. What counts in a sparse table is what it stores, which is read only once."""
    n, p = values.shape
    return slices(n, values.nnz // max(n, 1) // STORED_MORE if is_sparse(values) else p)


def cut(values: Any, rows: slice, columns: Subset | None) -> Any:
    """A block of a table: the given rows and columns, with the values of a row next to each other."""
    # A slice of a sparse matrix is a copy.
    block = values if (rows.start, rows.stop) == (0, values.shape[0]) else values[rows]
    block = block if columns is None else block[:, columns]
    return block if is_sparse(block) else np.ascontiguousarray(block)


@dataclass(frozen=True)
class MemoryBlocks:
    """A table of codes, of shape (n_samples, n_columns): an array, or a sparse matrix compressed by row."""

    values: Any
    n_jobs: int | None = None

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    def _map(self, function: Callable[[Any], T], columns: Subset | None) -> list[T] | Any:
        blocks = slices_of(self.values)
        n_jobs = min(joblib.effective_n_jobs(self.n_jobs), len(blocks))
        if n_jobs == 1:
            return (function(cut(self.values, rows, columns)) for rows in blocks)
        parallel = joblib.Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
        return parallel(joblib.delayed(lambda rows: function(cut(self.values, rows, columns)))(rows) for rows in blocks)

    def total(self, function: Callable[[Any], T], columns: Subset | None = None) -> T:
        """The sum of function(block) over all blocks."""
        return reduce(added, self._map(function, columns))

    def each(self, function: Callable[[Any], Labels]) -> Labels:
        """An array of one value per sample."""
        return np.concatenate(list(self._map(function, None)))
