"""A sparse table gives what the same table gives when dense, and is never made dense as a whole."""

import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from sparsecluster import SASClustering
from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._data.arrange import arrangement
from sparsecluster._data.arrange_sparse import sparse_arrangement
from sparsecluster._data.source_sparse import SparseSource
from sparsecluster._features.numeric import NumericFeatures, Source
from sparsecluster._features.sparse import DENSE_SHARE
from sparsecluster._kernels.pairs import improve_pairs
from sparsecluster._kernels.sparse import improve_sparse, seed_sparse
from sparsecluster._search.climb import Problem, climb
from sparsecluster._search.search import search_size, search_sizes
from sparsecluster.metrics import rand_index
from tests import naive
from tests.helpers.sparse import (
    LAYOUTS,
    PASSES,
    K,
    both_of,
    coordinates,
    dense_of,
    grouped_sparse,
    random_sparse,
    sparse_of,
    untidy,
)

# ---------------------------------------------------------------- arrangement


def with_equal_rows_and_columns(rng):
    table = random_sparse(rng, 30, 20)
    table[[3, 7, 11]] = table[8]
    table[:, [1, 4]] = table[:, [5]]
    return table


TABLES = {
    "sparse": lambda rng: random_sparse(rng, 30, 20),
    "equal rows and columns": with_equal_rows_and_columns,
    "whole numbers": lambda rng: random_sparse(rng, 20, 15, whole=True),
    "zeros and ones": lambda rng: (rng.random((9, 8)) < 0.2).astype(float),
    "single precision": lambda rng: random_sparse(rng, 12, 7).astype(np.float32),
    "integers": lambda rng: rng.poisson(0.3, (12, 9)),
    # Nothing but values in their places tells the columns apart.
    "identity": lambda rng: rng.permutation(np.eye(7)),
    "values on a diagonal": lambda rng: np.concatenate(
        [np.diag([1.0, -1.0, 256.0, 0.1]), np.diag([1.0, 1.0, 2.0, 2.0])]
    ),
    "ties in single precision": lambda rng: rng.permutation(np.eye(7, dtype=np.float32)) * np.float32(0.1),
    "dense": lambda rng: rng.standard_normal((12, 7)),
    "zeros": lambda rng: np.zeros((4, 3)),
}


def assert_same_arrangement(matrix, columns):
    found, expected = sparse_arrangement(matrix, columns), arrangement(matrix.toarray(), columns)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TABLES)
def test_the_arrangement_is_that_of_the_dense_table(kind, layout):
    rng = np.random.default_rng(0)
    for _ in range(5):
        table = TABLES[kind](rng)
        assert_same_arrangement(layout(table), np.arange(table.shape[1]))
        assert_same_arrangement(layout(table), np.sort(rng.choice(table.shape[1], 2, replace=False)))


@pytest.mark.parametrize("kind", ["whole numbers", "zeros and ones", "identity", "integers"])
def test_how_a_table_is_stored_does_not_matter_and_is_left_as_it_is(kind):
    rng = np.random.default_rng(1)
    for _ in range(5):
        table = np.asarray(TABLES[kind](rng), dtype=float)
        table = table[:, np.ptp(table, axis=0) > 0]
        columns, labels = np.arange(table.shape[1]), naive.random_labels(rng, len(table), K)
        for matrix in (untidy(rng, table), untidy(rng, table.T).T):
            assert matrix.nnz > np.count_nonzero(table)
            before = [each.copy() for each in (matrix.data, matrix.indices, matrix.indptr)]
            for mine, theirs in zip(sparse_arrangement(matrix, columns), arrangement(table, columns), strict=True):
                np.testing.assert_array_equal(mine, theirs)
            source = SparseSource(matrix, np.arange(len(table)), columns, True, np.arange(matrix.shape[1]))
            np.testing.assert_array_equal(source.features().scores(labels, K), sparse_of(table).scores(labels, K))
            source.take(np.arange(len(table)), 1)
            for mine, theirs in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
                np.testing.assert_array_equal(mine, theirs)


# ---------------------------------------------------------------- features

N, P = 40, 25
SUBSETS = [[2], [0, 4, 11], list(range(1, P, 2)), list(range(P))]


@pytest.fixture
def table():
    """Columns of all densities, from one value to no zero, and of all scales."""
    rng = np.random.default_rng(0)
    table = np.where(rng.random((N, P)) < np.linspace(0, 1, P), rng.gamma(2.0, size=(N, P)), 0.0)
    table[0, 0] = 1.0
    counts = np.count_nonzero(table, axis=0)
    assert counts[0] == 1
    assert counts[-1] == N
    # Both ways to multiply columns are used.
    assert set(counts > DENSE_SHARE * N) == {True, False}
    return table * 10.0 ** rng.integers(-2, 3, P)


