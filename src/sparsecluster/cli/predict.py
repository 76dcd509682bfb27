"""`sparsecluster predict`: assign new samples to the clusters of a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from .errors import plainly, tell


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
    from .._utils.checks import listed
    from .._utils.csv import as_csv
    from .._utils.text import visible
    from ..io.models import read_model
    from .shared import load, prepared, put

    saved = read_model(model)
    loaded = load(
        data, id_=id_, truth=None, drop=drop, transpose=transpose, sheet=sheet, encoding=encoding, max_memory=max_memory
    )
    X = loaded.X
    if saved.names is not None:
        places = {name: place for place, name in enumerate(loaded.names)}
        missing = [name for name in saved.names if name not in places]
        if missing:
            raise ValueError(
                f"{data} lacks {len(missing)} of the columns that the model was fitted on: {listed(missing)}. Give a "
                "table with the same columns."
            )
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
