"""Large tables: search on a random sample of the items, then climb on all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .climb import Climb
from .features.base import Labels, Subset
from .features.source import ItemSource, columns_of
from .profiles import Profiles


class Sample(NamedTuple):
    """Some of the items: `source` reads them, and places say where they are in the whole."""

    source: ItemSource
    places: Subset


def draw_sample(
    source: ItemSource, n_items: int, n_clusters: int, n_features: int, rng: np.random.Generator
) -> Sample | None:
    """`n_items` random items; None where they are too much alike for so many clusters or features."""
    places = np.sort(rng.permutation(source.items.size)[:n_items])
    sample = source.take(places, n_clusters)
    return None if sample is None or sample.owners.max() + 1 < n_features else Sample(sample, places)


def spread(source: ItemSource, sample: Sample, found: Climb, profiles: Profiles) -> Labels:
    """Labels of all items: those of the sample as found, each of the others by the nearest of their profiles."""
    columns = columns_of(sample.source, found.subset).tolist()
    # One column at a time: all of them together may be more than fits.
    labels = profiles.nearest(source.look(a, source.items, sample.source.items) for a in columns).astype(np.int32)
    labels[sample.places] = found.labels
    return labels
