"""Every kernel does what its slow twin does. (The univariate ones have a file of their own.)"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.metrics.cluster import contingency_matrix

from sparsecluster import adjusted_rand_index
from sparsecluster._kernels.labelings import crossed, named
from sparsecluster._kernels.moves import draw
from sparsecluster._kernels.objective import BLOCK, between_scores, group_samples
from sparsecluster._kernels.order import column_fingerprints, mixed, row_fingerprints, shuffle_columns
from sparsecluster._kernels.pairs import improve_pairs, link_pairs, seed_pairs
from sparsecluster._kernels.rows import improve_rows, seed_rows, sum_rows
from sparsecluster._kernels.select import largest, take_columns
from sparsecluster._search.agreement import agreement
from tests import naive

# n, p, k: the smallest, one sample a cluster, the usual, and clusters of more than four samples.
SHAPES = [(2, 1, 2), (5, 3, 5), (9, 4, 3), (17, 6, 2), (23, 2, 4)]
PASSES = 1000


def centered(rng, n, p, whole=False):
    table = naive.random_table(rng, n, p, whole)
    return table - table.mean(axis=0)


def improve_both(table, weights, labels, k, lloyd_passes):
    """Labels and J of both forms."""
    by_pairs, by_rows = labels.copy(), labels.copy()
    value_pairs = improve_pairs((table * weights) @ table.T, by_pairs, k, lloyd_passes, PASSES)
    value_rows = improve_rows(table, weights, by_rows, k, lloyd_passes, PASSES)
    return (by_pairs, value_pairs), (by_rows, value_rows)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_scores_are_one_minus_within_over_total(n, p, k, whole):
    rng = np.random.default_rng(n)
    table = centered(rng, n, p, whole)
    for labels in (naive.random_labels(rng, n, k), rng.integers(k, size=n, dtype=np.int32)):
        found = between_scores(table, (table**2).sum(axis=0), labels, k)
        np.testing.assert_allclose(found, naive.scores(table, labels), rtol=0, atol=1e-14)


@pytest.mark.parametrize("p", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_scores_of_more_columns_than_a_block(p):
    rng = np.random.default_rng(p)
    table, labels = centered(rng, 6, p), naive.random_labels(rng, 6, 2)
    found = between_scores(table, (table**2).sum(axis=0), labels, 2)
    np.testing.assert_allclose(found, naive.scores(table, labels), rtol=0, atol=1e-14)


def test_scores_of_single_precision_are_right_to_single_precision():
    rng = np.random.default_rng(0)
    table = centered(rng, 30, 5).astype(np.float32)
    labels = naive.random_labels(rng, 30, 3)
    found = between_scores(table, np.einsum("ia,ia->a", table, table, dtype=np.float64), labels, 3)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, naive.scores(table, labels), rtol=0, atol=1e-6)


def test_one_cluster_per_sample_explains_all_and_never_more():
    table = centered(np.random.default_rng(0), 7, 300)
    found = between_scores(table, (table**2).sum(axis=0), np.arange(7, dtype=np.int32), 7)
    assert found.max() <= 1.0
    np.testing.assert_allclose(found, 1.0, rtol=1e-14)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_samples_are_grouped_by_cluster_in_their_order(k):
    labels = np.random.default_rng(k).integers(k, size=9, dtype=np.int32)
    order, starts = group_samples(labels, k)
    groups = [order[starts[c] : starts[c + 1]].tolist() for c in range(k)]
    assert groups == [[i for i in range(9) if labels[i] == c] for c in range(k)]
    assert starts[0] == 0
    assert starts[-1] == 9


# ---------------------------------------------------------------- k-means


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_sums_over_clusters(n, p, k, whole):
    rng = np.random.default_rng(n)
    table, weights, labels = naive.random_table(rng, n, p, whole), rng.random(p), naive.random_labels(rng, n, k)
    similarity = (table * weights) @ table.T
    link, q, sizes = np.empty((k, n)), np.empty(k), np.empty(k)
    link_pairs(similarity, labels, link, q, sizes)
    sums, q_rows, sizes_rows = np.empty((k, p)), np.empty(k), np.empty(k)
    sum_rows(table, weights, labels, sums, q_rows, sizes_rows)
    for c in range(k):
        samples = np.flatnonzero(labels == c)
        assert sizes[c] == sizes_rows[c] == samples.size
        np.testing.assert_allclose(link[c], similarity[:, samples].sum(axis=1))
        np.testing.assert_allclose(table @ sums[c], similarity[:, samples].sum(axis=1), atol=1e-12)
        np.testing.assert_allclose([q[c], q_rows[c]], similarity[np.ix_(samples, samples)].sum())


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_seeds_are_those_of_the_twin_in_both_forms(n, p, k, whole):
    rng = np.random.default_rng(n)
    for _ in range(20):
        # Whole numbers are exact in every form, so equal rows and equal distances come out the same.
        table = naive.random_table(rng, n, p, whole)
        uniforms = rng.random(k)
        labels = naive.seed(table @ table.T, uniforms)
        assert set(labels) == set(range(k))
        np.testing.assert_array_equal(seed_pairs(table @ table.T, uniforms), labels)
        np.testing.assert_array_equal(seed_rows(table, np.ones(p), uniforms), labels)


def test_samples_are_drawn_in_proportion_to_their_weights():
    weights = np.array([0.0, 3.0, 0.0, 1.0, 6.0, 0.0])
    taken = np.array([True, False, False, False, False, True])
    grid = (np.arange(1000) + 0.5) / 1000
    assert Counter(draw(weights, u, taken) for u in grid) == {1: 300, 3: 100, 4: 600}
    assert [draw(weights, u, taken) for u in grid] == [naive.draw(weights, u, taken) for u in grid]
    assert draw(np.zeros(6), 0.7, taken) == 1


def test_a_draw_at_the_very_end_is_a_sample_with_weight():
    weights, taken = np.array([0.1, 0.2, 0.3, 0.0]), np.zeros(4, bool)
    assert draw(weights, 1.0, taken) == 2


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_passes_and_moves_are_those_of_the_twin_in_both_forms(n, p, k, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(10):
        table, weights, labels = centered(rng, n, p), rng.random(p), naive.random_labels(rng, n, k)
        expected = naive.improve((table * weights) @ table.T, labels, k, lloyd_passes)
        for found, _ in improve_both(table, weights, labels, k, lloyd_passes):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_the_value_returned_is_j_and_no_move_raises_it(n, p, k, whole):
    rng = np.random.default_rng(n)
    for _ in range(5):
        table, labels = naive.random_table(rng, n, p, whole), naive.random_labels(rng, n, k)
        j = partial(naive.similarity_objective, table @ table.T)
        for found, value in improve_both(table, np.ones(p), labels, k, 3):
            assert value == pytest.approx(j(found), rel=1e-12)
            assert naive.best_after_one_move(j, found, k) <= value + 1e-9


def test_pairs_climb_for_any_dissimilarity():
    """With A = -D/2 the value J is minus the paper's objective, whatever D is."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        distance = rng.random((12, 12))
        distance = (distance + distance.T) * (1 - np.eye(12))
        labels = naive.random_labels(rng, 12, 3)
        value = improve_pairs(-distance / 2, labels, 3, 0, PASSES)
        paper = sum(np.triu(distance[np.ix_(g, g)]).sum() / len(g) for g in naive.members(labels))
        assert value == pytest.approx(-paper, rel=1e-12)
        j = partial(naive.similarity_objective, -distance / 2)
        assert naive.best_after_one_move(j, labels, 3) <= value + 1e-12


