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
    """Return a table with one row per sample: id, cluster, distance to it, second-best cluster and silhouette."""
    placed, labels = view.places_of_samples(), view.labels.tolist()
    if placed is None:
        return as_csv(["id", "cluster"], zip(view.ids, labels, strict=True))
    distance, silhouette = (np.round(each, 6).tolist() for each in (placed.distance, placed.silhouette))
    columns = zip(view.ids, labels, distance, placed.second.tolist(), silhouette, strict=True)
    return as_csv(["id", "cluster", "distance", "second_cluster", "silhouette"], columns)


def features_table(view: View) -> str:
    """Return a table with one row per feature, chosen features and high scores first.

    The columns are the name, whether the feature was chosen, its score, its weight for methods with weights, and its
    center in each cluster.
    """
    scores, is_chosen, weights, centers = view.scores, view.is_chosen, view.weights, view.centers
    header = ["name", "chosen", "score"]
    header += ["weight"] if weights is not None else []
    header += [f"cluster_{c}" for c in range(len(centers))] if centers is not None else []
    rows = []
    for a in np.lexsort((-scores, ~is_chosen)).tolist():
        row = [view.names[a], int(is_chosen[a]), round(float(scores[a]), 6)]
        row += [float(weights[a])] if weights is not None else []
        row += centers[:, a].tolist() if centers is not None else []
        rows.append(row)
    return as_csv(header, rows)
