"""Variances under a penalty on their logarithms, those of a feature shrunk to 1 together."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# Limits on the steps of the two nested root searches. Both converge to rounding error long before.
STEPS, NEWTON_STEPS = 100, 60
# Logarithms of variances outside of this range are cut: the variance would be zero or infinite.
MOST = 60.0
# The smallest divisor.
TINY = np.finfo(np.float64).tiny


@inline
def _log_variance(count, squares, pull):
    """The root u of count / 2 - (squares / 2) exp(-u) + pull u, which rises with u."""
    low, high = -MOST, MOST
    u = 0.0
    for _ in range(NEWTON_STEPS):
        value = 0.5 * count - 0.5 * squares * np.exp(-u) + pull * u
        slope = 0.5 * squares * np.exp(-u) + pull
        if value < 0.0:
            low = u
        else:
            high = u
        step = u - value / slope if slope > 0.0 else low
        new = step if low < step < high else (low + high) / 2.0
        if abs(new - u) <= 1e-15 * max(1.0, abs(u)):
            break
        u = new
    return u


@kernel
def shrunken_log_variances(counts, squares, penalty):
    """argmin over v of sum_k (N_k / 2) log v_k + S_jk / (2 v_k) + penalty |log v|_2, for every row j of S.

    The problem is convex in u = log v. At the minimum, with r = |u|_2, each u_k is the root of
    N_k / 2 - (S_k / 2) exp(-u) + (penalty / r) u, and r is found by bisection. All variances are 1 if the gradient at
    u = 0 is at most the penalty. Returns an array of the shape of `squares`, (p, k).
    """
    p, k = squares.shape
    variances = np.ones((p, k))
    for j in range(p):
        if penalty <= 0.0:
            for c in range(k):
                variances[j, c] = np.exp(_log_variance(counts[c], squares[j, c], 0.0))
            continue
        gradient = 0.0
        for c in range(k):
            gradient += (0.5 * (counts[c] - squares[j, c])) ** 2
        if np.sqrt(gradient) <= penalty:
            continue
        low, high = 0.0, 0.0
        for c in range(k):
            high += _log_variance(counts[c], squares[j, c], 0.0) ** 2
        high = np.sqrt(high)
        for _ in range(STEPS):
            r = max(0.5 * (low + high), TINY)
            length = 0.0
            for c in range(k):
                length += _log_variance(counts[c], squares[j, c], penalty / r) ** 2
            if np.sqrt(length) > r:
                low = r
            else:
                high = r
            if high - low <= 1e-14 * high:
                break
        for c in range(k):
            variances[j, c] = np.exp(_log_variance(counts[c], squares[j, c], penalty / max(high, TINY)))
    return variances
