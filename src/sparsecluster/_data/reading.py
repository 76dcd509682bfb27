"""From what the user gives to what the search reads: tables, sparse matrices, precomputed dissimilarities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from .._features.base import Floats, Subset, Table
from .._features.matrices import matrix_arrangement, with_marked_diagonal
from .._features.sparse import SparseSource, varying
from .arrange import Arrangement, arrangement
from .arrange_sparse import sparse_arrangement
from .centers import centers, sparse_means
from .checks import (
    NAMES_SHOWN,
    and_more,
    check_all_known,
    check_count,
    check_cross,
    check_distinct,
    check_distinct_samples,
    check_finite,
    check_matrices,
    check_samples_seen,
    check_some_seen,
    few_distinct,
    keep_out,
    says_nothing,
    shape_of,
    usable_columns,
    usable_matrices,
)
from .columns import Column, ColumnTable
from .functions import all_pairs
from .profiles import CrossMeasure, FunctionMeasure, LevelMeasure, Measure, NumberMeasure, RunMeasure
from .source import MatrixSource, SampleSource, TableSource
from .tables import (
    Metric,
    as_frame,
    column_place,
    kinds_by_column,
    needs_reading,
    read_again,
    read_columns,
    read_numbers,
    recode,
    words_in,
)

# Samples on which two functions are compared.
ITEMS_COMPARED = 10
# What scikit-learn is to make of a table of numbers. Gaps are ours to deal with, and so is the message about infinity.
NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
MEASURES: dict[str, Any] = {"sqeuclidean": NumberMeasure, "hamming": LevelMeasure, "manhattan": RunMeasure}


class Form(Protocol):
    """How new samples are read, and how their columns are measured."""

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        """What some columns say of new samples."""

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        """How to build the measure of a column from values, labels and k."""

    def centers(self, source: Any, labels: Any, k: int) -> Any:
        """The middle of every column in every cluster; None where that has no meaning."""


class Request(NamedTuple):
    """What is asked of the data besides themselves."""

    metric: Metric
    feature_groups: Any
    n_clusters: int
    standardize: bool


class Data(NamedTuple):
    """What `fit` reads: the source of the features and the form in which new samples will come."""

    source: SampleSource
    form: Form
    n_samples: int
    n_columns: int
    n_features: int


def read(estimator: Any, X: Any, request: Request) -> Data:
    """Check everything about the data, and put samples and columns in the order that their contents decide."""
    if isinstance(request.metric, str) and request.metric == "precomputed":
        return read_matrices(estimator, X, request)
    if scipy.sparse.issparse(X):
        return read_sparse(estimator, X, request)
    return read_table(estimator, X, request)


def refuse_sparse(name: str, X: Any) -> None:
    """The error of a method that takes dense tables only."""
    if scipy.sparse.issparse(X):
        raise TypeError(f"A sparse matrix was passed, but {name} takes dense tables. Use X.toarray().")


def refuse_words(name: str, X: Any) -> None:
    """The error of a method that takes numbers only."""
    frame = as_frame(X)
    columns = words_in(frame) if frame is not None else []
    if columns:
        listed = ", ".join(map(repr, columns[:NAMES_SHOWN])) + and_more(len(columns))
        which = f"Column {listed} holds" if len(columns) == 1 else f"Columns {listed} hold"
        raise ValueError(
            f"{which} no numbers, and {name} takes nothing else. Leave them out, or use SASClustering, which takes "
            "them."
        )


def read_complete(estimator: Any, X: Any, n_clusters: int, standardize: bool) -> Data:
    """A table of numbers without gaps, for methods that can do nothing with others."""
    name = type(estimator).__name__
    refuse_sparse(name, X)
    refuse_words(name, X)
    data = read(estimator, X, Request("sqeuclidean", None, n_clusters, standardize))
    source = data.source
    assert isinstance(source, TableSource)
    gaps = np.flatnonzero(np.isnan(source.table.values).any(axis=0))
    if gaps.size:
        names = estimator._names()
        listed = ", ".join(repr(names[a]) for a in gaps[:NAMES_SHOWN])
        raise ValueError(
            f"Input X contains NaN in {gaps.size} of {data.n_columns} columns: {listed}{and_more(gaps.size)}. {name} "
            "takes numbers without gaps: fill them in first, or use SASClustering or SparseKMeans, which need no "
            "filling in."
        )
    return data


def complete_table(data: Data) -> Floats:
    """The numbers that `read_complete` read, in the order and with the columns that the features have."""
    source = data.source
    assert isinstance(source, TableSource)
    return source.table.values[np.ix_(source.samples, source.columns)].astype(np.float64)


# ---------------------------------------------------------------- tables


class TableForm(NamedTuple):
    """Columns of a table, each read as in `fit`."""

    columns: tuple[Column, ...]
    has_words: bool = False

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        names = estimator._names()
        frame = None if scipy.sparse.issparse(X) else as_frame(X)
        if self.has_words or (needs_reading(X) if frame is None else words_in(frame)):
            if scipy.sparse.issparse(X):
                raise TypeError("X is a sparse matrix, which holds no text; fit had columns with text. Give a table.")
            validate_data(estimator, X, reset=False, skip_check_array=True)
            read = read_again(X, self.columns, names)
            check_finite(np.column_stack([np.zeros(len(X)) if each.dtype == object else each for each in read]), names)
            return [read[a] for a in columns.tolist()]
        X = validate_data(estimator, X, reset=False, accept_sparse="csc", **NUMBERS)
        if scipy.sparse.issparse(X):
            given: Any = X
            check_all_known(given.data)
            return list(recode(given[:, columns].toarray(), [self.columns[a] for a in columns.tolist()]).T)
        check_finite(X, names)
        return list(recode(X[:, columns], [self.columns[a] for a in columns.tolist()]).T)

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        of = self.columns[column]
        return MEASURES[of.kind].make if isinstance(of.kind, str) else FunctionMeasure(of.kind, of, (), ()).make

    def centers(self, source: Any, labels: Any, k: int) -> Any:
        if isinstance(source, SparseSource):
            return sparse_means(source.values, labels, k)
        return centers(source.table, labels, k)


def read_table(estimator: Any, X: Any, request: Request) -> Data:
    """A data frame or an array."""
    frame = as_frame(X)
    words = needs_reading(X) if frame is None else bool(words_in(frame))
    if words:
        X = np.asarray(X, dtype=object) if frame is None else X
        check_count("The number of rows of X", len(X), 2)
        validate_data(estimator, X, skip_check_array=True)
    else:
        if frame is not None and not frame.columns:
            raise ValueError("X has no columns, so there is nothing to group by. Check the input.")
        X = validate_data(estimator, X, ensure_min_samples=2, order=None, **NUMBERS)
    names = estimator._names()
    # Names as the user has them: those that are not text are no names to scikit-learn.
    own_names = names if frame is None else list(getattr(frame.to_native(), "columns", names))
    keys = own_names if all(isinstance(name, str | int) for name in own_names) else names
    table = (read_columns if words else read_numbers)(X, request.metric, keys)
    n, p = table.values.shape
    check_finite(table.values, names)
    check_count("n_clusters", request.n_clusters, 2, n, f"X has n_samples={n} rows.")
    groups = None if request.feature_groups is None else group_numbers(request.feature_groups, keys)
    table, has_gaps = with_one_kind_of_gap(table)
    alike = says_nothing(table, names)
    usable = usable_columns(table.values, names, request.n_clusters, has_gaps, alike)
    if has_gaps:
        check_some_seen(table.values[:, usable])
        has_gaps = bool(np.isnan(table.values[:, usable]).any())
    order = arrangement(table.values, usable, np.array([column.kind == "hamming" for column in table.columns]))
    if order.distinct_samples < request.n_clusters:
        check_distinct(table.values, request.n_clusters)
    columns = by_kind(table, order)
    source = TableSource(table, groups, order.samples, columns, request.standardize, has_gaps)
    return Data(source, TableForm(table.columns, words), n, p, p if groups is None else np.unique(groups).size)


def by_kind(table: ColumnTable, order: Arrangement) -> Subset:
    """The columns in their order, kind after kind: those of different kinds may hold the same numbers.

    Two functions are told apart by what they make of the first samples.
    """

    def key(a: int) -> tuple[str, bytes]:
        column = table.columns[a]
        if isinstance(column.kind, str):
            return column.kind, b""
        values = table.values[order.samples, a]
        some = column.decode(values[~np.isnan(values)][:ITEMS_COMPARED])
        return "", all_pairs(column.kind, some, some).tobytes()

    if len({column.kind for column in table.columns}) == 1:
        return order.columns
    return np.array(sorted(order.columns.tolist(), key=key), dtype=np.intp)


def with_one_kind_of_gap(table: Any) -> tuple[Any, bool]:
    """The table with one bit pattern for all NaN, so that equal rows look equal; and whether there are any."""
    # A sum is NaN where a value is, and it costs less than looking at each.
    if not np.isnan(table.values.sum(axis=0, dtype=np.float64)).any():
        return table, False
    return type(table)(np.where(np.isnan(table.values), np.nan, table.values), table.columns), True


def group_numbers(given: Any, names: Sequence[Any]) -> Subset:
    """A number for every column, the same for columns that are chosen together."""
    numbers = np.arange(len(names))
    if given is None:
        return numbers
    if isinstance(given, Mapping):
        taken: dict[int, Any] = {}
        for group, members in given.items():
            if isinstance(members, str) or not isinstance(members, Iterable):
                raise ValueError(
                    f"feature_groups[{group!r}] must be a list of columns; got {members!r}. Put a single one in a list."
                )
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
    if isinstance(given, str) or len(shape_of(given)) != 1 or len(given) != len(names):
        raise ValueError(
            f"feature_groups must be a dict of group: columns, or one name for each of the {len(names)} columns (None "
            f"for a column that stands alone); got {type(given).__name__} of shape {shape_of(given)}."
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
    other = next((a for a in range(p) if kinds[a] not in ("auto", "sqeuclidean")), None)
    if other is not None:
        raise ValueError(
            f'A sparse matrix is compared by metric="sqeuclidean"; column {names[other]!r} asks for {kinds[other]!r}. '
            "Use X.toarray() for the other metrics."
        )
    check_all_known(X.data)
    check_count("n_clusters", request.n_clusters, 2, n, f"X has n_samples={n} rows.")
    groups = group_numbers(request.feature_groups, names)
    usable = np.zeros(p, bool)
    usable[varying(X)] = True
    order = sparse_arrangement(X, keep_out(names, ("column", "columns"), ~usable, np.zeros(p, bool)))
    if order.distinct_samples < request.n_clusters:
        raise few_distinct(order.distinct_samples, request.n_clusters)
    source = SparseSource(X, order.samples, order.columns, request.standardize, groups)
    return Data(source, TableForm((Column("sqeuclidean"),) * p), n, p, np.unique(groups).size)


# ---------------------------------------------------------------- precomputed dissimilarities


def known_pairs(matrix: Table) -> Table:
    """A matrix of fit itself without the diagonal of samples that it does not see; any other as it is."""
    is_square = matrix.shape[0] == matrix.shape[1] and not np.nan_to_num(np.diag(matrix)).any()
    return with_marked_diagonal(matrix) if is_square else matrix


class MatrixForm(NamedTuple):
    """Precomputed matrices; new samples come with their dissimilarities to those of `fit`."""

    samples: Subset
    n_matrices: int

    def new_values(self, estimator: Any, X: Any, columns: Subset) -> list[Any]:
        cross = check_cross(X, self.n_matrices, self.samples.size, columns)
        # A sample of fit is no new sample: that it is like itself says nothing.
        return [known_pairs(matrix)[:, self.samples] for matrix in cross]

    def measure(self, column: int) -> Callable[[Any, Any, int], Measure]:
        return CrossMeasure.make

    def centers(self, source: Any, labels: Any, k: int) -> None:
        return None


def read_matrices(estimator: Any, X: Any, request: Request) -> Data:
    """p matrices n x n: an array (p, n, n), in memory or in a file, a list, or a function of the matrix number."""
    matrices, seen, most = check_matrices(X)
    n, p = matrices.n_samples, matrices.count
    estimator.n_features_in_ = p
    # Matrices have no names; those of an earlier fit must not stay.
    vars(estimator).pop("feature_names_in_", None)
    check_count("n_clusters", request.n_clusters, 2, n, f"The matrices have {n} rows.")
    groups = group_numbers(request.feature_groups, estimator._names())
    usable = usable_matrices(seen, most, estimator._names())
    check_samples_seen(matrices, usable)
    order = matrix_arrangement(matrices)
    if order.distinct_samples < request.n_clusters:
        check_distinct_samples(matrices, request.n_clusters)
    source = MatrixSource(matrices, groups, order.samples, order.columns[usable[order.columns]], request.standardize)
    return Data(source, MatrixForm(order.samples, p), n, p, np.unique(groups).size)
