"""From a table or from matrices, some of their samples and columns, to the features that the search sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from .._features.base import Features, Floats, Subset, Table
from .._features.coordinates import CoordinateFeatures, level_block, number_block
from .._features.manhattan import ManhattanFeatures
from .._features.matrices import Matrices, MatrixFeatures
from .._features.mixed import owners_of, shares_of, together
from .._features.numeric import NumericFeatures, Source
from .arrange import arrangement
from .columns import ColumnTable, Dissimilarity
from .functions import column_matrix

# What makes the features of each kind of column; functions of the user's are "functions".
ROOMS = {"sqeuclidean": "coordinates", "hamming": "coordinates", "manhattan": "distances"}
# A column seen in a smaller share of the samples says next to nothing: of a hundred pairs it sees one.
LEAST_SEEN = 0.1


class SampleSource(Protocol):
    """The user's data, untouched, with the samples and columns in the order in which the search sees them.

    owners[j] is the feature to which columns[j] belongs.
    """

    @property
    def samples(self) -> Subset: ...
    @property
    def columns(self) -> Subset: ...
    @property
    def owners(self) -> Subset: ...

    def features(self) -> Features:
        """What the search works on."""

    def take(self, places: Subset, n_clusters: int) -> SampleSource | None:
        """Some of the samples, with the columns that tell them apart; None where they are too much alike."""

    def look(self, column: int, samples: Any, at: Subset) -> Any:
        """What the user's column says of the user's samples; a matrix, of them and the samples `at`."""


def columns_of(source: SampleSource, subset: Subset) -> Subset:
    """The user's columns that belong to some features."""
    return source.columns[np.isin(source.owners, subset)]


def seen_counts(values: Table) -> Subset:
    """Number of samples in which each column is seen."""
    return np.asarray(len(values) - np.isnan(values).sum(axis=0), dtype=np.intp)


def enough_seen(counts: Subset, n_samples: int, n_clusters: int) -> Any:
    """Which columns are seen in enough samples to say something about so many clusters."""
    return counts >= max(n_clusters + 1, LEAST_SEEN * n_samples)


def varies(values: Table) -> Any:
    """Which columns have two different values."""
    with np.errstate(invalid="ignore"):
        return np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)


@dataclass(frozen=True)
class TableSource:
    """A table of numbers and codes, NaN in gaps; columns with the same number in `groups`, if any, are one feature."""

    table: ColumnTable
    groups: Subset | None
    samples: Subset
    columns: Subset
    standardize: bool
    has_gaps: bool

    def features(self) -> Features:
        """One part a kind; the parts together where there are several, or columns chosen together."""
        owners = self.owners
        grouped = owners.max() + 1 < owners.size
        if not grouped and not self.has_gaps and all(map(self._is_number, self.columns)):
            return NumericFeatures(Source(self.table.values, self.samples, self.columns, self.standardize))
        table = self.table.values[np.ix_(self.samples, self.columns)].astype(np.float64)
        shares = shares_of(owners) * seen_counts(table) / self.samples.size
        makers = {"coordinates": self._coordinates, "distances": self._distances, "functions": self._functions}
        kinds = [self.table.columns[a].kind for a in self.columns.tolist()]
        rooms = [ROOMS[kind] if isinstance(kind, str) else "functions" for kind in kinds]
        places = {name: np.flatnonzero([room == name for room in rooms]) for name in makers if name in rooms}
        parts = [
            makers[name](table[:, own], self.columns[own], shares[own], owners[own]) for name, own in places.items()
        ]
        return together(parts, list(places.values()), owners)

    def _is_number(self, column: int) -> bool:
        """Squared differences; the Hamming dissimilarity of two levels is the same."""
        kind = self.table.columns[column].kind
        return kind == "sqeuclidean" or (kind == "hamming" and np.unique(self.table.values[:, column]).size == 2)

    def _coordinates(self, table: Floats, columns: Subset, shares: Floats, owners: Subset) -> Features:
        is_level = [self.table.columns[a].kind == "hamming" for a in columns.tolist()]
        make = [level_block if level else number_block for level in is_level]
        blocks = [block(column) for block, column in zip(make, table.T, strict=True)]
        return CoordinateFeatures(blocks, self.standardize, shares, owners)

    def _distances(self, table: Floats, columns: Subset, shares: Floats, owners: Subset) -> Features:
        return ManhattanFeatures(table, self.standardize, shares, owners)

    def _functions(self, table: Floats, columns: Subset, shares: Floats, owners: Subset) -> Features:
        seen = ~np.isnan(table)

        def read(j: int) -> Floats:
            column = self.table.columns[columns[j]]
            return column_matrix(cast(Dissimilarity, column.kind), column.decode(table[:, j]), seen[:, j])

        gapped = frozenset(np.flatnonzero(~seen.all(axis=0)).tolist())
        matrices = Matrices(read, columns.size, self.samples.size, gapped, computed=True)
        return MatrixFeatures(matrices, np.arange(columns.size), self.standardize, shares, owners)

    @property
    def owners(self) -> Subset:
        """The feature of every column; not kept, since there may be very many columns."""
        return np.arange(self.columns.size) if self.groups is None else owners_of(self.groups[self.columns])

    def take(self, places: Subset, n_clusters: int) -> TableSource | None:
        samples = self.samples[places]
        values = self.table.values[samples][:, self.columns]
        usable = np.flatnonzero(varies(values) & enough_seen(seen_counts(values), samples.size, n_clusters))
        if not usable.size or arrangement(values, usable).distinct_samples < n_clusters:
            return None
        return replace(self, samples=samples, columns=self.columns[usable])

    def look(self, column: int, samples: Any, at: Subset) -> Table:
        return self.table.values[samples, column]


@dataclass(frozen=True)
class MatrixSource:
    """Precomputed matrices; those with the same number in `groups` are one feature."""

    matrices: Matrices
    groups: Subset
    samples: Subset
    columns: Subset
    standardize: bool

    @cached_property
    def owners(self) -> Subset:
        """The feature of every matrix."""
        return owners_of(self.groups[self.columns])

    def features(self) -> Features:
        matrices = self.matrices.arranged(self.samples)
        seen = np.array([matrices.values(a)[2] if a in matrices.gapped else 1.0 for a in self.columns.tolist()])
        features = MatrixFeatures(matrices, self.columns, self.standardize, shares_of(self.owners) * seen, self.owners)
        return together([features], [np.arange(self.columns.size)], self.owners)

    def take(self, places: Subset, n_clusters: int) -> MatrixSource | None:
        samples = self.samples[places]
        usable = np.array([(self.matrices[a][np.ix_(samples, samples)] > 0).any() for a in self.columns.tolist()])
        return replace(self, samples=samples, columns=self.columns[usable]) if usable.any() else None

    def look(self, column: int, samples: Any, at: Subset) -> Table:
        matrix = self.matrices[column]
        return matrix[:, at] if isinstance(samples, slice) else matrix[np.ix_(samples, at)]
