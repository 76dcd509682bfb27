"""COSA: feature weights for every sample, and the distances between samples that follow from them.

Pairs i < j are stored in the order (0, 1), (0, 2), ..., as in SciPy's condensed matrices.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def log_share(row, one, other, least, scale):
    """log(sum_a w_a exp((least - d_a) / h) / sum_a w_a), for pairs whose nearest features have hardly any weight."""
    total = 0.0
    near = 0.0
    for a in range(row.size):
        w = max(one[a], other[a])
        total += w
        if w > 0.0:
            near += w * np.exp((least - row[a]) / scale)
    return np.log(near) - np.log(total)


@kernel
def inverse_exponential(apart, weights, scale):
    """D_ij = -h W log(sum_a w_a exp(-d_ija / h) / W), where w_a = max(w_ia, w_ja), W = sum_a w_a and h = `scale`.

    `apart` holds d_ija by pair and feature. With a small h, the features on which two samples are nearest dominate,
    whichever they are. As h grows, D_ij approaches sum_a w_a d_ija.
    """
    n, p = weights.shape
    distances = np.empty(apart.shape[0])
    pair = 0
    for i in range(n):
        for j in range(i + 1, n):
            row = apart[pair]
            # Measured from the nearest feature with a weight, so that no exponential underflows and nothing cancels.
            least = np.inf
            for a in range(p):
                if row[a] < least and max(weights[i, a], weights[j, a]) > 0.0:
                    least = row[a]
            total = 0.0
            near = 0.0
            for a in range(p):
                w = max(weights[i, a], weights[j, a])
                total += w
                if w > 0.0:
                    near += w * np.expm1((least - row[a]) / scale)
            log = (
                np.log1p(near / total) if near > -0.5 * total else log_share(row, weights[i], weights[j], least, scale)
            )
            distances[pair] = total * (least - scale * log)
            pair += 1
    return distances


@kernel
def sample_weights(apart, neighbors, penalty):
    """w_ia proportional to exp(-S_ia / penalty), where S_ia is the mean of d_ija over the neighbors j of sample i."""
    n, p = neighbors.shape[0], apart.shape[1]
    weights = np.empty((n, p))
    for i in range(n):
        own = weights[i]
        own[:] = 0.0
        for t in range(neighbors.shape[1]):
            low, high = min(i, neighbors[i, t]), max(i, neighbors[i, t])
            row = apart[low * n - low * (low + 1) // 2 + high - low - 1]
            for a in range(p):
                own[a] += row[a]
        least = own.min()
        total = 0.0
        for a in range(p):
            own[a] = np.exp(-(own[a] - least) / (neighbors.shape[1] * penalty))
            total += own[a]
        for a in range(p):
            own[a] /= total
    return weights
