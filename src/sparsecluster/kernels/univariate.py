"""Exact one-dimensional k-means of every column by dynamic programming over the sorted values."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel


@inline
def segment_cost(sums, squares, shares, first, last):
    """Within sum of squares of the sorted values first..last-1, from running sums; shares[m] = 1/m."""
    total = sums[last] - sums[first]
    return max(squares[last] - squares[first] - total * total * shares[last - first], 0.0)


@inline
def shares_of(n):
    """1/m for m = 1..n, so that the inner loop multiplies where it would divide; 0 for an empty segment."""
    shares = np.zeros(n + 1)
    for m in range(1, n + 1):
        shares[m] = 1.0 / m
    return shares


@kernel
def running_sums(values, sums, squares):
    """Sums of the first i values and of their squares, for every i."""
    sums[0] = 0.0
    squares[0] = 0.0
    for i in range(values.size):
        sums[i + 1] = sums[i] + values[i]
        squares[i + 1] = squares[i] + values[i] * values[i]


@kernel
def best_splits(sums, squares, shares, before, after, split, least):
    """One layer of the programme: after[i] = min_j before[j] + cost(j..i), for prefixes of every length i.

    The j values before are in `least` groups already, so j >= least: no group is empty, however many values are equal.
    The best j never falls as i grows, so prefixes are solved in halving strides, each searching only between the best
    j of its two solved neighbours: n log n steps instead of n^2.
    """
    n = before.size - 1
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
                cost = before[j] + segment_cost(sums, squares, shares, j, i)
                if cost < best:
                    best = cost
                    where = j
            after[i] = best
            split[i] = where
            i += 2 * stride
        stride //= 2


@kernel
def univariate_within(columns, k):
    """Smallest within sum of squares of every column over all clusterings into k > 1 groups; p x n, each sorted."""
    p, n = columns.shape
    within = np.empty(p)
    shares = shares_of(n)
    sums = np.empty(n + 1)
    squares = np.empty(n + 1)
    before = np.empty(n + 1)
    after = np.empty(n + 1)
    split = np.empty(n + 1, np.int64)
    for a in range(p):
        running_sums(columns[a], sums, squares)
        for i in range(n + 1):
            before[i] = segment_cost(sums, squares, shares, 0, i)
        for c in range(1, k - 1):
            best_splits(sums, squares, shares, before, after, split, c)
            before, after = after, before
        # Of the last layer only the prefix of all n values is wanted.
        best = np.inf
        for j in range(n):
            best = min(best, before[j] + segment_cost(sums, squares, shares, j, n))
        within[a] = best
    return within


@kernel
def univariate_labels(column, k):
    """The clustering behind `univariate_within` for one sorted column; groups are numbered from small to large."""
    n = column.size
    shares = shares_of(n)
    sums = np.empty(n + 1)
    squares = np.empty(n + 1)
    running_sums(column, sums, squares)
    before = np.empty(n + 1)
    after = np.empty(n + 1)
    split = np.zeros((k, n + 1), np.int64)
    for i in range(n + 1):
        before[i] = segment_cost(sums, squares, shares, 0, i)
    for c in range(1, k):
        best_splits(sums, squares, shares, before, after, split[c], c)
        before, after = after, before
    labels = np.empty(n, np.int32)
    last = n
    for c in range(k - 1, -1, -1):
        first = split[c, last] if c > 0 else 0
        for i in range(first, last):
            labels[i] = c
        last = first
    return labels
