"""Reading text tables, in blocks of rows or as a whole."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._utils.arrays import Floats
from .._utils.checks import listed
from .blocks import Blocks, Rest, Take, frame_of
from .cells import MISSING, Cells, NotNumbersError
from .limits import FileError
from .lines import Lines, lines_of
from .sources import Source
from .text_form import (
    TextForm,
    check_line_ends,
    check_widths,
    checked_signs,
    first_lines,
    form_of,
    is_blank,
    is_number,
    memory_for,
    reader_of,
)

# Whole numbers that keep their digits.
WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def text_frame(
    source: Source, encoding: str | None, delimiter: str | None, decimal: str | None
) -> tuple[Any, list[str]]:
    """Read a text table as a pandas data frame, with notes."""
    blocks = text_blocks(source, encoding, delimiter, decimal)
    with telling(source.name):
        return frame_of(blocks), blocks.notes


def text_blocks(
    source: Source, encoding: str | None, delimiter: str | None, decimal: str | None, is_whole: bool = True
) -> TextBlocks:
    """Look at a text table, to read it in blocks of rows, all of which are kept in memory if it is read as a whole."""
    name, sign = source.name, checked_signs(delimiter, decimal)
    lines = lines_of(source, encoding, sign)
    with telling(name):
        first = first_lines(lines)
        form = form_of(first, sign, decimal)
        source.check(
            memory_for(lines, first, form, is_whole), "Leave out columns, or use another format such as Parquet"
        )
        check_line_ends(lines, form, name)
        n_rows, width, notes = check_widths(lines, form, name)
        names, told = names_of(lines, form, width)
    return TextBlocks(lines, form, names, n_rows - form.has_header, [*notes, *told])


@contextmanager
def telling(name: str) -> Iterator[None]:
    """Turn errors of pandas and of the module csv into errors that name the file."""
    import pandas as pd

    try:
        yield
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        reason = next((said for part, said in IN_WORDS.items() if part in str(error)), str(error).strip())
        raise FileError(f"{name} cannot be read as a table: {reason}") from error


class TextBlocks(Blocks):
    """A text table in blocks of rows. Columns of words are read as a whole, because all cells decide on their type."""

    def __init__(self, lines: Lines, form: TextForm, names: list[str], n_rows: int, notes: list[str]) -> None:
        super().__init__(names, n_rows, notes)
        self.lines, self.form = lines, form
        quoted = lines.has_quotes
        self.cells = Cells(self._rows, None if quoted else form.delimiter, form.decimal, n_rows, len(names))

    def _rows(self) -> Iterator[Any]:
        """Yield the rows below the header: lines, or lists of cells if there are quotation marks."""
        if self.lines.has_quotes:
            rows: Iterator[Any] = quoted_rows(self.lines, self.form)
        else:
            rows = (line.rstrip("\n") for line in self.lines if not is_blank(line, self.form))
        return itertools.islice(rows, int(self.form.has_header), None)

    def arrays(self, places: Sequence[int]) -> Iterator[Floats]:
        return (self.cells.numbers(block, places) for block in self.cells.blocks())

    def read(self, start: Callable[[Sequence[int]], Take]) -> Rest:
        words: set[int] = set()
        for attempt in itertools.count():
            try:
                return self._read(start, words)
            except NotNumbersError as found:
                words |= found.places
                # The first block tells most columns of words. If it did not tell all, the others are looked for.
                if attempt:
                    words |= self._all_words(words)
        raise AssertionError

    def _read(self, start: Callable[[Sequence[int]], Take], words: set[int]) -> Rest:
        cells, others = self.cells, sorted(words)
        places = [a for a in range(cells.n_columns) if a not in words]
        take, whole, text = start(places), np.ones(len(places), bool), io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        n_rows = 0
        for block in cells.blocks():
            values = cells.numbers(block, places)
            whole = cells.whole(block, values, places, whole)
            n_rows += len(block)
            if n_rows <= self.n_rows:
                take(values)
            cells.words(block, others, writer)
        if n_rows != self.n_rows:
            raise FileError("The file was changed while it was read. Read it again.")
        names = [self.names[a] for a in others]
        return Rest(places, whole, words_frame(text.getvalue(), names, self.form.decimal))

    def _all_words(self, known: set[int]) -> set[int]:
        words = set(known)
        for block in self.cells.blocks():
            places = [a for a in range(self.cells.n_columns) if a not in words]
            try:
                self.cells.whole(block, self.cells.numbers(block, places), places, np.ones(len(places), bool))
            except NotNumbersError as found:
                words |= found.places
        return words


def quoted_rows(lines: Lines, form: TextForm) -> Iterator[list[str]]:
    """Yield the cells of all rows of a text with quotation marks, and raise an error if one is not closed."""
    # A last line of our own is a row of its own only if no quotation mark is open before it.
    reader, last = reader_of(itertools.chain(map(ended, lines), ["end"]), form), None
    for row in reader:
        if last:
            yield last
        last = row
    if last != ["end"]:
        raise csv.Error("EOF inside string")


def ended(line: str) -> str:
    """Return a line with a line break at its end."""
    return line if line.endswith("\n") else line + "\n"


def words_frame(text: str, names: list[str], decimal: str) -> Any:
    """Return columns that are not all numbers, given as CSV, as a data frame."""
    import pandas as pd

    if not names:
        return pd.DataFrame()
    frame = pd.read_csv(
        io.BytesIO(text.encode()),
        header=None,
        decimal=decimal,
        na_values=list(MISSING),
        keep_default_na=False,
        low_memory=False,
        skipinitialspace=True,
        float_precision="round_trip",
    )
    frame.columns = names
    return tidied(frame, decimal)


# What errors of pandas and of the module csv mean.
IN_WORDS = {
    "EOF inside string": "a quotation mark is opened but never closed.",
    "field larger than field limit": "a cell has more than 131,072 characters. Perhaps a quotation mark is missing.",
}


def names_of(lines: Lines, form: TextForm, width: int) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and notes on them."""
    if not form.has_header:
        return [f"x{a}" for a in range(width)], []
    header = next(row for row in reader_of(lines, form) if any(map(str.strip, row)) or len(row) > 1)
    names = distinct(header)
    if form.short_header:
        # pandas would make the first column the index, and name it when it becomes a column again.
        names.insert(0, "level_0" if "index" in names else "index")
    return names, repeated(header) + controls_in(names)


