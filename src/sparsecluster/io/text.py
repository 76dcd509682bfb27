"""Reading text tables: the delimiter, the header and the decimal sign are detected."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from .._utils.text import one_line

# Functions that open compressed files, by extension.
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# If several delimiters fit equally well, the first one is taken. The comma is last because it may be a decimal sign.
DELIMITERS = ("\t", ";", "|", ",")
# Number of lines from which the form of a file is detected.
LINES_LOOKED_AT = 50
# Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", ".")


class FileError(ValueError):
    """A file cannot be read as a table. The message is a single line for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


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


def read_bytes(source: str) -> bytes:
    """Return the decompressed content of a file, or of standard input for "-"."""
    if source == "-":
        return sys.stdin.buffer.read()
    path = Path(source)
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            return bytes(file.read())
    except PermissionError:
        raise FileError(f"{source} cannot be read: permission denied.") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(
            f"{source} cannot be decompressed: it is incomplete or damaged, or its extension is wrong."
        ) from error


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    """Return the content as text, or raise an error if it is not text."""
    if not content.strip():
        raise FileError(f"{name} is empty.")
    is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if encoding is None and b"\0" in content[:10_000] and not is_wide:
        raise FileError(
            f"{name} is not a text file: it contains zero bytes. Check that its extension matches its format."
        )
    try:
        return content.decode(encoding or ("utf-16" if is_wide else "utf-8")).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        raise FileError(
            f"{name} cannot be decoded as {encoding or 'UTF-8'} ({error}). Set the right encoding with --encoding, "
            "such as latin-1 or cp1252."
        ) from error


# ---------------------------------------------------------------- the form


def form_of(text: str, delimiter: str | None = None, decimal: str | None = None) -> TextForm:
    """Detect the delimiter, the decimal sign and the header from the first lines, unless they are given."""
    lines = [line for line in text[: 2**20].splitlines()[:LINES_LOOKED_AT] if line.strip()]
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
    return [line.split() for line in lines] if delimiter == " " else list(csv.reader(lines, delimiter=delimiter))


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


def check_widths(text: str, form: TextForm, name: str) -> None:
    """Check that every line has as many cells as the first. If not, the error gives the number of the line."""
    lines = io.StringIO(text)
    if form.delimiter == " ":
        counted = ((number, len(line.split())) for number, line in enumerate(lines, 1) if line.strip())
    elif '"' in text:
        # Delimiters in quotes do not count, so the lines have to be parsed.
        reader = csv.reader(lines, delimiter=form.delimiter)
        counted = ((reader.line_num, len(row)) for row in reader if row)
    else:
        counted = ((number, line.count(form.delimiter) + 1) for number, line in enumerate(lines, 1) if line.strip())
    width = 0
    for number, cells in counted:
        if not width:
            width = cells + form.short_header
        elif cells != width:
            raise FileError(
                f"{name}, line {number}: expected {width} cells but found {cells}. Every row must have one cell per "
                "column."
            )


# ---------------------------------------------------------------- the table


def text_frame(source: str, name: str, encoding: str | None, delimiter: str | None, decimal: str | None) -> Any:
    """Read a text table as a pandas data frame."""
    import pandas as pd

    text = decoded(read_bytes(source), name, encoding)
    try:
        form = form_of(text, delimiter, decimal)
        check_widths(text, form, name)
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
        raise FileError(f"{name} cannot be read as a table: {str(error).strip()}") from error
    if form.short_header:
        frame = frame.reset_index()
    if not form.has_header:
        frame.columns = [f"x{a}" for a in range(frame.shape[1])]
    return tidied(frame, form.decimal)


def tidied(frame: Any, decimal: str = ".") -> Any:
    """Remove spaces around text, and convert columns in which only numbers are left."""
    import pandas as pd

    for column in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        values = frame[column]
        if not values.map(lambda each: isinstance(each, str) or each != each or each is None).all():
            continue
        words = values.map(lambda each: each.strip() if isinstance(each, str) else each)
        words = words.where(~words.isin(list(MISSING)))
        numbers = pd.to_numeric(words.str.replace(decimal, ".", regex=False), errors="coerce")
        frame[column] = numbers if (numbers.notna() | words.isna()).all() and words.notna().any() else words
    return frame
