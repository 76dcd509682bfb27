"""The parts of the mixture with variable selection: kernels, distributions, EM, and the integrated likelihood."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import invgamma, norm
from sklearn.mixture import GaussianMixture

from sparsecluster._kernels.integrated import improve_integrated
from sparsecluster._kernels.levels import level_counts, level_sums
from sparsecluster._mixtures.em import one_hot
from sparsecluster._mixtures.independent import (
    LEAST_PROBABILITY,
    Columns,
    coded_levels,
    scaled_numbers,
    scaled_sparse,
)
from sparsecluster._mixtures.selection import Model, ascend, em, expect, integrated, maximize, random_mixture
from tests import naive
from tests.helpers import selection as twin

sparse = pytest.importorskip("scipy.sparse")


def columns(rng, n=40, n_numbers=6, n_categories=5, missing=0.15, apart=1.5):
    """Two groups that differ in the first numbers and in the first categories, with missing values."""
    truth = np.arange(n) % 2
    numbers = rng.normal(size=(n, n_numbers)) + apart * truth[:, None] * (np.arange(n_numbers) < 3)
    codes = rng.integers(0, 3, (n, n_categories)).astype(float)
    codes[:, :2] = np.where(rng.random((n, min(2, n_categories))) < 0.8, truth[:, None], codes[:, :2])
    for table in (numbers, codes):
        table[rng.random(table.shape) < missing] = np.nan
    numbers[:3], codes[:3] = np.nan_to_num(numbers[:3]), np.arange(3)[:, None]
    places = rng.permutation(n_numbers + n_categories)
    return Columns(scaled_numbers(numbers), coded_levels(codes), places)


def model_of(seed, k=3, least=1e-3, **options):
    return Model.of(columns(np.random.default_rng(seed), **options), k, least)


def memberships(rng, n, k):
    return rng.dirichlet(np.ones(k), size=n)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("seed", range(5))
def test_sums_over_levels_are_those_of_loops(seed):
    rng = np.random.default_rng(seed)
    levels = columns(rng).levels
    weights, values = rng.random((40, 3)), rng.normal(size=(levels.starts[-1], 3))
    args = levels.codes, levels.starts
    np.testing.assert_allclose(level_counts(*args, weights), twin.level_counts(*args, weights), rtol=1e-13)
    np.testing.assert_allclose(level_sums(*args, values), twin.level_sums(*args, values), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_moves_raise_the_integrated_likelihood_by_what_they_say_until_none_does(seed):
    rng = np.random.default_rng(seed)
    k, n = 2 + seed % 3, 14
    own = columns(rng, n=n, n_numbers=3, n_categories=2)
    # In the order in which fits have them, for which there is compiled code.
    numbers, codes = np.ascontiguousarray(own.numbers.dense(np.ones(3, bool))), own.levels.codes
    scales = np.array([0.5, 1.0, 2.0])
    # The second sample is a copy of the first, and the others have all clusters among them.
    labels = naive.random_labels(rng, n - 1, k)[np.concatenate([[0], np.arange(n - 1)])]
    blocks = np.concatenate([[0], np.arange(2, n + 1)])
    numbers[1], codes[1] = numbers[0], codes[0]
    # Everything is measured from the prior mean, which is 0 for the kernel.
    every = np.ones(5, bool)

    def value(given):
        parts = [[numbers[given == c, a] for c in range(k)] for a in range(3)]
        of_numbers = sum(twin.integral_of_numbers(x, 0.0, s) for col, s in zip(parts, scales, strict=True) for x in col)
        return of_numbers + twin.integrated(numbers[:, :0], [], codes, given, k, every[3:])

    before, begin = value(labels), labels.copy()
    gain = improve_integrated(numbers, scales**2, codes, own.levels.starts, blocks, labels, k, 100)
    assert value(labels) - before == pytest.approx(gain, abs=1e-9)
    assert gain > 0 or np.array_equal(labels, begin)
    assert labels[0] == labels[1]
    assert np.unique(labels).size == k
    for b, c in product(range(1, blocks.size - 1), range(k)):
        if np.sum(labels == labels[blocks[b]]) > 1:
            assert value(np.where(np.arange(n) == blocks[b], c, labels)) <= value(labels) + 1e-8


# ---------------------------------------------------------------- distributions


def test_the_integral_over_mean_and_variance_is_that_of_numerical_integration():
    x, center, scale = np.array([0.3, -0.5, 1.1]), 0.2, 0.7
    # On the log scale of the variance, and for every variance in units of the posterior spread of the mean.
    logs, steps = np.linspace(-6, 16, 2001)[:, None], np.linspace(-8, 8, 401)
    variance = np.exp(logs)
    mean = x.mean() + steps * np.sqrt(variance / x.size)
    prior = norm.pdf(mean, center, np.sqrt(variance / 0.01)) * invgamma.pdf(variance, 0.5, scale=scale**2 / 2)
    density = prior * np.prod([norm.pdf(each, mean, np.sqrt(variance)) for each in x], axis=0)
    inner = np.trapezoid(density, steps, axis=1) * np.sqrt(variance[:, 0] / x.size)
    found = np.trapezoid(inner * variance[:, 0], logs[:, 0])
    assert twin.integral_of_numbers(x, center, scale) == pytest.approx(np.log(found), abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_integrals_of_columns_are_those_of_the_formulas(seed):
    rng = np.random.default_rng(seed)
    own, labels = columns(rng), naive.random_labels(rng, 40, 3)
    scales = rng.uniform(0.2, 3.0, 6)
    of_features, alone, of_labels = integrated(Model.of(own, 3, 1e-3), labels, scales**2)
    numbers = own.numbers.dense(np.ones(6, bool))
    everything = of_features.sum() + of_labels
    assert everything == pytest.approx(twin.integrated(numbers, scales, own.levels.codes, labels, 3, np.ones(11, bool)))
    best = np.maximum(of_features, alone).sum() + of_labels
    assert best == pytest.approx(twin.integrated(numbers, scales, own.levels.codes, labels, 3))


@pytest.mark.parametrize("seed", range(5))
def test_no_other_distributions_are_more_likely(seed):
    rng = np.random.default_rng(seed)
    model = model_of(seed)
    own, weights = model.columns, memberships(rng, 40, 3) ** 4
    found = maximize(model, weights, np.ones(11, bool))

    def likelihood(mixture):
        each = own.numbers.log_density(mixture.gaussians, np.ones(6, bool))
        return (weights * (each + own.levels.log_density(mixture.probabilities, np.ones(5, bool)))).sum()

    for _ in range(50):
        size = 10.0 ** rng.uniform(-4, 0)
        means = found.gaussians.means + size * rng.normal(size=(6, 3))
        variances = np.maximum(found.gaussians.variances * np.exp(size * rng.normal(size=(6, 3))), 1e-3)
        others = np.maximum(found.probabilities * np.exp(size * rng.normal(size=found.probabilities.shape)), 1e-5)
        others /= own.levels.by_level(own.levels.by_column(others))
        changed = found._replace(gaussians=found.gaussians._replace(means=means, variances=variances))
        assert likelihood(changed) < likelihood(found)
        assert likelihood(found._replace(probabilities=others)) < likelihood(found)


def test_levels_that_do_not_occur_in_a_cluster_have_the_least_probability():
    levels = coded_levels(np.array([[0.0], [0.0], [1.0], [2.0], [np.nan]]))
    found, likelihood = levels.fit(one_hot(np.array([0, 0, 1, 1, 0]), 3))
    free = 1 - 2 * LEAST_PROBABILITY
    np.testing.assert_allclose(found[:, 0], [free, LEAST_PROBABILITY, LEAST_PROBABILITY], rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], [LEAST_PROBABILITY, *[(1 - LEAST_PROBABILITY) / 2] * 2], rtol=1e-12)
    # In a cluster without observed values, the distribution is that of all samples.
    np.testing.assert_allclose(found[:, 2], [0.5, 0.25, 0.25], rtol=1e-12)
    assert likelihood[0] == pytest.approx(2 * np.log(free) + 2 * np.log((1 - LEAST_PROBABILITY) / 2))


def test_a_sparse_matrix_has_the_distributions_of_its_dense_form():
    rng = np.random.default_rng(0)
    table = np.where(rng.random((30, 8)) < 0.6, 0.0, rng.normal(2.0, 1.0, (30, 8)))
    weights, relevant = memberships(rng, 30, 2), np.arange(8) % 2 == 0
    dense, thin = scaled_numbers(table), scaled_sparse(sparse.csr_array(table))
    fits = [each.fit(weights, 1e-3) for each in (dense, thin)]
    np.testing.assert_allclose(fits[0][1], fits[1][1], rtol=1e-10)
    values = [each.log_density(fit[0], relevant) for each, fit in zip((dense, thin), fits, strict=True)]
    np.testing.assert_allclose(*values, rtol=1e-9)
    members = one_hot(np.arange(30) % 2, 2)
    np.testing.assert_allclose(*[each.log_integral(members, np.ones(8)) for each in (dense, thin)], rtol=1e-9)


# ---------------------------------------------------------------- EM


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "shape", [{}, {"n_numbers": 100, "n_categories": 60}, {"n_categories": 2, "n_numbers": 3, "n": 12}], ids=str
)
def test_no_step_of_em_lowers_the_bic(seed, shape):
    rng = np.random.default_rng(100 + seed)
    k = 2 + seed % 3
    model = model_of(seed, k, **shape)
    n = model.columns.n_samples
    begin = memberships(rng, n, k) if seed % 2 else expect(model, random_mixture(model, rng))[0]
    found = em(model, begin, 300)
    drops = -np.diff(found.history)
    assert (drops <= 1e-9 * abs(found.bic)).all()


def test_em_ends_where_both_steps_agree():
    model = model_of(3, 2, missing=0.0)
    found = em(model, one_hot(np.arange(40) % 2, 2), 1000)
    again = maximize(model, found.memberships)
    np.testing.assert_array_equal(again.relevant, found.mixture.relevant)
    np.testing.assert_allclose(again.gaussians.means, found.mixture.gaussians.means, atol=1e-3)
    # Two groups that differ in three numbers and two categories.
    assert found.mixture.relevant[np.isin(model.columns.places, [0, 1, 2, 6, 7])].sum() >= 4
    assert found.mixture.relevant.sum() <= 6


def test_with_all_features_it_is_the_gaussian_mixture_of_scikit_learn():
    rng = np.random.default_rng(0)
    table = np.concatenate([rng.normal(0, 1, (40, 4)), rng.normal(1.5, 0.5, (30, 4))])
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    begin = np.arange(70) % 2
    means = np.array([table[begin == c].mean(axis=0) for c in range(2)])
    precisions = np.array([1 / table[begin == c].var(axis=0) for c in range(2)])
    theirs = GaussianMixture(
        2, covariance_type="diag", tol=1e-12, reg_covar=0, max_iter=5000, weights_init=[0.5, 0.5],
        means_init=means, precisions_init=precisions,
    ).fit(table)  # fmt: skip
    own = Columns(scaled_numbers(table), coded_levels(np.zeros((70, 0))), np.arange(4))
    model = Model.of(own, 2, 1e-9)
    ours = em(model, one_hot(begin, 2), 5000, np.ones(4, bool))
    likelihood = ours.bic + (1 + 2 * 2 * 4) * np.log(70) / 2
    assert likelihood == pytest.approx(70 * theirs.score(table), abs=1e-3)
    np.testing.assert_allclose(ours.memberships, theirs.predict_proba(table), atol=1e-2)


def test_a_cluster_never_loses_its_last_sample():
    lost = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = model_of(seed, 5, least=0.1, apart=4.0, n_categories=2)
        found = em(model, one_hot(naive.random_labels(rng, 40, 5), 5), 200)
        assert np.unique(found.labels).size == 5
        lost += not found.is_whole
    # Where no step of EM has five clusters, the start is the result.
    assert 0 < lost < 20


def test_some_feature_is_relevant_even_if_none_is_worth_its_price():
    model = model_of(0, 3, apart=0.0)
    found = maximize(model, np.full((40, 3), 1 / 3))
    assert (found.gains < 0).all()
    assert found.relevant.any()
    np.testing.assert_array_equal(found.relevant, np.isclose(found.gains, found.gains.max()))


# ---------------------------------------------------------------- the integrated likelihood


@pytest.mark.parametrize("seed", range(8))
def test_no_step_of_the_ascent_lowers_the_integrated_likelihood(seed):
    model, prior = model_of(seed, 3), np.ones(6)
    found = ascend(model, naive.random_labels(np.random.default_rng(seed), 40, 3), prior)
    assert (np.diff(found.history) >= -1e-9).all()
    assert np.unique(found.labels).size == 3
    numbers = model.columns.numbers.dense(np.ones(6, bool))
    value = twin.integrated(numbers, np.ones(6), model.columns.levels.codes, found.labels, 3)
    assert found.value == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(("k", "n"), [(2, 9), (3, 8)])
def test_the_best_of_many_ascents_is_the_best_of_all_partitions(k, n):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = Model.of(columns(rng, n=n, n_numbers=3, n_categories=2), k, 1e-3)
        prior = np.ones(3)
        partitions = [np.array((0, *rest), np.int32) for rest in product(range(k), repeat=n - 1)]
        whole = [labels for labels in partitions if np.unique(labels).size == k]
        values = []
        for labels in whole:
            own, alone, of_labels = integrated(model, labels, prior)
            values.append(np.maximum(own, alone).sum() + of_labels)
        found = max(ascend(model, naive.random_labels(rng, n, k), prior).value for _ in range(60))
        assert found <= max(values) + 1e-9
        assert found == pytest.approx(max(values), abs=1e-9)
