"""Identities of numbers seen as dissimilarities, and one arrangement for a table however it arrives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sparsecluster._data.arrange import BLOCK_VALUES, FIRST_ROWS, arrangement, has_distinct_rows
from tests import naive

N, P, K = 15, 6, 3
# Fewer and more than half of the columns, one of them, and all.
SUBSETS = [[2], [0, 4], [1, 2, 3, 5], list(range(P))]


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(3.0, [1, 2, 0.1, 5, 1, 40], (N, P))


@pytest.fixture
def labels():
    return naive.random_labels(np.random.default_rng(1), N, K)


def squared_distances(table):
    return ((table[:, None, :] - table[None, :, :]) ** 2).sum(axis=2)


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize("standardize", [True, False])
def test_total_and_scores_are_sums_over_pairs(features_of, table, labels, standardize):
    features = features_of(table, standardize)
    np.testing.assert_allclose(features.total, 1.0 if standardize else [naive.total(x) for x in table.T], rtol=1e-13)
    np.testing.assert_allclose(features.scores(labels, K), naive.scores(table, labels), rtol=1e-12)


def test_scores_do_not_depend_on_units(features_of, table, labels):
    expected = features_of(table).scores(labels, K)
    for standardize in (True, False):
        other = features_of(table * [1e-3, 7, -1, 1e6, 2, 0.5] + [0, 5, -9, 1, 2, 3], standardize)
        np.testing.assert_allclose(other.scores(labels, K), expected, rtol=1e-10)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("subset", SUBSETS)
def test_within_is_trace_of_pairs_minus_their_mean_in_clusters(features_of, table, labels, subset, standardize):
    similarity = features_of(table, standardize).pairs(np.array(subset)).similarity
    seen = naive.standardized(table) if standardize else table
    within = sum(naive.within(seen[:, a], labels) for a in subset)
    assert np.trace(similarity) - naive.similarity_objective(similarity, labels) == pytest.approx(within, rel=1e-10)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("subset", SUBSETS)
def test_squared_distances_of_rows_are_the_dissimilarity(features_of, table, subset, standardize):
    rows, weights = features_of(table, standardize).rows(np.array(subset))
    seen = naive.standardized(table) if standardize else table
    np.testing.assert_allclose(
        squared_distances(rows * np.sqrt(weights)), squared_distances(seen[:, subset]), atol=1e-9
    )


@pytest.mark.parametrize("subset", SUBSETS)
def test_rows_and_pairs_are_the_same_geometry(features_of, table, subset):
    features = features_of(table)
    rows, weights = features.rows(np.array(subset))
    np.testing.assert_allclose((rows * weights) @ rows.T, features.pairs(np.array(subset)).similarity, atol=1e-14)


# ---------------------------------------------------------------- permuted copies


def test_a_permuted_copy_keeps_the_values_and_what_each_feature_gives_alone(features_of, table):
    features = features_of(table)
    best = features.univariate(K)
    copy = features.permuted(7)
    np.testing.assert_array_equal(np.sort(copy.table, axis=0), np.sort(features.table, axis=0))
    assert not np.array_equal(copy.table, features.table)
    np.testing.assert_allclose(copy.total, features.total, rtol=1e-14)
    assert copy.univariate(K) is best
    again = features_of(copy.table)
    np.testing.assert_allclose(again.univariate(K), best, rtol=1e-12)


def test_a_seed_gives_one_copy_and_another_seed_another(features_of, table):
    features = features_of(table)
    np.testing.assert_array_equal(features.permuted(7).table, features.permuted(7).table)
    assert not np.array_equal(features.permuted(7).table, features.permuted(8).table)


@pytest.mark.parametrize("seed", [None, 5])
def test_what_is_released_comes_back_the_same(features_of, table, labels, seed):
    features = features_of(table) if seed is None else features_of(table).permuted(seed)
    scores, pairs = features.scores(labels, K), features.pairs(np.arange(P)).similarity
    features.release()
    np.testing.assert_array_equal(features.scores(labels, K), scores)
    features.release()
    np.testing.assert_array_equal(features.pairs(np.arange(P)).similarity, pairs)


# ---------------------------------------------------------------- digits


def test_a_large_offset_costs_no_digits(features_of, labels):
    # Multiples of 2^-10 of size about 1, so that adding 1e12 is exact.
    small = np.round(np.random.default_rng(0).standard_normal((N, P)) * 1024) / 1024
    near, far = features_of(small), features_of(small + 1e12)
    np.testing.assert_allclose(far.table, near.table, rtol=0, atol=1e-15)
    np.testing.assert_allclose(far.scores(labels, K), near.scores(labels, K), rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_values_are_standardized(features_of, table, labels, scale):
    features = features_of(table * scale)
    np.testing.assert_allclose(features.total, 1.0, rtol=1e-13)
    np.testing.assert_allclose(features.scores(labels, K), naive.scores(table, labels), rtol=1e-10)


def test_single_precision_stays_single_and_right_to_single_precision(features_of, table, labels):
    single = features_of(table.astype(np.float32))
    assert single.table.dtype == single.permuted(1).table.dtype == np.float32
    assert all(single.rows(np.array(subset)).table.dtype == np.float32 for subset in SUBSETS)
    np.testing.assert_allclose(single.total, 1.0, rtol=1e-6)
    np.testing.assert_allclose(single.scores(labels, K), naive.scores(table, labels), atol=1e-5)
    np.testing.assert_allclose(single.univariate(K), features_of(table).univariate(K), atol=1e-5)


def test_the_given_table_is_not_changed(features_of, table, labels):
    before = table.copy()
    features = features_of(table)
    features.scores(labels, K)
    _ = features.permuted(3).table
    np.testing.assert_array_equal(table, before)


# ---------------------------------------------------------------- arrangement


def arranged(table):
    order = arrangement(table, np.arange(table.shape[1]))
    return table[np.ix_(order.samples, order.columns)], order


def with_equal_rows_and_columns(rng):
    table = rng.standard_normal((12, 7))
    table[3] = table[8]
    table[:, 1] = table[:, 5]
    return table


TABLES = {
    "gaussian": lambda rng: rng.standard_normal((12, 7)),
    "equal rows and columns": with_equal_rows_and_columns,
    "whole numbers": lambda rng: rng.integers(0, 3, (12, 7)).astype(float),
    "zeros and ones": lambda rng: rng.integers(0, 2, (8, 8)).astype(float),
    "single precision": lambda rng: rng.standard_normal((12, 7)).astype(np.float32),
    "more than a block": lambda rng: rng.standard_normal((BLOCK_VALUES // 400 + 50, 400)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_however_a_table_arrives_it_is_arranged_the_same(kind):
    rng = np.random.default_rng(0)
    for _ in range(3):
        table = TABLES[kind](rng)
        first, order = arranged(table)
        for _ in range(3):
            mixed = table[np.ix_(*map(rng.permutation, table.shape))]
            for layout in (mixed, np.asfortranarray(mixed)):
                second, again = arranged(layout)
                np.testing.assert_array_equal(second, first)
                assert again.distinct_samples == order.distinct_samples


def test_an_arrangement_is_an_order_of_the_samples_and_of_the_given_columns():
    table = np.random.default_rng(0).standard_normal((9, 6))
    columns = np.array([1, 3, 4])
    order = arrangement(table, columns)
    assert sorted(order.samples) == list(range(9))
    assert sorted(order.columns) == [1, 3, 4]
    other = table.copy()
    other[:, [0, 2, 5]] = 0.0
    np.testing.assert_array_equal(arrangement(other, columns).samples, order.samples)


def test_minus_zero_is_zero():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 2, (10, 4)).astype(float)
    signed = np.where((table == 0) & (rng.random(table.shape) < 0.5), -0.0, table)
    for mine, theirs in zip(arranged(table), arranged(signed), strict=True):
        np.testing.assert_equal(mine, theirs)


@pytest.mark.parametrize("kind", TABLES)
def test_samples_that_differ_are_counted(kind):
    table = TABLES[kind](np.random.default_rng(1))
    assert arranged(table)[1].distinct_samples == len(np.unique(table, axis=0))


@pytest.mark.parametrize("table", [np.eye(4), np.array(list(product([-1.0, 1.0], repeat=3)))])
def test_samples_that_mirror_each_other_are_never_counted_twice(table):
    twice = np.concatenate([table, table])
    assert 1 <= arranged(twice)[1].distinct_samples <= len(table)


@pytest.mark.parametrize("equal", [0, FIRST_ROWS - 1, FIRST_ROWS + 5])
def test_distinct_rows_are_found_wherever_they_are(equal):
    table = np.random.default_rng(equal).standard_normal((equal + 3, 4))
    table[:equal] = 1.0
    n_distinct, columns = 3 + (equal > 0), np.arange(4)
    assert arrangement(table, columns).distinct_samples == n_distinct
    assert [has_distinct_rows(table, columns, least) for least in range(1, 6)] == [i <= n_distinct for i in range(1, 6)]
