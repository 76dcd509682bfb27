"""Equal values are put in an order that fits the other columns, so that one group of levels is one group."""

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from sparsecluster.evidence._copula import drawn_scores
from sparsecluster.evidence._one_group import p_of_direction
from sparsecluster.evidence._ties import between, has_ties, intervals, without_ties

RNG = np.random.default_rng


def levels_of_a_factor(seed, n=100, p=40, n_levels=2):
    """Columns whose levels follow one common factor, and the loadings."""
    rng = RNG(seed)
    loadings = rng.standard_normal(p)
    latent = rng.standard_normal((n, 1)) * loadings + rng.standard_normal((n, p))
    return np.digitize(latent, [0.0] if n_levels == 2 else [-0.7, 0.7]).astype(float), loadings


def test_ties_are_equal_values_of_a_column():
    assert has_ties(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 3.0]]))
    # Equal values in different columns, and missing values, are none.
    assert not has_ties(np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 1.0]]))


def test_intervals_are_those_of_the_shares_of_the_levels():
    lower, upper = intervals(np.array([[0.0], [1.0], [1.0], [2.0], [np.nan]]))
    np.testing.assert_allclose(norm.cdf(lower[:, 0]), [0, 0.25, 0.25, 0.75, 0])
    np.testing.assert_allclose(norm.cdf(upper[:, 0]), [0.25, 0.75, 0.75, 1, 1])


@pytest.mark.parametrize(("low", "high", "mean"), [(-1, 2, 0.5), (0.5, np.inf, -1), (-np.inf, -2, 1), (2, 2.5, 0)])
def test_numbers_between_bounds_are_truncated_normal(low, high, mean):
    ends = (np.full((20_000, 1), end, float) for end in (low, high))
    drawn = between(*ends, np.full((20_000, 1), mean, float), np.array([0.7]), RNG(0))
    expected = truncnorm((low - mean) / 0.7, (high - mean) / 0.7, mean, 0.7)
    assert low <= drawn.min() <= drawn.max() <= high
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.02)
    assert drawn.std() == pytest.approx(expected.std(), abs=0.02)


def test_numbers_are_finite_however_far_the_bounds_are_from_the_mean():
    for low, high in ((50.0, 51.0), (-51.0, -50.0), (40.0, np.inf)):
        drawn = between(np.array([[low]]), np.array([[high]]), np.zeros((1, 1)), np.array([1.0]), RNG(0))
        assert low <= drawn[0, 0] <= min(high, 60.0)


@pytest.mark.parametrize("n_levels", [2, 3])
def test_the_order_of_different_values_stays_and_missing_values_stay_missing(n_levels):
    table, _ = levels_of_a_factor(0, n_levels=n_levels)
    table[3, 5] = np.nan
    drawn = without_ties(table, RNG(1))
    assert not has_ties(drawn)
    np.testing.assert_array_equal(np.isnan(drawn), np.isnan(table))
    for values, numbers in zip(table.T, drawn.T, strict=True):
        for level in range(n_levels - 1):
            assert numbers[values == level].max() < numbers[values == level + 1].min()


def test_equal_values_are_in_the_order_of_the_common_factor():
    rng = RNG(2)
    factor = rng.standard_normal(100)
    table = (factor[:, None] + rng.standard_normal((100, 40)) > 0).astype(float)
    drawn = without_ties(table, RNG(1))
    own = table[:, 0] == 1
    assert np.corrcoef(drawn[own, 0], factor[own])[0, 1] > 0.3


def test_without_a_common_factor_the_order_is_random():
    table = RNG(3).integers(0, 2, (60, 30)).astype(float)
    first, second = (without_ties(table, RNG(seed)) for seed in (0, 1))
    own = table[:, 0] == 1
    assert abs(np.corrcoef(first[own, 0], second[own, 0])[0, 1]) < 0.5


def test_one_group_of_levels_is_seldom_taken_for_several():
    random, ordered = [], []
    for seed in range(60):
        table, loadings = levels_of_a_factor(seed)
        random.append(p_of_direction(drawn_scores(table, RNG(seed)) @ loadings))
        ordered.append(p_of_direction(drawn_scores(without_ties(table, RNG(seed)), RNG(seed)) @ loadings))
    # In a random order, the factor has two ends and no middle.
    assert np.mean(np.array(random) <= 0.05) > 0.5
    assert np.mean(np.array(ordered) <= 0.05) < 0.15


def test_two_groups_of_levels_are_found():
    found = []
    for seed in range(30):
        rng = RNG(seed)
        group = np.arange(100) % 2
        table = (rng.random((100, 20)) < 0.2 + 0.6 * group[:, None]).astype(float)
        found.append(p_of_direction(drawn_scores(without_ties(table, rng), rng) @ np.ones(20)))
    assert np.mean(np.array(found) <= 0.05) > 0.9
