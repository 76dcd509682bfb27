"""`sparsecluster predict`: place new rows in the groups of a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from .errors import plainly


@plainly
def predict(
    model: Annotated[str, typer.Argument(help="model.json that `sparsecluster fit` wrote.")],
    data: Annotated[str, typer.Argument(help="Table with the columns that fit had; - for standard input.")],
    id_: Annotated[str | None, typer.Option("--id", help="Column that names the rows.")] = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, with commas between.")] = "",
    transpose: Annotated[bool, typer.Option("--transpose", help="Features are in rows.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output if not given.")] = None,
) -> None:
    """Place the rows of a table in the nearest groups of a model, by the chosen features.

    Columns that the model does not know are left out.

    Examples:

      sparsecluster predict result/model.json new.csv --out new-labels.csv
    """
    from .._utils.files import write
    from ..io.models import load_model
    from .shared import load, prepared
    from .tables import as_csv

    estimator = load_model(model)
    loaded = load(data, id_=id_, truth=None, drop=drop, transpose=transpose, sheet=sheet, encoding=encoding)
    X = loaded.X
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None:
        missing = [name for name in known if name not in set(loaded.names)]
        if missing:
            listed = ", ".join(map(repr, missing[:5]))
            raise ValueError(f"{data} lacks {len(missing)} columns that the model knows: {listed}.")
        places = {name: place for place, name in enumerate(loaded.names)}
        order = [places[name] for name in known]
        X = X[list(known)] if hasattr(X, "columns") else X[:, order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a matrix without names is in the right order now
        labels = estimator.predict(prepared(X, estimator.preset_))
    text = as_csv(["id", "cluster"], zip(loaded.ids, labels.tolist(), strict=True))
    if out is None:
        typer.echo(text, nl=False)
    else:
        write(out, text)
