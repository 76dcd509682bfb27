"""Centers under a group lasso: the centers of a feature are shrunk together, and to zero if they are small."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# Limit on the steps of the root search: bisection alone needs about 50, and Newton's method usually only a few.
STEPS = 200


@kernel
def shrunken_centers(means, shares, penalties):
    """argmin over m in R^k of sum_k shares[k] (means[k, a] - m_k)^2 + penalties[a] |m|_2, for every column a.

    Write s_k for the shares, x_k for the means, l for the penalty and r for |m|_2. At the minimum
    m_k = 2 r s_k x_k / (2 r s_k + l), so r is the root of sum_k (2 s_k x_k / (2 r s_k + l))^2 = 1. The left side falls
    with r; if it is at most 1 at r = 0, all centers are zero. Returns an array of shape (k, p).
    """
    k, p = means.shape
    centers = np.zeros((k, p))
    for a in range(p):
        penalty = penalties[a]
        if penalty <= 0.0:
            for c in range(k):
                centers[c, a] = means[c, a]
            continue
        at_zero, high = 0.0, 0.0
        for c in range(k):
            at_zero += (2.0 * shares[c] * means[c, a] / penalty) ** 2
            high += means[c, a] ** 2
        if at_zero <= 1.0:
            continue
        low, high = 0.0, np.sqrt(high)
        r = high
        for _ in range(STEPS):
            value, slope = -1.0, 0.0
            for c in range(k):
                below = 2.0 * r * shares[c] + penalty
                part = 2.0 * shares[c] * means[c, a] / below
                value += part * part
                slope -= 4.0 * shares[c] * part * part / below
            if value > 0.0:
                low = r
            else:
                high = r
            step = r - value / slope
            new = step if low < step < high else (low + high) / 2.0
            if abs(new - r) <= 1e-15 * high:
                break
            r = new
        for c in range(k):
            centers[c, a] = 2.0 * r * shares[c] * means[c, a] / (2.0 * r * shares[c] + penalty)
    return centers
