"""Sums over samples and features in the EM algorithm for Gaussian mixtures with diagonal covariances."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def add_log_densities(columns, means, variances, reference, joint):
    """Add to joint[k, i], for each feature a, log N(x_ai; mean_ak, variance_ak) - log N(x_ai; 0, reference_a).

    `columns` has shape (p, n), `means` (p, k), `variances` (p, k) or (p, 1) for a variance that the clusters share.
    Features for which the difference is zero in all clusters are skipped.
    """
    p, n = columns.shape
    k, own = joint.shape[0], variances.shape[1] > 1
    shared, constants = np.zeros(n), np.zeros(k)
    for a in range(p):
        x = columns[a]
        if not own and variances[a, 0] != reference[a]:
            bend = 0.5 / reference[a] - 0.5 / variances[a, 0]
            constants += 0.5 * np.log(reference[a] / variances[a, 0])
            for i in range(n):
                shared[i] += bend * x[i] * x[i]
        for c in range(k):
            variance = variances[a, c if own else 0]
            slope = means[a, c] / variance
            constants[c] -= 0.5 * slope * means[a, c]
            if own and variance != reference[a]:
                bend = 0.5 / reference[a] - 0.5 / variance
                constants[c] += 0.5 * np.log(reference[a] / variance)
                for i in range(n):
                    joint[c, i] += (slope + bend * x[i]) * x[i]
            elif slope != 0.0:
                for i in range(n):
                    joint[c, i] += slope * x[i]
    for c in range(k):
        for i in range(n):
            joint[c, i] += shared[i] + constants[c]


@kernel
def weighted_sums(columns, tau):
    """sum_i tau_ki x_ai for every feature a and cluster k, of shape (p, k); `columns` is (p, n), `tau` (k, n)."""
    p, n = columns.shape
    k = tau.shape[0]
    sums = np.empty((p, k))
    for a in range(p):
        for c in range(k):
            total = 0.0
            for i in range(n):
                total += tau[c, i] * columns[a, i]
            sums[a, c] = total
    return sums


@kernel
def weighted_squares(columns, tau):
    """sum_i tau_ki x_ai^2 for every feature a and cluster k, of shape (p, k); `columns` is (p, n), `tau` (k, n)."""
    p, n = columns.shape
    k = tau.shape[0]
    sums = np.empty((p, k))
    for a in range(p):
        for c in range(k):
            total = 0.0
            for i in range(n):
                total += tau[c, i] * columns[a, i] * columns[a, i]
            sums[a, c] = total
    return sums


@kernel
def common_variances(spread, counts, m, means, smallest):
    """sum_ik tau_ik (x_ij - mean_jk)^2 / n, given the weighted means m, and at least a share of the spread; (p, 1)."""
    p, k = means.shape
    n = counts.sum()
    variances = np.empty((p, 1))
    for a in range(p):
        explained = 0.0
        for c in range(k):
            explained += counts[c] * means[a, c] * (2.0 * m[a, c] - means[a, c])
        variances[a, 0] = max(spread[a] - explained / n, smallest * spread[a])
    return variances
