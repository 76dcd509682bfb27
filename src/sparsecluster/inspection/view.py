"""Views of fitted clusterings: the table, read once, and the results. All displays and reports are made from a view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from .._data.centers import means
from .._data.kinds import Dissimilarity, SquaredEuclidean
from .._data.kinds.dissimilarity import Scale
from .._search.curve import TuningCurve
from .._utils.arrays import Floats, Subset
from ..methods._result import OUTLIER
from ._kinds import as_date, readable
from ._scaling import as_block, centered, standardized
from .places import Placed, places_by

# The number of values that are processed at a time.
BLOCK_VALUES = 2**20


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
    """The centers of columns in each cluster and in all clusters together, and the differences between the two."""

    center: npt.NDArray[Any]
    overall: npt.NDArray[Any]
    difference: Floats


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
        Cluster of each sample, and -1 for samples in no cluster.
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
    core : ndarray of shape (n_core,) or None
        Indices of the features that are enough to find the clusters again, the highest score first. None if they were
        not sought.
    n_found_with : int
        Number of features by which the clusters were found. More than were chosen if only the core was chosen.
    weights : ndarray of shape (n_features,) or None
        Weights of the features, for methods that have them.
    cluster_features : ndarray of shape (n_clusters, n_features), dtype=bool, or None
        Features of each cluster, for methods that choose features for single clusters.
    standardize : bool
        Whether the features were standardized in the fit.
    centers : ndarray of shape (n_clusters, n_features) or None
        Mean, median or most common level of each column in each cluster, in the units of the data.
    n_left_out : int
        Number of columns that were not used because they are constant or missing too often.
    notes : tuple of str
        Decisions made when the table was read, such as columns that are left out; only if a `Reading` was given.
    curves : dict of str to TuningCurve
        Tuning curves by the name of the attribute; empty if nothing was tuned.
    criterion : float or None
        Of an alternative, the criterion by which it was ranked, such as the gap statistic.
    outlier_scores : ndarray of shape (n_samples,) or None
        How far each sample is from the nearest cluster; only if samples could be left out of the clusters.
    all_sizes : tuple of int or None
        Number of samples in each cluster if the view shows only a random sample of them.
    alternatives : tuple of View
        Views of other good clusterings of the same samples.
    history : tuple or None
        Objective after each pass, for methods that keep it.
    method : str
        Name of the estimator's class.
    parameters : dict
        Parameters of the estimator.
    call : str
        Python code that creates the estimator.
    code : str
        The same with the number of clusters, which `call` leaves out where it is the default.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    labels: Subset
    scores: Floats
    chosen: Subset
    values: Any = None
    no_values: str | None = None
    kinds: tuple[Dissimilarity, ...] = ()
    core: Subset | None = None
    n_found_with: int = 0
    weights: Floats | None = None
    cluster_features: npt.NDArray[np.bool_] | None = None
    standardize: bool = True
    centers: npt.NDArray[Any] | None = None
    n_left_out: int = 0
    notes: tuple[str, ...] = ()
    curves: dict[str, TuningCurve] = field(default_factory=dict)
    criterion: float | None = None
    outlier_scores: Floats | None = None
    all_sizes: tuple[int, ...] | None = None
    alternatives: tuple[View, ...] = ()
    history: tuple[Any, ...] | None = None
    method: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    call: str = ""
    code: str = ""
    # Returns the squared distances of shape (n_samples, n_clusters); None for methods without distances.
    _squared: Callable[[], Floats] | None = None

    def __repr__(self) -> str:
        n, k, p, s = self.sizes.sum(), self.n_clusters, len(self.names), self.chosen.size
        outside = f" and {self.n_outliers} in none" if self.n_outliers else ""
        told = f"{n} samples in {k} clusters{outside}, {s} of {p} features chosen"
        return f"<View of {self.call or 'a clustering'}: {told}>"

    @cached_property
    def sizes(self) -> Subset:
        """Number of samples in each cluster."""
        return np.bincount(self.labels[~self.outliers]) if self.all_sizes is None else np.array(self.all_sizes)

    @property
    def n_samples(self) -> int:
        """Number of samples, of which the view may show only some."""
        return int(self.sizes.sum()) + self.n_outliers

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.sizes.size)

    @cached_property
    def outliers(self) -> npt.NDArray[np.bool_]:
        """Whether each sample is in no cluster."""
        return np.asarray(self.labels == OUTLIER)

    @property
    def n_outliers(self) -> int:
        """Number of samples in no cluster."""
        return int(self.outliers.sum())

    @cached_property
    def clustered(self) -> View:
        """The view of the samples that are in a cluster, by which clusters are described."""
        if not self.n_outliers:
            return self
        inside = ~self.outliers
        return replace(
            self,
            labels=self.labels[inside],
            ids=tuple(self.ids[i] for i in np.flatnonzero(inside).tolist()),
            values=None if self.values is None else self.values[np.flatnonzero(inside)],
            outlier_scores=None if self.outlier_scores is None else self.outlier_scores[inside],
            alternatives=(),
            _squared=None if self._squared is None else partial(_rows_of, self._squared, inside),
        )

    @property
    def rows(self) -> Any:
        """The rows of the samples that are in a cluster, by which columns are centered and scaled."""
        return ~self.outliers if self.n_outliers else slice(None)

    @property
    def is_chosen(self) -> npt.NDArray[np.bool_]:
        """Whether each feature was chosen."""
        return np.isin(np.arange(len(self.names)), self.chosen)

    @property
    def is_core(self) -> npt.NDArray[np.bool_]:
        """Whether each feature is one of those that are enough to find the clusters again."""
        return np.isin(np.arange(len(self.names)), () if self.core is None else self.core)

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
        two samples with different levels have a distance of 1. Means and variances are of the samples in clusters.
        """
        values, features, levels, first = [], [], [], 0
        for some in self.blocks(columns):
            table = self.block(some)
            is_plain = np.array([self.kinds[a].draws_codes for a in some.tolist()], dtype=bool)
            numbers = np.flatnonzero(is_plain)
            values.append((standardized if standardize else centered)(table[:, numbers], self.rows))
            features.append(first + numbers)
            levels += [None] * numbers.size
            for place in np.flatnonzero(~is_plain).tolist():
                kind, codes = self.kinds[some[place]], table[:, place]
                values.append(as_block(kind.coordinates(codes), standardize, self.rows))
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
        """Return the centers of some columns in each cluster and in all of them together, and the differences."""
        table, labels, k = self.clustered.block(columns), self.clustered.labels, self.n_clusters
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

    def date(self, column: int, value: Any) -> str | None:
        """Return a number of a column of dates as a date, such as "2020-05-01"; None if the column holds no dates."""
        return as_date(self.kinds[column], value)

    def places_of_samples(self) -> Placed | None:
        """Return distances, second-best clusters and silhouettes of the samples; None for methods without distances."""
        return self._placed

    @cached_property
    def _placed(self) -> Placed | None:
        return None if self._squared is None else places_by(self._squared(), self.labels)


def _rows_of(squared: Callable[[], Floats], rows: npt.NDArray[np.bool_]) -> Floats:
    return squared()[rows]


def view_of_numbers(X: Any, labels: Subset, is_chosen: npt.NDArray[np.bool_], **more: Any) -> View:
    """Return a view of a table of numbers and its clusters, without an estimator."""
    n, p = X.shape
    values = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X, dtype=np.float64)
    names, ids = (tuple(map(str, range(size))) for size in (p, n))
    kinds = (SquaredEuclidean(),) * p
    return View(names, ids, labels, np.zeros(p), np.flatnonzero(is_chosen), values, kinds=kinds, **more)
