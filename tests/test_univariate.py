"""One-dimensional k-means is exact: nothing is below it, and its labels reach it."""

from __future__ import annotations

import numpy as np
import pytest
from ckmeans import ckmeans
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsecluster._kernels.univariate import (
    BLOCK,
    DISTANCES,
    SQUARES,
    best_split,
    last_split,
    least_between,
    univariate_labels,
    univariate_within,
)
from tests import naive


def all_withins(columns, k):
    """Of columns that are seen in all samples."""
    return univariate_within(SQUARES, columns, np.full(len(columns), columns.shape[1]), k)


def smallest_within(x, k):
    return all_withins(np.sort(np.asarray(x, dtype=float))[None, :], k)[0]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(2, 8) for k in range(2, n + 1)])
def test_no_grouping_at_all_is_better(n, k, whole):
    x = naive.random_table(np.random.default_rng(10 * n + k), n, 1, whole)[:, 0]
    assert smallest_within(x, k) == pytest.approx(naive.univariate_over_partitions(x, k), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_cut_of_the_sorted_values_is_better(k):
    rng = np.random.default_rng(k)
    for n in range(k, 18):
        x = rng.standard_normal(n)
        assert smallest_within(x, k) == pytest.approx(naive.univariate_over_splits(x, k), abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(values=st.lists(st.integers(-50, 50), min_size=4, max_size=12), k=st.integers(2, 4))
def test_no_cut_of_whole_numbers_with_ties_is_better(values, k):
    x = np.array(values, dtype=float) - np.mean(values)
    assert smallest_within(x, k) == pytest.approx(naive.univariate_over_splits(x, k), abs=1e-9)


@pytest.mark.parametrize("whole", [False, True])
def test_values_between_two_clusters_add_at_least_what_is_said(whole):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(3, 30))
        x = np.sort(naive.random_table(rng, n, 1, whole)[:, 0])
        begin, low, high = np.sort(rng.choice(n, 3, replace=False))
        shares = np.concatenate([[0.0], 1.0 / np.arange(1, n + 1)])
        found = least_between(x, np.concatenate([[0.0], np.cumsum(x)]), shares, begin, low, high, n)

        def squares(first, last, x=x):
            return naive.within(x[first:last], np.zeros(last - first, np.int32))

        added = [squares(begin, j) + squares(j, n) for j in range(low, high + 1)]
        assert 0.0 <= found <= min(added) - squares(begin, low) - squares(high, n) + 1e-12
    assert least_between(x, x, shares, low, low, high, n) == 0.0


@pytest.mark.parametrize("kind", [SQUARES, DISTANCES])
@pytest.mark.parametrize("decimals", [0, 1, 15])
def test_the_last_split_is_the_best_one_however_many_places_there_are(kind, decimals):
    rng = np.random.default_rng(decimals)
    for n in (3, 2 * BLOCK, 4 * BLOCK + 1, 20 * BLOCK):
        x = np.sort(np.round(rng.standard_normal(n), decimals))
        sums = np.concatenate([[0.0], np.cumsum(x)])
        others = np.concatenate([[0.0], np.cumsum(x * (x if kind == SQUARES else np.arange(n)))])
        shares = np.concatenate([[0.0], 1.0 / np.arange(1, n + 1)])
        before = np.concatenate(
            [[0.0], [univariate_within(kind, x[None, :i], np.array([i]), 2)[0] for i in range(1, n + 1)]]
        )
        for low, high in ((1, n - 1), (n // 3, n - 2)):
            place = kind, before, sums, others, shares, low, high, n
            found, expected = last_split(*place), best_split(*place)
            assert found[1] == expected[1]
            assert found[0] == pytest.approx(expected[0], abs=1e-12)


@pytest.mark.parametrize("n", [10, 64, 65, 300])
def test_as_the_ckmeans_package(n):
    rng = np.random.default_rng(n)
    columns = np.sort(np.concatenate([rng.standard_normal((4, n)), rng.exponential(size=(4, n))]), axis=1)
    for k in (2, 3, 5, 9):
        theirs = [sum(np.var(group) * group.size for group in ckmeans(column, k)) for column in columns]
        np.testing.assert_allclose(all_withins(columns, k), theirs, rtol=1e-9)


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_never_above_the_best_of_300_starts_in_r(reference, data):
    given = reference.result(data, "univariate-kmeans-best-of-300")
    columns = reference.table(data)[:, : len(given["withinss"])]
    found = all_withins(np.sort(columns.T, axis=1), given["k"])
    # R's values are printed with ten decimals.
    assert np.all(found <= np.array(given["withinss"]) + 1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_labels_reach_the_value_and_rise_with_it(k, dtype):
    rng = np.random.default_rng(k)
    for n in (k, k + 1, 20):
        x = np.sort(rng.standard_normal(n).astype(dtype))
        labels = univariate_labels(SQUARES, x, k)
        assert naive.within(x.astype(float), labels) == pytest.approx(smallest_within(x, k), abs=1e-12)
        assert np.all(np.diff(labels) >= 0)
        assert set(labels) == set(range(k))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_every_cluster_gets_a_sample_even_where_values_are_fewer(k):
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    labels = univariate_labels(SQUARES, x, k)
    assert set(labels) == set(range(k))
    assert naive.within(x, labels) == pytest.approx(smallest_within(x, k), abs=1e-12)


def test_permuting_a_column_permutes_its_labels_and_keeps_its_score(features_of):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((30, 5))
    order = rng.permutation(30)
    first, second = features_of(table), features_of(table[order])
    for k in (2, 3, 4):
        np.testing.assert_allclose(first.univariate(k), second.univariate(k), rtol=1e-12)
        for a in range(5):
            np.testing.assert_array_equal(first.univariate_labels(a, k)[order], second.univariate_labels(a, k))


def test_its_score_is_what_its_own_labels_explain_and_what_no_labeling_exceeds(features_of):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((7, 4))
    features = features_of(table)
    for k in (2, 3, 7):
        best = naive.all_scores(table, k).max(axis=0)
        np.testing.assert_allclose(features.univariate(k), best, rtol=1e-12)
        for a in range(4):
            assert naive.scores(table, features.univariate_labels(a, k))[a] == pytest.approx(best[a], rel=1e-12)


def test_columns_of_more_values_than_a_block_are_all_there(features_of):
    table = np.random.default_rng(0).standard_normal((50_000, 5))
    scores = features_of(table).univariate(2)
    # Two halves of a Gaussian explain 2/pi of it.
    np.testing.assert_allclose(scores, 2 / np.pi, atol=0.01)
