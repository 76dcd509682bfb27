"""`sparsecluster reproduce`: reproduce the tables and figures of the paper."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import brief
from .errors import plainly, tell

if TYPE_CHECKING:
    from ..experiments.experiment import Experiment

# Default number of repeats for `all`: enough to see the results, within the time of a coffee break.
REPEATS_OF_ALL = 2


@plainly
def reproduce(
    name: Annotated[str, typer.Argument(help="Name of an experiment, as shown by --list, or all.")] = "",
    list_: Annotated[
        bool, typer.Option("--list", help="List the experiments with their sizes and approximate running times.")
    ] = False,
    repeats: Annotated[
        int | None, typer.Option(help="Number of simulated tables per cell; by default, as shown by --list.", min=1)
    ] = None,
    cells: Annotated[str, typer.Option(help='Only these cells, such as "mu=0.6,p=100; mu=0.7".')] = "",
    methods: Annotated[str, typer.Option(help="Only these methods, separated by commas.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the first repeat.", min=0)] = 0,
    jobs: Annotated[
        int, typer.Option(help="Number of processes; the results do not depend on it. -1: all cores.")
    ] = -1,
    out: Annotated[Path, typer.Option(help="Folder for the results and the pages made from them.")] = Path("results"),
    variant: Annotated[
        str,
        typer.Option(
            help="Which to follow where the paper's text and code differ: text or code; for Table 5 also preset, which "
            "prepares the data as for gene expression."
        ),
    ] = "text",
    data: Annotated[str | None, typer.Option(help="Folder with the microarray data sets of Table 5.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list of --list as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run an experiment of the paper and write the results as Markdown, CSV, HTML and figures.

    Each result is saved as soon as it is computed. If a run was interrupted, the same command continues it; if it is
    complete, only the pages are written again.

    Examples:

      sparsecluster reproduce --list

      sparsecluster reproduce table-1a --repeats 10 --cells "mu=0.6,p=1000"

      sparsecluster reproduce all --repeats 2 --out results
    """
    from .._utils.progress import Progress
    from ..experiments.catalogue import EXPERIMENTS
    from ..experiments.experiment import VARIANTS, Setting
    from ..experiments.pages import render
    from ..experiments.runner import run

    if list_ or not name:
        _show_list(EXPERIMENTS, as_json)
        return
    from .._utils.checks import check_choice

    check_choice("NAME", name, [*EXPERIMENTS, "all"], " (see --list)")
    check_choice("--variant", variant, list(VARIANTS))
    chosen = list(EXPERIMENTS) if name == "all" else [name]
    if name == "all" and repeats is None:
        repeats = REPEATS_OF_ALL
    for each in chosen:
        experiment = EXPERIMENTS[each]
        own = variant if variant in experiment.variants else experiment.variants[0]
        setting = Setting(own, data)  # type: ignore[arg-type]
        results = run(
            experiment,
            out,
            repeats=repeats,
            seed=seed,
            methods=_methods(methods, experiment, name == "all"),
            cells=_cells(cells, experiment),
            jobs=jobs,
            setting=setting,
            command="sparsecluster " + " ".join(map(shlex.quote, _told(sys.argv[1:]))),
            progress=Progress(False if quiet else "auto"),
        )
        files = render(experiment, out, setting)
        if not quiet:
            failed = sum(record.error is not None for record in results.records)
            note = f", {failed} failed" if failed else ""
            page = next(file for file in files if file.suffix == ".md")
            tell(f"{experiment.name}: {len(results.records)} results{note}; {page}")


def _told(arguments: list[str]) -> list[str]:
    """Remove the paths of files on this machine from the arguments of the command."""
    kept, skip = [], False
    for argument in arguments:
        if not skip and argument not in ("--out", "--data"):
            kept.append(argument)
        skip = argument in ("--out", "--data")
    return [each for each in kept if not each.startswith(("--out=", "--data="))]


def _methods(text: str, experiment: Any, is_all: bool) -> list[str]:
    from .._utils.checks import check_choice

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not is_all:
        for name in names:
            check_choice("--methods", name, list(experiment.methods))
    return names


def _cells(text: str, experiment: Any) -> list[dict[str, Any]]:
    """Return the cells with the given values, such as "mu=0.6,p=100"; semicolons or spaces separate several."""
    if not text:
        return []
    blanks = text.split()
    pieces = text.split(";") if ";" in text else blanks if all("=" in each for each in blanks) else [text]
    wanted = [dict(_pair(pair) for pair in each.split(",")) for each in pieces if each.strip()]
    chosen = [
        dict(cell)
        for cell in experiment.cells
        if any(all(_same(cell.get(key), value) for key, value in each.items()) for each in wanted)
    ]
    if not chosen:
        some = "; ".join(",".join(f"{key}={value}" for key, value in cell.items()) for cell in experiment.cells[:3])
        raise ValueError(f"--cells {brief(text)} matches no cell of {experiment.name}, whose cells are {some}; ...")
    return chosen


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise ValueError(
            f'--cells must be pairs such as "mu=0.6,p=100", with semicolons between cells; got {brief(text)}.'
        )
    return key.strip(), value.strip()


def _same(value: Any, text: str) -> bool:
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return str(value) == text


def _show_list(experiments: dict[str, Experiment], as_json: bool) -> None:
    from .shared import say_json, show_table

    entries = [
        {
            "name": each.name,
            "what it is": each.title,
            "cells": len(each.cells),
            "methods": len(each.methods),
            "repeats": " / ".join(dict.fromkeys(str(each.repeats_of(variant)) for variant in each.variants)),
            "minutes per repeat (one core)": MINUTES.get(each.name, ""),
        }
        for each in experiments.values()
    ]
    if as_json:
        say_json(entries, indent=2)
    else:
        show_table(list(entries[0]), (tuple(each.values()) for each in entries))


# Total time per repeat of the results in docs/results/paper; for Table 5, of the four data sets that were available.
MINUTES = {
    "figure-convergence": "0.02",
    "figure-gap": "0.1",
    "table-1a": "0.7",
    "table-1b": "1",
    "figure-weights": "0.04",
    "table-2a": "0.2",
    "table-2b": "with table-2a",
    "table-2-rotated": "0.3",
    "table-3": "0.2",
    "figure-pca": "0.1",
    "table-4": "0.4",
    "figure-kappa": "1.5",
    "table-5-data": "0",
    "table-5": "3",
}
