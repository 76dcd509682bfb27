"""SigClust: agreement with R where R does what is published, and what the test finds with and without groups."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from sparsecluster.evidence._sigclust import (
    cluster_index,
    covariance_eigenvalues,
    hard_estimate,
    keeping_shift,
    sigclust,
    soft_estimate,
)
from tests.helpers.common import refuses, within

SIMULATED = pytest.mark.parametrize("data", ["simfuse", "gauss", "null60x20"])
ESTIMATE = pytest.mark.parametrize("estimate", ["soft", "hard", "sample"])


def two_groups(shift, n=40, p=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + shift * (np.arange(n)[:, None] < n // 2)


def scaled(table):
    return (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)


# ---------------------------------------------------------------- R


@ESTIMATE
@SIMULATED
def test_index_background_and_eigenvalues_are_those_of_r(reference, data, estimate):
    theirs, ours = reference.sigclust(data, estimate), sigclust(reference.table(data), estimate=estimate)
    assert ours.index == pytest.approx(theirs["cluster_index"], abs=1e-6)
    assert ours.background == pytest.approx(theirs["background_variance"], abs=1e-6)
    np.testing.assert_allclose(ours.eigenvalues[:20], theirs["eigenvalues_sample"], atol=1e-6)


@pytest.mark.parametrize("estimate", ["hard", "sample"])
@SIMULATED
def test_null_eigenvalues_are_those_of_r(reference, data, estimate):
    theirs = reference.sigclust(data, estimate)
    null = sigclust(reference.table(data), estimate=estimate, n_simulations=2).null_eigenvalues
    np.testing.assert_allclose(null[:20], theirs["eigenvalues_null"], atol=1e-6)
    assert null.sum() == pytest.approx(theirs["sum_null_eigenvalues"], abs=1e-6)


def test_soft_null_eigenvalues_are_those_of_r_where_a_constant_keeps_the_variance(reference):
    theirs = reference.sigclust("leukemia500", "soft")
    null = sigclust(scaled(reference.table("leukemia500")), n_simulations=2).null_eigenvalues
    np.testing.assert_allclose(null[:20], theirs["eigenvalues_null"], atol=1e-6)
    assert null.sum() == pytest.approx(theirs["sum_null_eigenvalues"], abs=1e-6)


@SIMULATED
def test_elsewhere_r_subtracts_another_number_from_every_eigenvalue(reference, data):
    """Its limits form a vector, which it recycles; with that vector, our steps lead to its eigenvalues."""
    theirs, table = reference.sigclust(data, "soft"), reference.table(data)
    values, background = covariance_eigenvalues(table - table.mean(axis=0)), theirs["background_variance"]
    excess, lifted = np.maximum(values - background, 0), np.maximum(background - values, 0).sum()
    assert background * values.size > values.sum()
    assert keeping_shift(values, background) == pytest.approx(excess[0])
    taken = np.array([np.minimum(excess, each).sum() for each in excess[excess > 0]])
    limits = np.resize(lifted / taken * excess[0], values.size)
    steps = [hard_estimate(values - limits * step / 100, background) for step in range(100)]
    best = max(steps, key=lambda each: each[0] / each.sum())
    np.testing.assert_allclose(best[:20], theirs["eigenvalues_null"], atol=1e-6)


@ESTIMATE
@SIMULATED
def test_simulated_indices_are_those_of_r_from_one_start(reference, data, estimate):
    theirs, table = reference.sigclust(data, estimate), reference.table(data)
    null = np.zeros(table.shape[1])
    null[:20] = theirs["eigenvalues_null"]
    # Eigenvalues that are not stored: all the same where they have a lower limit.
    rest = sigclust(table, estimate=estimate, n_simulations=2).null_eigenvalues[20:]
    null[20:] = rest if estimate != "soft" else theirs["background_variance"]
    rng, n = np.random.default_rng(0), 200
    ours = [cluster_index(rng.standard_normal(table.shape) * np.sqrt(null), 1, rng) for _ in range(n)]
    error = np.hypot(np.std(ours), theirs["null_sd"]) / np.sqrt(n)
    assert abs(np.mean(ours) - theirs["null_mean"]) < 3 * error
    assert np.std(ours) == pytest.approx(theirs["null_sd"], rel=0.2)


@pytest.mark.parametrize("data", ["simfuse", "gauss"])
@ESTIMATE
def test_p_values_are_near_those_of_r(reference, data, estimate):
    theirs, ours = reference.sigclust(data, estimate), sigclust(reference.table(data), estimate=estimate)
    assert ours.p_value == pytest.approx(theirs["p_value"], abs=0.15)
    assert ours.p_normal == pytest.approx(theirs["p_value_normal"], abs=0.15)


# ---------------------------------------------------------------- definitions


def test_the_index_is_the_smallest_share_of_squares_within_two_clusters():
    rng = np.random.default_rng(0)
    for n, p in ((7, 3), (8, 20)):
        table = rng.standard_normal((n, p))
        splits = [np.array([i >> j & 1 for j in range(n)]) for i in range(1, 2 ** (n - 1))]
        best = min(within(table, labels).sum() for labels in splits) / within(table, np.zeros(n)).sum()
        assert sigclust(table, n_simulations=2, n_starts=30).index == pytest.approx(best)


@pytest.mark.parametrize("shape", [(300, 4), (20, 50)])
def test_rows_and_pairs_give_the_same_index(shape):
    table = np.random.default_rng(0).standard_normal(shape) * 3 + 10
    wide = np.pad(table, ((0, 0), (0, 3)))
    first, second = (cluster_index(each, 20, np.random.default_rng(1)) for each in (table, wide))
    assert first == pytest.approx(second)
    assert 0 < first < 1


def test_a_constant_keeps_the_total_variance():
    rng = np.random.default_rng(0)
    for background in (0.3, 1.0):
        values = np.sort(rng.gamma(0.5, 4.0, 40))[::-1]
        assert background * values.size < values.sum()
        shift = keeping_shift(values, background)
        assert np.maximum(values - shift, background).sum() == pytest.approx(values.sum())
    # Without eigenvalues below the background, nothing has to be taken away.
    assert keeping_shift(np.array([5.0, 3.0, 2.0]), 1.0) == 0.0


def test_the_soft_estimate_has_the_largest_share_of_the_first_eigenvalue():
    values = np.sort(np.random.default_rng(1).gamma(0.5, 4.0, 40))[::-1]
    found = soft_estimate(values, 1.0)
    shifts = np.linspace(0, keeping_shift(values, 1.0), 3000)
    best = max((each[0] / each.sum()) for each in (np.maximum(values - shift, 1.0) for shift in shifts))
    assert found[0] / found.sum() == pytest.approx(best, rel=0.01)
    assert found[0] / found.sum() >= values[0] / hard_estimate(values, 1.0).sum()


def test_p_values_are_those_of_the_simulated_indices():
    found = sigclust(two_groups(0.3), n_simulations=50)
    assert found.simulated.shape == (50,)
    assert found.p_value == (1 + np.sum(found.simulated <= found.index)) / 51
    assert found.p_value == pytest.approx(found.p_normal, abs=0.1)


def test_the_frame_has_the_eigenvalues():
    found = sigclust(two_groups(1.0), n_simulations=2)
    frame = found.frame()
    assert frame.index.tolist() == list(range(1, 31))
    np.testing.assert_array_equal(frame["sample"], found.eigenvalues)
    np.testing.assert_array_equal(frame["null"], found.null_eigenvalues)


# ---------------------------------------------------------------- what it finds


@ESTIMATE
def test_groups_that_are_far_apart_are_significant_and_noise_is_not(estimate):
    assert sigclust(two_groups(4.0), estimate=estimate).p_value == 1 / 101
    assert sigclust(two_groups(0.0), estimate=estimate).p_value > 0.05


def test_a_seed_gives_one_result_and_the_table_stays_as_it_was():
    table = two_groups(1.0)
    before = table.copy()
    first, again, other = (sigclust(table, random_state=seed, n_simulations=5) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.simulated, again.simulated)
    assert not np.array_equal(first.simulated, other.simulated)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_the_unit_does_not_matter(factor):
    table = two_groups(1.0)
    first, second = (sigclust(each, n_simulations=5) for each in (table, table * factor))
    assert second.index == pytest.approx(first.index)
    np.testing.assert_allclose(second.simulated, first.simulated)
    assert second.p_value == first.p_value


def test_data_frames_and_constant_columns_are_taken():
    table = two_groups(1.0)
    frame = pd.DataFrame(table).assign(constant=1.0)
    assert sigclust(frame, n_simulations=2).index == pytest.approx(sigclust(table, n_simulations=2).index)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")}), ("takes numbers only", "'b'")),
        (np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]]), ("missing values", "1 of 2 columns", "'x1'", "Impute")),
        (np.array([[1.0, np.inf], [2.0, 3.0], [4.0, 5.0]]), ("infinity", "'x1'")),
        (np.eye(4) * 1e200, ("at most 1e\\+150", "got a difference of 1e\\+200", "Divide X")),
        (np.ones((4, 2)), ("All rows of X are the same",)),
        (np.ones((2, 2)), ("2 sample",)),
        (np.ones(5), ("Expected 2D array",)),
    ],
)
def test_other_tables_are_refused_in_plain_words(X, words):
    with refuses(*words):
        sigclust(X)


def test_sparse_matrices_are_refused_with_a_way_out():
    with refuses("sparse", "toarray", error=TypeError):
        sigclust(scipy.sparse.csr_array(np.eye(4)))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"estimate": "softt"}, ('one of "soft", "hard", "sample"', 'Did you mean "soft"')),
        ({"n_simulations": 1}, ("n_simulations must be a whole number of at least 2",)),
        ({"n_starts": 0}, ("n_starts must be a whole number of at least 1",)),
        ({"random_state": "x"}, ("random_state",)),
    ],
)
def test_wrong_parameters_are_refused(parameters, words):
    with refuses(*words):
        sigclust(two_groups(1.0), **parameters)
