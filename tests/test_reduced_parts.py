"""Gaussian mixtures and nonnegative factors: slow twins, other programs, and what must hold at every step."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import logsumexp
from sklearn.decomposition import NMF
from sklearn.mixture import GaussianMixture

from sparsecluster._kernels.factors import factors_divergence, improve_factors
from sparsecluster.methods import _reduced_mixtures
from sparsecluster.methods._nmf import Factors, amounts_of, factorize, last_stable, ranks, stability, strongest
from sparsecluster.methods._reduced_mixtures import FORMS, fit_form, fit_mixture, n_parameters, ward
from sparsecluster.methods._reduction import first_equal
from tests.helpers.common import same_groups

STORED = json.loads((Path(__file__).parent / "data" / "reference" / "mixtures_mclust.json").read_text())
NAMES = {mclust: form for form, mclust in FORMS.items()}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def groups(rng, n=60, q=3, k=3, apart=4.0):
    return rng.normal(size=(n, q)) + apart * np.eye(max(k, q))[np.arange(n) % k, :q]


# ---------------------------------------------------------------- mixtures


@pytest.mark.parametrize("result", STORED, ids=lambda result: f"{result['data']}-{result['model']}")
def test_from_the_same_start_the_likelihood_is_that_of_mclust(reference, result):
    table, form, k = reference.table(result["data"]), NAMES[result["model"]], result["K"]
    found = fit_form(form, table, np.array(result["start_labels"], np.int32) - 1, k, 1000)
    likelihood = logsumexp(found.gaussians.log_joint(table), axis=1).sum()
    assert likelihood == pytest.approx(result["loglik"], abs=1e-5)
    assert n_parameters(form, k, table.shape[1]) == result["df"]
    # The BIC of mclust is twice ours.
    assert 2 * likelihood - result["df"] * np.log(len(table)) == pytest.approx(result["bic"], abs=1e-4)
    assert found.labels.tolist() == [label - 1 for label in result["labels"]]


@pytest.mark.parametrize("q", [1, 2, 4])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "equal"])
def test_parameters_are_counted_as_by_scikit_learn(rng, form, q):
    points = groups(rng, q=q)
    model = GaussianMixture(3, covariance_type=form, random_state=0).fit(points)
    counted = (model.bic(points) + 2 * model.score(points) * len(points)) / np.log(len(points))
    assert counted == pytest.approx(n_parameters(form, 3, q), abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_ends_below_its_start(rng, form):
    """The likelihood after more steps is never lower."""
    points = groups(rng, apart=1.5)
    start = ward(points, 3, rng)
    fits = [fit_form(form, points, start, 3, steps) for steps in (1, 2, 5, 20, 100)]
    gains = [found.gain for found in fits if found is not None]
    assert (np.diff(gains) >= -1e-8).all()
    assert len(gains) >= 3


def test_the_form_with_the_highest_bic_is_chosen(rng):
    points = groups(rng, n=300, apart=8.0)
    stretched = points * np.where(np.arange(300) % 3 == 0, 5.0, 1.0)[:, None]
    assert fit_mixture(points, 3, rng, 100).covariance == "equal"
    assert fit_mixture(stretched, 3, rng, 100).covariance == "spherical"
    tilted = points @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 1.0]])
    assert fit_mixture(tilted, 3, rng, 100).covariance == "tied"


def test_the_gain_is_positive_with_groups_and_negative_without(rng):
    assert fit_mixture(groups(rng, apart=5.0), 3, rng, 200).gain > 0
    assert fit_mixture(rng.normal(size=(100, 3)), 3, rng, 200).gain < 0


@pytest.mark.parametrize("k", [2, 5, 9, 12])
@pytest.mark.parametrize("q", [1, 3])
def test_every_cluster_has_points_however_few_there_are(rng, q, k):
    for points in (rng.normal(size=(12, q)), np.repeat(rng.normal(size=(12, q)), 2, axis=0)):
        found = fit_mixture(points, k, rng, 100)
        assert np.bincount(found.labels, minlength=k).min() > 0
        assert np.isfinite(found.gain)
        np.testing.assert_array_equal(found.gaussians.memberships(points).argmax(axis=1), found.labels)


def test_the_start_from_a_part_of_many_points_finds_the_same_groups(rng, monkeypatch):
    points = groups(rng, n=300, apart=9.0)
    whole = ward(points, 3, rng)
    monkeypatch.setattr(_reduced_mixtures, "MOST_MERGED", 50)
    assert same_groups(ward(points, 3, rng), whole)


# ---------------------------------------------------------------- factors


def nmf_step(
    table: np.ndarray, amounts: np.ndarray, metagenes: np.ndarray, smallest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The updates of Lee and Seung for the Kullback-Leibler divergence, first of the amounts and then of the rest."""
    amounts = amounts * ((table / (amounts @ metagenes)) @ metagenes.T) / metagenes.sum(axis=1)
    amounts = np.maximum(amounts, smallest)
    metagenes = metagenes * (amounts.T @ (table / (amounts @ metagenes))) / amounts.sum(axis=0)[:, None]
    return amounts, np.maximum(metagenes, smallest)


def kl_divergence(table: np.ndarray, product: np.ndarray) -> float:
    """The generalized Kullback-Leibler divergence, value by value."""
    pairs = zip(table.ravel().tolist(), product.ravel().tolist(), strict=True)
    return sum((x * np.log(x / y) if x > 0 else 0.0) - x + y for x, y in pairs)


