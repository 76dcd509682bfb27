"""`sparsecluster fit`: find the clusters in a file, and write the results and a report."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.text import brief
from .errors import plainly, tell
from .options import Encoding, Id, MaxMemory, Sheet
from .scheduler import Scheduler, cluster

if TYPE_CHECKING:
    from .._utils.journal import Journal
    from ..evidence import Assessment
    from ..inspection import View
    from ..io.parts import Parts


@plainly
def fit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Table: CSV, TSV, Parquet, Feather, Excel, NumPy, H5AD or MTX; - for standard input. Several files, a "
            "folder or a pattern such as 'part-*.parquet' are parts of one table: Parquet, CSV or Zarr."
        ),
    ],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            help="Number of clusters, or several to choose from, such as 2-6 or 2,4,8; auto tries 2-10.",
        ),
    ] = "auto",
    max_clusters: Annotated[int | None, typer.Option(help="Largest number of clusters that -k auto tries.")] = None,
    cluster_criterion: Annotated[
        str | None,
        typer.Option(
            help="Criterion by which the number of clusters is chosen: auto, bic, gap, gap_uniform, logdet_gap, "
            "prediction_strength or stadion.",
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            "--size",
            "-s",
            help="Number of features, a share such as 0.1, auto, or core: the fewest that give the same clusters.",
        ),
    ] = "auto",
    trim: Annotated[
        float | None, typer.Option(help="Largest share of the samples to leave out as outliers, such as 0.05.")
    ] = None,
    method: Annotated[str, typer.Option(help="Name of a method; see `sparsecluster methods`.")] = "sas",
    metric: Annotated[
        str, typer.Option(help="Dissimilarity: auto, sqeuclidean, manhattan, euclidean, hamming or ordinal.")
    ] = "auto",
    criterion: Annotated[
        str | None, typer.Option(help="Criterion by which the number of features is chosen (sas): gap or bic.")
    ] = None,
    null: Annotated[
        str | None,
        typer.Option(help="Reference for the gap statistic (sas): refit, or fixed, which selects fewer features."),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="max (largest gap), or 1se (fewest features within one standard error of it).")
    ] = None,
    assess: Annotated[
        bool | None,
        typer.Option(
            "--assess/--no-assess",
            help="Whether to test if there are groups, and how sure the clusters, samples and features are. By "
            "default, in short, for sas with up to 1,000 samples and 500,000 values, if the gap statistic chooses the "
            "features.",
        ),
    ] = None,
    id_: Id = None,
    truth: Annotated[str | None, typer.Option(help="Column with the true groups, only used for comparison.")] = None,
    drop: Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")] = "",
    transpose: Annotated[
        bool, typer.Option("--transpose", help="The table has features in rows and samples in columns.")
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(help="expression: prepare the samples of gene-expression data, and select the core genes."),
    ] = None,
    sheet: Sheet = None,
    encoding: Encoding = None,
    delimiter: Annotated[str | None, typer.Option(help="Delimiter of a text file; detected by default.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of a text file; detected by default.")] = None,
    max_memory: MaxMemory = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("sparsecluster-result"),
    force: Annotated[
        bool, typer.Option("--force", help="Write into the folder even if it holds files that are not a result.")
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Whether to write report.html.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Number of threads; the result does not depend on it. -1: all cores.")] = 1,
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

      sparsecluster fit genes.tsv -k 4 --transpose --preset expression --out genes

      cat table.csv | sparsecluster fit - -k 2 --truth group --json

      sparsecluster fit 'part-*.parquet' -k 5 --jobs -1 -o clusters
    """
    from .._utils.checks import check_choice
    from .._utils.folders import check_place
    from .._utils.progress import announce
    from ..inspection import inspect
    from ..inspection.agreement import in_clusters
    from ..io.limits import memory_limit
    from ..io.parts import Parts
    from ..metrics import adjusted_rand_index, error_rate, rand_index
    from ..report import summarize
    from ..report._words import no_groups_shown
    from .assess import HINT, IN_BLOCKS, assessment_of, plan_of
    from .parts import fit_parts, fits_in_blocks, passes
    from .results import FIT
    from .shared import clusters_of, command_line, load_or_open, prepared, preset_of, say, say_json

    asked = {
        "max_clusters": max_clusters,
        "cluster_criterion": cluster_criterion,
        "n_features_to_select": size,
        "trim": trim,
        "metric": metric,
        "criterion": criterion,
        "null": null,
        "rule": rule,
    }
    # A cluster is used as a whole.
    n_jobs = jobs if scheduler is None else None
    given = {"random_state": seed, "n_jobs": n_jobs, "verbose": False if quiet else verbose or "auto"}
    if preset is not None:
        check_choice("--preset", preset, list(PRESETS))
    estimator = _estimator(method, clusters_of(clusters), asked, given, preset)
    check_place(out, FIT, force)
    with cluster(scheduler, jobs), ExitStack() as stack:
        announce(READING)
        loaded = load_or_open(
            data,
            id_=id_,
            truth=truth,
            drop=drop,
            transpose=transpose,
            sheet=sheet,
            encoding=encoding,
            delimiter=delimiter,
            decimal=decimal,
            max_memory=max_memory,
        )
        parts = None
        if isinstance(loaded, Parts):
            stack.callback(loaded.close)
            stack.enter_context(passes(scheduler, jobs, given["verbose"]))
            if fits_in_blocks(estimator, sum(loaded.check())):
                parts = loaded
            else:
                loaded = loaded.loaded(memory_limit(max_memory))
        if parts is not None and assess:
            raise ValueError(IN_BLOCKS)
        preparation, told = preset_of(preset, loaded.X)
        evidence, plan = None, None
        announce(FITTING)
        if parts is not None:
            parts = parts._replace(X=prepared(parts.X, preparation))
            found, view, warned, journal = fit_parts(estimator, parts, preparation)
        else:
            # The table is handed over, so that it is given up as soon as it is read.
            tables, loaded = [loaded.X], loaded._replace(X=None)
            found, reading, warned, journal = _fitted(estimator, prepared(tables.pop(), preparation))
            view = inspect(found, reading, loaded.ids, loaded.names)
            plan = plan_of(assess, found, view.n_samples, len(view.names))
            announce(ASSESSING)
            evidence, refused = assessment_of(found, reading, plan, seed)
            warned += refused
        if journal.n_reused and not quiet:
            tell(
                f"This fit was interrupted before; {journal.n_reused} of its finished steps were used again.", err=True
            )
        announce(WRITING)
        notes = [*loaded.notes, *told, *warned]
        title = "Sparse clustering" if data == ["-"] else f"Clusters in {Path(data[0]).name}"
        result = summarize(view, title=title, notes=notes, command=command_line(), assessment=evidence)
        if parts is None and loaded.truth is not None:
            known, labels = in_clusters(loaded.truth.to_numpy().astype(str), found.labels_)
            result["truth"] = {
                "rand": rand_index(known, labels),
                "ari": adjusted_rand_index(known, labels),
                "error": error_rate(known, labels),
            }
        files = write_results(out, found, view, result, preparation, report, parts, evidence)
    journal.remove()
    if as_json:
        short = {key: result[key] for key in SHORT}
        short["n_core"] = result["core"] and result["core"]["count"]
        short["n_alternatives"] = len(view.alternatives)
        short["assessment"] = result["assessment"]
        say_json({**short, "truth": result.get("truth"), "files": [str(file) for file in files]})
        return
    first, *rest = result["sentences"]
    say(first, quiet, stands_out=no_groups_shown(result))
    proof = result["assessment"]["sentences"][1:] if evidence else []
    for line in (*rest, *proof, *(f"Warning: {each}" for each in result["warnings"])):
        say(line, quiet)
    for note in result["notes"]:
        say(f"Note: {note}", quiet)
    if "truth" in result:
        agreement = result["truth"]
        among = " among the samples in clusters" if view.n_outliers else ""
        say(f"Agreement with {brief(truth)}{among}: Rand index {agreement['rand']:.3f}, adjusted Rand index "
            f"{agreement['ari']:.3f}, error rate {agreement['error']:.3f}.", quiet)  # fmt: skip
    if assess is None and plan is None and parts is None:
        say(HINT, quiet)
    say(f"The results were written to {out}: {', '.join(file.name for file in files)}.", quiet)


