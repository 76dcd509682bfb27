"""The stepwise search: BICs of regressions, and the steps of clustvarsel."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sparsecluster.datasets import shifted_groups
from sparsecluster.methods import _stepwise
from sparsecluster.methods._stepwise import Stepwise
from tests.helpers.gaussians import REFERENCE, best_regression_bic, evidence_of, regression_bic

X = shifted_groups(mu=2.5, n_features=12, n_useful=4, seed=0).X


# ---------------------------------------------------------------- regressions


@pytest.mark.parametrize("each", REFERENCE["regressions"], ids=lambda each: str(each["x"]))
def test_regressions_have_the_bic_of_clustvarsel(reference, each):
    given = np.atleast_1d(each["x"]) - 1
    (found,) = evidence_of(reference.table("simfuse")).regressions([each["y"] - 1], given)
    assert found == pytest.approx(each["bic"], abs=1e-9)


@pytest.mark.parametrize("n", [5, 8, 40])
def test_the_best_of_all_subsets_is_found(n):
    rng = np.random.default_rng(n)
    table = rng.normal(size=(n, 7)) @ rng.normal(size=(7, 7))
    found = evidence_of(table).regressions([5, 6], [0, 1])
    np.testing.assert_allclose(found, [best_regression_bic(table[:, a], table[:, :2]) for a in (5, 6)], atol=1e-6)
    if n == 40:
        found = evidence_of(table).regressions([5, 6], range(5))
        expected = [best_regression_bic(table[:, a], table[:, :5]) for a in (5, 6)]
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_steps_find_the_best_subset_or_nearly(monkeypatch):
    monkeypatch.setattr(_stepwise, "MOST_COMPARED", 0)
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 6))
        (found,) = evidence_of(table).regressions([5], range(5))
        best = best_regression_bic(table[:, 5], table[:, :5])
        assert found <= best + 1e-6
        assert found >= regression_bic(table[:, 5], table[:, :0]) - 1e-6
        n_found += found > best - 1e-6
    assert n_found >= 18


def test_a_regression_on_all_features_is_one():
    evidence = evidence_of(X, regression="all")
    np.testing.assert_allclose(evidence.regressions([7], [0, 1, 2]), regression_bic(X[:, 7], X[:, :3]), atol=1e-9)
    np.testing.assert_allclose(evidence.regressions([7], []), regression_bic(X[:, 7], X[:, :0]), atol=1e-9)


def test_a_single_gaussian_is_the_product_of_its_regressions():
    evidence = evidence_of(X, regression="all")
    table = X[:, :3]
    gaussian = multivariate_normal(table.mean(axis=0), np.cov(table.T, ddof=0)).logpdf(table).sum()
    assert evidence.one_cluster([0, 1, 2]) == pytest.approx(2 * gaussian - 9 * np.log(len(X)), abs=1e-8)


def test_features_that_depend_on_each_other_need_no_inverse(strict):
    table = np.column_stack([X[:, :3], X[:, 0] + X[:, 1], X[:, 2]])
    for regression in ("subset", "all"):
        found = evidence_of(table, regression=regression).regressions([3, 4, 2], [0, 1, 3])
        assert np.isfinite(found).all()
        # The first is a sum of two, and nothing is left of it.
        assert found[0] > found[1] + 1000


# ---------------------------------------------------------------- clustvarsel

SIMFUSE = [each for each in REFERENCE["searches"] if each["data"] == "simfuse"]
(GAUSS,) = (each for each in REFERENCE["searches"] if each["data"] == "gauss")


def searched(reference, each):
    """Our search for the number of clusters that clustvarsel has found."""
    columns = np.array(each["columns"])
    evidence = evidence_of(reference.table(each["data"])[:, columns - 1], each["k"], each["models"])
    search = Stepwise(evidence, each["search"], each["direction"], columns.size)
    return search, columns[search.run(None)], columns


@pytest.mark.parametrize(
    "each",
    SIMFUSE,
    ids=lambda each: f"{each['search']}-{each['direction']}-{len(each['columns'])}-{len(each['models'])}",
)
def test_the_search_takes_the_steps_of_clustvarsel(reference, each):
    search, selected, columns = searched(reference, each)
    assert sorted(selected) == sorted(each["selected"])
    ours = [
        (made.action, columns[made.feature], made.value.bic, made.difference) for made, good in search.proposals if good
    ]
    theirs = [(s["action"], s["variable"], s["bic"], s["difference"]) for s in each["steps"] if s["accepted"]]
    assert [step[:2] for step in ours] == [step[:2] for step in theirs]
    bics, their_bics = (np.array([step[2:] for step in steps]) for steps in (ours, theirs))
    # EM of mclust stops earlier, so our BICs are a little larger.
    assert (bics[:, 0] >= their_bics[:, 0] - 1e-6).all()
    np.testing.assert_allclose(bics, their_bics, rtol=0, atol=0.03)
    assert search.current.model == each["covariance_model"]


def test_where_our_search_leaves_the_steps_of_clustvarsel_it_has_found_better_mixtures(reference):
    # The features are noise, and the fifth step adds another one, of which mclust's start finds a lower maximum.
    search, selected, columns = searched(reference, GAUSS)
    ours = [(made.action, columns[made.feature]) for made, good in search.proposals if good]
    theirs = [(step["action"], step["variable"]) for step in GAUSS["steps"] if step["accepted"]]
    assert ours[:5] == theirs[:5]
    assert set(GAUSS["selected"]) < set(selected)
    evidence = search.evidence
    places = [np.searchsorted(columns, each).tolist() for each in (np.sort(selected), np.sort(GAUSS["selected"]))]
    assert search.current.bic - evidence.one_cluster(places[0]) > GAUSS["bic"] - evidence.one_cluster(places[1])
