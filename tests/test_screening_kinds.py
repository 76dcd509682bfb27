"""Tests of single moments and of modes, and the rule of Azizyan, Singh and Wasserman."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparsecluster import ScreenedClustering, load_model, save_model
from sparsecluster._kernels.dip import dips
from sparsecluster.methods._modes import critical_bandwidths
from sparsecluster.methods._result import NoClustersError
from sparsecluster.methods._screening import (
    absolute_moment,
    asymmetry,
    azizyan_alpha,
    by_variance_ratio,
    flatness,
    screen,
)
from tests.helpers.common import refuses

N = 40
HALVES, FEW = np.arange(N) % 2, np.arange(N) < 6
DIPTEST = json.loads((Path(__file__).parent / "data" / "reference" / "dip_diptest.json").read_text())
SHAPES = ["skewness", "kurtosis", "absolute", "mode", "dip", "bandwidth"]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


# ---------------------------------------------------------------- noise


@pytest.mark.parametrize("test", ["moments", *SHAPES, "variance"])
def test_p_values_of_2000_columns_of_noise_are_uniform(rng, test):
    """0.001 of all seeds would say otherwise."""
    noise = rng.random((N, 2000)) if test == "dip" else rng.normal(3.0, 2.0, (N, 2000))
    assert stats.kstest(screen(noise, test).p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("test", SHAPES)
def test_shift_and_scale_of_columns_do_not_matter(rng, test):
    table = rng.normal(size=(N, 30)) + 4.0 * HALVES[:, None] * (np.arange(30) < 10)
    expected = screen(table, test)
    for moved in (table * rng.uniform(0.1, 10.0, 30) + rng.normal(0, 5, 30), table * 1e250, table * 1e-250, -table):
        found = screen(moved, test)
        np.testing.assert_allclose(found.p_values, expected.p_values, rtol=0, atol=2e-3)
        np.testing.assert_allclose(found.statistics, expected.statistics, rtol=2e-3, atol=1e-9)


@pytest.mark.parametrize("shape", ["laplace", "standard_cauchy", "standard_exponential", "normal"])
def test_hartigans_dip_test_is_conservative_for_any_noise_with_one_mode(rng, shape):
    noise = getattr(rng, shape)(size=(N, 1000))
    assert (screen(noise, "dip").p_values < 0.1).mean() < 0.1
    assert (screen(noise, "dip").p_values >= screen(noise, "mode").p_values - 1e-3).all()


# ---------------------------------------------------------------- single moments


def test_moments_are_those_of_scipy(rng):
    table = rng.standard_exponential((N, 8)) * 3.0 - 2.0
    np.testing.assert_allclose(asymmetry(table), np.abs(stats.skew(table)), rtol=1e-10)
    np.testing.assert_allclose(flatness(table), -stats.kurtosis(table), rtol=1e-10)
    expected = [np.mean(np.abs(x - x.mean())) / np.std(x) for x in table.T]
    np.testing.assert_allclose(absolute_moment(table), expected, rtol=1e-12)


def test_two_equal_points_have_the_extreme_moments():
    table = np.repeat([[-3.0], [5.0]], 10, axis=0)
    assert asymmetry(table) == pytest.approx(0.0, abs=1e-12)
    assert flatness(table) == pytest.approx(2.0)
    assert absolute_moment(table) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("test", "halves", "few", "heavy"),
    [
        # The share that is found (1), what noise would do (about 0.05), and none of what goes the other way (0).
        ("skewness", 0.0, 1.0, None),
        ("kurtosis", 1.0, 0.0, 0.0),
        ("absolute", 1.0, 0.0, 0.0),
        ("mode", 1.0, None, None),
        ("bandwidth", 1.0, None, None),
        ("moments", 1.0, 1.0, None),
    ],
)
def test_each_test_finds_the_groups_that_it_is_for(rng, test, halves, few, heavy):
    noise = rng.normal(size=(N, 200))
    samples = {"halves": noise + 5.0 * HALVES[:, None], "few": noise + 6.0 * FEW[:, None]}
    samples["heavy"] = rng.standard_t(3, size=(N, 200))
    for name, share in {"halves": halves, "few": few, "heavy": heavy}.items():
        if share is not None:
            assert abs((screen(samples[name], test).p_values < 0.05).mean() - share) < 0.1, name


# ---------------------------------------------------------------- modes


@pytest.mark.parametrize("result", DIPTEST, ids=lambda result: result["data"])
def test_dips_and_their_p_values_are_those_of_r(reference, result):
    table = reference.table(result["data"])
    np.testing.assert_allclose(dips(np.sort(table.T)), result["dip"], rtol=0, atol=1e-8)
    # Those of R are interpolated in a table for a few numbers of samples.
    np.testing.assert_allclose(screen(table, "dip").p_values, result["p_value_uniform_null"], rtol=0, atol=0.02)


def n_modes(values, bandwidth):
    """Modes of the density, at many places and without any shortcut."""
    at = np.linspace(values.min() - bandwidth, values.max() + bandwidth, 4000)
    density = np.exp(-0.5 * ((at[:, None] - values) / bandwidth) ** 2).sum(axis=1)
    rises = np.sign(np.diff(density))
    return int(((rises[:-1] > 0) & (rises[1:] < 0)).sum())


@pytest.mark.parametrize("shape", ["normal", "groups", "exponential", "far"])
def test_below_the_critical_bandwidth_there_are_several_modes_and_above_there_is_one(rng, shape):
    table = rng.normal(size=(30, 6))
    table += {"groups": 5.0 * (np.arange(30) % 2), "far": 50.0 * (np.arange(30) == 3)}.get(shape, np.zeros(30))[:, None]
    table = np.exp(table) if shape == "exponential" else table
    for values, critical in zip(table.T, critical_bandwidths(table) * table.std(axis=0, ddof=1), strict=True):
        assert n_modes(values, 0.97 * critical) > 1
        assert n_modes(values, 1.03 * critical) == 1


def test_two_points_need_a_bandwidth_of_half_their_distance():
    table = np.repeat([[0.0, 10.0], [6.0, 11.0]], 5, axis=0)
    np.testing.assert_allclose(critical_bandwidths(table) * table.std(axis=0, ddof=1), [3.0, 0.5], rtol=0.01)


def test_the_critical_bandwidths_of_many_columns_are_those_of_each(rng):
    table = rng.normal(size=(15, 1500))
    some = [0, 700, 1023, 1024, 1499]
    np.testing.assert_allclose(critical_bandwidths(table)[some], critical_bandwidths(table[:, some]), rtol=1e-12)
    assert critical_bandwidths(table[:, :0]).shape == (0,)


# ---------------------------------------------------------------- the rule of Azizyan, Singh and Wasserman


def two_groups(n=400, p=60, useful=6, shift=3.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3 == 0
    return rng.normal(size=(n, p)) + shift * truth[:, None] * (np.arange(p) < useful), truth


def fit(table, n_clusters=2, **parameters):
    return ScreenedClustering(n_clusters, **{"test": "variance", "threshold": "azizyan", **parameters}).fit(table)


def test_alpha_is_its_formula():
    for n, p in ((100, 10), (400, 60), (5000, 10_000)):
        expected = np.sqrt(6 * np.log(n * p) / n) + 2 * np.log(n * p) / n
        assert azizyan_alpha(n, p) == pytest.approx(expected, rel=1e-12)


def test_features_pass_whose_variance_is_large_compared_with_the_smallest():
    X, _ = two_groups()
    found = fit(X)
    alpha = azizyan_alpha(400, 60)
    assert found.alpha_ == alpha
    variances = X.var(axis=0)
    np.testing.assert_array_equal(found.support_, variances > (1 + alpha) / (1 - alpha) * variances.min())
    assert np.flatnonzero(found.support_).tolist() == [0, 1, 2, 3, 4, 5]
    assert by_variance_ratio(np.array([1.0, 2.9, 3.0, 3.1]), 0.5).tolist() == [3]


def test_noise_never_passes():
    rng = np.random.default_rng(0)
    for n, p in ((200, 10), (300, 200)):
        for _ in range(30):
            assert by_variance_ratio(rng.normal(size=(n, p)).var(axis=0), azizyan_alpha(n, p)).size == 0


@pytest.mark.parametrize("standardize", [True, False])
def test_two_clusters_are_the_signs_of_the_first_principal_component(standardize):
    X, truth = two_groups()
    X = X * np.where(np.arange(60) < 6, 3.0, 1.0)
    found = fit(X, standardize=standardize)
    kept = X[:, found.support_] - X[:, found.support_].mean(axis=0)
    kept = kept / kept.std(axis=0) if standardize else kept
    first = np.linalg.svd(kept, full_matrices=False)[2][0]
    assert abs(np.mean(found.labels_ == (kept @ first > 0)) - 0.5) == 0.5
    assert abs(np.mean(found.labels_ == truth) - 0.5) > 0.45
    new = two_groups(seed=1)[0]
    apart = new[:, found.support_] - X[:, found.support_].mean(axis=0)
    apart = apart / X[:, found.support_].std(axis=0) if standardize else apart
    agree = found.predict(new) == (apart @ first > 0)
    assert agree.all() or not agree.any()
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert 0 < found.score(new) < 1


def test_a_model_of_signs_can_be_kept(tmp_path):
    X, _ = two_groups()
    found = fit(X)
    loaded = load_model(save_model(found, tmp_path / "model.json"))
    np.testing.assert_array_equal(loaded.predict(X), found.labels_)
    assert (loaded.score(X), loaded.alpha_) == (found.score(X), found.alpha_)


def test_other_clusterers_and_more_clusters_use_the_same_features():
    X, truth = two_groups()
    found = fit(X, clusterer="kmeans")
    np.testing.assert_array_equal(found.support_, fit(X).support_)
    assert abs(np.mean(found.labels_ == truth) - 0.5) > 0.45
    assert np.bincount(fit(X, 3).labels_).size == 3
    assert ScreenedClustering(2).fit(X).alpha_ is None


def test_with_few_samples_the_rule_says_how_many_it_takes_and_alpha_can_be_given():
    X, _ = two_groups(n=40)
    words = "With 40 samples and 60 features, alpha is 1.47", r"takes \d+ samples", "hc"
    with refuses(*words, error=NoClustersError) as seen:
        fit(X)
    enough = int(str(seen.value).split("takes ")[1].split()[0])
    assert azizyan_alpha(enough, 60) < 1 <= azizyan_alpha(enough - 1, 60)
    assert fit(X, alpha=0.3).alpha_ == 0.3


def test_where_no_variance_is_large_the_best_feature_is_taken_with_a_warning():
    noise = np.random.default_rng(0).normal(size=(300, 20))
    with pytest.warns(UserWarning, match="No feature passes with alpha=0.475"):
        found = fit(noise)
    assert np.flatnonzero(found.support_).tolist() == [noise.var(axis=0).argmax()]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"test": "ks"}, ['threshold="azizyan" compares variances', 'test="variance"', "got test='ks'"]),
        ({"alpha": 1.0}, ['alpha must be "auto" or a number between 0 and 1', "got 1.0"]),
        ({"alpha": 0}, ["alpha", "got 0"]),
        ({"alpha": "small"}, ["alpha", "got 'small'"]),
        ({"threshold": "aziz"}, ["threshold must be one of", "hc", "fdr", "azizyan", "or a number", "got 'aziz'"]),
        ({"test": "skew", "threshold": "hc"}, ["test must be one of", "got 'skew'", 'Did you mean "skewness"']),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    with refuses(*words):
        fit(two_groups()[0], **parameters)
