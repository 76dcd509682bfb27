"""Sums over samples and features in the EM algorithm for Gaussian mixtures with diagonal covariances."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# Features are added in blocks of this many, so that the sums of the samples are loaded and stored less often.
BLOCK = 4


@kernel
def add_common(columns, means, variances, reference, joint):
    """Add to joint[k, i], for each feature a, log N(x_ai; mean_ak, variance_a) - log N(x_ai; 0, reference_a).

    `columns` has shape (p, n), `means` (p, k), `variances` and `reference` (p,). Features for which the difference is
    zero in all clusters are skipped.
    """
    p, n = columns.shape
    k = joint.shape[0]
    shared, constants = np.zeros(n), np.zeros(k)
    used = np.empty(p, np.intp)
    n_used = 0
    for a in range(p):
        differs = variances[a] != reference[a]
        for c in range(k):
            differs = differs or means[a, c] != 0.0
        if differs:
            used[n_used] = a
            n_used += 1
    slopes, bends = np.empty((k, BLOCK)), np.empty(BLOCK)
    for first in range(0, n_used, BLOCK):
        width = min(BLOCK, n_used - first)
        for b in range(width):
            a = used[first + b]
            bends[b] = 0.5 / reference[a] - 0.5 / variances[a]
            constants += 0.5 * np.log(reference[a] / variances[a])
            for c in range(k):
                slopes[c, b] = means[a, c] / variances[a]
                constants[c] -= 0.5 * slopes[c, b] * means[a, c]
        if width < BLOCK:
            for b in range(width):
                x = columns[used[first + b]]
                for i in range(n):
                    shared[i] += bends[b] * x[i] * x[i]
                for c in range(k):
                    for i in range(n):
                        joint[c, i] += slopes[c, b] * x[i]
            break
        x0, x1 = columns[used[first]], columns[used[first + 1]]
        x2, x3 = columns[used[first + 2]], columns[used[first + 3]]
        b0, b1, b2, b3 = bends[0], bends[1], bends[2], bends[3]
        for i in range(n):
            shared[i] += b0 * x0[i] * x0[i] + b1 * x1[i] * x1[i] + b2 * x2[i] * x2[i] + b3 * x3[i] * x3[i]
        for c in range(k):
            s0, s1, s2, s3 = slopes[c, 0], slopes[c, 1], slopes[c, 2], slopes[c, 3]
            row = joint[c]
            for i in range(n):
                row[i] += s0 * x0[i] + s1 * x1[i] + s2 * x2[i] + s3 * x3[i]
    for c in range(k):
        for i in range(n):
            joint[c, i] += shared[i] + constants[c]


@kernel
def add_own(columns, means, variances, joint):
    """Add to joint[k, i], for each feature a, log N(x_ai; mean_ak, variance_ak) - log N(x_ai; 0, 1).

    `columns` has shape (p, n), `means` and `variances` (p, k). Pairs for which the difference is zero are skipped.
    """
    p, n = columns.shape
    for a in range(p):
        x = columns[a]
        for c in range(joint.shape[0]):
            slope, bend = means[a, c] / variances[a, c], 0.5 - 0.5 / variances[a, c]
            if slope == 0.0 and bend == 0.0:
                continue
            constant = -0.5 * (slope * means[a, c] + np.log(variances[a, c]))
            for i in range(n):
                joint[c, i] += constant + (slope + bend * x[i]) * x[i]


@kernel
def squared_lengths(columns, weights):
    """sum_a w_a x_ai^2 of every sample i, for columns of shape (p, n)."""
    p, n = columns.shape
    lengths = np.zeros(n)
    for a in range(p):
        for i in range(n):
            lengths[i] += weights[a] * columns[a, i] * columns[a, i]
    return lengths


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
