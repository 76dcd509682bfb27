"""One n x n matrix of dissimilarities per feature, with NaN for the pairs whose dissimilarity is missing.

The matrices come in stacks of shape (m, n, n), and stack[places[f]] is the matrix of feature f. orders[f, i] is the
row of sample i in that matrix: a permuted copy differs from the data in `orders` alone.

Sums that are updated, when some samples or features change, must not depend on what was computed before. So they are
sums of multiples of a power of two, which have no rounding error, as those of numbers in `sums`.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel, step_by_step
from .order import mix

# A sample that moves reads a row of a matrix and compares it with two clusters, a sum from scratch reads half of all n
# rows. In time, that is about a third of the samples.
MOVED_COST = 3


@inline
def labels_by_row(labels, order, own):
    """Fill `own` with the labels in the order of a matrix's rows, so that the matrix is read from end to end."""
    for i in range(labels.size):
        own[order[i]] = labels[i]


@inline
def sum_of_cluster(row, own, here):
    """Sum of a row over the samples of one cluster."""
    apart = 0.0
    for j in range(own.size):
        apart += row[j] if own[j] == here else 0.0
    return apart


@kernel
def updated_within(stack, places, orders, units, labels, old, sums):
    """Within of every feature (step 2 of Algorithm 1), from the sums over pairs of `old` labels.

    A within is the sum over clusters of (sum over pairs) / (number of samples). The matrix of feature f holds multiples
    of units[f], and `sums`, of shape (n_features, k), counts them; they are changed in place and belong to `labels`
    afterwards. Samples that move read a row of every matrix; if many do, all pairs are summed from scratch.
    """
    n, k = labels.size, sums.shape[1]
    sizes = np.zeros(k)
    moved = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        sizes[labels[i]] += 1.0
        moved[count] = i
        count += labels[i] != old[i]
    own = np.empty(n, np.int64)
    within = np.zeros(places.size)
    for f in range(places.size):
        matrix, order, unit = stack[places[f]], orders[f], units[f]
        if MOVED_COST * count < n:
            labels_by_row(old, order, own)
            for at in range(count):
                i = moved[at]
                row = matrix[order[i]]
                own[order[i]] = labels[i]
                left, joined = 0.0, 0.0
                for j in range(n):
                    left += row[j] if own[j] == old[i] else 0.0
                    joined += row[j] if own[j] == labels[i] else 0.0
                sums[f, old[i]] -= np.int64(left / unit)
                sums[f, labels[i]] += np.int64(joined / unit)
        else:
            labels_by_row(labels, order, own)
            for c in range(k):
                sums[f, c] = 0
            for i in range(n):
                sums[f, own[i]] += np.int64(sum_of_cluster(matrix[i], own[:i], own[i]) / unit)
        for c in range(k):
            within[f] += sums[f, c] * unit / max(sizes[c], 1.0)
    return within


@kernel
def seen_stack_within(stack, places, orders, labels, k):
    """Within of every feature over the observed pairs.

    The number of samples in a cluster is replaced by the square root of its number of observed ordered pairs,
    including those of a sample with itself. If pairs are missing because samples are, this is exactly the number of
    observed samples. The diagonal is NaN for samples without any observed pair.
    """
    n = labels.size
    own = np.empty(n, np.int32)
    within = np.zeros(places.size)
    apart = np.empty(k)
    pairs = np.empty(k)
    for f in range(places.size):
        labels_by_row(labels, orders[f], own)
        apart[:] = 0.0
        pairs[:] = 0.0
        for i in range(n):
            row = stack[places[f], i]
            here = own[i]
            if row[i] == row[i]:  # not NaN
                pairs[here] += 1.0
            for j in range(i):
                if own[j] == here and row[j] == row[j]:
                    apart[here] += row[j]
                    pairs[here] += 2.0
        for c in range(k):
            within[f] += apart[c] / np.sqrt(max(pairs[c], 1.0))
    return within


@step_by_step
def add_stack(stack, places, weights, anchor, total):
    """total[i, j] += sum_f weights[f] D_f(i, j) for j < i, in the order of the rows of the matrices.

    The anchor is 1.5 times a power of two. Adding and subtracting it leaves a multiple of its last bit.
    """
    for f in range(places.size):
        for i in range(total.shape[0]):
            row = stack[places[f], i]
            target = total[i]
            for j in range(i):
                target[j] += weights[f] * row[j] + anchor - anchor


@step_by_step
def add_permuted_stack(stack, places, orders, weights, anchor, total):
    """total[i, j] += sum_f weights[f] D_f(orders[f, i], orders[f, j]) for j < i, rounded as in `add_stack`."""
    for f in range(places.size):
        order = orders[f]
        for i in range(order.size):
            row = stack[places[f], order[i]]
            target = total[i]
            for j in range(i):
                target[j] += weights[f] * row[order[j]] + anchor - anchor


@kernel
def add_seen_stack(stack, places, orders, weights, shares, total, seen):
    """`add_permuted_stack` over the observed pairs with j <= i, for which also seen[i, j] += shares[f]."""
    for f in range(places.size):
        order = orders[f]
        for i in range(order.size):
            row = stack[places[f], order[i]]
            for j in range(i + 1):
                d = row[order[j]]
                if d == d:  # not NaN
                    total[i, j] += weights[f] * d
                    seen[i, j] += shares[f]


@kernel
def mirror(total):
    """Copy the lower triangle to the upper one, in place."""
    for i in range(total.shape[0]):
        for j in range(i):
            total[j, i] = total[i, j]


@kernel
def matrix_fingerprints(bits, salts, feature_salt, rows):
    """rows[i] += hash of the dissimilarities of sample i; returns the hash of the matrix.

    Neither depends on the order of the samples.
    """
    whole = np.uint64(0)
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += mix(bits[i, j] ^ salts[j])
        rows[i] += mix(total ^ feature_salt)
        whole += mix(total ^ salts[i])
    return whole
