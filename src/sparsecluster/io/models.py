"""Saving fitted estimators as JSON files, which contain no code, and loading them again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._data.dates import pattern_of
from .._data.kinds import KINDS, MEASURES, Dissimilarity
from .._data.names import DefaultNames
from .._data.reading import TableReader
from .._search.curve import TuningCurve
from .._utils.files import write
from .._utils.text import brief, one_line
from .._version import __version__
from ..methods._result import Kept
from ._check_models import check_clusters, check_fitted, check_piece, is_count, must, try_out
from ._pieces import ESTIMATORS, FITTED, PIECES
from .curves import thinned
from .limits import JSON_BYTE, FileError, memory_limit
from .packed import DTYPES, LEAST_PACKED, packed, packed_texts, unpacked, unpacked_texts
from .sources import source_of

FORMAT, VERSION = "sparsecluster-model", 2
# The version of files with packed parts, which older versions of this package cannot read. Others are as they were.
PACKED_VERSION = 3


class ModelError(ValueError):
    """A model cannot be saved, or a file cannot be loaded as a model. The message is a single line for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class SavedModel(NamedTuple):
    """The content of a model file.

    Attributes
    ----------
    estimator : estimator
        The fitted estimator.
    names : list of str or None
        Names of its columns, if they are known.
    preset : dict or None
        How new tables are prepared for it.
    dates : dict of str to str, or None
        The form in which the dates of columns were written, as in "DD/MM/YYYY".
    """

    estimator: Any
    names: Sequence[str] | None
    preset: Mapping[str, Any] | None
    dates: Mapping[str, str] | None = None


# ---------------------------------------------------------------- writing


def save_model(
    estimator: Any,
    file: str | Path,
    *,
    preset: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    dates: Mapping[str, str] | None = None,
) -> Path:
    """Save a fitted estimator as a JSON file.

    The file contains the parameters, the main results and everything that `predict` and `score` need, but neither the
    data nor the alternatives; an alternative is saved by saving the estimator that `use_alternative` returns. Models
    that use precomputed dissimilarities or a function of your own cannot be saved. The file is written completely or
    not at all.

    Parameters
    ----------
    estimator : estimator of this package
        It must be fitted and have the method `predict`.
    file : str or Path
        File to write. An existing file is replaced.
    preset : dict, default=None
        How `sparsecluster predict` prepares new tables, such as `{"name": "expression", "log": True}`.
    names : sequence of str, default=None
        Names of the columns, by which `sparsecluster predict` finds them in new tables. By default, these are the names
        that `fit` has seen.
    dates : dict of str to str, default=None
        The form in which the dates of columns are written, such as `{"born": "DD/MM/YYYY"}`, in which `sparsecluster
        predict` reads them in new tables; `Loaded.forms` has those of a file.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    ModelError
        If the estimator is not fitted or cannot be saved.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sparsecluster import SASClustering, load_model, save_model
    >>> X = np.random.default_rng(0).normal(size=(30, 5)) + 5 * np.repeat([0, 1], 15)[:, None]
    >>> sas = SASClustering(n_clusters=2, n_features_to_select=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_model(save_model(sas, f"{folder}/model.json"))
    >>> bool((again.predict(X) == sas.predict(X)).all())
    True
    """
    entry = as_dict(estimator)
    entry = entry | {"names": entry["names"] if names is None else _names(names), "preset": preset}
    # Without dates, the file is as it was before there were forms.
    entry |= {"dates": dict(dates)} if dates else {}
    # Parts, because the text of a large model is much larger than the model.
    return write(Path(file), json.JSONEncoder(allow_nan=False, ensure_ascii=False).iterencode(entry))


def as_dict(estimator: Any) -> dict[str, Any]:
    """Return the content of the model file of an estimator."""
    name = type(estimator).__name__
    if name not in ESTIMATORS:
        raise ModelError(
            f"{name} cannot assign new samples to clusters, so it cannot be saved as a model. Save its labels instead."
        )
    if not hasattr(estimator, "_kept"):
        raise ModelError(f"This {name} is not fitted yet. Call fit first.")
    kept: Kept = estimator._kept
    reader = kept.reader
    # The labels of a table in blocks are not in memory, and there may be very many of them.
    has_labels = isinstance(getattr(estimator, "labels_", None), np.ndarray)
    fitted = [key for key in FITTED if hasattr(estimator, key) and (key != "labels_" or has_labels)]
    if not isinstance(reader, TableReader) or not reader.can_be_saved:
        raise ModelError(
            "A model that uses precomputed dissimilarities or a function of your own cannot be saved. Save its labels "
            "instead."
        )
    return {
        "format": FORMAT,
        "version": PACKED_VERSION if _is_long(estimator) else VERSION,
        "sparsecluster": __version__,
        "estimator": name,
        "parameters": {key: _parameter(value) for key, value in estimator.get_params(deep=False).items()},
        "names": _names(reader.names) if hasattr(estimator, "feature_names_in_") else None,
        "columns": _columns(reader.kinds),
        "has_words": reader.has_words,
        "n_chosen": int(kept.n_chosen),
        "n_features": int(kept.n_features),
        "n_left_out": int(kept.n_left_out),
        "clusters": _encoded(kept.clusters),
        "sizes": None if has_labels else [int(size) for size in kept.sizes],
        "fitted": {key: _encoded(getattr(estimator, key)) for key in fitted},
    }


