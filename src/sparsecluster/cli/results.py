"""The tables that are written by commands."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.text import is_number

if TYPE_CHECKING:
    from ..inspection import View


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV. Missing values are empty, and a spreadsheet cannot mistake text for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([harmless(name) for name in header])
    for row in rows:
        writer.writerow(["" if cell is None or cell != cell else harmless(cell) for cell in row])
    return text.getvalue()


def harmless(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would evaluate as a formula."""
    starts = isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") and not is_number(cell)
    return f"'{cell}" if starts else cell


def labels_table(view: View) -> str:
    """Return a table with one row per sample.

    The columns are the id, the cluster, and -1 if the sample is in none; for methods with distances, the distance to
    the cluster, the second-best cluster and the silhouette; and the outlier score, if samples could be left out.
    """
    placed, columns = view.places_of_samples(), {"id": view.ids, "cluster": view.labels.tolist()}
    if placed is not None:
        columns["distance"] = np.round(placed.distance, 6).tolist()
        columns["second_cluster"] = placed.second.tolist()
        columns["silhouette"] = np.round(placed.silhouette, 6).tolist()
    if view.outlier_scores is not None:
        columns["outlier_score"] = np.round(view.outlier_scores, 6).tolist()
    return as_csv(list(columns), zip(*columns.values(), strict=True))


def alternatives_table(view: View) -> str:
    """Return a table with one row per sample: its id, and its cluster in each alternative."""
    labels = [each.labels.tolist() for each in view.alternatives]
    header = ["id", *(f"alternative_{number}" for number in range(len(labels)))]
    return as_csv(header, zip(view.ids, *labels, strict=True))


def features_table(view: View) -> str:
    """Return a table with one row per feature, chosen features and high scores first.

    The columns are the name, whether the feature was chosen, whether it is one of the core features if these were
    sought, its score, its weight for methods with weights, and its center in each cluster.
    """
    order = np.lexsort((-view.scores, ~view.is_chosen))
    columns = {"name": [view.names[a] for a in order.tolist()], "chosen": view.is_chosen[order].astype(int).tolist()}
    if view.core is not None:
        columns["core"] = view.is_core[order].astype(int).tolist()
    columns["score"] = np.round(view.scores[order], 6).tolist()
    if view.weights is not None:
        columns["weight"] = view.weights[order].tolist()
    for c, center in enumerate(() if view.centers is None else view.centers):
        columns[f"cluster_{c}"] = center[order].tolist()
    return as_csv(list(columns), zip(*columns.values(), strict=True))
