"""An order of the rows and columns of a table that does not depend on the order in which they are given.

Random numbers are drawn by position, and sums depend on the order of their terms through rounding. Both would make the
result depend on how rows and columns happen to be arranged, so they are first sorted by their contents alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.matrices import Matrices
from .._kernels.matrices import matrix_fingerprints
from .._kernels.order import add_salts, column_fingerprints, mixed, row_fingerprints
from .._utils.arrays import Subset, Table

# Number of values processed together, so that a block stays in the second-level cache.
BLOCK_VALUES = 2**17
# In each round, columns are distinguished by the rows so far, and rows by the columns; few tables need the third round.
ROUNDS = 3
# With more rows than this, columns that hold different values have different fingerprints after the first round.
FEW_ROWS = 2000
# So many rows are looked at first to find out whether there are a few distinct ones.
FIRST_ROWS = 256


class Arrangement(NamedTuple):
    """The order of the samples, the order of the columns, and a lower bound on the number of distinct samples."""

    samples: Subset
    columns: Subset
    distinct_samples: int


def arrangement(table: Table, columns: Subset, levels: npt.NDArray[np.bool_] | None = None) -> Arrangement:
    """The order of the rows and of the given columns of a table, determined by their contents alone.

    For columns marked in `levels`, codes have no meaning; it only matters which samples have the same one.

    Columns with equal fingerprints, such as those of an identity matrix, are ordered by their values in the rows as
    given. The order of the columns in the input therefore never matters, and that of the rows matters only in such
    small and symmetric tables.
    """
    rows = np.zeros(len(table), np.uint64)
    prints = np.zeros(columns.size, np.uint64)
    step = max(1, BLOCK_VALUES // columns.size)
    blocks = [slice(first, first + step) for first in range(0, len(table), step)]
    coded = np.flatnonzero(levels[columns]) if levels is not None else columns[:0]
    numbers = level_numbers(table[:, columns[coded]]) if coded.size else None
    # The bits of a small table are kept.
    only = _bits(table, columns) if len(blocks) == 1 else None

    def in_blocks() -> Iterator[tuple[slice, npt.NDArray[np.uint64]]]:
        for block in blocks:
            bits = _bits(table[block], columns) if only is None else only
            if names is not None:
                bits[:, coded] = names[block]
            yield block, bits

    for _ in range(ROUNDS):
        salts, prints = mixed(rows), np.zeros_like(prints)
        names = level_names(*numbers, salts) if numbers is not None else None
        for block, bits in in_blocks():
            column_fingerprints(bits, salts[block], prints)
        salts, rows = mixed(prints), np.zeros_like(rows)
        for block, bits in in_blocks():
            row_fingerprints(bits, salts, rows[block])
        if are_told_apart(prints, len(table)):
            break
    ordered = columns[order_of(prints, lambda a: _bytes(table[:, columns[a]]))]
    samples = order_of(rows, lambda i: _bytes(table[i, ordered]))
    return Arrangement(samples, ordered, int(np.count_nonzero(np.diff(rows[samples]))) + 1)


def has_distinct_rows(table: Table, columns: Subset, least: int) -> bool:
    """Whether a table has at least this many distinct rows, by `Arrangement.distinct_samples`."""
    # Usually, the first rows show it by their values alone: rows that these tell apart, further rounds do as well.
    first = np.zeros(min(len(table), FIRST_ROWS), np.uint64)
    row_fingerprints(_bits(table[: first.size], columns), np.zeros(columns.size, np.uint64), first)
    return np.unique(first).size >= least or arrangement(table, columns).distinct_samples >= least


def are_told_apart(prints: npt.NDArray[np.uint64], n_rows: int) -> bool:
    """Whether another round is not needed: there are many rows, and all columns have different fingerprints."""
    return n_rows > FEW_ROWS and np.unique(prints).size == prints.size


def order_of(prints: npt.NDArray[np.uint64], contents: Callable[[int], bytes]) -> Subset:
    """The order by fingerprint; ties are broken by the contents."""
    order = np.argsort(prints, kind="stable")
    same = np.flatnonzero(np.diff(prints[order]) == 0)
    if same.size:
        tied = np.union1d(same, same + 1)
        keys = {i: (prints[i], contents(i)) for i in order[tied].tolist()}
        order[tied] = sorted(keys, key=keys.__getitem__)
    return order


def _bytes(values: Table) -> bytes:
    # Adding zero turns -0.0 into 0.0, as in `_bits`.
    return (values.astype(np.float64) + 0.0).tobytes()


def _bits(block: Table, columns: Subset) -> npt.NDArray[np.uint64]:
    if columns.size < block.shape[1]:
        block = block[:, columns]
    # Adding zero turns -0.0 into 0.0: they are equal and must have equal fingerprints.
    return (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)


def level_numbers(codes: Table) -> tuple[Subset, int]:
    """A number for every value, the same only for equal levels of one column; and how many numbers there may be."""
    known = np.where(np.isnan(codes), -1.0, codes)
    if ((known >= -1) & (known < len(codes)) & (known == np.floor(known))).all():
        ranks = known.astype(np.intp)  # as in all columns whose levels were sorted while they were read
    else:
        ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T])
    ranks -= ranks.min()
    many = int(ranks.max()) + 1
    return ranks + many * np.arange(codes.shape[1]), many * codes.shape[1]


def level_names(numbers: Subset, count: int, salts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """For every value, the sum of the salts of the rows that have the same level in its column."""
    sums = np.zeros(count, np.uint64)
    add_salts(numbers, salts, sums)
    return sums[numbers]


def matrix_arrangement(matrices: Matrices) -> Arrangement:
    """The order of the samples and of the matrices, determined by their contents alone."""
    samples = np.zeros(matrices.n_samples, np.uint64)
    prints = np.zeros(matrices.count, np.uint64)
    for _ in range(ROUNDS):
        salts, feature_salts, samples = mixed(samples), mixed(prints), np.zeros_like(samples)
        for a in range(matrices.count):
            bits = (np.ascontiguousarray(matrices[a], dtype=np.float64) + 0.0).view(np.uint64)
            prints[a] = matrix_fingerprints(bits, salts, feature_salts[a], samples)
    return Arrangement(np.argsort(samples, kind="stable"), np.argsort(prints, kind="stable"), np.unique(samples).size)
