"""Reading: turns the user's input into a `Reading`, which holds all that fitting and later inspection need.

Reading depends neither on the estimator nor on the number of clusters, so that several of both can share one reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._features.matrices import with_marked_diagonal
from .._utils.arrays import Floats, Subset, Table
from .._utils.checks import check_count
from .._utils.text import brief
from .arrange import Arrangement, arrangement, matrix_arrangement
from .arrange_sparse import sparse_arrangement
from .check_matrices import check_cross, check_matrices, check_samples_observed, usable_matrices
from .checks import (
    Extremes,
    check_finite,
    check_stored,
    extremes,
    left_out,
    observed_counts,
    observed_enough,
    precise_enough,
    refuse_blank,
)
from .checks import too_few_distinct as too_few
from .content import Content, contents
from .dates import OF_DATES
from .kinds import Dissimilarity, SquaredEuclidean
from .kinds.dissimilarity import all_same, distinct_kinds
from .metric import Metric, asked_by_column, group_numbers, kind_for
from .names import DefaultNames
from .source import ColumnTable, MatrixSource, SampleSource, TableSource, blank_rows
from .source_sparse import SparseSource, varying
from .whole_numbers import levels_at_once


class Given(NamedTuple):
    """The user's input after a check of its form: numbers as an array or a sparse matrix, other tables as they are.

    Attributes
    ----------
    X : ndarray, sparse matrix or data frame
        The data.
    has_words : bool
        Whether some columns are not numeric, so that the columns are read one by one.
    names : sequence of str
        The names of the columns.
    keys : sequence
        The names of the columns as the user has them, by which parameters may refer to them.
    has_names : bool
        Whether `names` come from the user.
    """

    X: Any
    has_words: bool
    names: Sequence[str]
    keys: Sequence[Any]
    has_names: bool = False


class Request(NamedTuple):
    """How to read the data; see the parameters of the same names in `SASClustering`."""

    metric: Metric = "auto"
    feature_groups: Any = None
    standardize: bool = True


class Reader(Protocol):
    """Reads new samples in the same way; the part of a reading that a fitted estimator keeps."""

    def new_values(self, given: Any, columns: Subset) -> list[Any]:
        """The values of new samples in the given columns, in the form that the measures of these columns take."""

    def for_samples(self, samples: Subset) -> Reader:
        """The reader for clusters of these samples only."""

    @property
    def can_be_saved(self) -> bool:
        """Whether the reader can be stored in a file."""


@dataclass(frozen=True)
class Reading:
    """The user's data, read once.

    Attributes
    ----------
    names : sequence of str
        The names of the columns (or matrices).
    source : SampleSource
        The data with the samples and columns in the order of the search, and how each column compares samples.
    reader : Reader
        Reads new samples in the same way.
    notes : tuple of str
        Decisions made during reading, such as columns that are left out; one sentence each.
    n_samples, n_columns, n_features : int
        The size of the data; a feature may be a group of several columns.
    n_surely_distinct : int
        A lower bound on the number of distinct samples.
    request : Request
        How the data were read.
    has_names : bool
        Whether the names come from the user.
    """

    names: Sequence[str]
    source: SampleSource
    reader: Reader
    notes: tuple[str, ...]
    n_samples: int
    n_columns: int
    n_features: int
    n_surely_distinct: int
    request: Request
    has_names: bool = False

    @property
    def n_used(self) -> int:
        """The number of samples that are not left out."""
        return self.source.samples.size

    @property
    def n_usable(self) -> int:
        """The number of features that are not left out."""
        return int(self.source.owners.max()) + 1

    def of_samples(self, source: SampleSource) -> Reading:
        """The same reading with some of its samples only, as `source.take` returns them."""
        return replace(self, source=source, reader=self.reader.for_samples(source.samples))

    def standardized(self, standardize: bool) -> Reading:
        """The same reading with features that are standardized or not."""
        source: Any = self.source
        return replace(
            self,
            source=replace(source, standardize=standardize),
            request=self.request._replace(standardize=standardize),
        )

    def for_clusters(self, k: int) -> Reading:
        """The same reading without the columns that are observed in too few samples for k clusters.

        Raises ValueError if there are fewer than k distinct samples, or a sample has no observed value left.
        """
        n, source = self.n_samples, self.source
        check_count("n_clusters", k, 2, n, f"X has n_samples={n} rows.")
        if self.n_surely_distinct < k:
            distinct = source.count_distinct()
            if distinct < k:
                raise too_few(distinct, k)
        seen = source.observed()
        if seen is None or observed_enough(seen, n, k).all():
            return self
        rare = np.zeros(self.n_columns, bool)
        rare[source.columns] = ~observed_enough(seen, n, k)
        _, notes = left_out(self.names, COLUMNS, self._unused() & ~rare, rare)
        part: Any = replace(source, columns=source.columns[~rare[source.columns]])  # type: ignore[type-var]
        refuse_blank(part.blank(), n, BLANK)
        return replace(self, source=part, notes=(*self.notes, *notes[-1:]))

    def _unused(self) -> Any:
        unused = np.ones(self.n_columns, bool)
        unused[self.source.columns] = False
        return unused


COLUMNS, MATRICES = ("column", "columns"), ("matrix", "matrices")
BLANK = "rows have no value in any usable column"


# ---------------------------------------------------------------- tables


class TableReader(NamedTuple):
    """Columns of a table, each read as in `fit`."""

    names: Sequence[str]
    kinds: tuple[Dissimilarity, ...]
    has_words: bool = False

    def new_values(self, given: Given, columns: Subset) -> list[Any]:
        if given.has_words:
            read = [
                kind.encode_new(content, name)
                for kind, content, name in zip(self.kinds, self.contents(given.X), self.names, strict=True)
            ]
            numbers = [np.zeros(len(each)) if each.dtype == object else each for each in read]
            check_finite(np.column_stack(numbers), self.names)
            return [read[a] for a in columns.tolist()]
        numbers = self.encode(given)[:, columns]
        return list(np.asarray(numbers.toarray() if hasattr(numbers, "tocsc") else numbers).T)

    def for_samples(self, samples: Subset) -> TableReader:
        return self

    def encode(self, given: Given) -> Any:
        """All columns as codes, of shape (n_samples, n_columns); a sparse matrix is returned as it is."""
        if hasattr(given.X, "tocsc"):
            check_stored(given.X, self.names)
            return given.X
        codes: Table = (
            encoded(self.contents(given.X), self.kinds, self.names)
            if given.has_words
            else recoded(given.X, self.kinds, self.names)
        )
        check_finite(codes, self.names)
        return codes

    def contents(self, X: Any) -> list[Content]:
        """The content of each column of new samples; text in columns that held dates is read as dates."""
        found = zip(contents(X, self.names), self.kinds, self.names, strict=True)
        return [content.as_dates(name) if kind.meaning in OF_DATES else content for content, kind, name in found]

    @property
    def can_be_saved(self) -> bool:
        return all(kind.can_be_saved for kind in self.kinds)


def read_table(given: Given, request: Request) -> Reading:
    """Read a data frame or an array."""
    table = read_columns(given, request.metric)
    n, p = table.values.shape
    names, known = given.names, extremes(table.values)
    check_finite(table.values, names, known)
    groups = None if request.feature_groups is None else group_numbers(request.feature_groups, given.keys)
    table, has_missing = replace(table, values=precise_enough(table.values, known)), known.has_missing
    if has_missing:
        table = with_one_nan(table)
    usable, notes = usable_columns(table, names, known)
    if has_missing:
        refuse_blank(blank_rows(table.values, usable), n, BLANK)
        has_missing = bool(np.isnan(table.values[:, usable]).any())
    order = arrangement(table.values, usable, levels_of(table))
    source = TableSource(table, groups, order.samples, by_kind(table, order), request.standardize, has_missing)
    reader = TableReader(names, table.kinds, given.has_words)
    n_features = p if groups is None else np.unique(groups).size
    return Reading(names, source, reader, notes, n, p, n_features, order.distinct_samples, request, given.has_names)


def read_columns(given: Given, metric: Metric) -> ColumnTable:
    """The columns of a table as codes, and the meaning of the codes."""
    asked = asked_by_column(metric, given.keys)
    names = given.keys
    if given.has_words:
        columns = contents(given.X, names)
        kinds = tuple(map(kind_for, asked, columns, names))
        return ColumnTable(encoded(columns, kinds, names), kinds)
    if all_same(asked) and (found := levels_at_once(given.X, asked[0])) is not None:
        return found
    # Columns with the same metric share one object if it does not depend on their values: there may be very many.
    shared: dict[int, Dissimilarity] = {}

    def kind_of(a: int) -> Dissimilarity:
        asks = asked[a]
        if id(asks) in shared:
            return shared[id(asks)]
        content = Content(np.asarray(given.X[:, a], dtype=np.float64))
        own = kind_for("sqeuclidean" if asks == "auto" else asks, content, names[a])
        if own.keeps_numbers:
            shared[id(asks)] = own
        return own

    first, is_same = kind_of(0), all_same(asked)
    made = (first,) * len(asked) if shared and is_same else tuple(map(kind_of, range(len(asked))))
    return ColumnTable(recoded(given.X, made, names), made)


def levels_of(table: ColumnTable) -> npt.NDArray[np.bool_] | None:
    """Which columns hold codes that are only names of levels; None if there are none."""
    if not any(kind.codes_are_names for kind in table.distinct_kinds):
        return None
    return np.array([kind.codes_are_names for kind in table.kinds])


def encoded(columns: Sequence[Content], kinds: Sequence[Dissimilarity], names: Sequence[str]) -> Floats:
    """Columns of any content as codes, of shape (n_samples, n_columns)."""
    first = kinds[0].encode(columns[0], names[0])
    values = np.empty((first.size, len(columns)))
    for a, (kind, content, name) in enumerate(zip(kinds, columns, names, strict=True)):
        values[:, a] = first if a == 0 else kind.encode(content, name)
    return values


def recoded(X: Table, kinds: Sequence[Dissimilarity], names: Sequence[str]) -> Table:
    """Columns of numbers as codes, of shape (n_samples, n_columns); X itself if numbers are their own codes."""
    if all(kind.keeps_numbers for kind in distinct_kinds(kinds)):
        return X
    columns = [Content(np.asarray(column, dtype=np.float64)) for column in X.T]
    return encoded(columns, kinds, names)


def with_one_nan(table: ColumnTable) -> ColumnTable:
    """The table with one bit pattern for all NaN, so that equal rows have equal bits."""
    return replace(table, values=np.where(np.isnan(table.values), np.nan, table.values))


def usable_columns(table: ColumnTable, names: Sequence[str], known: Extremes) -> tuple[Subset, tuple[str, ...]]:
    """Columns that vary and are observed often enough, and notes about the others."""
    values, constant, enough = table.values, ~known.varies, np.ones(table.values.shape[1], bool)
    if known.has_missing:
        enough = observed_enough(observed_counts(values), len(values))
    tried = any(kind.is_tried for kind in table.distinct_kinds)
    for a, kind in enumerate(table.kinds if tried else ()):
        if kind.is_tried and not kind.tells_apart(values[:, a], names[a]):
            constant[a] = True
    return left_out(names, COLUMNS, enough & constant, ~enough)


def by_kind(table: ColumnTable, order: Arrangement) -> Subset:
    """The columns in their order, sorted by kind first, because columns of different kinds may hold the same codes."""
    if len({kind.comparison for kind in table.distinct_kinds}) == 1:
        return order.columns

    def key(a: int) -> tuple[str, bytes]:
        return table.kinds[a].sort_key(table.values[order.samples, a])

    return np.array(sorted(order.columns.tolist(), key=key), dtype=np.intp)


def read_sparse(given: Given, request: Request) -> Reading:
    """Read a sparse matrix of numbers without missing values."""
    X, names = given.X, given.names
    n, p = X.shape
    asked = asked_by_column(request.metric, given.keys)
    other = next((a for a in range(p) if asked[a] not in ("auto", "sqeuclidean")), None)
    if other is not None:
        raise ValueError(
            f'The columns of a sparse matrix are compared by metric="sqeuclidean"; column {brief(names[other])} asks '
            f"for {brief(asked[other])}. Use X.toarray() for other metrics."
        )
    check_stored(X, names)
    groups = group_numbers(request.feature_groups, given.keys)
    constant = np.ones(p, bool)
    constant[varying(X)] = False
    usable, notes = left_out(names, COLUMNS, constant, np.zeros(p, bool))
    order = sparse_arrangement(X, usable)
    source = SparseSource(X, order.samples, order.columns, request.standardize, groups)
    reader = TableReader(names, (SquaredEuclidean(),) * p)
    n_features = np.unique(groups).size
    return Reading(names, source, reader, notes, n, p, n_features, order.distinct_samples, request, given.has_names)


# ---------------------------------------------------------------- precomputed dissimilarities


@dataclass(frozen=True)
class MatrixReader:
    """Precomputed matrices; new samples are given by their dissimilarities to the samples of `fit`."""

    samples: Subset
    n_matrices: int
    n_samples: int

    @property
    def can_be_saved(self) -> bool:
        return False

    def for_samples(self, samples: Subset) -> MatrixReader:
        return replace(self, samples=samples)

    def new_values(self, given: Any, columns: Subset) -> list[Any]:
        cross = check_cross(given, self.n_matrices, self.n_samples, columns)
        # If the matrices of fit are passed again, a sample without observed pairs must not count as near to itself.
        return [known_pairs(matrix)[:, self.samples] for matrix in cross]


def known_pairs(matrix: Table) -> Table:
    """A square matrix with zeros on the diagonal, as in fit, gets NaN there for samples without observed pairs.

    Any other matrix is returned as it is.
    """
    is_square = matrix.shape[0] == matrix.shape[1] and not np.nan_to_num(np.diag(matrix)).any()
    return with_marked_diagonal(matrix) if is_square else matrix


def read_matrices(X: Any, request: Request) -> Reading:
    """Read p matrices of shape (n, n): an array of shape (p, n, n), a list of arrays, or a function of the number."""
    matrices, seen, most = check_matrices(X)
    n, p = matrices.n_samples, matrices.count
    names = DefaultNames(p)
    groups = group_numbers(request.feature_groups, names)
    usable, notes = usable_matrices(seen, most, names)
    check_samples_observed(matrices, usable)
    order = matrix_arrangement(matrices)
    source = MatrixSource(matrices, groups, order.samples, order.columns[usable[order.columns]], request.standardize)
    reader = MatrixReader(order.samples, p, n)
    n_features = np.unique(groups).size
    return Reading(names, source, reader, notes, n, p, n_features, order.distinct_samples, request)
