"""A Gaussian copula: columns as normal scores, their correlation without that by chance, and draws from both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .._utils.arrays import Floats, Subset, Table
from .._utils.parallel import one_thread_blas

# Number of values that are processed together, so that temporary arrays stay small.
BLOCK_VALUES = 2**20
# The smallest noise variance of a column with variance 1. Columns that repeat each other have none at all.
LEAST_NOISE = 1e-8
# The noise level changes by less and less; a few rounds suffice, and this many are never needed.
NOISE_ROUNDS = 100
# Number of points on which the Marchenko-Pastur distribution is integrated.
MP_POINTS = 4000


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of the columns of a table that hold about `BLOCK_VALUES` values each."""
    step = max(1, BLOCK_VALUES // n_rows)
    return (slice(first, first + step) for first in range(0, n_columns, step))


# ---------------------------------------------------------------- normal scores


def normal_scores(
    values: Table, rng: np.random.Generator | None = None, quantiles: Callable[[Floats], Floats] = ndtri
) -> Floats:
    """Return the normal scores Phi^-1((rank - 1/2) / m) of every column, where m values are observed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers; NaN for missing values.
    rng : numpy.random.Generator or None, default=None
        Breaks ties at random, independently in every column. Without it, equal values share their mean rank.
    quantiles : callable, default=ndtri
        What takes the place of Phi^-1.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The scores, NaN for missing values.

    Examples
    --------
    >>> import numpy as np
    >>> normal_scores(np.array([[3.0], [1.0], [np.nan], [2.0]])).round(2).ravel().tolist()
    [0.97, -0.97, nan, 0.0]
    """
    scores = np.empty(values.shape)
    for places in column_blocks(*values.shape):
        block = values[:, places]
        missing = np.isnan(block)
        ranks = _mid_ranks(block) if rng is None else _ranks(np.lexsort((rng.random(block.shape), block), axis=0))
        # Missing values come last in every order, so their ranks are too large and are not used.
        shares = np.where(missing, 0.5, (ranks + 0.5) / np.maximum(1, len(block) - missing.sum(axis=0)))
        scores[:, places] = np.where(missing, np.nan, quantiles(shares))
    return scores


def drawn_scores(values: Table, rng: np.random.Generator) -> Floats:
    """Return the scores of every column by the quantiles of a normal sample, which all columns have in common.

    The normal scores of a column are more regular than any sample: columns that follow a common factor would all be
    normal without any deviation, and a test would never reject that they are. With the quantiles of a sample, such
    columns are a sample from the normal distribution.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers; NaN for missing values.
    rng : numpy.random.Generator
        Draws the sample, and breaks ties at random.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The scores, NaN for missing values.

    Examples
    --------
    >>> import numpy as np
    >>> scores = drawn_scores(np.array([[3.0], [1.0], [np.nan], [2.0]]), np.random.default_rng(0))
    >>> bool(scores[1, 0] < scores[3, 0] < scores[0, 0]), bool(np.isnan(scores[2, 0]))
    (True, True)
    """
    sample = np.sort(rng.standard_normal(len(values)))
    at = (np.arange(sample.size) + 0.5) / sample.size
    return normal_scores(values, rng, lambda shares: np.interp(shares, at, sample))


def _ranks(order: Subset) -> Floats:
    """Ranks from 0 of every column, given the order of its rows."""
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.arange(len(order), dtype=np.float64)[:, None], axis=0)
    return ranks


def _mid_ranks(block: Table) -> Floats:
    """Ranks from 0 of every column; equal values have the mean of their ranks."""
    order = np.argsort(block, axis=0, kind="stable")
    ordered = np.take_along_axis(block, order, axis=0)
    places = np.broadcast_to(np.arange(len(block))[:, None], block.shape)
    differs = ordered[1:] != ordered[:-1]
    edge = np.ones((1, block.shape[1]), bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs]), places, 0), axis=0)
    last = np.where(np.concatenate([differs, edge]), places, len(block))
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    ranks = np.empty(block.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=0)
    return ranks


