"""Tables without groups, and tables with groups and several kinds of noise, on which the evidence is measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparsecluster.datasets import many_groups, shifted_groups

N, P, USEFUL = 90, 500, 50


class Table(NamedTuple):
    """A table, the group of each sample, whether each feature is useful, and the number of clusters to look for."""

    X: np.ndarray
    truth: np.ndarray
    useful: np.ndarray
    k: int


def ar(rng, correlation=0.7):
    """Noise in which neighboring features are correlated."""
    noise = rng.standard_normal((N, P))
    for j in range(1, P):
        noise[:, j] = correlation * noise[:, j - 1] + np.sqrt(1 - correlation**2) * noise[:, j]
    return noise


def factors(rng, count=3, loading=1.0):
    """Noise in which all features depend on a few common factors."""
    loadings = loading * rng.standard_normal((count, P))
    return rng.standard_normal((N, count)) @ loadings + rng.standard_normal((N, P))


def blocks(rng, correlation=0.5, width=10):
    """Noise in which blocks of features are correlated."""
    shared = np.repeat(rng.standard_normal((N, P // width)), width, axis=1)
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.standard_normal((N, P))


def heavy_rows(rng):
    """Noise in which some samples are far away in all features: a multivariate t distribution."""
    return rng.standard_normal((N, P)) / np.sqrt(rng.chisquare(5, (N, 1)) / 5)


def with_missing(rng, share=0.1):
    """Independent noise with missing values."""
    noise = rng.standard_normal((N, P))
    noise[rng.random((N, P)) < share] = np.nan
    return noise


def two_levels(rng):
    """Zeros and ones that depend on three common factors."""
    return (factors(rng) > 0).astype(float)


WITHOUT = {
    "independent, normal": lambda rng: rng.standard_normal((N, P)),
    "independent, t(3)": lambda rng: rng.standard_t(3, (N, P)),
    "independent, discrete (Poisson, mean 2)": lambda rng: rng.poisson(2, (N, P)).astype(float),
    "independent, 10 % missing": with_missing,
    "AR(1), 0.7": ar,
    "three common factors": factors,
    "three common factors, two levels": two_levels,
    "multivariate t(5)": heavy_rows,
}
# The first ones have independent features, and all but the last have a Gaussian copula. Of the first ones, with and
# without groups, there are many tables.
N_INDEPENDENT, N_MANY = 4, 6


def without_groups(kind, seed):
    """Draw a table without groups."""
    X = WITHOUT[kind](np.random.default_rng(seed))
    return Table(X, np.zeros(N, int), np.zeros(P, bool), 3)


def in_a_row(noise, shift):
    """Shift three groups in the useful features."""
    truth = np.repeat(np.arange(3), N // 3)
    useful = np.arange(P) < USEFUL
    noise[:, useful] += shift * (truth - 1.0)[:, None]
    return Table(noise, truth, useful, 3)


def in_general_position(size, seed):
    """Draw five groups with random centers."""
    X, truth, useful = many_groups(n_groups=5, n_features=P, group_size=size, seed=seed)
    return Table(X, truth, useful, 5)


WITH = {
    "three in a row, mu = 0.7": lambda seed: Table(*shifted_groups(mu=0.7, n_features=P, seed=seed), 3),
    "five in general position, 18 each": lambda seed: in_general_position(18, seed),
    "five in general position, 30 each": lambda seed: in_general_position(30, seed),
    "three in a row, mu = 1, AR(1) noise, 0.7": lambda seed: in_a_row(ar(np.random.default_rng(seed)), 1.0),
    "three in a row, mu = 1, noise in blocks": lambda seed: in_a_row(blocks(np.random.default_rng(seed)), 1.0),
    "three in a row, mu = 1, two weak factors": lambda seed: in_a_row(
        factors(np.random.default_rng(seed), 2, 0.25), 1.0
    ),
    "three in a row, mu = 0.6": lambda seed: Table(*shifted_groups(mu=0.6, n_features=P, seed=seed), 3),
    "three in a row, mu = 0.7, AR(1) noise, 0.7": lambda seed: in_a_row(ar(np.random.default_rng(seed)), 0.7),
}
