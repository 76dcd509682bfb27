"""A Bayesian information criterion for clusterings with selected features, by which s and k are chosen.

Two models of each feature are compared: one distribution for all samples, and one per cluster. The clusters are worth
what the features in S gain by them, minus what it takes to describe them: the parameters of the chosen features, which
features are chosen, and which cluster each sample belongs to.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from .._features.features import Features
from .._features.likelihood import Likelihood, xlogx
from .._utils.arrays import Floats, Labels

# The weight of the number of subsets in the extended BIC (Chen and Chen, 2008, recommend 1/2 for moderate p).
GAMMA = 0.5
# If the features are independent within clusters, this price per parameter recovers the number of clusters more often
# than (log n) / 2, which is too high for many small clusters. AIC3 (Bozdogan, 1994) has 1.5. With dependent features,
# splitting a cluster gains more by chance, so the price is (log n) / 2 and, if they depend strongly, higher by as much.
INDEPENDENT_PRICE, STRONGEST = 1.75, 2.0


# The smallest cluster that counts as one when the number of clusters is chosen.
LEAST_MEMBERS = 3


class Evaluation(NamedTuple):
    """The criterion at the best size for a clustering, and that size."""

    value: float
    size: int


def price_of(n_samples: int, dependence: float = 1.0) -> float:
    """The price of a parameter: (log n) / 2 as in the BIC if dependence = 1, and INDEPENDENT_PRICE if it is 0."""
    usual = np.log(n_samples) / 2.0
    least = min(INDEPENDENT_PRICE, usual)
    return float(least + (usual - least) * min(max(dependence, 0.0), STRONGEST))


def evaluate(features: Features, labels: Labels, n_clusters: int, price: float) -> Evaluation:
    """The largest value of the criterion over all subsets S of the features, for one clustering.

    The value is

        sum_{a in S} (l_a - c (k - 1) d_a) - gamma log C(p, s) - sum_k n_k log(n / n_k),

    where l_a is the log likelihood ratio of feature a with and without the clusters, d_a its number of parameters, c
    the price of a parameter, and C(p, s) the number of subsets of s of the p features. Without clusters it is 0. A
    clustering with a cluster of one or two samples, which are outliers rather than a cluster, has the value -inf.
    """
    values = bic_values(features, labels, n_clusters, price)
    best = int(np.argmax(values))
    least = min(LEAST_MEMBERS, labels.size // (2 * n_clusters))
    too_small = np.bincount(labels, minlength=n_clusters).min() < least
    return Evaluation(-np.inf if too_small else float(values[best]), best + 1)


def bic_values(features: Features, labels: Labels, n_clusters: int, price: float | None = None) -> Floats:
    """The criterion for the best subset of every size s = 1, ..., p; see `evaluate`."""
    price = price_of(features.n_samples) if price is None else price
    gains = worth(features.likelihood(labels, n_clusters), n_clusters, price)
    sizes = np.bincount(labels, minlength=n_clusters)
    values = np.cumsum(np.sort(gains)[::-1]) - GAMMA * log_subsets(features.n_features)
    return np.asarray(values - (labels.size * np.log(labels.size) - xlogx(sizes).sum()))


def worth(likelihood: Likelihood, n_clusters: int, price: float) -> Floats:
    """What each feature gains by the clusters, after the price of its parameters."""
    return likelihood.gains - price * (n_clusters - 1) * likelihood.parameters


@lru_cache(maxsize=4)
def log_subsets(p: int) -> Floats:
    """log C(p, s) for s = 1, ..., p."""
    s = np.arange(1, p + 1)
    values = np.asarray(gammaln(p + 1) - gammaln(s + 1) - gammaln(p - s + 1))
    values.flags.writeable = False
    return values


def dependence(features: Features, labels: Labels, n_clusters: int) -> float:
    """How strongly the features depend on each other within clusters: 0 if they are independent.

    This is the mean over the features a of sum_{b != a} r_ab^2, minus its expectation for independent features, where
    r_ab is the correlation within clusters. It is computed from the similarity of pairs of samples, so that it is
    defined for every kind of features.
    """
    p, n = features.n_features, features.n_samples
    left = features.pairs(np.arange(p), equal_weights(features)).similarity
    members = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    means = members / np.maximum(members.sum(axis=0), 1.0)
    # The similarity of the residuals: every sample minus the mean of its cluster.
    left = left - members @ (means.T @ left)
    left = left - (left @ means) @ members.T
    trace = float(np.trace(left))
    if trace <= 0:
        return 0.0
    return p * float((left**2).sum()) / trace**2 - 1.0 - (p - 1) / max(n - n_clusters, 1)


def equal_weights(features: Features) -> Floats:
    """Weights that give all features the same total."""
    totals = np.bincount(features.by_member(np.arange(float(features.n_features))).astype(np.intp), features.total)
    return np.asarray(1.0 / totals)
