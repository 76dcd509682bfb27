"""One view of a fitted clustering: the table, read once, with what was found in it. Everything is drawn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from .._data.centers import means
from .._data.content import holds_words
from .._data.kinds import Dissimilarity, SquaredEuclidean
from .._data.kinds.base import Scale
from .._data.metric import Metric
from .._data.profiles import Profiles
from .._data.reading import Given, Reading, TableReader, read_columns
from .._features.base import Floats, Subset
from .._search.curve import TuningCurve
from ..methods._validation import checked, names_of
from ._kinds import readable
from ._scaling import as_block, centered, standardized

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
    curves : dict of str to TuningCurve
        The curves behind the choice of tuning parameters, by attribute; empty if nothing was tuned.
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
    kinds: tuple[Dissimilarity, ...] = ()
    weights: Floats | None = None
    standardize: bool = True
    centers: npt.NDArray[Any] | None = None
    curves: dict[str, TuningCurve] = field(default_factory=dict)
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
            is_plain = np.array([self.kinds[a].draws_codes for a in some.tolist()], dtype=bool)
            numbers = np.flatnonzero(is_plain)
            values.append((standardized if standardize else centered)(table[:, numbers]))
            features.append(first + numbers)
            levels += [None] * numbers.size
            for place in np.flatnonzero(~is_plain).tolist():
                kind, codes = self.kinds[some[place]], table[:, place]
                values.append(as_block(kind.coordinates(codes), standardize))
                width = values[-1].shape[1]
                features.append(np.full(width, first + place))
                names = kind.decode(np.unique(codes[~np.isnan(codes)])) if kind.scale == "level" else [None] * width
                levels += list(names)
            first += some.size
        return Coordinates(np.hstack(values), np.concatenate(features), tuple(levels))

    def scale_of(self, column: int) -> Scale:
        """What the values of a column are: "number", "rank" (levels with an order) or "level" (without)."""
        return self.kinds[column].scale

    def typical(self, columns: Subset) -> Typical:
        """What some columns are like in every cluster, and how that differs from all samples."""
        table, labels, k = self.block(columns), self.labels, self.sizes.size
        center = means(table, labels, k).T.astype(object)
        overall = means(table, np.zeros_like(labels), 1)[0].astype(object)
        difference = (center - overall[:, None]).astype(np.float64)
        for j, kind in enumerate(self.kinds[a] for a in columns.tolist()):
            if not isinstance(kind, SquaredEuclidean):
                parts = [table[labels == c, j] for c in range(k)]
                center[j] = [kind.center(part) for part in parts]
                overall[j] = kind.center(table[:, j])
                difference[j] = [kind.difference(part, table[:, j]) for part in parts]
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
    kinds = (SquaredEuclidean(),) * p
    return View(names, ids, labels, np.zeros(p), np.flatnonzero(is_chosen), values, kinds=kinds, **more)


def describe_columns(X: Any, names: Sequence[str], metric: Metric = "auto") -> list[dict[str, Any]]:
    """How `fit` would read every column of a table that is not sparse.

    >>> describe_columns(np.array([[1.0], [2.0], [np.nan], [2.0]]), ["size"])
    [{'name': 'size', 'compared by': 'squared difference', 'values': 2, 'missing': 0.25, 'example': '1'}]
    """
    has_words = holds_words(X)
    table = read_columns(Given(X if has_words else np.asarray(X, np.float64), has_words, names, names), metric)
    columns = []
    for name, kind, codes in zip(names, table.kinds, table.values.T, strict=True):
        seen = codes[~np.isnan(codes)]
        example = kind.decode(seen[:1])[0] if seen.size else ""
        columns.append(
            {
                "name": str(name),
                "compared by": kind.words,
                "values": int(np.unique(seen).size),
                "missing": float(np.isnan(codes).mean()),
                "example": f"{example:.4g}" if isinstance(example, float) else str(example),
            }
        )
    return columns


# ---------------------------------------------------------------- what an estimator keeps


def _read(estimator: Any, X: Any) -> View:
    """All that a view takes from a fitted estimator; nothing else here looks inside of one."""
    names, labels, scores = tuple(map(str, names_of(estimator))), estimator.labels_, estimator.feature_scores_
    chosen, kept = np.flatnonzero(estimator.support_), estimator._kept
    values: Any = None
    kinds: tuple[Dissimilarity, ...] = ()
    no_values, samples = None, None
    if not isinstance(kept.reader, TableReader):
        no_values = "The features are precomputed dissimilarities, which have no columns to draw."
        samples = None if X is None or isinstance(X, Reading) else partial(kept.reader.new_values, X, chosen)
    elif X is None:
        no_values = "Give the table of fit as X."
    else:
        values, kinds = _encoded(estimator, kept.reader, X), kept.reader.kinds
        if values.shape[0] != labels.size:
            raise ValueError(
                f"X must be the data that fit was given, with {labels.size} samples; got {values.shape[0]}. "
                "Fit again for other samples."
            )
        samples = partial(_columns_of, values, chosen)
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
        curves={name: each for name, each in vars(estimator).items() if isinstance(each, TuningCurve)},
        history=None if history is None else tuple(history),
        method=type(estimator).__name__,
        parameters=estimator.get_params(deep=False),
        call=repr(estimator),
        _squared=partial(_distances, kept.clusters, samples)
        if isinstance(kept.clusters, Profiles) and samples
        else None,
    )


def _encoded(estimator: Any, reader: TableReader, X: Any) -> Any:
    """The table as numbers, n x p, as `fit` reads it; that of a reading as it is."""
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
    """Squared distances of the samples to the clusters, in units of the mean to the center of all; NaN if unknown."""
    values, columns = read(), clusters.columns
    squared = np.maximum(clusters.distances(values), 0.0) / clusters.typical()
    unknown = [np.isnan(each.distances(new)[:, 0]) for each, new in zip(columns, values, strict=True)]
    squared[np.all(unknown, axis=0)] = np.nan
    return squared
