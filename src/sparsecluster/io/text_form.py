"""The form of text tables: their delimiter, decimal sign and header are detected, and their rows are checked."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._utils.text import brief
from .cells import BLOCK_CELLS, MISSING
from .limits import TEXT_BYTE, TEXT_CELL, TEXT_ROW, TEXT_VALUE, TEXT_WORD, TEXT_WORDS, FileError
from .lines import Lines

# If several delimiters fit equally well, the first one is taken. The comma is last because it may be a decimal sign.
DELIMITERS = ("\t", ";", "|", ",")
# How people write delimiters that the command line cannot pass.
SPOKEN = {"\\t": "\t", "tab": "\t", "space": " "}
# Number of lines from which the form of a file is detected, and of characters if the lines are long.
LINES_LOOKED_AT, CHARACTERS_LOOKED_AT = 50, 2**20


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


def memory_for(lines: Lines, first: list[str], form: TextForm, is_whole: bool) -> int:
    """Return the memory that a table will need, from its number of values and the words in its first lines."""
    rows = _rows(first, form.delimiter)
    cells = [cell for row in rows[1:] or rows for cell in row]
    words = [cell for cell in cells if not is_number(cell.replace(form.decimal, "."))]
    n_rows, size = lines.counts[lines.end] + 1, lines.counts["all"]
    n_values = n_rows * max(map(len, rows)) if form.delimiter == " " else n_rows + lines.counts[form.delimiter]
    share = len(words) / max(1, len(cells))
    # A block of cells is parsed at a time, but at least one line.
    held = TEXT_BYTE * lines.longest + TEXT_CELL * min(n_values, max(BLOCK_CELLS, max(map(len, rows))))
    per_value = TEXT_VALUE * is_whole + TEXT_WORD * len(set(words)) / max(1, len(cells))
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
