"""Methods in plain NumPy, SciPy and scikit-learn, as a careful user would write them: a reference for speed.

SAS follows the authors' R code. The first subset comes from K-means with one start on every column, and the
alternation, with two starts of K-means at every step, runs from that subset. The gap statistic is computed on a grid of
50 sizes, or at the sizes that a golden-section search visits, and the permuted copies keep the subset, so that only
K-means with one start is run on them.

Sparse K-means follows R's sparcl. K-means with 20 starts on all features gives the first clusters. For every bound, it
starts with equal weights and the clusters of the bound before, and alternates between weights, found by bisection, and
K-means from the current clusters, at most six times. The same is done on every permuted copy.

Sparse hierarchical clustering follows sparcl as well. The squared differences of all pairs are kept in a table with one
row per pair and one column per feature. For every bound, the weights are found by at most 15 steps of a power method
from equal weights. The permuted copies have the pairs, not the samples, in another order in every column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from .._utils.arrays import Floats, Subset

Labels = npt.NDArray[np.integer[Any]]
STARTS, MOST_STEPS, MOST_POWER_STEPS, SMALL_CHANGE = 20, 6, 15, 1e-4


def standardize(X: Floats) -> Floats:
    """Give all columns mean 0 and variance 1."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def between(X: Floats, labels: Labels) -> Floats:
    """Compute T_a - Delta_a[C] for every column."""
    within = np.zeros(X.shape[1])
    for c in np.unique(labels):
        rows = X[labels == c]
        within += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(((X - X.mean(axis=0)) ** 2).sum(axis=0) - within)


# ---------------------------------------------------------------- SAS


def scores(X: Floats, labels: Labels) -> Floats:
    """Compute the score (T_a - Delta_a[C]) / T_a of every column."""
    return between(X, labels) / ((X - X.mean(axis=0)) ** 2).sum(axis=0)


def kmeans(X: Floats, k: int, seed: int, n_init: int = 1) -> Labels:
    """Run K-means from k-means++ seeds."""
    return np.asarray(KMeans(k, n_init=n_init, random_state=seed).fit(X).labels_)


def univariate_scores(X: Floats, k: int, seed: int) -> Floats:
    """Cluster every column on its own and compute its score."""
    return np.array([scores(X[:, [a]], kmeans(X[:, [a]], k, seed))[0] for a in range(X.shape[1])])


def sas(X: Floats, k: int, s: int, first_scores: Floats, seed: int, max_iter: int = 20) -> tuple[Labels, Subset]:
    """Run Algorithm 1 from the subset of the columns with the highest scores on their own."""
    subset = np.sort(np.argsort(first_scores)[-s:])
    labels = kmeans(X[:, subset], k, seed, n_init=2)
    for _ in range(max_iter):
        new = np.sort(np.argsort(scores(X, labels))[-s:])
        if np.array_equal(new, subset):
            break
        subset = new
        labels = kmeans(X[:, subset], k, seed, n_init=2)
    return labels, subset


def sas_given(X: Floats, k: int, s: int, seed: int = 0) -> tuple[Labels, Subset]:
    """Run SAS with a given number of features.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters.
    s : int
        Number of features to choose.
    seed : int, default=0
        Seed of K-means.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    subset : ndarray of shape (s,)
        The chosen features in ascending order.
    """
    X = standardize(X)
    return sas(X, k, s, univariate_scores(X, k, seed), seed)


class SizeTried(NamedTuple):
    """The gap statistic at one size, and the clusters and features found there."""

    gap: float
    labels: Labels
    subset: Subset


def gap_statistic(X: Floats, k: int, n_permutations: int, seed: int) -> Callable[[int], SizeTried]:
    """Return a function that runs SAS at one size and computes its gap statistic; each size is computed once."""
    X = standardize(X)
    rng = np.random.default_rng(seed)
    first_scores = univariate_scores(X, k, seed)

    @cache
    def at(s: int) -> SizeTried:
        labels, subset = sas(X, k, s, first_scores, seed)
        null = []
        for _ in range(n_permutations):
            copy = rng.permuted(X[:, subset], axis=0)
            null.append(np.log(scores(copy, kmeans(copy, k, seed)).sum()))
        return SizeTried(float(np.log(scores(X[:, subset], labels).sum()) - np.mean(null)), labels, subset)

    return at


def sas_grid(X: Floats, k: int, n_sizes: int = 50, n_permutations: int = 25, seed: int = 0) -> tuple[Labels, Subset]:
    """Run SAS and choose the number of features by the gap statistic on a grid (Algorithm 2 as the authors run it).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters.
    n_sizes : int, default=50
        Number of sizes on the grid.
    n_permutations : int, default=25
        Number of permuted copies.
    seed : int, default=0
        Seed of K-means and of the permutations.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    subset : ndarray
        The chosen features in ascending order.
    """
    gap_at = gap_statistic(X, k, n_permutations, seed)
    sizes = np.unique(np.linspace(1, X.shape[1], n_sizes).astype(int)).tolist()
    best = max(map(gap_at, sizes), key=lambda tried: tried.gap)
    return best.labels, best.subset


def sas_golden(X: Floats, k: int, n_permutations: int = 25, seed: int = 0) -> tuple[Labels, Subset]:
    """Run SAS and choose the number of features by a golden-section search of the gap statistic.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters.
    n_permutations : int, default=25
        Number of permuted copies.
    seed : int, default=0
        Seed of K-means and of the permutations.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    subset : ndarray
        The chosen features in ascending order.
    """
    gap_at = gap_statistic(X, k, n_permutations, seed)
    low, high, ratio = 1, X.shape[1], (5**0.5 - 1) / 2
    while high - low > 3:
        left = round(high - ratio * (high - low))
        right = max(left + 1, round(low + ratio * (high - low)))
        if gap_at(left).gap >= gap_at(right).gap:
            high = right
        else:
            low = left
    best = max(map(gap_at, range(low, high + 1)), key=lambda tried: tried.gap)
    return best.labels, best.subset


