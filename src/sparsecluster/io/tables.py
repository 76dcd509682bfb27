"""Reading tables from CSV and other text files, Parquet, Feather, Excel, NumPy, H5AD and Matrix Market files."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.dates import OF_DATES
from .._data.names import DefaultNames
from .._utils.checks import listed
from .._utils.text import brief, shortened
from ._columns import Asked, Other, decide, others_of, refuse_nothing_left, shell, text_columns
from ._dates import Known, asked_forms, converted, find_in
from ._shared import Frame, Matrix, Options
from ._turned import hint, is_tall, turned
from .formats import reader_for
from .limits import FileError, memory_limit
from .sources import source_of

if TYPE_CHECKING:
    from .models import SavedModel


class Loaded(NamedTuple):
    """A table that is ready for `fit`, as returned by `read_table`.

    Attributes
    ----------
    X : pandas.DataFrame, ndarray or sparse matrix of shape (n_samples, n_features)
        Values.
    ids, names : sequence of str
        Names of the samples and of the features.
    truth : pandas.Series of length n_samples, or None
        True group of each sample, if the column `truth` was given.
    notes : list of str
        Decisions made while reading the file, in full sentences.
    others : tuple of Other
        The columns of the file that are not features, in its order.
    advice : dict of str to str
        What to consider about features, by their names, in a full sentence each.
    forms : dict of str to str
        The columns that were read as dates, and the form of these, such as "DD/MM/YYYY"; `save_model` can keep them.
    """

    X: Any
    ids: Sequence[str]
    names: Sequence[str]
    truth: Any | None
    notes: list[str]
    others: tuple[Other, ...] = ()
    advice: Mapping[str, str] = {}
    forms: Mapping[str, str] = {}


def read_table(
    source: str | Path,
    *,
    id_column: str | None = None,
    truth: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    dates: tuple[str, ...] = (),
    transpose: bool = False,
    options: Options | None = None,
    like: SavedModel | None = None,
) -> Loaded:
    r"""Read a table with samples in rows and features in columns.

    The format is recognized by the extension of the file. Files without a known extension are read as text. Columns
    that number the rows, such as customer_id, and text in which nearly every value is different are not features, and
    text in which all values are dates is read as dates; notes say so.

    Parameters
    ----------
    source : str or Path
        File to read, or "-" for standard input.
    id_column : str, default=None
        Column with the names of the samples; by default, the first column if it has a different text in every row, or
        numbers the rows.
    truth : str, default=None
        Column with the true groups, which is returned separately.
    drop : tuple of str, default=()
        Columns to leave out. With `transpose`, these are columns of the file, or else features.
    keep : tuple of str, default=()
        Columns to use as features that would be left out or name the rows. Text becomes a category.
    dates : tuple of str, default=()
        Columns that hold dates, also if these are numbers such as 20241231. A form may be given, as in
        "born=DD/MM/YYYY", of the parts YYYY, YY, MM, MON (the name of a month) and DD.
    transpose : bool, default=False
        Whether the file has features in rows and samples in columns. Then `id_column` has the names of the features.
    options : Options, default=None
        Sheet, encoding, delimiter and decimal sign of the file, and the memory that reading may take.
    like : SavedModel, default=None
        A model, as `read_model` returns it: its columns are features, and hold dates if they did when it was fitted.

    Returns
    -------
    Loaded
        The values, the names of samples and features, the true groups, and what was decided.

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
    >>> [(other.name, other.use) for other in table.others]
    [('plant', 'id'), ('species', 'truth')]
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
        drop = Asked(drop=drop).among(given.names).drop
        return _of_matrix(given, name, id_column, truth, drop, transpose)
    frame, notes = given.frame, given.notes
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise FileError(f"{name} contains no data: it has no rows below the header, or no columns.")
    frame.columns = [" ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in frame.columns]
    _check_unique(frame.columns, name, "column names")
    assert isinstance(frame, pd.DataFrame)
    asked = Asked(id_column, truth, drop, keep, dates)
    if transpose:
        return _turned(frame, asked, name, notes)
    known, asked = known_columns(like), asked.among(frame.columns)
    asked = checked_columns(asked, list(frame.columns), name, known)
    forms = with_dates(frame, asked, known, name, notes)
    return _with_roles(frame, asked, forms, name, notes)


def _with_roles(frame: Frame, asked: Asked, forms: dict[str, str], name: str, notes: list[str]) -> Loaded:
    """A table of which some columns are features, and others are not."""
    import pandas as pd

    names = list(frame.columns)
    roles = decide(names, frame.__getitem__, text_columns(frame), asked)
    others = others_of(names, frame.__getitem__, asked, roles)
    ids = None if roles.id_column is None else row_names(frame[roles.id_column], name)
    kept = None if asked.truth is None else _known(frame[asked.truth], asked.truth, name)
    for other in others:
        # Unlike `drop`, this does not copy the columns that stay.
        del frame[other.name]
    if frame.shape[1] == 0:
        refuse_nothing_left(name, roles)
    for column in roles.categories:
        frame[column] = frame[column].astype("category")
    told = [*notes, *roles.notes, *(TRUTH_NOTE.format(brief(asked.truth)) for _ in range(asked.truth is not None))]
    if ids is not None:
        frame.index = pd.Index(ids)
        kept = None if kept is None else kept.set_axis(frame.index)
        if is_tall(frame.shape) and all(getattr(kind, "kind", "O") in "fiu" for kind in frame.dtypes):
            told += hint(frame.to_numpy(), len(frame))
    advice = {column: said for column, said in roles.advice.items() if column in frame.columns}
    return Loaded(frame, _ids_of(frame), list(frame.columns), kept, told, others, advice, forms)


def _ids_of(frame: Frame) -> Sequence[str]:
    import pandas as pd

    is_counted = frame.index.equals(pd.RangeIndex(len(frame)))
    return DefaultNames(len(frame), "") if is_counted else [str(each) for each in frame.index]


TRUTH_NOTE = "Column {} contains the true groups. It is used for comparison only, not for clustering."


def _turned(frame: Frame, asked: Asked, name: str, notes: list[str]) -> Loaded:
    """A table that has features in rows."""
    words = {str(value) for column in text_columns(frame) for value in frame[column]}
    asked = asked.among({*frame.columns, *words})
    for column, option in ((asked.id_column, "--id"), *((each, "--keep") for each in asked.keep)):
        if column is not None:
            check_column(frame.columns, column, name, option)
    columns = list(frame.columns)
    made, others = turned(frame, asked, name, notes)
    kept = None
    if asked.truth is not None:
        check_column(made.columns, asked.truth, name, "--truth")
        kept = _known(made.pop(asked.truth), asked.truth, name)
        notes.append(TRUTH_NOTE.format(brief(asked.truth)))
    for feature in asked.drop:
        if feature not in columns:
            check_column([*columns, *made.columns], feature, name, "--drop")
            del made[feature]
    if made.shape[1] == 0:
        raise FileError(f"{name} has no features left to cluster by. Leave out fewer rows.")
    return Loaded(made, _ids_of(made), list(made.columns), kept, notes, tuple(others))


# ---------------------------------------------------------------- rows and columns


def with_dates(frame: Frame, asked: Asked, known: Known | None, file: str, notes: list[str]) -> dict[str, str]:
    """Convert the columns of dates in place, and return the form of each."""
    skip = {asked.id_column, asked.truth, *asked.drop}
    found = find_in(frame, asked_forms(asked.dates, ignore_name, frame.columns), known, skip, file)
    for column, form in found.forms.items():
        if column in frame.columns:
            frame[column] = converted(frame[column], form, file)
    notes += found.notes
    return found.forms


def ignore_name(name: str) -> None:
    """Take the name of a column that was checked before."""


def known_columns(like: SavedModel | None) -> Known | None:
    """What a model knows of the columns of a table."""
    if like is None or like.names is None:
        return None
    kinds = like.estimator._kept.reader.kinds
    dated = [name for name, kind in zip(like.names, kinds, strict=True) if kind.meaning in OF_DATES]
    return Known(frozenset(like.names), {name: (like.dates or {}).get(name) for name in dated})


def checked_columns(asked: Asked, names: Sequence[str], file: str, known: Known | None) -> Asked:
    """What is asked for, after a check that the columns exist; those of a model are kept."""
    for column, option in ((asked.id_column, "--id"), (asked.truth, "--truth")):
        if column is not None:
            check_column(names, column, file, option)
    held = {*names}
    for columns, option in ((asked.drop, "--drop"), (asked.keep, "--keep")):
        for column in columns:
            if column not in held:
                check_column(names, column, file, option)
    asked_forms(asked.dates, lambda column: check_column(names, column, file, "--dates"), names)
    unused = {*asked.drop, asked.id_column, asked.truth}
    both = next((column for column in asked.keep if column in unused), None)
    if both is not None:
        raise FileError(f"--keep {shell(both)}: this column cannot be used and be left out at the same time.")
    used = () if known is None else tuple(name for name in names if name in known.names and name != asked.id_column)
    dated = [name for name in asked_forms(asked.dates, ignore_name, names) if name != asked.id_column]
    return asked._replace(keep=(*asked.keep, *used, *dated))


def _check_unique(names: Any, name: str, what: str) -> None:
    twice = names[names.duplicated()].unique()
    if len(twice):
        raise FileError(f"{name}: {what} must be unique, but these are repeated: {listed(twice)}.")


def check_column(names: Sequence[str], column: str, file: str, option: str) -> None:
    """Refuse the name of a column that a file does not have."""
    if column not in names:
        near = difflib.get_close_matches(column, list(names), n=1)
        hint = (
            f" Did you mean {brief(near[0])}?"
            if near
            else f" Its columns are {', '.join(map(shortened, names[:5]))}, ..."
        )
        raise FileError(f"{option} must name a column of {file}; got {brief(column)}.{hint}")


def row_names(column: Any, file: str) -> list[str]:
    """The names of the rows in a column, which must be there and different."""
    if column.isna().any():
        raise FileError(
            f"{file}: column {brief(column.name)} must have an id in every row; {column.isna().sum()} of "
            f"{len(column)} are missing."
        )
    ids = column.astype(str)
    if ids.duplicated().any():
        twice = ids[ids.duplicated()].unique()[:5]
        raise FileError(
            f"{file}: ids must be unique, but column {brief(column.name)} repeats {', '.join(map(brief, twice))}."
        )
    return list(ids)


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
            check_column(given.about.columns, column, name, option)
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
