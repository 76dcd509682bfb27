"""Nonnegative matrix factorization (NMF): metagenes by multiplicative updates, and how many of them are stable.

A nonnegative table A of shape (n_samples, n_features) is approximated by amounts H (n_samples, q) times metagenes W
(q, n_features), so that the generalized Kullback-Leibler divergence sum_ia A log(A / HW) - A + HW is small. This is the
transpose of the notation of Brunet et al. (2004) and Tamayo et al. (2007), whose samples are columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.optimize import nnls
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from .._kernels.factors import factors_divergence, improve_factors
from .._utils.arrays import Floats, Labels

# Factors stay above this, so that no quotient is undefined. A factor that is exactly 0 could not become positive again.
SMALLEST = np.finfo(np.float64).tiny ** 0.5
# The divergence is looked at after this many steps, and a decrease by less than this share ends the updates.
STEPS, DECREASE = 10, 3e-4
# Coefficients that differ by less than this are considered equal.
SAME_STABILITY = 0.005


class Factors(NamedTuple):
    """Amounts of shape (n_samples, q), metagenes of shape (q, n_features), the divergence, and the number of steps."""

    amounts: Floats
    metagenes: Floats
    divergence: float
    n_iter: int


def factorize(table: Floats, q: int, rng: np.random.Generator, max_iter: int) -> Factors:
    """Run multiplicative updates from random factors until the divergence, which never rises, hardly falls."""
    n, p = table.shape
    # Of the right size on average, so that products neither overflow nor underflow.
    amounts, metagenes = rng.uniform(0.1, 1.0, (n, q)), rng.uniform(0.1, 1.0, (q, p)) * table.mean() / q
    reached = np.inf
    for step in range(1, max_iter + 1):
        improve_factors(table, amounts, metagenes, SMALLEST)
        if step % STEPS == 0:
            before, reached = reached, factors_divergence(table, amounts, metagenes)
            if before - reached <= DECREASE * reached:
                break
    reached = factors_divergence(table, amounts, metagenes)
    # Both are determined only up to a factor, on which proportions of amounts depend: metagenes get unit length.
    lengths = np.sqrt((metagenes**2).sum(axis=1))
    return Factors(amounts * lengths, metagenes / lengths[:, None], reached, step)


def amounts_of(table: Floats, metagenes: Floats) -> Floats:
    """Return the nonnegative amounts that approximate each sample best by least squares, one sample at a time."""
    basis, triangle = np.linalg.qr(metagenes.T)
    return np.array([nnls(triangle, each)[0] for each in table @ basis])


def unit_length(points: Floats) -> Floats:
    """Scale each point to unit length; the origin stays where it is."""
    lengths = np.sqrt((points**2).sum(axis=1, keepdims=True))
    return points / np.where(lengths > 0, lengths, 1.0)


def ranks(table: Floats) -> Floats:
    """Replace the values of each sample by their ranks among its features, as shares of the largest rank."""
    return np.asarray(rankdata(table, axis=1) / table.shape[1])


# ---------------------------------------------------------------- the number of metagenes


def strongest(factors: Factors) -> Labels:
    """Return the metagene of which each sample has the largest amount."""
    return factors.amounts.argmax(axis=1).astype(np.int32)


def stability(labelings: list[Labels]) -> float:
    """Return the cophenetic correlation of the consensus matrix of several labelings (Brunet et al., 2004).

    The consensus of two samples is the share of the labelings that put them together. The coefficient is the
    correlation of 1 - consensus with the heights at which average linkage joins the samples: 1 if all labelings agree.
    """
    apart = np.zeros((labelings[0].size,) * 2)
    for labels in labelings:
        apart += labels[:, None] != labels
    apart = squareform(apart / len(labelings), checks=False)
    joined = cophenet(linkage(apart, "average"))
    if np.ptp(apart) == 0.0 or np.ptp(joined) == 0.0:
        return 1.0
    return float(np.corrcoef(apart, joined)[0, 1])


def last_stable(stabilities: Floats) -> int:
    """Return the last of the values that are as large as the largest.

    >>> last_stable(np.array([0.999, 1.0, 0.93]))
    1
    """
    return int(np.flatnonzero(stabilities >= stabilities.max() - SAME_STABILITY)[-1])
