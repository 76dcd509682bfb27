"""What the columns of a table in parts are: dates, names of rows, and what is no feature, decided by a few blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from .._blocks.collections import RefusedError
from ._columns import Asked, Other, Roles, decide, others_of, text_columns
from ._dates import Known, asked_forms, converted, find_in
from ._parts_shared import Opened
from .limits import FileError
from .tables import ignore_name

# The number of blocks in which dates are looked for.
BLOCKS_LOOKED_AT = 4


def first_block(opened: Opened) -> Callable[[str], Any]:
    """A function that returns the values of a column in the first block, which is read when it is first called."""
    read = cache(lambda: opened.read(opened.pieces[0]))
    return lambda name: read()[name]


def with_dates(
    opened: Opened, asked: Asked, known: Known | None, file: str, notes: list[str]
) -> tuple[Opened, dict[str, str]]:
    """The blocks with columns of dates, which are found in a few blocks, and the form of each."""
    skip = {asked.id_column, asked.truth, *asked.drop}
    sure = asked_forms(asked.dates, ignore_name, opened.meta.columns)
    text = [name for name in opened.meta.columns if opened.meta[name].dtype == object and name not in skip]
    dated = [name for name in opened.meta.columns if name in {*sure, *(known.forms if known else ())} - skip]
    looked = list(dict.fromkeys([*text, *dated]))
    if not looked:
        return opened, {}
    import pandas as pd

    step = max(1, len(opened.pieces) // BLOCKS_LOOKED_AT)
    some = [opened.read(piece, columns=looked) for piece in opened.pieces[::step][:BLOCKS_LOOKED_AT]]
    found = find_in(pd.concat(some, ignore_index=True), sure, known, skip, file)
    notes += found.notes
    if not found.forms:
        return opened, {}
    read = partial(read_dates, read=opened.read, forms=found.forms)
    meta = opened.meta.astype(dict.fromkeys(found.forms, "datetime64[us]"))
    check = partial(check_dates, check=opened.check, read=read, names=list(found.forms))
    return opened._replace(read=read, meta=meta, check=check), found.forms


def read_dates(
    piece: Any, columns: Sequence[str] | None = None, *, read: Callable[..., Any], forms: Mapping[str, str]
) -> Any:
    """Read a block with columns of dates."""
    frame = read(piece, columns=columns)
    for name, form in forms.items():
        if name in frame.columns:
            try:
                frame[name] = converted(frame[name], form, piece.file)
            except FileError as error:
                raise RefusedError(str(error)) from error
    return frame


def check_dates(piece: Any, *, check: Callable[..., None] | None, read: Callable[..., Any], names: list[str]) -> None:
    """Check a block, and its dates."""
    if check is not None:
        check(piece)
    read(piece, columns=names)


def with_roles(opened: Opened, asked: Asked, notes: list[str]) -> tuple[Opened, Roles, tuple[Other, ...]]:
    """The blocks with the categories that the user keeps, and what the columns are used for, by the first block."""
    names, look = list(map(str, opened.meta.columns)), first_block(opened)
    roles = decide(names, look, text_columns(opened.meta), asked)
    notes += roles.notes
    others = others_of(names, look, asked, roles, is_whole=False)
    if not roles.categories:
        return opened, roles, others
    kinds = dict.fromkeys(roles.categories, "category")
    read = partial(read_categories, read=opened.read, kinds=kinds)
    return opened._replace(read=read, meta=opened.meta.astype(kinds)), roles, others


def read_categories(
    piece: Any, columns: Sequence[str] | None = None, *, read: Callable[..., Any], kinds: dict[str, str]
) -> Any:
    """Read a block with columns of categories."""
    frame = read(piece, columns=columns)
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame.columns})
