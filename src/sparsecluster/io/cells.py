"""The cells of text tables as numbers, a block of rows at a time, and as words, which are read as a whole."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from .._utils.arrays import Floats

# Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", ".")
ABSENT = frozenset(MISSING)
# The number of cells that are parsed at a time.
BLOCK_CELLS = 2**18
# A whole number, and the largest that a float is sure to keep.
WHOLE_CELL, MOST_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII), 1e15
# A character that no text file contains, so that Arrow takes each line for one cell.
NO_DELIMITER = "\x01"
# What a row is before its cells are separated: a line, or its cells already if there are quotation marks.
Row = Any


class NotNumbersError(Exception):
    """Some columns that were taken for numbers hold words, or whole numbers that floats would round."""

    def __init__(self, places: set[int]) -> None:
        super().__init__(f"columns {sorted(places)}")
        self.places = places


@dataclass(frozen=True)
class Cells:
    """The rows below the header of a text table.

    Attributes
    ----------
    rows : callable
        Returns an iterator over the rows, from the first on.
    delimiter : str or None
        Character between the cells of a line, " " for any white space, and None if rows are lists of cells already.
    decimal : str
        Decimal sign.
    n_rows, n_columns : int
        Size of the table.
    """

    rows: Callable[[], Iterator[Row]]
    delimiter: str | None
    decimal: str
    n_rows: int
    n_columns: int

    def blocks(self) -> Iterator[list[Row]]:
        """Yield the rows in blocks of limited size."""
        rows, step = self.rows(), max(1, BLOCK_CELLS // self.n_columns)
        while block := list(itertools.islice(rows, step)):
            yield block

    def split(self, row: Row) -> list[str]:
        """Return the cells of a row."""
        if self.delimiter is None:
            cells: list[str] = row
            return cells
        return row.split() if self.delimiter == " " else row.split(self.delimiter)

    # ------------------------------------------------------------ numbers

    def numbers(self, block: list[Row], places: Sequence[int]) -> Floats:
        """Return some columns of a block as numbers, NaN for missing values.

        Raises NotNumbersError with the columns that hold anything else.
        """
        if not places:
            return np.empty((len(block), 0))
        flat = self._flat(block, places)
        found = parsed(flat.replace(self.decimal, ".") if self.decimal != "." else flat, len(block) * len(places))
        if found is not None:
            return found.reshape(len(block), -1)
        values, wrong = np.empty((len(block), len(places))), set()
        for at, (place, cells) in enumerate(self._columns(block, places)):
            try:
                values[:, at] = [number(cell, self.decimal) for cell in cells]
            except ValueError:
                wrong.add(place)
        if wrong:
            raise NotNumbersError(wrong)
        return values

    def _flat(self, block: list[Row], places: Sequence[int]) -> str:
        """Return the cells of some columns, one in a line."""
        if len(places) == self.n_columns and self.delimiter not in (None, " "):
            return "\n".join(block).replace(self.delimiter, "\n")
        cells: Iterable[Sequence[str]] = map(self.split, block)
        if len(places) < self.n_columns:
            cells = map(_getter(places), cells)
        return "\n".join(itertools.chain.from_iterable(cells))

    def _columns(self, block: list[Row], places: Sequence[int]) -> Iterator[tuple[int, Sequence[str]]]:
        columns = list(zip(*map(self.split, block), strict=True))
        return ((place, columns[place]) for place in places)

    def whole(self, block: list[Row], values: Floats, places: Sequence[int], among: Any) -> Any:
        """Return which columns, among those that were so far, hold nothing but whole numbers.

        Raises NotNumbersError with those of them that floats would round.
        """
        with np.errstate(invalid="ignore"):
            among = among & (values == np.rint(values)).all(axis=0)
        if not among.any():
            return among
        held = np.flatnonzero(among).tolist()
        for at, (_, cells) in zip(held, self._columns(block, [places[a] for a in held]), strict=True):
            among[at] = all(WHOLE_CELL.fullmatch(cell.strip()) for cell in cells)
        large = among & (np.abs(values) > MOST_WHOLE).any(axis=0)
        if large.any():
            raise NotNumbersError({places[a] for a in np.flatnonzero(large).tolist()})
        return among

    # ------------------------------------------------------------ words

    def words(self, block: list[Row], places: Sequence[int], writer: Any) -> None:
        """Write some columns of a block as CSV."""
        if places:
            pick = _getter(places)
            writer.writerows([cell.lstrip(" ") for cell in pick(cells)] for cells in map(self.split, block))


def _getter(places: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    if len(places) == 1:
        place = places[0]
        return lambda cells: (cells[place],)
    return itemgetter(*places)


def number(cell: str, decimal: str) -> float:
    """Return a cell as a number, NaN if it is missing, or raise ValueError."""
    cell = cell.strip()
    if cell in ABSENT:
        return np.nan
    if "_" in cell:
        raise ValueError(cell)
    return float(cell.replace(decimal, "."))


def parsed(text: str, count: int) -> Floats | None:
    """Return so many numbers, one in a line, or None if some lines are not plain numbers.

    Arrow parses numbers several times as fast as Python and rounds them in the same way. As one column, because each
    column has costs of its own.
    """
    try:
        import pyarrow as pa
        import pyarrow.csv as arrow
    except ImportError:
        return None
    content = pa.py_buffer(text.encode(errors="replace") + b"\n")
    try:
        table = arrow.read_csv(
            pa.BufferReader(content),
            read_options=arrow.ReadOptions(use_threads=False, block_size=content.size, column_names=["x"]),
            parse_options=arrow.ParseOptions(delimiter=NO_DELIMITER, quote_char=False, ignore_empty_lines=False),
            convert_options=arrow.ConvertOptions(
                column_types={"x": pa.float64()}, null_values=list(MISSING), check_utf8=False
            ),
        )
    except pa.ArrowException:
        return None
    column = table.column(0)
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    # What is not finite is spelled in many ways, and not in the same ones everywhere.
    known = int(np.isfinite(values).sum()) + column.null_count
    return values if len(values) == known == count else None
