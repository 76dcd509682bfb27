"""One small case of features of every kind, with its dissimilarities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sparsecluster._clusterers.registry import make_clusterer
from sparsecluster._data.check_matrices import check_matrices
from sparsecluster._data.kinds import Dissimilarity, Distance, Function, Hamming, Ordinal, SquaredEuclidean
from sparsecluster._data.reading import Given, read_columns
from sparsecluster._data.source import ColumnTable, MatrixSource, TableSource
from sparsecluster._data.source_sparse import SparseSource
from sparsecluster._search.climb import Problem
from tests import naive
from tests.helpers.sparse import random_sparse

N, P, K = 14, 8, 3
SUBSETS = [[2], [0, 4], [1, 2, 3, 5, 7], list(range(P))]


class Case(NamedTuple):
    """Features as the search gets them; the dissimilarity of every column, and the group that it belongs to."""

    source: Any
    deltas: list[np.ndarray]
    groups: np.ndarray

    def features(self, standardize=True):
        return replace(self.source, standardize=standardize).features()

    def problem(self, k):
        features = self.features()
        return Problem(features, make_clusterer("auto", features.has_rows), k)

    @property
    def owners(self):
        """The feature of every column: groups numbered as the first of each comes."""
        names = list(dict.fromkeys(self.groups.tolist()))
        return np.array([names.index(group) for group in self.groups])

    @property
    def members(self):
        """Dissimilarities of the members of every feature."""
        return [[self.deltas[j] for j in np.flatnonzero(self.owners == a)] for a in range(max(self.owners) + 1)]

    @property
    def parts(self):
        """What every column is of its feature."""
        return 1 / np.bincount(self.owners)[self.owners]

    def chosen(self, subset):
        """Places of the columns of some features."""
        return np.flatnonzero(np.isin(self.owners, subset))

    def weights(self, features):
        """What dissimilarities are multiplied by, so that each column has the total that the features say."""
        return features.total / np.array(list(map(naive.delta_total, self.deltas)))


def root(x, y):
    """A function that takes arrays."""
    return np.sqrt(np.abs(x - y))


def steps(x, y):
    """A function that takes two numbers, and is no distance."""
    return 0.0 if x == y else 0.1 + min((x - y) ** 2, 1.0)


DELTAS = {
    "sqeuclidean": lambda x, y: (x - y) ** 2,
    "manhattan": lambda x, y: abs(x - y),
    "hamming": lambda x, y: x != y,
}


def numbers(rng, n, p):
    """Gaussian, or one time in three whole numbers with ties."""
    return naive.random_table(rng, n, p, whole=rng.random() < 1 / 3)


def codes(rng, n, p):
    """Codes of two to five levels, in turn."""
    return np.column_stack([rng.permutation([0, 1, *rng.integers(2 + a % 4, size=n - 2)]) for a in range(p)]) + 0.0


def with_missing(rng, values):
    """A quarter of the values missing in every column but the first; all columns vary, all samples have some value."""
    n, p = values.shape
    while True:
        partial = values.copy()
        for a in range(1, p):
            partial[rng.permutation(n)[: max(1, n // 4)], a] = np.nan
        if np.all(np.nanmax(partial, axis=0) > np.nanmin(partial, axis=0)) and not np.isnan(partial).all(axis=1).any():
            return partial


def as_given(rng, values):
    return values


def kind_of(word, column):
    """The dissimilarity of a column of numbers or codes, by its name or function, or as it is."""
    if isinstance(word, Dissimilarity):
        return word
    if word == "hamming":
        return Hamming(tuple(range(int(np.nanmax(column)) + 1)))
    return {"sqeuclidean": SquaredEuclidean(), "manhattan": Distance()}.get(word) or Function(word)


def kind_delta(word):
    """A function of two values, by the name of a dissimilarity, or as it is."""
    if isinstance(word, Function):
        return word.function
    name = "manhattan" if isinstance(word, Ordinal) else getattr(word, "name", word)
    return DELTAS.get(name, word)


def read_numbers(values, metric):
    """A table of numbers as it is read."""
    names = [f"x{a}" for a in range(values.shape[1])]
    return read_columns(Given(values, False, names, names), metric)


def table_case(values, kinds, groups=None):
    n, p = values.shape
    groups = np.arange(p) if groups is None else groups
    table = ColumnTable(values, tuple(map(kind_of, kinds, values.T)))
    source = TableSource(table, groups, np.arange(n), np.arange(p), True, bool(np.isnan(values).any()))
    deltas = [naive.column_delta(x, kind_delta(kind)) for x, kind in zip(values.T, kinds, strict=True)]
    return Case(source, deltas, groups)


def columns(kind, values=numbers, spoil=as_given):
    return lambda rng, n, p: table_case(spoil(rng, values(rng, n, p)), [kind] * p)


def ordinal(rng, n, p):
    """Values far from evenly spaced, of which only the ranks count."""
    values = 10.0 ** codes(rng, n, p)
    ranks = np.column_stack([np.searchsorted(np.unique(x), x) for x in values.T])
    case = table_case(ranks.astype(float), ["manhattan"] * p)
    return case._replace(source=replace(case.source, table=read_numbers(values, "ordinal")))


def functions(spoil=as_given):
    return lambda rng, n, p: table_case(spoil(rng, numbers(rng, n, p)), [(root, steps)[a % 2] for a in range(p)])


MIXED = ["sqeuclidean", "hamming", "manhattan", root]


def mixed_columns(rng, n, p, spoil):
    kinds = [MIXED[a % 4] for a in range(p)]
    tables = {kind: (codes if kind == "hamming" else numbers)(rng, n, p) for kind in MIXED}
    return spoil(rng, np.column_stack([tables[kind][:, a] for a, kind in enumerate(kinds)])), kinds


def mixed(spoil=as_given):
    return lambda rng, n, p: table_case(*mixed_columns(rng, n, p, spoil))


def group_names(rng, p):
    """Features of one, two and three columns in turn, their columns anywhere."""
    return rng.permutation(np.repeat(np.arange(p), 1 + np.arange(p) % 3))


def number_groups(rng, n, p):
    groups = group_names(rng, p)
    return table_case(numbers(rng, n, groups.size), ["sqeuclidean"] * groups.size, groups)


def mixed_groups(spoil=as_given):
    def make(rng, n, p):
        groups = group_names(rng, p)
        return table_case(*mixed_columns(rng, n, groups.size, spoil), groups)

    return make


def matrix_case(given, deltas=None, groups=None):
    """Matrices in any form; `deltas` where they are not given as they are."""
    matrices = check_matrices(given)[0]
    places, samples = np.arange(matrices.count), np.arange(matrices.n_samples)
    groups = places if groups is None else groups
    return Case(
        MatrixSource(matrices, groups, samples, places, True), list(given if deltas is None else deltas), groups
    )


def random_matrix(rng, n):
    """A dissimilarity that is no distance: no inequality of the triangle."""
    lower = np.tril(rng.random((n, n)), -1)
    return lower + lower.T


def matrices(rng, n, p):
    return matrix_case([random_matrix(rng, n) for _ in range(p)])


def matrices_without_samples(rng, n, p):
    """A quarter of the samples not seen in every matrix but the first."""
    given = [random_matrix(rng, n) for _ in range(p)]
    for matrix in given[1:]:
        unseen = rng.permutation(n)[: max(1, n // 4)]
        matrix[unseen] = matrix[:, unseen] = np.nan
    # A user may well have zeros on the diagonal of samples that are not seen.
    return matrix_case([np.where(np.eye(n), 0.0, matrix) for matrix in given], given)


def matrices_without_pairs(rng, n, p):
    """A fifth of the pairs not seen in every matrix but the first."""
    given = [random_matrix(rng, n) for _ in range(p)]
    for matrix in given[1:]:
        unseen = np.tril(rng.random((n, n)) < 0.2, -1)
        matrix[unseen | unseen.T] = np.nan
    return matrix_case(given)


def sparse_columns(rng, n, p):
    table = random_sparse(rng, n, p)
    source = SparseSource(sparse.csc_array(table), np.arange(n), np.arange(p), True, np.arange(p))
    return table_case(table, ["sqeuclidean"] * p)._replace(source=source)


KINDS: dict[str, Callable[[np.random.Generator, int, int], Case]] = {
    "numbers": columns("sqeuclidean"),
    "numbers with missing values": columns("sqeuclidean", spoil=with_missing),
    "categories": columns("hamming", codes),
    "categories with missing values": columns("hamming", codes, with_missing),
    "distances": columns("manhattan"),
    "distances with missing values": columns("manhattan", spoil=with_missing),
    "ordinal": ordinal,
    "functions": functions(),
    "functions with missing values": functions(with_missing),
    "matrices": matrices,
    "matrices without samples": matrices_without_samples,
    "matrices without pairs": matrices_without_pairs,
    "mixed": mixed(),
    "mixed with missing values": mixed(with_missing),
    "groups of numbers": number_groups,
    "groups of kinds": mixed_groups(),
    "groups of kinds with missing values": mixed_groups(with_missing),
    "sparse": sparse_columns,
}
INCOMPLETE = [name for name in KINDS if " with missing values" in name or " without " in name]
GROUPS = [name for name in KINDS if name.startswith("groups")]
COORDINATES = [name for name in KINDS if name.startswith(("numbers", "categories", "groups of numbers", "sparse"))]
EXACT_ALONE = [name for name in KINDS if name.startswith(("numbers", "cat", "dist", "ordinal", "sparse"))]
# Where what the clusterer lowers is all of what it is given: pairs with missing values count as if all were seen.
CLIMBED = [name for name in KINDS if name not in INCOMPLETE or name in COORDINATES]


def others(names):
    return [name for name in KINDS if name not in names]


def make(kind, n=N, p=P, seed=0):
    return KINDS[kind](np.random.default_rng(seed), n, p)


def some_labels(n=N, k=K, seed=1):
    return naive.random_labels(np.random.default_rng(seed), n, k)


def apart_of(similarity):
    """Dissimilarities D_ij = A_ii + A_jj - 2 A_ij."""
    own = np.diag(similarity)
    return own[:, None] + own - 2 * similarity
