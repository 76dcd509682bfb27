"""The commands `report`, `simulate` and `methods`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .errors import plainly, tell
from .options import AsJson


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
    as_json: AsJson = False,
) -> None:
    """List the methods, the data that each takes, and whether it selects features and predicts new samples.

    Examples:

      sparsecluster methods --json
    """
    from ..methods.registry import METHODS
    from .shared import say_json, show_table

    if as_json:
        entries = {
            name: {**method._asdict(), "make": getattr(method.make, "func", method.make).__name__}
            for name, method in METHODS.items()
        }
        say_json(entries, indent=2)
        return
    show_table(
        ["name", "what it is", "takes", "selects", "predicts", "probabilities"],
        (
            (name, method.title, method.takes, *map(yes_or_no, (method.selects, method.predicts, method.soft)))
            for name, method in METHODS.items()
        ),
    )


def yes_or_no(flag: bool) -> str:
    """Return a flag in words."""
    return "yes" if flag else "no"
