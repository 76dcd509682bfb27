"""Where new samples are: their clusters, distances and probabilities, as for the samples of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._data.profiles import Profiles
from .._utils.arrays import Floats, Subset
from ._fitted import _distances
from .view import Placed, placed_by


class Samples(NamedTuple):
    """Samples and their clusters.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, and -1 for samples in no cluster.
    placed : Placed or None
        Distances, second-best clusters and silhouettes; None for methods without distances.
    probability : ndarray of shape (n_samples,) or None
        Probability that a sample belongs to its cluster, for methods that have probabilities.
    """

    labels: Subset
    placed: Placed | None
    probability: Floats | None


def place_samples(estimator: Any, X: Any) -> Samples:
    """Assign samples to the clusters of a fitted estimator, and tell how well they fit there.

    Parameters
    ----------
    estimator : estimator of this package
        It must be fitted and have the method `predict`.
    X : table of shape (n_samples, n_features)
        New samples, with the same columns as in `fit`.

    Returns
    -------
    Samples
        The clusters and what is known of the samples in them.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> sas = SASClustering(n_clusters=3, n_features_to_select=5).fit(X)
    >>> found = place_samples(sas, X[:2])
    >>> found.labels.tolist() == sas.labels_[:2].tolist(), found.placed.distance.round(2)
    (True, array([0.26, 0.38]))
    """
    clusters = estimator._kept.clusters
    if not isinstance(clusters, Profiles):
        labels = estimator.predict(X)
        return Samples(labels, None, own_probability(probabilities_of(estimator, X), labels))
    # The samples are read once for both.
    values = estimator._new_values(X)
    labels = estimator._nearest(clusters, values)
    return Samples(labels, placed_by(_distances(clusters, lambda: values), labels), None)


def probabilities_of(estimator: Any, X: Any) -> Floats | None:
    """Return the probability that each sample belongs to each cluster; None if the method has none."""
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None


def own_probability(memberships: Floats | None, labels: Subset) -> Floats | None:
    """Return the probability of the cluster that each sample is in; NaN for samples in no cluster."""
    if memberships is None:
        return None
    own = np.take_along_axis(memberships, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return np.where(labels < 0, np.nan, own)
