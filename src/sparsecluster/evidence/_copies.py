"""Copies of a table that have no clusters: permuted ones, and simulated ones with a single group of samples.

Both are readings with the samples, the columns and the order of the data, so that every method can be fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, hstack

from .._data.arrange_sparse import ByColumn, tidy
from .._data.reading import Reading
from .._data.source import ColumnTable, MatrixSource, SampleSource, TableSource
from .._data.source_sparse import SparseSource
from .._features.matrices import Matrices
from .._kernels.order import shuffle_columns
from .._kernels.sparse import shuffle_samples
from .._utils.arrays import Subset, Table
from ._copula import column_blocks, simulated

# A simulated copy holds several tables of this many values in memory at a time.
MOST_VALUES = 2 * 10**8


def _with_values(reading: Reading, changed: Iterable[tuple[slice, Table]]) -> Reading:
    """A table with other values of the used samples, given for slices of the used columns."""
    source = reading.source
    assert isinstance(source, TableSource)
    values = source.table.values.copy()
    for places, block in changed:
        values[np.ix_(source.samples, source.columns[places])] = block
    return _with_source(reading, replace(source, table=ColumnTable(values, source.table.kinds)))


def _with_stored(reading: Reading, part: ByColumn) -> Reading:
    """A sparse matrix with other values of the used samples in the used columns, and zeros elsewhere."""
    source = reading.source
    assert isinstance(source, SparseSource)
    rows, columns = source.samples[part.indices], np.repeat(source.columns, np.diff(part.indptr))
    values = csc_array((part.data, (rows, columns)), shape=source.values.shape)
    return _with_source(reading, replace(source, values=values))


def _with_source(reading: Reading, source: SampleSource) -> Reading:
    # Other samples may be equal now, so they are counted again where their number matters.
    return replace(reading, source=source, n_surely_distinct=0)


# ---------------------------------------------------------------- permuted copies


class Shuffle(NamedTuple):
    """A permutation of the samples for every feature: a random one, followed by exchanges of two samples.

    Attributes
    ----------
    seed : int
        The seed of the random permutations, each of which depends on the seed and the number of the feature alone.
    exchanges : tuple of (int, int, int)
        A feature and the two samples that are exchanged in it.
    """

    seed: int
    exchanges: tuple[tuple[int, int, int], ...] = ()

    def apply(self, table: Any, owners: Subset) -> None:
        """Permute the rows of a table in place; owners[j] is the feature of column j."""
        shuffle_columns(table, owners, np.uint64(self.seed))
        for feature, i, j in self.exchanges:
            own = np.flatnonzero(owners == feature)
            table[i, own], table[j, own] = table[j, own], table[i, own]

    def order(self, n_samples: int, feature: int) -> Subset:
        """The sample whose value each sample gets in a feature."""
        places = np.arange(n_samples)[:, None]
        self.apply(places, np.array([feature]))
        return places[:, 0]


def shuffle_of(seen: Any | None, rng: np.random.Generator) -> Shuffle:
    """Draw a permutation for every feature that leaves no sample without an observed value.

    A sample that has lost all its values takes one from a sample that has several, in exchange for a missing one. With
    many missing values, drawing again until nobody has lost all values could take forever.

    Parameters
    ----------
    seen : ndarray of shape (n_samples, n_features), dtype=bool, or None
        Where the data are observed; None if there are no missing values. Every sample has some observed value.
    rng : numpy.random.Generator
        Source of random numbers.
    """
    seed = int(rng.integers(2**63))
    if seen is None:
        return Shuffle(seed)
    moved = seen.copy()
    Shuffle(seed).apply(moved, np.arange(seen.shape[1]))
    counts = moved.sum(axis=1)
    exchanges = []
    for i in np.flatnonzero(counts == 0).tolist():
        j = int(rng.choice(np.flatnonzero(counts > 1)))
        feature = int(rng.choice(np.flatnonzero(moved[j])))
        moved[[i, j], feature] = True, False
        counts[[i, j]] += 1, -1
        exchanges.append((feature, i, j))
    return Shuffle(seed, tuple(exchanges))


def permuted(reading: Reading, rng: np.random.Generator) -> Reading:
    """Permute the used samples within each feature, independently of the other features.

    The columns of a feature are permuted together, and missing values move with the others. Every feature keeps its
    values, so what remains of a clustering is what each feature has of it alone.

    Parameters
    ----------
    reading : Reading
        A table of any kind, a sparse matrix or precomputed matrices. Matrices are permuted when they are read.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    Reading
        The copy. Every sample has an observed value. There may be fewer distinct samples than in the data, which
        `Reading.for_clusters` counts.
    """
    return _PERMUTED[type(reading.source)](reading, rng)


def _permuted_table(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, TableSource)
    owners, values = source.owners, source.table.values
    seen = _seen_in(source, lambda a: ~np.isnan(values[source.samples, a])) if source.has_missing else None
    shuffle = shuffle_of(seen, rng)

    def changed() -> Iterator[tuple[slice, Table]]:
        for places in column_blocks(source.samples.size, source.columns.size):
            block = values[np.ix_(source.samples, source.columns[places])]
            shuffle.apply(block, owners[places])
            yield places, block

    return _with_values(reading, changed())


def _seen_in(source: SampleSource, observed: Callable[[int], Any]) -> Any:
    """Which samples are observed in which features; those of a feature are observed in one of its columns."""
    seen = np.zeros((source.samples.size, int(source.owners.max()) + 1), bool)
    for a, owner in zip(source.columns.tolist(), source.owners.tolist(), strict=True):
        seen[:, owner] |= observed(a)
    return seen


def _permuted_sparse(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, SparseSource)
    part = tidy(source.values, source.columns, source.samples)
    seed = np.uint64(shuffle_of(None, rng).seed)
    samples = shuffle_samples(part.indices, part.indptr, source.samples.size, source.owners, seed)
    return _with_stored(reading, csc_array((part.data, samples, part.indptr), shape=part.shape))


def _permuted_matrices(reading: Reading, rng: np.random.Generator) -> Reading:
    source = reading.source
    assert isinstance(source, MatrixSource)
    matrices, samples = source.matrices, source.samples
    owners = dict(zip(source.columns.tolist(), source.owners.tolist(), strict=True))
    # The diagonal is NaN for samples without observed pairs. With a complete matrix, nobody can lose all pairs.
    may_lose = matrices.incomplete.issuperset(source.columns.tolist())
    seen = _seen_in(source, lambda a: ~np.isnan(np.diag(matrices[a])[samples])) if may_lose else None
    shuffle = shuffle_of(seen, rng)

    def read(a: int) -> Table:
        if a not in owners:
            return matrices[a]
        rows = np.arange(matrices.n_samples)
        rows[samples] = samples[shuffle.order(samples.size, owners[a])]
        return matrices[a][np.ix_(rows, rows)]

    copy = Matrices(read, matrices.count, matrices.n_samples, matrices.incomplete, computed=True)
    return _with_source(reading, replace(source, matrices=copy))


_PERMUTED: dict[type, Callable[[Reading, np.random.Generator], Reading]] = {
    TableSource: _permuted_table,
    SparseSource: _permuted_sparse,
    MatrixSource: _permuted_matrices,
}


# ---------------------------------------------------------------- one correlated group


def one_group(reading: Reading, rng: np.random.Generator) -> Reading | None:
    """Simulate a table with the columns of the data and their correlation, but with a single group of samples.

    The table is drawn from a Gaussian copula. Its correlation is that of the normal scores, of which only eigenvalues
    above those of noise are kept (see `spikes_and_noise`): with more columns than samples, most of the correlation in a
    sample is by chance, and a copy that keeps it as if it were real looks more clustered than the data. The simulated
    scores are then replaced by the values of the same rank, so that each column keeps exactly its own values, ties and
    levels, and missing values stay in their places. Levels without an order are ordered by their frequency.

    Parameters
    ----------
    reading : Reading
        A table of any kind, or a sparse matrix.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    Reading or None
        The copy; None for precomputed matrices, which have no columns of values, and for tables that are too large.

    Notes
    -----
    With rare levels that are strongly associated, copies keep a little too little of the association, so that a test
    against them rejects too often. In simulations with three factors and columns of zeros and ones, about a sixth of
    which are ones, 30 % (60 samples) and 52 % (200 samples) of the tables without groups had p-values of at most 0.1.
    With as many ones as zeros, 7 % had.
    """
    source = reading.source
    if isinstance(source, MatrixSource) or source.samples.size * source.columns.size > MOST_VALUES:
        return None
    if isinstance(source, SparseSource):
        dense = tidy(source.values, source.columns, source.samples).toarray()
        return _with_stored(reading, hstack([csc_array(block) for _, block in simulated(dense, dense, rng)], "csc"))
    assert isinstance(source, TableSource)
    values = source.table.values[np.ix_(source.samples, source.columns)]
    levels = [j for j, a in enumerate(source.columns.tolist()) if source.kind(a).scale == "level"]
    keys = values.copy() if levels else values
    for j in levels:
        keys[:, j] = by_frequency(values[:, j])
    return _with_values(reading, simulated(values, keys, rng))


def by_frequency(codes: Table) -> Table:
    """Codes of levels as places in the order of their frequency, the commonest first; NaN for missing values."""
    levels, at, counts = np.unique(codes, return_inverse=True, return_counts=True)
    places = np.empty(levels.size)
    places[np.argsort(-counts, kind="stable")] = np.arange(levels.size)
    return np.where(np.isnan(codes), np.nan, places[at])
