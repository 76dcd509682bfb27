"""Text tables: what separates columns, whether there is a header, and how decimals are written."""

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

# How a file is unpacked, by the end of its name.
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Of signs that divide lines equally well the first is taken: a comma may also stand in numbers.
DELIMITERS = ("\t", ";", "|", ",")
# Lines from which the form of a file is told.
LINES_LOOKED_AT = 50
# What stands for a gap, besides nothing.
GAPS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", ".")


class FileError(ValueError):
    """A file that cannot be read as a table; the message is one line for the user."""


class TextForm(NamedTuple):
    """How a text file is to be read; a short header lacks a name for the first column, as R writes it."""

    delimiter: str
    decimal: str
    has_header: bool
    short_header: bool = False


def read_bytes(source: str) -> bytes:
    """The content of a file, unpacked, or of standard input for "-"."""
    if source == "-":
        return sys.stdin.buffer.read()
    path = Path(source)
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            return bytes(file.read())
    except PermissionError:
        raise FileError(f"{source} may not be read by you.") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileError(f"{source} cannot be unpacked: it is cut off, damaged or not what its name says.") from error


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    """The content as text; refused if it is none."""
    if not content.strip():
        raise FileError(f"{name} is empty.")
    is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if encoding is None and b"\0" in content[:10_000] and not is_wide:
        raise FileError(f"{name} is not text: it holds zero bytes. What kind of file is it?")
    try:
        return content.decode(encoding or ("utf-16" if is_wide else "utf-8")).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        raise FileError(
            f"{name} is not in the encoding {encoding or 'UTF-8'} ({error}). Name the right one by --encoding, such as "
            "latin-1 or cp1252."
        ) from error


# ---------------------------------------------------------------- the form


def form_of(text: str, delimiter: str | None = None, decimal: str | None = None) -> TextForm:
    """Delimiter, decimal sign and header, told from the first lines."""
    lines = [line for line in text[: 2**20].splitlines()[:LINES_LOOKED_AT] if line.strip()]
    delimiter = delimiter or _delimiter(lines)
    rows = [[cell.strip() for cell in row] for row in _rows(lines, delimiter)]
    first, body = rows[0], rows[1:]
    if decimal is None:
        cells = [cell for row in body or rows for cell in row]
        commas = sum("," in cell and _is_number(cell.replace(".", "").replace(",", ".")) for cell in cells)
        points = sum("." in cell and _is_number(cell) for cell in cells)
        decimal = "," if delimiter != "," and commas > points else "."
    short = bool(body) and all(len(row) == len(first) + 1 for row in body)
    return TextForm(delimiter, decimal, short or _has_header(first, body, decimal), short)


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    return [line.split() for line in lines] if delimiter == " " else list(csv.reader(lines, delimiter=delimiter))


def _has_header(first: list[str], body: list[list[str]], decimal: str) -> bool:
    """Whether the first line names columns: it has a word where all others have numbers, or only words anyway."""

    # Names that pandas gives to columns without any: 0, 1, 2, ..., maybe after an empty one for the rows.
    counted = [str(a) for a in range(len(first))]
    if len(first) > 2 and (first == counted or first == ["", *counted[:-1]]):
        return True

    def is_value(cell: str) -> bool:
        return cell in GAPS or _is_number(cell.replace(decimal, "."))

    columns = [[row[a] for row in body if a < len(row)] for a in range(len(first))]
    numeric = [a for a, column in enumerate(columns) if column and all(map(is_value, column))]
    return any(not is_value(first[a]) for a in numeric) if numeric else not all(map(is_value, first))


def _delimiter(lines: list[str]) -> str:
    """The sign that divides most lines into the same number of cells, more than one."""

    def agreement(sign: str) -> float:
        counts = [len(row) for row in csv.reader(lines, delimiter=sign)]
        width, times = Counter(counts).most_common(1)[0]
        return times / len(counts) if width > 1 else 0.0

    best = max(DELIMITERS, key=agreement)
    if agreement(best) > 0:
        return best
    # Columns in a plain text table may stand apart by blanks alone.
    width, times = Counter(len(line.split()) for line in lines).most_common(1)[0]
    return " " if width > 1 and times > len(lines) / 2 else ","


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_widths(text: str, form: TextForm, name: str) -> None:
    """Every line has as many cells as the first; said with the number of the line if not."""
    lines = io.StringIO(text)
    if form.delimiter == " ":
        counted = ((number, len(line.split())) for number, line in enumerate(lines, 1) if line.strip())
    elif '"' in text:
        # Signs in quotes divide nothing, so the lines have to be read.
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
                f"{name}, line {number}: {cells} cells where the first line has {width}. Every row must have as many "
                "cells as there are columns."
            )


# ---------------------------------------------------------------- the table


def text_frame(source: str, name: str, encoding: str | None, delimiter: str | None, decimal: str | None) -> Any:
    """A text table as a pandas data frame."""
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
            na_values=list(GAPS),
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
    """Text without blanks around it; a column that is numbers without them is one of numbers."""
    import pandas as pd

    for column in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        values = frame[column]
        if not values.map(lambda each: isinstance(each, str) or each != each or each is None).all():
            continue
        words = values.map(lambda each: each.strip() if isinstance(each, str) else each)
        words = words.where(~words.isin(list(GAPS)))
        numbers = pd.to_numeric(words.str.replace(decimal, ".", regex=False), errors="coerce")
        frame[column] = numbers if (numbers.notna() | words.isna()).all() and words.notna().any() else words
    return frame
