"""Reading arrays and matrices: NumPy and H5AD files."""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, Any

import numpy as np

from .._data.names import DefaultNames
from .._utils.text import brief
from . import limits
from ._hdf5 import check_readable
from ._shared import Matrix, Options, Table, read_with
from .blocks import ArrayBlocks
from .limits import FileError, check_held
from .sources import Source

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def numpy(source: Source, options: Options) -> Table:
    """Read an array, or from an archive the array X or the only one. Nothing is unpickled."""
    import pandas as pd

    def read() -> Any:
        handle = source.handle()
        if zipfile.is_zipfile(handle):
            return _of_archive(handle, source)
        with open(handle, "rb") if isinstance(handle, str) else handle as file:
            return _array(file, file.seek(0, 2), source)

    array = read_with("numpy", source, read)
    if array.ndim != 2 or array.dtype.names:
        raise FileError(
            f"{source.name} must contain an array of two dimensions; got an array of shape {array.shape}"
            f"{' with named fields' if array.dtype.names else ''}."
        )
    if 0 in array.shape:
        raise FileError(f"{source.name} contains no data: its array has the shape {array.shape}.")
    # Times that pandas does not know are refused.
    frame = read_with("pandas", source, lambda: pd.DataFrame(array, columns=DefaultNames(array.shape[1])[:]))
    return Table(frame, [])


def array_blocks(source: Source) -> ArrayBlocks | None:
    """Return the array of a file in blocks of rows, or None if it is not a plain table of numbers."""
    try:
        array = np.load(source.handle(), mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError):
        # What is wrong is told by `numpy`.
        return None
    if not isinstance(array, np.memmap) or array.ndim != 2 or array.dtype.kind != "f" or array.size == 0:
        return None
    if not array.flags.c_contiguous or source.path is None:
        return None
    return ArrayBlocks(source.path, array.offset, array.shape, array.dtype)


def _of_archive(handle: Any, source: Source) -> Any:
    with zipfile.ZipFile(handle) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        key = "X" if "X" in names else names[0] if len(names) == 1 else None
        if key is None:
            raise FileError(f"{source.name} must contain an array X or only one array; got {', '.join(names)}.")
        member = archive.infolist()[names.index(key)]
        source.check(limits.COPIES * member.file_size)
        with archive.open(member) as file:
            content = source.content_of(file, source.limit // limits.COPIES)
    return _array(io.BytesIO(content), len(content), source)


def _array(file: IO[bytes], size: int, source: Source) -> Any:
    """Read an array from a file of so many bytes."""
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise FileError(f"{source.name} has version {version} of NumPy's format, which is not read. Save it again.")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise FileError(f"{source.name} contains Python objects, which are not read (allow_pickle=False).")
    claimed = math.prod(shape) * max(1, dtype.itemsize)
    check_held(claimed, size - file.tell(), source.name, f"an array of shape {shape}")
    source.check(limits.COPIES * claimed)
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def h5ad(source: Source, options: Options) -> Matrix:
    """Read the matrix X of an AnnData file and the tables that describe its rows and columns."""

    def read() -> Matrix:
        import h5py

        try:
            from anndata.io import read_elem
        except ImportError:
            # Until version 0.10.
            from anndata.experimental import read_elem

        handle = source.handle()
        check_readable(source, handle)
        with h5py.File(handle, "r") as file:
            for part in ("X", "obs", "var"):
                if part not in file:
                    raise FileError(f"{source.name} has no part {brief(part)}, which an H5AD file must have.")
            check_stored(file, source)
            if isinstance(file["obs"], h5py.Dataset):
                # Versions of AnnData before 0.7 wrote each table as one array.
                import anndata

                data = anndata.read_h5ad(handle)
                return Matrix(data.X, list(map(str, data.obs_names)), list(map(str, data.var_names)), data.obs, [])
            obs, var = read_elem(file["obs"]), read_elem(file["var"])
            shape = tuple(int(each) for each in getattr(file["X"], "shape", None) or file["X"].attrs["shape"])
            if shape != (len(obs), len(var)):
                raise FileError(
                    f"{source.name} is damaged: X has the shape {shape}, but there are {len(obs)} samples and "
                    f"{len(var)} features."
                )
            X = read_elem(file["X"])
        if hasattr(X, "check_format"):
            # Positions beyond the matrix would make compiled code read foreign memory.
            X.check_format(full_check=True)
        return Matrix(X, list(map(str, obs.index)), list(map(str, var.index)), obs, [])

    matrix: Matrix = read_with("anndata", source, read)
    return matrix


def check_stored(file: Any, source: Source, parts: tuple[str, ...] = ("X", "obs", "var")) -> None:
    """Check the shapes of the arrays in an HDF5 file against what is stored, and the memory for those parts."""
    import h5py

    needed = 0
    for part in parts:
        found: list[Any] = [file[part]] if isinstance(file[part], h5py.Dataset) else []
        if not found:
            file[part].visititems(lambda _, each, kept=found: kept.append(each))
        for each in found:
            if not isinstance(each, h5py.Dataset) or not each.shape:
                continue
            if each.is_virtual or each.external:
                raise FileError(f"{source.name}: {each.name} is stored in another file. Write the data in one file.")
            claimed = math.prod(each.shape) * each.dtype.itemsize
            is_packed = each.id.get_create_plist().get_nfilters() > 0
            most = each.id.get_storage_size() * (limits.MOST_DEFLATED if is_packed else 1)
            check_held(claimed, most, source.name, f"an array {each.name} of shape {each.shape}")
            needed += limits.COPIES * claimed + limits.NAME * math.prod(each.shape) * each.dtype.hasobject
    source.check(needed)
