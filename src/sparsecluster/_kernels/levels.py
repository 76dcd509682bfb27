"""Sums over categories: weighted counts of levels, and sums of a value per level.

The levels of all columns are numbered one after the other: level l of column a has the number starts[a] + l. `codes`,
of shape (n_samples, n_columns), holds the level of each sample in each column, and -1 where it is missing.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def mark_levels(table, low, marks):
    """Let marks[a, x - low[a]] be 1 for every observed value x of column a; False if some x - low[a] is not whole."""
    for i in range(table.shape[0]):
        for a in range(table.shape[1]):
            x = table[i, a]
            if x == x:
                at = np.int64(x - low[a])
                if low[a] + at != x:
                    return False
                marks[a, at] = 1
    return True


@kernel
def rank_levels(table, low, ranks, found):
    """Let found[i, a] be ranks[a, x - low[a]], where x is the value of sample i in column a; NaN if it is missing."""
    for i in range(table.shape[0]):
        for a in range(table.shape[1]):
            x = table[i, a]
            found[i, a] = ranks[a, np.int64(x - low[a])] if x == x else x


@kernel
def number_levels(codes, starts, ranks, counts):
    """Number the levels of every column by their first samples, in place; that of the first sample comes last.

    Level l of column a has the place starts[a] + l in `ranks`, which are -1 at first, and counts[a] becomes the number
    of levels that occur. NaN stays where a value is missing.
    """
    for i in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            if codes[i, a] == codes[i, a]:
                at = starts[a] + np.int64(codes[i, a])
                if ranks[at] < 0:
                    ranks[at] = counts[a]
                    counts[a] += 1
                codes[i, a] = ranks[at]
    for i in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            codes[i, a] = counts[a] - 1 if codes[i, a] == 0 else codes[i, a] - 1


@kernel
def level_counts(codes, starts, weights):
    """Sum of the weights, of shape (n_samples, k), of the samples with each level; returns shape (n_levels, k)."""
    n, p = codes.shape
    k = weights.shape[1]
    counts = np.zeros((starts[p], k))
    for i in range(n):
        for a in range(p):
            if codes[i, a] >= 0:
                level = starts[a] + codes[i, a]
                for c in range(k):
                    counts[level, c] += weights[i, c]
    return counts


@kernel
def level_sums(codes, starts, values):
    """Sum over the columns of the values, of shape (n_levels, k), of each sample's levels; shape (n_samples, k)."""
    n, p = codes.shape
    k = values.shape[1]
    sums = np.zeros((n, k))
    for i in range(n):
        for a in range(p):
            if codes[i, a] >= 0:
                level = starts[a] + codes[i, a]
                for c in range(k):
                    sums[i, c] += values[level, c]
    return sums
