"""`sparsecluster predict`: assign new samples to the clusters of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell
from .options import AsJson, Dates, Decimal, Delimiter, Drop, Encoding, Id, MaxMemory, Sheet, Transpose
from .scheduler import Scheduler, cluster
from .words import in_options

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
    drop: Drop = None,
    dates: Dates = None,
    transpose: Transpose = False,
    sheet: Sheet = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
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
    as_json: AsJson = False,
) -> None:
    """Assign the samples of a table to the nearest clusters of a model, based on the chosen features.

    Writes the columns of labels.csv that new samples can have: id and cluster (-1 if no chosen feature is observed);
    for models with distances, the distance to the cluster, whose unit is the distance of a typical sample to the center
    of all samples, the second_cluster and the silhouette, which is near 1 well inside the cluster and near 0 between
    two; for mixtures, the probability of the cluster. The confidence in labels.csv comes from fits of parts of the
    samples, so new samples have none.

    Columns that the model does not know are ignored. The clusters of a table in parts are written as
    part-00000.parquet, ... into a folder.

    Examples:

      sparsecluster predict result/model.json new.csv --out new-labels.csv

      sparsecluster predict result/model.json 'part-*.parquet' --out labels
    """
    from .._utils.csv import csv_parts
    from .._utils.text import visible
    from ..io.models import read_model
    from ..io.parts import are_parts
    from .shared import json_text, put
    from .tables import Request

    saved = read_model(model)
    columns = tuple(drop or ()), (), tuple(dates or ())
    request = Request(id_, None, *columns, transpose, sheet, encoding, delimiter, decimal, max_memory, like=saved)
    if are_parts(data):
        with cluster(scheduler, jobs):
            parts = request.load_or_open(data)
            _places(saved.names, parts.names, data[0])
            _predict_parts(saved, parts, out, force, jobs, scheduler)
        return
    # Files have the names as they are; on a terminal, control characters could do harm.
    is_file = out is not None and str(out) != "-"
    with nullcontext() if transpose else request.blocks(data[0]) as stream:
        loaded: Any = stream or request.load(data[0])
        places = _places(saved.names, loaded.names, data[0])
        tables = [loaded.X] if stream is None else stream.frames()
        header, rows = _rows(saved, places, tables, loaded.ids if is_file or as_json else map(visible, loaded.ids))
        if as_json:
            put(json_text([dict(zip(header, map(_known, row), strict=True)) for row in rows]) + "\n", out)
        else:
            put(csv_parts(header, rows), out)


def _known(value: Any) -> Any:
    """Return a value, and None for a number that is not known."""
    return None if value != value else value


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


def _rows(
    saved: SavedModel, places: list[int] | None, tables: Iterable[Any], ids: Iterable[str]
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the names of the columns and the rows of the result, which are computed block by block."""
    blocks = _blocks(saved, places, tables)
    first = next(blocks)
    known = (zip(*(values.tolist() for values in each.values()), strict=True) for each in chain([first], blocks))
    return ["id", *first], ((name, *row) for name, row in zip(ids, chain.from_iterable(known), strict=True))


def _blocks(saved: SavedModel, places: list[int] | None, tables: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield where the samples of each block are, and print what there is to note about them."""
    from .parts import predicted

    first = 0
    for X in tables:
        if places is not None and places != list(range(X.shape[1])):
            X = X.iloc[:, places] if hasattr(X, "columns") else X[:, places]
        columns, notes = predicted(saved, X)
        where = f"In the rows from {first:,} on, counted from there: " if first else ""
        for note in notes:
            tell(f"Note: {where}{in_options(note)}", err=True)
        first += len(columns["cluster"])
        yield columns


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
        tell(f"Note: {in_options(note)}", err=True)
