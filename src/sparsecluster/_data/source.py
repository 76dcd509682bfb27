"""From the samples and columns of a table or of matrices to the features that the search works on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._features.features import Features
from .._features.matrices import Matrices, MatrixFeatures, entries
from .._features.mixed import owners_of, shares_of, together
from .._features.numeric import NumericFeatures, Source
from .._features.units import SMALLEST
from .._utils.arrays import Floats, Subset, Table
from .arrange import has_distinct_rows
from .centers import means, table_centers
from .check_matrices import count_distinct
from .checks import extremes, observed_counts, observed_enough
from .kinds import Dissimilarity, Numbers, Precomputed, SquaredEuclidean
from .kinds.dissimilarity import distinct_kinds


class SampleSource(Protocol):
    """The user's data, unchanged, and the order in which the search works on their samples and columns.

    samples[i] and columns[j] are positions in the user's data, and owners[j] is the feature that columns[j] belongs to.
    """

    @property
    def samples(self) -> Subset: ...
    @property
    def columns(self) -> Subset: ...
    @property
    def owners(self) -> Subset: ...

    def kind(self, column: int) -> Dissimilarity:
        """How one of the user's columns compares samples."""

    def features(self) -> Features:
        """The features that the search works on."""

    def take(self, places: Subset, n_clusters: int) -> SampleSource | None:
        """The samples at the given places and the columns that vary among them; None if they are too similar."""

    def look(self, column: int, samples: Any, at: Subset) -> Any:
        """The codes of the user's samples in one of the user's columns; for a matrix, its entries (samples, at)."""

    def observed(self) -> Subset | None:
        """The number of samples in which each column is observed; None if there are no missing values."""

    def blank(self) -> Subset:
        """The samples without any observed value, by their places in the user's data."""

    def count_distinct(self) -> int:
        """The number of different samples."""

    def extents(self) -> tuple[Floats, Floats]:
        """For every column, the largest difference between two samples and its power in the dissimilarity."""

    def centers(self, labels: Any, k: int) -> npt.NDArray[Any] | None:
        """The center of every column in every cluster, of shape (k, n_columns); None if a column has none."""


def blank_rows(values: Table, columns: Subset) -> Subset:
    """The rows without any observed value in the given columns."""
    return np.flatnonzero(np.isnan(values[:, columns]).all(axis=1))


def columns_of(source: SampleSource, subset: Subset) -> Subset:
    """The user's columns that belong to a subset of the features."""
    return source.columns[places_of(source, subset)]


def places_of(source: SampleSource, subset: Subset) -> Subset:
    """The places of these columns among the columns of the source, in ascending order."""
    owners = source.owners
    is_chosen = np.zeros(owners.max() + 1, bool)
    is_chosen[subset] = True
    return np.flatnonzero(is_chosen[owners])


def codes_in(source: SampleSource, columns: Subset) -> Iterable[Any]:
    """The codes of all samples in each of the user's columns that are given; see `SampleSource.look`."""
    if isinstance(source, TableSource):
        # All at once: the values of a row are near to each other.
        return np.asarray(source.table.values[source.samples[:, None], columns].T)
    return (source.look(a, source.samples, source.samples) for a in columns.tolist())


@dataclass(frozen=True)
class ColumnTable:
    """Codes of shape (n_samples, n_columns), NaN for missing values, and the meaning of the codes of each column."""

    values: Table
    kinds: tuple[Dissimilarity, ...]

    @cached_property
    def distinct_kinds(self) -> list[Dissimilarity]:
        """Every object among `kinds` only once."""
        return distinct_kinds(self.kinds)

    @property
    def is_numeric(self) -> bool:
        """Whether all columns are numbers that are compared by their squared difference."""
        return all(isinstance(kind, SquaredEuclidean) for kind in self.distinct_kinds)


