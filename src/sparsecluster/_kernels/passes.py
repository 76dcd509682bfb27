"""One pass over a block of rows: the nearest center of every sample, and sums that do not depend on the blocks.

A table that is read in blocks must give the same sums however it is cut. Floating-point sums do not: they depend on the
order of their terms. Every value is therefore split into two whole numbers, `high` and `low`, so that

    u = (x - origin) * unit = high / 2^26 + low / 2^52, with |u| <= 1,

up to half a unit of 2^-52. Sums of whole numbers are exact in any order, as long as they stay below 2^53 within a block
(at most 2^26 rows) and below 2^63 over all blocks (at most 2^36 rows).
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel, step_by_step

# 2^26, the number of units of `high` in 1, and of units of `low` in one of `high`.
SPLIT = 67108864.0


@inline
def add_split(highs, lows, a, t):
    """Add t = 2^26 u, which is split in two, to the sums of column a."""
    high = np.rint(t)
    highs[a] += high
    lows[a] += np.rint((t - high) * SPLIT)


@step_by_step
def sum_numbers(codes, origin, unit, labels, highs, lows, seen):
    """Add every observed value, split in two, to the sums of its cluster, of shape (k, n_columns); count it in `seen`.

    Columns with unit 0 are only counted.
    """
    for i in range(codes.shape[0]):
        c = labels[i]
        for a in range(codes.shape[1]):
            x = np.float64(codes[i, a])
            is_seen = x == x
            add_split(highs[c], lows[c], a, (x - origin[a]) * unit[a] * SPLIT if is_seen else 0.0)
            seen[c, a] += 1.0 if is_seen else 0.0


@step_by_step
def sum_squares(codes, origin, unit, least, most, highs, lows, ends):
    """Add the square of every observed u, split in two, to sums of shape (n_columns,); count values at either end."""
    for i in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            x = np.float64(codes[i, a])
            u = (x - origin[a]) * unit[a] if x == x else 0.0
            add_split(highs, lows, a, u * u * SPLIT)
            ends[a] += 1.0 if x == least[a] or x == most[a] else 0.0


@step_by_step
def sum_stored(values, columns, starts, unit, labels, highs, lows, seen):
    """`sum_numbers` of a block compressed by row, whose columns have origin 0; `seen` counts the stored values."""
    for i in range(starts.size - 1):
        c = labels[i]
        for t in range(starts[i], starts[i + 1]):
            a = columns[t]
            add_split(highs[c], lows[c], a, np.float64(values[t]) * unit[a] * SPLIT)
            seen[c, a] += 1.0


@step_by_step
def sum_stored_squares(values, columns, unit, least, most, highs, lows, ends):
    """`sum_squares` of the stored values, of which `ends` counts those at either end."""
    for t in range(values.size):
        a = columns[t]
        x = np.float64(values[t])
        u = x * unit[a]
        add_split(highs, lows, a, u * u * SPLIT)
        ends[a] += 1.0 if x == least[a] or x == most[a] else 0.0


@kernel
def count_levels(codes, columns, starts, labels, counts):
    """Count the samples of every cluster with every level, in `counts` of shape (k, n_levels).

    The levels of columns[j] begin at starts[j].
    """
    for i in range(codes.shape[0]):
        for j in range(columns.size):
            x = codes[i, columns[j]]
            if x == x:
                counts[labels[i], starts[j] + np.int64(x)] += 1


@kernel
def number_distances(codes, columns, origin, unit, centers, weights, spreads, apart):
    """Add the weighted squared distances of every sample to the k centers to `apart`, of shape (n_samples, k).

    A missing value adds nothing. Where a center is not known (NaN), every sample is as far from it as `spreads` says.
    """
    z = np.empty(columns.size)
    for i in range(codes.shape[0]):
        whole = True
        for j in range(columns.size):
            z[j] = (np.float64(codes[i, columns[j]]) - origin[j]) * unit[j]
            whole = whole and z[j] == z[j]
        for c in range(apart.shape[1]):
            total = 0.0
            if whole:
                for j in range(columns.size):
                    d = z[j] - centers[c, j]
                    total += weights[j] * d * d
            if not whole or total != total:
                total = 0.0
                for j in range(columns.size):
                    if z[j] == z[j]:
                        d = z[j] - centers[c, j]
                        total += weights[j] * (d * d if d == d else spreads[j])
            apart[i, c] += total


@kernel
def stored_distances(values, columns, starts, places, unit, centers, weights, apart):
    """`number_distances` of a block compressed by row, up to a term that is the same for all clusters.

    places[a] is the place of column a among the columns of the centers, or -1 if it is not one of them.
    """
    k = apart.shape[1]
    own = np.zeros(k)
    for c in range(k):
        for j in range(weights.size):
            own[c] += weights[j] * centers[c, j] * centers[c, j]
    for i in range(starts.size - 1):
        for c in range(k):
            apart[i, c] += own[c]
        for t in range(starts[i], starts[i + 1]):
            j = places[columns[t]]
            if j >= 0:
                x = 2.0 * weights[j] * np.float64(values[t]) * unit[j]
                for c in range(k):
                    apart[i, c] -= x * centers[c, j]


@kernel
def level_distances(codes, columns, starts, table, apart):
    """Add the distances of every sample to the k clusters in columns of levels to `apart`, of shape (n_samples, k).

    Row starts[j] + l of `table` has the distances of level l of columns[j].
    """
    for i in range(codes.shape[0]):
        for j in range(columns.size):
            x = codes[i, columns[j]]
            if x == x:
                for c in range(apart.shape[1]):
                    apart[i, c] += table[starts[j] + np.int64(x), c]


@kernel
def nearest(apart):
    """The cluster with the smallest distance, for every sample; of equal ones, the first."""
    labels = np.empty(apart.shape[0], np.int32)
    for i in range(apart.shape[0]):
        best = 0
        for c in range(1, apart.shape[1]):
            if apart[i, c] < apart[i, best]:
                best = c
        labels[i] = best
    return labels
