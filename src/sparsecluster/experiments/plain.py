"""SAS and Sparse K-means as a careful NumPy and scikit-learn user would write them: the yardstick for speed.

SAS follows the authors' R code: K-means with two starts on every column for the first subset, then the alternation from
that one start; the gap statistic on a grid of 50 sizes, where each permuted copy keeps the subset and only re-runs
K-means. Sparse K-means follows R's sparcl: K-means with 20 starts on all features, then for each bound, from equal
weights and the clusters of the bound before, weights by bisection and K-means from the clusters at hand, at most six
times; the same on each permuted copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from .._features.base import Floats, Subset

Labels = npt.NDArray[np.integer[Any]]
STARTS, MOST_STEPS, SMALL_CHANGE = 20, 6, 1e-4


def standardize(X: Floats) -> Floats:
    """Columns with mean 0 and variance 1."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def between(X: Floats, labels: Labels) -> Floats:
    """T_a - Delta_a[C] of every column."""
    within = np.zeros(X.shape[1])
    for c in np.unique(labels):
        rows = X[labels == c]
        within += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(((X - X.mean(axis=0)) ** 2).sum(axis=0) - within)


# ---------------------------------------------------------------- SAS


def scores(X: Floats, labels: Labels) -> Floats:
    """(T_a - Delta_a[C]) / T_a of every column."""
    return between(X, labels) / ((X - X.mean(axis=0)) ** 2).sum(axis=0)


def kmeans(X: Floats, k: int, seed: int) -> Labels:
    """K-means with two starts."""
    return np.asarray(KMeans(k, n_init=2, random_state=seed).fit(X).labels_)


def univariate_scores(X: Floats, k: int, seed: int) -> Floats:
    """Score of every column for its own clusters."""
    return np.array([scores(X[:, [a]], kmeans(X[:, [a]], k, seed))[0] for a in range(X.shape[1])])


def sas(X: Floats, k: int, s: int, first_scores: Floats, seed: int, max_iter: int = 20) -> tuple[Labels, Subset]:
    """Algorithm 1 from the coordinate-wise subset."""
    subset = np.sort(np.argsort(first_scores)[-s:])
    labels = kmeans(X[:, subset], k, seed)
    for _ in range(max_iter):
        new = np.sort(np.argsort(scores(X, labels))[-s:])
        if np.array_equal(new, subset):
            break
        subset = new
        labels = kmeans(X[:, subset], k, seed)
    return labels, subset


def sas_given(X: Floats, k: int, s: int, seed: int = 0) -> tuple[Labels, Subset]:
    """SAS with the number of features given."""
    X = standardize(X)
    return sas(X, k, s, univariate_scores(X, k, seed), seed)


def sas_grid(X: Floats, k: int, n_sizes: int = 50, n_permutations: int = 25, seed: int = 0) -> tuple[Labels, Subset]:
    """Algorithm 2 as the authors run it."""
    X = standardize(X)
    rng = np.random.default_rng(seed)
    first_scores = univariate_scores(X, k, seed)
    found: list[tuple[float, Labels, Subset]] = []
    for s in np.unique(np.linspace(1, X.shape[1], n_sizes).astype(int)).tolist():
        labels, subset = sas(X, k, s, first_scores, seed)
        null = []
        for _ in range(n_permutations):
            copy = rng.permuted(X[:, subset], axis=0)
            null.append(np.log(scores(copy, kmeans(copy, k, seed)).sum()))
        found.append((float(np.log(scores(X[:, subset], labels).sum()) - np.mean(null)), labels, subset))
    return max(found, key=lambda each: each[0])[1:]


# ---------------------------------------------------------------- Sparse K-means


def soft_weights(gains: Floats, cut: float) -> Floats:
    """What is left of the gains above a cut, with length 1."""
    weights = np.maximum(gains - cut, 0)
    return np.asarray(weights / np.linalg.norm(weights))


def weights_for(gains: Floats, bound: float) -> Floats:
    """Soft thresholding with the cut found by bisection."""
    gains = np.maximum(gains, 0)
    if soft_weights(gains, 0.0).sum() <= bound:
        return soft_weights(gains, 0.0)
    low, high = 0.0, float(gains.max()) - 1e-5
    for _ in range(15):
        middle = (low + high) / 2
        if soft_weights(gains, middle).sum() < bound:
            high = middle
        else:
            low = middle
        if high - low < 1e-4:
            break
    return soft_weights(gains, (low + high) / 2)


def update_labels(X: Floats, weights: Floats, labels: Labels, k: int) -> Labels:
    """K-means from the clusters at hand, on the columns that count."""
    Z = X[:, weights > 0] * np.sqrt(weights[weights > 0])
    centers = np.array([Z[labels == c].mean(axis=0) for c in range(k)])
    return np.asarray(KMeans(k, init=centers, n_init=1).fit(Z).labels_)


def sparse_path(X: Floats, k: int, bounds: Floats, seed: int) -> list[tuple[float, Labels, Floats]]:
    """Criterion, clusters and weights for every bound."""
    labels: Labels = KMeans(k, init="random", n_init=STARTS, random_state=seed).fit(X).labels_
    found = []
    for bound in bounds.tolist():
        weights = np.full(X.shape[1], 1 / np.sqrt(X.shape[1]))
        for step in range(MOST_STEPS):
            before = weights
            if step:
                labels = update_labels(X, weights, labels, k)
            weights = weights_for(between(X, labels), bound)
            if np.abs(weights - before).sum() / np.abs(before).sum() <= SMALL_CHANGE:
                break
        found.append((float(weights @ between(X, labels)), labels, weights))
    return found


def sparse_kmeans_given(X: Floats, k: int, bound: float, seed: int = 0) -> tuple[Labels, Floats]:
    """Sparse K-means with its bound given."""
    return sparse_path(standardize(X), k, np.array([bound]), seed)[0][1:]


def sparse_kmeans(
    X: Floats, k: int, n_bounds: int = 10, n_permutations: int = 25, seed: int = 0
) -> tuple[Labels, Floats]:
    """Sparse K-means with its bound by the gap statistic, as in sparcl."""
    X = standardize(X)
    rng = np.random.default_rng(seed)
    bounds = np.geomspace(1.2, 0.9 * np.sqrt(X.shape[1]), n_bounds)
    found = sparse_path(X, k, bounds, seed)
    copies = (sparse_path(rng.permuted(X, axis=0), k, bounds, seed) for _ in range(n_permutations))
    null = [np.log([value for value, _, _ in copy]) for copy in copies]
    gap = np.log([value for value, _, _ in found]) - np.mean(null, axis=0)
    return found[int(np.argmax(gap))][1:]
