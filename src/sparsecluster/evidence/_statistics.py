"""Small statistics: intervals, adjusted p-values, thresholds of false discoveries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, chndtrinc, fdtr, ncfdtrinc

from .._utils.arrays import Floats, Subset

# The probability on each side of a confidence interval of 95 %.
TAIL = 0.025
# Levels of the false discovery rate at which lists are made, if a method has no q-values.
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


def adjusted(p: Floats) -> Floats:
    """The q-values of Benjamini and Hochberg: the smallest false discovery rate at which each p-value is listed.

    >>> adjusted(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.03]
    """
    order = np.argsort(p)
    ratios = p[order] * p.size / np.arange(1, p.size + 1)
    made = np.empty(p.size)
    made[order] = np.minimum.accumulate(ratios[::-1])[::-1].clip(0.0, 1.0)
    return made


def explained_interval(ratio: Floats, d1: Floats, d2: Floats) -> tuple[Floats, Floats]:
    """A 95 % interval for the share explained, lambda / (lambda + d1 + d2 + 1), of an F ratio with these degrees.

    The ends are the noncentralities lambda at which the ratio is the 97.5 % and the 2.5 % point.
    """
    whole = d1 + d2 + 1.0

    def end(probability: float) -> Floats:
        with np.errstate(all="ignore"):
            found = np.where(fdtr(d1, d2, ratio) <= probability, 0.0, ncfdtrinc(d1, d2, probability, ratio))
        return np.asarray(np.nan_to_num(found, posinf=1e12))

    low, high = end(1.0 - TAIL), end(TAIL)
    return low / (low + whole), high / (high + whole)


def chi_square(codes: Floats, labels: npt.NDArray[Any], k: int) -> Floats:
    """The p-value of the chi-square test of levels and clusters, Cramer's V squared, and its 95 % interval."""
    seen = ~np.isnan(codes) & (labels >= 0)
    names, at = np.unique(codes[seen], return_inverse=True)
    counts = np.bincount(at * k + labels[seen], minlength=names.size * k).reshape(names.size, k).astype(np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    n, degrees = counts.sum(), (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if degrees <= 0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    statistic = float(((counts - expected) ** 2 / expected).sum())
    most = n * min(counts.shape[0] - 1, counts.shape[1] - 1)
    p = float(chdtrc(degrees, statistic))

    def end(probability: float) -> float:
        return 0.0 if 1.0 - p <= probability else float(np.nan_to_num(chndtrinc(statistic, degrees, probability)))

    low, high = (min(1.0, end(each) / most) for each in (1.0 - TAIL, TAIL))
    return np.array([p, min(1.0, statistic / most), low, high])


def worst_of_several(found: Floats, owners: Subset) -> Floats:
    """Of each feature's columns, the values of the one with the smallest p-value, which counts once per column.

    `found` has shape (n_values, n_columns), with the p-values in its first row; the result has one column per feature.
    """
    order = np.lexsort((found[0], owners))
    counts = np.bincount(owners)
    first = order[np.concatenate([[0], np.cumsum(counts)[:-1]])]
    made = found[:, first].copy()
    made[0] = np.minimum(1.0, made[0] * counts)
    return made


# ---------------------------------------------------------------- symmetric statistics


def q_of_contrasts(contrasts: Floats) -> Floats:
    """The q-value of each statistic that is symmetric about zero if there is nothing (Barber and Candes, 2015).

    At a threshold t > 0, the estimated false discovery rate is (1 + #{C <= -t}) / #{C >= t}. The q-value of a feature
    is the smallest one over all thresholds at which it is listed, and 1 if its statistic is not positive.

    >>> q_of_contrasts(np.array([5.0, 4.0, 3.0, 2.0, -1.0, 0.5])).tolist()
    [0.25, 0.25, 0.25, 0.25, 1.0, 0.4]
    """
    made = np.ones(contrasts.size)
    order = np.argsort(-contrasts, kind="stable")
    at = contrasts[order]
    positive = at > 0
    below = np.sort(-contrasts)
    n_below = contrasts.size - np.searchsorted(below, at, side="left")
    n_above = np.searchsorted(-at, -at, side="right")
    rates = np.minimum((1.0 + n_below) / np.maximum(n_above, 1), 1.0)
    # A feature is listed at its own threshold and at all lower ones that are positive.
    rates = np.where(positive, rates, 1.0)
    made[order] = np.minimum.accumulate(rates[::-1])[::-1]
    made[contrasts <= 0] = 1.0
    return made


def listed_by_rates(statistics: Floats, level: float) -> npt.NDArray[np.bool_]:
    """Which features are listed, given symmetric statistics of several splits, of shape (n_splits, n_features).

    In each split, the features above the smallest t with (1 + #{M <= -t}) / #{M >= t} <= level are chosen. The rate of
    a feature is the mean over the splits of 1 / (number chosen) where it is chosen. The features with the smallest
    rates are dropped as long as the sum of their rates is at most the level (Dai, Lin, Xing and Liu, 2023).
    """
    rates = np.zeros(statistics.shape[1])
    for each in statistics:
        chosen = q_of_contrasts(each) <= level
        rates += chosen / max(1, int(chosen.sum())) / len(statistics)
    order = np.argsort(rates, kind="stable")
    listed = np.zeros(rates.size, bool)
    listed[order[np.cumsum(rates[order]) > level]] = True
    return listed & (rates > 0)
