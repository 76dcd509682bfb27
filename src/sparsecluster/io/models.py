"""A fitted estimator as a file that holds no code: JSON, read again without unpickling anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .._data.columns import Column
from .._data.profiles import LevelMeasure, NumberMeasure, Profile, Profiles, RunMeasure
from .._data.reading import MEASURES, TableForm
from .._search.gap import GapCurve
from .._utils.files import write
from .._version import __version__
from ..methods.ifpca import IFPCA, Projection
from ..methods.plain import PlainClustering
from ..methods.regularized import RegularizedKMeans, ShrunkenCenters
from ..methods.sas import SASClustering
from ..methods.screened import ScreenedClustering
from ..methods.sparse_kmeans import SparseKMeans
from ..methods.sparse_kmedoids import SparseKMedoids

FORMAT, VERSION = "sparsecluster-model", 1
# What may be in a file, and nothing else: estimators that place new samples, and the pieces that they do it with.
ESTIMATORS: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(SASClustering, SparseKMeans, SparseKMedoids, RegularizedKMeans, IFPCA),
        *(ScreenedClustering, PlainClustering),
    )
}
PIECES: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(Profiles, Profile, NumberMeasure, LevelMeasure, RunMeasure, Projection, ShrunkenCenters, GapCurve, Column),
    )
}
# What a fit sets that is worth keeping.
KEPT = (
    *("n_features_in_", "feature_names_in_", "labels_", "support_", "feature_scores_", "feature_weights_"),
    *("cluster_centers_", "objective_", "n_iter_", "gap_curve_", "l1_bound_", "penalty_", "p_values_", "statistics_"),
    *("_clusters", "_n_chosen", "_n_features"),
)


class ModelError(ValueError):
    """A file that is no model, or none that this version can read; the message is one line for the user."""


# ---------------------------------------------------------------- writing


def save_model(estimator: Any, file: str | Path, preset: dict[str, Any] | None = None) -> Path:
    """Write a fitted estimator as JSON, whole or not at all.

    Kept are its parameters, what `predict` and `score` need, and the main results; not the data. What rests on a
    function of the user's or on precomputed matrices cannot be kept. `preset` says how a table is to be prepared first,
    as `sparsecluster predict` does.

    >>> import tempfile, numpy as np
    >>> from sparsecluster import SASClustering, load_model, save_model
    >>> X = np.random.default_rng(0).normal(size=(30, 5)) + 5 * np.repeat([0, 1], 15)[:, None]
    >>> sas = SASClustering(n_clusters=2, n_features_to_select=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_model(save_model(sas, f"{folder}/model.json"))
    >>> bool((again.predict(X) == sas.predict(X)).all())
    True
    """
    entry = as_dict(estimator) | {"preset": preset}
    return write(Path(file), json.dumps(entry, allow_nan=False, ensure_ascii=False))


def as_dict(estimator: Any) -> dict[str, Any]:
    """What `save_model` writes."""
    name = type(estimator).__name__
    if name not in ESTIMATORS:
        raise ModelError(f"{name} does not place new samples, so it is not kept as a model. Keep its labels instead.")
    if not hasattr(estimator, "labels_"):
        raise ModelError(f"This {name} is not fitted yet. Call fit first.")
    form = estimator._form
    if not isinstance(form, TableForm) or any(not isinstance(column.kind, str) for column in form.columns):
        raise ModelError("A model that rests on precomputed matrices or on a function of your own cannot be kept.")
    return {
        "format": FORMAT,
        "version": VERSION,
        "sparsecluster": __version__,
        "estimator": name,
        "parameters": {key: _parameter(value) for key, value in estimator.get_params(deep=False).items()},
        "columns": _columns(form),
        "has_words": form.has_words,
        "fitted": {key: _encoded(getattr(estimator, key)) for key in KEPT if hasattr(estimator, key)},
    }


def _parameter(value: Any) -> Any:
    """A parameter as it is, or in words where it is an object that a file cannot hold."""
    try:
        return {"value": _encoded(value)}
    except ModelError:
        return {"shown": repr(value)}


def _columns(form: TableForm) -> Any:
    """The columns; where all are alike, one for all, since there may be very many."""
    first = form.columns[0]
    alike = all(column is first or column == first for column in form.columns)
    return {"all": _encoded(first), "count": len(form.columns)} if alike else [_encoded(each) for each in form.columns]


def _encoded(value: Any) -> Any:
    """Numbers, text, lists, arrays and our own pieces, with a name for what JSON does not know."""
    if type(value).__name__ in PIECES and isinstance(value, PIECES[type(value).__name__]):
        fields = value._asdict() if hasattr(value, "_asdict") else vars(value)
        return {"piece": type(value).__name__, "fields": {key: _encoded(each) for key, each in fields.items()}}
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        return {"array": [_encoded(each) for each in value.tolist()], "kind": kind if kind in "fibO" else "O"}
    if isinstance(value, np.generic):
        return _encoded(value.item())
    if isinstance(value, list | tuple):
        return {"list": [_encoded(each) for each in value]} if isinstance(value, tuple) else [*map(_encoded, value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encoded(each) for key, each in value.items()}}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ModelError(f"A value of type {type(value).__name__} cannot be kept in a model.")


# ---------------------------------------------------------------- reading


def load_model(file: str | Path) -> Any:
    """The estimator that `save_model` wrote. Nothing in the file is executed; what is not as it should be is refused.

    See `save_model` for an example.
    """
    path = Path(file)
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"There is no file {_line(path)}.") from None
    except (ValueError, OSError, RecursionError, MemoryError) as error:
        raise ModelError(
            f"{_line(path)} is not a model: it is damaged or another kind of file ({_line(error)})."
        ) from error
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise ModelError(f'{_line(path)} is not a model of sparsecluster: it does not say "{FORMAT}".')
    if entry.get("version") != VERSION:
        raise ModelError(
            f"{_line(path)} was written by a newer or other version (model version {entry.get('version')!r}, "
            f"sparsecluster {entry.get('sparsecluster')!r}); this one reads version {VERSION}. Install that version."
        )
    try:
        return _restored(entry)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ModelError(f"{_line(path)} is damaged: {type(error).__name__} {_line(error)}.") from error


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _restored(entry: dict[str, Any]) -> Any:
    estimator = ESTIMATORS[entry["estimator"]]()
    known = estimator.get_params(deep=False)
    given = {key: _decoded(each["value"]) for key, each in entry["parameters"].items() if "value" in each}
    estimator.set_params(**{key: value for key, value in given.items() if key in known})
    fitted = {key: _decoded(entry["fitted"][key]) for key in KEPT if key in entry["fitted"]}
    columns = _read_columns(entry["columns"], fitted["n_features_in_"])
    _check_fits(type(estimator).__name__, fitted)
    preset = entry.get("preset")
    _must(preset is None or (isinstance(preset, dict) and isinstance(preset.get("log"), bool)), "its preset is none")
    for key, value in fitted.items():
        setattr(estimator, key, value)
    _must(isinstance(entry["has_words"], bool), "has_words is neither true nor false")
    estimator._form = TableForm(columns, entry["has_words"])
    estimator.preset_ = preset
    return estimator


# ---------------------------------------------------------------- whether the parts fit together

# Where each estimator has its clusters, and the fields of these that have one entry for each chosen column.
CLUSTERS: dict[str, Any] = {"IFPCA": Projection, "RegularizedKMeans": ShrunkenCenters}


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)


def _read_columns(given: Any, count: Any) -> tuple[Column, ...]:
    """One column for each that there was, and each of a kind that can be measured."""
    _must(isinstance(count, int) and not isinstance(count, bool), "the number of columns is none")
    if isinstance(given, dict):
        _must(given["count"] == count, "its columns are not as many as it says")
        columns = (_decoded(given["all"]),) * count
    else:
        _must(isinstance(given, list) and len(given) == count, "its columns are not as many as it says")
        columns = tuple(map(_decoded, given))
    distinct = columns[:1] if isinstance(given, dict) else columns
    _must(all(isinstance(each, Column) and each.kind in MEASURES for each in distinct), "a column is of no known kind")
    return columns


def _check_fits(name: str, fitted: dict[str, Any]) -> None:
    """Lengths and kinds of what a fit set: what does not fit together would only fail later, or not at all."""
    n, support, labels = fitted["n_features_in_"], fitted["support_"], fitted["labels_"]
    _must(isinstance(support, np.ndarray) and support.dtype == bool and support.shape == (n,), "support_ does not fit")
    _must(isinstance(labels, np.ndarray) and labels.dtype == np.intp and labels.ndim == 1, "labels_ are no labels")
    k = int(labels.max()) + 1
    for key, shape in {"feature_scores_": (n,), "feature_names_in_": (n,), "cluster_centers_": (k, n)}.items():
        if key in fitted or key == "feature_scores_":
            _must(np.shape(fitted[key]) == shape, f"{key} does not fit")
    clusters, chosen = fitted["_clusters"], int(support.sum())
    _must(type(clusters) is CLUSTERS.get(name, Profiles), "its clusters are of another method")
    if not isinstance(clusters, Profiles):
        widths = [len(clusters[0]), len(clusters[1])]
        _must(all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in clusters), "no numbers")
        _must(widths == [chosen, chosen] and len(clusters.centers) == k, "its clusters do not fit")
        return
    _must(isinstance(clusters.columns, list) and len(clusters.columns) == chosen, "a chosen column has no profile")
    _must(_is_number(clusters.whole), "the weight of its features is no number")
    for profile in clusters.columns:
        _must(isinstance(profile, Profile) and all(map(_is_number, profile[1:])), "a profile is none")
        _must(_n_clusters(profile.measure) == k, "a profile is of other clusters")


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _n_clusters(measure: Any) -> int:
    """Number of clusters that a measure knows; -1 where it is none."""
    if isinstance(measure, NumberMeasure) and _is_number(measure.unit):
        means = measure.means
        return len(means) if isinstance(means, np.ndarray) and means.dtype == np.float64 and means.ndim == 1 else -1
    if isinstance(measure, LevelMeasure):
        apart = measure.apart
        return apart.shape[1] if isinstance(apart, np.ndarray) and apart.dtype == np.float64 and apart.ndim == 2 else -1
    if isinstance(measure, RunMeasure):
        return len(measure.runs) if len(measure.runs) == len(measure.sums) == len(measure.halves) else -1
    return -1


KINDS = {"f": np.float64, "i": np.intp, "b": np.bool_, "O": object}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "piece" in value:
        fields = {key: _decoded(each) for key, each in value["fields"].items()}
        return PIECES[value["piece"]](**fields)
    if "array" in value:
        return np.array([_decoded(each) for each in value["array"]], dtype=KINDS[value["kind"]])
    if "list" in value:
        return tuple(map(_decoded, value["list"]))
    if "float" in value:
        return float(value["float"])
    return {key: _decoded(each) for key, each in value["dict"].items()}