# ---------------------------------------------------------------- correlation


class Factors(NamedTuple):
    """A correlation matrix loadings loadings' + diag(noise), which is never formed.

    Attributes
    ----------
    loadings : ndarray of shape (n_columns, n_factors)
        What the columns share.
    noise : ndarray of shape (n_columns,)
        The variance that each column has of its own, so that its variance is 1.
    """

    loadings: Floats
    noise: Floats


def mp_median(ratio: float) -> float:
    """The median of the Marchenko-Pastur distribution with variance 1, where `ratio` <= 1 is columns over samples.

    With x = 1 + c - 2 sqrt(c) cos(t), the density of t is proportional to sin(t)^2 / x on [0, pi].
    """
    step = np.pi / MP_POINTS
    angles = (np.arange(MP_POINTS) + 0.5) * step
    density = np.sin(angles) ** 2 / (1 + ratio - 2 * np.sqrt(ratio) * np.cos(angles))
    half = np.interp(0.5, density.cumsum() / density.sum(), angles + step / 2)
    return float(1 + ratio - 2 * np.sqrt(ratio) * np.cos(half))


def unbiased(eigenvalues: Floats, ratio: float) -> Floats:
    """The population eigenvalues l that lead to the given sample eigenvalues x, with noise of variance 1.

    A spike l > 1 + sqrt(c) leads to x = l + c l / (l - 1), where c = `ratio` is columns over samples (Baik and Ben
    Arous). This is the larger solution of l^2 - (x + 1 - c) l + x = 0.
    """
    middle = eigenvalues + 1 - ratio
    return np.asarray((middle + np.sqrt(np.maximum(middle**2 - 4 * eigenvalues, 0.0))) / 2)


def spikes_and_noise(eigenvalues: Floats, n_samples: int, n_columns: int) -> tuple[Floats, float]:
    """Tell the eigenvalues of a sample correlation matrix that stand for something from those of noise.

    The noise variance is first such that the median eigenvalue is that of the Marchenko-Pastur distribution. It is then
    what the spikes leave of the total variance, until it no longer changes: with few columns, half of the eigenvalues
    may be spikes. Spikes are larger than the upper edge of the noise, sigma^2 (1 + sqrt(c))^2, where c is columns over
    samples. One sample is lost to the means of the columns.

    Parameters
    ----------
    eigenvalues : ndarray of shape (min(n_samples - 1, n_columns),)
        Eigenvalues of the sample correlation matrix in descending order.
    n_samples, n_columns : int
        The size of the table.

    Returns
    -------
    spikes : ndarray of shape (n_spikes,)
        The population eigenvalues of the spikes, without what sampling adds to them.
    noise : float
        The noise variance sigma^2.

    References
    ----------
    J. Baik, G. Ben Arous and S. Péché, Annals of Probability 33 (2005), 1643-1697. S. Kritchman and B. Nadler,
    "Determining the number of components in a factor model from limited noisy data", Chemometrics and Intelligent
    Laboratory Systems 94 (2008), 19-32. D. Donoho, M. Gavish and I. Johnstone, "Optimal shrinkage of eigenvalues in the
    spiked covariance model", Annals of Statistics 46 (2018), 1742-1778.
    """
    ratio = n_columns / (n_samples - 1)
    expected = mp_median(ratio) if ratio <= 1 else ratio * mp_median(1 / ratio)
    noise = max(LEAST_NOISE, float(np.median(eigenvalues)) / expected)
    # The smallest eigenvalue is always noise, so that there is something to measure it by.
    candidates = eigenvalues[:-1]
    spikes = candidates[:0]
    for _ in range(NOISE_ROUNDS):
        above = candidates[candidates > noise * (1 + np.sqrt(ratio)) ** 2]
        spikes = noise * unbiased(above / noise, ratio)
        left = max(LEAST_NOISE, float(n_columns - spikes.sum()) / (n_columns - spikes.size))
        if abs(left - noise) <= LEAST_NOISE:
            break
        noise = left
    return spikes, noise