@dataclass(frozen=True)
class TableSource:
    """A table of codes; columns with the same number in `groups` form one feature. Without groups, each column does.

    Complete numbers that are not standardized are measured in the given unit, which is 1 unless it would lead to
    numbers that are too large or too small; see `in_range`.
    """

    table: ColumnTable
    groups: Subset | None
    samples: Subset
    columns: Subset
    standardize: bool
    has_missing: bool
    unit: float = 1.0

    def features(self) -> Features:
        """The features, made of one part per family of dissimilarities."""
        owners = self.owners
        grouped = owners.max() + 1 < owners.size
        if not grouped and not self.has_missing and self._is_plain():
            return NumericFeatures(Source(self.table.values, self.samples, self.columns, self.standardize, self.unit))
        kinds = [self.table.kinds[a] for a in self.columns.tolist()]
        table = self.table.values[np.ix_(self.samples, self.columns)].astype(np.float64)
        shares = shares_of(owners) * observed_counts(table) / self.samples.size
        families: dict[Any, list[int]] = {}
        for j, kind in enumerate(kinds):
            families.setdefault(kind.features, []).append(j)
        places = [np.array(own) for own in families.values()]
        parts = [
            make([kinds[j] for j in own.tolist()], table[:, own], self.standardize, shares[own], owners[own])
            for make, own in zip(families, places, strict=True)
        ]
        return together(parts, places, owners)

    def _is_plain(self) -> bool:
        """Whether all columns are compared by the squared difference of their codes."""
        values, kinds = self.table.values, self.table.kinds
        return self.table.is_numeric or all(kinds[a].is_squared_difference(values[:, a]) for a in self.columns.tolist())

    @property
    def owners(self) -> Subset:
        """The feature of every column; not stored, since there may be very many columns."""
        return np.arange(self.columns.size) if self.groups is None else owners_of(self.groups[self.columns])

    def kind(self, column: int) -> Dissimilarity:
        return self.table.kinds[column]

    def take(self, places: Subset, n_clusters: int) -> TableSource | None:
        samples = self.samples[places]
        values = self.table.values[samples]
        counts = observed_counts(values) if self.has_missing else np.full(values.shape[1], samples.size)
        usable = extremes(values).varies & observed_enough(counts, samples.size, n_clusters)
        columns = self.columns[usable[self.columns]]
        if not columns.size or not has_distinct_rows(values, columns, n_clusters):
            return None
        return replace(self, samples=samples, columns=columns)

    def look(self, column: int, samples: Any, at: Subset) -> Table:
        return self.table.values[samples, column]

    def observed(self) -> Subset | None:
        return observed_counts(self.table.values[:, self.columns]) if self.has_missing else None

    def blank(self) -> Subset:
        return blank_rows(self.table.values, self.columns)

    def count_distinct(self) -> int:
        return len({row.tobytes() for row in self.table.values[:, self.columns] + 0.0})

    def extents(self) -> tuple[Floats, Floats]:
        places, values = self.columns.tolist(), self.table.values
        kinds = [self.table.kinds[a] for a in places]
        if all(isinstance(kind, Numbers) for kind in kinds):
            apart = extremes(values).spreads[self.columns]
        else:
            apart = np.array([kind.extent(values[:, a]) for kind, a in zip(kinds, places, strict=True)])
        return apart, np.array([float(kind.power) for kind in kinds])

    def centers(self, labels: Any, k: int) -> npt.NDArray[Any] | None:
        values, kinds = self.table.values, self.table.kinds
        return means(values, labels, k) if self.table.is_numeric else table_centers(values, kinds, labels, k)


@dataclass(frozen=True)
class MatrixSource:
    """Precomputed matrices; those with the same number in `groups` form one feature."""

    matrices: Matrices
    groups: Subset
    samples: Subset
    columns: Subset
    standardize: bool

    @cached_property
    def owners(self) -> Subset:
        """The feature of every matrix."""
        return owners_of(self.groups[self.columns])

    def kind(self, column: int) -> Dissimilarity:
        return Precomputed()

    def features(self) -> Features:
        matrices = self.matrices.arranged(self.samples)
        seen = np.array([matrices.values(a)[2] if a in matrices.incomplete else 1.0 for a in self.columns.tolist()])
        features = MatrixFeatures(matrices, self.columns, self.standardize, shares_of(self.owners) * seen, self.owners)
        return together([features], [np.arange(self.columns.size)], self.owners)

    def take(self, places: Subset, n_clusters: int) -> MatrixSource | None:
        samples = self.samples[places]
        every = (entries(self.matrices[a], samples, samples) for a in self.columns.tolist())
        usable = np.array([(matrix >= SMALLEST).any() for matrix in every])
        if not usable.any() or count_distinct(self.matrices.arranged(samples)) < n_clusters:
            return None
        return replace(self, samples=samples, columns=self.columns[usable])

    def look(self, column: int, samples: Any, at: Subset) -> Table:
        matrix = self.matrices[column]
        return matrix[:, at] if isinstance(samples, slice) else entries(matrix, samples, at)

    def observed(self) -> None:
        """Nothing is left out by the number of clusters."""
        return None

    def blank(self) -> Subset:
        return np.arange(0)

    def count_distinct(self) -> int:
        return count_distinct(self.matrices)

    def extents(self) -> tuple[Floats, Floats]:
        return np.array([np.nanmax(self.matrices[a]) for a in self.columns.tolist()]), np.ones(self.columns.size)

    def centers(self, labels: Any, k: int) -> None:
        return None
