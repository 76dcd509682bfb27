"""Simulated tables with a known truth: those of Section 4 of the paper, and one of mixed kinds with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .._features.base import Floats

if TYPE_CHECKING:
    import pandas as pd


class Design(NamedTuple):
    """A simulated table, the true group of every sample and the mask of useful features."""

    X: Floats
    truth: npt.NDArray[np.intp]
    useful: npt.NDArray[np.bool_]


class MixedDesign(NamedTuple):
    """A simulated data frame of numbers and categories, the true groups and the mask of useful features."""

    X: pd.DataFrame
    truth: npt.NDArray[np.intp]
    useful: npt.NDArray[np.bool_]


def shifted_groups(
    mu: float = 0.6, n_features: int = 500, n_useful: int = 50, group_size: int = 30, seed: int = 0
) -> Design:
    """Sections 3.2 and 4.1 (Figure 1, Table 1): N(mu, I), N(0, I) and N(-mu, I), with mu in the useful features only.

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
    """Sections 4.2 and 4.3 (Tables 2 and 3): means 1.02..2.00 plus 0, 1 or 2 shifts in 50 features, correlated noise.

    The covariance is a random rotation of eigenvalues evenly spaced in an interval: one for all groups
    (`SAME_COVARIANCE`) or one for each (`DIFFERENT_COVARIANCES`).

    >>> correlated_groups(n_features=60, seed=1).X.shape
    (90, 60)
    """
    if n_features < 50:
        raise ValueError(f"n_features must be at least 50, the number of useful ones; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.arange(n_features) < 50
    roots = [_random_root(n_features, low, high, rng) for low, high in eigenvalues]
    noise = [rng.standard_normal((group_size, n_features)) @ roots[group % len(roots)] for group in range(3)]
    X = np.concatenate(noise)
    X[:, useful] += 1.0 + 0.02 * np.arange(1, 51) + shift * truth[:, None]
    return Design(X, truth, useful)


def _random_root(size: int, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Square root of a random covariance matrix: a uniform rotation of the eigenvalues."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    rotation = q * np.sign(np.diag(r))
    return np.sqrt(np.linspace(low, high, size))[:, None] * rotation.T


# Section 4.5: the variance of the centers, which makes the task neither too easy nor too difficult.
CENTRE_VARIANCE = 0.4


def many_groups(
    n_groups: int = 3, n_features: int = 500, n_useful: int = 50, group_size: int = 30, seed: int = 0
) -> Design:
    """Section 4.5 (Figure 5): centers drawn from N(0, 0.4 I) in the useful features, samples from N(center, I).

    >>> X, truth, useful = many_groups(n_groups=10, group_size=20, seed=0)
    >>> X.shape, int(truth.max()), int(useful.sum())
    ((200, 500), 9, 50)
    """
    if n_features < n_useful:
        raise ValueError(f"n_features must be at least {n_useful}, the number of useful ones; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_groups), group_size)
    useful = np.arange(n_features) < n_useful
    centers = np.sqrt(CENTRE_VARIANCE) * rng.standard_normal((n_groups, n_useful))
    X = rng.standard_normal((truth.size, n_features))
    X[:, useful] += centers[truth]
    return Design(X, truth, useful)


# Section 4.4: features that each of the three groups owns, and the chance of a 1 in all others.
BERNOULLI_USEFUL, BERNOULLI_REST = 5, 0.1


def bernoulli_groups(q: float = 0.6, n_features: int = 30, group_size: int = 30, seed: int = 0) -> Design:
    """Section 4.4 (Table 4): zeros and ones, a 1 with probability q in five features of each group, else with 0.1.

    >>> X, truth, useful = bernoulli_groups(q=0.9, n_features=60, seed=0)
    >>> X.shape, int(useful.sum())
    ((90, 60), 15)
    >>> [round(float(X[truth == group, :5].mean()), 1) for group in range(3)]
    [0.9, 0.1, 0.1]
    """
    if n_features < 3 * BERNOULLI_USEFUL:
        raise ValueError(f"n_features must be at least 15, the number of useful ones; got {n_features}.")
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    owner = np.arange(n_features) // BERNOULLI_USEFUL
    chances = np.where(owner == truth[:, None], q, BERNOULLI_REST)
    X = (rng.random(chances.shape) < chances).astype(np.float64)
    return Design(X, truth, owner < 3)


# A category has 2 to 6 of these levels.
LEVELS = ["a", "b", "c", "d", "e", "f"]


def mixed_groups(
    n_features: int = 100,
    n_useful: int = 10,
    group_size: int = 30,
    gaps: float = 0.1,
    seed: int = 0,
    shift: float = 1.0,
    likely: float = 0.7,
) -> MixedDesign:
    """Not in the paper: half numbers, half categories of 2 to 6 levels, some of both useful, some values missing.

    A number is N(m, 1), with m = -shift, 0 and shift in the three groups, in random order. A category takes the
    favorite level of the sample's group with probability `likely`, else any other level. Groups differ in their
    favorites as far as the levels go round. In a useless feature all groups have the same m and the same favorite. Of
    all values a share `gaps` is missing, completely at random. Needs pandas.

    >>> X, truth, useful = mixed_groups(n_features=20, n_useful=6, seed=0)
    >>> X.shape, X.columns[useful].tolist()
    ((90, 20), ['number0', 'number1', 'number2', 'category0', 'category1', 'category2'])
    >>> X.dtypes["number0"], X["category0"].cat.categories.tolist(), bool(X.isna().any(axis=None))
    (dtype('float64'), ['a', 'b', 'c', 'd'], True)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("mixed_groups makes a pandas data frame; install pandas: pip install pandas") from error
    if not 0 <= n_useful <= n_features:
        raise ValueError(f"n_useful must be in [0, {n_features}], the number of features; got {n_useful}.")
    half, useful_half = n_features // 2, n_useful // 2
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), group_size)
    useful = np.r_[np.arange(half) < useful_half, np.arange(n_features - half) < n_useful - useful_half]
    columns: dict[str, object] = {}
    for feature, differs in enumerate(useful):
        seen = rng.random(truth.size) >= gaps
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
    """A level for each sample: mostly its group's favorite, else one of the others."""
    favorites = rng.permutation(max(n_levels, 3))[:3] % n_levels
    favorite = favorites[truth if differs else np.zeros_like(truth)]
    others = (favorite + rng.integers(1, n_levels, truth.size)) % n_levels
    return np.where(rng.random(truth.size) < likely, favorite, others)
