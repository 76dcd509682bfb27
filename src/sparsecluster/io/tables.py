"""Reading tables from CSV and other text files, Parquet, Feather, Excel, NumPy, H5AD and Matrix Market files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from .._data.names import DefaultNames
from .._utils.checks import listed
from .._utils.text import brief, shortened
from ._shared import Frame, Matrix, Options
from .blocks import Blocks, together
from .formats import MOST_AT_ONCE, opened_blocks, reader_for
from .limits import FileError, memory_limit
from .sources import source_of
from .text import numbers_of


class Loaded(NamedTuple):
    """A table that is ready for `fit`, as returned by `read_table`."""

    X: Any
    ids: Sequence[str]
    names: Sequence[str]
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

    The format is recognized by the extension of the file. Files without a known extension are read as text. Files with
    the extension .h5 are HDF5 files of 10x Genomics.

    Parameters
    ----------
    source : str or Path
        File to read, folder of 10x Genomics (matrix.mtx, features.tsv and barcodes.tsv), or "-" for standard input.
    id_column : str, default=None
        Column with the names of the samples; by default, the first column if it has a different text in every row.
    truth : str, default=None
        Column with the true groups, which is returned separately.
    drop : tuple of str, default=()
        Columns to leave out.
    transpose : bool, default=False
        Whether the file has features in rows and samples in columns. Then `id_column` has the names of the features.
    options : Options, default=None
        Sheet, encoding, delimiter and decimal sign of the file, and the memory that reading may take.

    Returns
    -------
    X : pandas.DataFrame, ndarray or sparse matrix of shape (n_samples, n_features)
        Values.
    ids, names : sequence of str
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
    options = options or Options()
    origin = source_of(source, memory_limit(options.max_memory))
    name = origin.name
    if origin.is_plain and origin.size() == 0:
        raise FileError(f"{name} is empty.")
    try:
        import pandas as pd
    except ImportError as error:
        raise FileError("Reading tables needs pandas. Install it with: pip install sparsecluster[tables]") from error
    given = reader_for(origin)(origin, options)
    if isinstance(given, Matrix):
        return _of_matrix(given, name, id_column, truth, drop, transpose)
    frame, notes = given.frame, given.notes
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise FileError(f"{name} contains no data: it has no rows below the header, or no columns.")
    frame.columns = [" ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in frame.columns]
    _check_unique(frame.columns, name, "column names")
    frame = _with_ids(frame, id_column, name, notes, {*drop, truth}, frame.shape[1] > 1)
    if transpose:
        frame = _turned(frame, name, notes)
    kept = None
    if truth is not None:
        _check_column(frame, truth, name, "--truth")
        kept = _known(frame.pop(truth), truth, name)
        notes.append(
            f"Column {brief(truth)} contains the true groups. It is used for comparison only, not for clustering."
        )
    for column in drop:
        _check_column(frame, column, name, "--drop")
        # Unlike `drop`, this does not copy the others.
        del frame[column]
    if frame.shape[1] == 0:
        raise FileError(f"{name} has no columns left to cluster by. Leave out fewer columns.")
    assert isinstance(frame, pd.DataFrame)
    is_counted = frame.index.equals(pd.RangeIndex(len(frame)))
    ids = DefaultNames(len(frame), "") if is_counted else [str(each) for each in frame.index]
    return Loaded(frame, ids, list(frame.columns), kept, notes)


class Stream(NamedTuple):
    """A long table that is read in blocks of rows, as returned by `read_blocks`."""

    ids: Sequence[str]
    names: Sequence[str]
    notes: list[str]
    blocks: Blocks
    places: Sequence[int]
    others: Frame

    def frames(self) -> Iterator[Frame]:
        """Yield data frames with the next rows."""
        import pandas as pd

        first, columns = 0, [self.blocks.names[place] for place in self.places]
        for values in self.blocks.arrays(self.places):
            rows = slice(first, first + len(values))
            some = self.others.iloc[rows].reset_index(drop=True)
            yield together(pd.DataFrame(values, columns=columns, copy=False), some, self.names)
            first = rows.stop


@contextmanager
def read_blocks(
    source: str | Path, *, id_column: str | None = None, drop: tuple[str, ...] = (), options: Options | None = None
) -> Iterator[Stream | None]:
    """Open a long table of a text, Parquet or NumPy file, to read it in blocks of rows.

    None stands for other files, short tables and options that need the whole table, which `read_table` reads.
    """
    options = options or Options()
    origin = source_of(source, memory_limit(options.max_memory))
    with opened_blocks(origin, options) as blocks:
        if blocks is None or blocks.n_rows <= MOST_AT_ONCE:
            yield None
            return
        rest, name = blocks.rest(), origin.name
        names = [str(each) for each in blocks.names]
        numbers = {names[place] for place in rest.places}
        if len(set(names)) < len(names) or id_column in numbers or not {*drop} <= {*names} - {id_column}:
            # Whatever is unusual is told by `read_table`.
            yield None
            return
        others, notes, n_rows = rest.others, list(blocks.notes), blocks.n_rows
        may_name = len(names) > 1 and names[0] not in numbers
        others = _with_ids(others, id_column, name, notes, {*drop}, may_name)
        has_ids = len(others.columns) + len(numbers) < len(names)
        ids = [str(each) for each in others.index] if has_ids else DefaultNames(n_rows, "")
        kept = [each for each in names if each not in drop and (each in numbers or each in others.columns)]
        places = [place for place in rest.places if names[place] not in drop]
        others = others.drop(columns=[each for each in drop if each in others.columns])
        yield Stream(ids, kept, notes, blocks, places, others) if places else None


# ---------------------------------------------------------------- rows and columns


def _check_unique(names: Any, name: str, what: str) -> None:
    twice = names[names.duplicated()].unique()
    if len(twice):
        raise FileError(f"{name}: {what} must be unique, but these are repeated: {listed(twice)}.")


def _check_column(frame: Frame, column: str, name: str, option: str) -> None:
    if column not in frame.columns:
        near = difflib.get_close_matches(column, list(frame.columns), n=1)
        hint = (
            f" Did you mean {brief(near[0])}?"
            if near
            else f" Its columns are {', '.join(map(shortened, frame.columns[:5]))}, ..."
        )
        raise FileError(f"{option} must name a column of {name}; got {brief(column)}.{hint}")


def _with_ids(
    frame: Frame, id_column: str | None, name: str, notes: list[str], others: set[Any], may_name: bool
) -> Frame:
    """Use a column as the names of the rows, and remove it from the features.

    If no column is given, the first one is used if it may name the rows and does.
    """
    import pandas as pd

    if id_column is not None:
        _check_column(frame, id_column, name, "--id")
    elif may_name and frame.columns[0] not in others and _names_rows(frame.iloc[:, 0]):
        id_column = frame.columns[0]
        notes.append(
            f"Column {brief(id_column)} contains a different text in every row, so it is used as the row names."
        )
    if id_column is None:
        return frame
    ids = frame[id_column].astype(str)
    if frame[id_column].isna().any():
        raise FileError(
            f"{name}: column {brief(id_column)} must have an id in every row; {frame[id_column].isna().sum()} of "
            f"{len(frame)} are missing."
        )
    if ids.duplicated().any():
        twice = ids[ids.duplicated()].unique()[:5]
        raise FileError(
            f"{name}: ids must be unique, but column {brief(id_column)} repeats {', '.join(map(brief, twice))}."
        )
    del frame[id_column]
    frame.index = pd.Index(ids, name=None)
    return frame


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
    _check_unique(turned.columns, name, "feature names")
    return turned


def _as_numbers(column: Any, name: str) -> Any:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column
    if column.isna().all():
        return column.astype(float)
    numbers = numbers_of(column)
    if numbers is None:
        raise FileError(
            f"{name}: with --transpose, all values must be numbers, but column {brief(column.name)} contains text. If "
            "these are the names of the features, set this column with --id."
        )
    return numbers


def _known(column: Any, truth: str, name: str) -> Any:
    """Return the column of the true groups after a check that none are missing."""
    if column.isna().any():
        raise FileError(
            f"{name}: column {brief(truth)} (--truth) must have a group for every sample; {column.isna().sum()} of "
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
    if not drop:
        return Loaded(X, ids, given.names, kept, notes)
    unknown = next((column for column in drop if column not in given.names), None)
    if unknown is not None:
        raise FileError(f"--drop must name features of {name}; got {brief(unknown)}.")
    keep = [a for a, each in enumerate(given.names) if each not in drop]
    if not keep:
        raise FileError(f"{name} has no columns left to cluster by. Leave out fewer columns.")
    return Loaded(X[:, keep], ids, [given.names[a] for a in keep], kept, notes)
