"""Means under a penalty, one feature at a time: argmin over mu of sum_k (a_k / 2) (m_k - mu_k)^2 + penalty(mu).

Arrays of means m and weights a have the shape (p, k), with one row per feature.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# Sweeps over the pairs of clusters. With a warm start, a few are enough.
SWEEPS = 2000
# The sweeps end when no mean moves by more than this share of the largest mean.
CONVERGED = 1e-12
# Means that differ by less than this share of the largest mean may be equal, which is then checked.
NEARLY_EQUAL = 1e-6
# The smallest divisor.
TINY = np.finfo(np.float64).tiny


@kernel
def capped_means(m, a, penalties):
    """Means under penalties[j] max_k |mu_k|: the largest means are cut to the same absolute value t.

    t solves sum_k a_k (|m_k| - t)_+ = penalty. If the sum is at most the penalty at t = 0, all means are zero.
    """
    p, k = m.shape
    means = m.copy()
    sizes, order = np.empty(k), np.empty(k, np.intp)
    for j in range(p):
        penalty = penalties[j]
        if penalty <= 0.0:
            continue
        for c in range(k):
            sizes[c] = abs(m[j, c])
            # Few clusters are sorted fastest by insertion, from the largest mean to the smallest.
            q = c
            while q > 0 and sizes[order[q - 1]] < sizes[c]:
                order[q] = order[q - 1]
                q -= 1
            order[q] = c
        above, weight, cap = -penalty, 0.0, 0.0
        for q in range(k):
            c = order[q]
            above += a[j, c] * sizes[c]
            weight += a[j, c]
            cap = above / weight if weight > 0.0 else 0.0
            if q + 1 < k and cap >= sizes[order[q + 1]]:
                break
        for c in range(k):
            if cap <= 0.0:
                means[j, c] = 0.0
            elif sizes[c] > cap:
                means[j, c] = cap if m[j, c] > 0 else -cap
    return means


@inline
def _objective(mu, m, a, limits, pair_of):
    value = 0.0
    k = mu.size
    for c in range(k):
        value += 0.5 * a[c] * (m[c] - mu[c]) ** 2
        for d in range(c):
            value += limits[pair_of[c, d]] * abs(mu[c] - mu[d])
    return value


@inline
def _polished(mu, m, a, limits, pair_of, largest, out):
    """Means that are nearly equal become equal; given their order, each block of them has a closed form."""
    k = mu.size
    order = np.argsort(mu)
    first = 0
    while first < k:
        last = first + 1
        while last < k and mu[order[last]] - mu[order[last - 1]] <= NEARLY_EQUAL * largest:
            last += 1
        top, weight = 0.0, 0.0
        for q in range(first, last):
            c = order[q]
            top += a[c] * m[c]
            weight += a[c]
            for r in range(k):
                if r < first:
                    top -= limits[pair_of[c, order[r]]]
                elif r >= last:
                    top += limits[pair_of[c, order[r]]]
        for q in range(first, last):
            out[order[q]] = top / weight
        first = last


@kernel
def fused_means(m, a, limits, pair_of, dual):
    """Means under sum_{c < d} limits[j, cd] |mu_c - mu_d|, by coordinate descent on the dual.

    The dual variable of a pair lies in [-limit, limit], and mu = m - D'z / a with D the differences of pairs. `dual` of
    shape (p, n_pairs) holds the start and is updated; `pair_of[c, d]` is the number of the pair. At the end, means that
    are nearly equal are made equal, unless this is worse.
    """
    p, k = m.shape
    n_pairs = dual.shape[1]
    first, second = np.empty(n_pairs, np.intp), np.empty(n_pairs, np.intp)
    for c in range(k):
        for d in range(c + 1, k):
            first[pair_of[c, d]], second[pair_of[c, d]] = c, d
    means = np.empty((p, k))
    mu, other = np.empty(k), np.empty(k)
    for j in range(p):
        largest, middle, weight = 0.0, 0.0, 0.0
        for c in range(k):
            largest = max(largest, abs(m[j, c]))
            middle += a[j, c] * m[j, c]
            weight += a[j, c]
        middle /= weight
        # All means are equal if the flow (b_c - b_d) / k, which is one that the dual may have, is within its limits.
        fused = True
        for e in range(n_pairs):
            c, d = first[e], second[e]
            flow = (a[j, c] * (m[j, c] - middle) - a[j, d] * (m[j, d] - middle)) / k
            fused = fused and abs(flow) <= limits[j, e]
        if fused:
            for c in range(k):
                means[j, c] = middle
            for e in range(n_pairs):
                c, d = first[e], second[e]
                dual[j, e] = (a[j, c] * (m[j, c] - middle) - a[j, d] * (m[j, d] - middle)) / k
            continue
        mu[:] = m[j]
        for e in range(n_pairs):
            dual[j, e] = min(max(dual[j, e], -limits[j, e]), limits[j, e])
            mu[first[e]] -= dual[j, e] / a[j, first[e]]
            mu[second[e]] += dual[j, e] / a[j, second[e]]
        for _ in range(SWEEPS):
            moved = 0.0
            for e in range(n_pairs):
                c, d = first[e], second[e]
                best = dual[j, e] + (mu[c] - mu[d]) / (1.0 / a[j, c] + 1.0 / a[j, d])
                best = min(max(best, -limits[j, e]), limits[j, e])
                step = best - dual[j, e]
                dual[j, e] = best
                mu[c] -= step / a[j, c]
                mu[d] += step / a[j, d]
                moved = max(moved, abs(step) / min(a[j, c], a[j, d]))
            if moved <= CONVERGED * largest:
                break
        _polished(mu, m[j], a[j], limits[j], pair_of, largest, other)
        better = _objective(other, m[j], a[j], limits[j], pair_of)
        worse = _objective(mu, m[j], a[j], limits[j], pair_of)
        means[j] = other if better <= worse * (1.0 + 1e-12) else mu
    return means


@kernel
def hierarchical_means(m, a, means, weights, penalty, passes):
    """Minimize the adaptive hierarchical penalty 2 sqrt(penalty) sqrt(sum_k w_k |mu_k|) from the given means.

    With mu = gamma theta, each pass first rebalances gamma so that both parts of the penalty are equal, then minimizes
    over gamma and theta in turn. The objective never rises. Means that are all zero stay zero.
    """
    p, k = m.shape
    new = means.copy()
    for j in range(p):
        if penalty <= 0.0:
            new[j] = m[j]
            continue
        for _ in range(passes):
            size, largest = 0.0, 0.0
            for c in range(k):
                size += weights[j, c] * abs(new[j, c])
                largest = max(largest, abs(new[j, c]))
            if size <= 0.0:
                break
            gamma = max(np.sqrt(penalty * size), TINY)
            top, below = -1.0, 0.0
            for c in range(k):
                theta = new[j, c] / gamma
                top += a[j, c] * m[j, c] * theta
                below += a[j, c] * theta * theta
            gamma = top / below if below > 0.0 else 0.0
            moved = 0.0
            for c in range(k):
                value = 0.0
                if a[j, c] * gamma > 0.0:
                    threshold = penalty * weights[j, c] / (a[j, c] * gamma)
                    if abs(m[j, c]) > threshold:
                        value = m[j, c] - threshold if m[j, c] > 0 else m[j, c] + threshold
                moved = max(moved, abs(value - new[j, c]))
                new[j, c] = value
            if moved <= CONVERGED * largest:
                break
    return new
