"""Complete matrices that are small enough to be in memory twice, by feature and by pair of samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernels.triangles import add_triangles, count_units, fold, permute_triangles, table_within, unfold
from .._utils.arrays import Floats, Labels, Subset
from .last import Last
from .units import exact_anchor, exact_unit

# With fewer bytes, the table is not made anew for the sake of memory.
SMALL = 2**23


class Triangles:
    """The dissimilarities of each pair of samples, rounded so that sums of them are exact.

    Parameters
    ----------
    n_samples : int
        The number of samples.
    values : ndarray of shape (n_features, n_pairs)
        The part of each matrix below its diagonal, row by row.
    units : ndarray of shape (n_features,)
        The powers of two of which they are multiples.
    """

    def __init__(self, n_samples: int, values: Floats, units: Floats) -> None:
        self.n_samples, self.values, self.units = n_samples, values, units
        # The same by pair, in units; made when it is needed.
        self._table: npt.NDArray[np.int64] | None = None
        self._last = Last()

    @classmethod
    def of(cls, matrices: Iterable[Any], n_samples: int, n_features: int) -> Triangles:
        """The triangles of matrices without missing values, which are read one after the other."""
        values, units = np.empty((n_features, n_samples * (n_samples - 1) // 2)), np.empty(n_features)
        for f, given in enumerate(matrices):
            matrix = np.ascontiguousarray(given, dtype=np.float64)
            units[f] = exact_unit(float(matrix.max()), n_samples)
            fold(matrix, exact_anchor(float(units[f])), values[f])
        return cls(n_samples, values, units)

    def __getstate__(self) -> dict[str, Any]:
        # Another process can make the table from the values.
        return vars(self) | {"_table": None}

    @property
    def table(self) -> npt.NDArray[np.int64]:
        """The dissimilarities by pair, of shape (n_pairs, n_features), in units of each feature."""
        if self._table is None:
            table = np.empty(self.values.shape[::-1], np.int64)
            count_units(self.values, self.units, table)
            self._table = table
        return self._table

    def release(self) -> None:
        """Free the table, if it is large."""
        if self.values.nbytes > SMALL:
            self._table = None

    def extremes(self) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Whether each feature takes only one value besides 0, and its largest value."""
        largest = self.values.max(axis=1)
        pairs = zip(self.values, largest, strict=True)
        return np.array([bool(((own == 0) | (own == most)).all()) for own, most in pairs]), largest

    def sums(self, n_clusters: int) -> tuple[Labels, npt.NDArray[np.int64]]:
        """The labels that were looked at last, and the sums of their clusters; at first, no sample has a label."""
        last = self._last
        if last.state is None or len(last.state[1]) != n_clusters:
            last.state = np.full(self.n_samples, -1, np.int32), np.zeros((n_clusters, self.units.size), np.int64)
        found: tuple[Labels, npt.NDArray[np.int64]] = last.state
        return found

    def within(self, labels: Labels, n_clusters: int) -> Floats:
        """Within of every feature, from the sums of the last labels."""
        within: Floats = table_within(self.table, self.units, labels, *self.sums(n_clusters))
        return within

    def add(self, features: Subset, weights: Floats, anchor: float, total: Floats) -> None:
        """Add the weighted dissimilarities of some features to the total of every pair."""
        add_triangles(self.values, features, weights, anchor, total)

    def matrix(self, triangle: Floats, factor: float) -> Floats:
        """A symmetric matrix with a multiple of what is given for every pair, and zeros on the diagonal."""
        matrix = np.empty((self.n_samples, self.n_samples))
        unfold(triangle, factor, matrix)
        return matrix

    def permuted(self, orders: npt.NDArray[np.intp]) -> Triangles:
        """A copy in which sample i takes the place of sample orders[f, i] in feature f."""
        values = np.empty_like(self.values)
        permute_triangles(self.values, orders, values)
        return Triangles(self.n_samples, values, self.units)
