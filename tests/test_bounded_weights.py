"""Weights under an L1 bound maximize sum_a w_a g_a: against bisection, duality and all that follows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from sparsecluster._kernels.weights import bounded_weights, cut_depth

# ---------------------------------------------------------------- a twin that is slow and obviously right


def twin(gains, bound):
    """(g - D)_+ of length 1, with D = 0 or, where the sum of that is more than the bound, D by bisection.

    In terms of how far each gain is below the largest: the further down the cut, the larger the sum.
    """
    positive = np.maximum(gains, 0.0)
    below = positive.max() - positive

    def at(depth):
        kept = np.maximum(1.0 - below / depth, 0.0)
        return kept / np.sqrt((kept**2).sum())

    low, high = 0.0, positive.max()
    if at(high).sum() <= bound:
        return at(high)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if at(middle).sum() > bound else (middle, high)
    return at(high)


def optimum(gains, bound):
    """The largest sum there is, by duality: the smallest over D >= 0 of bound * D + |(g - D)_+|_2."""
    top = max(gains.max(), 0.0)
    ends = [float(np.linalg.norm(np.maximum(gains, 0.0))), bound * top]
    dual = minimize_scalar(
        lambda cut: bound * cut + np.linalg.norm(np.maximum(gains - cut, 0.0)),
        bounds=(0.0, top),
        method="bounded",
        options={"xatol": 1e-12 * top},
    )
    return min(*ends, float(dual.fun))


def unbounded(gains):
    """The weights without a bound on their sum: in proportion to the gains."""
    positive = np.maximum(gains, 0.0)
    return positive / np.linalg.norm(positive)


def random_gains(seed, p, negative=False):
    """Distinct whole numbers, so that no two are so close that a comparison is about rounding."""
    gains = np.random.default_rng(seed).permutation(5 * p)[:p] + 1.0
    return gains - 2 * p if negative else gains


CASES = [(seed, p) for seed in range(12) for p in (1, 2, 3, 10, 40, 200)]


def bounds_for(p):
    """From one feature to more than all."""
    return np.geomspace(1.01, 1.2 * np.sqrt(p) + 0.1, 7)


# ---------------------------------------------------------------- the twin, and what makes weights the best


@pytest.mark.parametrize("negative", [False, True])
def test_weights_are_those_of_bisection(negative):
    for seed, p in CASES:
        gains = random_gains(seed, p, negative)
        if gains.max() <= 0:
            continue
        for bound in bounds_for(p):
            np.testing.assert_allclose(bounded_weights(gains, bound), twin(gains, bound), rtol=0, atol=1e-11)


def test_the_cut_is_the_price_at_which_the_bound_is_met():
    """KKT: weights are (g - D)_+ up to their length, D >= 0, and D > 0 only where |w|_1 is at the bound."""
    cuts = 0
    for seed, p in CASES:
        gains = np.sort(random_gains(seed, p))[::-1].copy()
        for bound in bounds_for(p):
            cut = gains[0] - cut_depth(gains[0] - gains, bound, gains[0])
            weights = bounded_weights(gains, bound)
            assert 0.0 <= cut <= gains[0]
            kept = np.maximum(gains - cut, 0.0)
            np.testing.assert_allclose(weights * np.linalg.norm(kept), kept, rtol=0, atol=1e-9 * gains[0])
            assert cut == 0.0 or weights.sum() == pytest.approx(bound, abs=1e-12)
            cuts += cut > 0.0
    assert 100 < cuts < len(CASES) * 7


def test_no_other_weights_within_the_bounds_have_a_larger_sum():
    rng = np.random.default_rng(0)
    for seed, p in CASES:
        gains = random_gains(seed, p, negative=seed % 2 == 1)
        if gains.max() <= 0:
            continue
        for bound in bounds_for(p):
            best = bounded_weights(gains, bound) @ gains
            others = rng.gamma(0.3, size=(50, p))
            others /= np.maximum(np.linalg.norm(others, axis=1), others.sum(axis=1) / bound)[:, None]
            assert (others @ gains).max() <= best * (1 + 1e-12)
            assert best == pytest.approx(optimum(gains, bound), rel=1e-9)


# ---------------------------------------------------------------- lengths


def test_weights_have_length_one_and_sum_to_the_bound_or_to_what_they_sum_to_without_it():
    for seed, p in CASES:
        gains = random_gains(seed, p)
        for bound in bounds_for(p):
            weights = bounded_weights(gains, bound)
            assert np.linalg.norm(weights) == pytest.approx(1.0, abs=1e-14)
            assert weights.sum() == pytest.approx(min(bound, unbounded(gains).sum()), abs=1e-12)
            assert weights.min() >= 0.0


def test_from_the_root_of_the_number_of_features_on_weights_are_in_proportion_to_the_gains():
    for seed, p in CASES:
        gains = random_gains(seed, p)
        for bound in (np.sqrt(p), np.sqrt(p) + 0.5, 10.0 * p):
            weights = bounded_weights(gains, bound)
            assert (weights > 0).all()
            np.testing.assert_allclose(weights, unbounded(gains), rtol=1e-13)


@pytest.mark.parametrize("p", range(1, 60))
def test_equal_gains_get_equal_weights_where_the_bound_leaves_room(p):
    np.testing.assert_allclose(bounded_weights(np.full(p, 0.3), np.sqrt(p)), 1 / np.sqrt(p), rtol=1e-14)


def test_at_bound_one_the_feature_of_largest_gain_is_left_and_no_other():
    for seed, p in CASES:
        for gains in (random_gains(seed, p), random_gains(seed, p) / 10, np.random.default_rng(seed).random(p)):
            weights = bounded_weights(gains, 1.0)
            assert np.flatnonzero(weights).tolist() == [np.argmax(gains)]
            assert weights.max() == 1.0


def test_a_smaller_bound_never_keeps_more_features_nor_has_a_larger_sum():
    for seed, p in CASES:
        gains = random_gains(seed, p)
        found = [bounded_weights(gains, bound) for bound in bounds_for(p)]
        kept = [np.count_nonzero(weights) for weights in found]
        sums = [weights @ gains for weights in found]
        assert kept == sorted(kept)
        assert all(left <= right * (1 + 1e-14) for left, right in pairwise(sums))


# ---------------------------------------------------------------- order, scale and sign


def test_permuting_gains_permutes_weights():
    for seed, p in CASES:
        gains, order = random_gains(seed, p), np.random.default_rng(seed).permutation(p)
        for bound in bounds_for(p):
            mine, theirs = bounded_weights(gains[order], bound), bounded_weights(gains, bound)[order]
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 2.0**-400, 1e-20, 3.0, 2.0**400, 1e150])
def test_the_scale_of_gains_makes_no_difference(strict, scale):
    for seed, p in CASES:
        gains = random_gains(seed, p)
        for bound in bounds_for(p):
            found = bounded_weights(gains * scale, bound)
            np.testing.assert_allclose(found, bounded_weights(gains, bound), rtol=0, atol=1e-12)


def test_gains_of_very_different_size_are_no_trouble(strict):
    gains = np.array([1e150, 1e-150, 0.0, 1.0])
    np.testing.assert_allclose(bounded_weights(gains, 1.5), [1.0, 0.0, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(bounded_weights(gains, 2.0), [1.0, 0.0, 0.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("bound", [1.0, 1.3, 2.0, 5.0])
def test_features_without_a_gain_get_no_weight_and_count_as_if_they_were_not_there(bound):
    gains = random_gains(0, 10)
    more = np.concatenate([gains, np.zeros(5), -random_gains(1, 20)])
    weights = bounded_weights(more, bound)
    np.testing.assert_array_equal(weights[10:], 0.0)
    np.testing.assert_allclose(weights[:10], bounded_weights(gains, bound), rtol=0, atol=1e-13)


@pytest.mark.parametrize("bound", [1.0, 1.3, 2.0, 5.0])
def test_where_nothing_gains_no_feature_that_loses_gets_a_weight(bound):
    weights = bounded_weights(np.array([-1.0, 0.0, -3.0, 0.0, 0.0]), bound)
    np.testing.assert_array_equal(weights[[0, 2]], 0.0)
    assert np.linalg.norm(weights) == pytest.approx(1.0)
    assert weights.sum() <= bound + 1e-12


@pytest.mark.parametrize("gains", [[0.0], [0.0, 0.0, 0.0], [7.0], [1e-320]])
def test_weights_have_length_one_whatever_the_gains(gains):
    """Where all gains are alike the first features, as many as the bound has room for, get equal weights."""
    weights = bounded_weights(np.array(gains), np.sqrt(2))
    count = min(len(gains), 2)
    np.testing.assert_allclose(weights, [1 / np.sqrt(count)] * count + [0.0] * (len(gains) - count), rtol=1e-14)


# ---------------------------------------------------------------- ties


@pytest.mark.parametrize(("ties", "room"), [(m, room) for m in (2, 3, 5, 9, 20) for room in (1, 2, 3, 4) if room < m])
def test_of_more_equal_largest_gains_than_there_is_room_for_the_first_get_equal_weights(ties, room):
    gains = np.concatenate([[1.0, 2.0], np.full(ties, 7.0), [3.0]])
    expected = np.zeros(gains.size)
    expected[2 : 2 + room] = 1 / np.sqrt(room)
    np.testing.assert_allclose(bounded_weights(gains, np.sqrt(room)), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("bound", [1.2, 1.5, 1.7, 2.1])
@pytest.mark.parametrize("ties", [5, 8])
def test_where_more_gains_tie_than_there_is_room_for_the_sum_is_still_the_largest_there_is(bound, ties):
    """bound * g: all of |w|_1 is on gains that are the largest."""
    gains = np.concatenate([[1.0, 2.0], np.full(ties, 7.0), [3.0]])
    weights = bounded_weights(gains, bound)
    assert not weights[gains < 7.0].any()
    assert np.linalg.norm(weights) <= 1 + 1e-14
    assert weights.sum() == pytest.approx(bound, abs=1e-12)
    assert weights @ gains == pytest.approx(optimum(gains, bound), rel=1e-12)


@pytest.mark.parametrize("bound", [1.2, 1.5, 1.7])
@pytest.mark.parametrize("apart", [2.0**-52, 1e-12, 1e-9, 1e-6, 1e-3])
def test_gains_that_nearly_tie_have_weights_within_the_bound_and_up_to_it(bound, apart):
    """As gains have that are multiples of one column, each rounded in its own way."""
    gains = np.append(1.0 - apart * np.arange(8), 0.5)
    weights = bounded_weights(gains, bound)
    assert np.linalg.norm(weights) == pytest.approx(1.0, abs=1e-14)
    assert weights.sum() == pytest.approx(bound, abs=1e-9)


def test_weights_of_equal_gains_below_the_largest_are_equal():
    gains = np.array([9.0, 4.0, 4.0, 7.0, 4.0, 1.0])
    for bound in (1.4, 1.8, 2.2):
        weights = bounded_weights(gains, bound)
        assert weights[1] == weights[2] == weights[4]
        np.testing.assert_allclose(weights, twin(gains, bound), rtol=0, atol=1e-12)


# ---------------------------------------------------------------- whatever the gains


GAINS = st.lists(st.integers(-40, 200), min_size=1, max_size=25).map(lambda values: np.array(values, float))
BOUNDS = st.floats(1.0, 6.0)


def room_for_ties(gains, bound):
    """Some gain is positive, and no more than bound^2 of them are the largest."""
    return gains.max() > 0 and np.sum(gains == gains.max()) <= bound**2


@settings(max_examples=150, deadline=None, derandomize=True)
@given(GAINS, BOUNDS)
def test_whatever_the_gains_weights_are_within_the_bounds_and_the_sum_is_the_largest(gains, bound):
    assume(room_for_ties(gains, bound))
    weights = bounded_weights(gains, bound)
    assert weights.min() >= 0.0
    assert not weights[gains <= 0].any()
    assert np.linalg.norm(weights) == pytest.approx(1.0, abs=1e-14)
    assert weights.sum() == pytest.approx(min(bound, unbounded(gains).sum()), abs=1e-12)
    assert weights @ gains == pytest.approx(optimum(gains, bound), rel=1e-9)
    np.testing.assert_allclose(weights, twin(gains, bound), rtol=0, atol=1e-6)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(GAINS, BOUNDS)
def test_whatever_the_gains_a_larger_one_has_no_smaller_weight(gains, bound):
    order = np.argsort(gains, kind="stable")
    weights = bounded_weights(gains, bound)[order]
    rises = np.diff(gains[order]) > 0
    assert (np.diff(weights)[rises] >= 0).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=25).map(np.array), BOUNDS)
def test_whatever_the_numbers_weights_are_numbers_within_the_bounds(gains, bound):
    """Also numbers that differ in their last digits only, zeros and very small ones."""
    weights = bounded_weights(gains, bound)
    assert np.isfinite(weights).all()
    assert weights.min() >= 0.0
    assert np.linalg.norm(weights) == pytest.approx(1.0, abs=1e-12)
    assert weights.sum() <= bound + 1e-9
