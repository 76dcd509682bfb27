"""How much more likely a feature is if its distribution may differ between the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Floats, Labels


class Likelihood(NamedTuple):
    """Two models of every feature, with and without the clusters, compared on the observed samples.

    Attributes
    ----------
    gains : ndarray of shape (n_features,)
        Log likelihood ratio of the two models.
    parameters : ndarray of shape (n_features,)
        Number of parameters per additional cluster: 1 for a number (its mean), L - 1 for a category with L levels.
    """

    gains: Floats
    parameters: Floats


def gaussian(scores: Floats, n_observed: Any) -> Likelihood:
    """Gaussian features with one mean per cluster and a common variance: the gain is -(n/2) log(1 - score).

    Under random labels, the mean score is (k - 1)/(n - 1) for every dissimilarity, so that the formula serves features
    of other kinds as an analogy. A feature that is constant in every cluster would be infinitely likely; its residual
    share is bounded below by 1/n.
    """
    left = np.maximum(1.0 - scores, 1.0 / np.maximum(n_observed, 2))
    return Likelihood(-np.asarray(n_observed) / 2.0 * np.log(left), np.ones(scores.size))


def multinomial(codes: Any, labels: Labels, n_clusters: int) -> Likelihood:
    """Categorical features with one distribution per cluster: the gain is n times the mutual information.

    `codes`, of shape (n_samples, n_features), holds the levels 0, 1, ... of every feature, and -1 if missing.
    """
    members = np.ascontiguousarray(labels[None, :] == np.arange(n_clusters)[:, None]).astype(np.float64)
    return of_counts([members @ (codes == level) for level in range(int(codes.max()) + 1)])


def of_counts(counts: Sequence[Any]) -> Likelihood:
    """The same, where counts[l], of shape (n_clusters, n_features), is the number of samples with level l."""
    by_level = [each.sum(axis=0) for each in counts]
    within = sum(xlogx(each).sum(axis=0) for each in counts) - xlogx(np.sum(counts, axis=0)).sum(axis=0)
    overall = sum(map(xlogx, by_level)) - xlogx(np.sum(by_level, axis=0))
    n_levels = np.sum([each > 0 for each in by_level], axis=0)
    return Likelihood(np.asarray(within - overall), np.maximum(n_levels - 1.0, 1.0))


def xlogx(counts: Any) -> Floats:
    """x log x, and 0 for x = 0."""
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))
