"""Kernels for wide tables: exact sums that are updated, sorts of many values, and a look before a copy."""

from __future__ import annotations

from threading import Thread

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import KMeans
from sparsecluster._features import numeric
from sparsecluster._kernels.objective import between_scores
from sparsecluster._kernels.rows import improve_rows
from sparsecluster._kernels.select import largest
from sparsecluster._kernels.settled import PART_VALUES, is_settled
from sparsecluster._kernels.sort import LAST, sort_long_rows, sort_rows
from sparsecluster._kernels.sort import MANY as LONG
from sparsecluster._kernels.sums import BLOCK, MEASURED, STRIP, arranged, measure_columns, updated_scores
from sparsecluster._search.climb import Climb
from sparsecluster._search.search import Envelope
from tests import naive

# n, p, k: the smallest, one sample a cluster, the usual, and more columns than a block.
SHAPES = [(2, 1, 2), (5, 3, 5), (17, 6, 3), (40, 4, 6), (9, BLOCK + 5, 3)]


def later_labels(rng, n, k):
    """Labels that come one after the other in a search, and some that do not."""
    labels = naive.random_labels(rng, n, k)
    yield from (labels, labels, (labels + 1) % k, np.zeros(n, np.int32), np.full(n, k - 1, np.int32))
    for moved in (1, 2, n):
        labels = labels.copy()
        labels[rng.permutation(n)[:moved]] = rng.integers(k, size=moved)
        yield labels


# ---------------------------------------------------------------- sums


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_updated_sums_and_scores_are_those_from_scratch_to_the_last_bit(features_of, n, p, k, dtype):
    rng = np.random.default_rng(n)
    features = features_of(naive.random_table(rng, n, p).astype(dtype))
    table, total, of_all = features.table, features.total, features.of_all
    last, sums = np.zeros(n, np.int32), np.zeros((k, p))
    sums[0] = of_all
    for labels in later_labels(rng, n, k):
        scores = updated_scores(table, total, of_all, labels.astype(np.int32), last, sums)
        np.testing.assert_array_equal(last, labels)
        np.testing.assert_array_equal(sums, naive.cluster_sums(table, labels, k))
        np.testing.assert_array_equal(scores, between_scores(table.astype(np.float64), total, labels, k))
        np.testing.assert_allclose(
            scores[:6], naive.scores(table[:, :6], labels), atol=1e-6 if dtype is np.float32 else 1e-13
        )


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_sums_of_values_are_exact_in_any_order(features_of, scale, standardize):
    rng = np.random.default_rng(0)
    raw = rng.normal(5.0, 10.0 ** rng.uniform(-3, 3, 20), (200, 20))
    raw[0, :5] = 1e6
    table = features_of(raw * scale, standardize).table
    for _ in range(20):
        labels = rng.integers(3, size=200)
        exact, order = naive.cluster_sums(table, labels, 3), rng.permutation(200)
        for c in range(3):
            np.testing.assert_array_equal(table[order][labels[order] == c].sum(axis=0), exact[c])
    centered = raw * scale - (raw * scale).mean(axis=0)
    expected = naive.standardized(raw) if standardize else centered
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_every_thread_keeps_the_sums_of_its_own_labels(features_of):
    rng = np.random.default_rng(0)
    features, labels = features_of(naive.random_table(rng, 40, 5)), naive.random_labels(rng, 40, 3)
    features.scores(labels, 3)
    others = []
    thread = Thread(target=lambda: others.append(features._last.state))
    thread.start()
    thread.join()
    assert others == [None]
    np.testing.assert_array_equal(features._last.state[0], labels)


def test_sums_of_many_clusters_are_not_kept(features_of):
    rng = np.random.default_rng(0)
    features = features_of(naive.random_table(rng, 40, 5))
    for k, kept in [(20, False), (4, True)]:
        features.scores(naive.random_labels(rng, 40, k), k)
        assert (features._last.state is not None) == kept


def test_permuted_copies_share_what_permuting_does_not_change(features_of):
    features = features_of(naive.random_table(np.random.default_rng(0), 20, 5))
    copy = features.permuted(1)
    assert copy.total is features.total
    np.testing.assert_array_equal(copy.table.sum(axis=0), copy.of_all)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("order", ["C", "F"])
