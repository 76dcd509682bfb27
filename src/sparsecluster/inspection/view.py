"""Views of fitted clusterings: the table, read once, and the results. All displays and reports are made from a view."""

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
from .._data.kinds.dissimilarity import Scale
from .._data.metric import Metric
from .._data.profiles import Profiles
from .._data.reading import Given, Reading, TableReader, read_columns
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Subset
from ..methods._validation import checked, names_of
from ._kinds import readable
from ._scaling import as_block, centered, standardized

# The number of values that are processed at a time.
BLOCK_VALUES = 2**22


class Fitted(Protocol):
    """The attributes of a fitted estimator that a view needs. All estimators of this package have them."""

    labels_: Any
    support_: Any
    feature_scores_: Any


class Coordinates(NamedTuple):
    """The samples as points.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_coordinates)
        Centered coordinates; NaN for missing values.
    features : ndarray of shape (n_coordinates,)
        Column of each coordinate, as an index into the columns that were asked for.
    levels : tuple of length n_coordinates
        Level of which each coordinate is the indicator; None for numbers and ranks.
    """

    values: Floats
    features: Subset
    levels: tuple[Any, ...]


class Typical(NamedTuple):
    """The centers of columns in each cluster and among all samples, and the differences between the two."""

    center: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats


class Placed(NamedTuple):
    """Distance of each sample to its cluster, second-best cluster and silhouette; NaN if unknown.

    The distance is computed from the chosen features and their weights. Its unit is the distance of a typical sample to
    the center of all samples. For standardized numbers, it is the root mean square, over the features, of the
    difference from the center of the cluster in standard deviations. The silhouette is simplified to
    (b - a) / max(a, b), where a and b are the distances to the own and to the second-best cluster. It is near 1 for
    samples well inside their cluster, near 0 between two clusters, and negative for samples closer to another cluster.
    """

    distance: Floats
    second: Subset
    silhouette: Floats


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """A fitted clustering and its table, from which displays and reports are made. `inspect` returns a view.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    ids : tuple of str
        Names of the samples.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    scores : ndarray of shape (n_features,)
        Share of each feature that the clustering explains.
    chosen : ndarray of shape (n_chosen,)
        Indices of the chosen features, the highest score first.
    values : ndarray or sparse matrix of shape (n_samples, n_features), or None
        The table as numbers, with NaN for missing values and codes for the levels of a categorical column. None if the
        table was not given or the features are precomputed dissimilarities.
    no_values : str or None
        Why there are no values, as a sentence; None if there are.
    kinds : tuple of Dissimilarity
        Dissimilarity of each column, which knows the meaning of its numbers.
    weights : ndarray of shape (n_features,) or None
        Weights of the features, for methods that have them.
    standardize : bool
        Whether the features were standardized in the fit.
    centers : ndarray of shape (n_clusters, n_features) or None
        Mean, median or most common level of each column in each cluster, in the units of the data.
    n_left_out : int
        Number of columns that were not used because they are constant or missing too often.
    curves : dict of str to TuningCurve
        Tuning curves by the name of the attribute; empty if nothing was tuned.
    history : tuple or None
        Objective after each pass, for methods that keep it.
    method : str
        Name of the estimator's class.
    parameters : dict
        Parameters of the estimator.
    call : str
        Python code that creates the estimator.
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
    n_left_out: int = 0
    curves: dict[str, TuningCurve] = field(default_factory=dict)
    history: tuple[Any, ...] | None = None
    method: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    call: str = ""
    # Returns the squared distances of shape (n_samples, n_clusters); None for methods without distances.
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
        """Whether each feature was chosen."""
        return np.isin(np.arange(len(self.names)), self.chosen)

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return bool(scipy.sparse.issparse(self.values))

    def block(self, columns: Subset) -> Floats:
        """Return the values of some columns, of shape (n_samples, n_columns)."""
        if self.no_values is not None:
            raise ValueError(f"There are no values to show. {self.no_values}")
        some = self.values[:, columns]
        return np.asarray(some.toarray() if self.is_sparse else some, dtype=np.float64)

    def blocks(self, columns: Subset) -> Iterator[Subset]:
        """Yield the columns in parts that are processed at a time."""
        n_parts = -(-self.labels.size * columns.size // BLOCK_VALUES)
        yield from np.array_split(columns, max(1, n_parts))

    def n_missing(self, columns: Subset) -> int:
        """Return the number of missing values in some columns."""
        return 0 if self.is_sparse else sum(int(np.isnan(self.block(some)).sum()) for some in self.blocks(columns))

    def coordinates(self, columns: Subset, standardize: bool = True) -> Coordinates:
        """Return the samples as points in the space of some columns.

        A column of numbers or ranks has one coordinate. A column of levels without an order has an indicator for each
        level. If `standardize=True`, each column has a total variance of 1. Otherwise, numbers keep their units, and
        two samples with different levels have a distance of 1.
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
        """Return the type of a column: "number", "rank" (levels with an order) or "level" (levels without an order)."""
        return self.kinds[column].scale

    def typical(self, columns: Subset) -> Typical:
        """Return the centers of some columns in each cluster, and how they differ from those of all samples."""
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
        """Return the values of a column in readable form: numbers and None, or codes and their levels."""
        codes = self.block(np.array([column]))[:, 0]
        return readable(self.kinds[column], codes)

    def places_of_samples(self) -> Placed | None:
        """Return distances, second-best clusters and silhouettes of the samples; None for methods without distances."""
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
    return replace(
        view,
        ids=view.ids if ids is None else tuple(map(str, ids)),
        names=view.names if names is None else tuple(map(str, names)),
    )


def view_of_numbers(X: Any, labels: Subset, is_chosen: npt.NDArray[np.bool_], **more: Any) -> View:
    """Return a view of a table of numbers and its clusters, without an estimator."""
    n, p = X.shape
    values = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X, dtype=np.float64)
    names, ids = (tuple(map(str, range(size))) for size in (p, n))
    kinds = (SquaredEuclidean(),) * p
    return View(names, ids, labels, np.zeros(p), np.flatnonzero(is_chosen), values, kinds=kinds, **more)


def describe_columns(X: Any, names: Sequence[str], metric: Metric = "auto") -> list[dict[str, Any]]:
    """Describe how `fit` reads each column of a table that is not sparse.

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


# ---------------------------------------------------------------- reading from a fitted estimator


def _read(estimator: Any, X: Any) -> View:
    """Read everything that a view needs from a fitted estimator. Only this function knows the parts of an estimator."""
    names, labels, scores = tuple(map(str, names_of(estimator))), estimator.labels_, estimator.feature_scores_
    chosen, kept = np.flatnonzero(estimator.support_), estimator._kept
    values: Any = None
    kinds: tuple[Dissimilarity, ...] = ()
    no_values, samples = None, None
    if not isinstance(kept.reader, TableReader):
        no_values = "The features are precomputed dissimilarities, which have no columns to draw."
        samples = None if X is None or isinstance(X, Reading) else partial(kept.reader.new_values, X, chosen)
    elif X is None:
        no_values = "Pass the table that fit was given as X."
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
        n_left_out=kept.n_left_out,
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
    """Return squared distances to the clusters, relative to the mean distance to the center of all; NaN if unknown."""
    values, columns = read(), clusters.columns
    squared = np.maximum(clusters.distances(values), 0.0) / clusters.typical()
    unknown = [np.isnan(each.distances(new)[:, 0]) for each, new in zip(columns, values, strict=True)]
    squared[np.all(unknown, axis=0)] = np.nan
    return squared
