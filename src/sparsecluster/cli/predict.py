"""`sparsecluster predict`: assign new samples to the clusters of a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell
from .scheduler import Scheduler, cluster

if TYPE_CHECKING:
    from ..io.parts import Parts


@plainly
def predict(
    model: Annotated[str, typer.Argument(help="File model.json written by `sparsecluster fit`.")],
    data: Annotated[
        list[str],
        typer.Argument(
            help="Table with the same columns as in fit; - for standard input. Several files, a folder or a pattern "
            "such as 'part-*.parquet' are parts of one table: Parquet, CSV or Zarr."
        ),
    ],
    id_: Annotated[str | None, typer.Option("--id", help="Column with the names of the rows.")] = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")] = "",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default, the first.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; by default, UTF-8.")] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(help="Memory that reading may take, such as 4GB; by default, 3/4 of the machine's memory."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write, or a folder for parts; by default, or with -, standard output."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder even if it holds files that are not a result.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Number of threads that read parts. -1: all cores.")] = 1,
    scheduler: Scheduler = None,
) -> None:
    """Assign the samples of a table to the nearest clusters of a model, based on the chosen features.

    Columns that the model does not know are ignored. The clusters of a table in parts, or of a Parquet or CSV file that
    is larger than the memory, are written as part-00000.parquet, ... into a folder.

    Examples:

      sparsecluster predict result/model.json new.csv --out new-labels.csv

      sparsecluster predict result/model.json 'part-*.parquet' --out labels
    """
    from .._utils.checks import listed
    from .._utils.csv import as_csv
    from .._utils.text import visible
    from ..io.models import read_model
    from ..io.parts import Parts
    from .shared import load_or_open, prepared, put

    saved = read_model(model)
    with cluster(scheduler, jobs):
        loaded = load_or_open(
            data,
            id_=id_,
            truth=None,
            drop=drop,
            transpose=transpose,
            sheet=sheet,
            encoding=encoding,
            max_memory=max_memory,
        )
        places = {name: place for place, name in enumerate(loaded.names)}
        missing = [name for name in saved.names or () if name not in places]
        if missing:
            raise ValueError(
                f"{data[0]} lacks {len(missing)} of the columns that the model was fitted on: {listed(missing)}. Give "
                "a table with the same columns."
            )
        if isinstance(loaded, Parts):
            _predict_parts(saved, loaded, out, force, jobs, scheduler)
            return
    X = loaded.X
    if saved.names is not None:
        X = X[list(saved.names)] if hasattr(X, "columns") else X[:, [places[name] for name in saved.names]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # A matrix has no column names, but its columns are in the right order now.
        warnings.filterwarnings("ignore", "X (has|does not have valid) feature names", UserWarning)
        labels = saved.estimator.predict(prepared(X, saved.preset))
    for each in caught:
        if issubclass(each.category, UserWarning):
            tell(f"Note: {each.message}", err=True)
    # Files have the names as they are; on a terminal, control characters could do harm.
    ids = loaded.ids if out is not None and str(out) != "-" else map(visible, loaded.ids)
    put(as_csv(["id", "cluster"], zip(ids, labels.tolist(), strict=True)), out)


def _predict_parts(saved: Any, parts: Parts, out: Path | None, force: bool, jobs: int, scheduler: str | None) -> None:
    """Write the clusters of a table in parts into a folder."""
    from .._utils.folders import check_place
    from .parts import passes, predict_parts
    from .results import PREDICT

    if out is None or str(out) == "-":
        raise ValueError("The clusters of a table in parts are written into a folder. Set it with --out.")
    check_place(out, PREDICT, force)
    with passes(scheduler, jobs, "auto"):
        parts.check()
        notes = predict_parts(saved, parts, out)
    for note in (*parts.notes, *notes):
        tell(f"Note: {note}", err=True)
