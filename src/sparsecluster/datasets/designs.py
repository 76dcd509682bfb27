"""Simulated tables with a known truth, as in Section 4 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..features.base import Floats


class Design(NamedTuple):
    """A simulated table, the true group of every item and the mask of useful features."""

    X: Floats
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
