"""Complete matrices of dissimilarities, with every pair of samples only once: the part below the diagonal.

Pair (i, j) with j < i has the number i (i - 1) / 2 + j. The pairs are stored twice. In `triangles`, of shape
(n_features, n_pairs), those of a feature are side by side, which is best for sums over a few features. In `table`, of
shape (n_pairs, n_features), the features of a pair are side by side, which is best for sums over the pairs within
clusters. The dissimilarities of feature f are multiples of units[f], and `table` counts these, so that sums are exact
and do not depend on what was computed before (see `matrices`).
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel, step_by_step

# Numbers in a line of the cache.
LINE = 8
# Number of pairs that are moved together from `triangles` to `table`: few enough to stay in the second-level cache.
BLOCK = 64


@step_by_step
def fold(matrix, anchor, triangle):
    """Fill `triangle` with the entries of a matrix below its diagonal, rounded as in `add_stack`."""
    at = 0
    for i in range(matrix.shape[0]):
        for j in range(i):
            triangle[at + j] = matrix[i, j] + anchor - anchor
        at += i


@kernel
def unfold(triangle, factor, matrix):
    """Fill a symmetric matrix with a multiple of the entries below its diagonal; those on the diagonal become zero."""
    n = matrix.shape[0]
    at = 0
    for i in range(n):
        for j in range(i):
            matrix[i, j] = factor * triangle[at + j]
        matrix[i, i] = 0.0
        at += i
    # Above the diagonal, in strips of several rows, whose entries are side by side in the triangle.
    for first in range(0, n, LINE):
        for i in range(first + 1, n):
            entries = triangle[i * (i - 1) // 2 + first :]
            for j in range(min(LINE, i - first)):
                matrix[first + j, i] = factor * entries[j]


@kernel
def permute_triangles(triangles, orders, permuted):
    """Fill `permuted` with D_f(orders[f, i], orders[f, j]) for all pairs of samples j < i and all features f.

    The dissimilarities are read from end to end; they are written to places that are near to each other.
    """
    n = orders.shape[1]
    # For every row of a matrix, its sample and the number of the first pair of this sample.
    samples = np.empty(n, np.int64)
    starts = np.empty(n, np.int64)
    for f in range(triangles.shape[0]):
        source, target = triangles[f], permuted[f]
        for i in range(n):
            samples[orders[f, i]] = i
            starts[orders[f, i]] = i * (i - 1) // 2
        at = 0
        for row in range(n):
            i, start = samples[row], starts[row]
            for column in range(row):
                j, other = samples[column], starts[column]
                target[np.uint64(max(start, other) + min(i, j))] = source[at + column]
            at += row


@kernel
def count_units(triangles, units, table):
    """Fill `table` with the dissimilarities, in units of their features."""
    p, n_pairs = triangles.shape
    counts = np.empty((LINE, BLOCK), np.int64)
    for first in range(0, n_pairs, BLOCK):
        width = min(BLOCK, n_pairs - first)
        for start in range(0, p, LINE):
            height = min(LINE, p - start)
            for f in range(height):
                per_unit = 1.0 / units[start + f]
                own, target = triangles[start + f, first : first + width], counts[f]
                for t in range(width):
                    target[t] = np.int64(own[t] * per_unit)
            for t in range(width):
                row = table[first + t]
                if height == LINE:  # a loop that the compiler can unroll
                    for f in range(LINE):
                        row[start + f] = counts[f, t]
                else:
                    for f in range(height):
                        row[start + f] = counts[f, t]


@inline
def add_rows(table, rows, count, total):
    """Add some rows of the table to `total`, four at a time."""
    whole = count // 4 * 4
    for t in range(0, whole, 4):
        one, two, three, four = table[rows[t]], table[rows[t + 1]], table[rows[t + 2]], table[rows[t + 3]]
        for f in range(total.size):
            total[f] += (one[f] + two[f]) + (three[f] + four[f])
    for t in range(whole, count):
        one = table[rows[t]]
        for f in range(total.size):
            total[f] += one[f]


@inline
def pairs_with(i, last, own, here, rows):
    """Fill `rows` with the numbers of the pairs of sample i and the samples of a cluster before `last`; count them."""
    count = 0
    for j in range(last):
        high, low = max(i, j), min(i, j)
        rows[count] = (high * (high - 1) >> 1) + low
        count += own[j] == here
    return count


@kernel
def table_within(table, units, labels, old, sums):
    """Within of every feature (step 2 of Algorithm 1), from the sums over pairs of `old` labels.

    This is `updated_within` with the sums in an array of shape (k, n_features). A sample that moves leaves the pairs
    with one cluster and joins those with another; if many do, all pairs within clusters are summed from scratch. Both
    `old` and `sums` are changed in place and belong to `labels` afterwards.
    """
    n, k, p = labels.size, sums.shape[0], units.size
    sizes = np.zeros(k, np.int64)
    moved, apart = 0, 0
    for i in range(n):
        moved += labels[i] != old[i]
        apart += sizes[labels[i]]
        sizes[labels[i]] += 1
    rows = np.empty(n + 1, np.int64)
    # A sample that moves has pairs with about n / k samples twice.
    if 2 * n * moved < apart * k:
        own = old.copy()
        left = np.zeros((k, p), np.int64)
        for i in range(n):
            if labels[i] != old[i]:
                own[i] = -1
                add_rows(table, rows, pairs_with(i, n, own, old[i], rows), left[old[i]])
                add_rows(table, rows, pairs_with(i, n, own, labels[i], rows), sums[labels[i]])
                own[i] = labels[i]
        for c in range(k):
            for f in range(p):
                sums[c, f] -= left[c, f]
    else:
        for c in range(k):
            for f in range(p):
                sums[c, f] = 0
        for i in range(n):
            add_rows(table, rows, pairs_with(i, i, labels, labels[i], rows), sums[labels[i]])
    within = np.zeros(p)
    for c in range(k):
        size = np.float64(max(sizes[c], 1))
        for f in range(p):
            within[f] += sums[c, f] * units[f] / size
    for i in range(n):
        old[i] = labels[i]
    return within


@step_by_step
def add_triangles(triangles, features, weights, anchor, total):
    """`add_stack` for the pairs of some features: total += sum_f weights[f] D_f, rounded in the same way."""
    for f in range(features.size):
        triangle, weight = triangles[features[f]], weights[f]
        for t in range(total.size):
            total[t] += weight * triangle[t] + anchor - anchor