@pytest.fixture
def labels():
    return naive.random_labels(np.random.default_rng(1), N, K)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_total_and_scores_are_those_of_the_dense_table(table, labels, standardize, layout):
    features, same = dense_of(table, standardize), sparse_of(table, standardize, layout)
    np.testing.assert_allclose(same.total, features.total, rtol=1e-13)
    np.testing.assert_allclose(same.scores(labels, K), features.scores(labels, K), rtol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("subset", SUBSETS)
def test_pairs_and_rows_are_those_of_the_dense_table(table, subset, standardize):
    features, same = both_of(table, standardize)
    pairs = features.pairs(np.array(subset)).similarity
    near = partial(np.testing.assert_allclose, rtol=0, atol=1e-13 * np.abs(pairs).max())
    near(same.pairs(np.array(subset)).similarity, pairs)
    rows = coordinates(same.rows(np.array(subset)))
    near(rows @ rows.T, pairs)
    np.testing.assert_allclose(rows, features.table[:, subset], rtol=0, atol=1e-13 * np.abs(rows).max())


@pytest.mark.parametrize("standardize", [True, False])
def test_grouped_columns_count_as_in_the_dense_table(standardize):
    table = random_sparse(np.random.default_rng(3), 20, 7)
    names = [f"x{a}" for a in range(7)]
    readings = [
        SASClustering(feature_groups={"g": names[:3]}, standardize=standardize).read(X)
        for X in (table, sparse.csr_array(table))
    ]
    dense, same = (reading.source.features() for reading in readings)
    # Columns may come in another order, so their totals are compared as they are in the table.
    totals = [
        dict(zip(reading.source.columns.tolist(), features.total, strict=True))
        for reading, features in zip(readings, (dense, same), strict=True)
    ]
    assert totals[0] == pytest.approx(totals[1])
    every = np.arange(dense.n_features)
    rows = [np.argsort(reading.source.samples) for reading in readings]
    similarities = [
        features.pairs(every).similarity[np.ix_(order, order)]
        for features, order in zip((dense, same), rows, strict=True)
    ]
    np.testing.assert_allclose(*similarities, atol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_each_feature_gives_alone_is_that_of_the_dense_table(table, standardize, k):
    # Where there are more clusters than values, how to split equal values is up to rounding.
    table = table[:, np.count_nonzero(table, axis=0) >= k]
    features, same = both_of(table, standardize)
    np.testing.assert_allclose(same.univariate(k), features.univariate(k), rtol=1e-11)
    for a in range(table.shape[1]):
        np.testing.assert_array_equal(same.univariate_labels(a, k), features.univariate_labels(a, k))


def test_permuted_copies_are_those_of_the_dense_table(table, labels):
    features, same = both_of(table)
    best = same.univariate(K)
    for seed in (0, 5, 2**40):
        copy, same_copy = features.permuted(seed), same.permuted(seed)
        np.testing.assert_allclose(coordinates(same_copy.rows(np.arange(P))), copy.table, atol=1e-14)
        np.testing.assert_allclose(same_copy.scores(labels, K), copy.scores(labels, K), rtol=1e-12)
        np.testing.assert_allclose(
            same_copy.pairs(np.arange(P)).similarity, copy.pairs(np.arange(P)).similarity, atol=1e-13
        )
        assert same_copy.univariate(K) is best
        twice, same_twice = copy.permuted(1), same_copy.permuted(1)
        np.testing.assert_allclose(coordinates(same_twice.rows(np.arange(P))), twice.table, atol=1e-14)
    np.testing.assert_allclose(coordinates(same.rows(np.arange(P))), features.table, atol=1e-14)
    np.testing.assert_array_equal(same.permuted(5).columns.samples, same.permuted(5).columns.samples)


def test_what_is_released_comes_back_the_same(table, labels):
    same = sparse_of(table)
    scores = same.scores(labels, K)
    same.release()
    np.testing.assert_array_equal(same.scores(labels, K), scores)


def test_the_given_order_of_samples_and_columns_is_that_of_the_features(table, labels):
    rng = np.random.default_rng(2)
    samples, columns = rng.permutation(N), rng.permutation(P)[:10]
    same = SparseSource(sparse.csc_array(table), samples, columns, True, np.arange(table.shape[1])).features()
    features = NumericFeatures(Source(table, samples, columns, True))
    assert (same.n_samples, same.n_features) == (N, 10)
    np.testing.assert_allclose(coordinates(same.rows(np.arange(10))), features.table, atol=1e-14)
    np.testing.assert_allclose(same.scores(labels, K), features.scores(labels, K), rtol=1e-12)


# ---------------------------------------------------------------- digits


def test_a_large_offset_of_a_column_without_zeros_costs_no_digits(labels):
    # Multiples of 2^-10 of size about 1, so that adding 1e12 is exact.
    small = np.round(np.random.default_rng(0).standard_normal((N, P)) * 1024) / 1024
    near, far = sparse_of(small), sparse_of(small + 1e12)
    np.testing.assert_allclose(far.scores(labels, K), near.scores(labels, K), rtol=1e-12)
    np.testing.assert_allclose(
        far.pairs(np.arange(P)).similarity, near.pairs(np.arange(P)).similarity, rtol=0, atol=1e-14
    )
    uniforms = np.random.default_rng(0).random(K)
    rows, far_rows = near.rows(np.arange(P)), far.rows(np.arange(P))
    np.testing.assert_array_equal(seed_sparse(*far_rows, uniforms), seed_sparse(*rows, uniforms))
    value, far_value = (improve_sparse(*each, labels.copy(), K, 3, PASSES) for each in (rows, far_rows))
    assert far_value == pytest.approx(value, rel=1e-12)


def test_few_zeros_among_large_values_cost_no_more_digits_than_in_the_dense_table(labels):
    rng = np.random.default_rng(0)
    table = 1e12 + rng.standard_normal((N, P))
    table[rng.integers(N, size=P), np.arange(P)] = 0.0
    features, same = both_of(table)
    np.testing.assert_allclose(same.scores(labels, K), features.scores(labels, K), rtol=1e-12)
    pairs = features.pairs(np.arange(P)).similarity
    np.testing.assert_allclose(same.pairs(np.arange(P)).similarity, pairs, rtol=0, atol=1e-13)
    by_sparse, by_pairs = labels.copy(), labels.copy()
    value = improve_sparse(*same.rows(np.arange(P)), by_sparse, K, 3, PASSES)
    assert value == pytest.approx(improve_pairs(pairs, by_pairs, K, 3, PASSES), rel=1e-11)
    np.testing.assert_array_equal(by_sparse, by_pairs)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_values_are_standardized(table, labels, scale):
    np.testing.assert_allclose(sparse_of(table * scale).scores(labels, K), naive.scores(table, labels), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_numbers_of_any_type_are_read(labels, dtype):
    table = np.random.default_rng(0).poisson(0.4, (N, P)).astype(dtype)
    table = table[:, np.ptp(table.astype(float), axis=0) > 0]
    expected = naive.scores(table.astype(float), labels)
    np.testing.assert_allclose(sparse_of(table).scores(labels, K), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
@pytest.mark.parametrize("seed", range(3))
def test_counts_of_any_type_have_the_same_answer(kind, seed):
    # Samples with the same counts in another order, and samples and columns that occur twice, so that there are ties.
    half = np.array([np.random.default_rng([seed, i]).permutation(np.repeat([0, 1, 3, 258], 3)) for i in range(20)])
    counts = np.repeat(np.hstack([half, half[:, ::-1]]), 2, axis=0)
    one, other = (SASClustering(3).fit(sparse.csr_array(counts.astype(each))) for each in (np.float64, kind))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.feature_scores_, other.feature_scores_)


# ---------------------------------------------------------------- some of the samples


def test_of_some_samples_the_columns_that_vary_are_kept(table):
    rng = np.random.default_rng(0)
    table[:, 3] = np.where(np.arange(N) < 30, 2.0, 0.0)
    table[:, 4] = np.where(np.arange(N) < 30, 0.0, 2.0)
    order = rng.permutation(P)
    source = SparseSource(sparse.csc_array(table), np.arange(N)[::-1], order, True, np.arange(table.shape[1]))
    places = np.sort(rng.permutation(np.arange(10, N))[:20])
    part = source.take(places, K)
    chosen = table[source.samples[places]][:, order]
    varying = np.ptp(chosen, axis=0) > 0
    assert {3, 4} <= set(order[~varying])
    np.testing.assert_array_equal(part.samples, source.samples[places])
    np.testing.assert_array_equal(part.columns, order[varying])
    np.testing.assert_array_equal(part.owners, np.arange(part.columns.size))
    features = part.features()
    np.testing.assert_allclose(
        coordinates(features.rows(np.arange(features.n_features))), dense_of(chosen[:, varying]).table, atol=1e-14
    )
    np.testing.assert_array_equal(part.look(7, part.samples, part.samples), table[part.samples, 7])
    np.testing.assert_array_equal(part.look(7, slice(None), part.samples), table[:, 7])


def test_samples_that_are_too_much_alike_are_not_taken():
    table = np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], 5, axis=0)
    source = SparseSource(sparse.csc_array(table), np.arange(15), np.arange(2), True, np.arange(table.shape[1]))
    assert source.take(np.arange(15), 3) is not None
    assert source.take(np.arange(15), 4) is None
    assert source.take(np.arange(10), 3) is None
    assert source.take(np.arange(5), 1) is None


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("form", ["rows", "pairs", None])
@pytest.mark.parametrize("standardize", [True, False])
def test_clusterings_are_those_of_the_dense_table(form, standardize):
    rng = np.random.default_rng(0)
    for _ in range(5):
        features, same = both_of(grouped_sparse(rng, 70, 50), standardize)
        warm = naive.random_labels(rng, 70, K)
        for size in (1, 5, 30, 50):
            subset = np.sort(rng.choice(50, size, replace=False))
            for options in ({}, {"n_starts": 4}, {"warm": warm}):
                found, expected = (
                    KMeans(form).cluster(each, subset, K, np.random.default_rng(size), **options)
                    for each in (same, features)
                )
                np.testing.assert_array_equal(found, expected)


def test_climbs_are_those_of_the_dense_table():
    rng = np.random.default_rng(1)
    for seed in range(5):
        features, same = both_of(grouped_sparse(rng, 70, 50))
        for mine, theirs in ((same, features), (same.permuted(seed), features.permuted(seed))):
            labels = naive.random_labels(rng, 70, K)
            for size in (3, 16, 50):
                found, expected = (
                    climb(Problem(each, KMeans(), K), labels, size, np.random.default_rng(0)) for each in (mine, theirs)
                )
                np.testing.assert_array_equal(found.labels, expected.labels)
                np.testing.assert_array_equal(found.subset, expected.subset)
                np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-11)
                assert [step[1:] for step in found.history] == [step[1:] for step in expected.history]


