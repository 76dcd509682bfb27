"""Simulated tables with known groups: the designs of the paper's Section 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats


class Design(NamedTuple):
    """A simulated table of numbers with its true groups and useful features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Simulated values.
    truth : ndarray of int of shape (n_samples,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.
    """

    X: Floats
    truth: npt.NDArray[np.intp]
    useful: npt.NDArray[np.bool_]


def shifted_groups(
    mu: float = 0.6, n_features: int = 500, n_useful: int = 50, group_size: int = 30, seed: int = 0
) -> Design:
    """Simulate three Gaussian groups with shifted means, as in Sections 3.2 and 4.1 (Figure 1, Table 1).

    In the useful features, the groups are distributed as `N(mu, 1)`, `N(0, 1)` and `N(-mu, 1)`. In the other features,
    all groups are distributed as `N(0, 1)`. Features are independent.

    Parameters
    ----------
    mu : float, default=0.6
        Shift of the means in the useful features.
    n_features : int, default=500
        Number of features.
    n_useful : int, default=50
        Number of useful features, which come first.
    group_size : int, default=30
        Number of samples per group.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (3 * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.

    Examples
    --------
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, truth, useful = shifted_groups(mu=1.0, n_features=200, seed=0)
    >>> X.shape, int(useful.sum())
    ((90, 200), 50)
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.arange(n_features) < n_useful
    X = rng.standard_normal((truth.size, n_features))
    X[:, useful] += np.array([mu, 0.0, -mu])[truth, None]
    return Design(X, truth, useful)


# Section 4.2: the number of useful features, and the range of the variances.
N_USEFUL, VARIANCES = 50, (1.0, 5.0)


def diagonal_groups(shift: float = 1.0, n_features: int = 500, group_size: int = 30, seed: int = 0) -> Design:
    """Simulate three Gaussian groups with one diagonal covariance matrix, as in Section 4.2 (Table 2).

    The samples of group `k = 0, 1, 2` are distributed as `N(m_k, diag(v))`. In the useful feature `j = 1, ..., 50`, the
    mean is `m_kj = 1 + 0.02 j + k shift`; in the other features, it is zero. The variances `v_j` are drawn from the
    uniform distribution on [1, 5], once for all groups. Features are independent.

    Parameters
    ----------
    shift : float, default=1.0
        Difference of the means of consecutive groups in the useful features.
    n_features : int, default=500
        Number of features, at least 50.
    group_size : int, default=30
        Number of samples per group.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (3 * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ, the first 50 features.

    See Also
    --------
    correlated_groups : The same means with correlated features.

    Examples
    --------
    >>> from sparsecluster.datasets import diagonal_groups
    >>> X, truth, useful = diagonal_groups(shift=0.8, n_features=200, seed=0)
    >>> X.shape, int(useful.sum())
    ((90, 200), 50)
    >>> variances = diagonal_groups(n_features=200, group_size=1000).X[:, ~useful].var(axis=0)
    >>> round(float(variances.min())), round(float(variances.max()))
    (1, 5)
    """
    rng = np.random.default_rng(seed)
    deviations = np.sqrt(rng.uniform(*VARIANCES, n_features))
    return _with_means(deviations * rng.standard_normal((3 * group_size, n_features)), shift)


# The eigenvalues of one covariance matrix for all groups, of a rotation of it for each group, as in the authors' code
# of Table 2, and of the covariance matrices of Section 4.3.
ONE_ROTATION = (VARIANCES,)
THREE_ROTATIONS = (VARIANCES,) * 3
DIFFERENT_COVARIANCES = ((1.0, 2.0), (2.0, 3.0), (3.0, 4.0))


def correlated_groups(
    shift: float = 1.0,
    n_features: int = 500,
    group_size: int = 30,
    eigenvalues: Sequence[tuple[float, float]] = ONE_ROTATION,
    seed: int = 0,
) -> Design:
    """Simulate three Gaussian groups with correlated features, as in Section 4.3 (Table 3).

    The samples of group `k = 0, 1, 2` are distributed as `N(m_k, Q_k D_k Q_k^T)`. The means are those of
    `diagonal_groups`: `m_kj = 1 + 0.02 j + k shift` in the useful feature `j = 1, ..., 50`, and zero in the other
    features. `Q_k` is a random rotation, and the eigenvalues in the diagonal matrix `D_k` are evenly spaced in an
    interval.

    Parameters
    ----------
    shift : float, default=1.0
        Difference of the means of consecutive groups in the useful features.
    n_features : int, default=500
        Number of features, at least 50.
    group_size : int, default=30
        Number of samples per group.
    eigenvalues : sequence of (float, float), default=((1.0, 5.0),)
        Lowest and highest eigenvalue of each covariance matrix: one pair if all groups have the same covariance
        matrix, or three pairs if each group has its own, with a rotation of its own. Section 4.3 has (1, 2), (2, 3)
        and (3, 4). The authors' code of Table 2 has (1, 5) three times, whereas the text describes `diagonal_groups`.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (3 * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ, the first 50 features.

    See Also
    --------
    diagonal_groups : The same means with independent features.

    Examples
    --------
    >>> from sparsecluster.datasets import correlated_groups
    >>> correlated_groups(n_features=60, seed=1).X.shape
    (90, 60)
    """
    rng = np.random.default_rng(seed)
    roots = [_random_root(n_features, low, high, rng) for low, high in eigenvalues]
    noise = [rng.standard_normal((group_size, n_features)) @ roots[group % len(roots)] for group in range(3)]
    return _with_means(np.concatenate(noise), shift)


def _with_means(noise: Floats, shift: float) -> Design:
    """Add the means of Section 4.2 to the noise of three groups of the same size."""
    n_samples, n_features = noise.shape
    if n_features < N_USEFUL:
        raise ValueError(f"n_features must be at least {N_USEFUL}, the number of useful features; got {n_features}.")
    truth = np.repeat(np.arange(3), n_samples // 3)
    useful = np.arange(n_features) < N_USEFUL
    noise[:, useful] += 1.0 + 0.02 * np.arange(1, N_USEFUL + 1) + shift * truth[:, None]
    return Design(noise, truth, useful)


def _random_root(size: int, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Return the square root of a random covariance matrix, whose eigenvectors are distributed uniformly."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    rotation = q * np.sign(np.diag(r))
    return np.sqrt(np.linspace(low, high, size))[:, None] * rotation.T


# Section 4.5: the variance of the centers, which makes the task neither too easy nor too difficult.
CENTER_VARIANCE = 0.4


def many_groups(
    n_groups: int = 3, n_features: int = 500, n_useful: int = 50, group_size: int = 30, seed: int = 0
) -> Design:
    """Simulate any number of Gaussian groups with random centers, as in Section 4.5 (Figure 5).

    In the useful features, the centers of the groups are drawn from `N(0, 0.4 I)`; in the other features, they are
    zero. The samples of a group are distributed as `N(center, I)`.

    Parameters
    ----------
    n_groups : int, default=3
        Number of groups.
    n_features : int, default=500
        Number of features.
    n_useful : int, default=50
        Number of useful features, which come first.
    group_size : int, default=30
        Number of samples per group.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_groups * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (n_groups * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.

    Examples
    --------
    >>> from sparsecluster.datasets import many_groups
    >>> X, truth, useful = many_groups(n_groups=10, group_size=20, seed=0)
    >>> X.shape, int(truth.max()), int(useful.sum())
    ((200, 500), 9, 50)
    """
    if n_features < n_useful:
        raise ValueError(f"n_features must be at least {n_useful}, the number of useful features; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_groups), group_size)
    useful = np.arange(n_features) < n_useful
    centers = np.sqrt(CENTER_VARIANCE) * rng.standard_normal((n_groups, n_useful))
    X = rng.standard_normal((truth.size, n_features))
    X[:, useful] += centers[truth]
    return Design(X, truth, useful)


# Section 4.4: the number of useful features per group, and the probability of a 1 in all other features.
BERNOULLI_USEFUL, BERNOULLI_REST = 5, 0.1


def bernoulli_groups(q: float = 0.6, n_features: int = 30, group_size: int = 30, seed: int = 0) -> Design:
    """Simulate three groups of binary features, as in Section 4.4 (Table 4).

    Each group has five features of its own, in which its samples have a 1 with probability `q`. All other values are 1
    with probability 0.1. Features are independent.

    Parameters
    ----------
    q : float, default=0.6
        Probability of a 1 in the features of the sample's own group.
    n_features : int, default=30
        Number of features, at least 15.
    group_size : int, default=30
        Number of samples per group.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (3 * group_size, n_features)
        Simulated values, zeros and ones.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ, the first 15 features.

    Examples
    --------
    >>> from sparsecluster.datasets import bernoulli_groups
    >>> X, truth, useful = bernoulli_groups(q=0.9, n_features=60, seed=0)
    >>> X.shape, int(useful.sum())
    ((90, 60), 15)
    >>> [round(float(X[truth == group, :5].mean()), 1) for group in range(3)]
    [0.9, 0.1, 0.1]
    """
    if n_features < 3 * BERNOULLI_USEFUL:
        raise ValueError(f"n_features must be at least 15, the number of useful features; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    owner = np.arange(n_features) // BERNOULLI_USEFUL
    chances = np.where(owner == truth[:, None], q, BERNOULLI_REST)
    X = (rng.random(chances.shape) < chances).astype(np.float64)
    return Design(X, truth, owner < 3)