# The stages of the command, as they are announced to whoever listens to its progress.
READING, FITTING, ASSESSING, WRITING = "reading the table", "fitting", "assessing the clusters", "writing the results"
# The numbers of a result that are printed as JSON.
SHORT = ("n_samples", "n_features", "n_chosen", "sizes", "n_outliers", "explained", "warnings")
# Options whose names are not those of the parameters, and the values of options that were not given.
OPTIONS = {"n_features_to_select": "--size"}
NOTHING = ("auto", None)
# The parameters that suit the data of each preset, by the name of the table that has them.
PRESETS = {"expression": "EXPRESSION"}


def _estimator(
    method: str, k: int | list[int] | str, asked: dict[str, Any], given: dict[str, Any], preset: str | None
) -> Any:
    """Return the estimator with its parameters, which are checked before the table is read.

    An option that the method does not have, or that would have no effect, is an error. The parameters of a preset are
    used as far as the method has them, unless an option says otherwise.
    """
    from .. import preprocessing
    from ..methods.registry import make_method

    usual = {} if preset is None else dict(getattr(preprocessing, PRESETS[preset]))

    if k != "auto" and asked["max_clusters"] is not None:
        raise ValueError("--max-clusters is the largest number of clusters that -k auto tries. Leave out -k, or this.")
    made = make_method(method, k)
    takes = made.get_params()
    if "n_features_to_select" not in takes:
        # Other methods have a rule as well, but no core.
        usual.pop("rule", None)
    wanted = {key: value for key, value in asked.items() if value not in NOTHING}
    strange = next((key for key in wanted if key not in takes), None)
    if strange is not None:
        option = OPTIONS.get(strange, f"--{strange.replace('_', '-')}")
        raise ValueError(f"The method {brief(method)} has no option {option}. Leave this option out.")
    if "n_features_to_select" in wanted:
        wanted["n_features_to_select"] = _size(wanted["n_features_to_select"])
    made.set_params(**{key: value for key, value in {**usual, **given, **wanted}.items() if key in takes})
    made._check()
    return made


