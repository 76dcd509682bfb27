"""From the samples and columns of a sparse matrix to the features that the search works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._features.features import Features
from .._features.mixed import owners_of, together
from .._features.sparse import SparseFeatures
from .._utils.arrays import Floats, Subset, Table
from .arrange_sparse import ByColumn, ByRow, sparse_arrangement, tidy
from .centers import sparse_means
from .checks import SMALLEST_SPREAD
from .kinds import Dissimilarity, SquaredEuclidean


def sparse_spreads(matrix: ByColumn | ByRow) -> Floats:
    """The largest value of every column less the smallest."""
    largest, smallest = (extreme.toarray().ravel() for extreme in (matrix.max(axis=0), matrix.min(axis=0)))
    return largest.astype(np.float64) - smallest.astype(np.float64)


def varying(matrix: ByColumn | ByRow) -> Subset:
    """The columns with at least two different values."""
    return np.flatnonzero(sparse_spreads(matrix) >= SMALLEST_SPREAD)


@dataclass(frozen=True)
class SparseSource:
    """The user's sparse table, unchanged; columns with the same number in `groups` form one feature."""

    values: ByColumn
    samples: Subset
    columns: Subset
    standardize: bool
    groups: Subset

    @cached_property
    def owners(self) -> Subset:
        """The feature of every column."""
        return owners_of(self.groups[self.columns])

    def kind(self, column: int) -> Dissimilarity:
        return SquaredEuclidean()

    def features(self) -> Features:
        part = tidy(self.values, self.columns, self.samples)
        features = SparseFeatures(part, self.standardize, self.owners)
        return together([features], [np.arange(self.columns.size)], self.owners)

    def take(self, places: Subset, n_clusters: int) -> Self | None:
        part = tidy(self.values, self.columns, self.samples[places])
        usable = varying(part)
        if not usable.size or sparse_arrangement(part, usable).distinct_samples < n_clusters:
            return None
        return replace(self, samples=self.samples[places], columns=self.columns[usable])

    def look(self, column: int, samples: Any, at: Subset) -> Table:
        return self.values[:, [column]].toarray()[samples, 0]

    def observed(self) -> None:
        """Nothing is left out by the number of clusters."""
        return None

    def blank(self) -> Subset:
        return np.arange(0)

    def count_distinct(self) -> int:
        return sparse_arrangement(self.values, self.columns).distinct_samples

    def extents(self) -> tuple[Floats, Floats]:
        return sparse_spreads(self.values[:, self.columns]), np.full(self.columns.size, float(SquaredEuclidean.power))

    def centers(self, labels: Any, k: int) -> Floats:
        return sparse_means(self.values, labels, k)
