"""Sparse K-means as a careful NumPy and scikit-learn user would write it: the yardstick for speed.

It follows R's sparcl: K-means with 20 starts on all features, then for each bound, from equal weights and the clusters
of the bound before, weights by bisection and K-means from the clusters at hand, at most six times; the same on each
permuted copy.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from .plain import standardise

STARTS, MOST_STEPS, SMALL_CHANGE = 20, 6, 1e-4


def between(X, labels):
    """T_a - Delta_a[C] of every column."""
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    within = np.zeros(X.shape[1])
    for c in np.unique(labels):
        rows = X[labels == c]
        within += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    return total - within


def soft_weights(gains, cut):
    weights = np.maximum(gains - cut, 0)
    return weights / np.linalg.norm(weights)


def weights_for(gains, bound):
    """Soft thresholding with the cut found by bisection."""
    gains = np.maximum(gains, 0)
    if soft_weights(gains, 0).sum() <= bound:
        return soft_weights(gains, 0)
    low, high = 0.0, gains.max() - 1e-5
    for _ in range(15):
        middle = (low + high) / 2
        if soft_weights(gains, middle).sum() < bound:
            high = middle
        else:
            low = middle
        if high - low < 1e-4:
            break
    return soft_weights(gains, (low + high) / 2)


def update_labels(X, weights, labels, k):
    """K-means from the clusters at hand, on the columns that count."""
    Z = X[:, weights > 0] * np.sqrt(weights[weights > 0])
    centres = np.array([Z[labels == c].mean(axis=0) for c in range(k)])
    return KMeans(k, init=centres, n_init=1).fit(Z).labels_


def path(X, k, bounds, seed):
    """Criterion, clusters and weights for every bound."""
    labels = KMeans(k, init="random", n_init=STARTS, random_state=seed).fit(X).labels_
    found = []
    for bound in bounds:
        weights = np.full(X.shape[1], 1 / np.sqrt(X.shape[1]))
        for step in range(MOST_STEPS):
            before = weights
            if step:
                labels = update_labels(X, weights, labels, k)
            weights = weights_for(between(X, labels), bound)
            if np.abs(weights - before).sum() / np.abs(before).sum() <= SMALL_CHANGE:
                break
        found.append((weights @ between(X, labels), labels, weights))
    return found


def sparse_kmeans(X, k, n_bounds=10, n_permutations=25, seed=0):
    """Sparse K-means with its bound by the gap statistic, as in sparcl."""
    X = standardise(X)
    rng = np.random.default_rng(seed)
    bounds = np.geomspace(1.2, 0.9 * np.sqrt(X.shape[1]), n_bounds)
    found = path(X, k, bounds, seed)
    null = [
        np.log([value for value, _, _ in path(rng.permuted(X, axis=0), k, bounds, seed)]) for _ in range(n_permutations)
    ]
    gap = np.log([value for value, _, _ in found]) - np.mean(null, axis=0)
    return found[int(np.argmax(gap))][1:]