def _is_long(estimator: Any) -> bool:
    """Whether a model may have packed parts."""
    return max(estimator.n_features_in_, estimator.labels_.size) > LEAST_PACKED


def _names(names: Sequence[str]) -> Any:
    """Encode the names of the columns, of which there may be very many."""
    texts = [str(each) for each in names]
    return packed_texts(texts) if len(texts) > LEAST_PACKED else texts


def _parameter(value: Any) -> Any:
    """Return the value of a parameter, or its description if it is an object that cannot be saved."""
    try:
        return {"value": _encoded(value)}
    except ModelError:
        return {"shown": repr(value)}


def _columns(kinds: Sequence[Dissimilarity]) -> Any:
    """Encode the dissimilarities of the columns. If all are equal, one is enough: there may be very many columns."""
    alike = all(kind is kinds[0] or kind == kinds[0] for kind in kinds)
    return {"all": _encoded(kinds[0]), "count": len(kinds)} if alike else [_encoded(each) for each in kinds]


def _encoded(value: Any) -> Any:
    """Encode numbers, text, lists, arrays and classes of this package; types that JSON does not have are named."""
    if isinstance(value, Dissimilarity):
        # Fields that have their default are left out, so that older versions can read all models that they know.
        usual: Any = {each.name: each.default for each in dataclasses.fields(value)}  # type: ignore[arg-type]
        changed = [name for name in usual if getattr(value, name) != usual[name]]
        return {"kind": value.name, "fields": {name: _encoded(getattr(value, name)) for name in changed}}
    if isinstance(value, TuningCurve):
        value = thinned(value)
    if type(value) in (*PIECES.values(), *MEASURES.values()):
        return {"piece": type(value).__name__, "fields": _fields(value)}
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        if value.size > LEAST_PACKED and kind in DTYPES:
            return packed(value)
        if value.size > LEAST_PACKED and value.ndim == 1 and all(type(each) is str for each in value):
            return packed_texts(value.tolist())
        return {"array": [_encoded(each) for each in value.tolist()], "kind": kind if kind in "fibO" else "O"}
    if isinstance(value, np.generic):
        return _encoded(value.item())
    if isinstance(value, range | set | frozenset):
        return _encoded(sorted(value))
    if isinstance(value, list | tuple):
        return {"list": [_encoded(each) for each in value]} if isinstance(value, tuple) else [*map(_encoded, value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encoded(each) for key, each in value.items()}}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ModelError(f"A value of type {type(value).__name__} cannot be saved in a model.")


def _fields(value: Any) -> dict[str, Any]:
    """Encode the fields of a named tuple or dataclass."""
    names = value._fields if hasattr(value, "_fields") else [each.name for each in dataclasses.fields(value)]
    return {name: _encoded(getattr(value, name)) for name in names}


# ---------------------------------------------------------------- reading


def load_model(file: str | Path) -> Any:
    """Load an estimator from a file written by `save_model`.

    Nothing in the file is executed.

    Parameters
    ----------
    file : str or Path
        File to read.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ModelError
        If the file is not a model, is damaged, or was written by an incompatible version.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sparsecluster import SparseKMeans, load_model, save_model
    >>> X = np.random.default_rng(0).normal(size=(30, 5)) + 5 * np.repeat([0, 1], 15)[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = save_model(SparseKMeans(n_clusters=2, l1_bound=2.0).fit(X), f"{folder}/model.json")
    ...     load_model(file)
    SparseKMeans(l1_bound=2.0, n_clusters=2)
    """
    return read_model(file).estimator