def distinct(header: Sequence[str]) -> list[str]:
    """Return the names in a header as pandas makes them different, in a time that does not grow with their square.

    >>> distinct(["a", "", "a", "a.1", "a"])
    ['a', 'Unnamed: 1', 'a.2', 'a.1', 'a.3']
    """
    names = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    taken, counts = Counter(names), Counter[str]()
    # The names that were given come first, so that those that were not are the ones to change.
    for place in sorted(range(len(names)), key=lambda place: not header[place]):
        name = old = names[place]
        count = counts[name]
        while count > 0:
            counts[old] = count + 1
            name = f"{old}.{count}"
            count = count + 1 if taken[name] else counts[name]
        taken[old] -= 1
        taken[name] += 1
        names[place] = name
        counts[name] = count + 1
    return names


def repeated(names: Iterable[str]) -> list[str]:
    """Return a note on column names that occur more than once, which pandas makes different."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    return [f"These column names are repeated, so numbers were appended to them: {listed(twice)}."] if twice else []


def controls_in(names: Iterable[object]) -> list[str]:
    """Return a note on column names with characters that cannot be seen."""
    odd = [name for name in map(str, names) if CONTROLS.search(name)]
    return [f"These column names contain line breaks or other control characters: {listed(odd)}."] if odd else []


def tidied(frame: Any, decimal: str = ".") -> Any:
    """Remove spaces around text, and convert columns in which only numbers are left."""
    import pandas as pd

    for column in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        values = frame[column]
        if not values.map(lambda each: isinstance(each, str) or each != each or each is None).all():
            continue
        words = values.map(lambda each: each.strip() if isinstance(each, str) else each)
        words = words.where(~words.isin(list(MISSING)))
        numbers = numbers_of(words, decimal)
        frame[column] = words if numbers is None else numbers
    return frame


def numbers_of(words: Any, decimal: str = ".") -> Any:
    """Return a column of text and missing values as numbers; None if some are no numbers or all are missing.

    This is done without `pandas.to_numeric`, which crashes on exponents of many digits. Numbers that are too large are
    infinite, and refused by name later.
    """
    known = words.dropna()
    if not known.map(lambda word: isinstance(word, str | float | int)).all():
        return None
    different = {word: str(word).replace(decimal, ".") for word in known.unique()}
    if not different or not all("_" not in word and is_number(word) for word in different.values()):
        return None
    is_whole = not words.isna().any() and all(WHOLE.fullmatch(word) for word in different.values())
    return words.map({word: (int if is_whole else float)(plain) for word, plain in different.items()})
