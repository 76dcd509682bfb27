"""Screening: tests of single features for the presence of clusters, and thresholds for their p-values.

Each test asks whether a column could be noise from a single normal distribution. The p-values come from a simulated
null distribution: the same statistic computed for simulated normal columns with the same number of samples. Since the
mean and the variance of a column are unknown, no statistic depends on them, so the null distribution depends only on
the number of samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from .._features.units import power_of_two
from .._kernels.dip import dips
from .._utils.arrays import Floats, Subset
from .._utils.cache import cached
from .._utils.progress import Progress, Verbosity
from ._modes import critical_bandwidths

Draw = Literal["normal", "uniform"]

# Number of simulated columns. The smallest p-values that matter are about log(p)/p, 0.0009 for ten thousand features.
N_NULL = 100_000
# The same for the critical bandwidth, which takes a hundred times as long as the other statistics.
N_NULL_BANDWIDTH = 20_000
# Must be increased when a statistic changes, so that older cached values are not used any more.
NULL_VERSION = 1
# The largest ratio of two standard deviations, so that its square is finite.
MOST_SIGMAS = 1e150
# Number of values that are simulated in one block.
BLOCK_VALUES = 2**21


class Screening(NamedTuple):
    """Statistic and p-value of each feature."""

    statistics: Floats
    p_values: Floats


def screen(table: Floats, test: str, noise_variance: float | None = None, *, verbose: Verbosity = "auto") -> Screening:
    """Test each column of a table of shape (n_samples, n_features)."""
    if test == "variance":
        return variance_test(table, noise_variance)
    return SHAPE_TESTS[test](table, verbose=verbose)


# ---------------------------------------------------------------- statistics


def standardized(table: Floats) -> Floats:
    """Scale columns to mean 0 and variance 1 (with n - 1 in the denominator)."""
    centered = table - table.mean(axis=0)
    # Divide by the largest value first, so that squares of very large or small values do not overflow or underflow.
    centered /= np.abs(centered).max(axis=0)
    return np.asarray(centered / centered.std(axis=0, ddof=1))


def spreads(table: Floats) -> Floats:
    """Standard deviation of each column (with n - 1 in the denominator), without overflow or underflow."""
    centered = table - table.mean(axis=0)
    largest = np.maximum(np.abs(centered).max(axis=0), np.finfo(float).tiny)
    return np.asarray(largest * (centered / largest).std(axis=0, ddof=1))


def ks_statistics(table: Floats) -> Floats:
    """sqrt(n) sup_x |F_a(x) - Phi(x)| of each column, standardized with n in the denominator (Jin and Wang)."""
    n = len(table)
    # As in Jin and Wang, columns are standardized with n - 1 in the denominator and then divided by sqrt(1 - 1/n).
    heights = np.sort(ndtr(standardized(table) / np.sqrt(1.0 - 1.0 / n)), axis=0)
    steps = np.arange(n + 1)[:, None] / n
    apart = np.maximum(np.abs(steps[:-1] - heights), np.abs(steps[1:] - heights))
    return np.sqrt(n) * apart.max(axis=0)


def skewness(table: Floats) -> Floats:
    """Third standardized moment of each column."""
    z = standardized(table)
    return np.asarray((z**3).mean(axis=0) / (z**2).mean(axis=0) ** 1.5)


def kurtosis(table: Floats) -> Floats:
    """Fourth standardized moment of each column, which is 3 for a normal distribution."""
    z = standardized(table)
    return np.asarray((z**4).mean(axis=0) / (z**2).mean(axis=0) ** 2)


def asymmetry(table: Floats) -> Floats:
    """Absolute skewness of each column: large for clusters of unequal sizes."""
    return np.abs(skewness(table))


def flatness(table: Floats) -> Floats:
    """3 - kurtosis of each column: large for two clusters of equal sizes."""
    return 3.0 - kurtosis(table)


def absolute_moment(table: Floats) -> Floats:
    """Mean absolute deviation over the standard deviation: sqrt(2/pi) if normal, and up to 1 for two equal clusters."""
    z = standardized(table)
    return np.asarray(np.abs(z).mean(axis=0) / np.sqrt((z**2).mean(axis=0)))


def dip_statistics(table: Floats) -> Floats:
    """Dip statistic of each column."""
    # In another unit, which changes no digit: slopes over very small differences would overflow.
    scaled = table * power_of_two(np.ptp(table, axis=0))
    return dips(np.ascontiguousarray(np.sort(scaled, axis=0).T))


# ---------------------------------------------------------------- p-values


def null_statistics(
    name: str,
    n_samples: int,
    *statistics: Callable[[Floats], Floats],
    draw: Draw = "normal",
    n_null: int | None = None,
    verbose: Verbosity = "auto",
) -> Floats:
    """Simulate statistics of normal or uniform columns, and cache them on disk for each number of samples.

    The result has the shape (n_null, n_statistics); by default, n_null is N_NULL. With thousands of samples, this takes
    tens of seconds the first time.
    """
    count = N_NULL if n_null is None else min(n_null, N_NULL)

    def simulate() -> Floats:
        # A fixed seed gives the same null distribution for every caller, whether it is cached or not.
        rng = np.random.default_rng(n_samples)
        values = rng.standard_normal if draw == "normal" else rng.random
        step = max(1, BLOCK_VALUES // n_samples)
        sizes = [min(step, count - first) for first in range(0, count, step)]
        made = []
        for size in Progress(verbose).track(sizes, f"null distribution for {n_samples} samples", len(sizes)):
            block = values((n_samples, size))
            made.append(np.column_stack([each(block) for each in statistics]))
        return np.concatenate(made)

    return cached(f"null-{name}-{n_samples}-{NULL_VERSION}", (count, len(statistics)), simulate)


def share_above(null: Floats, values: Floats) -> Floats:
    """Share of the null distribution that is larger than each value."""
    return np.asarray(1.0 - np.searchsorted(np.sort(null), values, side="right") / null.size)


def upper_test(
    table: Floats,
    name: str,
    statistic: Callable[[Floats], Floats],
    draw: Draw = "normal",
    n_null: int | None = None,
    verbose: Verbosity = "auto",
) -> Screening:
    """Test whether a statistic is larger than that of noise."""
    null = null_statistics(name, len(table), statistic, draw=draw, n_null=n_null, verbose=verbose)[:, 0]
    statistics = statistic(table)
    return Screening(statistics, share_above(null, statistics))


def ks_null(n_samples: int, verbose: Verbosity = "auto") -> Floats:
    """Kolmogorov-Smirnov statistics of normal columns."""
    return null_statistics("ks", n_samples, ks_statistics, verbose=verbose)[:, 0]


def ks_test(table: Floats, null: Floats) -> Screening:
    """Kolmogorov-Smirnov test of normality, with Efron's correction of the null distribution (Jin and Wang).

    The statistics of real data seldom have the mean and the standard deviation that theory predicts, even if there are
    no clusters. They are therefore rescaled to the mean and standard deviation of the simulated null distribution
    before the p-values are computed.
    """
    statistics = ks_statistics(table)
    spread = statistics.std(ddof=1) if statistics.size > 1 else 0.0
    if spread > 0:
        statistics = (statistics - statistics.mean()) / spread * null.std(ddof=1) + null.mean()
    return Screening(statistics, share_above(null, statistics))


def moment_test(table: Floats, verbose: Verbosity = "auto") -> Screening:
    """Test of skewness and kurtosis, for noise of unknown variance (Verzelen and Arias-Castro).

    Clusters of unequal sizes make a column skewed, and clusters of equal sizes make it flat. The statistic is based on
    the smaller of the two two-sided p-values, whose own null distribution is simulated as well; it is reported as
    -log10 of this p-value.
    """
    null = null_statistics("moments", len(table), skewness, kurtosis, verbose=verbose)

    def smaller(skew: Floats, flat: Floats) -> Floats:
        by_skew = share_above(np.abs(null[:, 0]), np.abs(skew))
        above = share_above(null[:, 1], flat)
        return np.minimum(by_skew, 2.0 * np.minimum(above, 1.0 - above))

    found = smaller(skewness(table), kurtosis(table))
    p_values = 1.0 - share_above(smaller(null[:, 0], null[:, 1]), found)
    return Screening(-np.log10(np.maximum(found, 1.0 / N_NULL)), p_values)


def variance_test(table: Floats, noise_variance: float | None) -> Screening:
    """Compare (n - 1) s_a^2 / sigma^2 with the chi-squared distribution with n - 1 degrees of freedom.

    Clusters increase the variance of a column, while the noise has the same variance sigma^2 in all columns (Azizyan et
    al.; Verzelen and Arias-Castro). If sigma^2 is not given, it is estimated by the median of the column variances
    divided by the median that chi-squared predicts for sigma^2 = 1, which is accurate if most columns are noise.
    """
    degrees = len(table) - 1
    sigmas = spreads(table)
    if noise_variance is None:
        noise = float(np.median(sigmas)) / np.sqrt(chi2.median(degrees) / degrees)
    else:
        noise = float(np.sqrt(noise_variance))
    with np.errstate(over="ignore"):
        statistics = degrees * np.minimum(sigmas / noise, MOST_SIGMAS) ** 2
    return Screening(statistics, chi2.sf(statistics, degrees))


# The tests that know nothing of the variance of the noise.
SHAPE_TESTS: dict[str, Callable[..., Screening]] = {
    "ks": lambda table, verbose="auto": ks_test(table, ks_null(len(table), verbose)),
    "moments": moment_test,
    "skewness": partial(upper_test, name="skewness", statistic=asymmetry),
    "kurtosis": partial(upper_test, name="kurtosis", statistic=flatness),
    "absolute": partial(upper_test, name="absolute", statistic=absolute_moment),
    # The dip is half the excess mass, which Chan and Hall use. Noise with a sharper peak than that of the normal
    # distribution has smaller dips, so the p-values are then conservative; flatter noise has larger ones.
    "mode": partial(upper_test, name="mode", statistic=dip_statistics),
    "dip": partial(upper_test, name="dip", statistic=dip_statistics, draw="uniform"),
    "bandwidth": partial(upper_test, name="bandwidth", statistic=critical_bandwidths, n_null=N_NULL_BANDWIDTH),
}
TESTS = (*SHAPE_TESTS, "variance")


# ---------------------------------------------------------------- thresholds


def higher_criticism(p_values: Floats, n_samples: int) -> Floats:
    """Higher criticism (HC) of each feature (Jin and Wang, 2016).

    HC is large if more p-values than expected are as small as that of the feature.

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
    """Select the features up to the p-value with the largest HC.

    The maximum is taken over p-values above log(p)/p in the smaller half of all p-values.
    """
    p = p_values.size
    order = np.argsort(p_values, kind="stable")
    criticism = higher_criticism(p_values, n_samples)[order]
    # Half of the features, rounded half up as in the authors' MATLAB code.
    last = max(math.floor(p / 2 + 0.5), 1)
    above = np.flatnonzero(p_values[order] > math.log(p) / p)
    first = min(int(above[0]) if above.size else last - 1, last - 1)
    best = first + int(np.flatnonzero(criticism[first:last] == criticism[first:last].max())[-1])
    return np.flatnonzero(p_values <= p_values[order[best]])


