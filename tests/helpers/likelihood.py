"""Slow twins of the likelihood ratios and of the BIC, straight from their formulas."""

from __future__ import annotations

from itertools import combinations
from math import comb, log

import numpy as np
from scipy import stats
from sklearn.metrics import mutual_info_score

from sparsecluster._data.kinds import Hamming, SquaredEuclidean
from sparsecluster._search.bic import GAMMA
from tests import naive


def normal_gain(x, labels):
    """How much more likely numbers are with one mean per cluster than with one for all, with a common variance."""
    means = np.array([x[labels == c].mean() for c in labels])

    def best_log_likelihood(center):
        return stats.norm.logpdf(x, center, np.sqrt(np.mean((x - center) ** 2))).sum()

    return best_log_likelihood(means) - best_log_likelihood(x.mean())


def level_gain(x, labels):
    """The same for levels with one distribution per cluster: the number of samples times the mutual information."""
    return x.size * mutual_info_score(labels, x)


def share_gain(delta, labels):
    """The formula of numbers in terms of what a clustering leaves of a dissimilarity, whatever its kind."""
    n = naive.samples_seen(delta)
    left = min(naive.delta_within(delta, labels) / naive.delta_total(delta), 1.0)
    return -n / 2 * log(max(left, 1 / n))


def column_gain(kind, x, delta, labels):
    """The gain of one column, and its number of parameters per cluster."""
    seen = ~np.isnan(x)
    levels = np.unique(x[seen]).size
    if isinstance(kind, Hamming) or (isinstance(kind, SquaredEuclidean) and levels == 2):
        return level_gain(x[seen], labels[seen]), levels - 1
    return (normal_gain(x[seen], labels[seen]) if isinstance(kind, SquaredEuclidean) else share_gain(delta, labels)), 1


def case_gains(case, labels):
    """Gains and parameters of every feature of a case made of columns, which are sums over its columns."""
    source = case.source
    values = source.table.values if hasattr(source, "table") else source.values.toarray()
    kinds = source.table.kinds if hasattr(source, "table") else [SquaredEuclidean()] * values.shape[1]
    of_columns = [column_gain(*each, labels) for each in zip(kinds, values.T, case.deltas, strict=True)]
    return tuple(np.bincount(case.owners, each) for each in zip(*of_columns, strict=True))


def subset_bic(gains, parameters, labels, subset, price):
    """The criterion of one subset."""
    n, p, sizes = labels.size, gains.size, np.bincount(labels)
    worth = sum(gains[a] - price * (sizes.size - 1) * parameters[a] for a in subset)
    return worth - GAMMA * log(comb(p, len(subset))) - sum(size * log(n / size) for size in sizes)


def best_bic(gains, parameters, labels, price):
    """The largest criterion over all subsets of every size s = 1, ..., p."""
    p = gains.size
    return np.array(
        [
            max(subset_bic(gains, parameters, labels, each, price) for each in combinations(range(p), s))
            for s in range(1, p + 1)
        ]
    )