def reliabilities(scores: Floats, keys: Table) -> Floats:
    """The share of the variance of each column of scores that is between different keys, of shape (n_columns,).

    It is 1 without ties. The rest is variance among equal keys, which is random.
    """
    shares = np.ones(scores.shape[1])
    for a, (score, key) in enumerate(zip(scores.T, keys.T, strict=True)):
        known = ~np.isnan(key)
        _, at = np.unique(key[known], return_inverse=True)
        sums = np.bincount(at, score[known]) ** 2 / np.bincount(at)
        shares[a] = sums.sum() / np.sum(score[known] ** 2)
    return shares


def factors_of(scores: Floats, reliable: Floats | float = 1.0) -> Factors:
    """Return the correlation of normal scores, of shape (n_samples, n_columns), without correlation by chance.

    Two things make correlations too small. Missing scores count as 0, which takes a factor of sqrt(s) from a column
    that is observed in a share s of the samples. Ties are broken at random, which takes a factor of r from the loadings
    of a column with reliability r, as long as they are small. With x = h / (s r^2), where h is the variance that the
    column shares with others in the sample, it shares 1 - (1 - r x)^(1/r) in the copy: about x if it is small, and 1 if
    x is 1/r, which is the most that there can be. For r = 2/pi, a median split, this is close to the exact sin(x).
    """
    n, p = scores.shape
    observed = 1 - np.isnan(scores).mean(axis=0)
    table = np.nan_to_num(scores)
    table /= np.sqrt(np.mean(table**2, axis=0))
    # The products of the shorter side have the same eigenvalues.
    if n <= p:
        values, left = np.linalg.eigh(table @ table.T / n)
    else:
        values, right = np.linalg.eigh(table.T @ table / n)
    count = min(n - 1, p)
    values = np.maximum(values[::-1][:count], 0.0)
    spikes, noise = spikes_and_noise(values, n, p)
    own = slice(None, -spikes.size - 1, -1)
    vectors = table.T @ left[:, own] / np.sqrt(n * values[: spikes.size]) if n <= p else right[:, own]
    loadings = vectors * np.sqrt(np.maximum(spikes - noise, 0.0))
    found = np.sum(loadings**2, axis=1)
    shared = 1.0 - (1.0 - np.minimum(1.0, found / (observed * reliable))) ** (1.0 / np.asarray(reliable))
    loadings *= np.sqrt(np.divide(shared, found, out=np.ones(p), where=found > 0))[:, None]
    return Factors(loadings, 1.0 - shared)


# ---------------------------------------------------------------- draws


def simulated(values: Table, keys: Table, rng: np.random.Generator) -> Iterator[tuple[slice, Table]]:
    """Draw a table whose columns have the given values, in an order that a Gaussian copula decides.

    Parameters
    ----------
    values, keys : ndarray of shape (n_samples, n_columns)
        The values, and the numbers by which they are ordered; NaN in both for missing values, which stay in place.
    rng : numpy.random.Generator
        Source of random numbers.

    Yields
    ------
    places : slice
        Some of the columns.
    drawn : ndarray of shape (n_samples, n_places)
        Their values in the new order.
    """
    with one_thread_blas():
        own = normal_scores(keys, rng)
        loadings, noise = factors_of(own, reliabilities(own, keys))
    shared = rng.standard_normal((len(values), loadings.shape[1]))
    for places in column_blocks(*values.shape):
        block = values[:, places]
        with one_thread_blas():
            scores = shared @ loadings[places].T
        scores += np.sqrt(noise[places]) * rng.standard_normal(block.shape)
        scores[np.isnan(block)] = np.nan
        # Missing values come last in both orders.
        ordered = np.take_along_axis(block, np.argsort(keys[:, places], axis=0), axis=0)
        drawn = np.empty_like(block)
        np.put_along_axis(drawn, np.argsort(scores, axis=0), ordered, axis=0)
        yield places, drawn
