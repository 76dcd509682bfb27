"""Distances |x - y| between numbers: withins from sorted values and running sums, and sums over features by pair."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def distance_within(values, order, counts, labels, k):
    """Within of every column, where values[a, :counts[a]] are its sorted observed values.

    `values` and `order` have shape (p, n), and order[a, j] is the sample that values[a, j] belongs to. In ascending
    order, the next value x of a cluster adds n x - (sum of the n values before it) to the sum over its pairs.
    """
    p = values.shape[0]
    within = np.zeros(p)
    sizes = np.empty(k)
    sums = np.empty(k)
    apart = np.empty(k)
    for a in range(p):
        sizes[:] = 0.0
        sums[:] = 0.0
        apart[:] = 0.0
        for j in range(counts[a]):
            c = labels[order[a, j]]
            x = values[a, j]
            apart[c] += sizes[c] * x - sums[c]
            sizes[c] += 1.0
            sums[c] += x
        for c in range(k):
            within[a] += apart[c] / max(sizes[c], 1.0)
    return within


@kernel
def sum_distances(rows):
    """D_ij = sum_a |x_ia - x_ja|, of shape (n, n)."""
    n, width = rows.shape
    total = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            d = 0.0
            for a in range(width):
                d += abs(rows[i, a] - rows[j, a])
            total[i, j] = d
            total[j, i] = d
    return total


@kernel
def sum_seen_distances(rows, weights):
    """D_ij over the columns observed (not NaN) in both samples, and the sum of the weights of those columns."""
    n, width = rows.shape
    total = np.zeros((n, n))
    seen = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            d = 0.0
            shared = 0.0
            for a in range(width):
                apart = abs(rows[i, a] - rows[j, a])
                if apart == apart:  # not NaN
                    d += apart
                    shared += weights[a]
            total[i, j] = d
            total[j, i] = d
            seen[i, j] = shared
            seen[j, i] = shared
    return total, seen
