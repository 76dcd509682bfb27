"""What makes each cluster: the distributions of features in the clusters, and the features that distinguish each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import Subset
from ..inspection._style import written
from ..inspection.contributions import Contributions
from ..inspection.distributions import Distributions, Panel
from ..inspection.view import View
from ._numbers import in_units, percent, rounded, ticks

# The number of features whose distributions are drawn, and the largest number of pictures of single clusters.
MOST_DRAWN, MOST_CARDS = 30, 72
# The number of features of each cluster of an alternative.
MOST_TOLD = 3
# The largest and the smallest number of features in the profile of a cluster.
MOST_TELLING, FEWEST_TELLING = 6, 3
# Every value of a cluster with no more values than this is drawn.
MOST_POINTS = 40
# The number of levels in a picture. If there are more, the rarest are drawn together.
MOST_LEVELS = 7
# The number of letters for which there is room on the axis of a feature.
MOST_LETTERS = 36


def profiles(view: View, most: int = MOST_TOLD) -> list[list[dict[str, Any]]]:
    """The features of which each cluster explains most, with their typical values in the cluster."""
    if view.no_values is not None:
        return []
    shown = Contributions.from_view(view)
    tops = [shown.top(c, most) for c in range(view.n_clusters)]
    panels = _panels(view, np.unique(np.concatenate(tops)))
    return _rows(view, shown, tops, panels)


def pictures(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """The distributions of the best features, the core first, and the profiles of the clusters, which refer to them."""
    if view.no_values is not None:
        return {"features": [], "n_first": 0, "note": view.no_values}, {"clusters": [], "note": view.no_values}
    shown, k = Contributions.from_view(view), view.n_clusters
    most = int(np.clip(MOST_CARDS // k, FEWEST_TELLING, MOST_TELLING))
    tops = [shown.top(c, most) for c in range(k)]
    best = np.argsort(~view.is_core[view.chosen], kind="stable")[:MOST_DRAWN]
    places = np.concatenate([best, np.setdiff1d(np.concatenate(tops), best)])
    panels = _panels(view, places)
    drawn = [_drawn(view, shown, place, panel) for place, panel in panels.items()]
    at = {place: number for number, place in enumerate(panels)}
    rows = _rows(view, shown, tops, panels)
    for own, told in zip(tops, rows, strict=True):
        for place, row in zip(own.tolist(), told, strict=True):
            row["at"] = at[place]
    return {"features": drawn, "n_first": int(best.size), "note": None}, {"clusters": rows, "note": None}


def _panels(view: View, places: Subset) -> dict[int, Panel]:
    made = Distributions.from_view(view, [int(a) for a in view.chosen[places]]).panels
    return dict(zip(places.tolist(), made, strict=True))


def _rows(view: View, shown: Contributions, tops: list[Subset], panels: dict[int, Panel]) -> list[list[dict[str, Any]]]:
    return [
        [
            {
                "name": shown.features[j],
                "explained": float(f"{shown.explained[j, c]:.4g}"),
                "words": _in_cluster(view, shown, panels[j], j, c),
            }
            for j in own.tolist()
        ]
        for c, own in enumerate(tops)
    ]


def _drawn(view: View, shown: Contributions, place: int, panel: Panel) -> dict[str, Any]:
    """What is drawn of one feature."""
    column, k = int(view.chosen[place]), view.n_clusters
    told: dict[str, Any] = {
        "name": panel.feature,
        "score": float(f"{panel.score:.4g}"),
        "core": bool(view.is_core[column]),
        "words": [_typical(view, shown, panel, place, c) for c in range(k)],
        "missing": (np.bincount(view.clustered.labels, minlength=k) - panel.counts.sum(axis=1)).tolist(),
    }
    if panel.levels is not None:
        names, counts = panel.common(MOST_LEVELS)
        return {**told, "kind": "level", "levels": list(map(written, names)), "counts": counts.tolist()}
    assert panel.edges is not None
    low, high = float(panel.edges[0]), float(panel.edges[-1])
    values, labels = view.clustered.readable(column)[0], view.clustered.labels
    parts = [np.sort(values[(labels == c) & ~np.isnan(values)]) for c in range(k)]
    is_date = view.date(column, low) is not None
    centers = [np.nan if value is None else float(value) for value in shown.center[place]]
    return {
        **told,
        "kind": "date" if is_date else "number",
        "edges": rounded(panel.edges, 10),
        "counts": panel.counts.tolist(),
        "points": [rounded(part, 6) if part.size <= MOST_POINTS else None for part in parts],
        "centers": rounded(centers, 6),
        "ticks": _marked(view, column, low, high, is_date),
    }


def _marked(view: View, column: int, low: float, high: float, is_date: bool) -> list[list[Any]]:
    """The places on the axis of a feature that have a number or a date."""
    if is_date:
        return [[at, view.date(column, at)] for at in (low, high)]
    at = ticks(low, high)
    step = at[1] - at[0] if len(at) > 1 else high - low
    digits = 0 if not step or step >= 1 else int(-np.floor(np.log10(step)))
    is_plain = digits <= 4 and max(map(abs, at)) < 1e7
    words = [f"{each:,.{digits}f}" if is_plain else in_units(each, step) for each in at]
    marked: list[list[Any]] = [list(pair) for pair in zip(at, words, strict=True)]
    # Long numbers would overlap, so that there is room for every other one, or only for the ends.
    fit = (some for some in (marked, marked[::2]) if sum(len(each) + 2 for _, each in some) <= MOST_LETTERS)
    return next(fit, [marked[0], marked[-1]])


# ---------------------------------------------------------------- words


def _typical(view: View, shown: Contributions, panel: Panel, place: int, cluster: int) -> str:
    """The center of a feature in a cluster in a few words, such as "5.10", "82 % red" or "2020-05-01"."""
    if not panel.counts[cluster].sum():
        return "missing"
    center = shown.center[place, cluster]
    if shown.scales[place] == "level":
        return f"{percent(_share(panel, cluster))} {written(center)}"
    return _value(view, shown, place, center)


def _in_cluster(view: View, shown: Contributions, panel: Panel, place: int, cluster: int) -> str:
    """The center of a feature in a cluster and in all of them."""
    if not panel.counts[cluster].sum():
        return "missing"
    center, overall = shown.center[place, cluster], shown.overall[place]
    if shown.scales[place] != "level":
        return f"{_value(view, shown, place, center)} (all: {_value(view, shown, place, overall)})"
    level = int(np.argmax(panel.counts[cluster]))
    everywhere = float(panel.counts[:, level].sum() / panel.counts.sum())
    share = _share(panel, cluster)
    if share == 1:
        return f"always {written(center)} (all: {percent(everywhere)})"
    often = "mostly" if share > 0.5 else "most often"
    return f"{often} {written(center)}, {percent(share)} (all: {percent(everywhere)})"


def _share(panel: Panel, cluster: int) -> float:
    """The share of the most common level."""
    return float(panel.shares[cluster].max())


def _value(view: View, shown: Contributions, place: int, value: Any) -> str:
    """A number in the units of the table, a date, or a level."""
    if shown.scales[place] != "number":
        return "missing" if value is None else written(value)
    date = view.date(int(view.chosen[place]), value)
    if date is not None:
        return date
    centers = shown.center[place].astype(np.float64)
    return in_units(float(value), float(np.nanmax(centers) - np.nanmin(centers)))
