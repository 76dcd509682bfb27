"""Kernels for matrices of dissimilarities do what their slow twins do."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from sparsecluster._features.matrices import rounded
from sparsecluster._kernels.matrices import (
    add_permuted_stack,
    add_seen_stack,
    add_stack,
    matrix_fingerprints,
    mirror,
    seen_stack_within,
    updated_within,
)
from tests import naive
from tests.helpers.matrices import random_matrix


def stack_of(rng, n, count=4, missing=0.0):
    """A stack of matrices, which of them five features are, and the order of samples in each."""
    stack = np.stack([random_matrix(rng, n, missing) for _ in range(count)])
    places = np.array([2, 0, 3, 1, 0])
    orders = np.stack([rng.permutation(n) for _ in places])
    return stack, places, orders


def rounded_units(stack, places):
    """The units of all features, after rounding the matrices."""
    units = []
    for matrix in stack:
        matrix[:], unit = rounded(matrix)
        units.append(unit)
    return np.array(units)[places]


def no_labels(n, k):
    """Labels that no sample has, and sums that belong to nothing."""
    return np.full(n, -1, np.int32), np.full((5, k), 7)


def of_features(stack, places, orders):
    """What each feature says of the samples, in their own order."""
    return [stack[place][np.ix_(order, order)] for place, order in zip(places, orders, strict=True)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 5), (9, 3), (17, 2)])
def test_withins_of_matrices_are_sums_over_pairs(n, k, dtype):
    rng = np.random.default_rng(n)
    stack, *rest = stack_of(rng, n)
    stack = stack.astype(dtype)
    exact = stack.copy()
    units = rounded_units(exact, rest[0])
    deltas = of_features(stack.astype(float), *rest)
    for labels in (naive.random_labels(rng, n, k), np.zeros(n, np.int32)):
        expected = [naive.delta_within(delta, labels) for delta in deltas]
        found = updated_within(exact, *rest, units, labels, *no_labels(n, k))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(seen_stack_within(stack, *rest, labels, k), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 5), (9, 3), (17, 2), (30, 4)])
def test_withins_follow_from_those_of_other_labels_to_the_last_bit(n, k):
    rng = np.random.default_rng(n)
    stack, *rest = stack_of(rng, n)
    units = rounded_units(stack, rest[0])
    deltas = of_features(stack, *rest)
    old, sums = no_labels(n, k)
    labels = naive.random_labels(rng, n, k)
    for moved in (0, 1, 0, 2, n, 3, n // 2, 1):
        labels[rng.integers(n, size=moved)] = rng.integers(k, size=moved)
        found = updated_within(stack, *rest, units, labels, old, sums)
        np.testing.assert_allclose(found, [naive.delta_within(d, labels) for d in deltas], rtol=1e-12, atol=1e-14)
        old = labels.copy()
        np.testing.assert_array_equal(found, updated_within(stack, *rest, units, labels, *no_labels(n, k)))


@pytest.mark.parametrize("n", [2, 3, 64, 65, 700])
def test_rounded_matrices_are_nearly_the_same_and_have_exact_sums(n):
    rng = np.random.default_rng(n)
    stack = np.stack([random_matrix(rng, n) * scale for scale in (1.0, 1e200, 1e-200, 0.0)])
    given = stack.copy()
    units = rounded_units(stack, np.arange(4))
    assert (np.abs(stack - given).max(axis=(1, 2)) <= units / 2).all()
    assert (units[:3] <= n**2 * 2.0**-50 * given.max(axis=(1, 2))[:3]).all()
    for matrix, unit in zip(stack, units, strict=True):
        assert (matrix % unit == 0).all()
        assert matrix.sum(axis=1).max() / unit < 2**53
        assert matrix.sum() / unit < 2**63


@pytest.mark.parametrize("missing", [0.1, 0.6])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 5), (9, 3), (17, 2)])
def test_withins_of_matrices_with_missing_pairs_count_the_pairs_seen(n, k, missing):
    rng = np.random.default_rng(n)
    stack, *rest = stack_of(rng, n, missing=missing)
    deltas = of_features(stack, *rest)
    for labels in (naive.random_labels(rng, n, k), np.zeros(n, np.int32)):
        found = seen_stack_within(stack, *rest, labels, k)
        np.testing.assert_allclose(found, [naive.delta_within(d, labels) for d in deltas], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [2, 9, 14])
def test_sums_of_matrices_add_up_what_features_say(n):
    rng = np.random.default_rng(n)
    stack, places, orders = stack_of(rng, n)
    weights, before = rng.random(5), rng.random((n, n))
    before += before.T
    total = before.copy()
    add_stack(stack, places, weights, 0.0, total)
    mirror(total)
    np.testing.assert_allclose(total, before + np.tensordot(weights, stack[places], 1), rtol=1e-12)
    total = before.copy()
    add_permuted_stack(stack, places, orders, weights, 0.0, total)
    mirror(total)
    expected = before + np.tensordot(weights, of_features(stack, places, orders), 1)
    np.testing.assert_allclose(total, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [2, 9, 14])
def test_rounded_sums_of_matrices_forget_what_was_added_and_removed(n):
    rng = np.random.default_rng(n)
    stack, places, orders = stack_of(rng, n)
    weights, anchor, some = rng.random(5), 1.5 * 2.0**5, np.array([3, 0])
    for add, given in ((add_stack, (places,)), (add_permuted_stack, (places, orders))):
        detour, direct = np.zeros((2, n, n))
        add(stack, *given, weights, anchor, detour)
        add(stack, *(each[some] for each in given), -weights[some], anchor, detour)
        rest = np.array([4, 2, 1])
        add(stack, *(each[rest] for each in given), weights[rest], anchor, direct)
        np.testing.assert_array_equal(detour, direct)
        plain = np.zeros((n, n))
        add(stack, *(each[rest] for each in given), weights[rest], 0.0, plain)
        np.testing.assert_allclose(direct, plain, atol=1e-13)


@pytest.mark.parametrize("n", [2, 9, 14])
def test_sums_of_matrices_with_missing_pairs_say_how_much_they_saw(n):
    rng = np.random.default_rng(n)
    stack, places, orders = stack_of(rng, n, missing=0.4)
    weights, shares = rng.random((2, 5))
    total, seen = np.zeros((2, n, n))
    add_seen_stack(stack, places, orders, weights, shares, total, seen)
    mirror(total)
    mirror(seen)
    deltas = np.array(of_features(stack, places, orders))
    np.testing.assert_allclose(total, np.tensordot(weights, np.nan_to_num(deltas), 1), atol=1e-13)
    np.testing.assert_allclose(seen, np.tensordot(shares, ~np.isnan(deltas), 1), atol=1e-13)


def test_mirroring_keeps_the_lower_triangle_and_the_diagonal():
    matrix = np.random.default_rng(0).random((5, 5))
    expected = np.tril(matrix) + np.tril(matrix, -1).T
    mirror(matrix)
    np.testing.assert_array_equal(matrix, expected)


def prints_of(matrix, salts, feature_salt):
    rows = np.zeros(len(matrix), np.uint64)
    whole = matrix_fingerprints(np.ascontiguousarray(matrix).view(np.uint64), salts, feature_salt, rows)
    return rows.tolist(), int(whole)


def test_fingerprints_of_matrices_are_those_of_the_twin_and_add_up():
    rng = np.random.default_rng(0)
    salts, feature_salt = rng.integers(2**63, size=6, dtype=np.uint64), np.uint64(rng.integers(2**63))
    first, second = random_matrix(rng, 6), random_matrix(rng, 6, 0.5)
    for matrix in (first, second):
        twin = naive.matrix_fingerprints(matrix, salts.tolist(), int(feature_salt))
        assert prints_of(matrix, salts, feature_salt) == twin
    rows = np.zeros(6, np.uint64)
    for matrix in (first, second):
        matrix_fingerprints(matrix.view(np.uint64), salts, feature_salt, rows)
    one, two = (prints_of(matrix, salts, feature_salt)[0] for matrix in (first, second))
    assert rows.tolist() == [(x + y) % naive.WORD for x, y in zip(one, two, strict=True)]


def test_fingerprints_of_matrices_go_with_their_samples():
    rng = np.random.default_rng(0)
    prints = partial(prints_of, feature_salt=np.uint64(5))
    matrix, order = random_matrix(rng, 8), rng.permutation(8)
    salts = rng.integers(2**63, size=8, dtype=np.uint64)
    rows, whole = prints(matrix, salts)
    moved, same = prints(matrix[np.ix_(order, order)], salts[order])
    assert moved == [rows[i] for i in order]
    assert same == whole
    assert len(set(rows)) == 8
    assert prints_of(matrix, salts, np.uint64(6))[0] != rows