def read_model(file: str | Path) -> SavedModel:
    """Read the whole content of a model file."""
    path = Path(file)
    try:
        entry = json.loads(source_of(path, memory_limit()).read(JSON_BYTE).decode())
    except FileError as error:
        raise ModelError(_line(error)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModelError(
            f"{_line(path)} is not a model: it is damaged or another kind of file ({_line(error)})."
        ) from error
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise ModelError(f'{_line(path)} is not a model of sparsecluster: it lacks the format name "{FORMAT}".')
    if entry.get("version") not in (VERSION, PACKED_VERSION):
        raise ModelError(
            f"{_line(path)} was written by another version of sparsecluster ({brief(entry.get('sparsecluster'))}, "
            f"model version {brief(entry.get('version'))}); this one reads the model versions {VERSION} and "
            f"{PACKED_VERSION}. "
            "Install that version, or fit again."
        )
    try:
        return _restored(entry)
    except Exception as error:
        # Nothing in a file is executed, so whatever happens here is due to its content.
        raise ModelError(f"{_line(path)} is damaged: {type(error).__name__} {_line(error)}.") from error


def _line(text: object) -> str:
    return one_line(text, 300)


def _is_preset(preset: dict[str, Any]) -> bool:
    """Whether a preset says how samples are prepared. Older files have only `log`."""
    log, clip, total = preset.get("log"), preset.get("clip", False), preset.get("total")
    is_total = total is None or (isinstance(total, float) and 0 < total < float("inf"))
    return isinstance(log, bool) and isinstance(clip, bool) and is_total


def _restored(entry: dict[str, Any]) -> SavedModel:
    estimator = ESTIMATORS[entry["estimator"]]()
    known = estimator.get_params(deep=False)
    given = {key: _decoded(each["value"]) for key, each in entry["parameters"].items() if "value" in each}
    estimator.set_params(**{key: value for key, value in given.items() if key in known})
    fitted = {key: _decoded(entry["fitted"][key]) for key in FITTED if key in entry["fitted"]}
    # The arrays in the file decide how many columns there are, before anything of that size is made.
    sizes = entry.get("sizes")
    n, k = check_fitted(fitted, sizes)
    kinds = _read_kinds(entry["columns"], n)
    names, preset, clusters = entry["names"], entry["preset"], _decoded(entry["clusters"])
    names = unpacked_texts(names) if isinstance(names, dict) else names
    must(
        names is None or (isinstance(names, list) and len(names) == n and all(isinstance(each, str) for each in names)),
        "there must be one name per column, or none at all",
    )
    must(
        preset is None or (isinstance(preset, dict) and _is_preset(preset)),
        "preset must be null or an object with booleans `log` and `clip` and a positive number or null `total`",
    )
    dates = entry.get("dates")
    must(
        dates is None or (isinstance(dates, dict) and all(isinstance(form, str) for form in dates.values())),
        "dates must be null or the form of dates by the column",
    )
    for form in (dates or {}).values():
        pattern_of(form)
    must(isinstance(entry["has_words"], bool), "has_words must be true or false")
    counts = [entry[key] for key in ("n_chosen", "n_features", "n_left_out")]
    must(all(is_count(each) and each <= n for each in counts), "a number of features is wrong")
    check_clusters(type(estimator), clusters, int(fitted["support_"].sum()), k)
    # Files that were written before the number of clusters could be chosen do not have it.
    fitted = {"n_clusters_": k, "n_clusters_curve_": None, **fitted}
    for key, value in fitted.items():
        setattr(estimator, key, value)
    labels = fitted.get("labels_")
    if labels is not None:
        sizes = np.bincount(labels[labels >= 0]).tolist()
    reader = TableReader(names or DefaultNames(n), kinds, entry["has_words"])
    estimator._kept = Kept(reader, clusters, *counts)._replace(sizes=tuple(sizes or ()))
    try_out(estimator, kinds, entry["has_words"])
    return SavedModel(estimator, names, preset, dates)


def _read_kinds(given: Any, count: int) -> tuple[Dissimilarity, ...]:
    """Return one dissimilarity for each column."""
    if isinstance(given, dict):
        must(given["count"] == count, "the number of columns is wrong")
        distinct: tuple[Any, ...] = (_decoded(given["all"]),)
    else:
        must(isinstance(given, list) and len(given) == count, "the number of columns is wrong")
        distinct = tuple(map(_decoded, given))
    must(all(isinstance(each, Dissimilarity) for each in distinct), "a column has an unknown dissimilarity")
    return distinct * count if isinstance(given, dict) else distinct


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "kind" in value and "fields" in value:
        return check_piece(KINDS[value["kind"]](**{key: _decoded(each) for key, each in value["fields"].items()}))
    if "piece" in value:
        fields = {key: _decoded(each) for key, each in value["fields"].items()}
        return check_piece((PIECES | MEASURES)[value["piece"]](**fields))
    if "packed" in value:
        return unpacked(value)
    if "texts" in value:
        return np.array(unpacked_texts(value), dtype=object)
    if "array" in value:
        return np.array([_decoded(each) for each in value["array"]], dtype=OBJECTS[value["kind"]])
    if "list" in value:
        return tuple(map(_decoded, value["list"]))
    if "float" in value:
        return float(value["float"])
    return {key: _decoded(each) for key, each in value["dict"].items()}


OBJECTS = {"f": np.float64, "i": np.intp, "b": np.bool_, "O": object}
