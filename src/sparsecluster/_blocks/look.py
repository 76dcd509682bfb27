"""The first pass over a table in blocks: the extremes, missing values, levels and fingerprints of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.checks import LARGEST, refuse_columns
from .._data.content import Content, is_missing
from .._data.dates import Meaning
from .._data.kinds import Dissimilarity, SquaredEuclidean
from .._data.metric import kind_for, refuse_names
from .._kernels.order import column_fingerprints, mixed
from .._kernels.stored import stored_column_prints, stored_extremes
from .._utils.arrays import Floats, Table
from .._utils.text import brief
from .collections import block_contents, by_row, numbers_of, reduced
from .memory import cut, slices
from .sums import Counts, is_sparse

Prints = npt.NDArray[np.uint64]

# A column with more levels is refused: they are kept in memory.
MOST_LEVELS = 2**20


class Levels(NamedTuple):
    """The levels of a column and how often they occur; see `Content` for the other fields."""

    counts: Counter[Any]
    are_numbers: bool
    has_levels: bool
    is_text: bool
    order: tuple[Any, ...] | None


class Look(NamedTuple):
    """What is known of the columns after the first pass.

    Attributes
    ----------
    lengths : tuple of int
        The number of rows of each block.
    low, high : ndarray of shape (n_columns,)
        The smallest and the largest number of each column; NaN if there is none.
    seen, infinite : ndarray of shape (n_columns,)
        The number of observed numbers, and of infinite ones.
    prints : ndarray of shape (n_columns,)
        The fingerprints of the columns of numbers.
    levels : dict of int to Levels
        The levels of the other columns.
    meanings : dict of int to str
        What the numbers of columns stand for that are not just numbers.
    """

    lengths: tuple[int, ...]
    low: Floats
    high: Floats
    seen: Counts
    infinite: Counts
    prints: Prints
    levels: dict[int, Levels]
    meanings: Mapping[int, Meaning] = MappingProxyType({})

    @property
    def n_samples(self) -> int:
        """The number of rows of the table."""
        return sum(self.lengths)


def look(block: Any, names: Sequence[str], asked: Sequence[Any] | None, dtype: Any) -> Look:
    """Look at one block. If all columns are numbers, `asked` is None; else it has the metric of each column."""
    if asked is None:
        return of_numbers(by_row(block) if is_sparse(block) else numbers_of(block, dtype), {})
    columns = block_contents(block, names)
    table = np.full((len(block), len(names)), np.nan)
    levels = {}
    for a, content in enumerate(columns):
        if content.numbers is not None and not content.has_levels and asked[a] in ("auto", "sqeuclidean"):
            table[:, a] = content.numbers
        else:
            levels[a] = levels_of(content, names[a])
    # A block without any value does not say whether its dates have times of day.
    told = {a: each.meaning for a, each in enumerate(columns) if each.meaning != "numbers" and each.n_observed}
    return of_numbers(table, levels)._replace(meanings=told)


def levels_of(content: Content, name: str) -> Levels:
    """The levels of a column in one block."""
    values = content.values if content.numbers is None else (content.numbers + 0.0).tolist()
    assert values is not None
    counts = Counter({value: count for value, count in Counter(values).items() if not is_missing(value)})
    check_levels(counts, name)
    return Levels(counts, content.numbers is not None, content.has_levels, content.is_text, content.order)


def check_levels(counts: Counter[Any], name: str) -> None:
    """Refuse a column with too many levels to be kept in memory."""
    if len(counts) > MOST_LEVELS:
        raise ValueError(
            f"Column {brief(name)} has more than {MOST_LEVELS:,} different values that are not numbers, like names or "
            "identifiers, so it cannot tell clusters apart. Drop it."
        )


def of_numbers(table: Any, levels: dict[int, Levels]) -> Look:
    """What a block shows of its columns of numbers, dense or compressed by row."""
    n, p = table.shape
    if is_sparse(table):
        return of_stored(table)
    low, high = np.full(p, np.nan), np.full(p, np.nan)
    seen, infinite, prints = np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p, np.uint64)
    for rows in slices(n, p):
        part = cut(table, rows, None)
        np.fmin(low, np.fmin.reduce(part, axis=0), out=low)
        np.fmax(high, np.fmax.reduce(part, axis=0), out=high)
        seen += len(part) - np.isnan(part).sum(axis=0)
        if not np.isfinite(high - low).all():
            infinite += np.isinf(part).sum(axis=0)
        column_fingerprints(bits_of(part), mixed(np.zeros(len(part), np.uint64)), prints)
    return Look((n,), low, high, seen, infinite, prints, levels)


def of_stored(table: Any) -> Look:
    """The same for a block compressed by row, whose zeros are not stored."""
    n, p = table.shape
    low, high, infinite = stored_range(table)
    salts = mixed(np.zeros(n, np.uint64))
    prints = stored_column_prints(table.data.view(np.uint64), table.indices, table.indptr, salts, p)
    return Look((n,), low, high, np.full(p, n, np.int64), infinite, prints, {})


def stored_range(table: Any) -> tuple[Floats, Floats, Counts]:
    """The extremes of the columns of a table compressed by row, NaN without rows, and the number of infinite values."""
    n, p = table.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    stored, infinite = np.zeros(p, np.int64), np.zeros(p, np.int64)
    stored_extremes(table.data, table.indices, low, high, stored, infinite)
    has_zeros = stored < n
    np.minimum(low, 0.0, out=low, where=has_zeros)
    np.maximum(high, 0.0, out=high, where=has_zeros)
    return (low, high, infinite) if n else (np.full(p, np.nan), np.full(p, np.nan), infinite)


def bits_of(part: Table) -> Prints:
    """The bits of numbers, in which equal ones are equal: one pattern for all NaN, and 0.0 for -0.0."""
    values = np.asarray(part, dtype=np.float64) + 0.0
    # In place: a block may be large, and each of several threads has its own.
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def looks_joined(one: Look, other: Look, names: Sequence[str]) -> Look:
    """What two neighboring blocks show together."""
    levels = dict(one.levels)
    for a, found in other.levels.items():
        levels[a] = levels_joined(levels[a], found, names[a]) if a in levels else found
    with np.errstate(over="ignore"):
        prints = one.prints + other.prints
    return Look(
        one.lengths + other.lengths,
        np.fmin(one.low, other.low),
        np.fmax(one.high, other.high),
        one.seen + other.seen,
        one.infinite + other.infinite,
        prints,
        levels,
        # Dates are times if they have a time of day in some block.
        {
            a: max(each.meanings[a] for each in (one, other) if a in each.meanings)
            for a in {*one.meanings, *other.meanings}
        },
    )


def levels_joined(one: Levels, other: Levels, name: str) -> Levels:
    """The levels of a column in two blocks; a block without any level says nothing about the others."""
    if not one.counts or not other.counts:
        return one if one.counts else other
    if one.are_numbers != other.are_numbers:
        refuse_several_types(name)
    if one.order != other.order:
        raise ValueError(
            f"The order of the levels of column {brief(name)} is not the same in all blocks. Use the same ordered "
            "category everywhere."
        )
    counts = one.counts + other.counts
    check_levels(counts, name)
    return one._replace(counts=counts, is_text=one.is_text or other.is_text)


def refuse_several_types(name: str) -> None:
    """Refuse a column that holds numbers in some blocks and other values in others."""
    raise ValueError(
        f"Column {brief(name)} holds numbers in some blocks and other values in others. Convert it to one type, or "
        "drop it."
    )


def learned(found: Look, names: Sequence[str], asked: Sequence[Any] | None) -> list[Dissimilarity]:
    """The dissimilarity of every column, as `kind_for` learns it from a table in memory."""
    if asked is None:
        return [SquaredEuclidean()] * len(names)
    plain = SquaredEuclidean()
    kinds: list[Dissimilarity] = []
    for a, name in enumerate(names):
        levels, meaning = found.levels.get(a), found.meanings.get(a, "numbers")
        if levels is None or (not levels.counts and found.seen[a] > 0):
            kinds.append(plain if meaning == "numbers" else SquaredEuclidean(meaning))
            continue
        if found.seen[a] > 0:
            refuse_several_types(name)
        if levels.is_text and asked[a] == "auto":
            refuse_names(len(levels.counts), levels.counts.total(), name)
        values = list(levels.counts)
        content = Content(
            numbers=np.array(values, dtype=np.float64) if levels.are_numbers else None,
            values=None if levels.are_numbers else values,
            has_levels=levels.has_levels,
            order=levels.order,
            meaning=meaning,
        )
        kinds.append(kind_for(asked[a], content, name))
    return kinds


def check_numbers(found: Look, names: Sequence[str]) -> None:
    """Refuse infinite and very large numbers, naming their columns."""
    infinite = {a: f"{found.infinite[a]}" for a in np.flatnonzero(found.infinite).tolist()}
    refuse_columns(names, infinite, "infinity", "Replace it with finite numbers, or with NaN for missing values, or")
    with np.errstate(invalid="ignore"):
        most = np.fmax(np.abs(found.low), np.abs(found.high))
    large = {a: f"{most[a]:.3g}" for a in np.flatnonzero(most > LARGEST).tolist()}
    advice = "Divide these columns by a constant, use NaN if the number stands for a missing value, or"
    refuse_columns(names, large, f"numbers beyond {LARGEST:.0e}", advice)


def first_look(collection: Any, names: Sequence[str], asked: Sequence[Any] | None) -> Look:
    """Look at all blocks; one pass."""
    by = partial(look, names=names, asked=asked, dtype=collection.dtype)
    return reduced(collection, by, partial(looks_joined, names=names))
