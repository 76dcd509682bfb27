"""EM for mixtures of Gaussians, with diagonal or full covariances that the clusters may share.

Tables are stored by features and memberships by clusters, so that the innermost loops run over all samples.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

LOG_2PI = np.log(2.0 * np.pi)
# A cluster that is left with fewer samples than this, counted by their memberships, is lost.
FEWEST = 1e-8


@inline
def shares_and_means(columns, memberships, shares, means):
    """Fill in the proportions and the means of the clusters. Returns whether all clusters have members."""
    d, n = columns.shape
    all_there = True
    for c in range(len(memberships)):
        size = 0.0
        for i in range(n):
            size += memberships[c, i]
        all_there = all_there and size >= FEWEST
        shares[c] = size / n
        for j in range(d):
            total = 0.0
            for i in range(n):
                total += memberships[c, i] * columns[j, i]
            means[c, j] = total / max(size, FEWEST)
    return all_there


@inline
def into_memberships(joint, top, total):
    """Turn log densities, weighted by proportions, into memberships. Returns the log likelihood."""
    k, n = joint.shape
    top[:] = joint[0]
    for c in range(1, k):
        for i in range(n):
            top[i] = max(top[i], joint[c, i])
    total[:] = 0.0
    for c in range(k):
        for i in range(n):
            joint[c, i] = np.exp(joint[c, i] - top[i])
            total[i] += joint[c, i]
    for c in range(k):
        for i in range(n):
            joint[c, i] /= total[i]
    loglik = 0.0
    for i in range(n):
        loglik += top[i] + np.log(total[i])
    return loglik


@inline
def pooled(variances, shares, across_clusters, across_features, floors):
    """Turn the variances within each cluster into those of a model, none of which is below its floor."""
    k, d = variances.shape
    if across_clusters:
        for j in range(d):
            mean = 0.0
            for c in range(k):
                mean += shares[c] * variances[c, j]
            for c in range(k):
                variances[c, j] = mean
    floor = 0.0
    for j in range(d):
        floor += floors[j] / d
    for c in range(k):
        mean = 0.0
        for j in range(d):
            mean += variances[c, j] / d
        for j in range(d):
            variances[c, j] = max(mean, floor) if across_features else max(variances[c, j], floors[j])


@kernel
def em_diagonal(columns, memberships, across_clusters, across_features, floors, tol, max_iter):
    """EM from the given memberships, of shape (k, n_samples), which are updated.

    `columns` is the table, of shape (n_features, n_samples). Covariances are diagonal: with `across_clusters` all
    clusters have the same variances, and with `across_features` all features. A variance is at least its `floors[j]`,
    or their mean if all features have the same. EM ends when the log likelihood rises by at most tol (1 + |log L|).

    Returns the log likelihood, which is -inf if a cluster has lost its members, the proportions, the means and the
    variances, of shape (k, n_features), and the number of iterations. The memberships are those by these parameters.
    """
    d, n = columns.shape
    k = len(memberships)
    shares, means, variances = np.empty(k), np.empty((k, d)), np.empty((k, d))
    top, total = np.empty(n), np.empty(n)
    loglik, n_iter = -np.inf, 0
    for n_iter in range(1, max_iter + 1):
        if not shares_and_means(columns, memberships, shares, means):
            return -np.inf, shares, means, variances, n_iter
        for c in range(k):
            for j in range(d):
                mean, square = means[c, j], 0.0
                for i in range(n):
                    square += memberships[c, i] * (columns[j, i] - mean) ** 2
                variances[c, j] = square / (n * shares[c])
        pooled(variances, shares, across_clusters, across_features, floors)
        for c in range(k):
            constant = np.log(shares[c]) - 0.5 * d * LOG_2PI
            for j in range(d):
                constant -= 0.5 * np.log(variances[c, j])
            memberships[c] = constant
            for j in range(d):
                mean, half = means[c, j], 0.5 / variances[c, j]
                for i in range(n):
                    memberships[c, i] -= half * (columns[j, i] - mean) ** 2
        before, loglik = loglik, into_memberships(memberships, top, total)
        if loglik - before <= tol * (1.0 + abs(loglik)):
            break
    return loglik, shares, means, variances, n_iter


@inline
def cholesky(matrix, floors, factor):
    """Fill in the lower factor of a matrix. Returns whether all pivots are above their floors."""
    d = len(matrix)
    is_positive = True
    for j in range(d):
        pivot = matrix[j, j]
        for h in range(j):
            pivot -= factor[j, h] ** 2
        is_positive = is_positive and pivot > floors[j]
        factor[j, j] = np.sqrt(max(pivot, floors[j]))
        for i in range(j + 1, d):
            value = matrix[i, j]
            for h in range(j):
                value -= factor[i, h] * factor[j, h]
            factor[i, j] = value / factor[j, j]
    return is_positive


@kernel
def em_full(columns, memberships, across_clusters, floors, tol, max_iter):
    """EM with full covariances, as `em_diagonal`. The fourth result has the shape (k, n_features, n_features).

    The log likelihood is also -inf if a covariance matrix is singular: if the variance of a feature given those before
    it is not above its floor.
    """
    d, n = columns.shape
    k = len(memberships)
    shares, means, covariances = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    centered, factors, top, total = np.empty((d, n)), np.zeros((k, d, d)), np.empty(n), np.empty(n)
    loglik, n_iter = -np.inf, 0
    for n_iter in range(1, max_iter + 1):
        if not shares_and_means(columns, memberships, shares, means):
            return -np.inf, shares, means, covariances, n_iter
        for c in range(k):
            for j in range(d):
                for i in range(n):
                    centered[j, i] = columns[j, i] - means[c, j]
                for h in range(j + 1):
                    square = 0.0
                    for i in range(n):
                        square += memberships[c, i] * centered[j, i] * centered[h, i]
                    covariances[c, j, h] = covariances[c, h, j] = square / (n * shares[c])
        if across_clusters:
            for j in range(d):
                for h in range(d):
                    mean = 0.0
                    for c in range(k):
                        mean += shares[c] * covariances[c, j, h]
                    for c in range(k):
                        covariances[c, j, h] = mean
        for c in range(k):
            if not cholesky(covariances[c], floors, factors[c]):
                return -np.inf, shares, means, covariances, n_iter
        for c in range(k):
            factor = factors[c]
            constant = np.log(shares[c]) - 0.5 * d * LOG_2PI
            for j in range(d):
                constant -= np.log(factor[j, j])
            memberships[c] = constant
            for j in range(d):
                # Row j of the solution of L z = x - mean.
                for i in range(n):
                    centered[j, i] = columns[j, i] - means[c, j]
                for h in range(j):
                    for i in range(n):
                        centered[j, i] -= factor[j, h] * centered[h, i]
                for i in range(n):
                    centered[j, i] /= factor[j, j]
                    memberships[c, i] -= 0.5 * centered[j, i] ** 2
        before, loglik = loglik, into_memberships(memberships, top, total)
        if loglik - before <= tol * (1.0 + abs(loglik)):
            break
    return loglik, shares, means, covariances, n_iter
