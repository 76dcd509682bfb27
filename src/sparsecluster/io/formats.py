"""Reading text, Excel, Parquet and Feather files, and the choice of the reader by the extension of a file."""

from __future__ import annotations

import re
import zipfile
from typing import Any

from .._utils.text import brief
from . import limits
from ._shared import Frame, Options, Reader, Table, read_with
from .cells import MISSING
from .limits import FileError, check_held
from .matrices import h5ad, matrix_market, numpy
from .sources import OPENERS, PACKED, Source
from .text import repeated, text_frame, tidied

# ---------------------------------------------------------------- text and Excel


def text(source: Source, options: Options) -> Table:
    """Read CSV and similar files."""
    is_tsv = source.path is not None and ".tsv" in source.path.name.lower()
    delimiter = options.delimiter or ("\t" if is_tsv else None)
    return Table(*text_frame(source, options.encoding, delimiter, options.decimal))


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


# ---------------------------------------------------------------- Arrow


def parquet(source: Source, options: Options) -> Table:
    """Read a Parquet file."""

    def read() -> Frame:
        from pyarrow.parquet import ParquetFile

        handle = source.handle()
        with ParquetFile(handle) as file:
            check_arrow(file.schema_arrow, file.metadata.num_rows, source)
            return _as_frame(file.read())

    return Table(_named_index(read_with("pyarrow", source, read)), [])


def feather(source: Source, options: Options) -> Table:
    """Read a Feather file, which may also be called an Arrow file."""

    def read() -> Frame:
        import pandas as pd
        import pyarrow as pa

        handle = source.handle()
        with pa.memory_map(handle) if source.is_plain else pa.BufferReader(handle.getbuffer()) as file:
            if file.read(4) == b"FEA1":
                source.check(limits.ARROW_VALUE * file.size())
                return pd.read_feather(handle)
            file.seek(0)
            reader = pa.ipc.open_file(file)
            batches: list[Any] = []
            for number in range(reader.num_record_batches):
                # Batches are decompressed one by one, so that the limit stops a file that grows without end.
                batches.append(reader.get_batch(number))
                check_arrow(reader.schema, sum(each.num_rows for each in batches), source)
            return _as_frame(pa.Table.from_batches(batches, reader.schema))

    return Table(_named_index(read_with("pyarrow", source, read)), [])


def _as_frame(table: Any) -> Frame:
    # Arrow trusts the positions in a file. If they are damaged, a conversion would read foreign memory.
    table.validate(full=True)
    return table.to_pandas()


def check_arrow(schema: Any, n_rows: int, source: Source) -> None:
    """Check the size of a table in pandas."""
    import pyarrow as pa

    plain = sum(pa.types.is_primitive(each.type) for each in schema)
    per_row = plain * limits.ARROW_VALUE + (len(schema) - plain) * limits.ARROW_OBJECT
    source.check(n_rows * per_row)


def _named_index(frame: Frame) -> Frame:
    """Turn the index into the first column, as in a text file, unless it only numbers the rows."""
    import pandas as pd

    plain = frame.index.name is None and pd.api.types.is_integer_dtype(frame.index.dtype)
    if not plain and frame.index.name in frame.columns:
        frame.index.name = None
    return frame.reset_index(drop=plain)


# ---------------------------------------------------------------- all formats

READERS: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat"), text),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), excel),
    **dict.fromkeys((".parquet", ".pq"), parquet),
    **dict.fromkeys((".feather", ".arrow"), feather),
    **dict.fromkeys((".npy", ".npz"), numpy),
    ".h5ad": h5ad,
    ".mtx": matrix_market,
}


def reader_for(source: Source) -> Reader:
    """Return the function that reads a file, by its extension; other files are read as text."""
    suffixes = [suffix.lower() for suffix in source.path.suffixes] if source.path else []
    if suffixes and suffixes[-1] in PACKED:
        raise FileError(f"{source.name}: compressed files must end in .gz, .bz2 or .xz. Decompress the file first.")
    if suffixes and suffixes[-1] in OPENERS:
        suffixes.pop()
    return READERS.get(suffixes[-1] if suffixes else "", text)
