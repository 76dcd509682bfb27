"""`sparsecluster compare`: run several methods on a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import plainly, tell
from .options import (
    CLUSTERS,
    AsJson,
    ClusterCriterion,
    Criterion,
    Dates,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Force,
    Id,
    Jobs,
    Keep,
    MaxClusters,
    MaxMemory,
    Metric,
    Null,
    Preset,
    Rule,
    Seed,
    Sheet,
    Size,
    Standardize,
    Transpose,
    Trim,
    Truth,
)
from .scheduler import Scheduler, cluster
from .words import OPTIONS, in_options

if TYPE_CHECKING:
    from .estimators import Wanted


@plainly
def compare(
    data: Annotated[str, typer.Argument(help="Table: CSV, TSV, Parquet, Excel, ...; - for standard input.")],
    clusters: Annotated[
        str,
        typer.Option(
            *CLUSTERS, help="Number of clusters, or several among which every method chooses: 2-6, 2,4,8 or auto."
        ),
    ],
    max_clusters: MaxClusters = None,
    cluster_criterion: ClusterCriterion = None,
    methods: Annotated[str, typer.Option(help="Names separated by commas, or all; see `sparsecluster methods`.")] = "",
    repeats: Annotated[
        int, typer.Option(help="Number of fits per method: the first with --seed, the others with other seeds.", min=1)
    ] = 3,
    size: Size = "auto",
    trim: Trim = None,
    metric: Metric = None,
    standardize: Standardize = None,
    criterion: Criterion = None,
    null: Null = None,
    rule: Rule = None,
    id_: Id = None,
    truth: Truth = None,
    drop: Drop = None,
    keep: Keep = None,
    dates: Dates = None,
    transpose: Transpose = False,
    preset: Preset = None,
    sheet: Sheet = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    max_memory: MaxMemory = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for comparison.csv, agreement.csv and comparison.md.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors; requires --out.")] = False,
) -> None:
    """Run several methods on a table and compare their time, features, stability and agreement.

    The table is read as by `fit`, and the first fit of each method is the one that `fit` makes with the same options
    and seed. Options are used by the methods that have them.

    A comparison that was interrupted continues with the next method when the same command is run again.

    Examples:

      sparsecluster compare genes.csv -k 3 --truth tissue

      sparsecluster compare table.xlsx -k 4 --methods sas,sparse-kmeans,ward --out comparison
    """
    import numpy as np

    from .._utils.folders import check_place
    from .._utils.journal import recorded
    from .._utils.resume import name_of
    from ..inspection.compare import USUAL, compare_methods
    from ..methods.registry import METHODS
    from .estimators import Wanted, clusters_of, size_of
    from .results import COMPARE
    from .tables import Request, check_preset, metric_for, metric_of, prepared, preset_of

    if quiet and out is None:
        raise ValueError("--quiet without --out would show no results. Set a folder with --out.")
    check_preset(preset)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    chosen = list(METHODS) if names == ["all"] else names or list(USUAL)
    wanted = Wanted(
        clusters_of(clusters),
        max_clusters,
        cluster_criterion,
        size_of(size),
        trim,
        metric_of(metric),
        standardize,
        criterion,
        null,
        rule,
        preset,
    )
    _check(chosen, wanted)
    columns = tuple(drop or ()), tuple(keep or ()), tuple(dates or ())
    request = Request(
        id_, truth, *columns, transpose, sheet, encoding, delimiter, decimal, max_memory, wanted.named_columns()
    )
    if out is not None:
        check_place(out, COMPARE, force)
    with cluster(scheduler, jobs):
        loaded = request.load(data)
        preparation, told = preset_of(preset, loaded.X)
        X = prepared(loaded.X, preparation)
        wanted = wanted._replace(metric=metric_for(wanted.metric, loaded))
        given: dict[str, Any] = {
            "n_clusters": wanted.n_clusters,
            "methods": chosen,
            "repeats": repeats,
            "random_state": seed,
            "n_jobs": jobs if scheduler is None else None,  # a cluster is used as a whole
            "verbose": False if quiet else "auto",
        }
        truths = None if loaded.truth is None else np.asarray(loaded.truth).astype(str)
        # A comparison that was interrupted continues with the methods that are not finished.
        with recorded(name_of("compare", {**given, **wanted._asdict()}, X)) as journal:
            found = compare_methods(X, truth=truths, make=_maker(wanted), **given)
    if all(each.error for each in found.results):
        raise ValueError(f"All methods failed. The first error was {found.results[0].error}")
    frame, agreement = found.frame(), found.agreement()
    notes = [*loaded.notes, *told]
    if out is not None:
        _write(out, frame, agreement)
    journal.remove()
    if as_json:
        _print_json(found, loaded.ids, notes)
    elif not quiet:
        for note in notes:
            tell(f"Note: {in_options(note)}", err=True)
        _print(frame, agreement)
        if out is not None:
            tell(f"The results were written to {out}.")


def _check(methods: Sequence[str], wanted: Wanted) -> None:
    """Check the parameters of all methods before the table is read; an option that none of them has is an error."""
    from .estimators import made

    wanted.check()
    taken: set[str] = set()
    for name in methods:
        estimator = made(name, wanted)
        estimator._check()
        taken |= estimator.get_params().keys()
    strange = next((name for name in wanted.parameters() if name not in taken), None)
    if strange is not None:
        raise ValueError(f"None of the methods has an option {OPTIONS[strange]}. Leave this option out.")


def _maker(wanted: Wanted) -> Any:
    """Return the function that creates the estimators, as `fit` does."""
    from .estimators import made

    return lambda name, n_clusters, **given: made(name, wanted, **given)


def _write(out: Path, frame: Any, agreement: Any) -> None:
    from .._utils.csv import frame_csv
    from .._utils.files import write
    from .._utils.folders import replaced
    from .results import COMPARE

    with replaced(out, COMPARE) as new:
        write(new / "comparison.csv", frame_csv(frame))
        write(new / "agreement.csv", frame_csv(agreement))
        write(new / "comparison.md", _markdown(frame, agreement))


def _print_json(found: Any, ids: Sequence[str], notes: list[str]) -> None:
    """Print the table of methods, their agreement, and the clusters that the first fit of each has found."""
    from .shared import say_json

    rows = found.frame().reset_index().to_dict(orient="records")
    agreement = found.agreement()
    say_json(
        {
            "methods": [{name: _known(value) for name, value in row.items()} for row in rows],
            "agreement": {"methods": list(agreement.columns), "values": agreement.to_numpy().tolist()},
            "ids": list(ids),
            "labels": {each.method: each.labels[0].tolist() for each in found.results if each.labels},
            "notes": notes,
        }
    )


def _known(value: Any) -> Any:
    """Return a value, and None for a number that is not known."""
    return None if value != value else value


def _print(frame: Any, agreement: Any) -> None:
    from .shared import console, show_table

    shown = frame.drop(columns="failed")
    failed = frame["failed"][frame["failed"] != ""]
    rows = (
        [name, *(["failed"] if name in failed else ["" if value != value else f"{value:.3f}" for value in row])]
        for name, row in shown.iterrows()
    )
    show_table(["method", *map(str, shown.columns)], [[*row, *[""] * (1 + shown.shape[1] - len(row))] for row in rows])
    for name, reason in failed.items():
        tell(f"{name} failed: {in_options(reason)}")
    if len(agreement) > 1:
        console().print("\nAgreement between methods (adjusted Rand index):")
        show_table(
            ["", *agreement.columns], ([name, *(f"{value:.2f}" for value in row)] for name, row in agreement.iterrows())
        )


def _markdown(frame: Any, agreement: Any) -> str:
    from .._utils.markdown import escaped, markdown_table

    def cell(value: Any) -> str:
        return escaped(value) if isinstance(value, str) else "" if value != value else f"{value:.3f}"

    def table(given: Any) -> str:
        rows = [[name, *map(cell, row)] for name, row in given.iterrows()]
        return markdown_table(["", *given.columns], rows)

    return f"# Comparison\n\n{table(frame)}\n\n## Agreement (adjusted Rand index)\n\n{table(agreement)}\n"
