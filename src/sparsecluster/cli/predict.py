"""`sparsecluster predict`: assign new samples to the clusters of a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell
from .options import Encoding, Id, MaxMemory, Sheet
from .scheduler import Scheduler, cluster

if TYPE_CHECKING:
    from ..io.models import SavedModel


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
    id_: Id = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")] = "",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Sheet = None,
    encoding: Encoding = None,
    max_memory: MaxMemory = None,
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

    Columns that the model does not know are ignored. The clusters of a table in parts are written as
    part-00000.parquet, ... into a folder.

    Examples:

      sparsecluster predict result/model.json new.csv --out new-labels.csv

      sparsecluster predict result/model.json 'part-*.parquet' --out labels
    """
    from .._utils.csv import csv_parts
    from .._utils.text import visible
    from ..io import read_blocks
    from ..io.models import read_model
    from ..io.parts import are_parts
    from .shared import asked, load, load_or_open, put

    saved = read_model(model)
    options: dict[str, Any] = {"sheet": sheet, "encoding": encoding, "max_memory": max_memory, "like": saved}
    if are_parts(data):
        with cluster(scheduler, jobs):
            parts = load_or_open(data, id_=id_, truth=None, drop=drop, transpose=transpose, **options)
            _places(saved.names, parts.names, data[0])
            _predict_parts(saved, parts, out, force, jobs, scheduler)
        return
    # Files have the names as they are; on a terminal, control characters could do harm.
    is_file = out is not None and str(out) != "-"
    with nullcontext() if transpose else read_blocks(data[0], **asked(id_, drop, **options)) as stream:
        loaded: Any = stream or load(data[0], id_=id_, truth=None, drop=drop, transpose=transpose, **options)
        places = _places(saved.names, loaded.names, data[0])
        tables = [loaded.X] if stream is None else stream.frames()
        labels = _labels(saved, places, tables)
        rows = zip(loaded.ids if is_file else map(visible, loaded.ids), labels, strict=True)
        put(csv_parts(["id", "cluster"], rows), out)


def _places(wanted: Sequence[str] | None, names: Sequence[str], data: str) -> list[int] | None:
    """Return where the columns of a model are in a table; None if they have no names."""
    from .._utils.checks import listed

    if wanted is None:
        return None
    places = {name: place for place, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing:
        raise ValueError(
            f"{data} lacks {len(missing)} of the columns that the model was fitted on: {listed(missing)}. Give a "
            "table with the same columns."
        )
    return [places[name] for name in wanted]


def _labels(saved: SavedModel, places: list[int] | None, tables: Iterable[Any]) -> Iterator[int]:
    """Yield the clusters of the samples, and print what there is to note about them."""
    from .shared import prepared

    first = 0
    for X in tables:
        if places is not None and places != list(range(X.shape[1])):
            X = X.iloc[:, places] if hasattr(X, "columns") else X[:, places]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            # A matrix has no column names, but its columns are in the right order now.
            warnings.filterwarnings("ignore", "X (has|does not have valid) feature names", UserWarning)
            labels = saved.estimator.predict(prepared(X, saved.preset))
        where = f"In the rows from {first:,} on, counted from there: " if first else ""
        for each in caught:
            if issubclass(each.category, UserWarning):
                tell(f"Note: {where}{each.message}", err=True)
        first += len(labels)
        yield from labels.tolist()


def _predict_parts(
    saved: SavedModel, parts: Any, out: Path | None, force: bool, jobs: int, scheduler: str | None
) -> None:
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