# ---------------------------------------------------------------- Sparse K-means


def soft_weights(gains: Floats, cut: float) -> Floats:
    """Subtract a threshold from the gains, replace negative values by 0, and scale to length 1."""
    weights = np.maximum(gains - cut, 0)
    return np.asarray(weights / np.linalg.norm(weights))


def weights_for(gains: Floats, bound: float) -> Floats:
    """Threshold the gains such that the sum of the weights is at most the bound; found by bisection."""
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
    """Run K-means from the current clusters on the columns with a positive weight."""
    Z = X[:, weights > 0] * np.sqrt(weights[weights > 0])
    centers = np.array([Z[labels == c].mean(axis=0) for c in range(k)])
    return np.asarray(KMeans(k, init=centers, n_init=1).fit(Z).labels_)


def sparse_path(X: Floats, k: int, bounds: Floats, seed: int) -> list[tuple[float, Labels, Floats]]:
    """Return the criterion, the clusters and the weights for every bound."""
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
    """Run Sparse K-means with a given bound.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters.
    bound : float
        Largest allowed sum of the weights.
    seed : int, default=0
        Seed of K-means.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    weights : ndarray of shape (n_features,)
        The weight of every feature.
    """
    return sparse_path(standardize(X), k, np.array([bound]), seed)[0][1:]


def sparse_kmeans(
    X: Floats, k: int, n_bounds: int = 10, n_permutations: int = 25, seed: int = 0
) -> tuple[Labels, Floats]:
    """Run Sparse K-means and choose its bound by the gap statistic, as sparcl does.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters.
    n_bounds : int, default=10
        Number of bounds to choose from.
    n_permutations : int, default=25
        Number of permuted copies.
    seed : int, default=0
        Seed of K-means and of the permutations.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    weights : ndarray of shape (n_features,)
        The weight of every feature.
    """
    X = standardize(X)
    rng = np.random.default_rng(seed)
    bounds = np.geomspace(1.2, 0.9 * np.sqrt(X.shape[1]), n_bounds)
    found = sparse_path(X, k, bounds, seed)
    copies = (sparse_path(rng.permuted(X, axis=0), k, bounds, seed) for _ in range(n_permutations))
    null = [np.log([value for value, _, _ in copy]) for copy in copies]
    gap = np.log([value for value, _, _ in found]) - np.mean(null, axis=0)
    return found[int(np.argmax(gap))][1:]


# ---------------------------------------------------------------- sparse hierarchical clustering


def pair_table(X: Floats) -> Floats:
    """Return the squared difference of every pair of samples in every column."""
    one, other = np.triu_indices(len(X), 1)
    return np.asarray((X[one] - X[other]) ** 2)


def power_weights(apart: Floats, bound: float) -> tuple[float, Floats]:
    """Return the criterion and the weights for one bound, by a power method from equal weights."""
    weights = np.full(apart.shape[1], bound / apart.shape[1])
    for _ in range(MOST_POWER_STEPS):
        used = np.flatnonzero(weights)
        total = (apart if used.size == weights.size else apart[:, used]) @ weights[used]
        before, weights = weights, weights_for(total @ apart / np.linalg.norm(total), bound)
        if np.abs(weights - before).sum() / np.abs(before).sum() <= SMALL_CHANGE:
            break
    return float(total @ (apart @ weights) / np.linalg.norm(total)), weights


def tree_labels(apart: Floats, weights: Floats, k: int) -> Labels:
    """Cut the tree of average linkage on the weighted dissimilarity into k clusters."""
    return np.asarray(fcluster(linkage(apart @ weights, "average"), k, "maxclust") - 1)


def sparse_hierarchical_given(X: Floats, k: int, bound: float) -> tuple[Labels, Floats]:
    """Run sparse hierarchical clustering with a given bound and average linkage.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters at which the tree is cut.
    bound : float
        Largest allowed sum of the weights.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    weights : ndarray of shape (n_features,)
        The weight of every feature.
    """
    apart = pair_table(standardize(X))
    weights = power_weights(apart, bound)[1]
    return tree_labels(apart, weights, k), weights


def sparse_hierarchical(
    X: Floats, k: int, n_bounds: int = 10, n_permutations: int = 10, seed: int = 0
) -> tuple[Labels, Floats]:
    """Run sparse hierarchical clustering and choose its bound by the gap statistic, as sparcl does.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers without missing values.
    k : int
        Number of clusters at which the tree is cut.
    n_bounds : int, default=10
        Number of bounds to choose from.
    n_permutations : int, default=10
        Number of permuted copies.
    seed : int, default=0
        Seed of the permutations.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    weights : ndarray of shape (n_features,)
        The weight of every feature.
    """
    apart = pair_table(standardize(X))
    rng = np.random.default_rng(seed)
    bounds = np.linspace(1.1, 0.7 * np.sqrt(X.shape[1]), n_bounds).tolist()
    found = [power_weights(apart, bound) for bound in bounds]
    copies = (rng.permuted(apart, axis=0) for _ in range(n_permutations))
    null = [[np.log(power_weights(copy, bound)[0]) for bound in bounds] for copy in copies]
    gap = np.log([criterion for criterion, _ in found]) - np.mean(null, axis=0)
    weights = found[int(np.argmax(gap))][1]
    return tree_labels(apart, weights, k), weights
