"""Samples that belong nowhere: trimmed clustering for every method, and a warning if a cluster looks like outliers.

In trimmed K-means (Cuesta-Albertos, Gordaliza and Matran, 1997), and in its sparse form RSKC (Kondo, Salibian-Barrera
and Zamar, 2016), the samples that are farthest from all clusters are left out of the clusters and of the scores. Here a
method is applied to the samples that are kept, and these are updated by their distance to the nearest cluster, until
they stay the same. Samples that turn out to be no farther away than others are taken back in the end.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._data.profiles import profiles_of
from .._data.reading import Reading
from .._data.source import columns_of
from .._utils.arrays import Floats, Labels, Subset
from .._utils.checks import check_number, frames_in_package
from ._criteria.refit import part_of
from ._result import Result

if TYPE_CHECKING:
    from ._base import SparseClusterer
    from ._criteria.choice import Choice

# The most updates of the samples that are kept. A few are usually enough.
MOST_UPDATES = 20
# Updates of the samples near the center of all, which are kept at the beginning.
FIRST_UPDATES = 3
# In one column, a sample counts as at most this many times as far from a cluster as samples are from their center on
# average: a few wild values do not make an outlier.
MOST_IN_ONE_COLUMN = 9.0
# Outliers are this many standard deviations above the median. Cube roots of distances, which are sums of squares, are
# nearly normal (Wilson and Hilferty, 1931), and the standard deviation is measured below the median, where no outliers
# are: this share of a normal distribution lies one standard deviation or more below its mean.
OUTLYING, ONE_BELOW = 4.0, 0.159
# A cluster with at most this share of the samples may consist of outliers if its samples are this many times farther
# from the nearest other cluster than samples usually are from their own. At most this many samples are looked at.
FEW, FAR, MOST_LOOKED_AT = 0.05, 4.0, 500
# The smallest share that is suggested.
USUAL_TRIM = 0.05


class Trimmed(NamedTuple):
    """The samples that were kept, what was found among them, and how far each sample is from the nearest cluster."""

    reading: Reading
    found: Result
    outlier_scores: Floats | None


def check_trim(value: object) -> None:
    """Check the share of samples that may be left out."""
    check_number("trim", value, "a share of the samples in [0, 0.5)", lambda x: 0 <= x < 0.5)


def number_left_out(estimator: SparseClusterer, reading: Reading) -> int:
    """Return how many samples may be left out."""
    # A product such as 0.07 * 100, which is a little above 7 in floating point, is not rounded up to 8.
    return int(np.ceil(float(vars(estimator).get("trim", 0.0)) * reading.n_used - 1e-9))


def without_far(estimator: SparseClusterer, reading: Reading) -> Reading:
    """Return the reading without the samples that are farthest from the others, which may be left out."""
    n_out = number_left_out(estimator, reading)
    return reading if n_out == 0 else among(reading, central(reading, reading.n_used - n_out), 2)


def solve_trimmed(estimator: SparseClusterer, reading: Reading, chosen: Choice) -> Trimmed:
    """Find clusters, and leave out the samples that are farthest from them."""
    n_out = number_left_out(estimator, reading)
    if n_out == 0:
        found = estimator._solve_from(reading, chosen.k, chosen.labels)
        warn_of_far_clusters(reading, found)
        return Trimmed(reading, found, None)
    k, n_kept = chosen.k, reading.n_used - n_out
    kept = central(reading, n_kept)
    part = among(reading, kept, k)
    found, is_whole = estimator._solve(part, k), True
    for _ in range(MOST_UPDATES):
        apart = distances(reading, part, found)
        nearest = nearest_samples(apart.min(axis=1), n_kept)
        if np.array_equal(nearest, kept):
            break
        kept, part = nearest, among(reading, nearest, k)
        labels = nearest_clusters(apart[kept])
        # If all samples of a cluster are left out, the others have to be clustered afresh.
        is_whole = labels is None
        found = estimator._solve(part, k) if labels is None else estimator._improve(part, k, found, labels)
    apart = distances(reading, part, found)
    kept = np.union1d(kept, np.flatnonzero(outlying(apart.min(axis=1)) <= OUTLYING))
    if not is_whole or kept.size > n_kept:
        # An update has no tuning curves and no alternatives, and those of the first solution are of other samples.
        part = among(reading, kept, k)
        found = estimator._solve_from(part, k, nearest_clusters(apart[kept]))
    scores = np.empty(reading.n_samples)
    scores[reading.source.samples] = outlying(distances(reading, part, found).min(axis=1))
    return Trimmed(part, found, scores)


def scored_inside(reading: Reading, found: Result) -> Result:
    """Return the result with scores among the samples in clusters, if the method itself leaves some samples out."""
    part = None if found.outside is None else part_of(reading, found.inside, found.n_clusters)
    if part is None:
        return found
    # Features that are constant among these samples cannot be explained.
    scores = np.zeros(found.features.n_features)
    own = reading.source.owners[np.isin(reading.source.columns, part.source.columns)]
    scores[own] = part.source.features().scores(found.labels[found.inside], found.n_clusters)[part.source.owners]
    return replace(found, scores=scores)


def outlying(far: Floats) -> Floats:
    """Return by how many standard deviations each sample is farther from its cluster than the median sample."""
    roots = np.cbrt(far)
    middle, below = np.median(roots), np.quantile(roots, ONE_BELOW)
    # If most samples are equally far, any sample that is farther is an outlier.
    least = max(np.finfo(float).eps * float(roots.max()), np.finfo(float).tiny)
    return np.asarray((roots - middle) / max(float(middle - below), least))


def among(reading: Reading, places: Subset, k: int) -> Reading:
    """Return the reading of some of the samples."""
    part = part_of(reading, places, k)
    if part is None:
        raise ValueError(
            f"After trimming, fewer than {k} distinct samples are left. Use fewer clusters or a smaller value of trim."
        )
    return part


def central(reading: Reading, n_kept: int) -> Subset:
    """Return the places of the samples that are nearest to the center of all of them, and then to their own center."""
    source = reading.source
    features = source.features()
    part = reading
    kept = np.arange(source.samples.size)
    for _ in range(FIRST_UPDATES):
        everything = np.arange(features.n_features)
        one = Result(features, np.zeros(features.n_samples, np.int32), everything, 1, scores=np.ones(everything.size))
        nearest = nearest_samples(distances(reading, part, one)[:, 0], n_kept)
        if np.array_equal(nearest, kept):
            break
        kept, part = nearest, among(reading, nearest, 2)
        features = part.source.features()
    return kept


def distances(reading: Reading, part: Reading, found: Result) -> Floats:
    """Distances of all samples to the clusters found among some of them, of shape (n_samples, n_clusters)."""
    profiles = profiles_of(part.source, found.features, found.labels, found.n_clusters, found.subset, found.weights)
    columns = columns_of(part.source, found.subset).tolist()
    source = reading.source
    values = (source.look(a, source.samples, part.source.samples) for a in columns)
    return profiles.distances(values, MOST_IN_ONE_COLUMN)


def nearest_samples(far: Floats, count: int) -> Subset:
    """Return the places of the samples with the smallest values, in ascending order."""
    return np.sort(np.argsort(far, kind="stable")[:count])


def nearest_clusters(apart: Floats) -> Labels | None:
    """Return the nearest cluster of each sample, or None if a cluster is not the nearest of any."""
    labels = apart.argmin(axis=1).astype(np.int32)
    return labels if np.unique(labels).size == apart.shape[1] else None


def warn_of_far_clusters(reading: Reading, found: Result) -> None:
    """Warn if a cluster consists of a few samples that are far from all others."""
    sizes = np.bincount(found.labels, minlength=found.n_clusters)
    small = np.flatnonzero(sizes <= FEW * found.labels.size)
    if not small.size or small.size == found.n_clusters:
        return
    far = [cluster for cluster in small.tolist() if is_far(reading, found, cluster)]
    if not far:
        return
    count = int(sizes[far].sum())
    what = f"{len(far)} clusters are" if len(far) > 1 else "A cluster is"
    samples, probably = ("1 sample that is", "an outlier") if count == 1 else (f"{count} samples that are", "outliers")
    trim = max(USUAL_TRIM, np.ceil(200 * count / found.labels.size) / 200)
    warnings.warn(
        f"{what} made of {samples} far from all others, probably {probably}. Try trim={trim:.3g}, which leaves the "
        "farthest samples out.",
        UserWarning,
        stacklevel=frames_in_package(),
    )


def is_far(reading: Reading, found: Result, cluster: int) -> bool:
    """Whether the samples of a cluster are much farther from the other clusters than these are wide."""
    own = np.flatnonzero(found.labels == cluster)
    rest = np.flatnonzero(found.labels != cluster)
    looked_at = np.concatenate([own, rest[:: max(1, rest.size // MOST_LOOKED_AT)]])
    source = reading.source
    profiles = profiles_of(source, found.features, found.labels, found.n_clusters, found.subset, found.weights)
    columns = columns_of(source, found.subset).tolist()
    values = (source.look(a, source.samples[looked_at], source.samples) for a in columns)
    apart = profiles.distances(values)
    others = np.delete(apart[: own.size], cluster, axis=1).min(axis=1)
    usual = np.median(np.take_along_axis(apart[own.size :], found.labels[looked_at[own.size :], None], axis=1))
    return bool(np.median(others) > FAR * usual)
