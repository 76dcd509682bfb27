"""The first two principal components of a table, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, svds

from .._data.source_sparse import varying
from .._features.units import power_of_two
from .._utils.arrays import Floats, Subset
from .view import View

# Up to this many samples or coordinates, the matrix of their products is computed: exact, and faster than an iteration.
MOST_PRODUCTS = 3000
# A sparse table with no more values than this is made dense.
DENSE_VALUES = 2**22
# Values within this factor of the largest count as equal to it, so that rounding errors do not decide about signs.
AS_LARGE = 1 - 1e-6


class Plane(NamedTuple):
    """The samples in two principal components.

    Attributes
    ----------
    places : ndarray of shape (n_samples, 2)
        Coordinates of the samples.
    shares : ndarray of shape (2,)
        Share of the variance along each component.
    """

    places: Floats
    shares: Floats


def leading_plane(view: View, columns: Subset) -> Plane:
    """Return the first two principal components of some columns. Missing values are filled with the column mean.

    The components are those of the samples in clusters. The others are projected onto them, because a few samples far
    away would otherwise determine what is seen.
    """
    n = view.clustered.labels.size
    if view.is_sparse and min(n, columns.size) > 3 and n * columns.size > DENSE_VALUES:
        return sparse_plane(view.values[:, columns], view.standardize, view.outliers)
    table = np.nan_to_num(view.coordinates(columns, view.standardize).values)
    # In another unit, so that products do not overflow.
    unit = power_of_two(np.abs(table[view.rows]).max(initial=0.0))
    inside, outside = table[view.rows] * unit, table[view.outliers] * unit
    plane = dense_plane(inside)
    plane = projected(plane, inside.T @ plane.places, view.outliers, lambda axes: outside @ axes)
    return plane._replace(places=plane.places / unit)


def projected(
    plane: Plane, products: Floats, outliers: npt.NDArray[np.bool_], project: Callable[[Floats], Floats]
) -> Plane:
    """Add the samples in no cluster to the plane of the others.

    `products` are the sums of the coordinates of the samples times their places. They have the directions of the axes.
    """
    if not outliers.any():
        return plane
    squares = (plane.places**2).sum(axis=0)
    places = np.empty((outliers.size, 2))
    places[~outliers] = plane.places
    places[outliers] = project(products / np.where(squares > 0, squares, 1.0))
    return Plane(places, plane.shares)


def dense_plane(table: Floats) -> Plane:
    """Return the components of centered coordinates, from the smaller product matrix or a truncated SVD.

    The largest coordinate is about 1, so that products do not overflow.
    """
    n, q = table.shape
    if min(n, q) > MOST_PRODUCTS:
        return truncated(table, float(np.vdot(table, table)))
    product = table.T @ table if q < n else table @ table.T
    size = len(product)
    squares, vectors = scipy.linalg.eigh(product, subset_by_index=[max(size - 2, 0), size - 1])
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    places = table @ vectors if q < n else vectors * np.sqrt(squares)
    return as_plane(places, squares, float(np.trace(product)))


def sparse_plane(table: Any, standardize: bool, outliers: npt.NDArray[np.bool_]) -> Plane:
    """Return the components of a sparse matrix, which is centered without making it dense."""
    X = table[np.flatnonzero(~outliers)] if outliers.any() else table
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    stored = np.diff(X.indptr)
    # In other units, so that squares do not overflow.
    units = power_of_two(abs(X).max(axis=0).toarray().ravel())
    column = np.repeat(np.arange(mean.size), stored)
    apart = ((X.data - mean[column]) * units[column]) ** 2
    squares = np.bincount(column, apart, mean.size) + (n - stored) * (mean * units) ** 2
    varies = np.zeros(mean.size, bool)
    varies[varying(X)] = True
    shares = 1.0 / np.sqrt(np.where(varies, squares, 1.0) / n) if standardize else 1.0 / units
    scale = np.where(varies, shares * units, 0.0)

    def times(vector: Any) -> Any:
        scaled = scale * np.ravel(vector)
        return X @ scaled - mean @ scaled

    def transposed_times(vector: Any) -> Any:
        return scale * (X.T @ np.ravel(vector) - mean * vector.sum())

    def project(axes: Floats) -> Floats:
        scaled = scale[:, None] * axes
        return np.asarray(table[np.flatnonzero(outliers)] @ scaled - mean @ scaled)

    operator = LinearOperator(X.shape, matvec=times, rmatvec=transposed_times, dtype=np.float64)
    plane = truncated(operator, float((squares * (scale / units) ** 2).sum()))
    products = np.column_stack([transposed_times(axis) for axis in plane.places.T])
    return projected(plane, products, outliers, project)


def truncated(table: Any, total: float) -> Plane:
    """Return the components from a truncated SVD with a fixed start; `total` is the sum of all squares."""
    # The start must not be constant, because centered columns are orthogonal to a constant vector.
    start = np.cos(np.arange(min(table.shape)))
    left, found, _ = svds(table, k=2, v0=start, tol=1e-10)
    order = np.argsort(-found)
    values = np.asarray(found[order], dtype=np.float64)
    return as_plane(left[:, order] * values, values**2, total)


def as_plane(places: Floats, squares: Floats, total: float) -> Plane:
    """Fix the sign of each axis so that its outermost sample is positive; a missing second axis is zero."""
    missing = 2 - places.shape[1]
    places = np.pad(places, ((0, 0), (0, missing)))
    squares = np.pad(squares, (0, missing))
    distance = np.abs(places)
    outermost = np.argmax(distance >= AS_LARGE * distance.max(axis=0), axis=0)
    signs = np.where(places[outermost, [0, 1]] < 0, -1.0, 1.0)
    return Plane(places * signs + 0.0, squares / (total or 1.0))