TABLES = {
    "positive": np.random.default_rng(1).gamma(2.0, size=(9, 14)),
    "with zeros": np.random.default_rng(2).poisson(1.0, (12, 7)).astype(float),
    "a row of zeros": np.vstack([np.random.default_rng(3).random((6, 5)), np.zeros(5)]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("q", [1, 2, 4])
def test_steps_and_divergence_are_those_of_the_naive_twin(rng, table, q):
    n, p = table.shape
    amounts, metagenes = rng.uniform(0.1, 1.0, (n, q)), rng.uniform(0.1, 1.0, (q, p))
    expected = amounts, metagenes
    for _ in range(5):
        expected = nmf_step(table, *expected, 1e-150)
        improve_factors(table, amounts, metagenes, 1e-150)
        np.testing.assert_allclose(amounts, expected[0], rtol=1e-9, atol=0)
        np.testing.assert_allclose(metagenes, expected[1], rtol=1e-9, atol=0)
    found = factors_divergence(table, amounts, metagenes)
    assert found == pytest.approx(kl_divergence(table, amounts @ metagenes), rel=1e-9)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("q", [1, 3])
def test_factors_stay_nonnegative_and_the_divergence_never_rises(strict, rng, table, q):
    n, p = table.shape
    amounts, metagenes = rng.random((n, q)), rng.random((q, p))
    before = np.inf
    for _ in range(300):
        improve_factors(table, amounts, metagenes, 1e-150)
        reached = factors_divergence(table, amounts, metagenes)
        assert reached <= before + 1e-9 * abs(reached)
        assert min(amounts.min(), metagenes.min()) > 0
        before = reached


@pytest.mark.parametrize("q", [2, 4])
def test_the_best_start_is_as_good_as_that_of_scikit_learn(rng, q):
    table = TABLES["positive"]
    ours = min(factorize(table, q, own, 2000).divergence for own in rng.spawn(10))
    options = {"solver": "mu", "beta_loss": "kullback-leibler", "init": "random", "max_iter": 2000}
    theirs = min(NMF(q, random_state=seed, **options).fit(table).reconstruction_err_ ** 2 / 2 for seed in range(10))
    assert ours <= theirs * 1.005


def test_a_table_made_of_metagenes_is_found_again(rng):
    amounts, metagenes = rng.gamma(0.5, size=(40, 3)), rng.gamma(0.5, size=(3, 25))
    table = amounts @ metagenes
    found = min((factorize(table, 3, own, 5000) for own in rng.spawn(5)), key=lambda each: each.divergence)
    assert found.divergence < 0.01 * kl_divergence(table, np.full_like(table, table.mean()))
    np.testing.assert_allclose(np.linalg.norm(found.metagenes, axis=1), 1.0, rtol=1e-12)
    # The same lines, in any order.
    unit = metagenes / np.linalg.norm(metagenes, axis=1, keepdims=True)
    assert (unit @ found.metagenes.T).max(axis=1).min() > 0.95


def test_amounts_are_nonnegative_least_squares(rng):
    metagenes, table = rng.random((3, 12)), rng.random((20, 12))
    expected = [nnls(metagenes.T, row)[0] for row in table]
    np.testing.assert_allclose(amounts_of(table, metagenes), expected, rtol=1e-9, atol=1e-12)
    amounts = rng.gamma(1.0, size=(20, 3))
    np.testing.assert_allclose(amounts_of(amounts @ metagenes, metagenes), amounts, rtol=1e-9, atol=1e-12)


def test_ranks_are_those_of_the_features_of_each_sample():
    table = np.array([[5.0, -1.0, 7.0, 5.0], [10.0, 20.0, 30.0, 40.0]])
    np.testing.assert_allclose(ranks(table), np.array([[2.5, 1, 4, 2.5], [1, 2, 3, 4]]) / 4)


# ---------------------------------------------------------------- the number of metagenes


def test_the_strongest_metagene_is_the_one_of_the_largest_amount():
    factors = Factors(np.array([[1.0, 2.0], [3.0, 0.0]]), np.ones((2, 5)), 0.0, 1)
    assert strongest(factors).tolist() == [1, 0]


def test_labelings_that_agree_are_stable_whatever_their_names(rng):
    labels = rng.integers(0, 3, 30)
    assert stability([labels, (labels + 1) % 3, 2 - labels]) == pytest.approx(1.0, abs=1e-12)
    assert stability([np.zeros(30, int)] * 3) == 1.0


def test_the_stability_is_the_cophenetic_correlation(rng):
    """Three samples: two together always, the third with them in one of four labelings."""
    labelings = [np.array(each) for each in ([0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 0, 2])]
    assert stability(labelings) == pytest.approx(1.0)
    # Apart by 0, 1/2 and 1: average linkage joins the third at 3/4.
    labelings = [np.array(each) for each in ([0, 0, 1], [0, 1, 1])]
    apart, joined = [0.5, 1.0, 0.5], [0.5, 0.75, 0.75]
    assert stability(labelings) == pytest.approx(np.corrcoef(apart, joined)[0, 1], rel=1e-12)
    assert stability([rng.integers(0, 3, 40) for _ in range(10)]) < 0.9


def test_of_equally_stable_numbers_the_largest_is_taken():
    assert last_stable(np.array([1.0, 0.997, 0.99, 0.996, 0.9])) == 3
    assert last_stable(np.array([0.9, 0.8])) == 0


def test_the_first_equal_row():
    table = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    assert first_equal(table).tolist() == [0, 1, 0, 0, 1]
