"""Screening: a test of every feature on its own for more than one group, and how many of the p-values to believe.

Each test asks whether a column could be noise from one normal distribution. Its p-values come from a simulated null:
the same statistic of normal samples with as many samples. Mean and variance of a column are not known, so samples are
standardized like the data, and the null depends on the number of samples alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from .._features.base import Floats, Subset
from .._kernels.dip import dips
from .._utils.cache import cached
from .._utils.progress import Progress

Test = Literal["ks", "moments", "mode", "variance"]
TESTS = ("ks", "moments", "mode", "variance")

# Simulated samples: the smallest p-values that matter are about log(p)/p, 0.0009 for ten thousand features.
N_NULL = 100_000
# To be raised when a statistic changes, so that what was kept before is not taken for it.
NULL_VERSION = 1
# Values simulated, or looked at, together.
BLOCK_VALUES = 2**21


class Screening(NamedTuple):
    """Statistic and p-value of every feature."""

    statistics: Floats
    p_values: Floats


def screen(table: Floats, test: Test, noise_variance: float | None = None) -> Screening:
    """Test every column of a table of samples x features."""
    if test == "variance":
        return variance_test(table, noise_variance)
    if test == "ks":
        return ks_test(table, null_statistics("ks", len(table), ks_statistics)[:, 0])
    if test == "moments":
        return moment_test(table)
    return mode_test(table)


# ---------------------------------------------------------------- statistics


def standardized(table: Floats) -> Floats:
    """Columns with mean 0 and variance 1 (n - 1 in the denominator)."""
    centered = table - table.mean(axis=0)
    # First by the largest value, so that squares of very large or small values stay within range.
    centered /= np.abs(centered).max(axis=0)
    return np.asarray(centered / centered.std(axis=0, ddof=1))


def spreads(table: Floats) -> Floats:
    """Standard deviation of every column (n - 1 in the denominator), however large or small its values."""
    centered = table - table.mean(axis=0)
    largest = np.maximum(np.abs(centered).max(axis=0), np.finfo(float).tiny)
    return np.asarray(largest * (centered / largest).std(axis=0, ddof=1))


def ks_statistics(table: Floats) -> Floats:
    """sqrt(n) sup_x |F_a(x) - Phi(x)| of every column, standardized with n in the denominator (Jin and Wang)."""
    n = len(table)
    # Jin and Wang's scale: their columns have n - 1 in the denominator and are then divided by sqrt(1 - 1/n).
    heights = np.sort(ndtr(standardized(table) / np.sqrt(1.0 - 1.0 / n)), axis=0)
    steps = np.arange(n + 1)[:, None] / n
    apart = np.maximum(np.abs(steps[:-1] - heights), np.abs(steps[1:] - heights))
    return np.sqrt(n) * apart.max(axis=0)


def skewness(table: Floats) -> Floats:
    """Third standardized moment of every column."""
    z = standardized(table)
    return np.asarray((z**3).mean(axis=0) / (z**2).mean(axis=0) ** 1.5)


def kurtosis(table: Floats) -> Floats:
    """Fourth standardized moment of every column; 3 for a normal distribution."""
    z = standardized(table)
    return np.asarray((z**4).mean(axis=0) / (z**2).mean(axis=0) ** 2)


def dip_statistics(table: Floats) -> Floats:
    """Dip of every column."""
    return dips(np.ascontiguousarray(np.sort(table, axis=0).T))


# ---------------------------------------------------------------- p-values


def null_statistics(name: str, n_samples: int, *statistics: Callable[[Floats], Floats]) -> Floats:
    """Statistics of simulated normal samples, N_NULL x as many as there are functions; kept on disk for each n."""

    def simulate() -> Floats:
        # A seed of its own: the same null whoever asks, and whether or not it was kept.
        rng = np.random.default_rng(n_samples)
        step = max(1, BLOCK_VALUES // n_samples)
        sizes = [min(step, N_NULL - first) for first in range(0, N_NULL, step)]
        made = []
        for size in Progress("auto").track(sizes, f"null distribution for {n_samples} samples", len(sizes)):
            block = rng.standard_normal((n_samples, size))
            made.append(np.column_stack([each(block) for each in statistics]))
        return np.concatenate(made)

    return cached(f"null-{name}-{n_samples}-{NULL_VERSION}", (N_NULL, len(statistics)), simulate)


def share_above(null: Floats, values: Floats) -> Floats:
    """Share of the null that is larger than each value."""
    return np.asarray(1.0 - np.searchsorted(np.sort(null), values, side="right") / null.size)


def ks_test(table: Floats, null: Floats) -> Screening:
    """Kolmogorov-Smirnov against the normal distribution, with Efron's correction of the null (Jin and Wang).

    The statistics of real data seldom have the mean and spread that theory gives them, even where there are no groups,
    so they are given the mean and standard deviation of the simulated null before p-values are read off.
    """
    statistics = ks_statistics(table)
    spread = statistics.std(ddof=1) if statistics.size > 1 else 0.0
    if spread > 0:
        statistics = (statistics - statistics.mean()) / spread * null.std(ddof=1) + null.mean()
    return Screening(statistics, share_above(null, statistics))


def moment_test(table: Floats) -> Screening:
    """Skewness and kurtosis, for noise of unknown variance (Verzelen and Arias-Castro).

    Groups of unequal size make a column skew, groups of equal size make it flat: the smaller of the two p-values, each
    two-sided, counts, and is itself compared with what it is for normal samples. The statistic is -log10 of it.
    """
    null = null_statistics("moments", len(table), skewness, kurtosis)

    def smaller(skew: Floats, flat: Floats) -> Floats:
        by_skew = share_above(np.abs(null[:, 0]), np.abs(skew))
        above = share_above(null[:, 1], flat)
        return np.minimum(by_skew, 2.0 * np.minimum(above, 1.0 - above))

    found = smaller(skewness(table), kurtosis(table))
    p_values = 1.0 - share_above(smaller(null[:, 0], null[:, 1]), found)
    return Screening(-np.log10(np.maximum(found, 1.0 / N_NULL)), p_values)


def mode_test(table: Floats) -> Screening:
    """The dip, which is half the excess mass: for more than one mode, as Chan and Hall look for.

    Its null here is that of normal samples. Noise that is more peaked has smaller dips, so p-values are then cautious;
    noise as flat as the uniform distribution has larger ones.
    """
    null = null_statistics("mode", len(table), dip_statistics)[:, 0]
    statistics = dip_statistics(table)
    return Screening(statistics, share_above(null, statistics))


def variance_test(table: Floats, noise_variance: float | None) -> Screening:
    """(n - 1) s_a^2 / sigma^2 against chi-squared with n - 1 degrees (Azizyan et al.; Verzelen and Arias-Castro).

    Groups add to the variance of a column; the noise has the same variance sigma^2 in all of them. Where that is not
    given it is the median of the columns' variances, over what it is for chi-squared: right if most are noise.
    """
    degrees = len(table) - 1
    sigmas = spreads(table)
    if noise_variance is None:
        noise = float(np.median(sigmas)) / np.sqrt(chi2.median(degrees) / degrees)
    else:
        noise = float(np.sqrt(noise_variance))
    statistics = degrees * (sigmas / noise) ** 2
    return Screening(statistics, chi2.sf(statistics, degrees))


# ---------------------------------------------------------------- thresholds


def higher_criticism(p_values: Floats, n_samples: int) -> Floats:
    """HC of every feature: how many more p-values are as small as its own than there should be (Jin and Wang, 2016).

    For the j-th smallest p-value pi, with t = j / (p + 1),

        HC = sqrt(p) (t - pi) / sqrt(t) / sqrt(max(sqrt(n) (t - pi) / t, 0) + 1).
    """
    p = p_values.size
    order = np.argsort(p_values, kind="stable")
    ranks = np.empty(p)
    ranks[order] = np.arange(1, p + 1) / (p + 1)
    excess = ranks - p_values
    return np.sqrt(p) * excess / np.sqrt(ranks) / np.sqrt(np.maximum(np.sqrt(n_samples) * excess / ranks, 0.0) + 1.0)


def by_higher_criticism(p_values: Floats, n_samples: int) -> Subset:
    """Features up to the p-value at which HC is largest, among p-values above log(p)/p and the smaller half."""
    p = p_values.size
    order = np.argsort(p_values, kind="stable")
    criticism = higher_criticism(p_values, n_samples)[order]
    # Half of the features, halves rounded up as in the authors' MATLAB.
    last = max(math.floor(p / 2 + 0.5), 1)
    above = np.flatnonzero(p_values[order] > math.log(p) / p)
    first = min(int(above[0]) if above.size else last - 1, last - 1)
    best = first + int(np.flatnonzero(criticism[first:last] == criticism[first:last].max())[-1])
    return np.flatnonzero(p_values <= p_values[order[best]])


def by_false_discovery_rate(p_values: Floats, level: float) -> Subset:
    """Benjamini and Hochberg: the smallest p-values up to the last that is at most level * rank / p; maybe none."""
    ordered = np.sort(p_values)
    good = np.flatnonzero(ordered <= level * np.arange(1, p_values.size + 1) / p_values.size)
    return np.flatnonzero(p_values <= ordered[good[-1]]) if good.size else np.empty(0, np.intp)


def by_number(screening: Screening, number: int) -> Subset:
    """The features of smallest p-value; of equal ones those of largest statistic."""
    order = np.lexsort((-screening.statistics, screening.p_values))
    return np.sort(order[:number])
