"""Reading text and Excel files, and the choice of the reader by the extension of a file."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._utils.text import brief
from . import limits
from ._shared import Options, Reader, Table, read_with
from .arrow import feather, floats_of, opened_parquet, parquet, parquet_blocks, telling_of_arrow
from .blocks import Blocks
from .cells import MISSING
from .limits import FileError, check_held
from .matrices import array_blocks, h5ad, numpy
from .sources import CHUNK, OPENERS, PACKED, Source
from .tenx import folder, hdf5, matrix_market
from .text import repeated, telling, text_blocks, text_frame, tidied

# ---------------------------------------------------------------- text and Excel


def text(source: Source, options: Options) -> Table:
    """Read CSV and similar files."""
    return Table(*text_frame(source, options.encoding, delimiter_for(source, options), options.decimal))


def delimiter_for(source: Source, options: Options) -> str | None:
    """Return the delimiter that is given, or told by the extension."""
    is_tsv = source.path is not None and ".tsv" in source.path.name.lower()
    return options.delimiter or ("\t" if is_tsv else None)


CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')


def excel(source: Source, options: Options) -> Table:
    """Read one sheet of a workbook."""
    import pandas as pd

    def read() -> Table:
        handle = source.handle()
        if zipfile.is_zipfile(handle):
            check_archive(handle, source)
        with pd.ExcelFile(handle) as book:
            if options.sheet is not None and options.sheet not in book.sheet_names:
                listed = ", ".join(map(brief, book.sheet_names))
                raise FileError(f"{source.name} has no sheet {brief(options.sheet)}; its sheets are {listed}.")
            sheet = options.sheet or book.sheet_names[0]
            check_sheet(getattr(book.book[sheet], "_worksheet_path", None), handle, source, str(sheet))
            header = book.parse(sheet, header=None, nrows=1)
            names = [] if header.empty else [str(name) for name in header.iloc[0] if name == name]
            frame = book.parse(sheet, na_values=list(MISSING))
            return Table(tidied(frame), repeated(names))

    made: Table = read_with("openpyxl", source, read)
    return made


def check_archive(handle: Any, source: Source) -> None:
    """Check the sizes of the files in a zip archive."""
    with zipfile.ZipFile(handle) as archive:
        for each in archive.infolist():
            most = limits.MOST_DEFLATED * (each.compress_size + 100)
            check_held(each.file_size, most, source.name, f"{limits.shown(each.file_size)} in {brief(each.filename)}")
        source.check(sum(each.file_size for each in archive.infolist()), "Save the table as CSV or Parquet")


def check_sheet(path: str | None, handle: Any, source: Source, sheet: str) -> None:
    """Check how far the cells of a sheet reach: a single cell in the last corner would make a table of gigabytes."""
    if path is None:
        return
    cells = rows = columns = 0
    with zipfile.ZipFile(handle) as archive, archive.open(path.lstrip("/")) as file:
        rest = b""
        while chunk := file.read(2**20):
            part = rest + chunk
            for letters, number in CELL.findall(part):
                cells, rows = cells + 1, max(rows, int(number))
                columns = max(columns, _column_number(letters))
            # A cell that the chunk cuts in two is found with the next one.
            cut = part.rfind(b"<")
            rest = part[cut:] if cut >= 0 and part.find(b">", cut) < 0 else b""
    if rows * columns > limits.MOST_EMPTY * cells + limits.SMALL:
        raise FileError(
            f"{source.name}: the sheet {brief(sheet)} has cells as far as row {rows:,} and column {columns:,}, but "
            f"only {cells:,} cells in all. Delete the cells that are far from the table."
        )
    source.check(limits.EXCEL_CELL * cells + limits.EXCEL_PLACE * rows * columns, "Save the table as CSV or Parquet")


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


# ---------------------------------------------------------------- all formats

READERS: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat"), text),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), excel),
    **dict.fromkeys((".parquet", ".pq"), parquet),
    **dict.fromkeys((".feather", ".arrow"), feather),
    **dict.fromkeys((".npy", ".npz"), numpy),
    ".h5ad": h5ad,
    ".h5": hdf5,
    ".mtx": matrix_market,
}


def reader_for(source: Source) -> Reader:
    """Return the function that reads a folder, or a file by its extension; other files are read as text."""
    if source.path and source.path.is_dir():
        return folder
    suffixes = [suffix.lower() for suffix in source.path.suffixes] if source.path else []
    if suffixes and suffixes[-1] in PACKED:
        raise FileError(f"{source.name}: compressed files must end in .gz, .bz2 or .xz. Decompress the file first.")
    if suffixes and suffixes[-1] in OPENERS:
        suffixes.pop()
    return READERS.get(suffixes[-1] if suffixes else "", text)


# Tables with at most so many rows are read as a whole.
MOST_AT_ONCE = 10_000


def has_many_lines(source: Source) -> bool:
    """Whether a text file has more lines than tables that are read as a whole."""
    found = 0
    with source.telling(), source.reopener()() as file:
        while found <= MOST_AT_ONCE and (chunk := file.read(CHUNK)):
            found += chunk.count(b"\n") or chunk.count(b"\r")
    return found > MOST_AT_ONCE


@contextmanager
def opened_blocks(source: Source, options: Options) -> Iterator[Blocks | None]:
    """Open a text, Parquet or NumPy file in blocks of rows; None for others."""
    reader = reader_for(source)
    if not source.path or not source.path.is_file() or (reader is not text and not source.is_plain):
        yield None
    elif reader is text:
        delimiter = delimiter_for(source, options)
        is_long = has_many_lines(source)
        with telling(source.name):
            yield text_blocks(source, options.encoding, delimiter, options.decimal, False) if is_long else None
    elif reader is parquet:
        with read_with("pyarrow", source, lambda: opened_parquet(source)) as file:
            blocks = read_with("pyarrow", source, lambda: parquet_blocks(file, floats_of(file.schema_arrow)))
            with telling_of_arrow(source.name):
                yield blocks
    else:
        yield array_blocks(source) if reader is numpy else None
