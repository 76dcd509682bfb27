"""The tables that commands write."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Comma-separated text; what is no number is left empty. Text that a spreadsheet would run is put in quotes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([harmless(name) for name in header])
    for row in rows:
        writer.writerow(["" if cell is None or cell != cell else harmless(cell) for cell in row])
    return text.getvalue()


def harmless(cell: Any) -> Any:
    """Text that begins as a formula does gets an apostrophe in front: spreadsheets would compute it."""
    starts = isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") and not _is_number(cell)
    return f"'{cell}" if starts else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def labels_table(found: Any, X: Any, ids: Sequence[str]) -> str:
    """id, cluster, distance to it, second-best cluster, silhouette."""
    from ..report.samples import placed

    known = placed(found, X)
    labels = found.labels_.tolist()
    if known is None:
        return as_csv(["id", "cluster"], zip(ids, labels, strict=True))
    columns = zip(
        ids,
        labels,
        np.round(known.distance, 6).tolist(),
        known.second.tolist(),
        np.round(known.silhouette, 6).tolist(),
        strict=True,
    )
    return as_csv(["id", "cluster", "distance", "second_cluster", "silhouette"], columns)


def features_table(found: Any, names: Sequence[str]) -> str:
    """name, chosen, score, weight if any, and the middle of the feature in every cluster; the best first."""
    scores, chosen = found.feature_scores_, found.support_
    weights, centers = getattr(found, "feature_weights_", None), getattr(found, "cluster_centers_", None)
    header = ["name", "chosen", "score"]
    header += ["weight"] if weights is not None else []
    header += [f"cluster_{c}" for c in range(len(centers))] if centers is not None else []
    rows = []
    for a in np.lexsort((-scores, ~chosen)).tolist():
        row = [names[a], int(chosen[a]), round(float(scores[a]), 6)]
        row += [float(weights[a])] if weights is not None else []
        row += centers[:, a].tolist() if centers is not None else []
        rows.append(row)
    return as_csv(header, rows)
