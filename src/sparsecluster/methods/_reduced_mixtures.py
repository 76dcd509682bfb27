"""Gaussian mixtures in few dimensions: started from hierarchical clustering, with covariances chosen by the BIC."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.special import logsumexp

from .._clusterers.hierarchical import cut
from .._clusterers.kmeans import kmeans
from .._data.centers import means
from .._features.features import Rows
from .._mixtures.gaussian import MODELS, by_cluster, fit
from .._utils.arrays import Floats, Labels

# Equal balls, and the forms of scikit-learn, with their names in mclust.
FORMS = {"equal": "EII", "spherical": "VII", "diag": "VVI", "tied": "EEE", "full": "VVV"}
# With more points, the tree is built for a random part of them, and the others join the nearest cluster.
MOST_MERGED = 2000
# EM stops when the log likelihood changes by less than this share.
TOLERANCE = 1e-7
# The smallest variance of a coordinate, as a share of the largest one.
LEAST = 1e-10
# A cluster that is thinner than this share of the spread of all points in some direction is considered degenerate.
THIN = 1e-5


class Gaussians(NamedTuple):
    """Gaussians with weights. The precision matrix of each is R R' for its root R.

    Attributes
    ----------
    weights : ndarray of shape (n_clusters,)
    centers : ndarray of shape (n_clusters, n_dimensions)
    roots : ndarray of shape (n_clusters, n_dimensions, n_dimensions)
    """

    weights: Floats
    centers: Floats
    roots: Floats

    def log_joint(self, points: Floats) -> Floats:
        """Return log(weight) + log(density) of each cluster at each point, of shape (n_points, n_clusters)."""
        lengths = np.stack(
            [(((points - c) @ root) ** 2).sum(axis=1) for c, root in zip(self.centers, self.roots, strict=True)], axis=1
        )
        size = np.linalg.slogdet(self.roots)[1] - 0.5 * self.centers.shape[1] * math.log(2.0 * math.pi)
        return np.log(self.weights) + size - 0.5 * lengths

    def memberships(self, points: Floats) -> Floats:
        """Return the probability of each cluster at each point."""
        joint = self.log_joint(points)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


class Mixture(NamedTuple):
    """A mixture that has been fitted.

    `gain` is its BIC (log-likelihood - parameters/2 log n) less that of independent coordinates with one Gaussian each.
    """

    gaussians: Gaussians
    labels: Labels
    gain: float
    covariance: str
    n_iter: int


def fit_mixture(points: Floats, k: int, rng: np.random.Generator, max_iter: int) -> Mixture:
    """Return the mixture of k Gaussians whose form of the covariance has the highest BIC.

    Forms are left out if they leave a cluster without points or degenerate. If all of them do, the clusters are
    those of K-means, as equal balls of equal weight.
    """
    start = ward(points, k, rng)
    fits = (fit_form(form, points, start, k, max_iter) for form in FORMS)
    proper = [fit for fit in fits if fit is not None]
    return max(proper, key=lambda fit: fit.gain) if proper else as_balls(points, start, k)


def ward(points: Floats, k: int, rng: np.random.Generator) -> Labels:
    """Hierarchical clustering by Ward's linkage, the one that belongs to Gaussians of equal spherical covariance."""
    if len(points) <= MOST_MERGED:
        return cut(linkage(points, "ward"), k)
    distinct = np.unique(points, axis=0)
    some = distinct[rng.permutation(len(distinct))[:MOST_MERGED]]
    centers = means(some, cut(linkage(some, "ward"), k), k)
    apart = (centers**2).sum(axis=1) - 2.0 * points @ centers.T
    return kmeans(Rows(points, np.ones(points.shape[1])), k, rng, warm=apart.argmin(axis=1).astype(np.int32))


def fit_form(form: str, points: Floats, start: Labels, k: int, max_iter: int) -> Mixture | None:
    """Fit a mixture with one form of the covariance from given labels; None if it degenerates."""
    n, q = points.shape
    middle, spread = points.mean(axis=0), variances(points)
    columns = np.ascontiguousarray((points - middle).T)
    found = fit(columns, FORMS[form], by_cluster(start, k), TOLERANCE, max_iter)
    if not found.is_regular:
        return None
    gaussians = Gaussians(found.shares, found.means + middle, roots_of(found.covariances))
    joint = gaussians.log_joint(points)
    labels = joint.argmax(axis=1).astype(np.int32)
    if np.bincount(labels, minlength=k).min() < fewest(form, q) or is_thin(gaussians.roots, spread):
        return None
    likelihood = float(logsumexp(joint, axis=1).sum())
    return Mixture(gaussians, labels, gain(likelihood, n_parameters(form, k, q), spread, n), form, found.n_iter)


def roots_of(covariances: Floats) -> Floats:
    """Return the roots of the precision matrices, given covariances of shape (k, q, q) or variances of shape (k, q)."""
    if covariances.ndim == 2:
        return np.stack([np.diag(1.0 / np.sqrt(each)) for each in covariances])
    return np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)


def variances(points: Floats) -> Floats:
    """Return the variance of each coordinate, above 0 also for one in which all points are equal."""
    spread = points.var(axis=0)
    return np.maximum(spread, LEAST * spread.max())


def n_parameters(form: str, k: int, q: int) -> int:
    """Return the number of free parameters of a mixture.

    >>> [n_parameters(form, k=3, q=2) for form in FORMS]
    [9, 11, 14, 11, 17]
    """
    return k - 1 + k * q + MODELS[FORMS[form]].n_parameters(k, q)


def fewest(form: str, q: int) -> int:
    """Return the smallest number of points of a cluster by which its own covariance is determined."""
    return {"equal": 1, "spherical": 2, "diag": 2, "tied": 1, "full": q + 1}[form]


def is_thin(roots: Floats, spread: Floats) -> bool:
    """Whether a Gaussian is degenerate, compared with the spread of all points in each coordinate."""
    scaled = roots * np.sqrt(spread)[:, None]
    return bool(np.linalg.norm(scaled, ord=2, axis=(1, 2)).max() > 1.0 / THIN)


def gain(likelihood: float, parameters: int, spread: Floats, n: int) -> float:
    """Return the BIC of a model less that of independent Gaussian coordinates with the given variances."""
    alone = -0.5 * n * float((np.log(2.0 * np.pi * spread) + 1.0).sum())
    return likelihood - alone - 0.5 * (parameters - 2 * spread.size) * math.log(n)


def as_balls(points: Floats, start: Labels, k: int) -> Mixture:
    """Return the clusters of K-means as Gaussians of equal weight and equal spherical covariance."""
    n, q = points.shape
    labels = kmeans(Rows(np.ascontiguousarray(points), np.ones(q)), k, np.random.default_rng(0), warm=start)
    centers, spread = means(points, labels, k), variances(points)
    variance = max(float(((points - centers[labels]) ** 2).mean()), THIN**2 * float(spread.mean()))
    roots = np.broadcast_to(np.eye(q) / math.sqrt(variance), (k, q, q)).copy()
    gaussians = Gaussians(np.full(k, 1.0 / k), centers, roots)
    likelihood = float(logsumexp(gaussians.log_joint(points), axis=1).sum())
    return Mixture(gaussians, labels, gain(likelihood, n_parameters("equal", k, q), spread, n), "equal", 1)