def test_samples_and_columns_are_arranged_whatever_the_layout(order):
    rng = np.random.default_rng(0)
    values = np.asarray(rng.random((9, 2 * STRIP + 7)), order=order)
    samples, columns = rng.permutation(9)[:7], rng.permutation(values.shape[1])[: STRIP + 3]
    table = np.empty((samples.size, columns.size))
    arranged(values, samples, columns, table)
    np.testing.assert_array_equal(table, values[np.ix_(samples, columns)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p"), [(2, 1), (3, 5), (40, 7), (11, MEASURED + 3)])
def test_columns_are_measured_as_one_after_the_other(n, p, dtype):
    rng = np.random.default_rng(n)
    table = rng.standard_normal((n, p))
    table[:, ::3] = np.where(rng.permuted(np.tile(np.arange(n) > 0, (len(table.T[::3]), 1)), axis=1).T, 2.0, 5.0)
    table = table.astype(dtype)
    means, largest, spreads = np.zeros((2, p), dtype), np.empty(p, dtype), np.empty((2, p))
    measure_columns(table, 0.0, means, largest, spreads)
    of_each = naive.measured(table.astype(np.float64))
    close = {"rtol": 1e-12} if dtype == np.float64 else {"rtol": 1e-5}
    np.testing.assert_allclose(means.sum(axis=0), table.mean(axis=0), atol=1e-6)
    for found, expected in zip((largest, *spreads), of_each, strict=True):
        np.testing.assert_allclose(found, expected, **close)
    again = np.empty((2, p))
    measure_columns(table, 4.0, means, largest, again)
    assert np.all(largest == 4.0)
    np.testing.assert_allclose(again, spreads * (of_each[0] / 4.0) ** 2, **close)


def test_a_small_spread_about_a_large_value_keeps_its_digits():
    table = 1e9 + np.arange(5.0)[:, None]
    means, largest, spreads = np.zeros((2, 1)), np.empty(1), np.empty((2, 1))
    measure_columns(table, 0.0, means, largest, spreads)
    assert (largest[0], spreads[0, 0], spreads[1, 0]) == (2.0, 2.5, 0.0)


def test_pairs_on_all_features_need_no_copy(features_of, monkeypatch):
    features = features_of(naive.random_table(np.random.default_rng(0), 20, 5))
    table, weights = features.table, np.arange(1.0, 6.0)
    monkeypatch.delattr(numeric, "take_columns")
    np.testing.assert_allclose(features.pairs(np.arange(5)).similarity, table @ table.T, atol=1e-14)
    similarity = features.pairs(np.arange(5), weights).similarity
    np.testing.assert_allclose(similarity, (table * weights) @ table.T, atol=1e-14)


# ---------------------------------------------------------------- many values

# With more values than this, some share the digits by which they are sorted.
FEW = 2**16
MANY = {
    "distinct": lambda rng, size: rng.standard_normal(size),
    "with ties": lambda rng, size: rng.integers(-3, 4, size).astype(float),
    "that differ in their last bits": lambda rng, size: 0.7 + rng.integers(0, 1000, size) * 2.0**-52,
    "equal": lambda rng, size: np.ones(size),
    "with zeros of both signs": lambda rng, size: rng.choice([0.0, -0.0, 1.0], size),
    "with infinities": lambda rng, size: rng.choice([np.inf, -np.inf, 1.0], size),
}


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("size", [1, 100, FEW + 1])
def test_long_rows_are_sorted_as_by_numpy(size, kind):
    rng = np.random.default_rng(0)
    table = np.array([MANY[kind](rng, size) for _ in range(3)])
    expected = np.sort(table, axis=1)
    sort_long_rows(table)
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("size", [LONG - 1, LONG])
def test_missing_values_come_last(size):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((2, size))
    table[0, rng.random(size) < 0.3] = np.nan
    table[1, :2] = np.inf, np.nan
    expected = np.sort(table, axis=1)
    sort_rows(table)
    np.testing.assert_array_equal(table, expected)


def test_the_last_word_is_a_missing_value():
    assert np.isnan(np.array([LAST]).view(np.float64)).all()


@pytest.mark.parametrize("kind", MANY)
def test_the_largest_of_many_values_are_those_of_a_sort(kind):
    rng = np.random.default_rng(0)
    values = MANY[kind](rng, 2 * FEW)
    for count in (1, 2, FEW, 2 * FEW - 1, 2 * FEW):
        expected = np.sort(np.argsort(-values, kind="stable")[:count])
        np.testing.assert_array_equal(largest(values, count), expected)
    values[rng.permutation(2 * FEW)[:FEW]] = np.nan
    assert not np.isnan(values[largest(values, FEW // 4)]).any()


def test_labels_that_were_added_before_are_not_sorted_again():
    labels = np.array([0, 1, 1], np.int32)
    found = Climb(labels, np.array([0.5, 0.25]), np.array([0]), 0.5, ())
    envelope = Envelope.of_none(2)
    assert envelope.add([found, found]) == 1.0
    assert envelope.add([found._replace(scores=None)]) == 0.0
    assert envelope.objective.tolist() == [0.5, 0.75]


# ---------------------------------------------------------------- moves


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p", "k"), [(2, 3, 2), (5, 3, 5), (17, 6, 3), (30, PART_VALUES // 30 + 9, 4)])
def test_labels_are_settled_if_k_means_moves_no_sample(n, p, k, dtype):
    rng = np.random.default_rng(n)
    for _ in range(10):
        table, columns = naive.random_table(rng, n, 2 * p).astype(dtype), np.sort(rng.permutation(2 * p)[:p])
        start = naive.random_labels(rng, n, k)
        ended = start.copy()
        improve_rows(table[:, columns].astype(np.float64), np.ones(p), ended, k, 0, 1000)
        assert is_settled(table, columns, start, k) == np.array_equal(start, ended)
        assert is_settled(table, columns, ended, k)


def test_settled_labels_need_no_copy_of_the_rows(features_of, monkeypatch):
    rng = np.random.default_rng(0)
    features, subset = features_of(naive.random_table(rng, 100, 12)), np.arange(6)
    settled = KMeans("rows").cluster(features, subset, 2, rng)
    other = (settled + (np.arange(100) < 5)) % 2
    monkeypatch.setattr(numeric, "LARGE_VALUES", 0)
    np.testing.assert_array_equal(
        KMeans("rows").cluster(features, subset, 2, rng, warm=other.astype(np.int32)), settled
    )
    monkeypatch.delattr(numeric, "take_columns")
    again = KMeans("rows").cluster(features, subset, 2, rng, warm=settled)
    np.testing.assert_array_equal(again, settled)
    assert again is not settled
