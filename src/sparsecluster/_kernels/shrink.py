"""Group lasso: vectors that are shrunk as a whole, and to zero if they are small."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# Limit on the steps of the root search: bisection alone needs about 50, and Newton's method usually only a few.
STEPS = 200


@inline
def shrink(x, a, penalty, m):
    """Set m to argmin of sum_c (a_c / 2) (x_c - m_c)^2 + penalty |m|_2.

    Write r for |m|_2. At the minimum m_c = r a_c x_c / (r a_c + penalty), so r is the root of
    sum_c (a_c x_c / (r a_c + penalty))^2 = 1. The left side falls with r; if it is at most 1 at r = 0, m is zero.
    """
    size = x.size
    if penalty <= 0.0:
        for c in range(size):
            m[c] = x[c]
        return
    at_zero, high = 0.0, 0.0
    for c in range(size):
        at_zero += (a[c] * x[c] / penalty) ** 2
        high += x[c] ** 2
    if at_zero <= 1.0:
        for c in range(size):
            m[c] = 0.0
        return
    low, high = 0.0, np.sqrt(high)
    r = high
    for _ in range(STEPS):
        value, slope = -1.0, 0.0
        for c in range(size):
            below = r * a[c] + penalty
            part = a[c] * x[c] / below
            value += part * part
            slope -= 2.0 * a[c] * part * part / below
        if value > 0.0:
            low = r
        else:
            high = r
        step = r - value / slope if slope < 0.0 else low
        new = step if low < step < high else (low + high) / 2.0
        if abs(new - r) <= 1e-15 * high:
            break
        r = new
    for c in range(size):
        m[c] = r * a[c] * x[c] / (r * a[c] + penalty)


@kernel
def shrunken_centers(means, shares, penalties):
    """argmin over m in R^k of sum_k shares[k] (means[k, a] - m_k)^2 + penalties[a] |m|_2, for every column a.

    Returns an array of shape (k, p).
    """
    k, p = means.shape
    centers = np.empty((k, p))
    for a in range(p):
        shrink(means[:, a], 2.0 * shares, penalties[a], centers[:, a])
    return centers


@kernel
def shrunken_rows(m, a, penalties):
    """argmin over mu of sum_k (a_jk / 2) (m_jk - mu_jk)^2 + penalties[j] |mu_j|_2, for every row j."""
    means = np.empty_like(m)
    for j in range(len(m)):
        shrink(m[j], a[j], penalties[j], means[j])
    return means


@kernel
def shrunken_sets(m, a, members, ends, penalties):
    """Shrink the rows of each set together, separately for every column: argmin of the sum as in `shrunken_rows`.

    Set g consists of the rows members[ends[g - 1] : ends[g]] and has the penalty penalties[g].
    """
    means = np.empty_like(m)
    first = 0
    for g in range(ends.size):
        rows = members[first : ends[g]]
        shrunken = np.empty(rows.size)
        for c in range(m.shape[1]):
            shrink(m[rows, c], a[rows, c], penalties[g], shrunken)
            for q in range(rows.size):
                means[rows[q], c] = shrunken[q]
        first = ends[g]
    return means
