"""Kernels for categories by their levels do what their slow twins do on indicator columns."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._kernels.counts import (
    add_matches,
    add_seen_levels,
    count_all,
    level_scores,
    numbered_levels,
    updated_squares,
)
from sparsecluster._kernels.level_rows import improve_levels, seed_levels, sum_levels
from sparsecluster._kernels.seen_levels import count_seen_levels, improve_seen_levels, seed_seen_levels
from tests import naive, naive_levels

# n, p, k: the smallest, one sample a cluster, the usual, and more samples.
SHAPES = [(3, 1, 2), (5, 3, 5), (9, 4, 3), (17, 6, 2), (20, 5, 4)]
PASSES = 1000
# Numbers beside the categories.
WIDTH = 2


def random_codes(rng, n, p, missing=0.0):
    """Levels 0, 1, ..., all of which occur, and -1 where one is missing."""
    codes = np.where(rng.random((n, p)) < missing, -1, rng.integers(0, 6, (n, p)))
    for own in codes.T:
        own[rng.integers(n, size=2)] = [0, 1]
        own[own >= 0] = np.unique(own[own >= 0], return_inverse=True)[1]
    return codes.astype(np.int32)


def numbered(codes):
    """The levels as the kernels for K-means read them, and their number."""
    widths = codes.max(axis=0) + 1
    starts = np.concatenate([[0], np.cumsum(widths)])
    return numbered_levels(codes, np.arange(codes.shape[1]), starts[:-1]), starts


def case(rng, n, p, missing=0.0):
    """Numbers with weights and categories with units, and the same as columns with weights and a mask."""
    codes, units, weights = random_codes(rng, n, p, missing), rng.random(p) + 0.1, rng.random(WIDTH)
    table, mask = rng.standard_normal((n, WIDTH)), (rng.random((n, WIDTH)) >= missing).astype(np.uint8)
    mask[rng.integers(n, size=WIDTH), np.arange(WIDTH)] = 1
    table = (table - (table * mask).sum(axis=0) / mask.sum(axis=0)) * mask
    columns, seen = naive_levels.indicators(codes, units)
    of_columns = np.concatenate([weights, np.ones(columns.shape[1])])
    return codes, units, table, weights, mask, (np.hstack([table, columns]), of_columns, np.hstack([mask, seen]))


def level_rows(codes, units, table, weights):
    levels, starts = numbered(codes)
    one = naive_levels.level_squares(codes, np.zeros(len(codes), np.int32))
    return table, weights, levels, units, float(units @ one) / 2, int(starts[-1])


def seen_level_rows(codes, units, table, weights, mask):
    levels, starts = numbered(codes)
    shares = np.diff(starts).astype(float)
    return table, weights, mask, levels, units, (codes >= 0).astype(np.uint8), shares, int(starts[-1])


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_squared_counts_follow_from_those_of_other_labels_to_the_last_bit(n, p, k, missing):
    rng = np.random.default_rng(n)
    codes = random_codes(rng, n, p, missing)
    _, starts = numbered(codes)

    def blank():
        shapes = [(k, starts[-1]), (k, p), (k, p)]
        return np.full(n, -1, np.int32), *(np.full(shape, 7) for shape in shapes)

    state, labels = blank(), naive.random_labels(rng, n, k)
    for moved in (0, 1, 0, 2, n, 3, n // 2, 1):
        labels[rng.integers(n, size=moved)] = rng.integers(k, size=moved)
        found = updated_squares(codes, starts, labels, *state)
        np.testing.assert_allclose(found, naive_levels.level_squares(codes, labels), rtol=1e-13)
        np.testing.assert_array_equal(state[0], labels)
        fresh = blank()
        np.testing.assert_array_equal(found, updated_squares(codes, starts, labels, *fresh))
        for kept, new in zip(state, fresh, strict=True):
            np.testing.assert_array_equal(kept, new)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_scores_are_the_share_of_the_dissimilarity_between_clusters(n, p, k, missing):
    rng = np.random.default_rng(n)
    codes, labels = random_codes(rng, n, p, missing), naive.random_labels(rng, n, k)
    # A category with a single level has no dissimilarity.
    codes[:, 0] = np.minimum(codes[:, 0], 0)
    _, starts = numbered(codes)
    one, observed = naive_levels.level_squares(codes, np.zeros_like(labels)), (codes >= 0).sum(axis=0).astype(float)
    counts = [np.zeros((k, width), np.int64) for width in (starts[-1], p, p)]
    found = level_scores(codes, starts, one, observed, labels, np.full(n, -1, np.int32), *counts)
    np.testing.assert_allclose(found, naive_levels.level_scores(codes, labels), atol=1e-13)


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_counts_from_scratch_are_those_of_every_level_in_every_cluster(n, p, k):
    rng = np.random.default_rng(n)
    codes, labels = random_codes(rng, n, p, 0.3), naive.random_labels(rng, n, k)
    _, starts = numbered(codes)
    counts, squares, seen = np.full((k, starts[-1]), 7), np.full((k, p), 7), np.full((k, p), 7)
    count_all(codes, starts, labels, counts, squares, seen)
    for c in range(k):
        for a in range(p):
            own = codes[labels == c, a]
            expected = np.bincount(own[own >= 0], minlength=starts[a + 1] - starts[a])
            np.testing.assert_array_equal(counts[c, starts[a] : starts[a + 1]], expected)
            assert (squares[c, a], seen[c, a]) == ((expected**2).sum(), expected.sum())


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_pairs_are_the_same_if_their_levels_are_and_seen_if_both_are(missing):
    rng = np.random.default_rng(0)
    codes, weights = random_codes(rng, 8, 5, missing), rng.random(5)
    same, both = np.zeros((2, 8, 8))
    add_matches(codes, weights, same)
    add_seen_levels(codes, weights, both)
    seen = (codes >= 0)[:, None, :] & (codes >= 0)[None, :, :]
    equal = codes[:, None, :] == codes[None, :, :]
    np.testing.assert_allclose(same, np.tril((weights * (seen & equal)).sum(axis=2)), atol=1e-15)
    np.testing.assert_allclose(both, np.tril((weights * seen).sum(axis=2)), atol=1e-15)


# ---------------------------------------------------------------- K-means


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_seeds_passes_and_moves_are_those_of_the_twin_on_indicator_columns(n, p, k, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(4):
        codes, units, table, weights, _, (columns, of_columns, _) = case(rng, n, p)
        given, uniforms = level_rows(codes, units, table, weights), rng.random(k)
        similarity = (columns * of_columns) @ columns.T
        labels = seed_levels(*given, uniforms)
        np.testing.assert_array_equal(labels, naive.seed(similarity, uniforms))
        expected = naive.improve(similarity, labels, k, lloyd_passes)
        value = improve_levels(*given, labels, k, lloyd_passes, PASSES)
        np.testing.assert_array_equal(labels, expected)
        assert value == pytest.approx(naive.similarity_objective(similarity, labels), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("lloyd_passes", [0, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_with_missing_levels_they_are_those_of_the_twin_over_what_is_seen(n, p, k, missing, lloyd_passes):
    rng = np.random.default_rng(n)
    for _ in range(4):
        *parts, of_all = case(rng, n, p, missing)
        given, uniforms = seen_level_rows(*parts), rng.random(k)
        labels = naive.random_labels(rng, n, k)
        expected = naive.improve_of_seen(*of_all, labels, k, lloyd_passes)
        value = improve_seen_levels(*given, labels, k, lloyd_passes, PASSES)
        np.testing.assert_array_equal(labels, expected)
        assert value == pytest.approx(-naive.seen_within(*of_all, labels), rel=1e-11, abs=1e-12)
        assert set(seed_seen_levels(*given, uniforms)) == set(range(k))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_seeds_over_what_is_seen_are_those_of_the_twin(n, p, k, missing):
    rng = np.random.default_rng(n)
    for _ in range(20):
        *parts, (columns, of_columns, seen) = case(rng, n, p, missing)
        uniforms = rng.random(k)
        expected = naive.seed_of_seen(columns, of_columns, seen, uniforms)
        np.testing.assert_array_equal(seed_seen_levels(*seen_level_rows(*parts), uniforms), expected)


@pytest.mark.parametrize(("n", "p", "k"), SHAPES)
def test_sums_and_counts_are_weighted(n, p, k):
    rng = np.random.default_rng(n)
    codes, units, table, weights, *_ = case(rng, n, p)
    table, weights, levels, units, _, n_levels = level_rows(codes, units, table, weights)
    labels = naive.random_labels(rng, n, k)
    sums, counts, q, sizes = np.full((k, WIDTH), 7.0), np.full((k, n_levels), 7.0), np.full(k, 7.0), np.full(k, 7.0)
    sum_levels(table, weights, levels, units, labels, sums, counts, q, sizes)
    for c in range(k):
        np.testing.assert_allclose(sums[c], weights * table[labels == c].sum(axis=0), atol=1e-14)
        assert counts[c].sum() == pytest.approx(np.sum(labels == c) * units.sum() / 2)
        same = (codes[labels == c][:, None] == codes[labels == c][None, :]) @ units / 2
        assert q[c] == pytest.approx(weights @ table[labels == c].sum(axis=0) ** 2 + same.sum())
        assert sizes[c] == np.sum(labels == c)


def test_the_last_row_of_counts_over_what_is_seen_is_for_all_samples():
    rng = np.random.default_rng(0)
    codes = random_codes(rng, 12, 3, 0.3)
    levels, starts = numbered(codes)
    counts, squares, observed = np.full((4, starts[-1]), 7.0), np.full((4, 3), 7.0), np.full((4, 3), 7.0)
    count_seen_levels(levels, (codes >= 0).astype(np.uint8), naive.random_labels(rng, 12, 3), counts, squares, observed)
    np.testing.assert_array_equal(counts[:3].sum(axis=0), counts[3])
    np.testing.assert_array_equal(observed[3], (codes >= 0).sum(axis=0))
    np.testing.assert_allclose(squares[3], np.add.reduceat(counts[3] ** 2, starts[:-1]))