def test_columns_of_weight_zero_do_not_count():
    rng = np.random.default_rng(0)
    table, labels = rng.standard_normal((20, 6)), naive.random_labels(rng, 20, 3)
    weights = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    chosen = table[:, weights > 0].copy()
    uniforms = rng.random(3)
    np.testing.assert_array_equal(seed_rows(table, weights, uniforms), seed_rows(chosen, np.ones(3), uniforms))
    everything, part = labels.copy(), labels.copy()
    improve_rows(table, weights, everything, 3, 3, PASSES)
    improve_rows(chosen, np.ones(3), part, 3, 3, PASSES)
    np.testing.assert_array_equal(everything, part)


def test_rows_of_single_precision_are_grouped_as_the_same_numbers_in_double():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table, uniforms = rng.standard_normal((25, 5)).astype(np.float32), rng.random(3)
        single, double = seed_rows(table, np.ones(5), uniforms), seed_rows(table.astype(float), np.ones(5), uniforms)
        np.testing.assert_array_equal(single, double)
        values = [
            improve_rows(x, np.ones(5), y, 3, 3, PASSES) for x, y in ((table, single), (table.astype(float), double))
        ]
        np.testing.assert_array_equal(single, double)
        assert values[0] == pytest.approx(values[1], rel=1e-12)


# ---------------------------------------------------------------- order


def test_shuffle_is_that_of_the_twin():
    table = np.random.default_rng(0).standard_normal((11, 4))
    for seed in (0, 1, 2**63 - 1):
        found = table.copy()
        shuffle_columns(found, np.arange(4), np.uint64(seed))
        np.testing.assert_array_equal(found, naive.shuffled(table, seed))


