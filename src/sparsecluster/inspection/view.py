"""One view of a fitted clustering: the table, read once, with what was found in it. Everything is drawn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from .._data.centers import means
from .._data.columns import Column, ColumnTable
from .._data.profiles import Profiles
from .._data.reading import NUMBERS
from .._data.tables import as_frame, needs_reading, read_columns, read_numbers, words_in
from .._features.base import Floats, Subset
from .._search.gap import GapCurve
from ._kinds import Scale, center_of, difference_of, indicators, is_mean, readable, scale_of, words_of
from ._scaling import centered, standardized

# Values of a table that are worked on at a time.
BLOCK_VALUES = 2**22


class Fitted(Protocol):
    """What a view needs to know of an estimator; all estimators of this package have it."""

    labels_: Any
    support_: Any
    feature_scores_: Any


class Coordinates(NamedTuple):
    """Samples as points: values of shape (n_samples, n_coordinates), with mean 0 and NaN where values are missing.

    features : for each coordinate, the place of its column among those asked for.
    levels : for each coordinate, the level whose indicator it is; None for numbers and ranks.
    """

    values: Floats
    features: Subset
    levels: tuple[Any, ...]


class Typical(NamedTuple):
    """What is typical of some columns: centers of shape (n_columns, n_clusters), the center of all, the differences."""

    center: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats


class Placed(NamedTuple):
    """For every sample: distance to its own cluster, the second-best cluster, and the silhouette; NaN where unknown.

    The distance is that of the chosen features and their weights, in units of how far a typical sample is from the
    center of all samples: for standardized numbers, the square root of the mean over the features of the squared
    difference to the cluster's center, divided by the variance. The silhouette is the simplified one,
    (b - a) / max(a, b), with a the distance to the own cluster and b that to the second best: near 1 well inside,
    near 0 between two clusters, below 0 nearer to another cluster.
    """

    distance: Floats
    second: Subset
    silhouette: Floats


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """A fitted clustering and the table it was found in, ready to be drawn. `inspect` makes one.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    ids : tuple of str
        Names of the samples.
    labels : ndarray of shape (n_samples,)
        Cluster of every sample.
    scores : ndarray of shape (n_features,)
        Share of every feature that the clustering explains.
    chosen : ndarray of shape (n_chosen,)
        Places of the chosen features, the highest score first.
    values : ndarray or sparse matrix of shape (n_samples, n_features), or None
        The table as numbers: NaN where values are missing, codes of the levels of a categorical column. None if there
        are no columns, as with precomputed dissimilarities.
    no_values : str or None
        Why there are no values, in words; None if there are.
    kinds : tuple
        What the numbers of each column mean.
    weights : ndarray of shape (n_features,) or None
        Weights of the features, for methods that have them.
    standardize : bool
        Whether all features count the same.
    centers : ndarray of shape (n_clusters, n_features) or None
        Mean, median or commonest level of every column in every cluster, in the units of the data.
    gap_curves : tuple of GapCurve
        The curves behind the choice of tuning parameters; empty if nothing was tuned.
    history : tuple or None
        The objective after every pass, for methods that keep it.
    method : str
        Name of the estimator's class.
    parameters : dict
        Parameters of the estimator.
    call : str
        Python code that makes the estimator.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    labels: Subset
    scores: Floats
    chosen: Subset
    values: Any = None
    no_values: str | None = None
    kinds: tuple[Column, ...] = ()
    weights: Floats | None = None
    standardize: bool = True
    centers: npt.NDArray[Any] | None = None
    gap_curves: tuple[GapCurve, ...] = ()
    history: tuple[Any, ...] | None = None
    method: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    call: str = ""
    # Distances of the samples to the clusters, squared, n x k; None for methods that have none.
    _squared: Callable[[], Floats] | None = None

    def __repr__(self) -> str:
        n, k, p, s = self.labels.size, self.sizes.size, len(self.names), self.chosen.size
        return f"<View of {self.call or 'a clustering'}: {n} samples in {k} clusters, {s} of {p} features chosen>"

    @property
    def sizes(self) -> Subset:
        """Number of samples in each cluster."""
        return np.bincount(self.labels)

    @property
    def is_chosen(self) -> npt.NDArray[np.bool_]:
        """For every feature, whether it was chosen."""
        return np.isin(np.arange(len(self.names)), self.chosen)

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return bool(scipy.sparse.issparse(self.values))

    def block(self, columns: Subset) -> Floats:
        """Values of some columns, of shape (n_samples, n_columns)."""
        if self.no_values is not None:
            raise ValueError(f"There are no values to show. {self.no_values}")
        some = self.values[:, columns]
        return np.asarray(some.toarray() if self.is_sparse else some, dtype=np.float64)

    def blocks(self, columns: Subset) -> Iterator[Subset]:
        """The columns in parts that are worked on at a time."""
        n_parts = -(-self.labels.size * columns.size // BLOCK_VALUES)
        yield from np.array_split(columns, max(1, n_parts))

    def n_missing(self, columns: Subset) -> int:
        """Number of missing values in some columns."""
        return 0 if self.is_sparse else sum(int(np.isnan(self.block(some)).sum()) for some in self.blocks(columns))

    def coordinates(self, columns: Subset, standardize: bool = True) -> Coordinates:
        """The samples as points in the space of some columns.

        A column of numbers or ranks is one coordinate; a column of levels without an order has an indicator for each
        level, so the names of the levels do not matter. If `standardize`, every column has variance 1 in all. Otherwise
        numbers have their own units, and two samples of different levels are at distance 1.
        """
        values, features, levels, first = [], [], [], 0
        for some in self.blocks(columns):
            table = self.block(some)
            is_level = np.array([self.scale_of(a) == "level" for a in some.tolist()], dtype=bool)
            numbers = np.flatnonzero(~is_level)
            values.append((standardized if standardize else centered)(table[:, numbers]))
            features.append(first + numbers)
            levels += [None] * numbers.size
            for place in np.flatnonzero(is_level).tolist():
                kind, codes = self.kinds[some[place]], table[:, place]
                values.append(indicators(codes, standardize))
                features.append(np.full(values[-1].shape[1], first + place))
                levels += [level for level in kind.decode(np.unique(codes)) if level is not None]
            first += some.size
        return Coordinates(np.hstack(values), np.concatenate(features), tuple(levels))

    def scale_of(self, column: int) -> Scale:
        """What the values of a column are: "number", "rank" (levels with an order) or "level" (without)."""
        return scale_of(self.kinds[column])

    def typical(self, columns: Subset) -> Typical:
        """What some columns are like in every cluster, and how that differs from all samples."""
        table, labels, k = self.block(columns), self.labels, self.sizes.size
        center = means(table, labels, k).T.astype(object)
        overall = means(table, np.zeros_like(labels), 1)[0].astype(object)
        difference = (center - overall[:, None]).astype(np.float64)
        for j, kind in enumerate(self.kinds[a] for a in columns.tolist()):
            if not is_mean(kind):
                parts = [table[labels == c, j] for c in range(k)]
                center[j] = [center_of(kind, part) for part in parts]
                overall[j] = center_of(kind, table[:, j])
                difference[j] = [difference_of(kind, part, table[:, j]) for part in parts]
        return Typical(center, overall, np.nan_to_num(difference))

    def readable(self, column: int) -> tuple[Floats, tuple[Any, ...] | None]:
        """The values of a column as people read them: numbers and None, or codes and the levels they stand for."""
        codes = self.block(np.array([column]))[:, 0]
        return readable(self.kinds[column], codes)

    def places_of_samples(self) -> Placed | None:
        """How far every sample is from its cluster, and its second-best cluster; None for methods without distances."""
        return self._placed

    @cached_property
    def _placed(self) -> Placed | None:
        if self._squared is None:
            return None
        squared, own, rows = self._squared(), self.labels, np.arange(self.labels.size)
        others = squared.copy()
        others[rows, own] = np.inf
        second = others.argmin(axis=1)
        a, b = np.sqrt(squared[rows, own]), np.sqrt(others[rows, second])
        return Placed(a, second, (b - a) / np.maximum(np.maximum(a, b), np.finfo(float).tiny))


def inspect(
    estimator: Fitted, X: Any = None, ids: Sequence[Any] | None = None, names: Sequence[Any] | None = None
) -> View:
    """Read a table once, as a fitted estimator did, for everything that is drawn of the result.

    Parameters
    ----------
    estimator : estimator of this package
        It must be fitted.
    X : table of shape (n_samples, n_features), sparse matrix, or precomputed dissimilarities
        The data that `fit` was given. Without them there is less to see: scores, history, but no values.
    ids : sequence of n_samples names, default=None
        Names of the samples; by default the index of a pandas table, otherwise 0, 1, ...
    names : sequence of n_features names, default=None
        Names of the features; by default those that `fit` saw.

    Returns
    -------
    View
        What `from_view` of every display and `sparsecluster.report.summarize` take.

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
    return replace(
        view,
        ids=view.ids if ids is None else tuple(map(str, ids)),
        names=view.names if names is None else tuple(map(str, names)),
    )


def view_of_numbers(X: Any, labels: Subset, is_chosen: npt.NDArray[np.bool_], **more: Any) -> View:
    """A view of a table of numbers and the clusters in it, without an estimator."""
    n, p = X.shape
    values = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X, dtype=np.float64)
    names, ids = (tuple(map(str, range(size))) for size in (p, n))
    kinds = (Column("sqeuclidean"),) * p
    return View(names, ids, labels, np.zeros(p), np.flatnonzero(is_chosen), values, kinds=kinds, **more)


def describe_columns(X: Any, names: Sequence[str], metric: Any = "auto") -> list[dict[str, Any]]:
    """How `fit` would read every column of a table that is not sparse.

    >>> describe_columns(np.array([[1.0], [2.0], [np.nan], [2.0]]), ["size"])
    [{'name': 'size', 'compared by': 'squared difference', 'values': 2, 'missing': 0.25, 'example': '1'}]
    """
    has_words = needs_reading(X) if as_frame(X) is None else bool(words_in(as_frame(X)))
    table = _as_numbers(X if has_words else np.asarray(X, dtype=np.float64), metric, names, has_words)
    columns = []
    for name, kind, codes in zip(names, table.columns, table.values.T, strict=True):
        seen = codes[~np.isnan(codes)]
        example = kind.decode(seen[:1])[0] if seen.size else ""
        columns.append(
            {
                "name": str(name),
                "compared by": words_of(kind),
                "values": int(np.unique(seen).size),
                "missing": float(np.isnan(codes).mean()),
                "example": f"{example:.4g}" if isinstance(example, float) else str(example),
            }
        )
    return columns


# ---------------------------------------------------------------- what an estimator keeps


def _read(estimator: Any, X: Any) -> View:
    """All that a view takes from a fitted estimator; nothing else here looks inside of one."""
    names, labels, scores = tuple(map(str, estimator._names())), estimator.labels_, estimator.feature_scores_
    chosen = np.flatnonzero(estimator.support_)
    metric = getattr(estimator, "metric", "sqeuclidean")
    is_precomputed = isinstance(metric, str) and metric == "precomputed"
    values: Any = None
    kinds: tuple[Column, ...] = ()
    no_values, samples = None, None
    if is_precomputed:
        no_values = "The features are precomputed dissimilarities, which have no columns to draw."
        samples = None if X is None else partial(estimator._new_values, X)
    elif X is None:
        no_values = "Give the table of fit as X."
    else:
        values, kinds = _read_table(estimator, X, metric)
        if values.shape[0] != labels.size:
            raise ValueError(
                f"X must be the data that fit was given, with {labels.size} samples; got {values.shape[0]}. "
                "Fit again for other samples."
            )
        samples = partial(_columns_of, values, chosen)
    clusters, curve = getattr(estimator, "_clusters", None), getattr(estimator, "gap_curve_", None)
    history = getattr(estimator, "history_", None)
    return View(
        names,
        tuple(map(str, range(labels.size))),
        labels,
        scores,
        chosen[np.argsort(-scores[chosen], kind="stable")],
        values,
        no_values,
        kinds,
        weights=getattr(estimator, "feature_weights_", None),
        standardize=bool(getattr(estimator, "standardize", True)),
        centers=getattr(estimator, "cluster_centers_", None),
        gap_curves=() if curve is None else (curve,),
        history=None if history is None else tuple(history),
        method=type(estimator).__name__,
        parameters=estimator.get_params(deep=False),
        call=repr(estimator),
        _squared=partial(_distances, clusters, samples) if isinstance(clusters, Profiles) and samples else None,
    )


def _read_table(estimator: Any, X: Any, metric: Any) -> tuple[Any, tuple[Column, ...]]:
    """Values and kinds of the columns, as `fit` reads them."""
    if scipy.sparse.issparse(X):
        given = validate_data(estimator, X, reset=False, accept_sparse="csc", **NUMBERS)
        if not given.has_canonical_format:
            given = given.copy()
            given.sum_duplicates()
        return given, (Column("sqeuclidean"),) * given.shape[1]
    frame = as_frame(X)
    has_words = needs_reading(X) if frame is None else bool(words_in(frame))
    if has_words:
        X = np.asarray(X, dtype=object) if frame is None else X
        validate_data(estimator, X, reset=False, skip_check_array=True)
    else:
        X = validate_data(estimator, X, reset=False, **NUMBERS)
    names: list[Any] = estimator._names()
    own_names = names if frame is None else list(getattr(frame.to_native(), "columns", names))
    table = _as_numbers(X, metric, own_names if all(isinstance(n, str | int) for n in own_names) else names, has_words)
    return table.values, table.columns


def _as_numbers(X: Any, metric: Any, names: Sequence[Any], has_words: bool) -> ColumnTable:
    return (read_columns if has_words else read_numbers)(X, metric, names)


def _columns_of(values: Any, columns: Subset) -> list[Floats]:
    some: Any = values[:, columns]
    return list(np.asarray(some.toarray() if hasattr(some, "toarray") else some).T)


def _distances(clusters: Profiles, read: Callable[[], list[Any]]) -> Floats:
    """Squared distances of the samples to the clusters, in units of the mean to the center of all; NaN if unknown."""
    values, columns = read(), clusters.columns
    typical = sum(each.weight * each.spread for each in columns) / sum(each.share for each in columns)
    squared = np.maximum(clusters.distances(values), 0.0) / typical
    unknown = [np.isnan(each.distances(new)[:, 0]) for each, new in zip(columns, values, strict=True)]
    squared[np.all(unknown, axis=0)] = np.nan
    return squared
