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
