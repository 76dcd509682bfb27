"""Slow and obviously right twins of the mixture with variable selection, straight from its formulas."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

DIRICHLET, PRIOR_WEIGHT = 0.5, 0.01


def level_counts(codes, starts, weights):
    counts = np.zeros((starts[-1], weights.shape[1]))
    for row, weight in zip(codes, weights, strict=True):
        for start, code in zip(starts, row, strict=False):
            if code >= 0:
                counts[start + code] += weight
    return counts


def level_sums(codes, starts, values):
    sums = np.zeros((len(codes), values.shape[1]))
    for i, row in enumerate(codes):
        for start, code in zip(starts, row, strict=False):
            if code >= 0:
                sums[i] += values[start + code]
    return sums


def integral_of_numbers(x, center, scale):
    """Log density of numbers with an unknown mean and variance, by the formula of the paper."""
    x = x[~np.isnan(x)]
    n = x.size
    if n == 0:
        return 0.0
    squares = ((x - x.mean()) ** 2).sum() + scale**2 + (x.mean() - center) ** 2 / (1 / PRIOR_WEIGHT + 1 / n)
    found = math.lgamma((n + 1) / 2) - math.lgamma(0.5) - n / 2 * math.log(math.pi) + math.log(scale)
    return found - (n + 1) / 2 * math.log(squares) + 0.5 * math.log(PRIOR_WEIGHT / (n + PRIOR_WEIGHT))


def integral_of_levels(codes, n_levels):
    """Log probability of levels with unknown probabilities."""
    counts = np.bincount(codes[codes >= 0], minlength=n_levels)
    found = gammaln(n_levels * DIRICHLET) - gammaln(counts.sum() + n_levels * DIRICHLET)
    return found + (gammaln(counts + DIRICHLET) - gammaln(DIRICHLET)).sum()


def integrated(numbers, scales, codes, labels, k, relevant=None):
    """Log integrated complete-data likelihood, with the best features if none are given."""
    n = len(labels)
    own, alone = [], []
    for x, scale in zip(numbers.T, scales, strict=True):
        parts = [x[labels == c] for c in range(k)]
        own.append(sum(integral_of_numbers(part, np.nanmean(x), scale) for part in parts))
        alone.append(integral_of_numbers(x, np.nanmean(x), scale))
    for column in codes.T:
        own.append(sum(integral_of_levels(column[labels == c], column.max() + 1) for c in range(k)))
        alone.append(integral_of_levels(column, column.max() + 1))
    own, alone = np.array(own), np.array(alone)
    relevant = own > alone if relevant is None else relevant
    sizes = np.bincount(labels, minlength=k)
    of_labels = gammaln(k / 2) - k * gammaln(0.5) + gammaln(sizes + 0.5).sum() - gammaln(n + k / 2)
    return of_labels + np.where(relevant, own, alone).sum()


def bic(numbers, codes, found, support):
    """BIC of a fitted model, from the distributions that it keeps; the columns are numbers followed by codes."""
    n, k = len(codes), found.shares.size
    joint, rest, n_parameters = np.log(found.shares) * np.ones((n, 1)), 0.0, k - 1
    chosen = iter(range(support.sum()))
    for a, column in enumerate([*numbers.T, *codes.T]):
        is_number = a < numbers.shape[1]
        seen = np.flatnonzero(~np.isnan(column) if is_number else column >= 0)
        own, per_cluster = column[seen], 2 if is_number else column.max()
        n_parameters += per_cluster * (k if support[a] else 1)
        if support[a]:
            j = next(chosen)
            for c in range(k):
                of = norm(found.means[j, c], found.deviations[j, c]).logpdf
                joint[seen, c] += of(own) if is_number else np.log(found.levels[j][own, c])
        elif is_number:
            rest += norm(own.mean(), own.std()).logpdf(own).sum()
        else:
            rest += np.log(np.bincount(own)[own] / own.size).sum()
    return np.log(np.exp(joint).sum(axis=1)).sum() + rest - n_parameters / 2 * np.log(n)
