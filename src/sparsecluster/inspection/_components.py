"""The first two principal components of a table, dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, svds

from .._data.source_sparse import varying
from .._features.base import Floats, Subset
from .view import View

# Up to this many samples or coordinates their products are made: exact, and faster than an iteration.
MOST_PRODUCTS = 3000
# A sparse table of no more values than this is worked on as a dense one.
DENSE_VALUES = 2**22
# Values this close to the largest are as good as it for fixing a sign; rounding must not decide which comes first.
AS_LARGE = 1 - 1e-6


class Plane(NamedTuple):
    """Places of the samples on two axes, n x 2, and the share of the variance along each."""

    places: Floats
    shares: Floats


def leading_plane(view: View, columns: Subset) -> Plane:
    """The first two principal components of some columns; missing values are filled with the mean of the column."""
    if view.is_sparse and min(view.labels.size, columns.size) > 3 and view.labels.size * columns.size > DENSE_VALUES:
        return sparse_plane(view.values[:, columns], view.standardize)
    return dense_plane(np.nan_to_num(view.coordinates(columns, view.standardize).values))


def dense_plane(table: Floats) -> Plane:
    """Of coordinates with mean 0: eigenvectors of the smaller product with itself, or a truncated SVD."""
    n, q = table.shape
    if min(n, q) > MOST_PRODUCTS:
        return truncated(table, float(np.vdot(table, table)))
    # The largest number is made 1, so that products stay within range.
    unit = float(np.abs(table).max(initial=0.0)) or 1.0
    scaled = table / unit
    product = scaled.T @ scaled if q < n else scaled @ scaled.T
    size = len(product)
    squares, vectors = scipy.linalg.eigh(product, subset_by_index=[max(size - 2, 0), size - 1])
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    places = table @ vectors if q < n else unit * vectors * np.sqrt(squares)
    return as_plane(places, squares, float(np.trace(product)))


def sparse_plane(X: Any, standardize: bool) -> Plane:
    """Of a sparse matrix, centered without making it dense."""
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    stored = np.diff(X.indptr)
    apart = (X.data - np.repeat(mean, stored)) ** 2
    squares = np.bincount(np.repeat(np.arange(mean.size), stored), apart, mean.size) + (n - stored) * mean**2
    varies = np.zeros(mean.size, bool)
    varies[varying(X)] = True
    scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, squares, 1.0) / n), 0.0) if standardize else varies * 1.0

    def times(vector: Any) -> Any:
        scaled = scale * np.ravel(vector)
        return X @ scaled - mean @ scaled

    def transposed_times(vector: Any) -> Any:
        return scale * (X.T @ np.ravel(vector) - mean * vector.sum())

    operator = LinearOperator(X.shape, matvec=times, rmatvec=transposed_times, dtype=np.float64)
    return truncated(operator, float((squares * scale**2).sum()))


def truncated(table: Any, total: float) -> Plane:
    """By a truncated SVD from a fixed start; `total` is the sum of all squares."""
    # Not a constant vector: columns with mean 0 are orthogonal to it.
    start = np.cos(np.arange(min(table.shape)))
    left, found, _ = svds(table, k=2, v0=start, tol=1e-10)
    order = np.argsort(-found)
    values = np.asarray(found[order], dtype=np.float64)
    return as_plane(left[:, order] * values, values**2, total)


def as_plane(places: Floats, squares: Floats, total: float) -> Plane:
    """Two axes, zeros if there is only one, each turned so that its outermost sample is on the positive side."""
    missing = 2 - places.shape[1]
    places = np.pad(places, ((0, 0), (0, missing)))
    squares = np.pad(squares, (0, missing))
    distance = np.abs(places)
    outermost = np.argmax(distance >= AS_LARGE * distance.max(axis=0), axis=0)
    signs = np.where(places[outermost, [0, 1]] < 0, -1.0, 1.0)
    return Plane(places * signs + 0.0, squares / (total or 1.0))
