"""Views of fitted estimators. Only this file and places.py know the parts of an estimator that are needed."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._data.kinds import Dissimilarity
from .._data.names import DefaultNames
from .._data.profiles import Profiles
from .._data.reading import Reading, TableReader
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Subset
from .._utils.text import brief
from ..methods._validation import checked, names_of
from .places import squared_distances
from .view import View


class Fitted(Protocol):
    """The attributes of a fitted estimator that a view needs. All estimators of this package have them."""

    labels_: Any
    support_: Any
    feature_scores_: Any


# The name in a note of a column that has no name of its own.
DEFAULT_NAME = re.compile(r"'x(\d+)'")


class Encoded(NamedTuple):
    """The table as numbers, which the views of a clustering and of its alternatives share.

    Attributes
    ----------
    values, no_values, kinds
        As in `View`.
    columns : callable or None
        Function that takes indices of columns and returns their values, for distances to the clusters. None if the
        table was not given.
    """

    values: Any
    no_values: str | None
    kinds: tuple[Dissimilarity, ...]
    columns: Callable[[Subset], list[Any]] | None


def inspect(
    estimator: Fitted, X: Any = None, ids: Sequence[Any] | None = None, names: Sequence[Any] | None = None
) -> View:
    """Return a view of a fitted clustering, from which displays and reports are made.

    The table is read only once, in the same way as in `fit`.

    Parameters
    ----------
    estimator : estimator of this package
        It must be fitted.
    X : table of shape (n_samples, n_features), sparse matrix, or precomputed dissimilarities
        The data that `fit` was given. Without them, only results such as scores and the history can be shown.
    ids : sequence of n_samples names, default=None
        Names of the samples; by default, the index of a pandas data frame, or else 0, 1, ...
    names : sequence of n_features names, default=None
        Names of the features; by default, those that `fit` has seen.

    Returns
    -------
    View
        The view, for `from_view` of the displays and for `sparsecluster.report.summarize`.

    Examples
    --------
    >>> from sparsecluster import SASClustering
    >>> from sparsecluster.datasets import shifted_groups
    >>> from sparsecluster.inspection import Heatmap, Projection, inspect
    >>> X, *_ = shifted_groups(mu=2.0, n_features=30, n_useful=5, group_size=10)
    >>> view = inspect(SASClustering(n_clusters=3, n_features_to_select=5).fit(X), X)
    >>> view
    <View of SASClustering(n_features_to_select=5): 30 samples in 3 clusters, 5 of 30 features chosen>
    >>> [view.names[a] for a in view.chosen[:2]]
    ['x0', 'x1']
    >>> Projection.from_view(view).chosen.shares.round(2), Heatmap.from_view(view).values.shape
    (array([0.78, 0.1 ]), (30, 5))
    """
    check_is_fitted(estimator)
    view = _read(estimator, X)
    if ids is None and hasattr(X, "index") and hasattr(X, "columns"):
        ids = X.index
    for what, given, own in (("ids", ids, view.ids), ("names", names, view.names)):
        if given is not None and len(given) != len(own):
            raise ValueError(f"{what} must hold {len(own)} names; got {len(given)}.")
    named: dict[str, Any] = {
        "ids": view.ids if ids is None else tuple(map(str, ids)),
        "names": view.names if names is None else tuple(map(str, names)),
        "notes": _notes(X, view.n_clusters, names) if isinstance(X, Reading) else (),
    }
    return replace(view, **named, alternatives=tuple(replace(each, **named) for each in view.alternatives))


def _notes(reading: Reading, n_clusters: int, names: Sequence[Any] | None) -> tuple[str, ...]:
    """Return the notes on a table, in which the columns of a matrix have the names that are given for them."""
    notes = reading.for_clusters(n_clusters).notes
    if names is None or not isinstance(reading.names, DefaultNames):
        return notes
    return tuple(DEFAULT_NAME.sub(lambda found: brief(str(names[int(found[1])])), note) for note in notes)


def inspect_sample(estimator: Fitted, sample: Reading, names: Sequence[Any] | None = None) -> View:
    """Return a view of a clustering of very many samples, which shows a random sample of them.

    Parameters
    ----------
    estimator : estimator of this package
        Fitted estimator whose labels are not in memory.
    sample : Reading
        The random sample, read as in the fit.
    names : sequence of n_features names, default=None
        Names of the features; by default, those that `fit` has seen.

    Returns
    -------
    View
        The view, whose `sizes` are those of the clusters of all samples.
    """
    alternatives = getattr(estimator, "alternatives_", [])
    shown = _with_labels_of(estimator, sample)
    shown.alternatives_ = [replace(each, estimator=_with_labels_of(each.estimator, sample)) for each in alternatives]
    ids = [f"drawn {number}" for number in range(1, shown.labels_.size + 1)]
    view = inspect(shown, sample, ids, names)
    sizes = [each._kept.sizes for each in (estimator, *(each.estimator for each in alternatives))]
    others = [replace(each, all_sizes=own) for each, own in zip(view.alternatives, sizes[1:], strict=True)]
    return replace(view, all_sizes=sizes[0], alternatives=tuple(others), notes=())


def _with_labels_of(estimator: Any, sample: Reading) -> Any:
    """Return a copy of an estimator with the labels of a sample."""
    shown = copy.copy(estimator)
    values = _values(estimator, estimator._kept.reader, sample)
    shown.labels_ = estimator._kept.clusters.nearest(_columns_of(values, np.flatnonzero(estimator.support_)))
    return shown


def _read(estimator: Any, X: Any) -> View:
    """Return the view of a fitted estimator, and those of its alternatives, which share the table."""
    table = _encoded(estimator, X)
    alternatives = getattr(estimator, "alternatives_", [])
    others = [replace(_view(each.estimator, table), criterion=each.gap) for each in alternatives]
    return replace(_view(estimator, table), alternatives=tuple(others))


def _view(estimator: Any, table: Encoded) -> View:
    labels, scores, kept = estimator.labels_, estimator.feature_scores_, estimator._kept
    chosen, core = np.flatnonzero(estimator.support_), getattr(estimator, "core_support_", None)
    history = getattr(estimator, "history_", None)
    squared = None
    if isinstance(kept.clusters, Profiles) and table.columns is not None:
        squared = partial(_distances, kept.clusters, partial(table.columns, chosen))
    return View(
        tuple(map(str, names_of(estimator))),
        tuple(map(str, range(labels.size))),
        labels,
        scores,
        _ranked(chosen, scores),
        table.values,
        table.no_values,
        table.kinds,
        core=None if core is None else _ranked(np.flatnonzero(core), scores),
        n_found_with=int(getattr(estimator, "full_support_", estimator.support_).sum()),
        weights=getattr(estimator, "feature_weights_", None),
        cluster_features=getattr(estimator, "cluster_features_", None),
        standardize=bool(getattr(estimator, "standardize", True)),
        centers=getattr(estimator, "cluster_centers_", None),
        n_left_out=kept.n_left_out,
        curves={name: each for name, each in vars(estimator).items() if isinstance(each, TuningCurve)},
        outlier_scores=getattr(estimator, "outlier_scores_", None),
        history=None if history is None else tuple(history),
        method=type(estimator).__name__,
        parameters=estimator.get_params(deep=False),
        call=repr(estimator),
        code=code_of(estimator),
        _squared=squared,
    )


def code_of(estimator: Any) -> str:
    """Return Python code that creates an estimator: its number of clusters, and whatever is not the default.

    >>> from sparsecluster import SASClustering
    >>> code_of(SASClustering(n_init=5))
    'SASClustering(n_clusters=3, n_init=5)'
    """
    usual = {name: each.default for name, each in signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    told = [f"{key}={_code(value)}" for key, value in given.items()
            if key == "n_clusters" or repr(value) != repr(usual.get(key))]  # fmt: skip
    return f"{type(estimator).__name__}({', '.join(told)})"


def _code(value: Any) -> str:
    """Return a value as Python code; functions by their names."""
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)


def _ranked(columns: Subset, scores: Floats) -> Subset:
    """Return some columns, the highest score first."""
    return columns[np.argsort(-scores[columns], kind="stable")]


def _encoded(estimator: Any, X: Any) -> Encoded:
    reader, n = estimator._kept.reader, estimator.labels_.size
    if not isinstance(reader, TableReader):
        no_values = "The features are precomputed dissimilarities, which have no columns to draw."
        is_given = X is not None and not isinstance(X, Reading)
        return Encoded(None, no_values, (), partial(reader.new_values, X) if is_given else None)
    if X is None:
        return Encoded(None, "Pass the table that fit was given as X.", (), None)
    values = _values(estimator, reader, X)
    if values.shape[0] != n:
        raise ValueError(
            f"X must be the data that fit was given, with {n} samples; got {values.shape[0]}. Fit again for other "
            "samples."
        )
    return Encoded(values, None, reader.kinds, partial(_columns_of, values))


def _values(estimator: Any, reader: TableReader, X: Any) -> Any:
    """Return the table as numbers, of shape (n_samples, n_features), as `fit` reads it."""
    if isinstance(X, Reading):
        source: Any = X.source
        values = source.values if hasattr(source, "values") else source.table.values
    else:
        values = reader.encode(checked(estimator, X, reset=False, has_words=reader.has_words))
    if hasattr(values, "tocsc") and not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    return values


def _columns_of(values: Any, columns: Subset) -> list[Floats]:
    some: Any = values[:, columns]
    return list(np.asarray(some.toarray() if hasattr(some, "toarray") else some).T)


def _distances(clusters: Profiles, read: Callable[[], list[Any]]) -> Floats:
    return squared_distances(clusters, read())
