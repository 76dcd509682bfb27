"""H5AD files that are not loaded: the matrix as a Dask array, whose blocks of rows are read when they are needed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_matrix, csr_matrix

from .._utils.text import brief
from ._hdf5 import check_readable
from ._shared import Matrix, read_with
from .limits import FileError, shown
from .matrices import check_stored
from .sources import Source

# The number of values that a block of rows stores: few enough to hold some blocks in memory, enough to make up for
# opening the file for each of them. A matrix that is stored by column is rewritten in larger parts, which are cut both
# ways.
BLOCK_VALUES, PART_VALUES = 2**21, 2**23
# Rows of a block, however few values they store: some results of a block have one number per row.
MOST_ROWS = 2**18
# The arrays of a compressed matrix, besides the positions at which its rows or columns start.
STORED = ("data", "indices")
Places = npt.NDArray[np.int64]


@contextmanager
def open_h5ad(source: Source, layer: str | None = None) -> Iterator[Matrix]:
    """Open a matrix of an AnnData file, which is read in blocks of rows when it is needed.

    Parameters
    ----------
    source : Source
        A regular file that is not compressed.
    layer : str, default=None
        Layer to open instead of X.

    Yields
    ------
    Matrix
        The matrix as a Dask array of shape (n_samples, n_features), whose blocks are dense or compressed by row, and
        the tables that describe its rows and columns, which are in memory. The array can be read until the context
        ends.
    """
    import h5py

    name = "X" if layer is None else f"layers/{layer}"

    def describe() -> tuple[Any, Any]:
        from anndata.io import read_elem

        check_readable(source, str(source.path))
        with h5py.File(source.path, "r") as file:
            missing = next((part for part in ("obs", "var", name) if part not in file), None)
            if missing is not None:
                raise FileError(f"{source.name} has no part {brief(missing)}, which is needed to read it in blocks.")
            check_stored(file, source, ("obs", "var"))
            return read_elem(file["obs"]), read_elem(file["var"])

    if not source.is_plain:
        raise FileError(f"{source.name} is too large to be loaded and is compressed. Decompress it first.")
    obs, var = read_with("anndata", source, describe)
    with in_blocks(str(source.path), name) as (X, notes):
        if X.shape != (len(obs), len(var)):
            raise FileError(
                f"{source.name} is damaged: {name} has the shape {X.shape}, but there are {len(obs)} samples and "
                f"{len(var)} features."
            )
        yield Matrix(X, list(map(str, obs.index)), list(map(str, var.index)), obs, notes)


@contextmanager
def in_blocks(file: str, name: str) -> Iterator[tuple[Any, list[str]]]:
    """Open a matrix in an HDF5 file as a Dask array, and tell in notes what was done for it.

    Rows of a matrix that is stored by column are all over the file, so it is rewritten by row into a temporary file,
    which is removed when the context ends.
    """
    import h5py

    with tempfile.TemporaryDirectory(prefix="sparsecluster-") as folder:
        notes = []
        with h5py.File(file, "r") as store:
            part = store[name]
            if is_by_column(part):
                size = shown(sum(part[each].size * part[each].dtype.itemsize for each in STORED))
                notes.append(
                    f"{name.lstrip('/')} is stored by column (CSC), so it was rewritten by row into a temporary file "
                    f"of {size}. Store it by row (CSR) to save this time."
                )
                file, name = str(Path(folder, "rows.h5")), "X"
                with h5py.File(file, "w") as made:
                    rewrite_by_row(part, made.create_group(name))
        yield array_of(file, name), notes


def is_by_column(part: Any) -> bool:
    """Whether a matrix in a file is compressed by column."""
    return str(part.attrs.get("encoding-type")) == "csc_matrix"


def array_of(file: str, name: str) -> Any:
    """The Dask array of a matrix that is dense or compressed by row."""
    import h5py

    try:
        import dask.array as da
    except ImportError as error:
        raise ImportError(
            "Reading a file in blocks needs Dask. Install it with `pip install 'sparsecluster[dask]'`, or load the "
            "file into memory."
        ) from error
    with h5py.File(file, "r") as store:
        part = store[name]
        if isinstance(part, h5py.Dataset):
            n, p = part.shape
            edges, dtype = even_edges(n, p, part.chunks), part.dtype
            meta: Any = np.empty((0, 0), dtype)
        else:
            n, p = map(int, part.attrs["shape"])
            edges, dtype = edges_of(part["indptr"][:], BLOCK_VALUES), part["data"].dtype
            meta = csr_matrix((0, 0), dtype=dtype)
    chunks = (tuple(np.diff(edges).tolist()), (p,))
    return da.map_blocks(partial(read_rows, file, name, p), chunks=chunks, dtype=dtype, meta=meta)


def even_edges(n_rows: int, n_columns: int, stored: tuple[int, ...] | None) -> Places:
    """The first row of every block of a dense matrix, and the end of the last; blocks end where stored chunks do."""
    step = min(max(1, BLOCK_VALUES // max(n_columns, 1)), MOST_ROWS)
    if stored is not None and stored[0] < step:
        step -= step % stored[0]
    return np.append(np.arange(0, max(n_rows, 1), step), n_rows).astype(np.int64)


def edges_of(starts: Any, most: int) -> Places:
    """The first row of every block, and the end of the last, so that no block stores much more than `most` values."""
    n = starts.size - 1
    by_values = np.searchsorted(starts, np.arange(0, starts[-1], most), side="right") - 1
    edges = np.concatenate([[0], by_values, np.arange(0, n, MOST_ROWS), [n]])
    return np.unique(edges).astype(np.int64) if n > 0 else np.array([0, 0])


def read_rows(file: str, name: str, n_columns: int, block_info: Any = None) -> Any:
    """Read one block of rows. The file is opened each time, so that this works in every thread and process."""
    import h5py

    (first, last), _ = block_info[None]["array-location"]
    with h5py.File(file, "r") as store:
        part = store[name]
        if isinstance(part, h5py.Dataset):
            return part[first:last]
        starts = part["indptr"][first : last + 1].astype(np.int64)
        values, places = (part[each][starts[0] : starts[-1]] for each in STORED)
    block = csr_matrix((values, places, starts - starts[0]), shape=(last - first, n_columns))
    # Positions beyond the matrix would make compiled code read foreign memory.
    block.check_format(full_check=True)
    return block


def rewrite_by_row(part: Any, made: Any) -> None:
    """Write a matrix that is compressed by column into a group of another file, compressed by row.

    Every part of the columns is cut by rows, and each piece is put where the values of its block of rows will be. Then
    the blocks are put in order one by one. The matrix is read twice, and no more than a part of it is in memory.
    """
    n, p = map(int, part.attrs["shape"])
    columns = part["indptr"][:].astype(np.int64)
    parts = list(pairwise(edges_of(columns, PART_VALUES)))
    counts = np.zeros(n, np.int64)
    for first, last in parts:
        counts += np.bincount(part["indices"][columns[first] : columns[last]], minlength=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    edges = edges_of(starts, PART_VALUES)
    made.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": (n, p)})
    made["indptr"] = starts
    types = {"data": part["data"].dtype, "indices": np.int32 if p < 2**31 else np.int64, "rows": np.int64}
    for key, dtype in types.items():
        made.create_dataset(key, (int(starts[-1]),), dtype)
    ends = starts[edges[:-1]]
    for first, last in parts:
        values, rows = (part[each][columns[first] : columns[last]] for each in STORED)
        piece = csc_matrix((values, rows, columns[first : last + 1] - columns[first]), shape=(n, last - first)).tocsr()
        own = {
            "data": piece.data,
            "indices": piece.indices + first,
            "rows": np.repeat(np.arange(n), np.diff(piece.indptr)),
        }
        bounds = piece.indptr[edges]
        for block, (low, high) in enumerate(pairwise(bounds)):
            for key, each in own.items():
                made[key][ends[block] : ends[block] + high - low] = each[low:high]
            ends[block] += high - low
    for first, last in pairwise(starts[edges]):
        order = np.argsort(made["rows"][first:last], kind="stable")
        for key in STORED:
            made[key][first:last] = made[key][first:last][order]
    del made["rows"]
