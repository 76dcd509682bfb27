"""Simulated tables with known groups: the designs of the paper's Section 4, and mixed columns with missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


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


class MixedDesign(NamedTuple):
    """A simulated table of numerical and categorical columns with its true groups and useful features.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_samples, n_features)
        Simulated values, with missing values.
    truth : ndarray of int of shape (n_samples,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.
    """

    X: pd.DataFrame
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


SAME_COVARIANCE = ((1.0, 5.0),)
DIFFERENT_COVARIANCES = ((1.0, 2.0), (2.0, 3.0), (3.0, 4.0))


def correlated_groups(
    shift: float = 1.0,
    n_features: int = 500,
    group_size: int = 30,
    eigenvalues: Sequence[tuple[float, float]] = SAME_COVARIANCE,
    seed: int = 0,
) -> Design:
    """Simulate three Gaussian groups with correlated features, as in Sections 4.2 and 4.3 (Tables 2 and 3).

    In the useful feature `j = 1, ..., 50`, the groups have the means `1 + 0.02 j`, `1 + 0.02 j + shift` and
    `1 + 0.02 j + 2 shift`; in the other features, all means are zero. The covariance matrix has a random orthogonal
    basis of eigenvectors and eigenvalues that are evenly spaced in an interval.

    Parameters
    ----------
    shift : float, default=1.0
        Difference of the means of consecutive groups in the useful features.
    n_features : int, default=500
        Number of features, at least 50.
    group_size : int, default=30
        Number of samples per group.
    eigenvalues : sequence of (float, float), default=((1.0, 5.0),)
        Lowest and highest eigenvalue of each covariance matrix: one pair if all groups have the same covariance matrix
        (Section 4.2), or three pairs if each group has its own (Section 4.3).
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

    Examples
    --------
    >>> from sparsecluster.datasets import correlated_groups
    >>> correlated_groups(n_features=60, seed=1).X.shape
    (90, 60)
    """
    if n_features < 50:
        raise ValueError(f"n_features must be at least 50, the number of useful features; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.arange(n_features) < 50
    roots = [_random_root(n_features, low, high, rng) for low, high in eigenvalues]
    noise = [rng.standard_normal((group_size, n_features)) @ roots[group % len(roots)] for group in range(3)]
    X = np.concatenate(noise)
    X[:, useful] += 1.0 + 0.02 * np.arange(1, 51) + shift * truth[:, None]
    return Design(X, truth, useful)


def _random_root(size: int, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Return the square root of a random covariance matrix, whose eigenvectors are distributed uniformly."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    rotation = q * np.sign(np.diag(r))
    return np.sqrt(np.linspace(low, high, size))[:, None] * rotation.T


# Section 4.5: the variance of the centers, which makes the task neither too easy nor too difficult.
CENTRE_VARIANCE = 0.4


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
    centers = np.sqrt(CENTRE_VARIANCE) * rng.standard_normal((n_groups, n_useful))
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


# A categorical column has the first 2 to 6 of these levels.
LEVELS = ["a", "b", "c", "d", "e", "f"]


def mixed_groups(
    n_features: int = 100,
    n_useful: int = 10,
    group_size: int = 30,
    missing: float = 0.1,
    seed: int = 0,
    shift: float = 1.0,
    likely: float = 0.7,
) -> MixedDesign:
    """Simulate three groups in a data frame of numerical and categorical columns with missing values.

    This design is not in the paper. The first half of the columns are numerical; the others are categorical and have 2
    to 6 levels. A numerical value is distributed as `N(m, 1)`, where `m` is `-shift`, 0 and `shift` in the three
    groups, in random order. A categorical value is the favorite level of the sample's group with probability `likely`,
    and any other level otherwise; groups have different favorites as long as there are enough levels. In a useless
    column, all groups have `m = 0` or the same favorite level. Values are missing completely at random. The function
    requires pandas.

    Parameters
    ----------
    n_features : int, default=100
        Number of features.
    n_useful : int, default=10
        Number of useful features. Half of them are the first numerical columns and the others are the first categorical
        columns.
    group_size : int, default=30
        Number of samples per group.
    missing : float, default=0.1
        Share of missing values.
    seed : int, default=0
        Seed of the random numbers.
    shift : float, default=1.0
        Difference of consecutive group means in the useful numerical columns.
    likely : float, default=0.7
        Probability of the favorite level.

    Returns
    -------
    X : pandas.DataFrame of shape (3 * group_size, n_features)
        Simulated values.
    truth : ndarray of int of shape (3 * group_size,)
        True group of each sample, numbered from 0.
    useful : ndarray of bool of shape (n_features,)
        Mask of the features in which the groups differ.

    Examples
    --------
    >>> from sparsecluster.datasets import mixed_groups
    >>> X, truth, useful = mixed_groups(n_features=20, n_useful=6, seed=0)
    >>> X.shape, X.columns[useful].tolist()
    ((90, 20), ['number0', 'number1', 'number2', 'category0', 'category1', 'category2'])
    >>> X.dtypes["number0"], X["category0"].cat.categories.tolist(), bool(X.isna().any(axis=None))
    (dtype('float64'), ['a', 'b', 'c', 'd'], True)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("mixed_groups needs pandas. Install it with: pip install pandas") from error
    if not 0 <= n_useful <= n_features:
        raise ValueError(f"n_useful must be in [0, {n_features}], the number of features; got {n_useful}.")
    half, useful_half = n_features // 2, n_useful // 2
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.r_[np.arange(half) < useful_half, np.arange(n_features - half) < n_useful - useful_half]
    columns: dict[str, object] = {}
    for feature, differs in enumerate(useful):
        seen = rng.random(truth.size) >= missing
        if feature < half:
            means = shift * differs * rng.permutation([-1.0, 0.0, 1.0])
            columns[f"number{feature}"] = np.where(seen, means[truth] + rng.standard_normal(truth.size), np.nan)
        else:
            n_levels = int(rng.integers(2, len(LEVELS), endpoint=True))
            codes = np.where(seen, _draw_levels(truth, n_levels, differs, likely, rng), -1)
            columns[f"category{feature - half}"] = pd.Categorical.from_codes(codes, pd.Index(LEVELS[:n_levels]))
    return MixedDesign(pd.DataFrame(columns), truth, useful)


def _draw_levels(
    truth: npt.NDArray[np.intp], n_levels: int, differs: bool, likely: float, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw a level for each sample: the favorite of its group with probability `likely`, or else another one."""
    favorites = rng.permutation(max(n_levels, 3))[:3] % n_levels
    favorite = favorites[truth if differs else np.zeros_like(truth)]
    others = (favorite + rng.integers(1, n_levels, truth.size)) % n_levels
    return np.where(rng.random(truth.size) < likely, favorite, others)
