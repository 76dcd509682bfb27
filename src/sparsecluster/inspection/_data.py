"""The data of a fit, read as the fit read them, with what it found: what displays look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from .._data.columns import Column
from .._data.reading import NUMBERS
from .._data.tables import as_frame, needs_reading, read_columns, read_numbers, words_in
from .._features.base import Floats, Subset

# Values of a table that are worked on at a time.
BLOCK_VALUES = 2**22


class Fitted(Protocol):
    """What displays need to know of an estimator: all of this package do."""

    labels_: Any
    support_: Any
    feature_scores_: Any

    def _names(self) -> list[str]: ...


@dataclass(frozen=True)
class Clustered:
    """Columns of the user's data and the clusters in them.

    values : n x p numbers, NaN in gaps, codes where a column has levels; or a sparse matrix.
    columns : what the numbers mean.
    chosen : places of the chosen columns, the highest score first.
    standardize : whether the fit gave all features the same weight.
    """

    values: Any
    columns: tuple[Column, ...]
    names: list[str]
    labels: Subset
    scores: Floats
    chosen: Subset
    standardize: bool

    @property
    def sizes(self) -> Subset:
        """Number of samples in each cluster."""
        return np.bincount(self.labels)

    @property
    def is_sparse(self) -> bool:
        return bool(scipy.sparse.issparse(self.values))

    def kind_of(self, column: int) -> str:
        """A "number", a "level", or a "rank" where levels have an order and so can be counted with."""
        of = self.columns[column]
        return "number" if of.levels is None else "rank" if of.kind == "manhattan" else "level"

    def is_level(self, column: int) -> bool:
        """Whether a column has levels without an order."""
        return self.kind_of(column) == "level"

    def block(self, columns: Subset) -> Floats:
        """Some of the columns, n x q."""
        some = self.values[:, columns]
        return np.asarray(some.toarray() if self.is_sparse else some, dtype=np.float64)

    def blocks(self, columns: Subset) -> Iterator[Subset]:
        """The columns in parts that are worked on at a time."""
        n_parts = -(-self.labels.size * columns.size // BLOCK_VALUES)
        yield from np.array_split(columns, max(1, n_parts))

    def coordinates(self, columns: Subset, standardize: bool = True) -> tuple[Floats, Subset]:
        """Coordinates of the samples, n x q, with mean 0 and NaN in gaps; and for each its place in `columns`.

        A column of numbers or ranks is one coordinate. One of levels has an indicator for each level. Standardized,
        every column has variance 1 in all; else levels count by half their squared distance, which is 0 or 1.
        """
        parts, owners, first = [], [], 0
        for some in self.blocks(columns):
            table, is_level = self.block(some), np.array([self.is_level(a) for a in some.tolist()], dtype=bool)
            numbers = np.flatnonzero(~is_level)
            parts.append((standardized if standardize else centered)(table[:, numbers]))
            owners.append(first + numbers)
            for place in np.flatnonzero(is_level).tolist():
                parts.append(indicators(table[:, place], standardize))
                owners.append(np.full(parts[-1].shape[1], first + place))
            first += some.size
        return np.hstack(parts), np.concatenate(owners)


def clustered(estimator: Fitted, X: Any) -> Clustered:
    """What a fitted estimator found in the data of its fit."""
    check_is_fitted(estimator)
    metric: Any = getattr(estimator, "metric", "sqeuclidean")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(
            'This display shows columns, and an estimator with metric="precomputed" has seen only dissimilarities. '
            "FeatureScores, History and Agreement need no columns."
        )
    values, columns = _read(estimator, X, metric)
    if values.shape[0] != estimator.labels_.size:
        raise ValueError(
            f"X must be the data of fit, with {estimator.labels_.size} samples; got {values.shape[0]}. For other samples, "
            "fit again."
        )
    chosen = np.flatnonzero(estimator.support_)
    scores = estimator.feature_scores_
    return Clustered(
        values,
        columns,
        estimator._names(),
        estimator.labels_,
        scores,
        chosen[np.argsort(-scores[chosen], kind="stable")],
        bool(getattr(estimator, "standardize", True)),
    )


def _read(estimator: Fitted, X: Any, metric: Any) -> tuple[Any, tuple[Column, ...]]:
    """The values and the columns, as `fit` reads them."""
    if scipy.sparse.issparse(X):
        given = validate_data(estimator, X, reset=False, accept_sparse="csc", **NUMBERS)
        if not given.has_canonical_format:
            given = given.copy()
            given.sum_duplicates()
        return given, (Column("sqeuclidean"),) * given.shape[1]
    frame = as_frame(X)
    words = needs_reading(X) if frame is None else bool(words_in(frame))
    if words:
        X = np.asarray(X, dtype=object) if frame is None else X
        validate_data(estimator, X, reset=False, skip_check_array=True)
    else:
        X = validate_data(estimator, X, reset=False, **NUMBERS)
    names: list[Any] = estimator._names()
    own_names = names if frame is None else list(getattr(frame.to_native(), "columns", names))
    keys = own_names if all(isinstance(name, str | int) for name in own_names) else names
    table = (read_columns if words else read_numbers)(X, metric, keys)
    return table.values, table.columns


def centered(table: Floats) -> Floats:
    """Every column less its mean; NaN in gaps."""
    origin = np.nan_to_num(np.fmin.reduce(table, axis=0))
    # Means of differences, so that a small spread about a large value keeps its digits.
    shifted = table - origin
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    return np.asarray(shifted - np.nansum(shifted, axis=0) / seen)


def standardized(table: Floats) -> Floats:
    """Every column less its mean, over its standard deviation; NaN in gaps, zeros where it does not vary.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    # In halves and by its width first: neither differences nor squares leave the range of numbers.
    halves = table / 2
    low = np.nan_to_num(np.fmin.reduce(halves, axis=0))
    width = np.nan_to_num(np.fmax.reduce(halves - low, axis=0))
    unit = centered((halves - low) / np.where(width > 0, width, 1.0))
    seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    spread = np.sqrt(np.nansum(unit**2, axis=0) / seen)
    return np.asarray(unit / np.where(spread > 0, spread, 1.0))


def indicators(codes: Floats, standardize: bool) -> Floats:
    """A coordinate for each level, 1 in the samples that have it, less its share; NaN in gaps."""
    levels = np.unique(codes[~np.isnan(codes)])
    table = (codes[:, None] == levels).astype(np.float64)
    table[np.isnan(codes)] = np.nan
    table = centered(table)
    if not standardize:
        return np.asarray(table / np.sqrt(2.0))
    variance = float(np.nansum(table**2)) / max(int(np.count_nonzero(~np.isnan(codes))), 1)
    return np.asarray(table / np.sqrt(variance) if variance > 0 else table)
