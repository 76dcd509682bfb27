"""`sparsecluster info`: show how a table is read."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell
from .options import Encoding, Id, MaxMemory, Sheet

if TYPE_CHECKING:
    from ..io import Stream

# Dissimilarities for which columns of numbers stay numbers.
OF_NUMBERS = ("auto", "sqeuclidean", "manhattan", "euclidean")


@plainly
def info(
    data: Annotated[
        list[str],
        typer.Argument(help="Table to read, or several files, a folder or a pattern; - for standard input."),
    ],
    id_: Id = None,
    metric: Annotated[str, typer.Option(help="Dissimilarity; auto chooses it by the type of each column.")] = "auto",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Sheet = None,
    encoding: Encoding = None,
    max_memory: MaxMemory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show how a table is read: how columns are compared, missing values, constant columns and possible problems.

    Examples:

      sparsecluster info table.csv
    """
    from ..io import read_blocks
    from ..io.parts import are_parts
    from .parts import described_parts
    from .shared import asked, console, load, load_or_open, say_json

    options = {"sheet": sheet, "encoding": encoding, "max_memory": max_memory}
    is_whole = transpose or metric not in OF_NUMBERS
    if are_parts(data):
        loaded = load_or_open(data, id_=id_, truth=None, drop="", transpose=transpose, **options)
        n, columns = described_parts(loaded, metric)
        notes = problems(columns)
    else:
        with nullcontext() if is_whole else read_blocks(data[0], **asked(id_, "", **options)) as stream:
            loaded = stream or load(data[0], id_=id_, truth=None, drop="", transpose=transpose, **options)
            columns, notes = described(loaded, metric) if stream is None else described_blocks(stream, metric)
        n = len(loaded.ids)
    if as_json:
        say_json({"samples": n, "columns": columns, "notes": [*loaded.notes, *notes]})
        return
    tell(f"{n:,} samples, {len(loaded.names):,} columns.")
    for note in (*loaded.notes, *notes):
        tell(f"Note: {note}")
    from rich.markup import escape
    from rich.table import Table

    from .._utils.text import shortened

    table = Table("column", "compared by", "values", "missing", "example", box=None)
    for column in columns[:MOST_SHOWN]:
        cells = (
            column["name"],
            column["compared by"],
            f"{next((word for key, word in COUNTED.items() if key in column), '')}{column['values']:,}",
            f"{column['missing']:.0%}",
            column["example"],
        )
        table.add_row(*(escape(shortened(cell, MOST_LETTERS)) for cell in cells))
    console().print(table)
    if len(columns) > MOST_SHOWN:
        tell(f"... and {len(columns) - MOST_SHOWN:,} more columns.")


# The number of columns that `info` lists, and the length at which their names and values are truncated.
MOST_SHOWN, MOST_LETTERS = 40, 80
# What is said of a number of different values that is not exact.
COUNTED = {"more": "more than ", "least": "at least "}
# The number of names in a note, and the share of missing values above which there is a note.
MOST_NAMED, MOSTLY_MISSING = 5, 0.9


def described(loaded: Any, metric: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a description of each column, and notes on possible problems."""
    import scipy.sparse

    from .._data.kinds import KINDS
    from .._utils.checks import check_choice
    from ..inspection.columns import describe_numbers
    from ..inspection.view import describe_columns

    if scipy.sparse.issparse(loaded.X):
        sparse: Any = loaded.X
        share = sparse.nnz / max(1, sparse.shape[0] * sparse.shape[1])
        return [], [f"The table is a sparse matrix, in which {share:.1%} of the values are not zero."]
    check_choice("--metric", metric, ["auto", *KINDS])
    array = numbers_in(loaded.X) if metric in OF_NUMBERS else None
    columns = (
        describe_columns(loaded.X, loaded.names, metric)
        if array is None
        else describe_numbers(array, loaded.names, metric)
    )
    return columns, problems(columns)


def numbers_in(X: Any) -> Any:
    """Return a table as an array if it holds floating-point numbers only, else None."""
    kinds = set(X.dtypes) if hasattr(X, "dtypes") else {getattr(X, "dtype", None)}
    is_plain = len(kinds) == 1 and str(*kinds) in ("float32", "float64")
    return (X.to_numpy() if hasattr(X, "to_numpy") else X) if is_plain else None


def described_blocks(stream: Stream, metric: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the same of a table that is read in blocks of rows."""
    from ..inspection.columns import NumberColumns
    from ..inspection.view import describe_columns

    numbers = NumberColumns([stream.blocks.names[place] for place in stream.places])
    for values in stream.blocks.arrays(stream.places):
        numbers.add(values)
    others = stream.words
    words = describe_columns(others, list(others.columns), metric) if others.shape[1] else []
    found = {column["name"]: column for column in (*numbers.described(metric), *words)}
    columns = [found[name] for name in stream.names]
    return columns, problems(columns)


def problems(columns: list[dict[str, Any]]) -> list[str]:
    """Return notes on columns that are constant or mostly missing."""
    constant = [column["name"] for column in columns if column["values"] < 2]
    missing = [column["name"] for column in columns if column["missing"] > MOSTLY_MISSING]
    notes = []
    if constant:
        notes.append(f"These columns are constant and will not be used: {_named(constant)}.")
    if missing:
        notes.append(f"More than {MOSTLY_MISSING:.0%} of the values are missing in these columns: {_named(missing)}.")
    return notes


def _named(names: list[str]) -> str:
    """Return the first names, followed by how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
