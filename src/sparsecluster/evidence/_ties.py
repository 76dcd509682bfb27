"""The order of equal values: what the other columns say about numbers of which only a level is seen."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from .._utils.arrays import Floats, Table
from .._utils.parallel import one_thread_blas
from ._copula import column_blocks, factors_of, normal_scores

# Rounds of the sampler. The association of levels grows from what is seen of it to what causes it in about ten.
ROUNDS = 20
# No number is farther from its mean than this many times its spread, if its bounds allow it.
FARTHEST = 37.0


def has_ties(values: Table) -> bool:
    """Whether two values of a column are equal.

    >>> has_ties(np.array([[1.0, 2.0], [2.0, np.nan], [3.0, np.nan]])), has_ties(np.array([[1.0], [1.0]]))
    (False, True)
    """
    for places in column_blocks(*values.shape):
        ordered = np.sort(values[:, places], axis=0)
        if (ordered[1:] == ordered[:-1]).any():
            return True
    return False


def without_ties(values: Table, rng: np.random.Generator) -> Floats:
    """Draw normal scores in which equal values are in an order that fits the other columns.

    Levels are taken for intervals of normal numbers that follow common factors, z_ij = lambda_j' f_i + e_ij. If equal
    values were in a random order, a common factor of many columns with two levels would seem to have two ends and no
    middle, although it is one group. The numbers are drawn by turns (a Gibbs sampler): the factors of the samples given
    the numbers, and the numbers, within the intervals of their levels, given the factors. The loadings are estimated
    in every round.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers, or codes of levels that are ordered; NaN for missing values.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        Numbers in the order of the values, without ties; NaN for missing values.
    """
    lower, upper = intervals(values)
    numbers = np.where(np.isnan(values), rng.standard_normal(values.shape), normal_scores(values, rng))
    with one_thread_blas():
        for _ in range(ROUNDS):
            loadings, noise = factors_of(numbers)
            if not loadings.shape[1]:
                break
            weighted = loadings / noise[:, None]
            spread = np.linalg.inv(np.eye(loadings.shape[1]) + loadings.T @ weighted)
            drawn = rng.standard_normal((len(values), loadings.shape[1])) @ np.linalg.cholesky(spread).T
            factors = numbers @ weighted @ spread + drawn
            for at in column_blocks(*values.shape):
                mean = factors @ loadings[at].T
                numbers[:, at] = between(lower[:, at], upper[:, at], mean, np.sqrt(noise[at]), rng)
    return np.where(np.isnan(values), np.nan, numbers)


def intervals(values: Table) -> tuple[Floats, Floats]:
    """The normal numbers between which each value lies, by the shares of smaller and of smaller or equal values.

    A missing value may be any number.
    """
    lower, upper = np.full(values.shape, -np.inf), np.full(values.shape, np.inf)
    for a, column in enumerate(values.T):
        seen = ~np.isnan(column)
        known = column[seen]
        ordered = np.sort(known)
        lower[seen, a] = ndtri(np.searchsorted(ordered, known, side="left") / max(1, known.size))
        upper[seen, a] = ndtri(np.searchsorted(ordered, known, side="right") / max(1, known.size))
    return lower, upper


def between(lower: Floats, upper: Floats, mean: Floats, spread: Floats, rng: np.random.Generator) -> Floats:
    """Draw normal numbers with these means and spreads, between the given bounds."""
    # Probabilities near 1 have few digits, so that intervals above the mean are mirrored.
    a, b = (lower - mean) / spread, (upper - mean) / spread
    mirrored = a > 0
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    first, last = ndtr(a), ndtr(b)
    # Where both are zero, the end next to the mean is as good as any number.
    drawn = np.clip(np.maximum(ndtri(first + (last - first) * rng.random(a.shape)), -FARTHEST), a, b)
    return np.asarray(np.clip(mean + spread * np.where(mirrored, -drawn, drawn), lower, upper))
