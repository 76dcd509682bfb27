"""The forms in which samples are given to K-means, and its two parts in each of them: seeds and improvements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Mask, Table
from ._jit import by_kind
from .level_rows import improve_levels, seed_levels
from .missing import improve_seen, seed_seen
from .moves import MOVE_PASSES
from .pairs import improve_pairs, seed_pairs
from .rows import improve_rows, seed_rows


class Pairs(NamedTuple):
    """Similarity A of all pairs of samples, of shape (n_samples, n_samples).

    The dissimilarity of two samples is A_ii + A_jj - 2 A_ij, and the within of a clustering is
    trace(A) - sum_k (1/|C_k|) sum_{i,j in C_k} A_ij.
    """

    similarity: Floats


class SummedPairs(NamedTuple):
    """`Pairs` with the sums over features that they come from, one for each pair, and a mask of these features."""

    similarity: Floats
    total: Floats
    is_counted: npt.NDArray[np.bool_]


class Rows(NamedTuple):
    """Coordinates of the samples, of shape (n_samples, q); weights[a] multiplies squared differences in column a."""

    table: Table
    weights: Floats


class SeenRows(NamedTuple):
    """Coordinates with missing values: `seen`, of shape (n_samples, q), is 1 where a value is observed and 0 elsewhere.

    Missing values are stored as 0, which is the mean of the observed values of each column.
    """

    table: Floats
    weights: Floats
    seen: Mask


class LevelRows(NamedTuple):
    """Coordinates beside categories, as in the kernels of `level_rows`."""

    table: Floats
    weights: Floats
    levels: npt.NDArray[np.uint32]
    units: Floats
    center: float
    n_levels: int | np.int64


@by_kind
def seeded(view, uniforms):
    """Labels from k-means++ seeds, one for each of the uniform random numbers."""


@by_kind
def improve(view, labels, k, lloyd_passes):
    """C-hat(delta_S, k), step 1 of Algorithm 1: improve the labels in place until no move of a sample does."""


@seeded.register(Pairs)
def _(view, uniforms):
    return seed_pairs(view.similarity, uniforms)


@improve.register(Pairs)
def _(view, labels, k, lloyd_passes):
    improve_pairs(view.similarity, labels, k, lloyd_passes, MOVE_PASSES)


@seeded.register(SummedPairs)
def _(view, uniforms):
    return seed_pairs(view.similarity, uniforms)


@improve.register(SummedPairs)
def _(view, labels, k, lloyd_passes):
    improve_pairs(view.similarity, labels, k, lloyd_passes, MOVE_PASSES)


@seeded.register(Rows)
def _(view, uniforms):
    return seed_rows(view.table, view.weights, uniforms)


@improve.register(Rows)
def _(view, labels, k, lloyd_passes):
    improve_rows(view.table, view.weights, labels, k, lloyd_passes, MOVE_PASSES)


@seeded.register(SeenRows)
def _(view, uniforms):
    return seed_seen(view.table, view.weights, view.seen, uniforms)


@improve.register(SeenRows)
def _(view, labels, k, lloyd_passes):
    improve_seen(view.table, view.weights, view.seen, labels, k, lloyd_passes, MOVE_PASSES)


@seeded.register(LevelRows)
def _(view, uniforms):
    if view.units.size == 0:
        return seed_rows(view.table, view.weights, uniforms)
    return seed_levels(view.table, view.weights, view.levels, view.units, view.center, view.n_levels, uniforms)


@improve.register(LevelRows)
def _(view, labels, k, lloyd_passes):
    table, weights, levels, units, center, n_levels = view
    if units.size == 0:
        improve_rows(table, weights, labels, k, lloyd_passes, MOVE_PASSES)
    else:
        improve_levels(table, weights, levels, units, center, n_levels, labels, k, lloyd_passes, MOVE_PASSES)
