"""Sums over categories: weighted counts of levels, and sums of a value per level.

The levels of all columns are numbered one after the other: level l of column a has the number starts[a] + l. `codes`,
of shape (n_samples, n_columns), holds the level of each sample in each column, and -1 where it is missing.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel


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
