"""The dip is the distance to the nearest distribution with one mode: a slow twin that looks for it, known values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sparsecluster._kernels.dip import dip, dips

NORMAL, GROUPS, ROUNDED, LEVELS, HEAVY = "normal", "two groups", "rounded", "few levels", "heavy tails"


def sample(kind: str, n: int, seed: int) -> np.ndarray:
    """Ascending values, not all equal."""
    rng = np.random.default_rng([n, seed])
    values = {
        NORMAL: rng.normal(size=n),
        GROUPS: rng.normal(size=n) + 5 * rng.integers(0, 2, n),
        ROUNDED: np.round(2 * rng.normal(size=n)) / 2,
        LEVELS: rng.integers(0, 3, n).astype(float),
        HEAVY: rng.standard_cauchy(n),
    }[kind]
    if np.ptp(values) == 0:
        values[0] -= 1.0
    return np.sort(values)


def twin(values: np.ndarray) -> float:
    """The smallest t for which a distribution G with one mode stays within t of the empirical one, mode after mode.

    Modes at the values are enough: one between two neighbors can go to one of them, as G may jump at the mode.
    """
    at, counts = np.unique(values, return_counts=True)
    after = np.cumsum(counts) / values.size
    return min(nearest_with_mode(at, after - counts / values.size, after, mode) for mode in range(at.size))


def nearest_with_mode(at: np.ndarray, before: np.ndarray, after: np.ndarray, mode: int) -> float:
    """A linear program: the unknowns are G at the values, its left limit at the mode, and t.

    Of all G through given points the straight lines between them are as good as any. F goes from `before` to `after` at
    each value; G can follow a step only at the mode.
    """
    m = at.size
    left, t = m, m + 1
    rows: list[np.ndarray] = []
    bounds: list[float] = []

    def at_most(bound: float, terms: dict[int, float]) -> None:
        row = np.zeros(m + 2)
        row[list(terms)] = list(terms.values())
        rows.append(row)
        bounds.append(bound)

    def within_t(unknown: int, height: float) -> None:
        at_most(height, {unknown: 1.0, t: -1.0})
        at_most(-height, {unknown: -1.0, t: -1.0})

    def bends(points: list[int], places: np.ndarray, sign: float) -> None:
        """Slopes rise (sign 1) or fall (sign -1) along the points, none of them below 0."""
        for i in range(len(points) - 1):
            at_most(0.0, {points[i]: 1.0, points[i + 1]: -1.0})
        for i in range(len(points) - 2):
            first, second = np.diff(places[i : i + 3])
            a, b, c = points[i : i + 3]
            at_most(0.0, {a: -sign / first, b: sign / first + sign / second, c: -sign / second})

    for i in range(m):
        within_t(left if i == mode else i, before[i])
        within_t(i, after[i])
    at_most(0.0, {left: 1.0, mode: -1.0})
    bends([*range(mode), left], at[: mode + 1], 1.0)
    bends([*range(mode, m)], at[mode:], -1.0)
    aim = np.zeros(m + 2)
    aim[t] = 1.0
    return linprog(aim, A_ub=np.array(rows), b_ub=bounds, bounds=[(0, 1)] * (m + 1) + [(0, None)]).fun


# ---------------------------------------------------------------- the twin


@pytest.mark.parametrize("n", range(2, 14))
@pytest.mark.parametrize("kind", [NORMAL, GROUPS, ROUNDED, LEVELS, HEAVY])
def test_the_dip_is_the_distance_to_the_nearest_distribution_with_one_mode(kind, n):
    for seed in range(3):
        values = sample(kind, n, seed)
        assert dip(values) == pytest.approx(twin(values), abs=1e-9), values


@pytest.mark.parametrize("kind", [NORMAL, GROUPS, ROUNDED])
def test_the_dip_of_more_values_is_that_of_the_twin(kind):
    values = sample(kind, 40, 0)
    assert dip(values) == pytest.approx(twin(values), abs=1e-9)


def test_the_dip_of_every_small_sample_of_whole_numbers_is_that_of_the_twin():
    """All ascending samples of four values in 0..3 that are not constant: every pattern of ties."""
    grid = np.array(np.meshgrid(*[np.arange(4.0)] * 4, indexing="ij")).reshape(4, -1).T
    samples = [values for values in grid if (np.diff(values) >= 0).all() and np.ptp(values) > 0]
    assert len(samples) == 31
    for values in samples:
        assert dip(values) == pytest.approx(twin(values), abs=1e-9), values


# ---------------------------------------------------------------- known values


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_values_evenly_spaced_or_all_equal_have_the_smallest_dip_there_is(n):
    assert dip(np.arange(n) * 0.3 - 2.0) == pytest.approx(1 / (2 * n), rel=1e-12)
    assert dip(np.full(n, 7.0)) == pytest.approx(1 / (2 * n), rel=1e-12)


@pytest.mark.parametrize("kind", [NORMAL, GROUPS, ROUNDED, LEVELS, HEAVY])
def test_no_dip_is_below_half_a_step_or_above_a_quarter(kind):
    for n in (2, 3, 7, 50, 300):
        for seed in range(20):
            assert 1 / (2 * n) - 1e-12 <= dip(sample(kind, n, seed)) <= 0.25 + 1e-12


@pytest.mark.parametrize("n", [2, 4, 10, 100, 1000])
def test_two_groups_of_equal_size_have_a_dip_that_goes_to_a_quarter_as_they_go_apart(n):
    near, far, farther = (np.repeat([0.0, 1.0], n) + np.tile(np.arange(n) / n * w, 2) for w in (0.9, 0.1, 1e-6))
    assert dip(near) < dip(far) < dip(farther)
    assert dip(farther) == pytest.approx(0.25, abs=1e-5)


def test_two_groups_of_which_one_has_a_share_q_have_a_dip_of_half_of_it():
    """G gives all its jump to the larger group and climbs half of the step of the other: q / 2."""
    for q in (0.1, 0.25, 0.4, 0.5):
        values = np.repeat([0.0, 1.0], [round(1000 * q), round(1000 * (1 - q))])
        assert dip(values) == pytest.approx(q / 2, rel=1e-12)


def test_the_dip_of_a_sample_with_one_mode_goes_to_zero_and_that_of_two_modes_does_not():
    rng = np.random.default_rng(0)
    one, two = np.sort(rng.normal(size=20_000)), np.sort(rng.normal(size=20_000) + 4 * rng.integers(0, 2, 20_000))
    assert dip(one) < 0.005
    assert dip(two) > 0.04


# ---------------------------------------------------------------- what does not change it


@pytest.mark.parametrize("kind", [NORMAL, GROUPS, ROUNDED, LEVELS])
def test_shift_scale_and_reflection_do_not_change_the_dip(kind):
    for n in (2, 5, 12, 60):
        values = sample(kind, n, 0)
        expected = pytest.approx(dip(values), abs=1e-9)
        assert dip(values + 100.0) == expected
        assert dip(values * 1e-3) == expected
        assert dip(values * 1e150) == expected
        assert dip(values * 1e-150) == expected
        assert dip(-values[::-1]) == expected


@pytest.mark.parametrize("times", [2, 5])
def test_every_value_several_times_over_is_the_same_distribution(times):
    for n in (3, 8, 30):
        values = sample(GROUPS, n, 0)
        assert dip(np.repeat(values, times)) == pytest.approx(dip(values), rel=1e-12)


def test_the_dips_of_rows_are_those_of_each_and_the_rows_stay_as_they_were():
    rows = np.array([sample(kind, 25, seed) for kind in (NORMAL, GROUPS, ROUNDED, LEVELS) for seed in range(5)])
    before = rows.copy()
    assert dips(rows).tolist() == [dip(row) for row in rows]
    np.testing.assert_array_equal(rows, before)
    assert np.unique(dips(rows)).size > 10


def test_no_rows_have_no_dips():
    assert dips(np.empty((0, 4))).shape == (0,)
