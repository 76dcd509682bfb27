"""Large tables: search on a random sample of the items, then climb on all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .climb import Climb, Problem
from .features.arrange import arrangement
from .features.base import Labels, Subset
from .features.numeric import Source

# Values looked at together when the items outside the sample are given their cluster.
BLOCK_VALUES = 2**20


class Sample(NamedTuple):
    """Some of the items of a source: `source` reads them, and items and columns say where they are in the whole."""

    source: Source
    items: Subset
    columns: Subset


def draw_sample(
    source: Source, n_items: int, n_clusters: int, n_columns: int, rng: np.random.Generator
) -> Sample | None:
    """`n_items` random items; None where they are too much alike for so many clusters or columns."""
    items = np.sort(rng.permutation(source.items.size)[:n_items])
    values = source.values[source.items[items]][:, source.columns]
    columns = np.flatnonzero(values.max(axis=0) > values.min(axis=0))
    if columns.size < n_columns or arrangement(values, columns).distinct_items < n_clusters:
        return None
    return Sample(replace(source, items=source.items[items], columns=source.columns[columns]), items, columns)


def spread(problem: Problem, sample: Sample, found: Climb) -> Labels:
    """Labels of all items: those of the sample as found, each of the others by the nearest centre."""
    table, weights = problem.features.rows(sample.columns[found.subset])
    centres = np.stack([table[sample.items[found.labels == c]].mean(axis=0) for c in range(problem.n_clusters)])
    pull, push = (weights * centres).T, (weights * centres**2).sum(axis=1) / 2
    labels = np.empty(len(table), np.int32)
    step = max(1, BLOCK_VALUES // table.shape[1])
    for first in range(0, len(table), step):
        labels[first : first + step] = np.argmax(table[first : first + step] @ pull - push, axis=1)
    labels[sample.items] = found.labels
    return labels
