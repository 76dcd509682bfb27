"""Reading text tables: the delimiter, the header and the decimal sign are detected."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._utils.checks import listed
from .._utils.text import brief
from .limits import TEXT_BYTE, TEXT_ROW, TEXT_VALUE, TEXT_WORD, FileError
from .sources import Source

# If several delimiters fit equally well, the first one is taken. The comma is last because it may be a decimal sign.
DELIMITERS = ("\t", ";", "|", ",")
# How people write delimiters that the command line cannot pass.
SPOKEN = {"\\t": "\t", "tab": "\t", "space": " "}
# Number of lines from which the form of a file is detected, and of characters if the lines are long.
LINES_LOOKED_AT, CHARACTERS_LOOKED_AT = 50, 2**20
# Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", ".")
# Marks at the beginning of a file that tell its encoding. That of UTF-32 begins with that of UTF-16.
MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
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


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    """Return the content as text, or raise an error if it is not text."""
    used = encoding or next((word for mark, word in MARKS.items() if content.startswith(mark)), "utf-8")
    if used == "utf-8" and b"\0" in content:
        # In UTF-16, every second byte of plain English is zero.
        advice = ", or set --encoding utf-16-le" if content.count(0) > len(content) // 4 else ""
        raise FileError(
            f"{name} is not a text file: it contains zero bytes. Check that its extension matches its format{advice}."
        )
    try:
        text = content.decode(used).lstrip("\ufeff")
    except (ValueError, LookupError) as error:
        place = f" in line {content.count(10, 0, error.start) + 1}" if isinstance(error, UnicodeDecodeError) else ""
        raise FileError(
            f"{name} cannot be decoded as {encoding or used.upper()}{place} ({error}). Set the right encoding with "
            "--encoding, such as latin-1 or cp1252."
        ) from error
    if not text.strip():
        raise FileError(f"{name} is empty.")
    if "\0" in text:
        raise FileError(f"{name} is not a text file in {used}: it contains zero characters. Check --encoding.")
    return text


def with_plain_line_ends(text: str) -> str:
    """Return the text with the line ends of Windows, or of old Macs if there are no others, replaced."""
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def check_line_ends(text: str, form: TextForm, name: str) -> None:
    """Refuse a carriage return that is neither in quotes nor at the end of a line: pandas would begin a new row."""
    if "\r" not in text:
        return
    rows = csv.reader(io.StringIO(text, newline="\n"), delimiter=form.delimiter, skipinitialspace=True)
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


def first_lines(text: str) -> list[str]:
    """Return the first lines that are not blank: a few, or more if they are short."""
    lines, seen = [], 0
    for line in io.StringIO(text, newline="\n"):
        seen += len(line)
        if line.strip():
            # Carriage returns are looked at later, when it is known what is in quotes.
            lines.append(line.rstrip("\n").replace("\r", " "))
        if len(lines) >= LINES_LOOKED_AT or (len(lines) > 2 and seen > CHARACTERS_LOOKED_AT):
            break
    return lines


def memory_for(text: str, lines: list[str], form: TextForm) -> int:
    """Return the memory that a table will need, from its number of values and the words in its first lines."""
    rows = _rows(lines, form.delimiter)
    cells = [cell for row in rows[1:] or rows for cell in row]
    words = {cell for cell in cells if not is_number(cell.replace(form.decimal, "."))}
    n_rows = text.count("\n") + 1
    n_values = n_rows * max(map(len, rows)) if form.delimiter == " " else n_rows + text.count(form.delimiter)
    per_value = TEXT_VALUE + TEXT_WORD * len(words) / max(1, len(cells))
    return int(TEXT_BYTE * len(text) + TEXT_ROW * n_rows + per_value * n_values)


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
    if delimiter == " ":
        return [line.split() for line in lines]
    return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))


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


def check_widths(text: str, form: TextForm, name: str) -> list[str]:
    """Check that every row has as many cells as the first, and return a note on rows that have several lines."""
    width, first, long, last = 0, 0, 0, 0
    for number, cells in counted_rows(text, form):
        # Blank lines are counted as rows without cells, so that a longer step means a row of several lines.
        begin, last = last + 1, number
        if not cells:
            continue
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
    return [told] if long else []


def counted_rows(text: str, form: TextForm) -> Iterator[tuple[int, int]]:
    """Iterate over the rows with the number of their last line and the number of their cells, 0 for blank lines."""
    lines = io.StringIO(text, newline="\n")
    if form.delimiter == " ":
        yield from ((number, len(line.split())) for number, line in enumerate(lines, 1))
    elif '"' in text:
        # Delimiters in quotes do not count, so the lines have to be parsed.
        reader = csv.reader(lines, delimiter=form.delimiter, skipinitialspace=True)
        yield from ((reader.line_num, len(row)) for row in reader)
    else:
        for number, line in enumerate(lines, 1):
            yield number, line.count(form.delimiter) + 1 if line.strip() else 0


# ---------------------------------------------------------------- the table


def text_frame(
    source: Source, encoding: str | None, delimiter: str | None, decimal: str | None
) -> tuple[Any, list[str]]:
    """Read a text table as a pandas data frame, with notes."""
    import pandas as pd

    name, sign = source.name, checked_signs(delimiter, decimal)
    text = with_plain_line_ends(decoded(source.read(TEXT_BYTE), name, encoding))
    try:
        lines = first_lines(text)
        form = form_of(lines, sign, decimal)
        source.check(memory_for(text, lines, form), "Leave out columns, or use another format such as Parquet")
        check_line_ends(text, form, name)
        notes = check_widths(text, form, name)
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if form.delimiter == " " else form.delimiter,
            decimal=form.decimal,
            header=0 if form.has_header else None,
            na_values=list(MISSING),
            keep_default_na=False,
            low_memory=False,
            skipinitialspace=True,
            float_precision="round_trip",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        reason = next((said for part, said in IN_WORDS.items() if part in str(error)), str(error).strip())
        raise FileError(f"{name} cannot be read as a table: {reason}") from error
    if form.short_header:
        frame = frame.reset_index()
    if not form.has_header:
        frame.columns = [f"x{a}" for a in range(frame.shape[1])]
    else:
        notes += repeated(header_of(text, form)) + controls_in(frame.columns)
    return tidied(frame, form.decimal), notes


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


def header_of(text: str, form: TextForm) -> list[str]:
    """Return the cells of the first row."""
    lines = itertools.dropwhile(lambda line: not line.strip(), io.StringIO(text, newline="\n"))
    if form.delimiter == " ":
        return next(lines).split()
    return next(csv.reader(lines, delimiter=form.delimiter, skipinitialspace=True))


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