def test_shuffle_permutes_each_column_by_its_own_permutation():
    table = np.tile(np.arange(50.0)[:, None], 8)
    seen = set()
    for seed in range(5):
        found = table.copy()
        shuffle_columns(found, np.arange(found.shape[1]), np.uint64(seed))
        np.testing.assert_array_equal(np.sort(found, axis=0), table)
        seen |= {tuple(column) for column in found.T}
    assert len(seen) == 5 * 8


def test_shuffle_makes_every_order_equally_often():
    n_seeds, n_columns = 200, 60
    seen: Counter[tuple[float, ...]] = Counter()
    for seed in np.random.default_rng(0).integers(2**63, size=n_seeds, dtype=np.uint64):
        table = np.tile(np.arange(4.0)[:, None], n_columns)
        shuffle_columns(table, np.arange(table.shape[1]), seed)
        seen.update(map(tuple, table.T))
    counts = [seen[order] for order in permutations(range(4))]
    assert sum(counts) == n_seeds * n_columns
    assert chisquare(counts).pvalue > 0.001


def test_shuffle_does_not_link_neighboring_columns():
    """Where two columns send the same sample is independent: 16 equally frequent pairs."""
    pairs = np.zeros((4, 4))
    for seed in range(200):
        table = np.tile(np.arange(4.0)[:, None], 40)
        shuffle_columns(table, np.arange(table.shape[1]), np.uint64(seed))
        np.add.at(pairs, (table[0, :-1].astype(int), table[0, 1:].astype(int)), 1)
    assert chisquare(pairs.ravel()).pvalue > 0.001


def test_fingerprints_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((6, 4))
    row_salts, column_salts = (rng.integers(2**63, size=size, dtype=np.uint64) for size in table.shape)
    rows, columns = np.zeros(6, np.uint64), np.zeros(4, np.uint64)
    row_fingerprints(table.view(np.uint64), column_salts, rows)
    column_fingerprints(table.view(np.uint64), row_salts, columns)
    assert rows.tolist() == naive.row_fingerprints(table, column_salts)
    assert columns.tolist() == naive.row_fingerprints(table.T, row_salts)
    assert mixed(row_salts).tolist() == [naive.mix((salt + naive.GOLDEN) % naive.WORD) for salt in row_salts.tolist()]


def test_fingerprints_do_not_depend_on_the_order_of_what_they_sum_over():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((6, 4))
    salts = [rng.integers(2**63, size=size, dtype=np.uint64) for size in table.shape]
    samples, columns = rng.permutation(6), rng.permutation(4)

    def prints(table, row_salts, column_salts):
        rows, columns = np.zeros(6, np.uint64), np.zeros(4, np.uint64)
        row_fingerprints(table.view(np.uint64), column_salts, rows)
        column_fingerprints(table.view(np.uint64), row_salts, columns)
        return rows, columns

    first = prints(table, *salts)
    second = prints(np.ascontiguousarray(table[np.ix_(samples, columns)]), salts[0][samples], salts[1][columns])
    np.testing.assert_array_equal(second[0], first[0][samples])
    np.testing.assert_array_equal(second[1], first[1][columns])
    assert np.unique(first[0]).size == 6
    assert np.unique(first[1]).size == 4


# ---------------------------------------------------------------- choosing


@pytest.mark.parametrize("kind", ["distinct", "with ties", "ascending", "descending", "equal"])
def test_the_largest_are_those_of_a_sort_and_the_first_of_equal_ones(kind):
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 10, 101):
        values = {
            "distinct": rng.random(size),
            "with ties": rng.integers(0, 4, size).astype(float),
            "ascending": np.arange(size, dtype=float),
            "descending": -np.arange(size, dtype=float),
            "equal": np.ones(size),
        }[kind]
        for count in range(1, size + 1):
            expected = sorted(np.argsort(-values, kind="stable")[:count].tolist())
            assert largest(values, count).tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_taken_as_they_are(dtype):
    table = np.random.default_rng(0).random((7, 5)).astype(dtype)
    columns = np.array([4, 0, 0, 2])
    taken = take_columns(table, columns)
    np.testing.assert_array_equal(taken, table[:, columns])
    assert taken.dtype == dtype
    assert taken.flags.c_contiguous


# ---------------------------------------------------------------- labelings


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_clusters_are_numbered_by_their_first_samples(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        labels = rng.integers(rng.integers(1, 6), size=n, dtype=np.int32)
        order = list(dict.fromkeys(labels.tolist()))
        assert named(labels).tolist() == [order.index(label) for label in labels.tolist()]


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_crossed_labelings_are_counted_in_every_pair_of_clusters(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        one, other = (rng.integers(-1, rng.integers(1, 6), size=n, dtype=np.int32) for _ in range(2))
        counts = crossed(one, other)
        used = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        np.testing.assert_array_equal(used, contingency_matrix(one, other))
        assert agreement(one, other) == adjusted_rand_index(one, other)
