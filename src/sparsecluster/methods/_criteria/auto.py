"""The default: the BIC, or the gap statistic of K-means where the model of the BIC does not suit the table.

The BIC takes the features to be independent within clusters. If they are not, and there are many samples, it pays to
cut a cluster in pieces although there is nothing to find. With few columns this can be seen: fewer clusters, with
correlations within them, describe the table about as well. The gap statistic is then the better choice. It needs many
samples per column itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._data.reading import Reading
from ..._features.features import Features
from ..._search.bic import evaluate, price_of
from ..._search.clusters import Candidates, bic_curve
from ..._search.curve import TuningCurve
from ..._utils.arrays import Labels
from ..._utils.parameters import rng_of
from .bic import candidates_of, choice_of
from .choice import Choice, warn
from .gap import gap, residuals
from .refit import part_of
from .tables import is_number_table

# Correlations are compared if there are at least three columns, and this many samples per column.
LEAST_COLUMNS, LEAST_PER_COLUMN = 3, 5
# Fewer clusters, by at least this many, describe a table about as well if their criterion is at most this much per
# sample below that of independent features: so much is gained by more clusters if the values are not quite Gaussian.
LEAST_FEWER, NEARLY = 2, 0.4
# The gap statistic is computed on at most this many samples, with so many starts of K-means on every table.
MOST_SAMPLES, STARTS = 500, 3
# A criterion that rises up to the largest of at least this many numbers has not come to an end.
LEAST_TRIED = 3


def auto(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the BIC, or by the gap statistic of K-means if there are few columns that depend on each other."""
    found = candidates_of(estimator, reading, ks)
    curve, labels = bic_curve(found)
    if suits_gap(reading) and explained_by_correlations(found, curve):
        return gap_of_kmeans(estimator, reading, ks)
    if curve.chosen == ks[-1] and len(ks) >= LEAST_TRIED and curve.score.max() > 0:
        warn(
            f"The BIC is largest for {ks[-1]} clusters, the largest number that was tried. If the features depend on "
            "each other within clusters, it names too many. Try larger numbers, or compare with "
            'cluster_criterion="prediction_strength".'
        )
    return choice_of(reading, ks, curve, labels)


def suits_gap(reading: Reading) -> bool:
    """Whether the table consists of numbers, with several samples per column."""
    n_columns, n_compared = reading.source.columns.size, min(reading.n_used, MOST_SAMPLES)
    is_long = n_columns >= LEAST_COLUMNS and n_compared >= LEAST_PER_COLUMN * n_columns
    return is_long and is_number_table(reading)


def explained_by_correlations(found: Candidates, curve: TuningCurve) -> bool:
    """Whether fewer clusters, with correlations within them, describe the data about as well as those of the curve.

    For k clusters, a Gaussian model with correlations R within clusters is compared with one without: its log
    likelihood ratio is -(n/2) log det R, and it has p (p - 1)/2 parameters more.
    """
    values, gains = dict(zip(curve.values.tolist(), curve.score.tolist(), strict=True)), {}
    price = price_of(found.features.n_samples)
    for k, clusterings in found.labels.items():
        best = max(clusterings, key=partial(value_of, found.features, k, price))
        gains[k] = max(0.0, gain_by_correlations(found.features, best, k))
    least = values[curve.chosen] + gains[curve.chosen] - NEARLY * found.features.n_samples
    fewer = [k for k in values if k <= curve.chosen - LEAST_FEWER]
    return any(gains[k] > 0 and values[k] + gains[k] >= least for k in fewer)


def value_of(features: Features, k: int, price: float, labels: Labels) -> float:
    """The BIC of a clustering."""
    return evaluate(features, labels, k, price).value


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
