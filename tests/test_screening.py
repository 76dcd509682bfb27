"""Tests of single features: they are what they say, noise passes them as often as it should, and groups are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sparsecluster.methods import _screening
from sparsecluster.methods._screening import (
    N_NULL,
    N_NULL_BANDWIDTH,
    TESTS,
    Screening,
    by_false_discovery_rate,
    by_higher_criticism,
    by_number,
    higher_criticism,
    ks_statistics,
    ks_test,
    kurtosis,
    null_statistics,
    screen,
    skewness,
)

# One number of samples for all: the null of each is simulated once.
N = 40
HALVES, FEW = np.arange(N) % 2, np.arange(N) < 5


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def authors(reference):
    """What the MATLAB code of Jin and Wang makes of a table, the table, and the null that it was given."""

    def of(data):
        return reference.ifpca(data), reference.table(data), reference.table(f"{data}_ksnull")

    return of


# ---------------------------------------------------------------- the authors' own program


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_statistics_p_values_and_criticism_are_those_of_the_authors(authors, data):
    result, table, null = authors(data)
    found = ks_test(table, null)
    np.testing.assert_allclose(found.statistics, result["ks"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.p_values, result["pval"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(higher_criticism(found.p_values, len(table)), result["hc"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_as_many_features_are_chosen_as_by_the_authors(authors, data):
    result, table, null = authors(data)
    chosen = by_higher_criticism(ks_test(table, null).p_values, len(table))
    assert chosen.size == result["selected"]
    assert np.array(result["pval"])[chosen].max() < np.delete(result["pval"], chosen).min()


# ---------------------------------------------------------------- statistics


@pytest.mark.parametrize("n", [2, 3, 8, N])
def test_ks_is_the_largest_distance_to_the_normal_with_the_mean_and_variance_of_the_sample(rng, n):
    table = rng.standard_exponential((n, 5)) * [1, 2, 0.1, 50, 1] + [0, 3, -4, 0, 9]
    expected = [np.sqrt(n) * stats.kstest(x, "norm", (x.mean(), x.std())).statistic for x in table.T]
    np.testing.assert_allclose(ks_statistics(table), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [3, 8, N])
def test_skewness_and_kurtosis_are_those_of_scipy(rng, n):
    table = rng.standard_exponential((n, 7)) * 3.0 - 2.0
    np.testing.assert_allclose(skewness(table), stats.skew(table), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(kurtosis(table), stats.kurtosis(table, fisher=False), rtol=1e-10)


def test_the_variance_test_is_chi_squared(rng):
    table = rng.normal(size=(N, 9)) * np.linspace(1, 3, 9)
    found = screen(table, "variance", 2.0)
    np.testing.assert_allclose(found.statistics, [(N - 1) * np.var(x, ddof=1) / 2.0 for x in table.T], rtol=1e-12)
    np.testing.assert_allclose(found.p_values, stats.chi2(N - 1).sf(found.statistics), rtol=1e-10)


def test_the_variance_of_the_noise_is_that_of_the_middle_feature(rng):
    """With it, the middle feature is in the middle of chi-squared."""
    found = screen(rng.normal(size=(N, 101)) * 7.0, "variance")
    assert np.median(found.p_values) == pytest.approx(0.5, abs=1e-12)


def test_ks_statistics_get_the_mean_and_spread_of_the_null(rng):
    null, table = rng.gamma(3.0, size=999), rng.standard_exponential((N, 50))
    raw, found = ks_statistics(table), ks_test(table, null).statistics
    assert found.mean() == pytest.approx(null.mean(), rel=1e-12)
    assert found.std(ddof=1) == pytest.approx(null.std(ddof=1), rel=1e-12)
    assert np.corrcoef(found, raw)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_a_p_value_is_the_share_of_the_null_above(rng):
    null, table = rng.gamma(3.0, size=500), rng.normal(size=(N, 30))
    found = ks_test(table, null)
    expected = [sum(each > value for each in null) / 500 for value in found.statistics]
    np.testing.assert_allclose(found.p_values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["ks", "moments", "mode"])
def test_the_null_is_that_of_normal_samples_of_as_many_samples(rng, name):
    """Samples of any mean and variance; 0.001 of all seeds would say otherwise."""
    of = {"ks": (ks_statistics,), "moments": (skewness, kurtosis), "mode": (_screening.dip_statistics,)}[name]
    null = null_statistics(name, N, *of)
    assert null.shape == (N_NULL, len(of))
    fresh = rng.normal(5.0, 3.0, (N, 3000))
    for values, statistic in zip(null.T, of, strict=True):
        assert stats.ks_2samp(values, statistic(fresh)).pvalue > 0.001


# ---------------------------------------------------------------- noise


@pytest.mark.parametrize("test", TESTS)
def test_p_values_of_normal_noise_are_uniform(rng, test):
    """And those of Hartigan's dip test for uniform noise.

    Shares below a level are within 4 standard errors, those of the simulated null included.
    """
    # The bandwidth of a column takes long.
    p = 1500 if test == "bandwidth" else 6000
    units = 1.0 if test == "variance" else rng.uniform(0.1, 10.0, p)
    noise = rng.random((N, p)) if test == "dip" else rng.normal(size=(N, p))
    p_values = screen(noise * units, test).p_values
    for level in (0.01, 0.05, 0.2, 0.5, 0.8):
        error = np.sqrt(level * (1 - level) * (1 / p + 1 / (N_NULL_BANDWIDTH if test == "bandwidth" else N_NULL)))
        assert abs((p_values <= level).mean() - level) < 4 * error, level


def test_variances_of_noise_are_judged_by_the_variance_given(rng):
    table = rng.normal(size=(N, 4000)) * 2.0
    assert (screen(table, "variance", 4.0).p_values <= 0.05).mean() == pytest.approx(0.05, abs=0.014)
    assert (screen(table, "variance", 2.0).p_values <= 0.05).mean() > 0.9
    assert (screen(table, "variance", 8.0).p_values <= 0.05).mean() < 0.001


# ---------------------------------------------------------------- power

SIGNALS = {
    "two far groups of equal size": HALVES * 6.0,
    "a few far samples": FEW * 6.0,
    "a larger variance": 0.0,
}


@pytest.mark.parametrize(
    ("signal", "test"),
    [
        ("two far groups of equal size", "ks"),
        ("two far groups of equal size", "moments"),
        ("two far groups of equal size", "mode"),
        ("two far groups of equal size", "variance"),
        ("a few far samples", "ks"),
        ("a few far samples", "moments"),
        ("a few far samples", "variance"),
        ("a larger variance", "variance"),
    ],
)
def test_each_test_finds_what_it_is_for(rng, signal, test):
    table = rng.normal(size=(N, 200))
    table[:, :10] *= 4.0 if signal == "a larger variance" else 1.0
    table[:, :10] += np.reshape(SIGNALS[signal], (-1, 1))
    p_values = screen(table, test).p_values
    assert p_values[:10].max() < min(0.05, np.quantile(p_values[10:], 0.1))
    assert np.median(p_values[10:]) > 0.3


@pytest.mark.parametrize("test", ["ks", "moments", "mode"])
def test_a_larger_variance_of_normal_noise_is_nothing_to_a_test_of_shape(rng, test):
    table = rng.normal(size=(N, 400))
    np.testing.assert_allclose(screen(table * 50.0, test).p_values, screen(table, test).p_values, atol=1e-3)


def test_one_mode_is_one_mode_however_skew(rng):
    """Exponential noise: the test of modes sees nothing where the test of moments sees skewness."""
    table = rng.standard_exponential((N, 300))
    assert (screen(table, "mode").p_values < 0.05).mean() < 0.15
    assert (screen(table, "moments").p_values < 0.05).mean() > 0.8


# ---------------------------------------------------------------- units


@pytest.mark.parametrize("test", ["ks", "moments", "mode"])
def test_the_units_and_zeros_of_columns_do_not_matter(rng, test):
    table = rng.normal(size=(N, 60)) + 4.0 * HALVES[:, None] * (np.arange(60) < 10)
    expected = screen(table, test)
    for moved in (table * rng.uniform(0.01, 100.0, 60) + rng.normal(0, 50, 60), table * 1e200, table * 1e-200, -table):
        found = screen(moved, test)
        np.testing.assert_allclose(found.p_values, expected.p_values, rtol=0, atol=2e-4)
        np.testing.assert_allclose(found.statistics, expected.statistics, rtol=0, atol=1e-2)


@pytest.mark.parametrize("scale", [1e-3, 1e3, 1e200, 1e-200])
def test_a_common_unit_and_any_zeros_do_not_matter_to_the_variance(strict, rng, scale):
    table = rng.normal(size=(N, 60)) * np.where(np.arange(60) < 10, 3.0, 1.0)
    expected = screen(table, "variance")
    found = screen((table + rng.normal(0, 5, 60)) * scale, "variance")
    np.testing.assert_allclose(found.statistics, expected.statistics, rtol=1e-9)
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-6)


@pytest.mark.parametrize("test", TESTS)
def test_screening_leaves_the_table_as_it_was(rng, test):
    table = rng.normal(size=(N, 5))
    before = table.copy()
    screen(table, test)
    np.testing.assert_array_equal(table, before)


# ---------------------------------------------------------------- few features


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("p", [1, 2])
def test_one_and_two_features_have_p_values_and_one_of_them_is_chosen(strict, rng, test, p):
    found = screen(rng.normal(size=(N, p)), test)
    assert found.statistics.shape == found.p_values.shape == (p,)
    assert ((found.p_values >= 0) & (found.p_values <= 1)).all()
    chosen = by_higher_criticism(found.p_values, N)
    assert chosen.tolist() == [found.p_values.argmin()]


def test_two_ks_statistics_get_the_mean_and_spread_of_the_null(rng):
    null = rng.gamma(3.0, size=999)
    found = ks_test(rng.normal(size=(N, 2)), null).statistics
    np.testing.assert_allclose(np.sort(found), null.mean() + null.std(ddof=1) * np.array([-1, 1]) / 2**0.5, rtol=1e-12)


def test_a_single_ks_statistic_is_not_moved_to_the_mean_of_the_null(strict, rng):
    table = rng.normal(size=(N, 1))
    assert screen(table, "ks").statistics == pytest.approx(ks_statistics(table), rel=1e-12)


# ---------------------------------------------------------------- thresholds


def criticism_by_hand(p_values, n):
    """The formula, feature by feature."""
    p, found = len(p_values), [0.0] * len(p_values)
    for j, a in enumerate(sorted(range(p), key=lambda a: p_values[a]), start=1):
        t = j / (p + 1)
        excess = max(np.sqrt(n) * (t - p_values[a]) / t, 0.0)
        found[a] = np.sqrt(p) * (t - p_values[a]) / np.sqrt(t) / np.sqrt(excess + 1)
    return found


def chosen_by_hand(p_values, n):
    """Jin and Wang: among the smaller half, from the first p-value above log(p)/p on, up to where HC is largest."""
    p, half = len(p_values), int(np.floor(len(p_values) / 2 + 0.5))
    order = sorted(range(p), key=lambda a: p_values[a])
    criticism = criticism_by_hand(p_values, n)
    places = [j for j in range(half) if p_values[order[j]] > np.log(p) / p] or [half - 1]
    best = max(places, key=lambda j: criticism[order[j]])
    return sorted(order[: best + 1])


@pytest.mark.parametrize("p", [1, 2, 3, 10, 333])
@pytest.mark.parametrize("n_strong", [0, 1, 40, 200])
def test_higher_criticism_is_its_formula(rng, p, n_strong):
    p_values = rng.random(p)
    p_values[:n_strong] *= 1e-3
    np.testing.assert_allclose(higher_criticism(p_values, 50), criticism_by_hand(p_values, 50), rtol=1e-12)
    assert by_higher_criticism(p_values, 50).tolist() == chosen_by_hand(p_values, 50)


def test_higher_criticism_takes_all_strong_features_and_fewer_others(rng):
    p_values = rng.random(2000)
    p_values[100:200] = 1e-5 * rng.random(100)
    chosen = by_higher_criticism(p_values, 50)
    assert set(range(100, 200)) <= set(chosen)
    assert chosen.size < 200


def test_of_equal_criticism_the_larger_p_value_counts():
    """Without any excess over chance HC is zero everywhere."""
    p_values = np.arange(1, 9) / 9
    assert higher_criticism(p_values, 30).tolist() == [0.0] * 8
    assert by_higher_criticism(p_values, 30).tolist() == [0, 1, 2, 3]


def test_features_of_equal_p_value_are_chosen_together():
    p_values = np.array([0.0, 0.3, 0.3, 0.3, 0.3, 0.9, 0.9, 0.9])
    chosen = by_higher_criticism(p_values, 30)
    assert len({p_values[a] for a in chosen} & {p_values[a] for a in range(8) if a not in chosen}) == 0
    assert by_false_discovery_rate(np.array([0.05, 0.2, 0.05, 0.05]), 0.1).tolist() == [0, 2, 3]


@pytest.mark.parametrize("level", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("p", [1, 2, 10, 500])
def test_the_false_discovery_rate_is_that_of_scipy(rng, p, level):
    for _ in range(20):
        p_values = rng.random(p) ** rng.integers(1, 5)
        expected = np.flatnonzero(stats.false_discovery_control(p_values) <= level)
        assert by_false_discovery_rate(p_values, level).tolist() == expected.tolist()


def test_the_last_p_value_below_its_line_takes_all_before_it_along():
    """At level 0.1 the lines are 0.025, 0.05, 0.075, 0.1: two are above theirs, the third is not."""
    p_values = np.array([0.06, 0.9, 0.03, 0.055])
    assert by_false_discovery_rate(p_values, 0.1).tolist() == [0, 2, 3]
    assert by_false_discovery_rate(p_values, 0.05).size == 0


def test_so_many_of_smallest_p_value_and_of_equal_ones_the_larger_statistic():
    found = Screening(np.array([1.0, 5.0, 3.0, 4.0, 9.0]), np.array([0.5, 0.0, 0.0, 0.0, 0.1]))
    assert [by_number(found, count).tolist() for count in range(1, 6)] == [
        [1], [1, 3], [1, 2, 3], [1, 2, 3, 4], [0, 1, 2, 3, 4]
    ]  # fmt: skip
