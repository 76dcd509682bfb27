"""The criterion by which s and k are chosen: its formula over all subsets, the price of a parameter, and dependence."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest

from sparsecluster._data.source import ColumnTable, TableSource
from sparsecluster._features.amounts import Amounts
from sparsecluster._search.bic import (
    INDEPENDENT_PRICE,
    STRONGEST,
    bic_values,
    dependence,
    equal_weights,
    evaluate,
    log_subsets,
    price_of,
    worth,
)
from tests import naive
from tests.helpers.kinds import KINDS, K, N, P, kind_of, make, some_labels
from tests.helpers.likelihood import best_bic, case_gains

COLUMNS = [kind for kind in KINDS if "matrices" not in kind and kind != "ordinal"]

# ---------------------------------------------------------------- the formula


@pytest.mark.parametrize("price", [0.3, 1.75])
@pytest.mark.parametrize("kind", COLUMNS)
def test_the_criterion_is_the_largest_over_all_subsets(kind, price):
    case, labels = make(kind), some_labels()
    expected = best_bic(*case_gains(case, labels), labels, price)
    features = case.features()
    np.testing.assert_allclose(bic_values(features, labels, K, price), expected, rtol=1e-9, atol=1e-8)
    found = evaluate(features, labels, K, price)
    assert found.value == pytest.approx(expected.max(), rel=1e-9)
    assert found.size == expected.argmax() + 1


def test_the_usual_price_is_that_of_the_bic(features_of):
    features, labels = features_of(np.random.default_rng(0).normal(size=(N, P))), some_labels()
    np.testing.assert_array_equal(bic_values(features, labels, K), bic_values(features, labels, K, log(N) / 2))


@pytest.mark.parametrize("kind", KINDS)
def test_one_cluster_is_worth_nothing(kind):
    """All features, or none, describe it: there is nothing to choose and nothing to pay."""
    found = evaluate(make(kind).features(), np.zeros(N, np.int32), 1, price_of(N))
    assert found.value == pytest.approx(0.0, abs=1e-8)
    assert found.size == P


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_parameter_of_every_further_cluster_has_its_price(kind):
    likelihood = make(kind).features().likelihood(some_labels(), K)
    paid = worth(likelihood, K, 0.0) - worth(likelihood, K, 1.5)
    np.testing.assert_allclose(paid, 1.5 * 2 * likelihood.parameters)


def test_names_of_clusters_and_the_scale_of_features_do_not_matter(features_of):
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(N, P)), some_labels()
    expected = bic_values(features_of(table), labels, K)
    renamed = np.array([2, 0, 1], np.int32)[labels]
    np.testing.assert_allclose(bic_values(features_of(table), renamed, K), expected, rtol=1e-12)
    scaled = table * np.geomspace(1e-3, 1e3, P)
    for standardize in (True, False):
        features = features_of(scaled, standardize)
        np.testing.assert_allclose(bic_values(features, labels, K), expected, rtol=1e-9)
        np.testing.assert_allclose(bic_values(Amounts(features), labels, K), expected, rtol=1e-9)


def test_the_right_clusters_are_worth_more_than_none_and_random_ones_less(features_of):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20).astype(np.int32)
    table = rng.normal(size=(60, 40)) + np.where(np.arange(40) < 8, 3.0 * truth[:, None], 0.0)
    features = features_of(table)
    right = evaluate(features, truth, 3, price_of(60))
    assert right.value > 100
    assert 8 <= right.size <= 9
    assert evaluate(features, np.minimum(truth, 1), 2, price_of(60)).value < right.value
    assert evaluate(features, rng.permutation(truth), 3, price_of(60)).value < 0


# ---------------------------------------------------------------- the number of subsets, and the price


@pytest.mark.parametrize("p", [1, 2, 7, 60, 500])
def test_subsets_are_counted(p):
    np.testing.assert_allclose(log_subsets(p), [log(comb(p, s)) for s in range(1, p + 1)], rtol=1e-9, atol=1e-9)


def test_there_is_no_overflow_where_features_are_many():
    counted = log_subsets(200_000)
    assert np.isfinite(counted).all()
    assert counted[0] == pytest.approx(log(200_000))
    assert counted[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("n", [4, 20, 33, 34, 100, 10_000])
def test_the_price_rises_with_dependence_between_two_bounds(n):
    prices = [price_of(n, each) for each in (-1.0, 0.0, 0.3, 1.0, 1.5, STRONGEST, 9.0)]
    assert prices == sorted(prices)
    usual = log(n) / 2
    assert prices[0] == prices[1] == min(INDEPENDENT_PRICE, usual)
    assert price_of(n) == prices[3] == pytest.approx(usual)
    # Above the usual price by as much as the lowest is below it.
    assert prices[5] == prices[6] == pytest.approx(2 * usual - prices[0])


@pytest.mark.parametrize("dependence", [0.0, 0.5, 1.0, 2.0])
def test_the_price_never_falls_with_the_number_of_samples(dependence):
    prices = [price_of(n, dependence) for n in range(2, 3000)]
    assert (np.diff(prices) >= 0).all()


# ---------------------------------------------------------------- dependence


def independent(rng, n=150, p=30):
    return rng.normal(size=(n, p))


def by_a_factor(rng, n=150, p=30, strength=1.0):
    """Every feature has a part in a factor that all of them share."""
    return rng.normal(size=(n, p)) + strength * rng.normal(size=(n, 1))


def levels(table, n_levels=3):
    """Every column cut into levels of the same size."""
    return (np.argsort(np.argsort(table, axis=0), axis=0) * n_levels // len(table)).astype(float)


def columns(values, kinds):
    """Features of a table, each column of its own kind."""
    n, p = values.shape
    table = ColumnTable(values, tuple(map(kind_of, kinds, values.T)))
    return TableSource(table, None, np.arange(n), np.arange(p), True, bool(np.isnan(values).any())).features()


def as_both(table):
    half = table.shape[1] // 2
    values = np.column_stack([table[:, :half], levels(table[:, half:])])
    return columns(values, ["sqeuclidean"] * half + ["hamming"] * (table.shape[1] - half))


FORMS = {
    "numbers": lambda table: columns(table, ["sqeuclidean"] * 30),
    "distances": lambda table: columns(table, ["manhattan"] * 30),
    "three levels": lambda table: columns(levels(table), ["hamming"] * 30),
    "zeros and ones": lambda table: columns((table > 0).astype(float), ["sqeuclidean"] * 30),
    "numbers and levels": as_both,
}


@pytest.mark.parametrize("form", FORMS)
def test_independent_noise_is_independent_and_a_factor_in_all_features_makes_them_depend_strongly(form):
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 150, K)
    without, weak, strong = (
        dependence(FORMS[form](by_a_factor(rng, strength=strength)), labels, K) for strength in (0.0, 1.0, 2.0)
    )
    assert without < 0.1
    assert without < weak < strong
    assert strong > STRONGEST


def test_missing_values_make_no_factor_of_independent_noise():
    """Pairs of samples with few values in common are noisy, which looks like some dependence, but not like a factor."""
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 150, K)
    without, strong = (
        dependence(columns(np.where(rng.random((150, 30)) < 0.1, np.nan, each), ["sqeuclidean"] * 30), labels, K)
        for each in (independent(rng), by_a_factor(rng, strength=2.0))
    )
    assert without < 0.5 < STRONGEST < strong


def test_groups_that_are_not_known_are_dependence(features_of):
    """All features follow the groups, so that they depend on each other until the groups are taken out."""
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 150, K)
    features = features_of(independent(rng) + 2.0 * labels[:, None])
    assert dependence(features, np.zeros(150, np.int32), 1) > 1.0
    assert dependence(features, labels, K) == pytest.approx(0.0, abs=0.1)


def test_dependence_is_the_mean_sum_of_squared_correlations_above_chance(features_of):
    """By its definition, where all features have the same variance within clusters."""
    rng = np.random.default_rng(0)
    labels = naive.random_labels(rng, 60, K)
    table = by_a_factor(rng, 60, 12)
    for c in range(K):
        table[labels == c] -= table[labels == c].mean(axis=0)
    table = naive.standardized(table)
    squared = (table.T @ table) ** 2
    expected = (squared.sum() - 12) / 12 - 11 / (60 - K)
    assert dependence(features_of(table), labels, K) == pytest.approx(expected)


def test_units_do_not_matter_to_dependence(features_of):
    rng = np.random.default_rng(0)
    table, labels = by_a_factor(rng, 60, 12), naive.random_labels(rng, 60, K)
    scaled = table * np.geomspace(1e-3, 1e3, 12)
    expected = dependence(features_of(table), labels, K)
    for standardize in (True, False):
        assert dependence(features_of(scaled, standardize), labels, K) == pytest.approx(expected)


def test_as_many_clusters_as_samples_leave_nothing_to_depend(features_of):
    features = features_of(np.random.default_rng(0).normal(size=(10, 4)))
    assert dependence(features, np.arange(10, dtype=np.int32), 10) <= 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_give_all_features_the_same_total(kind):
    case = make(kind)
    for standardize in (True, False):
        features = case.features(standardize)
        weights = equal_weights(features)
        np.testing.assert_allclose(np.bincount(case.owners, features.total) * weights, 1.0)
        np.testing.assert_array_equal(equal_weights(Amounts(features)), weights)
