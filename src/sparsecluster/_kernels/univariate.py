"""The best clustering of every single column, by dynamic programming over its sorted values.

The result is exact: both for squared differences and for distances, the best clusters are intervals of sorted values.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# More than the number of times that a column can be halved.
DEPTH = 64
# Number of places for a split that are searched together.
BLOCK = 16
# Sums that differ by less than this share may differ by rounding errors alone.
SLACK = 1e-9
# The dissimilarity of two values: (x - y)^2 or |x - y|.
SQUARES, DISTANCES = 0, 1


@kernel
def segment_cost(kind, sums, others, shares, first, last):
    """Within of the m = last - first sorted values from `first` to `last` - 1; shares[m] = 1/m.

    `sums` are the running sums of x. For SQUARES, `others` are those of x^2, and the within is sum x^2 - (sum x)^2 / m.
    For DISTANCES they are those of j x_j, where j is the position of a value, and the within is
    (1/m) sum_{i<j} (x_j - x_i) = (1/m) (2 sum j x_j - (2 first + m - 1) sum x).
    """
    total = sums[last] - sums[first]
    other = others[last] - others[first]
    if kind == SQUARES:
        return max(other - total * total * shares[last - first], 0.0)
    return max(2.0 * other - (first + last - 1) * total, 0.0) * shares[last - first]


def univariate_within(kind, columns, counts, k):
    """Smallest within of every column over all its clusterings into k > 1 clusters.

    `columns` has shape (p, n): columns[a, :counts[a]] are the sorted values of column a, and the rest is not read.
    """
    n = columns.shape[1]
    return best_cuts(kind, columns, counts, np.zeros((k, n + 1)), first_splits(k, n), False)


def univariate_labels(kind, column, k):
    """The clustering behind `univariate_within` for one sorted column; clusters are numbered in ascending order."""
    n = column.size
    splits = first_splits(k, n)
    best_cuts(kind, column.reshape(1, n), np.full(1, n), np.zeros((k, n + 1)), splits, True)
    labels = np.zeros(n, np.int32)
    last = n
    for c in range(k - 1, 0, -1):
        first = splits[c, last]
        labels[first:last] = c
        last = first
    return labels


def first_splits(k, n):
    """A table for the splits in `best_cuts`, in which only the first values of a column have theirs."""
    splits = np.empty((k, n + 1), np.int64)
    splits[:] = np.arange(-1, n)
    splits[:, 0] = 0
    return splits


@kernel
def best_split(kind, before, sums, others, shares, low, high, i):
    """min over j in low..high of before[j] + cost(j..i), and the first j at which it is attained."""
    best, where = np.inf, low
    for j in range(low, high + 1):
        cost = before[j] + segment_cost(kind, sums, others, shares, j, i)
        if cost < best:
            best = cost
            where = j
    return best, where


@kernel
def last_split(kind, before, sums, others, shares, low, high, i):
    """The same as `best_split`, but not all j are searched if they are many and the costs are squares.

    Costs grow with the values, so all j of a block cost at least those of the values before the block and after it. A
    block in which this is more than the least cost of some j, one of each block, is not searched.
    """
    best, where, enough, width = np.inf, low, np.inf, max(high - low + 1, 1)
    if kind == SQUARES and width > 4 * BLOCK:
        width = BLOCK
        for j in range(low, high + 1, BLOCK):
            enough = min(enough, before[j] + segment_cost(kind, sums, others, shares, j, i))
        enough += SLACK * others[i]
    for first in range(low, high + 1, width):
        last = min(first + width - 1, high)
        if width == BLOCK and before[first] + segment_cost(kind, sums, others, shares, last, i) > enough:
            continue
        cost, j = best_split(kind, before, sums, others, shares, first, last, i)
        if cost < best:
            best, where = cost, j
    return best, where


@kernel
def least_between(column, sums, shares, begin, low, high, count):
    """How much, at least, the sorted values from `low` to `high` - 1 add to the squares within the last two clusters.

    The first of the two holds all values from `begin` to `low` - 1, and the second all from `high` to `count` - 1. A
    cluster of m values whose mean is at least d away from those of s more values grows by m s / (m + s) d^2 or more.
    """
    before, between, after = low - begin, high - low, count - high
    if before <= 0:
        return 0.0
    to_first = column[low] - (sums[low] - sums[begin]) * shares[before]
    to_second = (sums[count] - sums[high]) * shares[after] - column[high - 1]
    first = before * shares[before + between] * to_first * to_first
    return between * min(first, after * shares[between + after] * to_second * to_second)


@kernel
def best_cuts(kind, columns, counts, costs, splits, labeled):
    """The dynamic program: the smallest within of every column, and the splits of the last one if it is `labeled`.

    costs[c, i] becomes the smallest within of the first i values of a column in c + 1 clusters, and splits[c, i] the
    place where the last of these clusters begins. No cluster is empty, however many values are equal: i values in as
    many clusters or fewer keep the cost of zero and the split i - 1 that they are given with.

    The best split never decreases as i grows. Prefixes are therefore solved with strides that halve, each searching
    only between the best splits of its two solved neighbors: n log n steps instead of n^2. Unless there is a column to
    label, the last cluster is needed for the prefix of all values only. Where it begins is searched in intervals that
    halve: costs grow with the values, so all j in low..high cost at least those of the first `low` values and those of
    the values from `high` on. An interval in which this is more than the best so far is not searched.
    """
    k, n = splits.shape[0], splits.shape[1] - 1
    within = np.zeros(counts.size)
    sums, others, shares = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    # The intervals that are left; halving leaves at most one for each bit of n.
    lows, highs = np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64)
    # Multiplying by 1/m in the inner loop is faster than dividing by m.
    for m in range(1, n + 1):
        shares[m] = 1.0 / m
    for a in range(counts.size):
        count = counts[a]
        if count <= k:
            continue
        for i in range(count):
            x = columns[a, i]
            sums[i + 1] = sums[i] + x
            others[i + 1] = others[i] + (x if kind == SQUARES else i) * x
        for i in range(count + 1):
            costs[0, i] = segment_cost(kind, sums, others, shares, 0, i)
        for c in range(1, k if labeled else k - 2):
            stride = 1
            while stride * 2 <= count:
                stride *= 2
            while stride >= 1:
                for i in range(stride, count + 1, 2 * stride):
                    if i > c:
                        high = i - 1
                        if i + stride <= count and splits[c, i + stride] < high:
                            high = splits[c, i + stride]
                        low = splits[c, i - stride] if splits[c, i - stride] > c else c
                        costs[c, i], splits[c, i] = best_split(kind, costs[c - 1], sums, others, shares, low, high, i)
                stride //= 2
        if labeled:
            continue
        # The last split but one of two clusters is none, so the values up to the last split cost what they cost alone.
        c, low = k - 2, max(k - 2, 1)
        high = count - 1 if k > 2 else count
        best, where = last_split(kind, costs[max(c - 1, 0)], sums, others, shares, low, high - 1, high)
        if k > 2:
            costs[c, high], splits[c, high], low = best, where, c + 1
            best += segment_cost(kind, sums, others, shares, high, count)
            best = min(best, segment_cost(kind, sums, others, shares, low, count))
            lows[0], highs[0] = low, high
            left = 1
            while left > 0:
                low, high = lows[left - 1], highs[left - 1]
                middle = (low + high) // 2
                least = costs[c, low] + segment_cost(kind, sums, others, shares, high, count)
                is_worse = least >= best
                if kind == SQUARES and not is_worse:
                    between = least_between(columns[a], sums, shares, splits[c, high], low, high, count)
                    is_worse = least + between > best + SLACK * others[count]
                if middle == low or is_worse:
                    left -= 1
                    continue
                last = min(splits[c, high], middle - 1)
                costs[c, middle], splits[c, middle] = last_split(
                    kind, costs[c - 1], sums, others, shares, splits[c, low], last, middle
                )
                best = min(best, costs[c, middle] + segment_cost(kind, sums, others, shares, middle, count))
                highs[left - 1], lows[left], highs[left] = middle, middle, high
                left += 1
        within[a] = best
    return within
