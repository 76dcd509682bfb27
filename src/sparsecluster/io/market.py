"""The Matrix Market format, read without SciPy's reader, which some damaged files crash."""

from __future__ import annotations

import io
import warnings
from typing import Any, NamedTuple

import numpy as np

from . import limits
from .limits import FileError, check_held
from .sources import Source

FORMS = ("coordinate", "array")
# Whole numbers are parsed several times as fast. A pattern has ones only.
NUMBERS = {"real": np.float64, "double": np.float64, "integer": np.int64, "pattern": np.float64}
# How the entries below the diagonal give those above it; "general" has both.
SYMMETRIES = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}
EXAMPLE = '"%%MatrixMarket matrix coordinate real general"'


class Header(NamedTuple):
    """What a Matrix Market file says about itself, and where its entries begin."""

    rows: int
    columns: int
    entries: int
    form: str
    field: str
    symmetry: str
    begin: int


def read_market(source: Source) -> Any:
    """Read a Matrix Market file as a sparse matrix compressed by column."""
    import scipy.sparse

    content = source.read()
    header = header_of(content, source.name)
    check_header(header, len(content), source)
    row, column, value = (coordinates if header.form == "coordinate" else dense)(content, header, source.name)
    mirror = SYMMETRIES[header.symmetry]
    if mirror:
        other = row != column
        row, column = np.concatenate([row, column[other]]), np.concatenate([column, row[other]])
        value = np.concatenate([value, mirror * value[other]])
    return scipy.sparse.csc_array((value, (row, column)), shape=(header.rows, header.columns))


def header_of(content: bytes, name: str) -> Header:
    """Read the first line, the comments and the line with the sizes."""
    begin, lines = 0, list[list[str]]()
    while len(lines) < 2 and begin < len(content):
        end = content.find(b"\n", begin) + 1 or len(content)
        line = content[begin:end].decode("latin-1").strip()
        if not lines or (line and not line.startswith("%")):
            lines.append(line.lower().split())
        begin = end
    words, sizes = (*lines, [], [])[:2]
    is_known = len(words) == 5 and words[:2] == ["%%matrixmarket", "matrix"]
    if not is_known or words[2] not in FORMS or words[3] not in NUMBERS or words[4] not in SYMMETRIES:
        raise FileError(
            f"{name} cannot be read as a Matrix Market file of real numbers. Its first line must be like {EXAMPLE}, "
            f"with words among {', '.join((*FORMS, *NUMBERS, *SYMMETRIES))}."
        )
    expected = 3 if words[2] == "coordinate" else 2
    if len(sizes) != expected or not all(each.isascii() and each.isdigit() and len(each) < 19 for each in sizes):
        raise FileError(f"{name} is damaged: a line with {expected} whole numbers must tell its size.")
    rows, columns, entries = int(sizes[0]), int(sizes[1]), int(sizes[-1])
    if rows != columns and words[4] != "general":
        raise FileError(f"{name} is damaged: a {words[4]} matrix cannot be of {rows:,} x {columns:,}.")
    return Header(rows, columns, entries if expected == 3 else rows * columns, words[2], words[3], words[4], begin)


def check_header(header: Header, size: int, source: Source) -> None:
    """Check the sizes against the file: the shortest line of an entry is "1 1", and that of a value "0"."""
    rows, columns, entries, form, _, symmetry, _ = header
    what = f"a matrix of {rows:,} x {columns:,} with {entries:,} stored value{'s' * (entries != 1)}"
    if not rows or not columns:
        raise FileError(f"{source.name} contains no data: it has no rows or no columns.")
    if form == "array":
        stored = rows * columns if symmetry == "general" else rows * (rows - 1) // 2
        check_held(2 * stored - 1, size, source.name, what)
        source.check(limits.MATRIX_VALUE * rows * columns)
        return
    check_held(4 * entries - 1, size, source.name, what)
    if rows + columns > limits.MOST_EMPTY * entries + limits.SMALL:
        raise FileError(f"{source.name} claims to contain {what}, so it is nearly empty. Check its header.")
    source.check(limits.MATRIX_ENTRY * entries * (1 + (symmetry != "general")) + limits.MATRIX_LINE * (rows + columns))


def coordinates(content: bytes, header: Header, name: str) -> tuple[Any, Any, Any]:
    """The positions, counted from 0, and the values of the stored entries."""
    places, value = ["row", "column"], [] if header.field == "pattern" else ["value"]
    table = numbers(
        content, header, {**dict.fromkeys(places, np.int64), **dict.fromkeys(value, NUMBERS[header.field])}, name
    )
    if len(table) != header.entries:
        raise FileError(f"{name} is damaged: it says that it has {header.entries:,} entries, but has {len(table):,}.")
    row, column = (table[each].to_numpy() - 1 for each in places)
    for at, most, what in ((row, header.rows, "row"), (column, header.columns, "column")):
        if at.size and (at.min() < 0 or at.max() >= most):
            raise FileError(f"{name} is damaged: an entry is in a {what} outside of 1 to {most:,}.")
    return row, column, table["value"].to_numpy(np.float64) if value else np.ones(len(table))


def dense(content: bytes, header: Header, name: str) -> tuple[Any, Any, Any]:
    """The same for a file with all values, column by column; of a symmetric matrix, those from the diagonal down."""
    if header.field == "pattern":
        raise FileError(f"{name} is damaged: an array must have values, but its header says that it is a pattern.")
    value = numbers(content, header, {"value": NUMBERS[header.field]}, name)["value"].to_numpy(np.float64)
    row, column = np.divmod(np.arange(header.rows * header.columns), header.columns)
    if SYMMETRIES[header.symmetry]:
        kept = row >= column if header.symmetry == "symmetric" else row > column
        row, column = row[kept], column[kept]
    if value.size != row.size:
        raise FileError(f"{name} is damaged: it must have {row.size:,} values, but has {value.size:,}.")
    order = np.lexsort((row, column))
    return row[order], column[order], value


def numbers(content: bytes, header: Header, types: dict[str, Any], name: str) -> Any:
    """The lines with numbers below the header as a data frame."""
    import pandas as pd

    body = io.BytesIO(content)
    body.seek(header.begin)
    wrong = f"{name} is damaged: a line below its header does not have {len(types)} numbers."
    if b"\0" in content:
        raise FileError(wrong)
    try:
        with warnings.catch_warnings():
            # pandas only warns of lines that are longer than expected.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                body,
                sep=r"\s+",
                header=None,
                names=list(types),
                index_col=False,
                dtype=types,
                comment="%",
                na_filter=False,
                float_precision="round_trip",
                encoding="latin-1",
            )
    except pd.errors.EmptyDataError:
        return pd.DataFrame({key: np.empty(0, kind) for key, kind in types.items()})
    except (ValueError, OverflowError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise FileError(wrong) from error
    if "value" in table and table["value"].isna().any():
        raise FileError(f"{name} is damaged: some of its entries have no value.")
    return table
