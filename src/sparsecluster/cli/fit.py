"""`sparsecluster fit`: find the clusters in a file, and write the results and a report."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import brief
from .errors import plainly, tell
from .options import (
    CLUSTERS,
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
    Out,
    Parts,
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

if TYPE_CHECKING:
    from .fitting import Fitted


@plainly
def fit(
    data: Parts,
    clusters: Annotated[
        str,
        typer.Option(
            *CLUSTERS, help="Number of clusters, or several to choose from, such as 2-6 or 2,4,8; auto tries 2-10."
        ),
    ] = "auto",
    max_clusters: MaxClusters = None,
    cluster_criterion: ClusterCriterion = None,
    size: Size = "auto",
    trim: Trim = None,
    method: Annotated[str, typer.Option(help="Name of a method; see `sparsecluster methods`.")] = "sas",
    metric: Metric = None,
    standardize: Standardize = None,
    criterion: Criterion = None,
    null: Null = None,
    rule: Rule = None,
    assess: Annotated[
        bool | None,
        typer.Option(
            "--assess/--no-assess",
            help="Whether to test if there are groups, and how sure the clusters, samples and features are. By "
            "default, in short, for sas with up to 1,000 samples and 500,000 values, if the gap statistic chooses the "
            "features.",
        ),
    ] = None,
    alternative: Annotated[
        int | None,
        typer.Option(
            help="Number of another good clustering of the same samples, as in alternatives.csv and the report, from "
            "0 (sas). It is the result in the place of the first one, and is not assessed.",
            min=0,
        ),
    ] = None,
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
    out: Out = Path("sparsecluster-result"),
    force: Force = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Whether to write report.html.")] = True,
    seed: Seed = 0,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show progress from the start.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Find the clusters in a table and the features that distinguish them.

    Writes labels.csv, features.csv, summary.json, model.json and report.html, alternatives.csv if there are other good
    clusterings, and the curves by which the number of clusters (n_clusters.csv), of features (gap.csv, ...) and of core
    features (core.csv) were chosen. Of a curve with more than 1,000 values, about 1,000 are written.

    The first line says whether there are groups at all, if this was assessed. labels.csv then has the confidence of
    each sample, features.csv the evidence for each feature, and pairs.csv the differences between pairs of clusters.

    A table in parts, or a Parquet, CSV or H5AD file larger than the memory, is fitted in blocks of rows, and its
    labels are written as labels/part-00000.parquet, ..., one file per block.

    A fit of more than a few seconds that was interrupted continues where it stopped when the same command is run again.

    Examples:

      sparsecluster fit samples.csv

      sparsecluster fit samples.csv -k 2-6 --size core

      sparsecluster fit samples.csv -k 3 --alternative 0 -o other

      sparsecluster fit customers.csv --drop name --metric zip=hamming

      sparsecluster fit genes.tsv -k 4 --transpose --preset expression --out genes

      cat table.csv | sparsecluster fit - -k 2 --truth group --json

      sparsecluster fit 'part-*.parquet' -k 5 --jobs -1 -o clusters
    """
    from .._utils.folders import check_place
    from .._utils.progress import announce
    from .alternatives import check_alternative
    from .estimators import Wanted, clusters_of, estimator_of, size_of
    from .fitting import READING, WRITING, assessed, fit_table, summary_of, table_of
    from .results import FIT, write_results
    from .tables import Request, check_preset, metric_of

    check_preset(preset)
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
    shown: Any = False if quiet else verbose or "auto"
    # A cluster is used as a whole.
    n_jobs = jobs if scheduler is None else None
    estimator = estimator_of(method, wanted, random_state=seed, n_jobs=n_jobs, verbose=shown)
    check_alternative(estimator, method, alternative, assess)
    columns = tuple(drop or ()), tuple(keep or ()), tuple(dates or ())
    request = Request(
        id_, truth, *columns, transpose, sheet, encoding, delimiter, decimal, max_memory, wanted.named_columns()
    )
    check_place(out, FIT, force)
    with cluster(scheduler, jobs), ExitStack() as stack:
        announce(READING)
        # The table is handed over, so that it is given up as soon as it is read.
        held = [table_of(data, request, estimator, assess, stack, (scheduler, jobs, shown))]
        request = request.exact(held[0])
        fitted = assessed(fit_table(estimator, held.pop(), preset, alternative), assess, seed)
        if fitted.journal.n_reused and not quiet:
            tell(
                f"This fit was interrupted before; {fitted.journal.n_reused} of its finished steps were used again.",
                err=True,
            )
        announce(WRITING)
        result = summary_of(fitted, data, request)
        files = write_results(
            out,
            fitted.estimator,
            fitted.view,
            result,
            fitted.preset,
            report,
            fitted.parts,
            fitted.evidence,
            fitted.forms,
        )
    fitted.journal.remove()
    if as_json:
        _print_json(fitted, result, files)
    elif not quiet:
        _print(fitted, result, out, files, truth, assess)


# The numbers of a result that are printed as JSON.
AGREEMENT = ("rand", "ari", "error")
SHORT = ("n_samples", "n_features", "n_chosen", "sizes", "n_outliers", "explained", "warnings")


def _print_json(fitted: Fitted, result: dict[str, Any], files: list[Path]) -> None:
    """Print the main numbers of a result, and the names of the chosen features and of the core."""
    from .shared import say_json

    view = fitted.view
    say_json(
        {
            **{key: result[key] for key in SHORT},
            "n_clusters": len(result["sizes"]),
            "n_core": result["core"] and result["core"]["count"],
            "n_alternatives": len(view.alternatives),
            "chosen": [view.names[a] for a in view.chosen.tolist()],
            "core": None if view.core is None else [view.names[a] for a in view.core.tolist()],
            "assessment": result["assessment"],
            "truth": {key: result["truth"][key] for key in AGREEMENT} if "truth" in result else None,
            "notes": result["notes"],
            "files": [str(file) for file in files],
        }
    )


def _print(
    fitted: Fitted, result: dict[str, Any], out: Path, files: list[Path], truth: str | None, assess: bool | None
) -> None:
    """Print a result in sentences."""
    from ..report._words import no_groups_shown
    from .assess import HINT
    from .shared import say

    first, *rest = result["sentences"]
    say(first, stands_out=no_groups_shown(result))
    proof = result["assessment"]["sentences"][1:] if fitted.evidence else []
    warned = (f"Warning: {each}" for each in result["warnings"])
    for line in (*rest, *proof, *warned, *(f"Note: {note}" for note in result["notes"])):
        say(line)
    if "truth" in result:
        agreement = result["truth"]
        among = " among the samples in clusters" if fitted.view.n_outliers else ""
        say(f"Agreement with {brief(truth)}{among}: Rand index {agreement['rand']:.3f}, adjusted Rand index "
            f"{agreement['ari']:.3f}, error rate {agreement['error']:.3f}.")  # fmt: skip
    if assess is None and not fitted.is_assessed and fitted.parts is None and fitted.alternative is None:
        say(HINT)
    say(f"The results were written to {out}: {', '.join(file.name for file in files)}.")
