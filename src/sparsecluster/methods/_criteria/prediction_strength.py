"""Prediction strength: whether the clusters of one half of the samples are found again in the other half."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data.reading import Reading
from ..._search.curve import TuningCurve
from ..._utils.arrays import Floats, Subset
from ..._utils.parameters import rng_of
from .choice import Choice, warn
from .refit import Refit, assign, fit_each, part_of, quietly, workers_of

# The number of random splits M. The strength of two halves varies by about 0.1, so that the standard error is 0.03.
N_SPLITS = 10
# Clusters are considered to be predicted well from this strength on. The paper recommends 0.8 to 0.9.
THRESHOLD = 0.8


def prediction_strength(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the prediction strength (Tibshirani and Walther, 2005).

    The samples are split at random into halves A and B, both are clustered, and the samples of B are assigned to the
    nearest clusters of A. With B_1, ..., B_k the clusters of B, and a(i) the cluster of A that is nearest to sample i,

        ps(k) = min_c  #{pairs i, j in B_c with a(i) = a(j)} / #{pairs in B_c},

    where a cluster of a single sample counts as 1. This is averaged over both roles of the halves and over M random
    splits. The largest k with mean + standard error >= 0.8 is chosen. If there is none, a warning is issued and the
    smallest candidate is used.

    Parameters
    ----------
    estimator : SparseClusterer
        The method.
    reading : Reading
        The data, of any kind.
    ks : sequence of int
        The candidates in ascending order.

    Returns
    -------
    choice : Choice
        The number of clusters, the curve, and the labels of the fit to all samples.

    References
    ----------
    R. Tibshirani and G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
    Statistics 14 (2005), 511-528.
    """
    rng = rng_of(vars(estimator).get("random_state"))
    with quietly():
        found = fit_each(estimator, reading, ks)
        refits = {k: Refit.like(estimator, each) for k, each in found.items()}

        def one_split(own: np.random.Generator) -> list[float]:
            places = own.permutation(reading.n_used)
            middle = places.size // 2
            halves = np.sort(places[:middle]), np.sort(places[middle:])
            return [strength_of_split(refit, reading, k, halves, own) for k, refit in refits.items()]

        splits = workers_of(estimator, reading).map(one_split, rng.spawn(N_SPLITS), "splits")
        strengths = np.array(list(splits))
    curve = curve_of(ks, strengths)
    return Choice(int(curve.chosen), curve, found[curve.chosen].labels)


def curve_of(ks: Sequence[int], strengths: Floats) -> TuningCurve:
    """The curve over k, from the strengths of all splits, of shape (n_splits, n_ks)."""
    mean = strengths.mean(axis=0)
    error = strengths.std(axis=0, ddof=1) / np.sqrt(len(strengths))
    strong = np.flatnonzero(mean + error >= THRESHOLD)
    chosen = int(ks[strong[-1] if strong.size else 0])
    if not strong.size:
        warn(
            f"No number of clusters from {ks[0]} to {ks[-1]} has a prediction strength of {THRESHOLD}. The smallest of "
            f"them, {chosen}, is used. The data may have no clusters, or half of the samples may be too few to find "
            "them."
        )
    return TuningCurve("k", np.array(ks), "prediction_strength", mean, chosen, error)


def strength_of_split(
    refit: Refit, reading: Reading, k: int, halves: tuple[Subset, Subset], rng: np.random.Generator
) -> float:
    """The mean strength over both roles of the halves; 0 if no k clusters can be found in one of them."""
    readings = [part_of(reading, places, k) for places in halves]
    found = [refit(each, k, rng) for each in readings]
    total = 0.0
    for one, other in ((0, 1), (1, 0)):
        own, clusters, labels = readings[one], found[one], found[other]
        if own is None or clusters is None or labels is None:
            return 0.0
        near = assign(own, clusters, reading.source.samples[halves[other]])
        total += strength(labels.labels, near)
    return total / 2.0


def strength(labels: npt.NDArray[Any], assigned: npt.NDArray[Any]) -> float:
    """The smallest share, over the clusters, of the pairs of their samples that are assigned together.

    >>> strength(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))
    0.3333333333333333
    """
    shares = []
    for cluster in np.unique(labels):
        together = np.bincount(assigned[labels == cluster])
        size = int(together.sum())
        shares.append(float((together * (together - 1)).sum() / (size * (size - 1))) if size > 1 else 1.0)
    return min(shares)
