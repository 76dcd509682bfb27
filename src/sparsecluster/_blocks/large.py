"""A table with many samples: a random sample of it, on which the search works, and all of it in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._data.kinds import Dissimilarity, Hamming, SquaredEuclidean
from .._data.reading import Reading
from .._data.source import ColumnTable, TableSource
from .._data.source_sparse import SparseSource
from .._utils.arrays import Subset
from .features import BlockFeatures, Blocks, Layout
from .look import stored_range
from .memory import MemoryBlocks
from .sums import Moments, Scale, is_sparse, moments_of


@dataclass(frozen=True)
class Large:
    """A table with many samples.

    Attributes
    ----------
    reading : Reading
        All of the table; it may not be in memory.
    blocks : Blocks
        Its codes in blocks of rows.
    scale : Scale
        The scale of its columns.
    sample : Reading
        A random sample of its rows, in memory.
    rows : ndarray or sparse matrix of shape (n_drawn, n_columns)
        The codes of these rows.
    moments : Moments or None
        The moments of its columns, if they are known.
    """

    reading: Reading
    blocks: Blocks
    scale: Scale
    sample: Reading
    rows: Any
    moments: Moments | None = None

    def for_clusters(self, k: int) -> Large:
        """The same table without the columns that are observed in too few samples for k clusters."""
        reading, sample = self.reading.for_clusters(k), self.sample.for_clusters(k)
        source: Any = sample.source
        used = np.isin(source.columns, reading.source.columns)
        return replace(
            self, reading=reading, sample=replace(sample, source=replace(source, columns=source.columns[used]))
        )

    def features(self) -> BlockFeatures:
        """The features of all samples; one pass over the table unless its moments are known."""
        source = self.reading.source
        layout = Layout(source.columns, source.owners, self.reading.request.standardize)
        moments = self.moments or self.blocks.total(partial(moments_of, scale=self.scale))
        return BlockFeatures(self.blocks, layout, self.scale, moments)


def draw_places(n_samples: int, n_drawn: int, rng: np.random.Generator) -> Subset:
    """The places of random samples, in ascending order."""
    return np.sort(rng.choice(n_samples, n_drawn, replace=False, shuffle=False))


def large_in_memory(
    reading: Reading, n_drawn: int, k: int, n_jobs: int | None, rng: np.random.Generator
) -> Large | None:
    """A table in memory; None if its columns have no sums, or if a sample is too uniform to be searched."""
    source = reading.source
    if not isinstance(source, TableSource | SparseSource) or not has_sums(kinds_of(source, reading.n_columns)):
        return None
    values: Any
    places = source.samples[draw_places(source.samples.size, n_drawn, rng)]
    if isinstance(source, SparseSource):
        values = source.values.tocsr()
        values.sum_duplicates()
        low, high, _ = stored_range(values)
    else:
        values = source.table.values
        low, high = (extreme.reduce(values, axis=0).astype(np.float64) for extreme in (np.fmin, np.fmax))
    rows = values[places]
    sample = sample_reading(reading, rows, k)
    if sample is None:
        return None
    scale = Scale.of(low, high, n_levels(kinds_of(source, reading.n_columns)), is_sparse(values))
    return Large(reading, MemoryBlocks(values, n_jobs), scale, sample, rows)


def by_column(rows: Any) -> Any:
    """A sparse matrix compressed by column."""
    return rows.tocsc()


def kinds_of(source: Any, n_columns: int) -> list[Dissimilarity]:
    """How the columns of a table compare samples."""
    return [source.kind(a) for a in range(n_columns)]


def has_sums(kinds: list[Dissimilarity]) -> bool:
    """Whether scores and centers follow from sums over samples: of numbers and of their squares, or of levels."""
    return all(type(kind) in (SquaredEuclidean, Hamming) for kind in kinds)


def n_levels(kinds: list[Dissimilarity]) -> Any:
    """The number of levels of every column; 0 for columns of numbers."""
    return np.array([0 if kind.levels is None else len(kind.levels) for kind in kinds], np.int64)


def sample_reading(reading: Reading, rows: Any, k: int) -> Reading | None:
    """The reading of some rows, given by their codes; None if fewer than k of them are different."""
    whole: Any = reading.source
    n, every = rows.shape[0], np.arange(rows.shape[0])
    source: Any
    if is_sparse(rows):
        groups = np.arange(reading.n_columns) if whole.groups is None else whole.groups
        source = SparseSource(by_column(rows), every, whole.columns, whole.standardize, groups)
    else:
        has_missing = bool(np.isnan(rows[:, whole.columns]).any())
        kinds = tuple(kinds_of(whole, reading.n_columns))
        source = TableSource(
            ColumnTable(rows, kinds), whole.groups, every, whole.columns, whole.standardize, has_missing
        )
    source = source.take(every, k)
    if source is None:
        return None
    # At least k of the rows are different. How many there are is counted if it matters.
    return replace(reading, source=source, notes=(), n_samples=n, n_surely_distinct=k)