def test_searches_are_those_of_the_dense_table():
    table = grouped_sparse(np.random.default_rng(2), 70, 40)
    problem, same = (Problem(each, KMeans(), K) for each in both_of(table))
    for seed in (None, 3):
        mine, theirs = (
            each if seed is None else each._replace(features=each.features.permuted(seed)) for each in (same, problem)
        )
        found, expected = (search_sizes(each, np.random.default_rng(0)) for each in (mine, theirs))
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-11)
        for size in range(1, 41):
            np.testing.assert_array_equal(found.labels(size), expected.labels(size))
        best, expected_best = (search_size(each, 13, np.random.default_rng(0)).best for each in (mine, theirs))
        # Several climbs end there, each with its own names for the clusters: which one is kept is up to rounding.
        assert rand_index(best.labels, expected_best.labels) == 1.0
        np.testing.assert_array_equal(best.subset, expected_best.subset)


# ---------------------------------------------------------------- memory

WIDE = """
    import resource, sys, tracemalloc
    import numpy as np
    from scipy import sparse
    from sparsecluster._clusterers.kmeans import KMeans
    from sparsecluster._data.arrange_sparse import sparse_arrangement
    from sparsecluster._data.source_sparse import SparseSource, varying

    def work(n, p):
        X = sparse.random(n, p, density=1e-3, format="csr", random_state=np.random.default_rng(0))
        order = sparse_arrangement(X, varying(X))
        source = SparseSource(X, order.samples, order.columns, True, np.arange(X.shape[1]))
        features = source.features()
        rng = np.random.default_rng(0)
        subset = np.arange(features.n_features)
        for each in (features, features.permuted(1)):
            each.pairs(subset)
            labels = KMeans("rows").cluster(each, subset, 3, rng)
            labels = KMeans("rows").cluster(each, subset, 3, rng, warm=labels)
            each.scores(labels, 3)
        features.univariate_labels(0, 3)
        source.take(np.arange(n // 2), 3).features()

    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    # Once with few samples, so that what the kernels take to be loaded does not count.
    work(100, 50_000)
    before = peak()
    tracemalloc.start()
    work(2000, 50_000)
    # What NumPy asked for, and what the process had in all: kernels ask for memory on their own.
    print(tracemalloc.get_traced_memory()[1], peak() - before)
"""


def test_a_wide_table_is_never_made_dense():
    pytest.importorskip("resource", reason="tells how much memory a process had")
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(WIDE)], capture_output=True, text=True, check=True)
    dense = 2000 * 50_000 * 8
    # The pairs of the samples are 32 MB and there are a few copies of them at the same time.
    assert all(int(size) < dense / 10 for size in run.stdout.split())
