"""Checks of what a model file contains, because errors in it would only show later, or not at all.

Every part is compared with the annotated types of its class, so that a new class needs no checks of its own.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from .._data.kinds import MEASURES, Dissimilarity, Measure
from .._data.profiles import Profiles
from .._search.curve import TuningCurve
from ._pieces import CLUSTERS, FITTED, NEVER_NONE, OTHER_CLUSTERS, REQUIRED

# Fields that something is divided by.
POSITIVE = {"unit", "units", "spread", "spreads", "deviations", "variances"}
# Made-up values with which a model is tried: within, below and above what most columns contain.
TRIED = (0.0, -1e6, 1e6)


def must(holds: bool, why: str) -> None:
    """Raise an error if something does not hold."""
    if not holds:
        raise ValueError(why)


def is_number(value: Any) -> bool:
    """Whether a value is a number that fits into a float; true and false are none."""
    return isinstance(value, float | int) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


# ---------------------------------------------------------------- types


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    >>> fits([1.0, float("nan")], Sequence[float]), fits(1e300, Sequence[float]), fits("pca", Literal["pca", "nmf"])
    (True, False, True)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        # A level or a tuned value, or the values of a cluster.
        return value is None or isinstance(value, bool | str | np.ndarray) or value != value or is_number(value)
    if hint is float:
        return value != value or is_number(value)
    if hint is Measure:
        return type(value) in MEASURES.values()
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is np.ndarray:
        kind = get_args(inner[1])[0]
        return isinstance(value, np.ndarray) and (value.dtype.kind in "fi" if kind is Any else value.dtype == kind)
    if origin in (Sequence, tuple):
        return isinstance(value, list if origin is Sequence else tuple) and all(fits(each, inner[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, dict) and all(fits(each, inner[1]) for each in value.values())
    return isinstance(value, hint)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    names = cls._fields if hasattr(cls, "_fields") else [each.name for each in dataclasses.fields(cls)]
    known = get_type_hints(cls)
    return {name: known[name] for name in names}


def check_piece(piece: Any) -> Any:
    """Return a named tuple or dataclass after a check of the types of its fields and of their numbers."""
    kind: Any = type(piece)
    for name, hint in _hints(kind).items():
        value, where = getattr(piece, name), f"{kind.__name__}.{name}"
        must(fits(value, hint), f"{where} has the wrong type")
        if isinstance(piece, TuningCurve):
            continue
        arrays = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, np.ndarray)]
        numbers = [each for each in arrays if each.dtype.kind == "f"] + [value] * (hint is float)
        must(not any(np.isinf(each).any() for each in numbers), f"{where} is infinite")
        must(hint is not float or value == value, f"{where} is not a number")
        must(name not in POSITIVE or not any((each <= 0).any() for each in map(np.asarray, numbers)),
             f"{where} must be positive")  # fmt: skip
    if isinstance(piece, TuningCurve):
        parts = [piece.score, *piece.details.values(), *([] if piece.error is None else [piece.error])]
        must(all(each.shape == (piece.values.size,) for each in (piece.values, *parts)), "a curve is incomplete")
        must(piece.chosen in piece.values.tolist(), "the chosen value of a curve is not on it")
    return piece


# ---------------------------------------------------------------- the parts together


def check_fitted(fitted: Mapping[str, Any], sizes: Any = None) -> tuple[int, int]:
    """Check types and shapes of the fitted attributes, and return the numbers of columns and clusters.

    A model without labels has the sizes of its clusters.
    """
    for key in REQUIRED:
        must(fitted.get(key) is not None or (key == "labels_" and sizes is not None), f"{key} is missing")
    n, labels = fitted["n_features_in_"], fitted.get("labels_")
    must(is_count(n), "the number of columns must be a whole number")
    k, m = _sized(sizes) if labels is None else _counted(labels)
    lengths = {"n": n, "k": k, "m": m, "*": None}
    for key, value in fitted.items():
        kind, _, shapes = FITTED[key].partition(" ")
        if value is None and key not in NEVER_NONE:
            continue
        if shapes:
            allowed = [[lengths[each] for each in shape.split(",")] for shape in shapes.split(" or ")]
            must(any(_has_form(value, kind, shape) for shape in allowed), f"{key} has the wrong type or shape")
        else:
            must(SIMPLE[kind](value), f"{key} must be a {kind}")
    names = fitted.get("feature_names_in_")
    must(names is None or all(isinstance(each, str) for each in names), "feature_names_in_ must be texts")
    must(fitted.get("n_clusters_", k) == k, "n_clusters_ must be the number of clusters")
    return n, k


def _counted(labels: Any) -> tuple[int, int]:
    """Return the numbers of clusters and of samples of labels."""
    must(_has_form(labels, "i", [None]) and labels.size > 0, "labels_ must be an array of integers")
    k = int(labels.max()) + 1
    must(labels.min() >= -1 and 0 < k <= labels.size, "labels_ must number the clusters from 0")
    return k, labels.size


def _sized(sizes: Any) -> tuple[int, int]:
    """Return the numbers of clusters and of samples of the sizes of clusters."""
    is_list = isinstance(sizes, list) and len(sizes) > 0 and all(is_count(size) for size in sizes)
    must(is_list, "sizes must be the number of samples in each cluster")
    return len(sizes), sum(sizes)


SIMPLE = {
    "count": is_count,
    "number": lambda value: isinstance(value, float) or is_number(value),
    "text": lambda value: isinstance(value, str),
    "curve": lambda value: isinstance(value, TuningCurve),
}


def _has_form(value: Any, kinds: str, shape: Sequence[int | None]) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds or value.ndim != len(shape):
        return False
    return all(wanted is None or length == wanted for length, wanted in zip(value.shape, shape, strict=True))


def check_clusters(estimator: type, clusters: Any, n_chosen: int, k: int) -> None:
    """Check that the clusters are those of the method, of its chosen columns, and of the right number."""
    known = (CLUSTERS[estimator], *OTHER_CLUSTERS.get(estimator, ()))
    must(type(clusters) in known, "the clusters belong to another method")
    if not isinstance(clusters, Profiles):
        must(clusters.is_for(n_chosen, k), "the clusters have the wrong shape")
        return
    must(len(clusters.columns) == n_chosen, "a chosen column has no profile")
    must(all(each.measure.check() == k for each in clusters.columns), "a profile belongs to other clusters")


def try_out(estimator: Any, kinds: Sequence[Dissimilarity], has_words: bool) -> None:
    """Assign a few made-up samples, so that whatever is still wrong is found now."""
    if has_words:
        rows = [[kind.levels[0] if kind.levels else value for kind in kinds] for value in TRIED]
        X = np.array(rows, dtype=object)
    else:
        X = np.repeat(np.array(TRIED)[:, None], len(kinds), axis=1)
    # Numbers so large that distances overflow are damaged as well.
    with warnings.catch_warnings(), np.errstate(all="ignore", over="raise"):
        warnings.simplefilter("ignore")
        labels = estimator.predict(X)
        float(estimator.score(X))
        estimator.summary()
        memberships = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else np.zeros(1)
    must(bool(np.isfinite(memberships).all()), "its probabilities are not numbers")
    must(labels.shape == (len(TRIED),) and 0 <= labels.min() <= labels.max() < estimator.n_clusters_,
         "it assigns samples to clusters that do not exist")  # fmt: skip
