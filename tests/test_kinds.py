"""Whatever kind a feature is of, its scores, totals, pairs and rows follow from its dissimilarities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from sparsecluster._clusterers.registry import make_clusterer
from sparsecluster._data.checks import check_matrices
from sparsecluster._data.columns import Column, ColumnTable
from sparsecluster._data.source import MatrixSource, TableSource
from sparsecluster._data.tables import read_numbers
from sparsecluster._features.base import Rows, SparseRows
from sparsecluster._features.sparse import SparseSource
from sparsecluster._kernels.gaps import improve_seen
from sparsecluster._search.climb import Problem
from tests import naive
from tests.sparse_tables import coordinates, random_sparse

N, P, K = 14, 8, 3
SUBSETS = [[2], [0, 4], [1, 2, 3, 5, 7], list(range(P))]


# ---------------------------------------------------------------- one case of every kind


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


def table_case(values, kinds, groups=None):
    n, p = values.shape
    groups = np.arange(p) if groups is None else groups
    table = ColumnTable(values, tuple(map(Column, kinds)))
    source = TableSource(table, groups, np.arange(n), np.arange(p), True, bool(np.isnan(values).any()))
    deltas = [naive.column_delta(x, DELTAS.get(kind, kind)) for x, kind in zip(values.T, kinds, strict=True)]
    return Case(source, deltas, groups)


def columns(kind, values=numbers, spoil=as_given):
    return lambda rng, n, p: table_case(spoil(rng, values(rng, n, p)), [kind] * p)


def ordinal(rng, n, p):
    """Values far from evenly spaced, of which only the ranks count."""
    values = 10.0 ** codes(rng, n, p)
    ranks = np.column_stack([np.searchsorted(np.unique(x), x) for x in values.T])
    case = table_case(ranks.astype(float), ["manhattan"] * p)
    return case._replace(source=replace(case.source, table=read_numbers(values, "ordinal", list(map(str, range(p))))))


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


# ---------------------------------------------------------------- scores and totals


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_sums_over_the_pairs_seen(kind, standardize):
    case = make(kind)
    features = case.features(standardize)
    assert (features.n_samples, features.n_features) == (N, P)
    for labels in (some_labels(), np.arange(N, dtype=np.int32) % 2, np.zeros(N, np.int32)):
        expected = naive.feature_scores(case.members, labels)
        np.testing.assert_allclose(features.scores(labels, K), expected, rtol=0, atol=1e-13)


def two_valued(delta):
    """Whether a dissimilarity only tells alike from unlike."""
    return np.unique(delta[delta > 0]).size == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_total_is_what_is_seen_of_a_feature(kind):
    case = make(kind)
    shares = case.parts * list(map(naive.delta_share, case.deltas))
    plain = np.array(list(map(two_valued, case.deltas)))
    np.testing.assert_allclose(case.features().total[~plain], shares[~plain], rtol=1e-12)


@pytest.mark.parametrize("kind", ["categories", "categories with missing values", "ordinal"])
def test_features_that_only_tell_alike_from_unlike_have_one_unit(kind):
    """Pairs add the same for each of them, and on average they have the total of the others."""
    case = make(kind)
    features = case.features()
    plain = np.array(list(map(two_valued, case.deltas)))
    assert plain.sum() >= 2
    assert np.ptp(case.weights(features)[plain]) < 1e-13
    shares = np.array(list(map(naive.delta_share, case.deltas)))
    assert np.mean((features.total / shares)[plain]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_without_standardizing_totals_are_plain_and_those_of_a_group_count_as_their_mean(kind):
    case = make(kind)
    expected = case.parts * list(map(naive.delta_total, case.deltas))
    np.testing.assert_allclose(case.features(standardize=False).total, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_are_known_to_be_there_and_nowhere_else(kind):
    case = make(kind)
    features = case.features()
    assert features.has_gaps == (kind in INCOMPLETE) == any(np.isnan(delta).any() for delta in case.deltas)
    assert (features.seen_pairs(np.arange(P))[1] is not None) == features.has_gaps


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_add_up_what_columns_say_with_their_totals(kind, subset, standardize):
    case = make(kind)
    features, places = case.features(standardize), case.chosen(subset)
    deltas, shares = [case.deltas[j] for j in places], case.parts * list(map(naive.delta_share, case.deltas))
    similarity, seen = features.seen_pairs(np.array(subset))
    expected = naive.delta_sum(deltas, case.weights(features)[places])
    np.testing.assert_allclose(apart_of(similarity), expected, atol=1e-12)
    if seen is not None:
        np.testing.assert_allclose(seen, np.tensordot(shares[places], ~np.isnan(deltas), 1), atol=1e-13)


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", others(INCOMPLETE))
def test_within_is_trace_of_pairs_minus_their_mean_in_clusters(kind, subset):
    case, labels = make(kind), some_labels()
    features = case.features()
    similarity = features.pairs(np.array(subset)).similarity
    withins = case.weights(features) * [naive.delta_within(delta, labels) for delta in case.deltas]
    within = withins[case.chosen(subset)].sum()
    assert np.trace(similarity) - naive.similarity_objective(similarity, labels) == pytest.approx(within, rel=1e-10)


def test_what_is_seen_of_a_pair_counts_columns_of_kinds_without_missing_values_too():
    table = np.random.default_rng(0).standard_normal((N, 5))
    table[:4, 4] = np.nan
    features = table_case(table, ["sqeuclidean"] * 3 + ["manhattan"] * 2).features()
    have = ~np.isnan(table[:, 4])
    expected = 4 + (have[:, None] & have) * have.mean()
    np.testing.assert_allclose(features.seen_pairs(np.arange(5))[1], expected, rtol=1e-12)


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", INCOMPLETE)
def test_pairs_with_missing_values_are_divided_by_the_share_that_is_seen(kind, subset):
    features = make(kind).features()
    similarity, seen = features.seen_pairs(np.array(subset))
    known = (seen > 0) & ~np.eye(N, dtype=bool)
    found = apart_of(features.pairs(np.array(subset)).similarity)
    np.testing.assert_allclose(found[known], (apart_of(similarity) * seen.max())[known] / seen[known], atol=1e-12)


@pytest.mark.parametrize("kind", ["numbers with missing values", "distances with missing values"])
def test_a_pair_of_which_nothing_is_seen_counts_as_an_average_pair(kind):
    case = make(kind)
    found = apart_of(case.features().pairs(np.array([2])).similarity)
    pair = ~np.eye(N, dtype=bool)
    unseen = np.isnan(case.deltas[2])
    np.testing.assert_allclose(found[unseen & pair], found[~unseen & pair].mean(), rtol=1e-12)


# ---------------------------------------------------------------- coordinates


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", COORDINATES)
def test_squared_distances_of_rows_are_the_dissimilarity(kind, subset):
    case = make(kind)
    features = case.features()
    assert features.has_rows
    rows = features.rows(np.array(subset))
    if isinstance(rows, SparseRows):
        at, seen = coordinates(rows), np.ones((N, len(subset)))
    else:
        at = rows.table * np.sqrt(rows.weights)
        seen = np.ones_like(at) if isinstance(rows, Rows) else rows.seen
    both = seen[:, None] * seen
    np.testing.assert_allclose(
        (both * (at[:, None] - at) ** 2).sum(axis=2), apart_of(features.seen_pairs(np.array(subset))[0]), atol=1e-13
    )


@pytest.mark.parametrize("kind", others(COORDINATES))
def test_where_samples_have_no_coordinates_nobody_gets_any(kind):
    features = make(kind).features()
    assert not features.has_rows
    with pytest.raises((TypeError, ValueError)):
        features.rows(np.array([1]))


@pytest.mark.parametrize("kind", ["numbers with missing values", "categories with missing values"])
def test_k_means_over_what_is_seen_lowers_just_what_scores_leave(kind):
    features = make(kind).features()
    for subset in map(np.array, SUBSETS):
        labels = some_labels()
        value = improve_seen(*features.rows(subset), labels, K, 0, 1000)
        left = features.total * (1 - features.scores(labels, K) / features.shares)
        assert -value == pytest.approx(left[subset].sum(), rel=1e-10)