def by_false_discovery_rate(p_values: Floats, level: float) -> Subset:
    """Select features by the Benjamini-Hochberg procedure; the result may be empty.

    The chosen p-values are those up to the largest one that is at most level * rank / p.
    """
    ordered = np.sort(p_values)
    good = np.flatnonzero(ordered <= level * np.arange(1, p_values.size + 1) / p_values.size)
    return np.flatnonzero(p_values <= ordered[good[-1]]) if good.size else np.empty(0, np.intp)


def by_number(screening: Screening, number: int) -> Subset:
    """Select a number of features with the smallest p-values. Ties are broken by the larger statistic."""
    order = np.lexsort((-screening.statistics, screening.p_values))
    return np.sort(order[:number])


def azizyan_alpha(n_samples: int, n_features: int) -> float:
    """Return alpha = sqrt(6 log(np) / n) + 2 log(np) / n, by which variances of noise may differ from sigma^2.

    >>> round(azizyan_alpha(500, 100), 3)
    0.404
    """
    share = math.log(n_samples * n_features) / n_samples
    return math.sqrt(6.0 * share) + 2.0 * share


def by_variance_ratio(variances: Floats, alpha: float) -> Subset:
    """Select features whose variance is above (1 + alpha) / (1 - alpha) times the smallest; the result may be empty.

    If the variances of noise are between (1 - alpha) sigma^2 and (1 + alpha) sigma^2, no feature that is noise passes
    (Azizyan, Singh and Wasserman). Any multiple of the variances will do.
    """
    return np.flatnonzero(variances > (1.0 + alpha) / (1.0 - alpha) * variances.min())
