"""From what the user gives to what the search reads: tables, sparse matrices, precomputed dissimilarities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .centres import centres, sparse_means
from .checks import (
    check_all_known,
    check_count,
    check_cross,
    check_distinct,
    check_finite,
    check_functions,
    check_matrices,
    check_some_seen,
    few_distinct,
    keep_out,
    usable_columns,
    usable_matrices,
)
from .features.arrange import arrangement
from .features.arrange_sparse import sparse_arrangement
from .features.base import Subset
from .features.columns import Column
from .features.matrices import matrix_arrangement
from .features.source import ItemSource, MatrixSource, TableSource
from .features.sparse import SparseSource, varying
from .profiles import CrossMeasure, FunctionMeasure, LevelMeasure, Measure, NumberMeasure, RunMeasure
from .tables import (
    Metric,
    as_frame,
    column_place,
    has_words,
    is_all_numbers,
    kinds_by_column,
    read_again,
    read_columns,
    read_numbers,
    recode,
)

# What scikit-learn is to make of a table of numbers. Gaps are ours to deal with, and so is the message about infinity.
NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
MEASURES: dict[str, Any] = {"euclidean": NumberMeasure, "hamming": LevelMeasure, "manhattan": RunMeasure}


class Form(Protocol):
    """How new items are read, and how their columns are measured."""

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        """What some columns say of new items."""

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        """How to build the measure of a column from values, labels and k."""

    def centres(self, source: Any, labels: Any, k: int) -> Any:
        """The middle of every column in every cluster; None where that has no meaning."""


class Request(NamedTuple):
    """What is asked of the data besides themselves."""

    metric: Metric
    feature_groups: Any
    n_clusters: int
    standardize: bool


class Data(NamedTuple):
    """What `fit` reads: the source of the features and the form in which new items will come."""

    source: ItemSource
    form: Form
    n_items: int
    n_columns: int
    n_features: int


def read(estimator: Any, X: Any, request: Request) -> Data:
    """Check everything about the data, and put items and columns in the order that their contents decide."""
    if isinstance(request.metric, str) and request.metric == "precomputed":
        return read_matrices(estimator, X, request)
    if scipy.sparse.issparse(X):
        return read_sparse(estimator, X, request)
    return read_table(estimator, X, request)


# ---------------------------------------------------------------- tables


class TableForm(NamedTuple):
    """Columns of a table, each read as in `fit`."""

    columns: tuple[Column, ...]
    has_words: bool = False

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        names = estimator._names()
        if self.has_words:
            validate_data(estimator, X, reset=False, skip_check_array=True)
            table = read_again(X, self.columns, names)
        else:
            X = validate_data(estimator, X, reset=False, accept_sparse="csc", **NUMBERS)
            if scipy.sparse.issparse(X):
                chosen: Any = X
                table = chosen[:, columns].toarray()
                return list(recode(table, [self.columns[a] for a in columns.tolist()]).T)
            table = recode(X, self.columns)
        check_finite(table, names)
        return [table[:, a] for a in columns.tolist()]

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        of = self.columns[column]
        return MEASURES[of.kind].make if isinstance(of.kind, str) else FunctionMeasure(of.kind, of.decode, (), ()).make

    def centres(self, source: Any, labels: Any, k: int) -> Any:
        if isinstance(source, SparseSource):
            return sparse_means(source.values, labels, k)
        return centres(source.table, labels, k)


def read_table(estimator: Any, X: Any, request: Request) -> Data:
    """A data frame or an array."""
    frame = as_frame(X)
    words = has_words(X) if frame is None else not is_all_numbers(frame)
    if words:
        X = np.asarray(X, dtype=object) if frame is None else X
        validate_data(estimator, X, skip_check_array=True)
        names = estimator._names()
        check_count("The number of rows of X", len(X), 2)
        table = read_columns(X, request.metric, names)
    else:
        X = validate_data(estimator, X, ensure_min_samples=2, order=None, **NUMBERS)
        names = estimator._names()
        table = read_numbers(X, request.metric, names)
    n, p = table.values.shape
    check_finite(table.values, names)
    check_count("n_clusters", request.n_clusters, 2, n, f"X has n_samples={n} rows.")
    groups = group_numbers(request.feature_groups, names)
    table, has_gaps = with_one_kind_of_gap(table)
    usable = usable_columns(table.values, names, request.n_clusters, has_gaps)
    if has_gaps:
        check_some_seen(table.values[:, usable])
    order = arrangement(table.values, usable)
    if order.distinct_items < request.n_clusters:
        check_distinct(table.values, request.n_clusters)
    check_functions(table, usable, names)
    # By kind first: columns of different kinds may hold the same numbers.
    kinds = [column.kind if isinstance(column.kind, str) else "" for column in table.columns]
    columns = order.columns[np.argsort([kinds[a] for a in order.columns.tolist()], kind="stable")]
    source = TableSource(table, groups, order.items, columns, request.standardize, has_gaps)
    return Data(source, TableForm(table.columns, words), n, p, np.unique(groups).size)


def with_one_kind_of_gap(table: Any) -> tuple[Any, bool]:
    """The table with one bit pattern for all NaN, so that equal rows look equal; and whether there are any."""
    # A sum is NaN where a value is, and it costs less than looking at each.
    if not np.isnan(table.values.sum(axis=0, dtype=np.float64)).any():
        return table, False
    return type(table)(np.where(np.isnan(table.values), np.nan, table.values), table.columns), True


def group_numbers(given: Any, names: Sequence[str]) -> Subset:
    """A number for every column, the same for columns that are chosen together."""
    numbers = np.arange(len(names))
    if given is None:
        return numbers
    if isinstance(given, Mapping):
        taken: dict[int, Any] = {}
        for group, members in given.items():
            places = [column_place(key, names, f"feature_groups[{group!r}]") for key in members]
            twice = next((place for place in places if place in taken), None)
            if twice is not None:
                raise ValueError(
                    f"feature_groups puts column {names[twice]!r} in {taken[twice]!r} and in {group!r}; a column may "
                    "be in one group only. Take it out of one of them."
                )
            taken |= dict.fromkeys(places, group)
            if places:
                numbers[places] = places[0]
        return numbers
    if isinstance(given, str) or np.ndim(given) != 1 or len(given) != len(names):
        raise ValueError(
            f"feature_groups must be a dict of group: columns, or one name for each of the {len(names)} columns (None "
            f"for a column that stands alone); got {type(given).__name__} of shape {np.shape(given)}."
        )
    first: dict[Any, int] = {}
    for place, group in enumerate(given):
        alone = group is None or (isinstance(group, float) and group != group)
        numbers[place] = place if alone else first.setdefault(group, place)
    return numbers


# ---------------------------------------------------------------- sparse matrices


def read_sparse(estimator: Any, X: Any, request: Request) -> Data:
    """A sparse matrix of numbers, all of them known."""
    X = validate_data(estimator, X, accept_sparse="csc", ensure_min_samples=2, **NUMBERS)
    names = estimator._names()
    n, p = X.shape
    kinds = kinds_by_column(request.metric, names)
    other = next((a for a in range(p) if kinds[a] not in ("auto", "euclidean")), None)
    if other is not None:
        raise ValueError(
            f'A sparse matrix is compared by metric="euclidean"; column {names[other]!r} asks for {kinds[other]!r}. '
            "Use X.toarray() for the other metrics."
        )
    check_all_known(X.data)
    check_count("n_clusters", request.n_clusters, 2, n, f"X has n_samples={n} rows.")
    groups = group_numbers(request.feature_groups, names)
    usable = np.zeros(p, bool)
    usable[varying(X)] = True
    order = sparse_arrangement(X, keep_out(names, "columns", ~usable, np.zeros(p, bool)))
    if order.distinct_items < request.n_clusters:
        raise few_distinct(order.distinct_items, request.n_clusters)
    source = SparseSource(X, order.items, order.columns, request.standardize, groups)
    return Data(source, TableForm((Column("euclidean"),) * p), n, p, np.unique(groups).size)


# ---------------------------------------------------------------- precomputed dissimilarities


class MatrixForm(NamedTuple):
    """Precomputed matrices; new items come with their dissimilarities to those of `fit`."""

    items: Subset
    n_matrices: int

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        cross = check_cross(X, self.n_matrices, self.items.size, columns)
        return [matrix[:, self.items] for matrix in cross]

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        return CrossMeasure.make

    def centres(self, source: Any, labels: Any, k: int) -> None:
        return None


def read_matrices(estimator: Any, X: Any, request: Request) -> Data:
    """p matrices n x n: an array (p, n, n), in memory or in a file, a list, or a function of the matrix number."""
    matrices, seen, most = check_matrices(X)
    n, p = matrices.n_items, matrices.count
    estimator.n_features_in_ = p
    check_count("n_clusters", request.n_clusters, 2, n, f"The matrices have {n} rows.")
    groups = group_numbers(request.feature_groups, estimator._names())
    usable = usable_matrices(seen, most, estimator._names())
    items, order = matrix_arrangement(matrices)
    source = MatrixSource(matrices, groups, items, order[usable[order]], request.standardize)
    return Data(source, MatrixForm(items, p), n, p, np.unique(groups).size)
