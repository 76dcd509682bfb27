"""Mean absolute differences: the Manhattan distance per feature, on all features or on those of each cluster."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def distances_from(rows, center):
    """(1/p) sum_a |rows[i, a] - center[a]| of every row."""
    n, p = rows.shape
    distances = np.empty(n)
    for i in range(n):
        apart = 0.0
        for a in range(p):
            apart += abs(rows[i, a] - center[a])
        distances[i] = apart / p
    return distances


@kernel
def mean_deviations(rows, places, center):
    """(1/m) sum_i |rows[i, a] - center[a]| of every column, over the m rows at the given places."""
    p = rows.shape[1]
    deviations = np.zeros(p)
    for i in places:
        for a in range(p):
            deviations[a] += abs(rows[i, a] - center[a])
    return deviations / max(places.size, 1)


@kernel
def segmental_distances(rows, centers, own, starts):
    """Mean absolute difference of every row from every center, over the columns that belong to the center.

    The columns of center c are own[starts[c]:starts[c + 1]]. Returns an array of shape (n, k).
    """
    n, k = rows.shape[0], centers.shape[0]
    distances = np.empty((n, k))
    for i in range(n):
        for c in range(k):
            apart = 0.0
            for j in range(starts[c], starts[c + 1]):
                apart += abs(rows[i, own[j]] - centers[c, own[j]])
            distances[i, c] = apart / max(starts[c + 1] - starts[c], 1)
    return distances


@kernel
def deviations_within(rows, labels, own, starts):
    """Mean absolute difference of the rows of each cluster from their mean, in each of the columns of the cluster.

    The columns of cluster c are own[starts[c]:starts[c + 1]], and the result has one value for each entry of `own`.
    """
    sizes = np.zeros(starts.size - 1)
    means, deviations = np.zeros(own.size), np.zeros(own.size)
    for i in range(rows.shape[0]):
        sizes[labels[i]] += 1.0
        for j in range(starts[labels[i]], starts[labels[i] + 1]):
            means[j] += rows[i, own[j]]
    for c in range(sizes.size):
        for j in range(starts[c], starts[c + 1]):
            means[j] /= max(sizes[c], 1.0)
    for i in range(rows.shape[0]):
        for j in range(starts[labels[i]], starts[labels[i] + 1]):
            deviations[j] += abs(rows[i, own[j]] - means[j])
    for c in range(sizes.size):
        for j in range(starts[c], starts[c + 1]):
            deviations[j] /= max(sizes[c], 1.0)
    return deviations
