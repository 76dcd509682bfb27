"""Every kernel for sparse tables does what the one for dense tables does, and what its slow twin does."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from sparsecluster._kernels.rows import improve_rows, seed_rows
from sparsecluster._kernels.sparse import (
    dense_columns,
    improve_sparse,
    own_sparse,
    seed_sparse,
    shuffle_samples,
    sparse_gram,
    sparse_rows,
    sparse_scores,
    sum_sparse,
)
from sparsecluster._kernels.stored import stored_row_prints
from tests import naive
from tests.helpers.sparse import PASSES, K, as_columns, as_rows, both_of, compressed, random_sparse

# n, p, k: the smallest, one sample a cluster, the usual.
SHAPES = [(2, 1, 2), (5, 3, 5), (9, 4, 3), (17, 6, 2), (23, 12, 4)]

# ---------------------------------------------------------------- k-means


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_sums_over_clusters(n, p, k, whole):
    rng = np.random.default_rng(n)
    table, labels = random_sparse(rng, n, p, whole=whole), naive.random_labels(rng, n, k)
    means, weights = rng.standard_normal(p), rng.random(p)
    sums, pull, q, sizes, own = np.empty((p, k)), np.empty(k), np.empty(k), np.empty(k), np.empty(n)
    sum_sparse(*as_rows(table, means, weights), labels, sums, pull, q, sizes)
    own_sparse(*as_rows(table, means, weights), weights @ means**2, own)
    centered = table - means
    similarity = (centered * weights) @ centered.T
    np.testing.assert_allclose(own, np.diag(similarity), rtol=1e-12)
    for c in range(k):
        samples = np.flatnonzero(labels == c)
        assert sizes[c] == samples.size
        np.testing.assert_allclose(sums[:, c], table[samples].sum(axis=0), atol=1e-14)
        np.testing.assert_allclose(pull[c], (weights * means) @ centered[samples].sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(q[c], similarity[np.ix_(samples, samples)].sum(), rtol=1e-12)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_seeds_are_those_of_rows_and_of_the_twin(n, p, k, whole):
    rng = np.random.default_rng(n)
    for _ in range(20):
        table, means, uniforms = random_sparse(rng, n, p, whole=whole), rng.integers(3, size=p) / 2, rng.random(k)
        # Whole numbers are exact in every form, so equal rows and equal distances come out the same.
        weights = np.ones(p) if whole else rng.random(p)
        centered = table - means
        labels = seed_sparse(*as_rows(table, means, weights), uniforms)
        np.testing.assert_array_equal(labels, seed_rows(centered, weights, uniforms))
        if whole:
            np.testing.assert_array_equal(labels, naive.seed(centered @ centered.T, uniforms))


def test_samples_that_are_equal_are_never_both_seeds():
    """Their distance is exactly zero, whatever the digits of their values."""
    rng = np.random.default_rng(0)
    table = random_sparse(rng, 4, 30)[rng.permutation(np.repeat(np.arange(4), 10))]
    kinds = np.unique(table, axis=0).shape[0]
    for _ in range(50):
        labels = seed_sparse(*as_rows(table, np.zeros(30), rng.random(30)), rng.random(kinds))
        assert all(np.unique(table[labels == c], axis=0).shape[0] == 1 for c in range(kinds))


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_passes_and_moves_are_those_of_rows_and_of_the_twin(n, p, k, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(10):
        table, labels = rng.standard_normal((n, p)), naive.random_labels(rng, n, k)
        table[rng.random((n, p)) < 0.5] = 0.0
        means, weights = table.mean(axis=0), rng.random(p)
        # No two rows are equal: which of two equal samples moves is up to rounding.
        table[np.arange(n), np.arange(n) % p] += rng.standard_normal(n)
        centered = table - means
        expected = naive.improve((centered * weights) @ centered.T, labels, k, lloyd_passes)
        by_rows, by_sparse = labels.copy(), labels.copy()
        value = improve_rows(centered, weights, by_rows, k, lloyd_passes, PASSES)
        same = improve_sparse(*as_rows(table, means, weights), by_sparse, k, lloyd_passes, PASSES)
        np.testing.assert_array_equal(by_rows, expected)
        np.testing.assert_array_equal(by_sparse, expected)
        assert same == pytest.approx(value, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("density", [0.02, 0.1, 0.5, 1.0])
def test_many_moves_end_where_those_of_rows_end(density, k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        # Several values a sample: samples with one or two are often just as well in one cluster as in another.
        features, same = both_of(random_sparse(rng, 200, 400, density))
        subset, uniforms = np.sort(rng.choice(400, 300, replace=False)), rng.random(k)
        rows, sparse_form = features.rows(subset), same.rows(subset)
        labels, same_labels = seed_rows(*rows, uniforms), seed_sparse(*sparse_form, uniforms)
        np.testing.assert_array_equal(labels, same_labels)
        value = improve_rows(*rows, labels, k, 3, PASSES)
        same_value = improve_sparse(*sparse_form, same_labels, k, 3, PASSES)
        np.testing.assert_array_equal(labels, same_labels)
        assert same_value == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_the_value_returned_is_j_and_no_move_raises_it(n, p, k, whole):
    rng = np.random.default_rng(n)
    for _ in range(5):
        table, labels, means = random_sparse(rng, n, p, whole=whole), naive.random_labels(rng, n, k), rng.random(p)
        value = improve_sparse(*as_rows(table, means, np.ones(p)), labels, k, 3, PASSES)
        j = partial(naive.similarity_objective, (table - means) @ (table - means).T)
        assert value == pytest.approx(j(labels), rel=1e-12)
        assert naive.best_after_one_move(j, labels, k) <= value + 1e-9


def test_columns_of_weight_zero_do_not_count():
    rng = np.random.default_rng(0)
    table, labels, means, uniforms = (
        random_sparse(rng, 20, 6),
        naive.random_labels(rng, 20, K),
        rng.random(6),
        rng.random(K),
    )
    weights = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    chosen = as_rows(table[:, weights > 0], means[weights > 0], np.ones(3))
    np.testing.assert_array_equal(
        seed_sparse(*as_rows(table, means, weights), uniforms), seed_sparse(*chosen, uniforms)
    )
    everything, part = labels.copy(), labels.copy()
    improve_sparse(*as_rows(table, means, weights), everything, K, 3, PASSES)
    improve_sparse(*chosen, part, K, 3, PASSES)
    np.testing.assert_array_equal(everything, part)


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_scores_are_one_minus_within_over_total(n, p, k, whole):
    rng = np.random.default_rng(n)
    table = random_sparse(rng, n, p, whole=whole)
    means, total = table.mean(axis=0), table.var(axis=0) * n
    for labels in (naive.random_labels(rng, n, k), rng.integers(k, size=n, dtype=np.int32)):
        found = sparse_scores(*as_columns(table), means, total, labels, k)
        np.testing.assert_allclose(found, naive.scores(table, labels), rtol=0, atol=1e-13)
        assert found.max() <= 1.0


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_some_columns_by_row_made_dense_and_multiplied(n, p, k):
    rng = np.random.default_rng(n)
    table, means = random_sparse(rng, n, p), rng.standard_normal(p)
    for size in (0, 1, p):
        subset = np.sort(rng.choice(p, size, replace=False))
        values, columns, starts = sparse_rows(*as_columns(table), subset, n)
        for found, expected in zip((values, columns, starts), as_rows(table[:, subset], 0, 0)[:3], strict=True):
            np.testing.assert_array_equal(found, expected)
        centered = (table - means)[:, subset]
        np.testing.assert_array_equal(dense_columns(*as_columns(table), means, subset, n), centered.T)
        gram = sparse_gram(*as_columns(table), means, subset, n)
        np.testing.assert_allclose(gram, centered @ centered.T, atol=1e-13)
        np.testing.assert_array_equal(gram, gram.T)


def test_equal_samples_have_distance_zero_in_pairs():
    rng = np.random.default_rng(0)
    table = random_sparse(rng, 6, 40)[np.repeat(np.arange(6), 3)]
    gram = sparse_gram(*as_columns(table), table.mean(axis=0), np.arange(40), 18)
    own = np.diag(gram)
    assert np.all((own[:, None] + own - 2 * gram)[np.arange(18)[:, None] // 3 == np.arange(18) // 3] == 0)


# ---------------------------------------------------------------- order


def test_shuffle_is_that_of_the_twin():
    rng = np.random.default_rng(0)
    table = random_sparse(rng, 11, 5)
    values, samples, starts = as_columns(table)
    for seed in (0, 1, 2**63 - 1):
        moved = shuffle_samples(samples, starts, 11, np.arange(starts.size - 1), np.uint64(seed))
        found = sparse.csc_array((values, moved, starts), shape=table.shape).toarray()
        np.testing.assert_array_equal(found, naive.shuffled(table, seed))


def test_fingerprints_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    table = random_sparse(rng, 8, 5)
    row_salts, column_salts = (rng.integers(2**63, size=size, dtype=np.uint64) for size in table.shape)
    for matrix, salts, dense in (
        (sparse.csr_array(table), column_salts, table),
        (sparse.csc_array(table), row_salts, table.T),
    ):
        values, places, starts = compressed(matrix)
        found = stored_row_prints(values.view(np.uint64), places, starts, salts, np.ones(salts.size, bool))
        assert found.tolist() == naive.row_fingerprints(dense, salts)
