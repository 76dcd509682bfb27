"""The summary of a fit, a dictionary with everything that is shown in a report."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._search.curve import TuningCurve
from .._utils.arrays import Subset
from .._version import __version__
from ..evidence import Assessment
from ..inspection._style import DIVERGING, MISSING, page_look, palette
from ..inspection.agreement import agreement_in_clusters
from ..inspection.heatmap import LIMIT, Heatmap, thinned
from ..inspection.projection import Components, Projection, within_reach
from ..inspection.view import View
from ..methods._result import OUTLIER
from ._numbers import rounded
from ._pictures import pictures, profiles
from ._trust import assessed, drawn
from ._truth import compared
from ._words import lead, left_out, sentences, warnings_of

# The largest numbers of features, samples and sizes in a page. The page says so if there are more.
MOST_FEATURES, MOST_SAMPLES, MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES, MOST_SIZES = 3000, 2000, 300, 50, 600
# The number of features of an alternative that are named, and of samples in no cluster that are listed.
MOST_NAMED, MOST_OUTLIERS = 8, 500
# Principal components are not computed if there are more values than this, because it would take too long.
MOST_VALUES = 20_000_000


def summarize(
    view: View,
    *,
    title: str = "Sparse clustering",
    notes: Sequence[str] = (),
    command: str | None = None,
    assessment: Assessment | None = None,
    truth: npt.ArrayLike | None = None,
    python: str | None = None,
    warned: Sequence[str] = (),
) -> dict[str, Any]:
    """Summarize a fit in plain Python values, which can be stored as JSON.

    Parameters
    ----------
    view : View
        View of the fit, as returned by `sparsecluster.inspection.inspect`.
    title : str, default="Sparse clustering"
        Title of the page.
    notes : sequence of str, default=()
        Other information for the reader, in full sentences, such as how the table was prepared.
    command : str, default=None
        Command line that produced the result.
    assessment : Assessment, default=None
        The evidence for the fit, as returned by `assess`. Its headline is then the first sentence.
    truth : array-like of shape (n_samples,), default=None
        The true group of each sample, if it is known, with which the clusters are compared.
    python : str, default=None
        Python code that produced the result. By default, it is made from the parameters of the estimator.
    warned : sequence of str, default=()
        Warnings of the fit, in full sentences. They come before those that are found in the result.

    Returns
    -------
    dict
        The numbers and texts of the page, which `report_page` makes from it.

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
    There are 3 clusters, with 10, 10 and 10 samples.
    """
    distributions, profiled = pictures(view)
    result: dict[str, Any] = {
        "title": title,
        "method": view.method,
        "n_samples": view.n_samples,
        "n_features": len(view.names),
        "n_chosen": int(view.chosen.size),
        "sizes": view.sizes.tolist(),
        "n_outliers": view.n_outliers,
        "palette": palette(view.n_clusters),
        "no_cluster": page_look(OUTLIER),
        "explained": float(view.scores[view.chosen].mean()),
        "curves": _curves(view),
        "core": _core(view),
        "cluster_features": _cluster_features(view),
        "features": _features(view),
        "samples": _samples(view),
        "outliers": _outliers(view),
        "distributions": distributions,
        "profiles": profiled,
        "heatmap": _heatmap(view),
        "projection": _projection(view),
        "clusterings": _clusterings(view),
        "settings": _settings(view, command, python),
        "notes": [*notes, *(view.notes or left_out(view.n_left_out))],
        "assessment": assessment and assessed(assessment, k_was_chosen="n_clusters_curve_" in view.curves),
        "trust": assessment and drawn(assessment, view),
    }
    if truth is not None:
        result["truth"] = compared(view, truth)
    result["sentences"] = sentences(result)
    result["lead"] = lead(result)
    result["warnings"] = list(dict.fromkeys([*warned, *warnings_of(result)]))
    return result


# ---------------------------------------------------------------- numbers


def _curves(view: View) -> dict[str, Any]:
    """Return the curves by what was chosen: the number of features, of clusters and of core features."""
    known = {name: curve for name, curve in view.curves.items() if curve.values.size}
    clusters, core = known.pop("n_clusters_curve_", None), known.pop("core_curve_", None)
    return {"features": _curve(next(iter(known.values()), None)), "clusters": _curve(clusters), "core": _curve(core)}


def _curve(curve: TuningCurve | None) -> dict[str, Any] | None:
    if curve is None:
        return None
    # Of a curve with many values, a part is kept, evenly on the log scale and with the chosen value.
    n_values, chosen, at = curve.values.size, curve.place, np.arange(curve.values.size)
    if n_values > MOST_SIZES:
        at = np.unique(np.geomspace(1, n_values, MOST_SIZES).round().astype(int) - 1)
    at = np.union1d(at, [chosen])
    return {
        "parameter": curve.parameter,
        "criterion": curve.criterion,
        "titles": list(curve.titles),
        "is_log": curve.is_log and float(curve.values[0]) > 0,
        "values": [float(value) for value in curve.values[at]],
        "unusable": list(curve.unusable),
        "score": rounded(curve.score[at]),
        "error": None if curve.error is None else rounded(curve.error[at]),
        "chosen": float(curve.chosen),
        "best": float(curve.score[chosen]),
        "best_error": None if curve.error is None else float(curve.error[chosen]),
        "required": curve.required,
    }


def _core(view: View) -> dict[str, Any] | None:
    """Return the features that are enough to find the clusters again; None if they were not sought."""
    if view.core is None:
        return None
    rows = [
        {"name": view.names[a], "score": float(f"{view.scores[a]:.4g}")} for a in view.core[:MOST_FEATURES].tolist()
    ]
    curve = view.curves.get("core_curve_")
    is_enough = curve is None or bool(curve.details["enough"][curve.place])
    asked = (view.parameters.get(name) for name in ("n_features_to_select", "rule"))
    is_answer = any(isinstance(each, str) and each == "core" for each in asked)
    return {
        "count": int(view.core.size),
        "rows": rows,
        "is_enough": is_enough,
        "is_answer": is_answer,
        "found_with": view.n_found_with,
    }


def _cluster_features(view: View) -> list[dict[str, Any]] | None:
    """Return the features of each cluster, the highest score first; None if the method has none for single clusters."""
    if view.cluster_features is None:
        return None
    own = [view.chosen[mask[view.chosen]] for mask in view.cluster_features]
    return [{"count": int(each.size), "names": [view.names[a] for a in each[:MOST_FEATURES].tolist()]} for each in own]


def _features(view: View) -> dict[str, Any]:
    scores, is_chosen, is_core, core = view.scores, view.is_chosen, view.is_core, _core(view)
    rows = []
    # Chosen features come first, and high scores come before low ones.
    for a in np.lexsort((-scores, ~is_chosen))[:MOST_FEATURES].tolist():
        row: dict[str, Any] = {"name": view.names[a], "chosen": bool(is_chosen[a]), "score": float(f"{scores[a]:.4g}")}
        if core and core["is_enough"]:
            row["core"] = bool(is_core[a])
        if view.cluster_features is not None:
            row["clusters"] = ", ".join(map(str, np.flatnonzero(view.cluster_features[:, a]).tolist()))
        if view.weights is not None:
            row["weight"] = float(f"{view.weights[a]:.4g}")
        if view.centers is not None:
            row["centers"] = [_shown(view, a, value) for value in view.centers[:, a].tolist()]
        rows.append(row)
    rest = scores[~is_chosen & (scores > 0)]
    return {
        "rows": rows,
        "left_out": max(0, scores.size - MOST_FEATURES),
        "rest": float(rest.mean()) if rest.size else None,
        "constant": view.n_left_out,
    }


def _shown(view: View, column: int, value: Any) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    date = view.date(column, value) if view.kinds else None
    if date is not None:
        return date
    return float(f"{value:.4g}") if isinstance(value, float) else value if isinstance(value, int) else str(value)


def _some_samples(view: View) -> Subset:
    """Return the samples that are shown in a page, in the order of the table."""
    return np.sort(thinned(np.argsort(view.labels, kind="stable"), view.labels, MOST_SAMPLES))


def _samples(view: View) -> dict[str, Any]:
    placed = view.places_of_samples()
    rows = []
    for i in _some_samples(view).tolist():
        row: dict[str, Any] = {"id": view.ids[i], "cluster": int(view.labels[i])}
        if placed is not None:
            row["distance"], row["silhouette"] = rounded([placed.distance[i], placed.silhouette[i]])
            row["second"] = int(placed.second[i])
        if view.outlier_scores is not None:
            (row["outlier_score"],) = rounded([view.outlier_scores[i]])
        rows.append(row)
    return {"rows": rows, "left_out": view.n_samples - len(rows)}


def _outliers(view: View) -> dict[str, Any]:
    """Return the samples in no cluster, the farthest first."""
    outside, placed = np.flatnonzero(view.outliers), view.places_of_samples()
    if view.outlier_scores is not None:
        outside = outside[np.argsort(-view.outlier_scores[outside], kind="stable")]
    rows = []
    for i in outside[:MOST_OUTLIERS].tolist():
        row: dict[str, Any] = {"id": view.ids[i]}
        if view.outlier_scores is not None:
            (row["score"],) = rounded([view.outlier_scores[i]])
        if placed is not None:
            row["nearest"] = int(placed.second[i])
        rows.append(row)
    return {"rows": rows, "left_out": int(outside.size - len(rows))}


# ---------------------------------------------------------------- displays


def _heatmap(view: View) -> dict[str, Any]:
    """Return the values in tenths of a standard deviation; None for missing values."""
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
        "left_out": [view.n_samples - shown.samples.size, shown.n_chosen - shown.n_features],
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
            made[key] = _panel(view, seen, samples)
    return {**made, "notes": notes}


def _panel(view: View, seen: Components, samples: Subset) -> dict[str, Any]:
    x, y = map(rounded, within_reach(seen.places, view.labels)[samples].T)
    return {"x": x, "y": y, "shares": seen.shares.tolist(), "n_missing": seen.n_missing}


def _not_drawn(view: View, n_columns: int) -> str | None:
    """Return why the components of so many features are not drawn; None if they are."""
    n_values = view.labels.size * n_columns
    if view.no_values is None and not view.is_sparse and n_values > MOST_VALUES:
        return f"{n_values:,} values are too many to compute principal components; the limit is {MOST_VALUES:,}."
    return view.no_values


# ---------------------------------------------------------------- alternatives


def _clusterings(view: View) -> list[dict[str, Any]]:
    """Return this clustering and the alternatives, to be shown side by side; nothing if there are no alternatives."""
    if not view.alternatives:
        return []
    # The same samples are drawn in all of them.
    samples = _some_samples(view)
    made = [_clustering(each, view, samples) for each in (view, *view.alternatives)]
    curve = _curves(view)["features"]
    made[0]["criterion"] = None if curve is None else curve["best"]
    return made


def _clustering(view: View, first: View, samples: Subset) -> dict[str, Any]:
    note, core = _not_drawn(view, view.chosen.size), _core(view)
    seen = Projection.from_view(view, all_features=False).chosen if note is None else None
    best = [{"name": view.names[a], "score": float(f"{view.scores[a]:.4g}")} for a in view.chosen[:MOST_NAMED].tolist()]
    return {
        "sizes": view.sizes.tolist(),
        "n_outliers": view.n_outliers,
        "n_chosen": int(view.chosen.size),
        "n_core": core["count"] if core and core["is_enough"] else None,
        "explained": float(view.scores[view.chosen].mean()),
        "criterion": view.criterion,
        "agreement": agreement_in_clusters(first.labels, view.labels),
        "cross": _cross(first, view),
        "best": best,
        "profiles": profiles(view),
        "clusters": view.labels[samples].tolist(),
        "projection": None if seen is None else _panel(view, seen, samples),
        "note": note,
    }


def _cross(first: View, other: View) -> list[list[int]]:
    """Count the samples in each cluster of the first clustering (rows) and of the other one (columns).

    If some samples are in no cluster, they have the last row or column.
    """
    counts = np.zeros((first.n_clusters + 1, other.n_clusters + 1), np.intp)
    np.add.at(counts, (first.labels, other.labels), 1)
    rows, columns = (view.n_clusters + (view.n_outliers > 0) for view in (first, other))
    return counts[:rows, :columns].tolist()


# ---------------------------------------------------------------- settings


def _settings(view: View, command: str | None, python: str | None) -> dict[str, Any]:
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
        "python": python or _code(view),
    }


def _code(view: View) -> str:
    """Python code that gives the result again, from the parameters of the estimator."""
    numpy = "import numpy as np\n" if "np." in view.code else ""
    return (
        f"{numpy}from sparsecluster import {view.method}\n\n"
        "# X is the table, one row per sample.\n"
        f"found = {view.code}.fit(X)\nfound.labels_"
    )
