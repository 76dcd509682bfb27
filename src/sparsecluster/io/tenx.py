"""Counts of 10x Genomics: a folder with a matrix and the names of its genes and cells, or an HDF5 file with all three.

Both have genes in rows and cells in columns, and are returned with cells in rows. Other programs that count reads, such
as STARsolo, write the same folders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._data.names import DefaultNames
from .._utils.checks import listed
from .._utils.text import brief
from . import limits
from ._hdf5 import check_readable
from ._shared import Matrix, Options, read_with
from .limits import FileError
from .lines import decoded
from .market import read_market
from .sources import MATRIX, Source, matrices_in

# The words that the names of the files with the names of genes and of cells begin with, the most recent ones first.
GENES, CELLS = ("features", "genes"), ("barcodes", "cells")
ENDINGS = (".tsv", ".tsv.gz", ".txt")
# The type of the features that are genes; others are antibodies, guides, peaks of chromatin, ...
EXPRESSION = "Gene Expression"
TRANSPOSED = "The matrix is transposed: it has genes in rows, as in the 10x Genomics format."


class Lines(NamedTuple):
    """The names in a file, and the type of each of them if the file tells it."""

    names: list[str]
    types: list[str] | None


# ---------------------------------------------------------------- a folder


def folder(source: Source, options: Options) -> Matrix:
    """Read a folder with matrix.mtx, features.tsv or genes.tsv, and barcodes.tsv, compressed or not."""
    assert source.path is not None
    place = source._replace(path=_matrix_of(source.path))
    genes, cells = (_named(place, words, what) for words, what in ((GENES, "genes"), (CELLS, "cells")))
    names, ids = _lines(genes), _lines(cells)
    matrix: Any = read_market(source._replace(name=str(place.path), path=place.path))
    if matrix.shape == (len(ids.names), len(names.names)) and len(ids.names) != len(names.names):
        # Some programs write cells in rows.
        return _of_genes(matrix.tocsr(), ids.names, names, [])
    for file, count, found, what in zip((genes, cells), matrix.shape, (names, ids), ("rows", "columns"), strict=True):
        if len(found.names) != count:
            raise FileError(
                f"{file.name} must have one line for each of the {count:,} {what} of {place.path}; it has "
                f"{len(found.names):,}. Give a folder whose files belong together."
            )
    return _of_genes(matrix.T.tocsr(), ids.names, names, [TRANSPOSED])


def _matrix_of(folder: Path) -> Path:
    """The only matrix of a folder; of a matrix and its compressed copy, the matrix."""
    found = {_prefix(path): path for path in reversed(matrices_in(folder))}
    if len(found) > 1:
        raise FileError(
            f"{folder} must contain one matrix of counts; it has {listed([path.name for path in found.values()])}. "
            "Give the name of one of these files, or a folder for each."
        )
    return next(iter(found.values()))


def _named(source: Source, words: tuple[str, ...], what: str) -> Source:
    """The file with names next to a matrix, or an error if there is none."""
    found = next(_beside(source, words), None)
    if found is None:
        assert source.path is not None
        names = " or ".join(f"{_prefix(source.path)}{word}.tsv" for word in words)
        raise FileError(
            f"{source.name} has a matrix of counts, but no file {names} (or .tsv.gz) with the names of the {what}. Add "
            f"this file, or give the matrix alone: {source.path}."
        )
    return found


def _prefix(matrix: Path) -> str:
    """What the names of files that belong to a matrix have in common: GSM1_ for GSM1_matrix.mtx.gz."""
    found = MATRIX.search(matrix.name)
    return matrix.name[: found.start()] if found else ""


def _beside(source: Source, words: tuple[str, ...]) -> Iterator[Source]:
    """Files next to a matrix that may have the names of its rows or columns."""
    assert source.path is not None
    for prefix in dict.fromkeys((_prefix(source.path), "")):
        for word in words:
            for ending in ENDINGS:
                file = source.path.parent / f"{prefix}{word}{ending}"
                if file.is_file():
                    yield Source(str(file), file, source.limit)


def _lines(file: Source) -> Lines:
    """Read a file of names: that of genes has their identifiers, names and types."""
    text = decoded(file.read(limits.TEXT_WORD), file.name, None)
    rows = [line.rstrip("\r").split("\t") for line in text.removesuffix("\n").split("\n")] if text else []
    named = unique([row[1] if len(row) > 1 and row[1].strip() else row[0] for row in rows])
    return Lines(named, [row[2] for row in rows] if rows and all(len(row) > 2 for row in rows) else None)


# ---------------------------------------------------------------- a matrix, with or without names next to it


def matrix_market(source: Source, options: Options) -> Matrix:
    """Read a Matrix Market file. In the 10x Genomics format, genes are in rows, and the names are in separate files."""
    matrix: Any = read_market(source)
    rows, columns = matrix.shape
    genes, cells = _of_length(source, GENES, rows), _of_length(source, CELLS, columns)
    in_rows = genes is not None or cells is not None
    if not in_rows:
        genes, cells = _of_length(source, GENES, columns), _of_length(source, CELLS, rows)
    X = matrix.T.tocsr() if in_rows else matrix
    n, p = X.shape
    ids = DefaultNames(n, "") if cells is None else cells.names
    if genes is None:
        return Matrix(X, ids, DefaultNames(p), _about(n), [TRANSPOSED] * in_rows)
    return _of_genes(X, ids, genes, [TRANSPOSED] * in_rows)


def _of_length(source: Source, words: tuple[str, ...], count: int) -> Lines | None:
    """Return the names in a file next to the matrix, if there is one with the right number of lines."""
    if source.path is None:
        return None
    found = (_lines(file) for file in _beside(source, words))
    return next((lines for lines in found if len(lines.names) == count), None)


# ---------------------------------------------------------------- an HDF5 file


def hdf5(source: Source, options: Options) -> Matrix:
    """Read an HDF5 file of Cell Ranger, such as filtered_feature_bc_matrix.h5, of version 3 or older."""

    def read() -> Matrix:
        import h5py

        handle = source.handle()
        check_readable(source, handle)
        with h5py.File(handle, "r") as file:
            return _of_group(file, source)

    matrix: Matrix = read_with("h5py", source, read)
    return matrix


def _of_group(file: Any, source: Source) -> Matrix:
    """Read the group `matrix`; until version 2, the only group, which had the name of the genome."""
    import h5py
    import scipy.sparse

    from .matrices import check_stored

    groups = [name for name in file if isinstance(file.get(name, getlink=True), h5py.HardLink)]
    group = "matrix" if "matrix" in groups else groups[0] if len(groups) == 1 else None
    if group is None or not isinstance(file[group], h5py.Group):
        raise FileError(
            f"{source.name} has no group 'matrix', which an HDF5 file of 10x Genomics must have. Give a file such as "
            "filtered_feature_bc_matrix.h5, or convert the table to CSV, Parquet or H5AD."
        )
    check_stored(file, source, (group,))
    held: dict[str, Any] = {}
    # Links to other files are not followed.
    file[group].visititems(lambda name, each: held.update({name: each} if isinstance(each, h5py.Dataset) else {}))
    is_old = "gene_names" in held
    names_in, types_in = ("gene_names", None) if is_old else ("features/name", "features/feature_type")
    absent = [each for each in ("data", "indices", "indptr", "shape", "barcodes", names_in) if each not in held]
    if absent:
        raise FileError(
            f"{source.name} has no {listed([f'{group}/{each}' for each in absent])}, which an HDF5 file of 10x "
            "Genomics must have."
        )
    names, ids = _texts(held[names_in]), _texts(held["barcodes"])
    types = _texts(held[types_in]) if types_in in held else None
    shape = tuple(int(each) for each in np.ravel(held["shape"][()]))
    if shape != (len(names), len(ids)) or (types is not None and len(types) != len(names)):
        raise FileError(
            f"{source.name} is damaged: the matrix has the shape {shape}, but there are {len(names):,} genes and "
            f"{len(ids):,} cells."
        )
    # Columns compressed by cell are rows compressed by cell of the transposed matrix.
    stored = tuple(held[each][()] for each in ("data", "indices", "indptr"))
    X = scipy.sparse.csr_array(stored, shape=shape[::-1], dtype=np.float64)
    # Positions beyond the matrix would make compiled code read foreign memory.
    X.check_format(full_check=True)
    X.sum_duplicates()
    return _of_genes(X, unique(ids), Lines(unique(names), types), [])


def _texts(dataset: Any) -> list[str]:
    return [each.decode() if isinstance(each, bytes) else str(each) for each in dataset[()].ravel()]


# ---------------------------------------------------------------- all of them


def _of_genes(X: Any, ids: Sequence[str], genes: Lines, notes: list[str]) -> Matrix:
    """A matrix with cells in rows. If genes and other features are told apart, only the genes are kept."""
    names, types = genes.names, genes.types or []
    others = Counter(each for each in types if each != EXPRESSION)
    if others and others.total() < len(types):
        kept = [place for place, each in enumerate(types) if each == EXPRESSION]
        X, names = X[:, kept], [names[place] for place in kept]
        kinds = ", ".join(f"{count:,} of the type {brief(kind)}" for kind, count in others.most_common(3))
        more = f" and {len(others) - 3:,} further types" if len(others) > 3 else ""
        notes = [*notes, f"Only the {len(kept):,} features of gene expression are used; {kinds}{more} are left out."]
    return Matrix(X, ids, names, _about(X.shape[0]), notes)


def _about(n_samples: int) -> Any:
    """The table that describes the samples, of which nothing is known."""
    import pandas as pd

    return pd.DataFrame(index=pd.RangeIndex(n_samples))


def unique(names: list[str]) -> list[str]:
    """Append a number to each name that occurred before, so that all names are different.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a-1']
    """
    taken, seen, made = set(names), Counter[str](), []
    for name in names:
        number = seen[name]
        new = name
        while number and (new := f"{name}-{number}") in taken:
            number += 1
        taken.add(new)
        seen[name] = number + 1
        made.append(new)
    return made
