"""Reading text tables: the delimiter, the header and the decimal sign are detected."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Floats
from .._utils.checks import listed
from .._utils.text import brief
from .blocks import Blocks, Rest, Take, frame_of
from .cells import BLOCK_CELLS, MISSING, Cells, NotNumbers
from .limits import TEXT_BYTE, TEXT_CELL, TEXT_ROW, TEXT_VALUE, TEXT_WORD, TEXT_WORDS, FileError
from .lines import Lines, lines_of
from .sources import Source

# If several delimiters fit equally well, the first one is taken. The comma is last because it may be a decimal sign.
DELIMITERS = ("\t", ";", "|", ",")
# How people write delimiters that the command line cannot pass.
SPOKEN = {"\\t": "\t", "tab": "\t", "space": " "}
# Number of lines from which the form of a file is detected, and of characters if the lines are long.
LINES_LOOKED_AT, CHARACTERS_LOOKED_AT = 50, 2**20
# Whole numbers that keep their digits.
WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class TextForm(NamedTuple):
    """How a text file is written.

    Attributes
    ----------
    delimiter : str
        Character between cells, or " " for any white space.
    decimal : str
        Decimal sign of numbers.
    has_header : bool
        Whether the first line contains the names of the columns.
    short_header : bool, default=False
        Whether the header has no name for the first column, as in files written by R.
    """

    delimiter: str
    decimal: str
    has_header: bool
    short_header: bool = False


# ---------------------------------------------------------------- characters and lines


def check_line_ends(lines: Lines, form: TextForm, name: str) -> None:
    """Refuse a carriage return that is neither in quotes nor at the end of a line: pandas would begin a new row."""
    if not lines.has_returns:
        return
    rows = csv.reader(lines, delimiter=form.delimiter, skipinitialspace=True)
    try:
        for _ in rows:
            pass
    except csv.Error as error:
        if "new-line character" not in str(error):
            raise
        raise FileError(
            f"{name}, line {rows.line_num}: there is a carriage return in the middle of the line. Remove it, or put "
            "the cell in quotes."
        ) from error


def first_lines(lines: Iterable[str]) -> list[str]:
    """Return the first lines that are not blank: a few, or more if they are short."""
    kept, seen = [], 0
    for line in lines:
        seen += len(line)
        if line.strip():
            # Carriage returns are looked at later, when it is known what is in quotes.
            kept.append(line.rstrip("\n").replace("\r", " "))
        if len(kept) >= LINES_LOOKED_AT or (len(kept) > 2 and seen > CHARACTERS_LOOKED_AT):
            break
    return kept


def memory_for(lines: Lines, first: list[str], form: TextForm) -> int:
    """Return the memory that a table will need, from its number of values and the words in its first lines."""
    rows = _rows(first, form.delimiter)
    cells = [cell for row in rows[1:] or rows for cell in row]
    words = [cell for cell in cells if not is_number(cell.replace(form.decimal, "."))]
    n_rows, size = lines.counts[lines.end] + 1, lines.counts["all"]
    n_values = n_rows * max(map(len, rows)) if form.delimiter == " " else n_rows + lines.counts[form.delimiter]
    share = len(words) / max(1, len(cells))
    # A block of cells is parsed at a time, but at least one line.
    held = TEXT_BYTE * lines.longest + TEXT_CELL * min(n_values, max(BLOCK_CELLS, max(map(len, rows))))
    per_value = TEXT_VALUE + TEXT_WORD * len(set(words)) / max(1, len(cells))
    return int(held + TEXT_WORDS * share * size + TEXT_ROW * n_rows + per_value * n_values)


# ---------------------------------------------------------------- the form


def form_of(lines: list[str], delimiter: str | None = None, decimal: str | None = None) -> TextForm:
    """Detect the delimiter, the decimal sign and the header from the first lines, unless they are given."""
    delimiter = delimiter or _delimiter(lines)
    rows = [[cell.strip() for cell in row] for row in _rows(lines, delimiter)]
    first, body = rows[0], rows[1:]
    if decimal is None:
        cells = [cell for row in body or rows for cell in row]
        commas = sum("," in cell and is_number(cell.replace(".", "").replace(",", ".")) for cell in cells)
        points = sum("." in cell and is_number(cell) for cell in cells)
        decimal = "," if delimiter != "," and commas > points else "."
    short = bool(body) and all(len(row) == len(first) + 1 for row in body)
    return TextForm(delimiter, decimal, short or _has_header(first, body, decimal), short)


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    if delimiter == " " and not any('"' in line for line in lines):
        return [line.split() for line in lines]
    return list(reader_of(lines, TextForm(delimiter, ".", False)))


def _has_header(first: list[str], body: list[list[str]], decimal: str) -> bool:
    """Whether the first line is a header: it has text above a column of numbers or, if there are none, any text."""

    # pandas names unnamed columns 0, 1, 2, ... and writes an empty name in front of them if there is an index.
    counted = [str(a) for a in range(len(first))]
    if len(first) > 2 and (first == counted or first == ["", *counted[:-1]]):
        return True

    def is_value(cell: str) -> bool:
        return cell in MISSING or is_number(cell.replace(decimal, "."))

    columns = [[row[a] for row in body if a < len(row)] for a in range(len(first))]
    numeric = [a for a, column in enumerate(columns) if column and all(map(is_value, column))]
    return any(not is_value(first[a]) for a in numeric) if numeric else not all(map(is_value, first))


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits the most lines into the same number of cells, if that is more than one."""

    def agreement(sign: str) -> float:
        # The module csv refuses long cells, which lines are by delimiters that they do not have.
        if not any(sign in line for line in lines):
            return 0.0
        counts = [len(row) for row in csv.reader(lines, delimiter=sign)]
        width, times = Counter(counts).most_common(1)[0]
        return times / len(counts) if width > 1 else 0.0

    best = max(DELIMITERS, key=agreement)
    if agreement(best) > 0:
        return best
    # Columns may also be separated by spaces.
    width, times = Counter(len(line.split()) for line in lines).most_common(1)[0]
    return " " if width > 1 and times > len(lines) / 2 else ","


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_widths(lines: Lines, form: TextForm, name: str) -> tuple[int, int, list[str]]:
    """Check that every row has as many cells as the first.

    Returns the number of rows, the number of cells in each, and a note on rows that have several lines.
    """
    width, first, long, last, n_rows = 0, 0, 0, 0, 0
    for number, cells in counted_rows(lines, form):
        # Blank lines are counted as rows without cells, so that a longer step means a row of several lines.
        begin, last = last + 1, number
        if not cells:
            continue
        n_rows += 1
        if not width:
            width = cells + form.short_header
        elif cells != width:
            where = f"line {number}" if begin == number else f"lines {begin} to {number}"
            hint = "" if begin == number else " A quotation mark may be missing."
            raise FileError(
                f"{name}, {where}: expected {width} cells but found {cells}. Every row must have one cell per "
                f"column.{hint}"
            )
        if begin < number:
            first, long = first or begin, long + 1
    rows = f"{long} rows have" if long > 1 else "1 row has"
    told = f"{rows} line breaks in quotes, from line {first} on. If this is a mistake, a quotation mark is missing."
    return n_rows, width, [told] if long else []


