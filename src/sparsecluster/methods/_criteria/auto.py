"""The default: the BIC, or the gap statistic of K-means where the model of the BIC does not suit the table.

The BIC takes the features to be independent within clusters. If they are not, and there are many samples, it pays to
cut a cluster in pieces although there is nothing to find. With few columns this can be seen, and the gap statistic,
which needs many samples per column, is the better choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._data.reading import Reading
from ..._features.features import Features
from ..._search.clusters import Candidates, bic_curve
from ..._utils.arrays import Labels
from ..._utils.parameters import rng_of
from .bic import candidates_of, choice_of
from .choice import Choice, warn
from .gap import gap, residuals
from .refit import part_of
from .tables import is_number_table

# With fewer samples per column than this, the correlations are not known well enough.
LEAST_PER_COLUMN = 5
# The gap statistic is computed on at most this many samples, with so many starts of K-means on every table.
MOST_SAMPLES, STARTS = 500, 3
# A criterion that rises up to the largest of at least this many numbers has not come to an end.
LEAST_TRIED = 3


def auto(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the BIC, or by the gap statistic of K-means if there are few columns that depend on each other."""
    found = candidates_of(estimator, reading, ks)
    curve, labels = bic_curve(found)
    rises = curve.chosen == ks[-1] and len(ks) >= LEAST_TRIED
    if suits_gap(reading) and (rises or depends(found)):
        return gap_of_kmeans(estimator, reading, ks)
    if rises:
        warn(
            f"The BIC is largest for {ks[-1]} clusters, the largest number that was tried. If the features depend on "
            "each other within clusters, it names too many. Try larger numbers, or compare with "
            'cluster_criterion="prediction_strength".'
        )
    return choice_of(reading, ks, curve, labels)


def suits_gap(reading: Reading) -> bool:
    """Whether the table consists of numbers, with several samples per column."""
    n_compared = min(reading.n_used, MOST_SAMPLES)
    return is_number_table(reading) and n_compared >= LEAST_PER_COLUMN * reading.source.columns.size


def depends(found: Candidates) -> bool:
    """Whether the features depend on each other even within the largest number of clusters.

    A Gaussian model with correlations R within clusters is compared with one without, by the BIC: the log likelihood
    ratio is -(n/2) log det R, and there are p (p - 1)/2 correlations.
    """
    k = max(found.labels)
    return all(gain_by_correlations(found.features, labels, k) > 0 for labels in found.labels[k])


def gain_by_correlations(features: Features, labels: Labels, k: int) -> float:
    """What correlations within k clusters gain in log likelihood, after the price of (log n)/2 for each."""
    left = residuals(features, labels, k)
    spread = np.sqrt((left**2).sum(axis=0))
    left = left[:, spread > 0] / spread[spread > 0]
    n, p = left.shape
    eigenvalues = np.linalg.eigvalsh(left.T @ left) if p else np.ones(1)
    # Columns that are sums of others have a determinant of 0, but its logarithm must still be finite.
    log_determinant = np.log(np.maximum(eigenvalues, np.finfo(float).eps)).sum()
    return float(-n / 2.0 * log_determinant - np.log(n) / 2.0 * p * (p - 1) / 2.0)


def gap_of_kmeans(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the gap statistic of K-means on all features, on a random subsample if there are many samples."""
    from ..sas import SASClustering

    given, part = vars(estimator), None
    if reading.n_used > MOST_SAMPLES:
        places = rng_of(given.get("random_state", 0)).permutation(reading.n_used)[:MOST_SAMPLES]
        part = part_of(reading, np.sort(places), ks[-1])
    table = part or reading
    shared = {name: given[name] for name in ("standardize", "random_state", "n_jobs", "verbose") if name in given}
    # SAS clustering with all features is K-means.
    kmeans = SASClustering(n_features_to_select=table.n_usable, n_init=STARTS, consensus=False, **shared)
    chosen = gap(kmeans, table, ks)
    return chosen if part is None else chosen._replace(labels=None)
