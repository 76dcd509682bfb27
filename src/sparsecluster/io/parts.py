"""Opening tables in parts: several files, or one that is larger than memory, as a Dask data frame in blocks of rows.

Nothing but names and types is read when parts are opened; `check` reads all of them once before the work begins.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._blocks.collections import RefusedError
from .._utils.checks import listed
from .._utils.text import brief
from ._columns import Asked, Other, refuse_nothing_left
from ._parts_arrow import open_parquet
from ._parts_columns import with_dates, with_roles
from ._parts_h5ad import GROUP, ID, open_cells
from ._parts_shared import Opened
from ._parts_text import is_packed, open_text
from ._parts_zarr import is_zarr, open_zarr
from ._shared import Options
from .limits import FileError, TooLargeError, check_memory, memory_limit
from .sources import source_of
from .tables import TRUTH_NOTE, Loaded, checked_columns, known_columns, read_table

if TYPE_CHECKING:
    from .models import SavedModel

# The functions that open the parts of each format, by extension.
OPEN: dict[str, Callable[[Sequence[str], Options, int], Opened]] = {
    **dict.fromkeys((".parquet", ".pq"), lambda files, options, limit: open_parquet(files, limit)),
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat"), open_text),
    ".zarr": lambda files, options, limit: open_zarr(files, limit),
}
# A file of this format may be read in blocks, but not be one of several parts.
CELLS = ".h5ad"
# Files in a folder of parts that hold no rows begin with these.
NO_PARTS = (".", "_")


class Parts(NamedTuple):
    """A table in parts that is ready for `fit`, as returned by `open_parts`.

    Attributes
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
        The features.
    table : dask.dataframe.DataFrame
        All columns, or those that describe the rows of an array.
    names : list of str
        Names of the features.
    id_column, truth : str or None
        The columns with the names of the samples and with their true groups.
    files : list of str
        The file of each block.
    needed : float
        An estimate of the memory, in bytes, that the whole table needs.
    notes : list of str
        Decisions made while the parts were opened, in full sentences.
    checks : list of dask.delayed.Delayed or int
        For each block, its number of rows, or its check, which returns it.
    close : callable
        Function to call when the table is no longer read.
    others : tuple of Other
        The columns that are not features; their values are not counted.
    advice, forms : dict of str to str
        What to consider about features, and the form of the dates in columns, as in `Loaded`.
    """

    X: Any
    table: Any
    names: list[str]
    id_column: str | None
    truth: str | None
    files: list[str]
    needed: float
    notes: list[str]
    checks: list[Any]
    close: Callable[[], None] = ExitStack().close
    others: tuple[Other, ...] = ()
    advice: Mapping[str, str] = {}
    forms: Mapping[str, str] = {}

    def check(self) -> list[int]:
        """Read all blocks once, refuse what is wrong with one of them, and return their numbers of rows."""
        from dask.base import compute

        try:
            lengths: list[int] = list(compute(*self.checks))
        except RefusedError as error:
            raise FileError(str(error)) from None
        if not sum(lengths):
            raise FileError(f"{self.files[0]} contains no data: the parts have no rows.")
        return lengths

    def loaded(self, limit: int) -> Loaded:
        """The whole table in memory, if it needs no more than the limit."""
        advice = "A table in blocks needs --method sas, --metric auto and no --trim"
        check_memory(self.needed, limit, "all parts at once", advice)
        frame = self.table.compute().reset_index(drop=True)
        ids = map(str, frame.index if self.id_column is None else frame[self.id_column])
        truth = None if self.truth is None else frame[self.truth]
        return Loaded(frame[self.names], list(ids), self.names, truth, self.notes, self.others, self.advice, self.forms)


def are_parts(given: Sequence[str]) -> bool:
    """Whether names stand for parts: several of them, a folder, or a pattern that is not the name of a file."""
    return len(given) > 1 or Path(given[0]).is_dir() or (glob.has_magic(given[0]) and not Path(given[0]).exists())


def read_or_open(
    given: Sequence[str],
    *,
    id_column: str | None = None,
    truth: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    dates: tuple[str, ...] = (),
    transpose: bool = False,
    options: Options,
    like: SavedModel | None = None,
) -> Loaded | Parts:
    """Read a table into memory or, if it comes in parts or needs too much memory, open it."""
    asked = {"id_column": id_column, "truth": truth, "drop": drop, "keep": keep, "dates": dates, "like": like}
    opened: Callable[[], Parts] = partial(open_parts, given, options=options, **asked)  # type: ignore[arg-type]
    if are_parts(given):
        if transpose:
            raise FileError("--transpose needs the whole table in memory, so it cannot be used with parts.")
        return opened()
    try:
        return read_table(given[0], transpose=transpose, options=options, **asked)  # type: ignore[arg-type]
    except TooLargeError as error:
        if transpose or given[0] == "-" or is_packed(given[0]) or suffix_of(given[0]) not in (*OPEN, CELLS):
            raise
        try:
            parts = open_file(given[0], id_column, truth, drop, options) if suffix_of(given[0]) == CELLS else opened()
        except TooLargeError:
            raise error from None
        parts.notes.append("The table needs more memory than the limit, so it is read in blocks.")
        return parts


def open_file(file: str, id_column: str | None, truth: str | None, drop: tuple[str, ...], options: Options) -> Parts:
    """Open an H5AD file, whose matrix is read in blocks of rows."""
    limit = memory_limit(options.max_memory)
    loaded, table, lengths, stack = open_cells(source_of(file, limit), id_column, truth, drop)
    known = None if truth is None else GROUP
    files = [os.path.abspath(file)] * len(lengths)
    names, notes, needed = list(loaded.names), loaded.notes, float("inf")
    return Parts(loaded.X, table, names, ID, known, files, needed, notes, lengths, stack.close)


def open_parts(
    given: Sequence[str],
    *,
    id_column: str | None = None,
    truth: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    dates: tuple[str, ...] = (),
    options: Options | None = None,
    like: SavedModel | None = None,
) -> Parts:
    r"""Open files with samples in rows and features in columns, one below the other.

    The files must have the same columns. They are opened as a Dask data frame, so that `fit` reads them in blocks: row
    groups of Parquet files, ranges of lines of text files, and ranges of rows of Zarr arrays.

    Parameters
    ----------
    given : sequence of str
        Files, folders of files, or patterns such as "part-\*.parquet".
    id_column : str, default=None
        Column with the names of the samples; by default, the first column if it has a different text in every row of
        the first block, or numbers the rows.
    truth : str, default=None
        Column with the true groups.
    drop : tuple of str, default=()
        Columns to leave out.
    keep, dates : tuple of str, default=()
        Columns to use that would be left out, and columns that hold dates, as in `read_table`. What is not named is
        decided by a few blocks.
    options : Options, default=None
        Encoding, delimiter and decimal sign of text files, and the memory that reading may take.
    like : SavedModel, default=None
        A model for which the table is read, as in `read_table`.

    Returns
    -------
    Parts
        The table; nothing but names and types has been read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsecluster.io.parts import open_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(3):
    ...         _ = pathlib.Path(folder, f"part-{number}.csv").write_text("height,width\n1.5,2\nNA,3\n")
    ...     parts = open_parts([f"{folder}/part-*.csv"])
    ...     parts.check(), parts.names, int(parts.X["width"].sum().compute())
    ([2, 2, 2], ['height', 'width'], 15)
    """
    options = options or Options()
    limit = memory_limit(options.max_memory)
    try:
        import dask.dataframe as dd
        import pandas as pd
        from dask.config import set as dask_set
        from dask.delayed import delayed
    except ImportError as error:
        raise FileError(
            "Reading a table in parts needs Dask. Install it with: pip install 'sparsecluster[dask,tables]'"
        ) from error
    files = files_of(given)
    opener = opener_of(files)
    for file in files:
        if not Path(file).is_dir() and source_of(file, limit).size() == 0:
            raise FileError(f"{file} is empty.")
    try:
        opened = opener(files, options, limit)
        if not opened.pieces:
            raise FileError(f"{files[0]} contains no data: the parts have no rows.")
        notes, names = list(opened.notes), list(map(str, opened.meta.columns))
        known, asked = known_columns(like), Asked(id_column, truth, drop, keep, dates).among(names)
        asked = checked_columns(asked, names, files[0], known)
        opened, forms = with_dates(opened, asked, known, files[0], notes)
        opened, roles, others = with_roles(opened, asked, notes)
    except RefusedError as error:
        raise FileError(str(error)) from None
    if truth is not None:
        notes.append(TRUTH_NOTE.format(brief(truth)))
    id_column, columns = roles.id_column, opened.meta
    gone = {other.name for other in others}
    names = [name for name in columns.columns if name not in gone]
    if not names:
        refuse_nothing_left(files[0], roles)
    # Text stays as it is in memory.
    with dask_set({"dataframe.convert-string": False}):
        table = dd.from_map(opened.read, opened.pieces, meta=columns, enforce_metadata=False)
    assert isinstance(columns, pd.DataFrame)
    about = [column for column in (id_column, truth) if column is not None]
    check = delayed(
        partial(checked_block, opened=opened._replace(pieces=()), about=about, id_column=id_column), pure=False
    )
    checks = [check(piece) for piece in opened.pieces]
    made = Parts(table[names], table, names, id_column, truth, opened.files, opened.needed, notes, checks)
    return made._replace(others=others, advice=roles.advice, forms=forms)


def checked_block(piece: Any, opened: Opened, about: list[str], id_column: str | None) -> int:
    """Check one block, and return its number of rows."""
    if opened.check is not None:
        opened.check(piece)
    # Of a block without such columns, one is enough to count the rows.
    frame = opened.read(piece, columns=about or [opened.meta.columns[0]])
    for column in about:
        missing = int(frame[column].isna().sum())
        if missing:
            what = "an id" if column == id_column else "a group"
            raise RefusedError(
                f"{piece.file}: column {brief(column)} must have {what} in every row; {missing} are missing."
            )
    if id_column is not None:
        ids = frame[id_column].astype(str)
        if ids.duplicated().any():
            twice = ids[ids.duplicated()].unique()[:5]
            raise RefusedError(
                f"{piece.file}: ids must be unique, but column {brief(id_column)} repeats "
                f"{', '.join(map(brief, twice))}."
            )
    return len(frame)


# ---------------------------------------------------------------- files


def files_of(given: Sequence[str]) -> list[str]:
    """The files that names, folders and patterns stand for, those of a folder or a pattern in order of their names."""
    files: list[str] = []
    for name in given:
        if name == "-":
            raise FileError("Standard input cannot be one of several parts. Give the names of files.")
        if Path(name).is_dir() and not is_zarr(Path(name)):
            files += files_in(Path(name))
        elif Path(name).exists() or not glob.has_magic(name):
            files.append(str(source_of(name, 0).path) if not Path(name).is_dir() else name)
        else:
            found = sorted(glob.glob(name, recursive=True))
            if not found:
                raise FileError(f"No file matches {brief(name)}.")
            files += found
    twice = [file for file, count in Counter(files).items() if count > 1]
    if twice:
        raise FileError(f"Every part may be given only once; these are repeated: {listed(twice)}.")
    # The workers of a cluster may be in another folder.
    return [os.path.abspath(file) for file in files]


def files_in(folder: Path) -> list[str]:
    """The parts in a folder."""
    held = sorted(path for path in folder.iterdir() if not path.name.startswith(NO_PARTS))
    inner = next((path for path in held if path.is_dir() and not is_zarr(path)), None)
    if inner is not None:
        raise FileError(
            f"{folder} holds another folder, {inner.name}. Give a pattern for the parts, such as "
            f"'{folder}/*/*.parquet'."
        )
    if not held:
        raise FileError(f"{folder} is a folder without parts. Give a folder or a pattern that has some.")
    return list(map(str, held))


def suffix_of(file: str) -> str:
    """The extension by which the format of a file is known; .csv.gz is .csv."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    if suffixes and is_packed(file):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def opener_of(files: list[str]) -> Callable[[Sequence[str], Options, int], Opened]:
    """The function that opens the parts, which must all be of one format."""
    found: dict[Any, str] = {}
    for file in files:
        suffix = ".zarr" if Path(file).is_dir() else suffix_of(file)
        if suffix not in OPEN:
            raise FileError(
                f"Parts must be Parquet, CSV or Zarr files; got {file}. Leave this file out, or convert it."
            )
        found.setdefault(OPEN[suffix], file)
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise FileError(f"All parts must be of the same format; got {one} and {other}.")
    return next(iter(found))
