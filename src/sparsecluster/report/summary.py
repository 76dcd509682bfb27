"""summarize(view) -> dict: everything that a page, a file or a notebook shows of a fit."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._features.base import Subset
from .._version import __version__
from ..inspection._style import DIVERGING, MISSING, palette
from ..inspection.contributions import Contributions
from ..inspection.heatmap import LIMIT, Heatmap, thinned
from ..inspection.projection import Projection
from ..inspection.view import View

# What is embedded in a page at most; the page says so if there is more.
MOST_FEATURES, MOST_SAMPLES, MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES, MOST_SIZES = 3000, 2000, 300, 60, 600
# Features in the list of what makes a cluster.
MOST_TELLING = 8
# A cluster this small is worth a warning, and so is choosing nearly everything, or explaining nearly nothing.
SMALL_CLUSTER, NEARLY_ALL, LITTLE = 3, 0.9, 0.05
# Principal components of a table with more values than this are not worth the wait.
MOST_VALUES = 20_000_000


def summarize(
    view: View, *, title: str = "Sparse clustering", notes: Sequence[str] = (), command: str | None = None
) -> dict[str, Any]:
    """What a fit found, in plain Python values that can be stored as JSON.

    Parameters
    ----------
    view : View
        The fit, as `sparsecluster.inspection.inspect` reads it.
    title : str, default="Sparse clustering"
        Title of the page.
    notes : sequence of str, default=()
        What a reader should know besides, such as how the table was prepared.
    command : str, default=None
        The command line that made the result.

    Returns
    -------
    dict
        Numbers and words of the page; `report_page` makes the page of it.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import inspect
    >>> from sparsecluster.report import summarize
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> result = summarize(inspect(SASClustering(n_clusters=3, n_permutations=5).fit(X), X))
    >>> result["sizes"], result["n_chosen"]
    ([10, 10, 10], 5)
    >>> print(result["sentences"][0])
    3 clusters of 10, 10 and 10 samples, made by 5 of 30 features.
    """
    result: dict[str, Any] = {
        "title": title,
        "method": view.method,
        "n_samples": int(view.labels.size),
        "n_features": len(view.names),
        "n_chosen": int(view.chosen.size),
        "sizes": view.sizes.tolist(),
        "palette": palette(view.sizes.size),
        "explained": float(view.scores[view.chosen].mean()),
        "gap": _gap(view),
        "features": _features(view),
        "samples": _samples(view),
        "profiles": _profiles(view),
        "heatmap": _heatmap(view),
        "projection": _projection(view),
        "settings": _settings(view, command),
        "notes": list(notes),
    }
    result["sentences"] = _sentences(result)
    result["warnings"] = _warnings(result)
    return result


# ---------------------------------------------------------------- words


def _listed(numbers: Sequence[int]) -> str:
    words = [f"{number:,}" for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _sentences(result: dict[str, Any]) -> list[str]:
    chosen, total, sizes = f"{result['n_chosen']:,}", f"{result['n_features']:,}", result["sizes"]
    sentences = [
        f"{len(sizes)} clusters of {_listed(sizes)} samples, made by {chosen} of {total} features.",
        f"The clusters explain {result['explained']:.0%} of the variation of these features on average.",
    ]
    best = [row for row in result["features"]["rows"] if row["chosen"]][:3]
    if best:
        told = ", ".join(f"{row['name']} ({row['score']:.0%})" for row in best)
        sentences.append(f"Most informative features: {told}.")
    rest = result["features"]["rest"]
    if rest is not None:
        sentences.append(f"They explain {rest:.0%} of the variation of the features that were not chosen.")
    return sentences


def _warnings(result: dict[str, Any]) -> list[str]:
    found, gap = [], result["gap"]
    small = sum(size < SMALL_CLUSTER for size in result["sizes"])
    if small:
        have = "1 cluster has" if small == 1 else f"{small} clusters have"
        found.append(f"{have} fewer than {SMALL_CLUSTER} samples, which may be outliers.")
    is_tuned = gap is not None and gap["parameter"] in ("s", "l1_bound")
    if is_tuned and result["n_chosen"] > NEARLY_ALL * result["n_features"] and result["n_features"] > 10:
        found.append(
            "Nearly all features were chosen, as the gap statistic tends to do on strongly correlated data. "
            'null="fixed" or rule="1se" choose fewer.'
        )
    if result["explained"] < LITTLE:
        found.append("The clusters explain next to nothing of the chosen features: there may be no clusters.")
    if gap is not None and gap["s"] and gap["best"] <= gap["best_error"]:
        found.append(
            "The gap statistic is within one standard error of zero: permuted data cluster about as well. There may be "
            "no clusters, or their number may be another."
        )
    kept_out = result["features"]["constant"]
    if kept_out:
        words = "1 feature is constant or nearly always missing, and was" if kept_out == 1 else (
            f"{kept_out:,} features are constant or nearly always missing, and were")  # fmt: skip
        found.append(f"{words} left out of the clustering.")
    return found


# ---------------------------------------------------------------- numbers


def _rounded(values: Any, digits: int = 4) -> Any:
    """Numbers short enough for a page; None for NaN."""
    array = np.asarray(values, dtype=np.float64)
    return [None if value != value else float(f"{value:.{digits}g}") for value in array.ravel().tolist()]


def _gap(view: View) -> dict[str, Any] | None:
    curve = view.curves.get("gap_curve_")
    if curve is None or curve.error is None:
        return None
    # A curve of many sizes is thinned evenly on the log scale; the chosen size stays.
    n_values, chosen = curve.values.size, curve.place
    at = np.unique(np.geomspace(1, n_values, min(n_values, MOST_SIZES)).round().astype(int) - 1)
    at = np.union1d(at, [chosen])
    return {
        "parameter": curve.parameter,
        "s": [float(value) for value in curve.values[at]],
        "gap": _rounded(curve.score[at]),
        "error": _rounded(curve.error[at]),
        "chosen": float(curve.chosen),
        "best": float(curve.score[chosen]),
        "best_error": float(curve.error[chosen]),
    }


def _features(view: View) -> dict[str, Any]:
    scores, is_chosen = view.scores, view.is_chosen
    rows = []
    # Chosen features first, then the others, the highest scores first.
    for a in np.lexsort((-scores, ~is_chosen))[:MOST_FEATURES].tolist():
        row: dict[str, Any] = {"name": view.names[a], "chosen": bool(is_chosen[a]), "score": float(f"{scores[a]:.4g}")}
        if view.weights is not None:
            row["weight"] = float(f"{view.weights[a]:.4g}")
        if view.centers is not None:
            row["centers"] = [_shown(value) for value in view.centers[:, a].tolist()]
        rows.append(row)
    rest = scores[~is_chosen & (scores > 0)]
    return {
        "rows": rows,
        "left_out": max(0, scores.size - MOST_FEATURES),
        "rest": float(rest.mean()) if rest.size else None,
        "constant": int((~is_chosen & (scores == 0)).sum()),
    }


def _shown(value: Any) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    return float(f"{value:.4g}") if isinstance(value, float) else value if isinstance(value, int) else str(value)


def _some_samples(view: View) -> Subset:
    """The samples that a page shows, in the order of the table."""
    return np.sort(thinned(np.argsort(view.labels, kind="stable"), view.labels, MOST_SAMPLES))


def _samples(view: View) -> dict[str, Any]:
    placed = view.places_of_samples()
    rows = []
    for i in _some_samples(view).tolist():
        row: dict[str, Any] = {"id": view.ids[i], "cluster": int(view.labels[i])}
        if placed is not None:
            row["distance"], row["silhouette"] = _rounded([placed.distance[i], placed.silhouette[i]])
            row["second"] = int(placed.second[i])
        rows.append(row)
    return {"rows": rows, "left_out": int(view.labels.size - len(rows))}


# ---------------------------------------------------------------- displays


def _profiles(view: View) -> dict[str, Any]:
    """For every cluster, the features that it explains most of, and what it is like in them."""
    if view.no_values is not None:
        return {"clusters": [], "note": view.no_values}
    shown = Contributions.from_view(view)
    explained = shown.explained
    clusters = [
        [
            {"name": shown.features[a], "explained": float(f"{explained[a, c]:.4g}"), "words": shown.words(a, c)}
            for a in shown.top(c, MOST_TELLING).tolist()
        ]
        for c in range(view.sizes.size)
    ]
    return {"clusters": clusters, "note": None}


def _heatmap(view: View) -> dict[str, Any]:
    """The values in tenths of a standard deviation; None where they are missing."""
    colors = {"colors": DIVERGING, "missing": MISSING, "limit": LIMIT}
    if view.no_values is not None:
        empty: dict[str, Any] = {key: [] for key in ("values", "samples", "features", "is_level", "singled_out")}
        return {**empty, "left_out": [0, 0], "notes": [view.no_values], **colors}
    shown = Heatmap.from_view(view, MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES)
    samples = zip(shown.samples.tolist(), shown.labels.tolist(), strict=True)
    return {
        "values": [[None if v != v else round(10 * v) for v in row] for row in shown.values.tolist()],
        "samples": [{"id": view.ids[i], "cluster": c} for i, c in samples],
        "features": shown.columns,
        "is_level": [level is not None for level in shown.levels],
        "singled_out": shown.singled_out.tolist(),
        "left_out": [view.labels.size - shown.samples.size, shown.n_chosen - shown.n_features],
        "notes": [f"{note[0].upper()}{note[1:]}." for note in shown.notes],
        **{key: list(value) if isinstance(value, tuple) else value for key, value in colors.items()},
    }


def _projection(view: View) -> dict[str, Any]:
    samples = _some_samples(view)
    made: dict[str, Any] = {
        "samples": [view.ids[i] for i in samples.tolist()],
        "clusters": view.labels[samples].tolist(),
        "chosen": None,
        "all": None,
    }
    notes = {"chosen": _not_drawn(view, view.chosen.size), "all": _not_drawn(view, len(view.names))}
    if notes["chosen"] is None:
        for key, seen in Projection.from_view(view, all_features=notes["all"] is None).panels.items():
            x, y = (_rounded(seen.places[samples, c]) for c in (0, 1))
            filled = seen.n_missing
            made[key] = {"x": x, "y": y, "shares": seen.shares.tolist(), "n_missing": filled}
    return {**made, "notes": notes}


def _not_drawn(view: View, n_columns: int) -> str | None:
    """Why the components of so many features are not drawn; None if they are."""
    n_values = view.labels.size * n_columns
    if view.no_values is None and not view.is_sparse and n_values > MOST_VALUES:
        return f"These {n_values:,} values are too many to compute components: the limit is {MOST_VALUES:,}."
    return view.no_values


def _settings(view: View, command: str | None) -> dict[str, Any]:
    import numba
    import sklearn

    return {
        "parameters": {key: repr(value)[:200] for key, value in view.parameters.items()},
        "versions": {
            "sparsecluster": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "numba": numba.__version__,
        },
        "command": command,
        "python": f"from sparsecluster import {view.method}\n\nfound = {view.call}.fit(X)",
    }
