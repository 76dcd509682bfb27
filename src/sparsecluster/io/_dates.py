"""Columns of dates in files: they are found in text of every format, unless the user or a model says which they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._data.dates import ASKED_FORMS, FEW_ODD, FORMS, Dates, find_dates, pattern_of
from .._utils.text import brief
from ._columns import shell, text_columns
from .cells import MISSING
from .limits import FileError

# The form of dates, by the column; None where all forms are tried.
Forms = Mapping[str, str | None]


class Known(NamedTuple):
    """What a model knows of the columns of a table.

    Attributes
    ----------
    names : frozenset of str
        Its columns, which are all features.
    forms : dict of str to (str or None)
        Those that held dates, and the form in which these were written, if that is known.
    """

    names: frozenset[str]
    forms: Forms


class Found(NamedTuple):
    """Columns of dates, with the form of each, and notes."""

    forms: dict[str, str]
    notes: list[str]


def asked_forms(entries: Sequence[str], check: Callable[[str], None], columns: Iterable[str]) -> Forms:
    """The columns of dates that the user names, as "born" or "born=DD/MM/YYYY"; the name of a column wins."""
    known, forms = {*columns}, dict[str, str | None]()
    for entry in entries:
        name, sign, form = entry.rpartition("=") if entry not in known else (entry, "", "")
        check(name if sign else entry)
        if sign:
            try:
                pattern_of(form)
            except ValueError as error:
                raise FileError(f"--dates {shell(name)}: {error}.") from None
        forms[name if sign else entry] = form.upper() if sign else None
    return forms


def find_in(frame: Any, asked: Forms, known: Known | None, skip: set[Any], file: str) -> Found:
    """Find the columns of dates in a data frame, or in a part of one.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    asked : dict of str to (str or None)
        The columns that hold dates for sure.
    known : Known or None
        What a model knows of the columns.
    skip : set of str
        Columns that are no features.
    file : str
        The name of the file.

    Returns
    -------
    Found
        The columns and the forms of their dates.
    """
    sure = {**(known.forms if known else {}), **asked}
    settled = known.names if known else frozenset()
    forms, notes = dict[str, str](), list[str]()
    text = {*text_columns(frame)}
    for name in frame.columns:
        if name in skip or (name not in sure and (name in settled or name not in text)):
            continue
        if name not in sure:
            found = find_dates(texts_of(frame[name]))
            note = None if found is None else doubt(name, found)
            notes += [note] if note else []
            if found is not None and note is None and not found.odd:
                forms[name] = found.form
        elif not is_dated(frame[name]):
            forms[name] = asked.get(name) or sure_form(frame[name], file, sure[name])
    if any(name not in sure for name in forms):
        shown = [f"{brief(name)} ({form})" for name, form in forms.items() if name not in sure]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        are = "Column" if len(shown) == 1 else "Columns"
        verb = "is read as dates" if len(shown) == 1 else "are read as dates"
        notes.append(f"{are} {', '.join(shown[:5])}{more} {verb}.")
    return Found(forms, notes)


def doubt(name: str, found: Dates) -> str | None:
    """A note on a column that is not read as dates, although it nearly could be."""
    if found.other is not None:
        return (
            f"Column {brief(name)} contains dates that may be {found.form} or {found.other}, so it is read as text. "
            f"Use --dates {shell(name)}={found.form} or --dates {shell(name)}={found.other}."
        )
    if found.odd and found.share_odd <= FEW_ODD:
        return (
            f"Column {brief(name)} contains dates ({found.form}), but also {', '.join(map(brief, found.odd))}, so it "
            "is read as text. Replace what is not a date by an empty cell to use the dates."
        )
    return None


def sure_form(column: Any, file: str, usual: str | None) -> str:
    """The form of the dates in a column that holds dates for sure; of two that fit, the one that a model knows."""
    values = texts_of(column)
    tried = dict.fromkeys([*FORMS, *ASKED_FORMS, *([usual] if usual else [])])
    found = find_dates(values, tuple(tried), are_sure=True)
    if found is None:
        return FORMS[0]
    if found.other is not None and usual:
        own = find_dates(values, (usual,), are_sure=True)
        if own is not None and not own.odd:
            return usual
    if found.other is not None:
        name = shell(str(column.name))
        raise FileError(
            f"{file}: the dates in column {brief(column.name)} may be {found.form} or {found.other}. Use --dates "
            f"{name}={found.form} or --dates {name}={found.other}."
        )
    return found.form


def converted(column: Any, form: str, file: str) -> Any:
    """A column as dates of a form; an error with the first values that are not."""
    import pandas as pd

    if is_dated(column):
        return column
    values = texts_of(column)
    found = find_dates(values, (form,), are_sure=True)
    if found is not None and found.odd:
        raise FileError(
            f"{file}: column {brief(column.name)} must hold dates ({form}); got {', '.join(map(brief, found.odd))}. "
            "Replace what is not a date by an empty cell, or give the form of the dates, as in --dates "
            f"{shell(str(column.name))}=DD/MM/YYYY."
        )
    times = np.full(len(values), "NaT", "datetime64[us]") if found is None else found.times
    return pd.Series(times, index=column.index, name=column.name)


def texts_of(column: Any) -> list[Any]:
    """The values of a column as text, dates and None for missing values."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return [None if each != each else f"{each:.0f}" if each == round(each) else str(each) for each in column]
    absent = {*MISSING}
    return [None if type(each) is str and (each in absent or not each.strip()) else each for each in column.tolist()]


def is_dated(column: Any) -> bool:
    """Whether a column holds dates by its type."""
    import pandas as pd

    return bool(pd.api.types.is_datetime64_any_dtype(column))
