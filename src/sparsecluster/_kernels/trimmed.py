"""Centers of some of the samples, and the distances of all samples to them."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def kept_means(rows, labels, is_out, k):
    """Means of the samples of each cluster that are not left out, and their numbers. Means of no samples are zero."""
    n, width = rows.shape
    centers = np.zeros((k, width))
    sizes = np.zeros(k)
    for i in range(n):
        if is_out[i]:
            continue
        row = rows[i]
        target = centers[labels[i]]
        for a in range(width):
            target[a] += row[a]
        sizes[labels[i]] += 1.0
    for c in range(k):
        if sizes[c] > 0.0:
            for a in range(width):
                centers[c, a] /= sizes[c]
    return centers, sizes


@kernel
def center_distances(rows, centers):
    """Squared distance of each row to each center, of shape (n_rows, k). Differences come first: nothing cancels."""
    n, width = rows.shape
    apart = np.empty((n, centers.shape[0]))
    for i in range(n):
        row = rows[i]
        for c in range(centers.shape[0]):
            center = centers[c]
            total = 0.0
            for a in range(width):
                total += (row[a] - center[a]) * (row[a] - center[a])
            apart[i, c] = total
    return apart
