"""The commands `report`, `simulate`, `methods` and `info`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import plainly, tell


@plainly
def report(
    result: Annotated[Path, typer.Argument(help="Folder written by `sparsecluster fit`, or its summary.json.")],
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, or - for standard output; by default, report.html next to the summary."),
    ] = None,
) -> None:
    """Write the report of a result again.

    Examples:

      sparsecluster report sparsecluster-result
    """
    from ..io.limits import JSON_BYTE, memory_limit
    from ..io.sources import source_of
    from ..report import report_page
    from .shared import put

    file = result / "summary.json" if result.is_dir() else result
    if not file.is_file():
        raise ValueError(f"There is no {file}. Give a folder written by `sparsecluster fit`.")
    try:
        summary = json.loads(source_of(file, memory_limit()).read(JSON_BYTE).decode())
        page = report_page(summary)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{file} is damaged, or not a summary of this version of sparsecluster ({error}). Run `sparsecluster fit` "
            "again."
        ) from error
    out = out or file.parent / "report.html"
    if put(page, out):
        tell(f"The report was written to {out}.")


DESIGNS = ("shifted", "diagonal", "correlated", "many", "bernoulli", "mixed")


@plainly
def simulate(
    design: Annotated[str, typer.Argument(help=f"One of {', '.join(DESIGNS)}.")],
    out: Annotated[
        Path, typer.Option(help="CSV file to write, or - for standard output; its last column holds the true groups.")
    ] = Path("simulated.csv"),
    features: Annotated[int, typer.Option(help="Number of features.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
) -> None:
    """Write a simulated table whose groups and useful features are known.

    The useful features come first; their names begin with "useful".

    Examples:

      sparsecluster simulate shifted --features 500 --out shifted.csv
    """
    from .. import datasets
    from .._utils.checks import check_choice
    from .._utils.csv import frame_csv
    from .shared import put

    check_choice("DESIGN", design, list(DESIGNS))
    make = getattr(datasets, f"{design}_groups")
    made = make(n_features=features, seed=seed)
    import pandas as pd

    order = sorted(range(features), key=lambda a: not made.useful[a])
    frame = pd.DataFrame(made.X).iloc[:, order]
    frame.columns = [f"{'useful' if made.useful[a] else 'noise'}{place}" for place, a in enumerate(order)]
    if put(frame_csv(frame.assign(group=made.truth), index=False), out):
        tell(f"Wrote {len(frame)} samples with {features} features, {int(made.useful.sum())} of them useful, to {out}.")


@plainly
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the methods, the data that each takes, and whether it selects features and predicts new samples.

    Examples:

      sparsecluster methods --json
    """
    from ..methods.registry import METHODS
    from .shared import console, say_json

    if as_json:
        entries = {
            name: {**method._asdict(), "make": getattr(method.make, "func", method.make).__name__}
            for name, method in METHODS.items()
        }
        say_json(entries, indent=2)
        return
    from rich.table import Table

    table = Table("name", "what it is", "takes", "selects", "predicts", "probabilities", box=None)
    for name, method in METHODS.items():
        flags = (method.selects, method.predicts, method.soft)
        table.add_row(name, method.title, method.takes, *("yes" if flag else "no" for flag in flags))
    console().print(table)


@plainly
def info(
    data: Annotated[
        list[str], typer.Argument(help="Table to read, or several files, a folder or a pattern; - for standard input.")
    ],
    id_: Annotated[str | None, typer.Option("--id", help="Column with the names of the rows.")] = None,
    metric: Annotated[str, typer.Option(help="Dissimilarity; auto chooses it by the type of each column.")] = "auto",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default, the first.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; by default, UTF-8.")] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(help="Memory that reading may take, such as 4GB; by default, 3/4 of the machine's memory."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show how a table is read: how columns are compared, missing values, constant columns and possible problems.

    Examples:

      sparsecluster info table.csv
    """
    from ..io.parts import Parts
    from .parts import described_parts, passes
    from .shared import console, load_or_open, say_json

    loaded = load_or_open(
        data, id_=id_, truth=None, drop="", transpose=transpose, sheet=sheet, encoding=encoding, max_memory=max_memory
    )
    if isinstance(loaded, Parts):
        with passes(None, -1, "auto"):
            n, columns = described_parts(loaded, metric)
        notes = _problems(columns)
    else:
        columns, notes = described(loaded, metric)
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
            "" if column["values"] is None else str(column["values"]),
            f"{column['missing']:.0%}",
            column["example"],
        )
        table.add_row(*(escape(shortened(cell, MOST_LETTERS)) for cell in cells))
    console().print(table)
    if len(columns) > MOST_SHOWN:
        tell(f"... and {len(columns) - MOST_SHOWN:,} more columns.")


# The number of columns that `info` lists, and the length at which their names and values are truncated.
MOST_SHOWN, MOST_LETTERS = 40, 80
# The number of names in a note, and the share of missing values above which there is a note.
MOST_NAMED, MOSTLY_MISSING = 5, 0.9


def described(loaded: Any, metric: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a description of each column, and notes on possible problems."""
    import scipy.sparse

    from .._data.kinds import KINDS
    from .._utils.checks import check_choice
    from ..inspection.view import describe_columns

    if scipy.sparse.issparse(loaded.X):
        sparse: Any = loaded.X
        share = sparse.nnz / max(1, sparse.shape[0] * sparse.shape[1])
        return [], [f"The table is a sparse matrix, in which {share:.1%} of the values are not zero."]
    check_choice("--metric", metric, ["auto", *KINDS])
    columns = describe_columns(loaded.X, loaded.names, metric)
    return columns, _problems(columns)


def _problems(columns: list[dict[str, Any]]) -> list[str]:
    """Return notes on columns that are constant or mostly missing; the number of different values may be unknown."""
    constant = [column["name"] for column in columns if column["values"] is not None and column["values"] < 2]
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
