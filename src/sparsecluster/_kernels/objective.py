"""Scores of all features for given labels, in one pass over the data."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# Number of columns summed together: few enough for the running sums to stay in the first-level cache.
BLOCK = 1024


@kernel
def group_samples(labels, k):
    """Samples ordered by cluster, and the position at which each cluster starts in that order."""
    starts = np.zeros(k + 1, np.int64)
    for i in range(labels.size):
        starts[labels[i] + 1] += 1
    for c in range(k):
        starts[c + 1] += starts[c]
    order = np.empty(labels.size, np.int64)
    filled = starts[:-1].copy()
    for i in range(labels.size):
        order[filled[labels[i]]] = i
        filled[labels[i]] += 1
    return order, starts


@kernel
def between_scores(table, total, labels, k):
    """Score 1 - Delta_a[C] / T_a of every column of a centered `table`.

    For centered columns T_a - Delta_a[C] = sum_k (sum of the column over cluster k)^2 / n_k, so nothing cancels.
    A column without a total has the score 0.
    """
    p = table.shape[1]
    order, starts = group_samples(labels, k)
    scores = np.zeros(p)
    sums = np.empty(min(BLOCK, p))
    for first in range(0, p, BLOCK):
        last = min(first + BLOCK, p)
        width = last - first
        for c in range(k):
            if starts[c] == starts[c + 1]:
                continue
            sums[:] = 0.0
            i = starts[c]
            # Four rows at a time, so that the sums are read and written a quarter as often.
            while i + 4 <= starts[c + 1]:
                row0 = table[order[i], first:last]
                row1 = table[order[i + 1], first:last]
                row2 = table[order[i + 2], first:last]
                row3 = table[order[i + 3], first:last]
                for a in range(width):
                    sums[a] += (row0[a] + row1[a]) + (row2[a] + row3[a])
                i += 4
            while i < starts[c + 1]:
                row0 = table[order[i], first:last]
                for a in range(width):
                    sums[a] += row0[a]
                i += 1
            size = starts[c + 1] - starts[c]
            for a in range(width):
                scores[first + a] += sums[a] * sums[a] / size
    for a in range(p):
        scores[a] = min(scores[a] / total[a], 1.0) if total[a] > 0.0 else 0.0
    return scores
