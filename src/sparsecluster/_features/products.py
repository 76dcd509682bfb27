"""Products D'D w, where D holds delta_a(i, j) by pair of samples i < j (rows) and feature a (columns)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._kernels.products import combined_rows
from .._utils.arrays import Floats, Subset
from .features import Features
from .numeric import NumericFeatures

# With more nonzero weights than this share of n^2, a product by pairs is faster than one by rows of D'D.
ROWS_SHARE = 1 / 6
# Most values of D'D that are kept: 64 MB, for each thread.
MOST_VALUES = 2**23
# Number of rows computed together: few enough to stay in the cache.
BLOCK = 128

Product = Callable[[Floats], Floats]


def products(features: Features) -> Product:
    """Return the function w -> D'D w in the form that is fastest for these features."""
    return NumericProducts(features) if isinstance(features, NumericFeatures) else partial(product_by_pairs, features)


def product_by_pairs(features: Features, weights: Floats) -> Floats:
    """D' times the matrix of pairs D w."""
    return features.pair_sums(features.pair_total(weights))


class NumericProducts:
    """w -> D'D w for columns of numbers, from the rows of D'D whose weights are not zero.

    For centered columns x and y with squares summing to s and t, and sums over pairs i < j and over samples i,

        sum_{i<j} (x_i - x_j)^2 (y_i - y_j)^2 = n sum_i x_i^2 y_i^2 + s t + 2 (sum_i x_i y_i)^2,

    so rows of D'D are two products of matrices with n rows. Each is computed when it is first needed, and kept.
    """

    def __init__(self, features: NumericFeatures) -> None:
        self.features = features
        n, p = features.n_samples, features.n_features
        centered = features.table - features.table.mean(axis=0, dtype=np.float64)
        squares = centered**2
        self._first = np.vstack([np.sqrt(n) * squares, squares.sum(axis=0)])
        self._second = 2**0.25 * centered
        # Memory that is not written to is not used.
        self._rows = np.empty((min(p, int(ROWS_SHARE * n * n), MOST_VALUES // p), p))
        self._places = np.full(p, -1)
        self._count = 0

    def __call__(self, weights: Floats) -> Floats:
        used = np.flatnonzero(weights)
        new = used[self._places[used] < 0]
        if self._count + new.size > len(self._rows):
            return product_by_pairs(self.features, weights)
        if new.size:
            self._add(new)
        return combined_rows(self._rows, self._places[used], weights[used])

    def _add(self, new: Subset) -> None:
        """Compute the rows of some features."""
        for first in range(0, new.size, BLOCK):
            chosen = new[first : first + BLOCK]
            places = np.arange(self._count, self._count + chosen.size)
            rows = self._rows[places[0] : places[-1] + 1]
            np.matmul(self._first[:, chosen].T, self._first, out=rows)
            rows += (self._second[:, chosen].T @ self._second) ** 2
            self._places[chosen] = places
            self._count += chosen.size
