"""What the clusters gain in each feature is a log likelihood ratio, computed plainly for every kind of features."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._features.amounts import Amounts
from sparsecluster._features.likelihood import gaussian, multinomial, xlogx
from sparsecluster._features.weighted import WeightedFeatures
from tests import naive
from tests.helpers.kinds import GROUPS, INCOMPLETE, KINDS, K, N, P, make, matrix_case, some_labels, table_case
from tests.helpers.likelihood import case_gains, level_gain, normal_gain, share_gain
from tests.helpers.sparse import both_of

COLUMNS = [kind for kind in KINDS if "matrices" not in kind and kind != "ordinal"]
RNG = np.random.default_rng(0)


def two_values(n=N, p=P):
    """Zeros and ones in any order, as many of both; no column is constant."""
    return RNG.permuted(np.tile(np.arange(n) % 2.0, (p, 1)).T, axis=0)


# ---------------------------------------------------------------- by their definitions


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_gain_of_numbers_is_the_ratio_of_two_normal_likelihoods(features_of, k):
    table, labels = naive.random_table(RNG, 20, 6), naive.random_labels(RNG, 20, k)
    found = features_of(table).likelihood(labels, k)
    np.testing.assert_allclose(found.gains, [normal_gain(x, labels) for x in table.T], rtol=1e-10)
    assert found.parameters.tolist() == [1.0] * 6


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_gain_of_levels_is_n_times_their_mutual_information(k):
    codes, labels = RNG.integers(4, size=(30, 5)), naive.random_labels(RNG, 30, k)
    codes[:, 4] %= 2
    found = multinomial(codes, labels, k)
    np.testing.assert_allclose(found.gains, [level_gain(x, labels) for x in codes.T], atol=1e-10)
    # One probability fewer than there are levels.
    assert found.parameters.tolist() == [3, 3, 3, 3, 1]


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", COLUMNS)
def test_gains_and_parameters_of_every_kind_are_sums_over_their_columns(kind, standardize):
    case = make(kind)
    features = case.features(standardize)
    for labels in (some_labels(), np.arange(N, dtype=np.int32) % 2):
        gains, parameters = case_gains(case, labels)
        found = features.likelihood(labels, K)
        np.testing.assert_allclose(found.gains, gains, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(found.parameters, parameters)


@pytest.mark.parametrize("kind", ["ordinal", *(kind for kind in KINDS if "matrices" in kind)])
def test_other_dissimilarities_gain_as_numbers_with_the_same_score_would(kind):
    case, labels = make(kind), some_labels()
    plain = np.array([np.unique(delta[delta > 0]).size > 1 for delta in case.deltas])
    expected = np.array([share_gain(delta, labels) for delta in case.deltas])
    found = case.features().likelihood(labels, K)
    np.testing.assert_allclose(found.gains[plain], expected[plain], rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- missing values and groups


@pytest.mark.parametrize("kind", [kind for kind in INCOMPLETE if kind in COLUMNS and kind not in GROUPS])
def test_only_samples_with_an_observed_value_count(kind):
    """A column with missing values gains what it would gain in a table of the other samples."""
    case, labels = make(kind), some_labels()
    gains, parameters = case.features().likelihood(labels, K)
    for a in range(P):
        kinds, values = case.source.table.kinds, case.source.table.values
        seen = ~np.isnan(values[:, a])
        alone = table_case(values[seen][:, [a]], [kinds[a]]).features().likelihood(labels[seen], K)
        assert gains[a] == pytest.approx(alone.gains[0], rel=1e-9, abs=1e-9)
        assert parameters[a] == alone.parameters[0]


def test_a_level_that_nobody_has_costs_nothing():
    codes = np.array([[0, -1], [2, 1], [2, 1], [0, 0]])
    found = multinomial(codes, np.array([0, 1, 1, 0], np.int32), 2)
    assert found.parameters.tolist() == [1, 1]
    assert found.gains[0] == pytest.approx(4 * np.log(2))


@pytest.mark.parametrize("kind", GROUPS)
def test_the_gain_of_a_group_is_the_sum_of_its_members(kind):
    case, labels = make(kind), some_labels()
    source = case.source
    alone = table_case(source.table.values, source.table.kinds).features().likelihood(labels, K)
    together = case.features().likelihood(labels, K)
    np.testing.assert_allclose(together.gains, np.bincount(case.owners, alone.gains), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(together.parameters, np.bincount(case.owners, alone.parameters))


def test_the_gain_of_a_group_of_matrices_is_the_sum_of_its_members():
    given = [naive.column_delta(x, lambda x, y: abs(x - y)) for x in RNG.normal(size=(6, N))]
    groups = np.array([0, 1, 0, 2, 2, 2])
    alone, together = (matrix_case(given, groups=each).features() for each in (None, groups))
    labels = some_labels()
    np.testing.assert_allclose(
        together.likelihood(labels, K).gains, np.bincount(groups, alone.likelihood(labels, K).gains), rtol=1e-9
    )


# ---------------------------------------------------------------- two values


def test_numbers_with_two_values_are_levels(features_of):
    table, labels = two_values(), some_labels()
    found = features_of(table * np.arange(1, P + 1) - 2.0).likelihood(labels, K)
    np.testing.assert_allclose(found.gains, [level_gain(x, labels) for x in table.T], atol=1e-10)
    as_levels = table_case(table, ["hamming"] * P).features().likelihood(labels, K)
    np.testing.assert_allclose(found.gains, as_levels.gains, atol=1e-10)
    assert found.parameters.tolist() == as_levels.parameters.tolist() == [1.0] * P


def test_numbers_with_two_values_are_levels_beside_missing_values():
    table, labels = np.column_stack([two_values(), RNG.normal(size=N)]), some_labels()
    table[3, :3] = table[5, P] = np.nan
    found = table_case(table, ["sqeuclidean"] * (P + 1)).features().likelihood(labels, K)
    for a in range(P):
        seen = ~np.isnan(table[:, a])
        assert found.gains[a] == pytest.approx(level_gain(table[seen, a], labels[seen]), abs=1e-10)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_sparse_table_gains_what_the_same_dense_table_gains(shift):
    """With zeros, and with two values in place of zeros; beside columns with more values."""
    table = np.column_stack([2.5 * two_values() + shift, make("sparse").source.values.toarray()])
    labels = some_labels()
    dense, mostly_zero = (each.likelihood(labels, K) for each in both_of(table))
    np.testing.assert_allclose(mostly_zero.gains, dense.gains, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(mostly_zero.parameters, dense.parameters)


# ---------------------------------------------------------------- what does not matter, and bounds


@pytest.mark.parametrize("kind", KINDS)
def test_permuting_samples_and_naming_clusters_otherwise_change_nothing(kind):
    case, labels = make(kind), some_labels()
    rows = np.random.default_rng(1).permutation(N)
    turned = case._replace(source=type(case.source)(**{**fields(case.source), "samples": rows})).features()
    expected = case.features().likelihood(labels, K).gains
    np.testing.assert_allclose(turned.likelihood(labels[rows], K).gains, expected, rtol=1e-9, atol=1e-9)
    renamed = np.array([2, 0, 1], np.int32)[labels]
    np.testing.assert_allclose(case.features().likelihood(renamed, K).gains, expected, rtol=1e-9, atol=1e-9)


def fields(source):
    return {name: getattr(source, name) for name in type(source).__dataclass_fields__}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in GROUPS])
def test_permuting_columns_permutes_the_gains(kind):
    case, labels = make(kind), some_labels()
    columns = np.random.default_rng(1).permutation(P)
    turned = type(case.source)(**{**fields(case.source), "columns": columns}).features().likelihood(labels, K)
    found = case.features().likelihood(labels, K)
    np.testing.assert_allclose(turned.gains, found.gains[columns], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(turned.parameters, found.parameters[columns])


@pytest.mark.parametrize("kind", KINDS)
def test_one_cluster_gains_nothing_and_more_never_lose(kind):
    features = make(kind).features()
    np.testing.assert_allclose(features.likelihood(np.zeros(N, np.int32), 1).gains, 0.0, atol=1e-9)
    labels = some_labels()
    coarse = np.minimum(labels, 1)
    found, merged = features.likelihood(labels, 3).gains, features.likelihood(coarse, 2).gains
    assert (merged > -1e-9).all()
    if kind in COLUMNS and not {"functions", "mixed", "kinds"} & set(kind.split()):
        assert (found >= merged - 1e-9).all()


def test_a_feature_that_is_constant_in_every_cluster_gains_as_if_one_part_in_n_were_left():
    assert gaussian(np.ones(1), 40).gains[0] == pytest.approx(20 * np.log(40))
    assert np.isfinite(gaussian(np.ones(3), np.array([1.0, 2.0, 3.0])).gains).all()


@pytest.mark.parametrize("kind", ["numbers", "categories", "categories with missing values", "sparse"])
def test_a_permuted_copy_has_gains_of_its_own(kind):
    labels = some_labels()
    asked, fresh = make(kind).features(), make(kind).features()
    before = asked.likelihood(labels, K).gains.copy()
    np.testing.assert_array_equal(
        asked.permuted(5).likelihood(labels, K).gains, fresh.permuted(5).likelihood(labels, K).gains
    )
    assert (asked.permuted(5).likelihood(labels, K).gains != before).any()
    np.testing.assert_array_equal(asked.likelihood(labels, K).gains, before)


@pytest.mark.parametrize("kind", ["numbers", "mixed with missing values", "groups of kinds"])
def test_weights_and_amounts_leave_the_likelihood_as_it_is(kind):
    features, labels = make(kind).features(), some_labels()
    for other in (Amounts(features), WeightedFeatures(features, np.arange(1.0, P + 1))):
        np.testing.assert_array_equal(other.likelihood(labels, K).gains, features.likelihood(labels, K).gains)


def test_nothing_times_its_logarithm_is_nothing():
    np.testing.assert_allclose(xlogx(np.array([0.0, 1.0, np.e])), [0.0, 0.0, np.e])
