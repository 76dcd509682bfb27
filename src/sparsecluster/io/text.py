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

# Words for the compression of a file by the end of its name.
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
DELIMITERS = (",", ";", "\t", "|")
# Lines from which the form of a file is told.
LINES_LOOKED_AT = 50
# What stands for a gap, besides nothing.
GAPS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", ".")


class FileError(ValueError):
    """A file that cannot be read as a table; the message is one line for the user."""


class TextForm(NamedTuple):
    """How a text file is to be read."""

    delimiter: str
    decimal: str
    has_header: bool


def read_bytes(source: str, encoding_hint: str = "") -> bytes:
    """The content of a file, unpacked, or of standard input for "-"."""
    if source == "-":
        return sys.stdin.buffer.read()
    path = Path(source)
    with OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
        return bytes(file.read())


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    """The content as text; refused if it is none."""
    if not content.strip():
        raise FileError(f"{name} is empty.")
    if b"\0" in content[:10_000] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError(f"{name} is not text: it holds zero bytes. What kind of file is it?")
    usual = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding or usual)
    except (UnicodeDecodeError, LookupError) as error:
        raise FileError(
            f"{name} is not in the encoding {encoding or 'UTF-8'} ({error}). Name the right one by --encoding, such as "
            "latin-1 or cp1252."
        ) from error


def form_of(text: str, delimiter: str | None = None, decimal: str | None = None) -> TextForm:
    """Delimiter, decimal sign and header, told from the first lines."""
    lines = [line for line in text[: 2**20].splitlines()[:LINES_LOOKED_AT] if line.strip()]
    delimiter = delimiter or _delimiter(lines)
    rows = list(csv.reader(lines, delimiter=delimiter))
    body = [cell.strip() for row in rows[1:] for cell in row] or [cell.strip() for row in rows for cell in row]
    if decimal is None:
        commas = sum(_is_number(cell.replace(".", "").replace(",", ".")) and "," in cell for cell in body)
        decimal = "," if delimiter != "," and commas > sum(_is_number(cell) and "." in cell for cell in body) else "."
    first = [cell.strip().replace(decimal, ".") for cell in rows[0]]
    has_header = not all(_is_number(cell) or cell in GAPS for cell in first)
    return TextForm(delimiter, decimal, has_header)


def _delimiter(lines: list[str]) -> str:
    """The sign that divides most lines into the same number of cells, more than one."""

    def agreement(sign: str) -> tuple[float, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=sign)]
        width, times = Counter(counts).most_common(1)[0]
        return (times / len(counts) if width > 1 else 0.0), width

    best = max(DELIMITERS, key=agreement)
    if agreement(best)[0] > 0:
        return best
    # Columns in a plain text table may stand apart by blanks alone.
    widths = {len(line.split()) for line in lines}
    return " " if len(widths) == 1 and widths != {1} else ","


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_widths(text: str, form: TextForm, name: str) -> None:
    """Every line has as many cells as the first; said with the number of the line if not.

    Lines with quotes are left to the parser: signs in quotes divide nothing.
    """
    if form.delimiter == " " or '"' in text:
        return
    width = None
    for number, line in enumerate(io.StringIO(text), 1):
        if not line.strip():
            continue
        cells = line.count(form.delimiter) + 1
        width = width or cells
        if cells != width:
            raise FileError(
                f"{name}, line {number}: {cells} cells where the first line has {width}. Every row must have as many "
                "cells as there are columns."
            )


def text_frame(source: str, name: str, encoding: str | None, delimiter: str | None, decimal: str | None) -> Any:
    """A text table as a pandas data frame."""
    import pandas as pd

    text = decoded(read_bytes(source), name, encoding)
    form = form_of(text, delimiter, decimal)
    check_widths(text, form, name)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if form.delimiter == " " else form.delimiter,
            decimal=form.decimal,
            header=0 if form.has_header else None,
            na_values=list(GAPS),
            keep_default_na=False,
            low_memory=False,
            skipinitialspace=True,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        raise FileError(f"{name} cannot be read as a table: {str(error).strip()}") from error
    if not form.has_header:
        frame.columns = [f"x{a}" for a in range(frame.shape[1])]
    return frame
