"""Large tables: search on a random subsample, then climb on all samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._data.profiles import Profiles
from .._data.source import SampleSource, columns_of
from .._utils.arrays import Labels, Subset
from .climb import Climb


class Subsample(NamedTuple):
    """A subset of the samples: `source` reads them, and `places` are their positions among all samples."""

    source: SampleSource
    places: Subset


def draw_subsample(
    source: SampleSource, n_samples: int, n_clusters: int, n_features: int, rng: np.random.Generator
) -> Subsample | None:
    """`n_samples` random samples, or None if they are too similar for this number of clusters or features."""
    places = np.sort(rng.permutation(source.samples.size)[:n_samples])
    part = source.take(places, n_clusters)
    return None if part is None or part.owners.max() + 1 < n_features else Subsample(part, places)


def spread(source: SampleSource, subsample: Subsample, found: Climb, profiles: Profiles) -> Labels:
    """Labels of all samples: as found for the subsample, and the cluster with the nearest profile for all others."""
    columns = columns_of(subsample.source, found.subset).tolist()
    # One column at a time, because all of them together may not fit in memory.
    labels = profiles.nearest(source.look(a, source.samples, subsample.source.samples) for a in columns).astype(
        np.int32
    )
    labels[subsample.places] = found.labels
    return labels