def counted_rows(lines: Lines, form: TextForm) -> Iterator[tuple[int, int]]:
    """Iterate over the rows with the number of their last line and the number of their cells, 0 for blank lines."""
    if lines.has_quotes:
        # Delimiters in quotes do not count, so the lines have to be parsed.
        reader = reader_of(lines, form)
        yield from ((reader.line_num, len(row)) for row in reader)
    elif form.delimiter == " ":
        yield from ((number, len(line.split())) for number, line in enumerate(lines, 1))
    else:
        for number, line in enumerate(lines, 1):
            yield number, line.count(form.delimiter) + 1 if not is_blank(line, form) else 0


def is_blank(line: str, form: TextForm) -> bool:
    """Whether a line has nothing but white space, but for delimiters, between which values may be missing."""
    return line.isspace() and (form.delimiter == " " or form.delimiter not in line)


def reader_of(lines: Iterable[str], form: TextForm) -> Any:
    """Return a reader of the module csv, which separates cells that may be in quotes."""
    if form.delimiter == " ":
        # Any white space may be between cells.
        lines = (line.strip().replace("\t", " ") + "\n" for line in lines)
    return csv.reader(lines, delimiter=form.delimiter, skipinitialspace=True)


# ---------------------------------------------------------------- the table


def text_frame(
    source: Source, encoding: str | None, delimiter: str | None, decimal: str | None
) -> tuple[Any, list[str]]:
    """Read a text table as a pandas data frame, with notes."""
    blocks = text_blocks(source, encoding, delimiter, decimal)
    with telling(source.name):
        return frame_of(blocks), blocks.notes


def text_blocks(source: Source, encoding: str | None, delimiter: str | None, decimal: str | None) -> TextBlocks:
    """Look at a text table, to read it in blocks of rows."""
    name, sign = source.name, checked_signs(delimiter, decimal)
    lines = lines_of(source, encoding, sign)
    with telling(name):
        first = first_lines(lines)
        form = form_of(first, sign, decimal)
        source.check(memory_for(lines, first, form), "Leave out columns, or use another format such as Parquet")
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
            except NotNumbers as found:
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
            except NotNumbers as found:
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


def checked_signs(delimiter: str | None, decimal: str | None) -> str | None:
    """Return the delimiter after a check that both signs can be used."""
    sign = SPOKEN.get(delimiter, delimiter) if delimiter else None
    for option, given in (("--delimiter", sign), ("--decimal", decimal)):
        if given and (len(given) != 1 or given in '"\r\n' or given.isalnum() or ord(given) > 127):
            raise FileError(f"{option} must be a single sign that is neither a letter, a digit nor a quotation mark; "
                            f"got {brief(given)}.")  # fmt: skip
    if sign and sign == decimal:
        raise FileError(f"--delimiter and --decimal must be different signs; both are {brief(sign)}.")
    return sign


def names_of(lines: Lines, form: TextForm, width: int) -> tuple[list[str], list[str]]:
    """Return the names of the columns as pandas reads them from the header, and notes."""
    import pandas as pd

    if not form.has_header:
        return [f"x{a}" for a in range(width)], []
    header = next(row for row in reader_of(lines, form) if any(map(str.strip, row)) or len(row) > 1)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(header)
    names = list(pd.read_csv(io.BytesIO(text.getvalue().encode()), nrows=0).columns)
    if form.short_header:
        # pandas would make the first column the index, and name it when it becomes a column again.
        names.insert(0, "level_0" if "index" in names else "index")
    return names, repeated(header) + controls_in(names)


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
