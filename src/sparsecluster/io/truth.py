"""True groups of samples in a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._data.names import DefaultNames
from .._utils.checks import listed
from .._utils.text import brief
from ._shared import Matrix, Options
from .formats import reader_for
from .limits import FileError, memory_limit
from .sources import source_of


def read_truth(
    file: str | Path, ids: Sequence[str], column: str | None = None, options: Options | None = None
) -> tuple[Any, list[str]]:
    r"""Read the true groups of samples from a file.

    The samples are found by their ids in one of the columns, in any order. A file without such a column must have one
    row for each sample, in the same order.

    Parameters
    ----------
    file : str or Path
        Table with the groups. "groups.csv:kind" is the column `kind` of groups.csv.
    ids : sequence of str
        Names of the samples, as `read_table` returns them.
    column : str, default=None
        Column with the groups; by default, the only one besides the ids.
    options : Options, default=None
        How to read the file.

    Returns
    -------
    groups : ndarray of shape (n_samples,), dtype=object
        The group of each sample, as text.
    notes : list of str
        What was decided, in full sentences.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsecluster.io import read_truth
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "groups.csv")
    ...     _ = file.write_text("sample,kind\nP2,b\nP1,a\nP3,a\n")
    ...     read_truth(file, ["P1", "P2"])
    (array(['a', 'b'], dtype=object), ["groups.csv has 1 row for other samples, which is ignored: 'P3'."])
    """
    options = options or Options()
    path, named = divided(str(file))
    column = named if column is None else column
    origin = source_of(path, memory_limit(options.max_memory))
    given = reader_for(origin)(origin, options)
    if isinstance(given, Matrix):
        raise FileError(f"{origin.name} is a matrix. True groups need a table, with one row for each sample.")
    frame, name = given.frame, Path(origin.name).name
    frame.columns = [str(each) for each in frame.columns]
    if column is not None and column not in frame.columns:
        raise FileError(f"{name} has no column {brief(column)}; its columns are {listed(frame.columns)}.")
    of_ids = id_column_of(frame, ids, column)
    groups = groups_of(frame, of_ids, column, name)
    missing = int(groups.isna().sum())
    notes: list[str] = []
    if of_ids is None:
        if len(frame) != len(ids):
            raise FileError(
                f"{name} must have a column with the ids of the samples, such as {brief(ids[0])}, or one row for each "
                f"sample in the same order; it has {len(frame):,} rows for {len(ids):,} samples."
            )
        refuse_missing(missing, len(ids), name)
        notes.append(f"{name} has no column with the ids of the samples, so its rows are taken in the same order.")
        return np.array(list(map(str, groups)), dtype=object), notes
    found: dict[str, Any] = {}
    wanted, more = {*ids}, []
    for key, group in zip(map(str, frame[of_ids]), groups, strict=True):
        if key not in wanted:
            more.append(key)
        elif key in found and str(found[key]) != str(group):
            raise FileError(
                f"{name} has two groups for {brief(key)}: {brief(str(found[key]))} and {brief(str(group))}."
            )
        else:
            found[key] = group
    lacking = [key for key in ids if key not in found]
    if lacking:
        raise FileError(
            f"{name} must have a group for every sample; {len(lacking):,} of {len(ids):,} are not in its column "
            f"{brief(of_ids)}: {listed(lacking)}. Add them, or leave these samples out of the table."
        )
    refuse_missing(sum(group is None or group != group for group in found.values()), len(ids), name)
    if more:
        rows, are = ("row", "is") if len(more) == 1 else ("rows", "are")
        notes.append(f"{name} has {len(more):,} {rows} for other samples, which {are} ignored: {listed(more)}.")
    return np.array([str(found[key]) for key in ids], dtype=object), notes


def divided(file: str) -> tuple[str, str | None]:
    """The name of a file and of a column of it, if both are given; the name of a file wins.

    >>> divided("no-such-file.csv:kind"), divided("no-such-file.csv")
    (('no-such-file.csv', 'kind'), ('no-such-file.csv', None))
    """
    path, sign, column = file.rpartition(":")
    # The colon in C:\data.csv belongs to the name of the file.
    return (file, None) if not sign or Path(file).exists() or len(path) < 2 else (path, column)


def id_column_of(frame: Any, ids: Sequence[str], column: str | None) -> str | None:
    """The column with most of the ids of the samples; None if there is none, or the samples have no ids."""
    if isinstance(ids, DefaultNames):
        return None
    wanted = {*ids}
    counts = {name: len(wanted & {*map(str, frame[name])}) for name in frame.columns if name != column}
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] else None


def groups_of(frame: Any, of_ids: str | None, column: str | None, name: str) -> Any:
    """The column with the groups."""
    if column is not None:
        return frame[column]
    left = [each for each in frame.columns if each != of_ids]
    if len(left) != 1:
        what = f"has {listed(left)}" if left else "has none"
        raise FileError(
            f"{name} must have one column with the groups{' besides the ids' if of_ids else ''}; it {what}. Name the "
            f"column, as in {name}:{left[0] if left else 'COLUMN'}."
        )
    return frame[left[0]]


def refuse_missing(missing: int, n: int, name: str) -> None:
    """Refuse samples without a group."""
    if missing:
        raise FileError(f"{name} must have a group for every sample; {missing:,} of {n:,} are missing.")
