"""The scale of each feature in the sum of dissimilarities by which samples are clustered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Table

Flags = npt.NDArray[np.bool_]

# Sums of dissimilarities below this count as zero: numbers divided by them could overflow.
SMALLEST = 1e-290
# The largest exponent of two that a number may have.
MOST_EXPONENT = 1023


def power_of_two(sizes: Any) -> Any:
    """The power of two by which each size becomes a number in [1/2, 1), or a small one if it is subnormal.

    Multiplying by it costs no digits.

    >>> power_of_two(np.array([3.0, 0.25])).tolist()
    [0.25, 2.0]
    """
    return np.ldexp(1.0, np.minimum(-np.frexp(sizes)[1], MOST_EXPONENT))


def exact_unit(largest: float, n_samples: int) -> float:
    """The power of two to multiples of which dissimilarities between so many samples are rounded.

    It is so large that the sum of a row of a matrix is exact, the sum of all pairs is less than 2^62 times as large,
    and dividing by it is multiplying by its inverse.
    """
    samples = int(np.ceil(np.log2(n_samples)))
    return float(np.ldexp(1.0, max(np.frexp(largest)[1] - min(52 - samples, 62 - 2 * samples), -MOST_EXPONENT + 1)))


def exact_anchor(unit: float) -> float:
    """A number whose last bit is the unit: adding and subtracting it leaves a multiple of the unit."""
    return 1.5 * 2.0**52 * unit


def counted_totals(
    total: Floats, standardize: bool, two_valued: Flags, largest: Any = 1.0, shares: Any = 1.0, seen: Any = 1.0
) -> Floats:
    """The total that each feature gets in the sum of dissimilarities.

    The total of a standardized feature is its share, whatever its units; the share is 1, or less for a member of a
    group. A feature whose dissimilarity takes only one value besides 0 (levels, two numbers) needs no standardization.
    Dividing by the total would give a rare level more influence than one that splits the samples evenly. As in the
    authors' code, such features keep the plain Hamming dissimilarity, on a scale on which their average total is their
    share.

    Parameters
    ----------
    total : ndarray of shape (n_features,)
        The totals before scaling.
    standardize : bool
        Whether to standardize.
    two_valued : ndarray of bool of shape (n_features,)
        The features whose dissimilarity takes only one value besides 0.
    largest : float or ndarray of shape (n_features,), default=1.0
        That value.
    shares : float or ndarray of shape (n_features,), default=1.0
        The share of each feature.
    seen : float or ndarray of shape (n_features,), default=1.0
        The share of the samples with an observed value.
    """
    if not standardize:
        return np.asarray(total * shares / seen)
    counted = np.broadcast_to(np.asarray(shares, dtype=np.float64), total.shape).copy()
    if two_valued.any():
        spread = (total / np.maximum(largest * seen, np.finfo(float).tiny))[two_valued]
        counted[two_valued] *= spread / max(spread.mean(), np.finfo(float).tiny)
    return counted


def explained_share(within: Floats, total: Floats) -> Floats:
    """1 - within / total, and 0 for a feature without a total."""
    return np.asarray(1.0 - np.divide(within, total, out=np.ones_like(total), where=total > 0))


def has_two_values(table: Table, extremes: tuple[Table, Table] | None = None) -> Flags:
    """Which columns take at most two values, not counting missing values (NaN); `extremes` saves a pass if known."""
    low, high = extremes or (np.fmin.reduce(table, axis=0), np.fmax.reduce(table, axis=0))
    # Most columns show a third value in their first rows; only the others are read to the end.
    few = np.ones(table.shape[1], bool)
    for row in table[:8]:
        few &= (row == low) | (row == high) | np.isnan(row)
    rest = table[:, few]
    few[few] = ((rest == low[few]) | (rest == high[few]) | np.isnan(rest)).all(axis=0)
    return few
