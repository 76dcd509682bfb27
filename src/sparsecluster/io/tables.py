"""Reading tables from CSV and other text files, Parquet, Feather, Excel, NumPy, H5AD and Matrix Market files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .text import MISSING, OPENERS, FileError, text_frame, tidied

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
Frame = Any


class Options(NamedTuple):
    """Options for reading a file.

    Attributes
    ----------
    sheet : str, default=None
        Sheet of an Excel file; by default, the first.
    encoding, delimiter, decimal : str, default=None
        Encoding, delimiter and decimal sign of a text file; by default, UTF-8 is assumed and the signs are detected.
    """

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None


class Matrix(NamedTuple):
    """A matrix of shape (n_samples, n_features), its names, a data frame that describes the samples, and notes."""

    X: Any
    ids: list[str]
    names: list[str]
    about: Any
    notes: list[str]


class Loaded(NamedTuple):
    """A table that is ready for `fit`, as returned by `read_table`."""

    X: Any
    ids: list[str]
    names: list[str]
    truth: Any | None
    notes: list[str]


def read_table(
    source: str | Path,
    *,
    id_column: str | None = None,
    truth: str | None = None,
    drop: tuple[str, ...] = (),
    transpose: bool = False,
    options: Options | None = None,
) -> Loaded:
    r"""Read a table with samples in rows and features in columns.

    The format is recognized by the extension of the file. Files without a known extension are read as text.

    Parameters
    ----------
    source : str or Path
        File to read, or "-" for standard input.
    id_column : str, default=None
        Column with the names of the samples; by default, the first column if it has a different text in every row.
    truth : str, default=None
        Column with the true groups, which is returned separately.
    drop : tuple of str, default=()
        Columns to leave out.
    transpose : bool, default=False
        Whether the file has features in rows and samples in columns. Then `id_column` has the names of the features.
    options : Options, default=None
        Sheet, encoding, delimiter and decimal sign of the file.

    Returns
    -------
    X : pandas.DataFrame, ndarray or sparse matrix of shape (n_samples, n_features)
        Values.
    ids, names : list of str
        Names of the samples and of the features.
    truth : pandas.Series of length n_samples, or None
        True group of each sample, if the column `truth` was given.
    notes : list of str
        Decisions made while reading the file, in full sentences.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsecluster.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "plants.csv")
    ...     _ = file.write_text("plant;height;color;species\nP1;1,5;red;a\nP2;NA;blue;b\nP3;2,5;red;a\n")
    ...     table = read_table(file, truth="species")
    >>> table.ids, table.names, table.X["height"].tolist(), table.truth.tolist()
    (['P1', 'P2', 'P3'], ['height', 'color'], [1.5, nan, 2.5], ['a', 'b', 'a'])
    """
    name = "standard input" if str(source) == "-" else str(source)
    if str(source) != "-":
        _check_there(Path(source), name)
    try:
        import pandas as pd
    except ImportError as error:
        raise FileError("Reading tables needs pandas. Install it with: pip install sparsecluster[tables]") from error
    given = _reader(str(source))(str(source), name, options or Options())
    if isinstance(given, Matrix):
        return _of_matrix(given, name, id_column, truth, drop, transpose)
    frame: Frame = given
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise FileError(f"{name} contains no data: it has no rows below the header, or no columns.")
    notes: list[str] = []
    frame.columns = [str(column) for column in frame.columns]
    frame = _with_ids(frame, id_column, name, notes, {*drop, truth})
    if transpose:
        frame = _turned(frame, name, notes)
    kept = None
    if truth is not None:
        _check_column(frame, truth, name, "--truth")
        kept = _known(frame[truth], truth, name)
        frame = frame.drop(columns=truth)
        notes.append(f"Column {truth!r} contains the true groups. It is used for comparison only, not for clustering.")
    for column in drop:
        _check_column(frame, column, name, "--drop")
        frame = frame.drop(columns=column)
    if frame.shape[1] == 0:
        raise FileError(f"{name} has no columns left to cluster by. Leave out fewer columns.")
    assert isinstance(frame, pd.DataFrame)
    return Loaded(frame, [str(each) for each in frame.index], list(frame.columns), kept, notes)


# ---------------------------------------------------------------- rows and columns


def _check_there(path: Path, name: str) -> None:
    if path.is_dir():
        raise FileError(f"{name} is a folder. Give the name of a file.")
    if not path.exists():
        raise FileError(f"There is no file {name}.")
    if path.stat().st_size == 0:
        raise FileError(f"{name} is empty.")


def _check_column(frame: Frame, column: str, name: str, option: str) -> None:
    if column not in frame.columns:
        import difflib

        near = difflib.get_close_matches(column, list(frame.columns), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Its columns are {', '.join(frame.columns[:5])}, ..."
        raise FileError(f"{option} must name a column of {name}; got {column!r}.{hint}")


def _with_ids(frame: Frame, id_column: str | None, name: str, notes: list[str], others: set[Any]) -> Frame:
    """Use a column as the names of the rows, and remove it from the features."""
    if id_column is not None:
        _check_column(frame, id_column, name, "--id")
    elif frame.shape[1] > 1 and frame.columns[0] not in others and _names_rows(frame.iloc[:, 0]):
        id_column = frame.columns[0]
        notes.append(f"Column {id_column!r} contains a different text in every row, so it is used as the row names.")
    if id_column is None:
        return frame
    ids = frame[id_column].astype(str)
    if frame[id_column].isna().any():
        raise FileError(
            f"{name}: column {id_column!r} must have an id in every row; {frame[id_column].isna().sum()} of "
            f"{len(frame)} are missing."
        )
    if ids.duplicated().any():
        twice = ids[ids.duplicated()].unique()[:5]
        raise FileError(f"{name}: ids must be unique, but column {id_column!r} repeats {', '.join(map(repr, twice))}.")
    return frame.drop(columns=id_column).set_index(ids.rename(None))


def _names_rows(column: Any) -> bool:
    import pandas as pd

    is_text = pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)
    return bool(is_text and not column.isna().any() and column.is_unique and len(column) > 2)


def _turned(frame: Frame, name: str, notes: list[str]) -> Frame:
    """Transpose a table of numbers that has features in rows."""
    numbers = frame.apply(lambda column: _as_numbers(column, name))
    notes.append(f"The table is transposed: {frame.shape[0]} rows are features, {frame.shape[1]} columns are samples.")
    turned = numbers.T
    turned.columns = [str(each) for each in turned.columns]
    twice = turned.columns[turned.columns.duplicated()].unique()[:5]
    if len(twice):
        raise FileError(f"{name}: feature names must be unique, but these are repeated: {', '.join(map(repr, twice))}.")
    return turned


def _as_numbers(column: Any, name: str) -> Any:
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError) as error:
        raise FileError(
            f"{name}: with --transpose, all values must be numbers, but column {column.name!r} contains text. If these "
            "are the names of the features, set this column with --id."
        ) from error


def _known(column: Any, truth: str, name: str) -> Any:
    """Return the column of the true groups after a check that none are missing."""
    if column.isna().any():
        raise FileError(
            f"{name}: column {truth!r} (--truth) must have a group for every sample; {column.isna().sum()} of "
            f"{len(column)} are missing."
        )
    return column


def _of_matrix(
    given: Matrix, name: str, id_column: str | None, truth: str | None, drop: tuple[str, ...], transpose: bool
) -> Loaded:
    """Apply the options to a matrix, whose sample names and true groups are in a table of their own."""
    if transpose:
        raise FileError(f"--transpose cannot be used with {name}: its format defines which axis holds the samples.")
    X, ids, notes = given.X, given.ids, list(given.notes)
    kept = None
    for column, option in ((id_column, "--id"), (truth, "--truth")):
        if column is not None:
            _check_column(given.about, column, name, option)
    if id_column is not None:
        ids = [str(each) for each in given.about[id_column]]
    if truth is not None:
        kept = _known(given.about[truth], truth, name)
    unknown = next((column for column in drop if column not in given.names), None)
    if unknown is not None:
        raise FileError(f"--drop must name features of {name}; got {unknown!r}.")
    keep = [a for a, each in enumerate(given.names) if each not in drop]
    if len(keep) < len(given.names):
        X = X[:, keep]
    return Loaded(X, ids, [given.names[a] for a in keep], kept, notes)


# ---------------------------------------------------------------- one function per format


def _reader(source: str) -> Callable[[str, str, Options], Any]:
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] in (*OPENERS, ".zst", ".zip"):
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ".csv"
    readers: dict[str, Callable[[str, str, Options], Any]] = {
        **dict.fromkeys(TEXT, _text),
        **dict.fromkeys(EXCEL, _excel),
        ".parquet": _parquet,
        ".pq": _parquet,
        ".feather": _feather,
        ".arrow": _feather,
        ".npy": _numpy,
        ".npz": _numpy,
        ".h5ad": _h5ad,
        ".mtx": _matrix_market,
    }
    return readers.get(suffix, _text)


def _text(source: str, name: str, options: Options) -> Frame:
    if source.lower().endswith((".zst", ".zip")):
        raise FileError(f"{name}: compressed text files must end in .gz, .bz2 or .xz. Decompress the file first.")
    delimiter = options.delimiter or ("\t" if ".tsv" in source.lower() else None)
    return text_frame(source, name, options.encoding, delimiter, options.decimal)


def _with_package(read: Callable[[], Any], package: str, name: str) -> Any:
    try:
        return read()
    except ImportError as error:
        raise FileError(f"Reading {name} needs {package}. Install it with: pip install {package}") from error
    except FileError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise FileError(f"{name} cannot be read ({type(error).__name__}: {reason}).") from error


def _excel(source: str, name: str, options: Options) -> Frame:
    import pandas as pd

    def read() -> Frame:
        with pd.ExcelFile(source) as book:
            if options.sheet is not None and options.sheet not in book.sheet_names:
                listed = ", ".join(map(repr, book.sheet_names))
                raise FileError(f"{name} has no sheet {options.sheet!r}; its sheets are {listed}.")
            return tidied(book.parse(options.sheet or book.sheet_names[0], na_values=list(MISSING)))

    return _with_package(read, "openpyxl", name)


def _parquet(source: str, name: str, options: Options) -> Frame:
    import pandas as pd

    return _named_index(_with_package(lambda: pd.read_parquet(source), "pyarrow", name))


def _feather(source: str, name: str, options: Options) -> Frame:
    import pandas as pd

    return _named_index(_with_package(lambda: pd.read_feather(source), "pyarrow", name))


def _named_index(frame: Frame) -> Frame:
    """Turn the index into the first column, as in a text file, unless it only numbers the rows."""
    import pandas as pd

    plain = frame.index.name is None and pd.api.types.is_integer_dtype(frame.index.dtype)
    return frame.reset_index(drop=plain)


def _numpy(source: str, name: str, options: Options) -> Frame:
    """Read an array, or from an archive the array X or the only one. Nothing is unpickled."""
    import pandas as pd

    def read() -> Frame:
        kept = np.load(source, allow_pickle=False)
        if isinstance(kept, np.ndarray):
            return kept
        with kept:
            key = "X" if "X" in kept.files else kept.files[0] if len(kept.files) == 1 else None
            if key is None:
                raise FileError(f"{name} must contain an array X or only one array; got {', '.join(kept.files)}.")
            return kept[key]

    array = _with_package(read, "numpy", name)
    if array.ndim != 2:
        raise FileError(f"{name} must contain an array of two dimensions; got an array of shape {array.shape}.")
    return pd.DataFrame(array, columns=[f"x{a}" for a in range(array.shape[1])])


def _h5ad(source: str, name: str, options: Options) -> Matrix:
    def read() -> Matrix:
        import anndata

        data = anndata.read_h5ad(source)
        return Matrix(data.X, list(map(str, data.obs_names)), list(map(str, data.var_names)), data.obs, [])

    matrix: Matrix = _with_package(read, "anndata", name)
    return matrix


def _matrix_market(source: str, name: str, options: Options) -> Matrix:
    """Read a Matrix Market file. In the 10x Genomics format, genes are in rows, and the names are in separate files."""
    import pandas as pd
    import scipy.sparse
    from scipy.io import mmread

    matrix: Any = scipy.sparse.csc_array(_with_package(lambda: mmread(source), "scipy", name))
    folder = Path(source).parent
    words = (("genes", "features"), ("barcodes", "cells"))
    genes, cells = (_beside(folder, each, count) for each, count in zip(words, matrix.shape, strict=True))
    in_rows = genes is not None or cells is not None
    if not in_rows:
        cells, genes = (_beside(folder, each, count) for each, count in zip(words[::-1], matrix.shape, strict=True))
    X = matrix.T.tocsc() if in_rows else matrix
    ids, names = cells or [str(i) for i in range(X.shape[0])], genes or [f"x{a}" for a in range(X.shape[1])]
    notes = ["The matrix is transposed: it has genes in rows, as in the 10x Genomics format."] if in_rows else []
    return Matrix(X, ids, names, pd.DataFrame(index=ids), notes)


def _beside(folder: Path, words: tuple[str, ...], count: int) -> list[str] | None:
    """Return the names in a file next to the matrix, if there is one with the right number of lines."""
    import gzip

    for word in words:
        for file in (folder / f"{word}.tsv", folder / f"{word}.tsv.gz", folder / f"{word}.txt"):
            if file.is_file():
                with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
                    names = [line.rstrip("\n").split("\t") for line in lines]
                if len(names) == count:
                    return unique([row[1] if len(row) > 1 else row[0] for row in names])
    return None


def unique(names: list[str]) -> list[str]:
    """Append a number to each name that occurred before, so that all names are different.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a-1']
    """
    taken: set[str] = set()
    made = []
    for name in names:
        new, number = name, 0
        while new in taken:
            number += 1
            new = f"{name}-{number}"
        taken.add(new)
        made.append(new)
    return made
