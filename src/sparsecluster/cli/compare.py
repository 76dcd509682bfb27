"""`sparsecluster compare`: run several methods on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import plainly, tell
from .options import Encoding, Id, MaxMemory, Sheet
from .scheduler import Scheduler, cluster


@plainly
def compare(
    data: Annotated[str, typer.Argument(help="Table: CSV, TSV, Parquet, Excel, ...; - for standard input.")],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            help="Number of clusters, or several among which every method chooses: 2-6, 2,4,8 or auto.",
        ),
    ],
    truth: Annotated[str | None, typer.Option(help="Column with the true groups, only used for comparison.")] = None,
    methods: Annotated[str, typer.Option(help="Names separated by commas, or all; see `sparsecluster methods`.")] = "",
    repeats: Annotated[int, typer.Option(help="Number of fits per method, with different seeds.", min=1)] = 3,
    id_: Id = None,
    metric: Annotated[str, typer.Option(help="Dissimilarity; auto chooses it by the type of each column.")] = "auto",
    transpose: Annotated[bool, typer.Option("--transpose", help="The table has features in rows.")] = False,
    sheet: Sheet = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")] = "",
    encoding: Encoding = None,
    max_memory: MaxMemory = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for comparison.csv, agreement.csv and comparison.md.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into the folder even if it holds files that are not a result.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Number of threads; the results do not depend on it. -1: all cores.")] = 1,
    scheduler: Scheduler = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors; requires --out.")] = False,
) -> None:
    """Run several methods on a table and compare their time, features, stability and agreement.

    A comparison that was interrupted continues with the next method when the same command is run again.

    Examples:

      sparsecluster compare genes.csv -k 3 --truth tissue

      sparsecluster compare table.xlsx -k 4 --methods sas,sparse-kmeans,ward --out comparison
    """
    from .._utils.csv import frame_csv
    from .._utils.files import write
    from .._utils.folders import check_place, replaced
    from .._utils.journal import recorded
    from .._utils.resume import name_of
    from ..inspection.compare import USUAL, compare_methods
    from ..methods.registry import METHODS
    from .results import COMPARE
    from .shared import clusters_of, load

    n_clusters = clusters_of(clusters)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    chosen = list(METHODS) if names == ["all"] else names or list(USUAL)
    if quiet and out is None:
        raise ValueError("--quiet without --out would show no results. Set a folder with --out.")
    if out is not None:
        check_place(out, COMPARE, force)
    with cluster(scheduler, jobs):
        loaded = load(
            data,
            id_=id_,
            truth=truth,
            drop=drop,
            transpose=transpose,
            sheet=sheet,
            encoding=encoding,
            max_memory=max_memory,
        )
        given: dict[str, Any] = {
            "n_clusters": n_clusters,
            "methods": chosen,
            "repeats": repeats,
            "random_state": seed,
            "n_jobs": jobs if scheduler is None else None,  # a cluster is used as a whole
            "verbose": False if quiet else "auto",
            **({} if metric == "auto" else {"metric": metric}),
        }
        truths = None if loaded.truth is None else loaded.truth.to_numpy().astype(str)
        # A comparison that was interrupted continues with the methods that are not finished.
        with recorded(name_of("compare", given, loaded.X)) as journal:
            found = compare_methods(loaded.X, truth=truths, **given)
    if all(each.error for each in found.results):
        raise ValueError(f"All methods failed. The first error was {found.results[0].error}")
    frame, agreement = found.frame(), found.agreement()
    if out is not None:
        with replaced(out, COMPARE) as new:
            write(new / "comparison.csv", frame_csv(frame))
            write(new / "agreement.csv", frame_csv(agreement))
            write(new / "comparison.md", _markdown(frame, agreement))
    journal.remove()
    if not quiet:
        for note in loaded.notes:
            tell(f"Note: {note}", err=True)
        _print(frame, agreement)
        if out is not None:
            tell(f"The results were written to {out}.")


def _print(frame, agreement) -> None:  # type: ignore[no-untyped-def]
    from rich.markup import escape
    from rich.table import Table

    from .._utils.text import visible
    from .shared import console

    printer = console()
    shown = frame.drop(columns="failed")
    table = Table("method", *(str(column) for column in shown.columns), box=None)
    for name, row in shown.iterrows():
        cells = ["" if value != value else f"{value:.3f}" for value in row]
        reason = frame.loc[name, "failed"]
        table.add_row(str(name), *(["failed: " + escape(visible(reason))] if reason else cells))
    printer.print(table)
    if len(agreement) > 1:
        printer.print("\nAgreement between methods (adjusted Rand index):")
        table = Table("", *agreement.columns, box=None)
        for name, row in agreement.iterrows():
            table.add_row(str(name), *(f"{value:.2f}" for value in row))
        printer.print(table)


def _markdown(frame, agreement) -> str:  # type: ignore[no-untyped-def]
    from .._utils.markdown import escaped, markdown_table

    def cell(value) -> str:  # type: ignore[no-untyped-def]
        return escaped(value) if isinstance(value, str) else "" if value != value else f"{value:.3f}"

    def table(given) -> str:  # type: ignore[no-untyped-def]
        rows = [[name, *map(cell, row)] for name, row in given.iterrows()]
        return markdown_table(["", *given.columns], rows)

    return f"# Comparison\n\n{table(frame)}\n\n## Agreement (adjusted Rand index)\n\n{table(agreement)}\n"
