"""`sparsecluster predict`: assign new samples to the clusters of a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell

if TYPE_CHECKING:
    from ..io.models import SavedModel


@plainly
def predict(
    model: Annotated[str, typer.Argument(help="File model.json written by `sparsecluster fit`.")],
    data: Annotated[str, typer.Argument(help="Table with the same columns as in fit; - for standard input.")],
    id_: Annotated[str | None, typer.Option("--id", help="Column with the names of the rows.")] = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")] = "",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default, the first.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; by default, UTF-8.")] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(help="Memory that reading may take, such as 4GB; by default, 3/4 of the machine's memory."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default, or with -, standard output.")] = None,
) -> None:
    """Assign the samples of a table to the nearest clusters of a model, based on the chosen features.

    Columns that the model does not know are ignored.

    Examples:

      sparsecluster predict result/model.json new.csv --out new-labels.csv
    """
    from .._utils.csv import csv_parts
    from .._utils.text import visible
    from ..io import read_blocks
    from ..io.models import read_model
    from .shared import asked, load, put

    saved = read_model(model)
    options = {"sheet": sheet, "encoding": encoding, "max_memory": max_memory}
    # Files have the names as they are; on a terminal, control characters could do harm.
    is_file = out is not None and str(out) != "-"
    with nullcontext() if transpose else read_blocks(data, **asked(id_, drop, **options)) as stream:
        loaded: Any = stream or load(data, id_=id_, truth=None, drop=drop, transpose=transpose, **options)
        places = _places(saved.names, loaded.names, data)
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
