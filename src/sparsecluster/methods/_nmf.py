"""Nonnegative matrix factorization (NMF): metagenes by multiplicative updates, and how many of them are stable.

A nonnegative table A of shape (n_samples, n_features) is approximated by amounts H (n_samples, q) times metagenes W
(q, n_features), so that the generalized Kullback-Leibler divergence sum_ia A log(A / HW) - A + HW is small. This is the
transpose of the notation of Brunet et al. (2004) and Tamayo et al. (2007), whose samples are columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.optimize import nnls
from scipy.spatial.distance import squareform
from scipy.special import xlogy
from scipy.stats import rankdata

from .._utils.arrays import Floats, Labels

# Factors stay above this, so that no quotient is undefined. A factor that is exactly 0 could not become positive again.
SMALLEST = np.finfo(np.float64).tiny ** 0.5
# The divergence is looked at after this many steps, and a decrease by less than this share ends the updates.
STEPS, DECREASE = 10, 1e-4
# Coefficients that differ by less than this are considered equal.
SAME_STABILITY = 0.005


class Factors(NamedTuple):
    """Amounts of shape (n_samples, q), metagenes of shape (q, n_features), the divergence, and the number of steps."""

    amounts: Floats
    metagenes: Floats
    divergence: float
    n_iter: int


def divergence(table: Floats, product: Floats) -> float:
    """Return the generalized Kullback-Leibler divergence of a nonnegative table from a positive one."""
    return float((xlogy(table, table / product) - table + product).sum())


def updates(table: Floats, amounts: Floats, metagenes: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield amounts and metagenes after each multiplicative step of Lee and Seung, without end.

    The divergence never increases.
    """
    while True:
        # Each entry is multiplied by the mean of A / HW, weighted by what the other factor contributes to it.
        amounts = amounts * ((table / (amounts @ metagenes)) @ metagenes.T) / metagenes.sum(axis=1)
        amounts = np.maximum(amounts, SMALLEST)
        metagenes = metagenes * (amounts.T @ (table / (amounts @ metagenes))) / amounts.sum(axis=0)[:, None]
        metagenes = np.maximum(metagenes, SMALLEST)
        yield amounts, metagenes


def factorize(table: Floats, q: int, rng: np.random.Generator, max_iter: int) -> Factors:
    """Run the updates from random factors until the divergence hardly decreases any more."""
    n, p = table.shape
    # Of the right size on average, so that products neither overflow nor underflow.
    amounts, metagenes = rng.uniform(0.1, 1.0, (n, q)), rng.uniform(0.1, 1.0, (q, p)) * table.mean() / q
    reached = np.inf
    for step, (amounts, metagenes) in enumerate(updates(table, amounts, metagenes), 1):  # noqa: B020
        if step % STEPS == 0 or step >= max_iter:
            before, reached = reached, divergence(table, amounts @ metagenes)
            if step >= max_iter or before - reached <= DECREASE * reached:
                break
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
    consensus = np.mean([labels[:, None] == labels for labels in labelings], axis=0)
    apart = squareform(1.0 - consensus, checks=False)
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
