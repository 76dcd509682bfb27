"""Distances |x - y| between numbers: withins from the ranks of sorted values, and sums over features by pair."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def distance_within(values, order, counts, labels, k):
    """Within of every column (step 2 of Algorithm 1), where values[a, :counts[a]] are its sorted observed values.

    `values` and `order` have shape (p, n), and order[a, j] is the sample that values[a, j] belongs to; missing values
    come last. Of the m sorted values of a cluster, the one of rank r = 0, 1, ... is larger than r others and smaller
    than m - 1 - r, so the sum over pairs is sum_r (2 r + 1 - m) x_r.
    """
    p, n = values.shape
    within = np.zeros(p)
    whole = np.zeros(k)
    sizes = np.empty(k)
    factors = np.empty(k)
    shares = np.empty(k)
    for i in range(n):
        whole[labels[i]] += 1.0
    for a in range(p):
        for c in range(k):
            sizes[c] = whole[c]
        for j in range(counts[a], n):
            sizes[labels[order[a, j]]] -= 1.0
        for c in range(k):
            factors[c] = 1.0 - sizes[c]
            shares[c] = 1.0 / max(sizes[c], 1.0)
        total = 0.0
        for j in range(counts[a]):
            c = labels[order[a, j]]
            total += values[a, j] * factors[c] * shares[c]
            factors[c] += 2.0
        within[a] = max(total, 0.0)
    return within


@kernel
def sum_distances(rows):
    """D_ij = sum_a |x_ia - x_ja|, of shape (n, n)."""
    n, width = rows.shape
    total, columns = np.zeros((n, n)), np.empty((width, n))
    for i in range(n):
        for a in range(width):
            columns[a, i] = rows[i, a]
    for i in range(n):
        target = total[i, :i]
        a = 0
        # Four columns at a time, so that the sums are read and written a quarter as often.
        while a + 4 <= width:
            x0, x1, x2, x3 = rows[i, a], rows[i, a + 1], rows[i, a + 2], rows[i, a + 3]
            column0, column1, column2, column3 = columns[a], columns[a + 1], columns[a + 2], columns[a + 3]
            for j in range(target.size):
                pair = abs(x0 - column0[j]) + abs(x1 - column1[j])
                target[j] += pair + (abs(x2 - column2[j]) + abs(x3 - column3[j]))
            a += 4
        while a < width:
            column = columns[a]
            for j in range(target.size):
                target[j] += abs(rows[i, a] - column[j])
            a += 1
    for i in range(n):
        for j in range(i):
            total[j, i] = total[i, j]
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
