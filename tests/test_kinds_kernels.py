"""Kernels for missing values and distances do what their slow twins do."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from sparsecluster._kernels.manhattan import distance_within, sum_distances, sum_seen_distances
from sparsecluster._kernels.missing import improve_seen, seed_seen, seen_scores, sum_seen, within_seen
from sparsecluster._kernels.rows import improve_rows, seed_rows
from sparsecluster._kernels.univariate import DISTANCES, SQUARES, univariate_labels, univariate_within
from tests import naive

# n, p, k: the smallest, one sample a cluster, the usual, and more samples.
SHAPES = [(2, 1, 2), (5, 3, 5), (9, 4, 3), (17, 6, 2), (23, 2, 4)]
PASSES = 1000
DISSIMILARITIES = {SQUARES: lambda x, y: (x - y) ** 2, DISTANCES: lambda x, y: abs(x - y)}


def with_missing(rng, n, p, whole=False, share=0.3):
    """Numbers, NaN where one is missing; whole samples without any value among them, but no column without."""
    table = naive.random_table(rng, n, p, whole)
    missing = rng.random((n, p)) < share
    missing[rng.integers(n, size=n // 6)] = True
    missing[rng.integers(n, size=p), np.arange(p)] = False
    return np.where(missing, np.nan, table)


def as_seen(table):
    """Columns with mean 0 over what is seen and 0 where one is missing, and the mask of what is seen."""
    centered = table - np.nanmean(table, axis=0)
    return np.nan_to_num(centered), (~np.isnan(table)).astype(np.uint8)


def minus(value, labels):
    return -value(labels)


# ---------------------------------------------------------------- k-means over what is seen


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_sums_and_counts_are_of_what_is_seen(n, p, k):
    rng = np.random.default_rng(n)
    table = with_missing(rng, n, p)
    labels = naive.random_labels(rng, n, k)
    sums, counts, sizes = np.full((k, p), 7.0), np.full((k, p), 7.0), np.full(k, 7.0)
    sum_seen(np.nan_to_num(table), (~np.isnan(table)).astype(np.uint8), labels, sums, counts, sizes)
    for c in range(k):
        np.testing.assert_allclose(sums[c], np.nansum(table[labels == c], axis=0), atol=1e-14)
        np.testing.assert_array_equal(counts[c], (~np.isnan(table[labels == c])).sum(axis=0))
        assert sizes[c] == np.sum(labels == c)


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_squared_distances_to_centers_are_of_what_is_seen(n, p, k):
    rng = np.random.default_rng(n)
    table, seen = as_seen(with_missing(rng, n, p))
    weights, centers, labels = rng.random(p), rng.standard_normal((k, p)), naive.random_labels(rng, n, k)
    expected = sum(
        weights[a] * (table[i, a] - centers[labels[i], a]) ** 2 for i in range(n) for a in range(p) if seen[i, a]
    )
    assert within_seen(table, weights, seen, labels, centers) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_seeds_are_those_of_the_twin(n, p, k, whole):
    rng = np.random.default_rng(n)
    for _ in range(20):
        table = with_missing(rng, n, p, whole)
        seen, uniforms = (~np.isnan(table)).astype(np.uint8), rng.random(k)
        # Weights of 1, 2 or 4 keep sums of whole numbers exact, so that ties come out the same.
        weights = 2.0 ** rng.integers(3, size=p)
        given = np.nan_to_num(table), weights, seen, uniforms
        labels = naive.seed_of_seen(*given)
        assert set(labels) == set(range(k))
        np.testing.assert_array_equal(seed_seen(*given), labels)


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_passes_and_moves_over_what_is_seen_are_those_of_the_twin(n, p, k, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(5):
        table, seen = as_seen(with_missing(rng, n, p))
        weights, labels = rng.random(p), naive.random_labels(rng, n, k)
        expected = naive.improve_of_seen(table, weights, seen, labels, k, lloyd_passes)
        improve_seen(table, weights, seen, labels, k, lloyd_passes, PASSES)
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_no_move_lowers_the_within_of_what_is_seen(n, p, k, lloyd_passes, whole):
    rng = np.random.default_rng(n)
    for _ in range(3):
        table, seen = as_seen(with_missing(rng, n, p, whole))
        weights, warm = rng.random(p), naive.random_labels(rng, n, k)
        minus_within = partial(minus, partial(naive.seen_within, table, weights, seen))
        labels = warm.copy()
        value = improve_seen(table, weights, seen, labels, k, lloyd_passes, PASSES)
        assert set(labels) == set(range(k))
        assert value == pytest.approx(minus_within(labels), rel=1e-12, abs=1e-12)
        assert value >= minus_within(warm) - 1e-12
        assert naive.best_after_one_move(minus_within, labels, k) <= value + 1e-9


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_without_missing_values_labels_are_those_of_rows(n, p, k, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(20):
        table, seen = as_seen(naive.random_table(rng, n, p))
        weights, uniforms = rng.random(p), rng.random(k)
        by_rows, by_seen = seed_rows(table, weights, uniforms), seed_seen(table, weights, seen, uniforms)
        np.testing.assert_array_equal(by_seen, by_rows)
        improve_rows(table, weights, by_rows, k, lloyd_passes, PASSES)
        improve_seen(table, weights, seen, by_seen, k, lloyd_passes, PASSES)
        np.testing.assert_array_equal(by_seen, by_rows)


@pytest.mark.parametrize("k", [2, 4])
def test_samples_without_any_value_may_be_anywhere_and_stay_there(k):
    rng = np.random.default_rng(k)
    table, seen = as_seen(np.concatenate([np.full((3, 4), np.nan), rng.standard_normal((12, 4))]))
    labels = naive.random_labels(rng, 15, k)
    before = labels.copy()
    value = improve_seen(table, np.ones(4), seen, labels, k, 0, PASSES)
    np.testing.assert_array_equal(labels[:3], before[:3])
    assert value == pytest.approx(-naive.seen_within(table[3:], np.ones(4), seen[3:], labels[3:]), rel=1e-12)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES[1:])
def test_scores_are_of_what_is_seen(n, p, k, whole):
    rng = np.random.default_rng(n)
    given = with_missing(rng, n, p, whole)
    given[:2] = np.arange(2)[:, None]  # so that every column varies
    table, seen = as_seen(given)
    squares = [naive.column_delta(x, DISSIMILARITIES[SQUARES]) for x in given.T]
    for labels in (naive.random_labels(rng, n, k), rng.integers(k, size=n, dtype=np.int32)):
        found = seen_scores(table, seen, (table**2).sum(axis=0), labels, k)
        shares = np.array(list(map(naive.delta_share, squares)))
        np.testing.assert_allclose(found * shares, [naive.delta_score(d, labels) for d in squares], atol=1e-13)


# ---------------------------------------------------------------- distances


def sorted_columns(table):
    """Values of each column in ascending order, missing ones last; where they come from; and how many are seen."""
    order = np.argsort(table.T, axis=1, kind="stable")
    counts = (~np.isnan(table)).sum(axis=0)
    return np.take_along_axis(table.T, order, axis=1), order.astype(np.int32), counts


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_withins_of_distances_are_sums_over_pairs(n, p, k, whole, share):
    rng = np.random.default_rng(n)
    table = with_missing(rng, n, p, whole, share) if share else naive.random_table(rng, n, p, whole)
    deltas = [naive.column_delta(x, DISSIMILARITIES[DISTANCES]) for x in table.T]
    for labels in (naive.random_labels(rng, n, k), rng.integers(k, size=n, dtype=np.int32)):
        found = distance_within(*sorted_columns(table), labels, k)
        np.testing.assert_allclose(found, [naive.delta_within(d, labels) for d in deltas], atol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(2, 1), (9, 4), (17, 6)])
def test_sums_of_distances_are_over_the_columns_that_both_samples_have(n, p):
    rng = np.random.default_rng(n)
    full, partial, weights = rng.standard_normal((n, p)), with_missing(rng, n, p), rng.random(p)
    deltas = [naive.column_delta(x, DISSIMILARITIES[DISTANCES]) for x in full.T]
    np.testing.assert_allclose(sum_distances(full), np.sum(deltas, axis=0), atol=1e-13)
    deltas = np.array([naive.column_delta(x, DISSIMILARITIES[DISTANCES]) for x in partial.T])
    distances, seen = sum_seen_distances(partial, weights)
    np.testing.assert_allclose(distances, np.nansum(deltas, axis=0), atol=1e-13)
    np.testing.assert_allclose(seen, np.tensordot(weights, ~np.isnan(deltas), 1), atol=1e-13)


# ---------------------------------------------------------------- one column alone


def smallest_within(kind, x, k):
    return univariate_within(kind, np.sort(x)[None, :], np.array([x.size]), k)[0]


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(2, 8) for k in range(2, n + 1)])
def test_runs_are_the_best_of_all_groupings_for_distances(n, k):
    rng = np.random.default_rng(10 * n + k)
    draws = (rng.standard_normal(n), rng.integers(0, 4, n).astype(float), np.round(rng.standard_cauchy(n)))
    for x in draws:
        delta = naive.column_delta(x, DISSIMILARITIES[DISTANCES])
        best = min(naive.delta_within(delta, labels) for labels in naive.partitions(n, k))
        assert smallest_within(DISTANCES, x, k) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("kind", DISSIMILARITIES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_cut_of_the_sorted_values_is_better(k, kind):
    rng = np.random.default_rng(k)
    for n in (k, k + 1, 12):
        for x in (rng.standard_normal(n), rng.integers(0, 5, n).astype(float), rng.exponential(size=n) ** 3):
            best = naive.delta_over_splits(x, k, DISSIMILARITIES[kind])
            assert smallest_within(kind, x, k) == pytest.approx(best, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", DISSIMILARITIES)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_labels_reach_the_value_and_rise_with_it(k, kind):
    rng = np.random.default_rng(k)
    for n in (k, k + 1, 40):
        for x in (np.sort(rng.standard_normal(n)), np.sort(rng.integers(0, 5, n).astype(float))):
            labels = univariate_labels(kind, x, k)
            delta = naive.column_delta(x, DISSIMILARITIES[kind])
            assert naive.delta_within(delta, labels) == pytest.approx(smallest_within(kind, x, k), abs=1e-12)
            assert np.all(np.diff(labels) >= 0)
            assert set(labels) == set(range(k))


@pytest.mark.parametrize("kind", DISSIMILARITIES)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_is_not_seen_of_a_column_does_not_count(k, kind):
    rng = np.random.default_rng(k)
    counts = np.array([12, 7, 4, 1, 12, 0])
    columns = np.sort(rng.standard_normal((counts.size, 12)), axis=1)
    columns[np.arange(12) >= counts[:, None]] = np.nan
    expected = [smallest_within(kind, x[:count], k) if count else 0.0 for x, count in zip(columns, counts, strict=True)]
    np.testing.assert_allclose(univariate_within(kind, columns, counts, k), expected, atol=1e-14)
