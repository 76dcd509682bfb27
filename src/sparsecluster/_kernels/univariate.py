"""The best clustering of every single column, by dynamic programming over its sorted values.

The result is exact: both for squared differences and for distances, the best clusters are intervals of sorted values.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# The dissimilarity of two values: (x - y)^2 or |x - y|.
SQUARES, DISTANCES = 0, 1


@inline
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


@inline
def shares_of(n):
    """1/m for m = 1..n, so that the inner loop multiplies instead of dividing; 0 for an empty segment."""
    shares = np.zeros(n + 1)
    for m in range(1, n + 1):
        shares[m] = 1.0 / m
    return shares


@kernel
def running_sums(kind, values, n, sums, others):
    """For every i <= n, fill the sums of the first i values, and of their squares or their positions times values."""
    sums[0] = 0.0
    others[0] = 0.0
    for i in range(n):
        sums[i + 1] = sums[i] + values[i]
        others[i + 1] = others[i] + (values[i] if kind == SQUARES else i) * values[i]


@kernel
def best_splits(kind, n, sums, others, shares, before, after, split, least):
    """One layer of the dynamic program: after[i] = min_j before[j] + cost(j..i), for prefixes of every length i.

    The first j values already form `least` clusters, so j >= least: no cluster is empty, however many values are equal.
    The best j never decreases as i grows. Prefixes are therefore solved with strides that halve, each searching only
    between the best j of its two solved neighbors: n log n steps instead of n^2.
    """
    for i in range(least + 1):
        after[i] = 0.0
        split[i] = max(i - 1, 0)
    stride = 1
    while stride * 2 <= n:
        stride *= 2
    while stride >= 1:
        i = stride
        while i <= n:
            if i <= least:
                i += 2 * stride
                continue
            low = max(split[i - stride], least)
            high = i - 1
            if i + stride <= n and split[i + stride] < high:
                high = split[i + stride]
            best = np.inf
            where = low
            for j in range(low, high + 1):
                cost = before[j] + segment_cost(kind, sums, others, shares, j, i)
                if cost < best:
                    best = cost
                    where = j
            after[i] = best
            split[i] = where
            i += 2 * stride
        stride //= 2


@kernel
def univariate_within(kind, columns, counts, k):
    """Smallest within of every column over all its clusterings into k > 1 clusters.

    `columns` has shape (p, n): columns[a, :counts[a]] are the sorted values of column a, and the rest is not read.
    """
    p, n = columns.shape
    within = np.zeros(p)
    shares = shares_of(n)
    sums = np.empty(n + 1)
    others = np.empty(n + 1)
    before = np.empty(n + 1)
    after = np.empty(n + 1)
    split = np.empty(n + 1, np.int64)
    for a in range(p):
        count = counts[a]
        if count <= k:
            continue
        running_sums(kind, columns[a], count, sums, others)
        for i in range(count + 1):
            before[i] = segment_cost(kind, sums, others, shares, 0, i)
        for c in range(1, k - 1):
            best_splits(kind, count, sums, others, shares, before, after, split, c)
            before, after = after, before
        # The last layer is needed for the prefix of all values only.
        best = np.inf
        for j in range(count):
            best = min(best, before[j] + segment_cost(kind, sums, others, shares, j, count))
        within[a] = best
    return within


@kernel
def univariate_labels(kind, column, k):
    """The clustering behind `univariate_within` for one sorted column; clusters are numbered in ascending order."""
    n = column.size
    shares = shares_of(n)
    sums = np.empty(n + 1)
    others = np.empty(n + 1)
    running_sums(kind, column, n, sums, others)
    before = np.empty(n + 1)
    after = np.empty(n + 1)
    split = np.zeros((k, n + 1), np.int64)
    for i in range(n + 1):
        before[i] = segment_cost(kind, sums, others, shares, 0, i)
    for c in range(1, k):
        best_splits(kind, n, sums, others, shares, before, after, split[c], c)
        before, after = after, before
    labels = np.empty(n, np.int32)
    last = n
    for c in range(k - 1, -1, -1):
        first = split[c, last] if c > 0 else 0
        for i in range(first, last):
            labels[i] = c
        last = first
    return labels
