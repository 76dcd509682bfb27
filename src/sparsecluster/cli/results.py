"""The files that are written by commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._utils.csv import ROWS_AT_A_TIME, as_csv, csv_parts, frame_csv
from .._utils.folders import Kind, holds_parts

if TYPE_CHECKING:
    from ..evidence import Assessment
    from ..inspection import View
    from ..inspection._new import Samples
    from ..io.parts import Parts


CURVES = ("n_clusters", "gap", "bic", "instability", "components", "core")
CURVE_FILES = {f"{name}_curve_": f"{name}.csv" for name in CURVES}
FIT_FILES = (
    *("labels.csv", "features.csv", "pairs.csv", "alternatives.csv", *CURVE_FILES.values()),
    *("model.json", "summary.json", "report.html"),
)
COMPARE_FILES = ("comparison.csv", "agreement.csv", "comparison.md")


def is_fit(folder: Path) -> bool:
    """Whether a folder holds a result of `fit`: a summary that says which version made it."""
    try:
        summary = json.loads((folder / "summary.json").read_bytes())
        return "sparsecluster" in summary["settings"]["versions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def is_comparison(folder: Path) -> bool:
    """Whether a folder holds a result of `compare`: its tables, and a page that begins as ours do."""
    try:
        first = (folder / "comparison.csv").read_bytes()[:7], (folder / "comparison.md").read_bytes()[:13]
    except OSError:
        return False
    return first == (b"method,", b"# Comparison\n")


# The folder in a result of `fit` that has the labels of a table in parts.
LABELS = "labels"
FIT = Kind("fit", FIT_FILES, is_fit, LABELS)
PREDICT = Kind("predict", (), holds_parts, "")
COMPARE = Kind("compare", COMPARE_FILES, is_comparison)


def labels_table(found: Any, view: View, assessment: Assessment | None = None) -> Iterator[str]:
    """Yield the parts of a table with one row per sample.

    The columns are the id, the cluster, and -1 if the sample is in none; those of `sample_columns`; the outlier score,
    if samples could be left out; and, if the fit was assessed, how often the sample keeps its cluster, and the cluster
    in which it is otherwise.
    """
    from ..inspection._new import Samples, own_probability

    probability = own_probability(getattr(found, "memberships_", None), view.labels)
    columns = sample_columns(Samples(view.labels, view.places_of_samples(), probability))
    if view.outlier_scores is not None:
        columns["outlier_score"] = np.round(view.outlier_scores, 6)
    if assessment is not None:
        columns.setdefault("second_cluster", assessment.samples.second)
        columns["confidence"] = np.round(assessment.samples.confidence, 6)
    return csv_parts(["id", *columns], zip(view.ids, *map(items, columns.values()), strict=True))


def sample_columns(samples: Samples) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that say where samples are, in a fit or new ones.

    They are the cluster; for methods with distances, the distance to the cluster, the second-best cluster and the
    silhouette; and for methods with probabilities, the probability of the cluster.
    """
    columns: dict[str, npt.NDArray[Any]] = {"cluster": samples.labels}
    if samples.placed is not None:
        columns["distance"] = np.round(samples.placed.distance, 6)
        columns["second_cluster"] = samples.placed.second
        columns["silhouette"] = np.round(samples.placed.silhouette, 6)
    if samples.probability is not None:
        columns["probability"] = np.round(samples.probability, 6)
    return columns


def items(values: npt.NDArray[Any]) -> Iterator[Any]:
    """Yield the values of an array as objects of Python, of which few are in memory at a time."""
    for first in range(0, len(values), ROWS_AT_A_TIME):
        yield from values[first : first + ROWS_AT_A_TIME].tolist()


def alternatives_table(view: View) -> Iterator[str]:
    """Yield the parts of a table with one row per sample: its id, and its cluster in each alternative."""
    labels = [items(each.labels) for each in view.alternatives]
    header = ["id", *(f"alternative_{number}" for number in range(len(labels)))]
    return csv_parts(header, zip(view.ids, *labels, strict=True))


# The columns of a table of features, by the attributes of the evidence that they hold.
EVIDENCE = {"frequency": "frequency", "fdr": "q", "effect": "effect", "effect_low": "low", "effect_high": "high"}


def features_table(view: View, assessment: Assessment | None = None) -> str:
    """Return a table with one row per feature, chosen features and high scores first.

    The columns are the name, whether the feature was chosen, whether it is one of the core features if these were
    sought, its score, its weight for methods with weights, and its center in each cluster; and, if the fit was
    assessed, how often it is chosen in halves of the samples, the smallest false discovery rate at which it is listed,
    and the share that the clusters of held-out samples explain, with its interval.
    """
    order = np.lexsort((-view.scores, ~view.is_chosen))
    columns = {"name": [view.names[a] for a in order.tolist()], "chosen": view.is_chosen[order].astype(int).tolist()}
    if view.core is not None:
        columns["core"] = view.is_core[order].astype(int).tolist()
    columns["score"] = np.round(view.scores[order], 6).tolist()
    if view.weights is not None:
        columns["weight"] = view.weights[order].tolist()
    if assessment is not None:
        columns |= {
            name: [float(f"{value:.6g}") for value in getattr(assessment.features, attribute)[order].tolist()]
            for name, attribute in EVIDENCE.items()
        }
    for c, center in enumerate(() if view.centers is None else view.centers):
        columns[f"cluster_{c}"] = center[order].tolist()
    return as_csv(list(columns), zip(*columns.values(), strict=True))


# ---------------------------------------------------------------- all files of a fit


def write_results(
    out: Path,
    found: Any,
    view: View,
    result: dict[str, Any],
    preset: dict[str, Any] | None,
    report: bool,
    parts: Parts | None = None,
    evidence: Assessment | None = None,
    dates: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write all files of a result into a new folder, which takes the place of an earlier result as a whole.

    The labels of a table in parts are written in parts, and compared with the true groups while they are written.
    """
    from .._utils.files import write
    from .._utils.folders import replaced
    from ..io.curves import thinned
    from ..io.models import ModelError, save_model
    from ..report import report_page
    from .assess import named_pairs
    from .parts import put_fitted_labels

    with replaced(out, FIT) as new:
        if parts is None:
            files = [write(new / "labels.csv", labels_table(found, view, evidence))]
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
            files.append(save_model(found, new / "model.json", preset=preset, names=view.names, dates=dates))
        except ModelError as error:
            result["notes"].append(f"model.json was not written. {error}")
        files.append(write(new / "summary.json", json.dumps(result, ensure_ascii=False, allow_nan=False)))
        if report:
            files.append(write(new / "report.html", report_page(result)))
    return [out / file.name for file in files]
