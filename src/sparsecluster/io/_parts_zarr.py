"""Zarr arrays as blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .._data.names import DefaultNames
from . import limits
from ._parts_shared import AT_ONCE, BLOCK_BYTES, Opened, told
from .limits import FileError, check_memory


class Rows(NamedTuple):
    """Some of the rows of an array."""

    file: str
    first: int
    last: int


# The files by which a folder is known to be an array or a group of arrays, in both versions of the format.
MARKS = ("zarr.json", ".zarray", ".zgroup")


def is_zarr(folder: Path) -> bool:
    """Whether a folder holds Zarr data."""
    return any((folder / mark).is_file() for mark in MARKS)


def open_zarr(files: Sequence[str], limit: int) -> Opened:
    """Open arrays of two dimensions, one below the other."""
    import pandas as pd

    arrays = {file: told(file, partial(array_of, file)) for file in files}
    first, *others = files
    width, dtype = arrays[first].shape[1], arrays[first].dtype
    for file in others:
        if arrays[file].shape[1] != width:
            raise FileError(
                f"All parts must have the same columns, but {file} has {arrays[file].shape[1]:,} columns, and {first} "
                f"has {width:,}. Leave this file out, or write it again."
            )
        if arrays[file].dtype != dtype:
            dtype = "float64"
    pieces = []
    for file, array in arrays.items():
        row = max(1, array.dtype.itemsize * width)
        chunk = array.chunks[0]
        check_memory(AT_ONCE * limits.COPIES * row * chunk, limit, f"a chunk of {file}", "Write it in smaller chunks")
        # Whole chunks, so that none is read twice.
        many = max(1, min(BLOCK_BYTES, limit // (AT_ONCE * limits.COPIES)) // (row * chunk)) * chunk
        n = array.shape[0]
        pieces += [Rows(file, start, min(start + many, n)) for start in range(0, n, many)]
    meta = pd.DataFrame({name: pd.Series(dtype=dtype) for name in DefaultNames(width)})
    needed = float(limits.COPIES * sum(array.nbytes for array in arrays.values()))
    return Opened(read_rows, pieces, [piece.file for piece in pieces], meta, needed, [])


def array_of(file: str) -> Any:
    """Open an array, or from a group the array X or the only one of two dimensions. Its values are not read."""
    import zarr

    found: Any = zarr.open(file, mode="r")
    if hasattr(found, "arrays"):
        arrays = dict(found.arrays())
        tables = [name for name, array in arrays.items() if array.ndim == 2]
        key = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
        if key is None:
            raise FileError(
                f"{file} must contain an array X or only one array of two dimensions; got "
                f"{', '.join(sorted(arrays)) or 'no array'}."
            )
        found = arrays[key]
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        raise FileError(
            f"{file} must contain an array of numbers of two dimensions; got shape {found.shape} and type "
            f"{found.dtype}."
        )
    if 0 in found.shape:
        raise FileError(f"{file} contains no data: its array has the shape {found.shape}.")
    return found


def read_rows(piece: Rows, columns: Sequence[str] | None = None) -> Any:
    """Read a block as a pandas data frame with columns x0, x1, ..., or some of them."""

    def read() -> Any:
        import pandas as pd

        array = array_of(piece.file)
        names = list(DefaultNames(array.shape[1]) if columns is None else columns)
        rows = array[piece.first : piece.last]
        return pd.DataFrame(rows if columns is None else rows[:, [int(name[1:]) for name in names]], columns=names)

    return told(piece.file, read)
