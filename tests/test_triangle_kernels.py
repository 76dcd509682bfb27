"""Kernels for the pairs of complete matrices do what their slow twins do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from sparsecluster._features.matrices import rounded
from sparsecluster._features.triangles import Triangles
from sparsecluster._kernels._jit import kernel, step_by_step
from sparsecluster._kernels.matrices import add_stack
from sparsecluster._kernels.triangles import (
    BLOCK,
    add_triangles,
    count_units,
    fold,
    permute_triangles,
    table_within,
    unfold,
)
from tests import naive
from tests.helpers.matrices import random_matrix

SHAPES = [(2, 1), (3, 8), (9, 3), (17, 21), (30, 16)]


def stack_of(rng, n, p):
    """Rounded matrices of different scales, their units and triangles."""
    rounds = [rounded(random_matrix(rng, n) * 10.0**scale) for scale in rng.integers(-3, 4, size=p)]
    stack, units = np.stack([matrix for matrix, _ in rounds]), np.array([unit for _, unit in rounds])
    return stack, units, np.array([naive.triangle(matrix) for matrix in stack])


def table_of(triangles, units):
    """The counts of units by pair."""
    table = np.empty(triangles.shape[::-1], np.int64)
    count_units(triangles, units, table)
    return table


@pytest.mark.parametrize("n", [2, 3, 8, 9, 17, 30])
def test_triangles_are_what_is_below_the_diagonal_and_are_unfolded_to_both_sides(n):
    matrix = random_matrix(np.random.default_rng(n), n)
    triangle = np.empty(n * (n - 1) // 2)
    fold(matrix, 0.0, triangle)
    np.testing.assert_array_equal(triangle, naive.triangle(matrix))
    again = np.full((n, n), np.nan)
    unfold(triangle, -0.5, again)
    np.testing.assert_array_equal(again, matrix / -2)


def test_triangles_are_rounded_as_matrices_are():
    given = [random_matrix(np.random.default_rng(0), 12) * 10.0**a for a in (-300, 0, 290)]
    triangles = Triangles.of(given, 12, 3)
    for matrix, triangle, unit in zip(given, triangles.values, triangles.units, strict=True):
        expected, own = rounded(matrix)
        np.testing.assert_array_equal(triangle, naive.triangle(expected))
        assert unit == own


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_permuted_triangles_are_those_of_permuted_matrices(n, p):
    rng = np.random.default_rng(n)
    stack, _, triangles = stack_of(rng, n, p)
    orders = np.array([rng.permutation(n) for _ in range(p)])
    permuted = np.empty_like(triangles)
    permute_triangles(triangles, orders, permuted)
    expected = [naive.triangle(matrix[np.ix_(order, order)]) for matrix, order in zip(stack, orders, strict=True)]
    np.testing.assert_array_equal(permuted, expected)


@pytest.mark.parametrize(("n", "p"), [*SHAPES, (int(np.sqrt(2 * BLOCK)) + 2, 9)])
def test_tables_count_the_units_of_every_pair(n, p):
    _, units, triangles = stack_of(np.random.default_rng(n), n, p)
    np.testing.assert_array_equal(table_of(triangles, units) * units, triangles.T)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(("n", "p"), [(5, 1), *SHAPES[2:]])
def test_withins_of_tables_follow_from_those_of_other_labels_to_the_last_bit(n, p, k):
    rng = np.random.default_rng(n)
    stack, units, triangles = stack_of(rng, n, p)
    table = table_of(triangles, units)
    old, sums = np.full(n, -1, np.int32), np.full((k, p), 7)
    labels = naive.random_labels(rng, n, k)
    for moved in (0, 1, 0, 2, n, 3, n // 2, 1):
        labels[rng.integers(n, size=moved)] = rng.integers(k, size=moved)
        found = table_within(table, units, labels, old, sums)
        np.testing.assert_allclose(found, [naive.delta_within(delta, labels) for delta in stack], rtol=1e-12)
        np.testing.assert_array_equal(old, labels)
        scratch = np.zeros_like(sums)
        np.testing.assert_array_equal(found, table_within(table, units, labels, np.full(n, -1, np.int32), scratch))
        np.testing.assert_array_equal(sums, scratch)


@pytest.mark.parametrize("anchor", [0.0, 1.5 * 2.0**8])
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_sums_of_triangles_are_sums_of_matrices_to_the_last_bit(n, p, anchor):
    rng = np.random.default_rng(n)
    stack, _, triangles = stack_of(rng, n, p)
    features = rng.permutation(p)[: p // 2 + 1]
    weights = rng.normal(size=features.size)
    total, expected = np.zeros(triangles.shape[1]), np.zeros((n, n))
    add_triangles(triangles, features, weights, anchor, total)
    add_stack(stack, features, weights, anchor, expected)
    np.testing.assert_array_equal(total, naive.triangle(expected))


@step_by_step
def to_the_unit(x, anchor):
    return x + anchor - anchor


@kernel
def to_the_unit_in_a_kernel(x, anchor):
    return to_the_unit(x, anchor)


def test_what_is_done_step_by_step_is_so_in_a_kernel_that_may_reorder_its_own_steps():
    # The kernel comes first, so that what it calls is compiled with it.
    assert [to_the_unit_in_a_kernel(x, 1.5 * 2.0**52) for x in (0.4, 0.6, 1.4)] == [0.0, 1.0, 1.0]
    assert to_the_unit(0.4, 1.5 * 2.0**52) == 0.0


def test_a_table_that_was_freed_or_left_behind_is_made_again(monkeypatch):
    rng = np.random.default_rng(0)
    triangles = Triangles.of([random_matrix(rng, 12) for _ in range(5)], 12, 5)
    labels = naive.random_labels(rng, 12, 3)
    expected, table = triangles.within(labels, 3), triangles.table
    triangles.release()
    assert triangles.table is table
    monkeypatch.setattr("sparsecluster._features.triangles.SMALL", 0)
    triangles.release()
    assert triangles.table is not table
    labels[:2] = 1
    other = pickle.loads(pickle.dumps(triangles))
    np.testing.assert_array_equal(other.within(labels, 3), triangles.within(labels, 3))
    assert not np.array_equal(triangles.within(labels, 3), expected)