def _size(text: str) -> int | float | str:
    if text == "core":
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f'--size must be a number of features, a share such as 0.1, "core" or "auto"; got {brief(text)}.')


def _fitted(estimator: Any, X: Any) -> tuple[Any, Any, list[str], Journal]:
    """Return the fitted estimator, the reading of the table, which is used for all results, and the warnings.

    A fit that was interrupted continues where it stopped. The journal, by which it does, is returned as well.
    """
    import warnings

    from .._utils.journal import recorded
    from .._utils.resume import name_of

    name = name_of("fit", {**estimator.get_params(), "method": type(estimator).__name__}, X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        reading = estimator.read(X)
        # The reading has what it needs of the table.
        del X
        with recorded(name) as journal:
            estimator.fit(reading)
    messages = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    return estimator, reading, list(dict.fromkeys(messages)), journal


def write_results(
    out: Path,
    found: Any,
    view: View,
    result: dict[str, Any],
    preset: dict[str, Any] | None,
    report: bool,
    parts: Parts | None = None,
    evidence: Assessment | None = None,
) -> list[Path]:
    """Write all files of a result into a new folder, which takes the place of an earlier result as a whole.

    The labels of a table in parts are written in parts, and compared with the true groups while they are written.
    """
    from .._utils.csv import frame_csv
    from .._utils.files import write
    from .._utils.folders import replaced
    from ..io.curves import thinned
    from ..io.models import ModelError, save_model
    from ..report import report_page
    from .assess import named_pairs
    from .parts import put_fitted_labels
    from .results import CURVE_FILES, FIT, LABELS, alternatives_table, features_table, labels_table

    with replaced(out, FIT) as new:
        if parts is None:
            files = [write(new / "labels.csv", labels_table(view, evidence))]
            if view.alternatives:
                files.append(write(new / "alternatives.csv", alternatives_table(view)))
        else:
            files = [new / LABELS]
            result |= put_fitted_labels(new / LABELS, found, parts)
        files.append(write(new / "features.csv", features_table(view, evidence)))
        if evidence is not None and evidence.pairs.features:
            files.append(write(new / "pairs.csv", frame_csv(named_pairs(evidence, view), index=False)))
        files += [
            write(new / CURVE_FILES[name], frame_csv(thinned(each).frame())) for name, each in view.curves.items()
        ]
        try:
            # A matrix has no column names. With the names from the file, `predict` can find the columns in new tables.
            files.append(save_model(found, new / "model.json", preset=preset, names=view.names))
        except ModelError as error:
            result["notes"].append(f"model.json was not written. {error}")
        files.append(write(new / "summary.json", json.dumps(result, ensure_ascii=False, allow_nan=False)))
        if report:
            files.append(write(new / "report.html", report_page(result)))
    return [out / file.name for file in files]
