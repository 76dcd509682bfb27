"""Selection of the largest of many numbers, and of the columns that belong to them."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel


@inline
def ordered(value):
    """The value itself, and the least of all for NaN, which is neither smaller nor larger than any other."""
    return value if value == value else -np.inf


@kernel
def largest(values, count):
    """Indices of the `count` largest values, in ascending order; ties go to the first, and NaN comes last."""
    work = np.empty(values.size)
    for a in range(values.size):
        work[a] = ordered(values[a])
    low, high, rank = 0, work.size - 1, work.size - count
    # Quickselect: work[rank] becomes the smallest chosen value.
    while low < high:
        middle = (low + high) // 2
        # With the median of three as pivot, sorted input is not the worst case.
        a, b, c = work[low], work[middle], work[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while work[i] < pivot:
                i += 1
            while work[j] > pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    least = work[rank]
    ties = count
    for a in range(values.size):
        if values[a] > least:
            ties -= 1
    chosen = np.empty(count, np.intp)
    filled = 0
    for a in range(values.size):
        value = ordered(values[a])
        if value > least or (value == least and ties > 0):
            if value == least:
                ties -= 1
            chosen[filled] = a
            filled += 1
    return chosen


@kernel
def take_columns(table, columns):
    """A contiguous copy of some columns."""
    rows = np.empty((table.shape[0], columns.size), table.dtype)
    for i in range(table.shape[0]):
        for j in range(columns.size):
            rows[i, j] = table[i, columns[j]]
    return rows
