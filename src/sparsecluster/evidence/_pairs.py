"""Which pairs of clusters each feature separates, in samples that were held out."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from .._utils.arrays import Floats, Subset
from ._columns import Columns
from ._statistics import TAIL, adjusted, chi_square


class Pairs(NamedTuple):
    """Differences between pairs of clusters.

    Attributes
    ----------
    first, second : ndarray of shape (n_pairs,)
        The clusters of each pair.
    difference, low, high : ndarray of shape (n_columns, n_pairs)
        Difference of the means, first minus second, in the units of the table, and its 95 % confidence interval; NaN
        for columns of levels.
    p : ndarray of shape (n_columns, n_pairs)
        P-value for no difference.
    """

    first: Subset
    second: Subset
    difference: Floats
    low: Floats
    high: Floats
    p: Floats

    @property
    def q(self) -> Floats:
        """The false discovery rate among all columns and pairs, of shape (n_columns, n_pairs)."""
        return adjusted(self.p.ravel()).reshape(self.p.shape)


def pair_differences(columns: Columns, labels: npt.NDArray[np.int16], k: int) -> Pairs:
    """Compare all pairs of clusters in every column, by Welch's t-test of normal scores; levels by chi-square."""
    pairs = np.array(list(combinations(range(k), 2)))
    own = labels[:, columns.owners]
    in_units = welch(columns.values, own, pairs, k)
    p = welch(columns.scores, own, pairs, k).p
    difference, low, high = in_units.difference, in_units.low, in_units.high
    for j in np.flatnonzero(columns.is_nominal).tolist():
        difference[j] = low[j] = high[j] = np.nan
        for place, (c, d) in enumerate(pairs.tolist()):
            among = np.where(np.isin(own[:, j], (c, d)), own[:, j], -1)
            p[j, place] = chi_square(columns.values[:, j], among, k)[0]
    return Pairs(pairs[:, 0], pairs[:, 1], difference, low, high, p)


class Welch(NamedTuple):
    """Differences with their interval and p-value, each of shape (n_columns, n_pairs)."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats


def welch(values: Floats, labels: npt.NDArray[np.int16], pairs: Subset, k: int) -> Welch:
    """Welch's t-test of all pairs in every column; a p-value of 1 where a cluster has fewer than two values."""
    counts, means, variances = np.zeros((3, k, values.shape[1]))
    for c in range(k):
        own = (labels == c) & ~np.isnan(values)
        counts[c] = own.sum(axis=0)
        some = np.where(own, values, 0.0)
        means[c] = some.sum(axis=0) / np.maximum(counts[c], 1)
        squares = np.where(own, values - means[c], 0.0) ** 2
        variances[c] = squares.sum(axis=0) / np.maximum(counts[c] - 1, 1)
    first, second = pairs.T
    difference = means[first] - means[second]
    parts = variances[first] / np.maximum(counts[first], 1), variances[second] / np.maximum(counts[second], 1)
    error = np.sqrt(parts[0] + parts[1])
    usable = (counts[first] > 1) & (counts[second] > 1) & (error > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = error**4 / (
            parts[0] ** 2 / np.maximum(counts[first] - 1, 1) + parts[1] ** 2 / np.maximum(counts[second] - 1, 1)
        )
        degrees = np.where(usable, degrees, 1.0)
        p = np.where(usable, 2.0 * stdtr(degrees, -np.abs(difference) / error), 1.0)
        reach = np.where(usable, -stdtrit(degrees, TAIL) * error, np.nan)
    return Welch(difference.T.copy(), (difference - reach).T, (difference + reach).T, p.T.copy())
