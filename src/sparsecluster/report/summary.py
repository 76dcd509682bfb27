"""summarize(result) -> dict: everything that a page, a file or a notebook shows of a fit."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._features.base import Floats
from .._version import __version__
from .columns import drawable, standardized, two_components
from .samples import placed

# What is embedded in a page at most; the page says so where there is more.
MOST_FEATURES, MOST_ITEMS, MOST_DRAWN_ITEMS, MOST_DRAWN_FEATURES = 3000, 2000, 300, 60
# A cluster this small is worth a warning, and so is choosing nearly everything, or explaining nearly nothing.
SMALL_CLUSTER, NEARLY_ALL, LITTLE = 3, 0.9, 0.05
# Principal components of all features of more values than this are not worth the wait.
MOST_VALUES = 50_000_000


def summarize(
    estimator: Any,
    X: Any,
    *,
    ids: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
    title: str = "Sparse clustering",
) -> dict[str, Any]:
    """What a fit found, in plain Python values: JSON can hold it, a page can show it.

    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> result = summarize(SASClustering(n_clusters=3, n_permutations=5).fit(X), X)
    >>> result["sizes"], result["n_chosen"]
    ([10, 10, 10], 5)
    >>> print(result["sentences"][0])
    3 groups of 10, 10 and 10 samples; 5 of 30 features make them.
    """
    labels = np.asarray(estimator.labels_)
    names = list(estimator._names() if names is None else names)
    ids = [str(each) for each in (range(labels.size) if ids is None else ids)]
    sizes = np.bincount(labels).tolist()
    result: dict[str, Any] = {
        "title": title,
        "method": type(estimator).__name__,
        "n_samples": int(labels.size),
        "n_features": len(names),
        "n_chosen": int(estimator.support_.sum()),
        "sizes": sizes,
        "explained": float(estimator.feature_scores_[estimator.support_].mean()),
        "gap": _gap(estimator),
        "features": _features(estimator, names),
        "samples": _samples(estimator, X, ids),
        "heatmap": _heatmap(estimator, X, ids, names),
        "projection": _projection(estimator, X, ids),
        "settings": _settings(estimator, command),
        "notes": list(notes),
    }
    result["sentences"] = _sentences(result)
    result["warnings"] = _warnings(result, estimator)
    return result


# ---------------------------------------------------------------- words


def _listed(numbers: Sequence[int]) -> str:
    words = [f"{number:,}" for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _sentences(result: dict[str, Any]) -> list[str]:
    chosen, total = f"{result['n_chosen']:,}", f"{result['n_features']:,}"
    sentences = [
        f"{len(result['sizes'])} groups of {_listed(result['sizes'])} samples; {chosen} of {total} features make them.",
        f"The groups explain {result['explained']:.0%} of the spread of these features on average.",
    ]
    best = [row for row in result["features"]["rows"] if row["chosen"]][:3]
    if best:
        told = ", ".join(f"{row['name']} ({row['score']:.0%})" for row in best)
        sentences.append(f"Most telling: {told}.")
    rest = result["features"]["rest"]
    if rest is not None:
        sentences.append(f"Of the features not chosen they explain {rest:.0%}: without those the groups stay the same.")
    return sentences


def _warnings(result: dict[str, Any], estimator: Any) -> list[str]:
    found = []
    small = [size for size in result["sizes"] if size < SMALL_CLUSTER]
    if small:
        found.append(f"{len(small)} of the groups have fewer than {SMALL_CLUSTER} samples: they may be outliers.")
    is_tuned = result["gap"] is not None and result["gap"]["parameter"] in ("s", "l1_bound")
    if is_tuned and result["n_chosen"] > NEARLY_ALL * result["n_features"] and result["n_features"] > 10:
        found.append(
            "Nearly all features were chosen. On strongly correlated data the gap statistic does so; "
            'null="fixed" or rule="1se" choose fewer.'
        )
    if result["explained"] < LITTLE:
        found.append("The groups explain next to nothing of the chosen features: there may be no groups.")
    gap = result["gap"]
    if gap is not None and gap["s"] and gap["best"] <= gap["best_error"]:
        found.append(
            "The gap statistic is within one standard error of zero: permuted data cluster about as well. There may be "
            "no groups, or fewer or more than were asked for."
        )
    kept_out = result["features"]["constant"]
    if kept_out:
        found.append(f"{kept_out:,} features are constant or hardly ever seen, and were kept out.")
    return found


# ---------------------------------------------------------------- numbers


def _rounded(values: Any, digits: int = 4) -> Any:
    """Numbers short enough for a page; None for what is no number."""
    array = np.asarray(values, dtype=np.float64)
    return [None if value != value else float(f"{value:.{digits}g}") for value in array.ravel().tolist()]


def _gap(estimator: Any) -> dict[str, Any] | None:
    curve = getattr(estimator, "gap_curve_", None)
    if curve is None:
        return None
    # A curve of many sizes is thinned evenly on the log scale; the chosen size stays.
    at = np.unique(np.geomspace(1, curve.sizes.size, min(curve.sizes.size, 600)).round().astype(int) - 1)
    chosen = int(np.flatnonzero(curve.sizes == curve.chosen)[0])
    at = np.union1d(at, [chosen])
    return {
        "parameter": curve.parameter,
        "s": [float(value) for value in curve.sizes[at]],
        "gap": _rounded(curve.gap[at]),
        "error": _rounded(curve.error[at]),
        "chosen": float(curve.chosen),
        "best": float(curve.gap[chosen]),
        "best_error": float(curve.error[chosen]),
    }


def _features(estimator: Any, names: list[str]) -> dict[str, Any]:
    scores, chosen = np.asarray(estimator.feature_scores_), np.asarray(estimator.support_)
    weights = getattr(estimator, "feature_weights_", None)
    # Chosen ones first, each kind from the best down.
    order = np.lexsort((-scores, ~chosen))
    centers = getattr(estimator, "cluster_centers_", None)
    rows = []
    for a in order[:MOST_FEATURES].tolist():
        row: dict[str, Any] = {"name": names[a], "chosen": bool(chosen[a]), "score": float(f"{scores[a]:.4g}")}
        if weights is not None:
            row["weight"] = float(f"{weights[a]:.4g}")
        if centers is not None:
            row["centers"] = [_shown(value) for value in centers[:, a].tolist()]
        rows.append(row)
    rest = scores[~chosen & (scores > 0)]
    return {
        "rows": rows,
        "left_out": max(0, len(names) - MOST_FEATURES),
        "rest": float(rest.mean()) if rest.size else None,
        "constant": int((scores == 0).sum() - (chosen & (scores == 0)).sum()) if (~chosen).any() else 0,
    }


def _shown(value: Any) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    return float(f"{value:.4g}") if isinstance(value, float) else value if isinstance(value, int) else str(value)


def _thinned(labels: Any, most: int) -> Any:
    """Samples evenly from every cluster, cluster after cluster, and some of each however small."""
    labels = np.asarray(labels)
    groups = [np.flatnonzero(labels == c) for c in range(int(labels.max()) + 1)]
    if labels.size <= most:
        return np.concatenate(groups)
    counts = [max(1, min(group.size, round(most * group.size / labels.size))) for group in groups if group.size]
    kept = [group for group in groups if group.size]
    return np.concatenate(
        [group[np.linspace(0, group.size - 1, n).astype(int)] for group, n in zip(kept, counts, strict=True)]
    )


def _samples(estimator: Any, X: Any, ids: list[str]) -> dict[str, Any]:
    labels = np.asarray(estimator.labels_)
    known = placed(estimator, X)
    shown = _thinned(labels, MOST_ITEMS)
    rows = []
    for i in np.sort(shown).tolist():
        row: dict[str, Any] = {"id": ids[i], "cluster": int(labels[i])}
        if known is not None:
            row["distance"], row["silhouette"] = _rounded([known.distance[i], known.silhouette[i]])
            row["second"] = int(known.second[i])
        rows.append(row)
    return {"rows": rows, "left_out": int(labels.size - len(rows))}


def _heatmap(estimator: Any, X: Any, ids: list[str], names: list[str]) -> dict[str, Any]:
    labels, scores = np.asarray(estimator.labels_), np.asarray(estimator.feature_scores_)
    chosen = np.flatnonzero(estimator.support_)
    columns = chosen[np.argsort(-scores[chosen], kind="stable")][:MOST_DRAWN_FEATURES]
    try:
        Z = standardized(drawable(estimator, X, columns))
    except (TypeError, ValueError, IndexError):
        return {"values": [], "samples": [], "features": [], "left_out": [0, 0]}
    k = int(labels.max()) + 1
    # Features beside those that single out the same cluster, from the highest mean.
    means = np.array([Z[labels == c].mean(axis=0) for c in range(k)])
    owner = np.argmax(np.abs(means), axis=0)
    across = np.lexsort((-scores[columns], owner))
    samples = _thinned(labels, MOST_DRAWN_ITEMS)
    # In tenths of a standard deviation, cut at three of them.
    values = np.clip(np.round(10 * Z[np.ix_(samples, across)]), -30, 30).astype(int)
    return {
        "values": values.tolist(),
        "samples": [{"id": ids[i], "cluster": int(labels[i])} for i in samples.tolist()],
        "features": [names[a] for a in columns[across].tolist()],
        "left_out": [int(labels.size - samples.size), int(chosen.size - columns.size)],
    }


def _projection(estimator: Any, X: Any, ids: list[str]) -> dict[str, Any]:
    labels = np.asarray(estimator.labels_)
    at = np.sort(_thinned(labels, MOST_ITEMS))
    chosen = np.flatnonzero(estimator.support_)
    everything = np.arange(estimator.support_.size)
    made: dict[str, Any] = {"samples": [ids[i] for i in at.tolist()], "clusters": labels[at].tolist()}
    for key, columns in (("chosen", chosen), ("all", everything)):
        part = _places(estimator, X, columns, at) if columns.size * at.size <= MOST_VALUES else None
        made[key] = part
    return made


def _places(estimator: Any, X: Any, columns: Any, samples: Any) -> dict[str, Any] | None:
    try:
        values: Floats = drawable(estimator, X, columns)[samples]
    except (TypeError, ValueError, IndexError):
        return None
    places, shares = two_components(values)
    return {"x": _rounded(places[:, 0]), "y": _rounded(places[:, 1]), "shares": shares}


def _settings(estimator: Any, command: str | None) -> dict[str, Any]:
    import numba
    import sklearn

    changed = repr(estimator)
    return {
        "parameters": {key: repr(value)[:200] for key, value in estimator.get_params(deep=False).items()},
        "versions": {
            "sparsecluster": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "numba": numba.__version__,
        },
        "command": command,
        "python": f"from sparsecluster import {type(estimator).__name__}\n\nfound = {changed}.fit(X)",
    }
