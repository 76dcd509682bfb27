"""The summary of a fit, a dictionary with everything that is shown in a report."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.arrays import Subset
from .._version import __version__
from ..inspection._style import DIVERGING, MISSING, palette
from ..inspection.contributions import Contributions
from ..inspection.heatmap import LIMIT, Heatmap, thinned
from ..inspection.projection import Projection
from ..inspection.view import View

# The largest numbers of features, samples and sizes in a page. The page says so if there are more.
MOST_FEATURES, MOST_SAMPLES, MOST_DRAWN_SAMPLES, MOST_DRAWN_FEATURES, MOST_SIZES = 3000, 2000, 300, 60, 600
# The number of features in the profile of a cluster.
MOST_TELLING = 8
# There is a warning if a cluster is smaller than this, if a larger share of the features is chosen, or if the clusters
# explain a smaller share of them.
SMALL_CLUSTER, NEARLY_ALL, LITTLE = 3, 0.9, 0.05
# Principal components are not computed if there are more values than this, because it would take too long.
MOST_VALUES = 20_000_000


def summarize(
    view: View, *, title: str = "Sparse clustering", notes: Sequence[str] = (), command: str | None = None
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
    There are 3 clusters, with 10, 10 and 10 samples, based on 5 of 30 features.
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
        f"There are {len(sizes)} clusters, with {_listed(sizes)} samples, based on {chosen} of {total} features.",
        f"The clusters explain {result['explained']:.0%} of the variation of these features on average.",
    ]
    best = [row for row in result["features"]["rows"] if row["chosen"]][:3]
    if best:
        told = ", ".join(f"{row['name']} ({row['score']:.0%})" for row in best)
        sentences.append(f"The features with the highest scores are {told}.")
    rest = result["features"]["rest"]
    if rest is not None:
        sentences.append(f"The clusters explain {rest:.0%} of the variation of the features that were not chosen.")
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
            'Use null="fixed" or rule="1se" to choose fewer.'
        )
    if result["explained"] < LITTLE:
        found.append(
            "The clusters explain hardly any of the variation of the chosen features. There may be no clusters."
        )
    if gap is not None and gap["s"] and gap["best"] <= gap["best_error"]:
        found.append(
            "The gap statistic is not larger than its standard error: permuted data cluster about as well. There may "
            "be no clusters, or another number of clusters."
        )
    kept_out = result["features"]["constant"]
    if kept_out:
        words = "1 feature is constant or nearly always missing, and was" if kept_out == 1 else (
            f"{kept_out:,} features are constant or nearly always missing, and were")  # fmt: skip
        found.append(f"{words} left out of the clustering.")
    return found


# ---------------------------------------------------------------- numbers


def _rounded(values: Any, digits: int = 4) -> Any:
    """Round numbers for the page. NaN becomes None."""
    array = np.asarray(values, dtype=np.float64)
    return [None if value != value else float(f"{value:.{digits}g}") for value in array.ravel().tolist()]


def _gap(view: View) -> dict[str, Any] | None:
    curve = view.curves.get("gap_curve_")
    if curve is None or curve.error is None:
        return None
    # Of a curve with many sizes, a part is kept, evenly on the log scale and with the chosen size.
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
    # Chosen features come first, and high scores come before low ones.
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
        "constant": view.n_left_out,
    }


def _shown(value: Any) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
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
            row["distance"], row["silhouette"] = _rounded([placed.distance[i], placed.silhouette[i]])
            row["second"] = int(placed.second[i])
        rows.append(row)
    return {"rows": rows, "left_out": int(view.labels.size - len(rows))}


# ---------------------------------------------------------------- displays


def _profiles(view: View) -> dict[str, Any]:
    """Return the features of which each cluster explains most, with their typical values in the cluster."""
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
    """Return why the components of so many features are not drawn; None if they are."""
    n_values = view.labels.size * n_columns
    if view.no_values is None and not view.is_sparse and n_values > MOST_VALUES:
        return f"{n_values:,} values are too many to compute principal components; the limit is {MOST_VALUES:,}."
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
