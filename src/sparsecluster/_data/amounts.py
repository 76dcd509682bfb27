"""Amounts of measured material: what is known of all values of a table, totals of samples, and samples in one scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.stats import skew

from .._features.units import power_of_two
from .._utils.arrays import Floats

# Floating-point numbers beyond this one are all whole, whatever they mean.
LARGEST_WHOLE = 2.0**53
# The values of a table that are looked at in one step.
AT_ONCE = 2**22


class Values(NamedTuple):
    """What is known of all values of a table.

    Attributes
    ----------
    is_sparse : bool
        Whether zeros are not stored.
    low, high : float
        The extremes; NaN if there are no values.
    is_whole : bool
        Whether all are whole numbers.
    zeros, observed : int
        How many of the stored values are zero, and how many are not missing.
    totals : ndarray of shape (n_samples,)
        Totals of the samples.
    """

    is_sparse: bool
    low: float
    high: float
    is_whole: bool
    zeros: int
    observed: int
    totals: Floats


def values_seen(table: Any) -> Values:
    """Look at the values of a table, or of a block of it."""
    is_sparse = scipy.sparse.issparse(table)
    values = table.data if is_sparse else table
    low, high = (float(extreme.reduce(values, axis=None, initial=np.nan)) for extreme in (np.fmin, np.fmax))
    flat = values.reshape(-1) if values.flags.c_contiguous else values.T.reshape(-1)
    is_whole = not max(abs(low), abs(high)) > LARGEST_WHOLE and all(
        bool((np.isnan(part) | (part == np.round(part))).all())
        for part in (flat[first : first + AT_ONCE] for first in range(0, flat.size, AT_ONCE))
    )
    zeros, observed = flat.size - np.count_nonzero(flat), flat.size - int(np.count_nonzero(np.isnan(flat)))
    # Totals are needed of counts only.
    totals = totals_of(table) if is_sparse or is_whole else np.zeros(table.shape[0])
    return Values(is_sparse, low, high, is_whole, zeros, observed, totals)


def joined_values(one: Values, other: Values) -> Values:
    """What is known of the values of two neighboring blocks."""
    return Values(
        one.is_sparse,
        float(np.fmin(one.low, other.low)),
        float(np.fmax(one.high, other.high)),
        one.is_whole and other.is_whole,
        one.zeros + other.zeros,
        one.observed + other.observed,
        joined_rows(one.totals, other.totals),
    )


def joined_rows(one: Floats, other: Floats) -> Floats:
    """The numbers of the samples of two neighboring blocks."""
    return np.concatenate([one, other])


def totals_of(table: Any) -> Floats:
    """The total of every sample; if some of its values are missing, that of the others in proportion."""
    is_sparse = scipy.sparse.issparse(table)
    if is_sparse:
        return np.asarray(table.astype(np.float64).sum(axis=1)).ravel()
    observed = table.shape[1] - np.isnan(table).sum(axis=1)
    return np.asarray(np.nansum(table, axis=1, dtype=np.float64) * (table.shape[1] / np.maximum(observed, 1)))


def skewness(table: Floats) -> Floats:
    """How long the right tail of every sample is."""
    with np.errstate(all="ignore"):
        return np.asarray(skew(table, axis=1, nan_policy="omit"), dtype=np.float64)


def scaled_samples(table: Floats) -> Floats:
    """Return the table with each row scaled to mean 0 and variance 1. A row without any observed value stays."""
    seen = ~np.isnan(table)
    # In other units, so that sums and squares stay within range.
    table = table * power_of_two(np.abs(np.where(seen, table, 0.0)).max(axis=1, keepdims=True))
    counts = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    table = table - np.where(seen, table, 0.0).sum(axis=1, keepdims=True) / counts
    spread = np.sqrt((np.where(seen, table, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
    return np.asarray(table / np.where(spread > 0, spread, 1.0))


# The percentiles of the size factors that stand for small and large ones.
SMALL, LARGE = 5.0, 95.0


def scaled_total(totals: Floats) -> float:
    """Return the total to which the samples are scaled, given their own totals, of shape (n_samples,).

    >>> scaled_total(np.array([100.0, 100.0, 0.0])), round(scaled_total(np.array([50.0, 100.0, 400.0])), 1)
    (100.0, 64.6)
    """
    totals = totals[totals > 0]
    if not totals.size:
        return 1.0
    median = float(np.median(totals))
    low, high = np.percentile(totals, [SMALL, LARGE]) / median
    return median / max(1.0, float(1.0 / low - 1.0 / high))
