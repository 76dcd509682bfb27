"""Long tables that are read in blocks of rows, with the rules of tables that are read as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._data.names import DefaultNames
from ._columns import Asked, Other, decide, others_of, refuse_nothing_left, text_columns
from ._dates import asked_forms
from ._shared import Frame, Options
from ._turned import hint
from .blocks import Blocks, Rest, together
from .cells import MOST_WHOLE
from .formats import MOST_AT_ONCE, opened_blocks
from .limits import memory_limit
from .sources import source_of
from .tables import checked_columns, ignore_name, known_columns, row_names, with_dates

if TYPE_CHECKING:
    from .models import SavedModel


class Stream(NamedTuple):
    """A long table that is read in blocks of rows, as returned by `read_blocks`.

    `words` has the features that are not numbers; `ids`, `names`, `notes`, `others`, `advice` and `forms` are those of
    a `Loaded` table.
    """

    ids: Sequence[str]
    names: Sequence[str]
    notes: list[str]
    blocks: Blocks
    places: Sequence[int]
    words: Frame
    others: tuple[Other, ...] = ()
    advice: Mapping[str, str] = {}
    forms: Mapping[str, str] = {}

    def frames(self) -> Iterator[Frame]:
        """Yield data frames with the next rows."""
        import pandas as pd

        first, columns = 0, [self.blocks.names[place] for place in self.places]
        for values in self.blocks.arrays(self.places):
            rows = slice(first, first + len(values))
            some = self.words.iloc[rows].reset_index(drop=True)
            yield together(pd.DataFrame(values, columns=columns, copy=False), some, self.names)
            first = rows.stop


@contextmanager
def read_blocks(
    source: str | Path,
    *,
    id_column: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    dates: tuple[str, ...] = (),
    options: Options | None = None,
    like: SavedModel | None = None,
) -> Iterator[Stream | None]:
    """Open a long table of a text, Parquet or NumPy file, to read it in blocks of rows.

    None stands for other files, short tables and options that need the whole table, which `read_table` reads.
    """
    options = options or Options()
    origin = source_of(source, memory_limit(options.max_memory))
    with opened_blocks(origin, options) as blocks:
        if blocks is None or blocks.n_rows <= MOST_AT_ONCE:
            yield None
            return
        rest, names = blocks.rest(), [str(each) for each in blocks.names]
        numbers = {names[place]: place for place in rest.places}
        asked = Asked(id_column, None, drop, keep, dates).among(names)
        if len(set(names)) < len(names) or id_column in numbers or not {*asked.drop} <= {*names} - {id_column}:
            # Whatever is unusual is told by `read_table`.
            yield None
            return
        known, notes = known_columns(like), list(blocks.notes)
        asked = checked_columns(asked, names, origin.name, known)
        dated = {*asked_forms(asked.dates, ignore_name, names), *(known.forms if known else ())}
        if dated & {*numbers}:
            yield None
            return
        forms = with_dates(rest.others, asked, known, origin.name, notes)
        yield _stream(blocks, rest, names, asked, forms, origin.name, notes)


def _stream(
    blocks: Blocks, rest: Rest, names: list[str], asked: Asked, forms: dict[str, str], file: str, notes: list[str]
) -> Stream | None:
    """The features of a table in blocks; None if none of them are numbers."""
    numbers, words = {names[place]: place for place in rest.places}, rest.others

    @cache
    def look(name: str) -> Any:
        return _column_of(blocks, numbers[name], name) if name in numbers else words[name]

    roles = decide(names, look, text_columns(words), asked)
    others = others_of(names, look, asked, roles)
    gone = {other.name for other in others}
    ids: Sequence[str] = DefaultNames(blocks.n_rows, "")
    if roles.id_column is not None:
        ids = row_names(look(roles.id_column), file)
    kept, places = [each for each in names if each not in gone], [numbers[each] for each in numbers if each not in gone]
    if not kept:
        refuse_nothing_left(file, roles)
    words = words[[each for each in words.columns if each not in gone]]
    for column in roles.categories:
        words = words.assign(**{column: words[column].astype("category")})
    if roles.id_column is not None and len(places) == len(kept):
        notes += hint(next(iter(blocks.arrays(places))), blocks.n_rows)
    told = [*notes, *roles.notes]
    advice = {column: said for column, said in roles.advice.items() if column in kept}
    return Stream(ids, kept, told, blocks, places, words, others, advice, forms) if places else None


def _column_of(blocks: Blocks, place: int, name: str) -> Any:
    """One column of numbers of a table in blocks; whole numbers as such, as in a table that is read as a whole."""
    import pandas as pd

    values = np.concatenate([block[:, 0] for block in blocks.arrays([place])])
    with np.errstate(invalid="ignore"):
        is_whole = bool((values == np.rint(values)).all()) and np.abs(values).max() <= MOST_WHOLE
    return pd.Series(values.astype(np.int64) if is_whole else values, name=name)
