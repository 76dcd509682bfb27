"""What compiled climbs know about each kind of data: the scores of the features, and the samples by some of them.

Each kind is a named tuple of arrays. The last ones of a kind may belong to the labels that were scored last, with sums
that are exact, and follow the labels from call to call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Labels, Mask, Subset, Table
from ._jit import by_kind
from .counts import level_scores, numbered_levels
from .manhattan import distance_within, sum_distances
from .missing import seen_scores
from .objective import between_scores
from .select import take_columns
from .sums import updated_scores
from .triangles import add_triangles, table_within, unfold
from .views import LevelRows, Pairs, Rows, SeenRows, SummedPairs


class Numbers(NamedTuple):
    """A table with exact sums; see `updated_scores`."""

    table: Table
    total: Floats
    of_all: Floats
    old: Labels
    sums: Floats


class Incomplete(NamedTuple):
    """A table with missing values; see `seen_scores`. `part` multiplies the scores."""

    table: Floats
    seen: Mask
    total: Floats
    part: Floats


class Categories(NamedTuple):
    """Columns, of which `part` multiplies the scores, beside categories, of which `shares` do; see `level_scores`.

    Feature a is a category if is_coded[a], and places[a] is its place among those of its kind.
    """

    table: Floats
    total: Floats
    part: Floats
    is_coded: npt.NDArray[np.bool_]
    places: Subset
    units: Floats
    shares: Floats
    codes: npt.NDArray[np.int32]
    starts: Subset
    one: Floats
    observed: Floats
    old: Labels
    counts: npt.NDArray[np.int64]
    squares: npt.NDArray[np.int64]
    known: npt.NDArray[np.int64]


class Distances(NamedTuple):
    """Numbers without missing values whose dissimilarity is |x - y|; see `distance_within`."""

    table: Floats
    total: Floats
    shares: Floats
    values: Floats
    order: Labels
    counts: Subset


class Triangular(NamedTuple):
    """Matrices of dissimilarities, as in the kernels of `triangles`; `old` and `sums` are those of `table_within`.

    A matrix counts as much as `weights` says, after which its entries are rounded by `anchor`; see `add_triangles`.
    """

    values: Floats
    table: npt.NDArray[np.int64]
    units: Floats
    whole: Floats
    shares: Floats
    weights: Floats
    anchor: float
    old: Labels
    sums: npt.NDArray[np.int64]


@by_kind
def scores_of(data, labels, k):
    """Scores 1 - Delta_a[C] / T_a of all features, of shape (n_features,): step 2 of Algorithm 1."""


@by_kind
def empty_view(data, size):
    """What `view_of` needs before anything is seen, for subsets of `size` features."""


@by_kind
def view_of(data, held, places, view):
    """The samples by the features `held`, where those in some places differ from the ones of the earlier view."""


@scores_of.register(Numbers)
def _(data, labels, k):
    return updated_scores(data.table, data.total, data.of_all, labels, data.old, data.sums)


@empty_view.register(Numbers)
def _(data, size):
    n, p = data.table.shape
    return Rows(data.table if size == p else np.empty((n, size), data.table.dtype), np.ones(size))


@view_of.register(Numbers)
def _(data, held, places, view):
    table, rows = data.table, view.table
    # All columns need no copy.
    for i in range(table.shape[0] if held.size < table.shape[1] else 0):
        for j in places:
            rows[i, j] = table[i, held[j]]
    return view


@scores_of.register(Incomplete)
def _(data, labels, k):
    scores = seen_scores(data.table, data.seen, data.total, labels, k)
    for a in range(scores.size):
        scores[a] *= data.part[a]
    return scores


@empty_view.register(Incomplete)
def _(data, size):
    n = data.table.shape[0]
    return SeenRows(np.empty((n, size)), np.ones(size), np.empty((n, size), np.uint8))


@view_of.register(Incomplete)
def _(data, held, places, view):
    for i in range(data.table.shape[0]):
        for j in places:
            view.table[i, j] = data.table[i, held[j]]
            view.seen[i, j] = data.seen[i, held[j]]
    return view


@scores_of.register(Categories)
def _(data, labels, k):
    by_column = between_scores(data.table, data.total, labels, k)
    sums = data.old, data.counts, data.squares, data.known
    by_code = level_scores(data.codes, data.starts, data.one, data.observed, labels, *sums)
    scores = np.empty(data.places.size)
    for a in range(scores.size):
        j = data.places[a]
        scores[a] = by_code[j] * data.shares[j] if data.is_coded[a] else by_column[j] * data.part[j]
    return scores


@empty_view.register(Categories)
def _(data, size):
    n = data.table.shape[0]
    return LevelRows(np.empty((n, 0)), np.empty(0), np.empty((n, 0), np.uint32), np.empty(0), 0.0, 0)


@view_of.register(Categories)
def _(data, held, places, view):
    plain, coded = np.empty(held.size, np.intp), np.empty(held.size, np.intp)
    firsts, units = np.empty(held.size, np.intp), np.empty(held.size)
    width, count, n_levels, center = 0, 0, 0, 0.0
    for a in np.sort(held):
        j = data.places[a]
        if data.is_coded[a]:
            coded[count], firsts[count], units[count] = j, n_levels, data.units[j]
            n_levels += data.starts[j + 1] - data.starts[j]
            center += data.units[j] * data.one[j] / 2.0
            count += 1
        else:
            plain[width] = j
            width += 1
    levels = numbered_levels(data.codes, coded[:count], firsts[:count])
    return LevelRows(
        take_columns(data.table, plain[:width]), np.ones(width), levels, units[:count], center, np.int64(n_levels)
    )


@scores_of.register(Distances)
def _(data, labels, k):
    scores = distance_within(data.values, data.order, data.counts, labels, k)
    for a in range(scores.size):
        scores[a] = data.shares[a] * max(1.0 - scores[a] / data.total[a], 0.0)
    return scores


@empty_view.register(Distances)
def _(data, size):
    return Pairs(np.empty((0, 0)))


@view_of.register(Distances)
def _(data, held, places, view):
    # In ascending order: with ties, sums in another order could lead to other clusters.
    similarity = sum_distances(take_columns(data.table, np.sort(held)))
    for i in range(similarity.shape[0]):
        for j in range(similarity.shape[1]):
            similarity[i, j] *= -0.5
    return Pairs(similarity)


@scores_of.register(Triangular)
def _(data, labels, k):
    scores = table_within(data.table, data.units, labels, data.old, data.sums)
    for a in range(scores.size):
        scores[a] = data.shares[a] * min(max(1.0 - scores[a] / data.whole[a], 0.0), 1.0)
    return scores


@empty_view.register(Triangular)
def _(data, size):
    n, (n_pairs, p) = data.old.size, data.table.shape
    return SummedPairs(np.empty((n, n)), np.zeros(n_pairs), np.zeros(p, np.bool_))


@view_of.register(Triangular)
def _(data, held, places, view):
    p = view.is_counted.size
    is_held, changed, weights = np.zeros(p, np.bool_), np.empty(p, np.intp), np.empty(p)
    for a in held:
        is_held[a] = True
    count = 0
    for a in range(p):
        count += is_held[a] != view.is_counted[a]
    # The sums are exact, whatever they come from.
    if count > held.size:
        for t in range(view.total.size):
            view.total[t] = 0.0
        for a in range(p):
            view.is_counted[a] = False
    count = 0
    for a in range(p):
        if is_held[a] != view.is_counted[a]:
            changed[count], weights[count] = a, data.weights[a] if is_held[a] else -data.weights[a]
            view.is_counted[a] = is_held[a]
            count += 1
    add_triangles(data.values, changed[:count], weights[:count], data.anchor, view.total)
    unfold(view.total, -0.5, view.similarity)
    return view
