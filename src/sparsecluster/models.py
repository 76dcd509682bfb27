"""A fitted estimator as a file that holds no code: JSON, read again without unpickling anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .features.columns import Column
from .files import write
from .gap import GapCurve
from .methods.ifpca import IFPCA, Projection
from .methods.plain import PlainClustering
from .methods.regularized import RegularizedKMeans, ShrunkenCentres
from .methods.screened import ScreenedClustering
from .methods.sparse_kmeans import SparseKMeans
from .methods.sparse_kmedoids import SparseKMedoids
from .profiles import LevelMeasure, NumberMeasure, Profile, Profiles, RunMeasure
from .reading import TableForm
from .sas import SASClustering
from .version import __version__

FORMAT, VERSION = "sparsecluster-model", 1
# What may be in a file, and nothing else: estimators that place new items, and the pieces that they do it with.
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
        *(Profiles, Profile, NumberMeasure, LevelMeasure, RunMeasure, Projection, ShrunkenCentres, GapCurve, Column),
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
        raise ModelError(f"{name} does not place new items, so it is not kept as a model. Keep its labels instead.")
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
        raise ModelError(f"There is no file {path}.") from None
    except (json.JSONDecodeError, UnicodeDecodeError, IsADirectoryError, RecursionError) as error:
        raise ModelError(f"{path} is not a model: it is damaged or another kind of file ({error}).") from error
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise ModelError(f'{path} is not a model of sparsecluster: it does not say "{FORMAT}".')
    if entry.get("version") != VERSION:
        raise ModelError(
            f"{path} was written by a newer or other version (model version {entry.get('version')!r}, sparsecluster "
            f"{entry.get('sparsecluster')!r}); this one reads version {VERSION}. Install that version."
        )
    try:
        return _restored(entry)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"{path} is damaged: {type(error).__name__} {error}.") from error


def _restored(entry: dict[str, Any]) -> Any:
    estimator = ESTIMATORS[entry["estimator"]]()
    known = estimator.get_params(deep=False)
    given = {key: _decoded(each["value"]) for key, each in entry["parameters"].items() if "value" in each}
    estimator.set_params(**{key: value for key, value in given.items() if key in known})
    columns = entry["columns"]
    if isinstance(columns, dict):
        columns = (_decoded(columns["all"]),) * int(columns["count"])
    else:
        columns = tuple(map(_decoded, columns))
    fitted = {key: _decoded(entry["fitted"][key]) for key in KEPT if key in entry["fitted"]}
    n = fitted["n_features_in_"]
    if not (len(columns) == n == len(fitted["support_"]) and isinstance(fitted["_clusters"], tuple)):
        raise ValueError("its parts do not fit together")
    for key, value in fitted.items():
        setattr(estimator, key, value)
    estimator._form = TableForm(columns, bool(entry["has_words"]))
    estimator.preset_ = entry.get("preset")
    return estimator


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
