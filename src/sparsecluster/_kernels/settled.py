"""Whether K-means would move any sample, in one pass over the chosen columns and without a copy of them."""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .moves import LEAST_GAIN, best_move

# Number of values in the part of the table that is copied at a time.
PART_VALUES = 2**17


@kernel
def is_settled(table, columns, labels, k):
    """Whether no move of a single sample raises J on the given columns: the first pass of `improve_rows` moves none.

    All columns count alike. Moves are decided by the sums over all columns, so each part of the columns only adds its
    share to `link`, `own` and `q`; see `moves`.
    """
    n = labels.size
    width = min(max(PART_VALUES // n, 16), columns.size)
    part, sums = np.empty((n, width)), np.empty((k, width))
    link, own, q, sizes = np.zeros((n, k)), np.zeros(n), np.zeros(k), np.zeros(k)
    for i in range(n):
        sizes[labels[i]] += 1.0
    for first in range(0, columns.size, width):
        chosen = columns[first : first + width]
        sums[:] = 0.0
        for i in range(n):
            row, copy, target = table[i], part[i], sums[labels[i]]
            for j in range(chosen.size):
                x = np.float64(row[chosen[j]])
                copy[j] = x
                target[j] += x
        for c in range(k):
            for j in range(chosen.size):
                q[c] += sums[c, j] * sums[c, j]
        for i in range(n):
            copy = part[i]
            norm = 0.0
            for j in range(chosen.size):
                norm += copy[j] * copy[j]
            own[i] += norm
            for c in range(k):
                target = sums[c]
                dot = 0.0
                for j in range(chosen.size):
                    dot += copy[j] * target[j]
                link[i, c] += dot
    scale = own.sum()
    for c in range(k):
        scale += q[c] / max(sizes[c], 1.0)
    moved = 0
    for i in range(n):
        moved += best_move(q, link[i], own[i], sizes, labels[i], LEAST_GAIN * scale) != labels[i]
    return moved == 0
