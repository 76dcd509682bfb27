"""Blocks of a table that is mostly zero, compressed by row: extremes and fingerprints from the stored values alone.

Every value is stored at most once. Stored zeros, of either sign, count as zeros that are not stored.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .order import mix


@kernel
def stored_extremes(values, columns, low, high, stored, infinite):
    """Widen `low` and `high`, of shape (n_columns,), by the stored values; count these, and those that are infinite."""
    for t in range(values.size):
        a = columns[t]
        x = np.float64(values[t])
        stored[a] += 1
        if not np.isfinite(x):
            infinite[a] += 1
        low[a] = min(low[a], x)
        high[a] = max(high[a], x)


@kernel
def stored_row_prints(bits, columns, starts, salts, used):
    """`row_fingerprints` in the columns that are used; `salts` and `used` have one entry for every column."""
    zeros = np.zeros_like(salts)
    all_zero = np.uint64(0)
    for a in range(salts.size):
        if used[a]:
            # All bits of 0.0 are zero.
            zeros[a] = mix(salts[a])
            all_zero += zeros[a]
    prints = np.empty(starts.size - 1, np.uint64)
    for i in range(prints.size):
        total = all_zero
        for t in range(starts[i], starts[i + 1]):
            a = columns[t]
            # Without its sign, -0.0 is no different from 0.0.
            if used[a] and bits[t] << np.uint64(1):
                total += mix(bits[t] ^ salts[a]) - zeros[a]
        prints[i] = total
    return prints


@kernel
def stored_column_prints(bits, columns, starts, salts, n_columns):
    """`column_fingerprints` of all columns; `salts` has one entry for every row."""
    prints = np.zeros(n_columns, np.uint64)
    all_zero = np.uint64(0)
    for i in range(salts.size):
        zero = mix(salts[i])
        all_zero += zero
        for t in range(starts[i], starts[i + 1]):
            if bits[t] << np.uint64(1):
                prints[columns[t]] += mix(bits[t] ^ salts[i]) - zero
    for a in range(n_columns):
        prints[a] += all_zero
    return prints
