"""Tables with features in rows: reading them as they are meant, and telling that a table looks like one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._utils.checks import listed
from .._utils.text import brief
from ._columns import WHY, Asked, Other, columns_named, is_text, numbers_rows, other_of
from ._shared import Frame
from .limits import FileError
from .text import distinct, numbers_of
from .text_form import is_number

NAMES_OF_FEATURES = "It contains the names of the features."
BESIDE = "It is text beside the values of the samples."
NUMBERING = "Its name and its values are those of an identifier."
# A table may have its features in rows if it has so many rows, and so many times as many rows as columns.
LEAST_ROWS, LEAST_RATIO, LEAST_COLUMNS = 1000, 10, 4
# The number of rows that are compared, the largest ratio of two spreads, and the least correlation of two columns.
ROWS_COMPARED, MOST_RATIO, LEAST_CORRELATION = 2000, 5.0, 0.5
# Up to so many words, or this share of them, among the numbers of a column are mistakes in it. More make it text, such
# as the names of chromosomes, most of which are numbers.
MOST_MISTAKES, SHARE_OF_MISTAKES = 1, 0.01


def turned(frame: Frame, asked: Asked, name: str, notes: list[str]) -> tuple[Frame, list[Other]]:
    """Transpose a table that has features in rows; columns of text beside the values are left out."""
    columns = list(frame.columns)
    place = {column: at for at, column in enumerate(columns)}
    others = [other_of(frame[each], "left out", WHY["drop"], place[each]) for each in asked.drop if each in place]
    id_column = asked.id_column
    if id_column is None and columns[0] not in {*asked.drop, *asked.keep} and len(columns) > 1:
        first = frame[columns[0]]
        if (is_text(first) and not holds_numbers(first)) or numbers_rows(
            columns[0], first_column=True, values=lambda _: first
        ):
            id_column = columns[0]
            notes.append(f"Column {brief(id_column)} contains the names of the features.")
    beside, numbering = [], []
    settled = {id_column, *asked.drop, *asked.keep}
    for column in columns:
        if column in settled:
            continue
        if is_text(frame[column]) and is_beside(frame[column]):
            beside.append(column)
        elif numbers_rows(column, first_column=False, values=lambda each: frame[each]):
            numbering.append(column)
    for found, why, what in ((beside, BESIDE, "text"), (numbering, NUMBERING, "identifiers")):
        others += [other_of(frame[each], "left out", why, place[each]) for each in found]
        if found:
            verb, are = ("contains", "it is") if len(found) == 1 else ("contain", "they are")
            notes.append(f"{columns_named(found)} {verb} {what} instead of values of a sample, so {are} left out.")
    features = [str(row) for row in range(len(frame))]
    if id_column is not None:
        others.append(other_of(frame[id_column], "id", NAMES_OF_FEATURES, place[id_column]))
        features = feature_names(frame[id_column], name, notes)
    gone = {other.name for other in others}
    kept = [each for each in columns if each not in gone]
    if not kept:
        raise FileError(f"{name}: with --transpose, no columns of samples are left. Leave out fewer columns.")
    numbers = frame[kept].apply(lambda column: as_numbers(column, name))
    notes.append(f"The table is transposed: {len(features)} rows are features, {len(kept)} columns are samples.")
    made = numbers.T
    made.columns = features
    return made, sorted(others, key=lambda other: other.place)


def feature_names(column: Any, name: str, notes: list[str]) -> list[str]:
    """The names of the features; numbers are appended to those that are repeated."""
    missing = int(column.isna().sum())
    if missing:
        raise FileError(
            f"{name}: column {brief(column.name)} must have the name of a feature in every row; {missing} of "
            f"{len(column)} are missing."
        )
    names = [str(each) for each in column]
    twice = [each for each, count in Counter(names).items() if count > 1]
    if twice:
        is_one = len(twice) == 1
        notes.append(
            f"The feature name{'' if is_one else 's'} {listed(twice)} {'is' if is_one else 'are'} repeated, so numbers "
            f"were appended to {'it' if is_one else 'them'}."
        )
    return distinct(names)


def holds_numbers(column: Any) -> bool:
    """Whether text is numbers only."""
    return numbers_of(column) is not None


def is_beside(column: Any) -> bool:
    """Whether a column of text is not meant to hold numbers."""
    known = [str(each) for each in column.dropna()]
    return sum(not is_number(each) for each in known) > max(MOST_MISTAKES, SHARE_OF_MISTAKES * len(known))


def as_numbers(column: Any, name: str) -> Any:
    """A column of values of one sample as numbers."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column
    if column.isna().all():
        return column.astype(float)
    numbers = numbers_of(column)
    if numbers is None:
        raise FileError(
            f"{name}: with --transpose, all values must be numbers, but column {brief(column.name)} contains text. If "
            "these are the names of the features, set this column with --id; otherwise, leave it out with --drop."
        )
    return numbers


# ---------------------------------------------------------------- a table that may have to be transposed


def hint(values: Any, n_rows: int) -> list[str]:
    """A note if a table with named rows looks as if its features were in rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Its numbers, or those of the first rows.
    n_rows : int
        The number of its rows.

    Returns
    -------
    list of str
        The note, if there is one.
    """
    n_columns = values.shape[1]
    if not is_tall((n_rows, n_columns)) or not are_alike(values):
        return []
    return [
        f"The table has {n_rows:,} rows and {n_columns:,} columns, and all columns have similar numbers, as if the "
        "rows were features. If the rows are features (such as genes) and the columns are samples, use --transpose."
    ]


def is_tall(shape: tuple[int, int]) -> bool:
    """Whether a table has so many more rows than columns that its rows may be features."""
    n_rows, n_columns = shape
    return n_rows >= max(LEAST_ROWS, LEAST_RATIO * n_columns) and n_columns >= LEAST_COLUMNS


def are_alike(values: Any) -> bool:
    """Whether all columns are on one scale and rise and fall together, as measurements of the same features do."""
    step = max(1, len(values) // ROWS_COMPARED)
    some = np.asarray(values[::step], dtype=np.float64)
    some = some[np.isfinite(some).all(axis=1)]
    if len(some) < LEAST_ROWS // 10:
        return False
    ranks = np.argsort(np.argsort(some, axis=0), axis=0).astype(np.float64)
    low, middle, high = np.quantile(some, [0.1, 0.5, 0.9], axis=0)
    spread = high - low
    if not spread.min() > 0 or spread.max() > MOST_RATIO * spread.min():
        return False
    is_near = (middle <= high.min()).all() and (middle >= low.max()).all()
    related = np.asarray(np.corrcoef(ranks, rowvar=False))[np.triu_indices(some.shape[1], 1)]
    return bool(is_near and np.median(related) >= LEAST_CORRELATION)
