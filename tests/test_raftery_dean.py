"""Raftery and Dean's method: the features that it chooses, what a fit tells, and the number of clusters."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal

from sparsecluster import RafteryDean, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods import _stepwise
from sparsecluster.methods._result import NoClustersError
from sparsecluster.methods._stepwise import Stepwise
from tests.helpers.common import refuses
from tests.helpers.gaussians import REFERENCE, evidence_of, model_covariances

# Three groups that differ in the first four of twelve features.
X, TRUTH, USEFUL = shifted_groups(mu=2.5, n_features=12, n_useful=4, seed=0)


def fit(table, **parameters):
    return RafteryDean(**{"n_init": 3, "covariance_models": ["EII", "EEI", "VVI"], **parameters}).fit(table)


def chosen(found):
    return found.get_support(indices=True).tolist()


# ---------------------------------------------------------------- what the search does


def test_the_estimator_finds_what_the_search_finds_in_the_units_of_the_table(reference):
    backward = next(each for each in REFERENCE["searches"] if each["direction"] == "backward")
    table = reference.table("simfuse")[:, np.array(backward["columns"]) - 1]
    for scale in (1.0, 10.0):
        found = fit(table * scale, n_clusters=4, direction="backward", covariance_models="EEI")
        assert [backward["columns"][a] for a in chosen(found)] == backward["selected"]
        assert found.bic_ + 2 * 100 * 6 * np.log(scale) == pytest.approx(backward["bic"], abs=0.01)
        assert found.bic_ + 2 * 100 * 6 * np.log(scale) >= backward["bic"]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("search", ["greedy", "headlong"])
@pytest.mark.parametrize("regression", ["subset", "all"])
def test_clear_features_are_found_in_all_ways(search, direction, regression):
    found = fit(X, search=search, direction=direction, regression=regression)
    assert found.support_[USEFUL].all()
    # A regression on all chosen features has more parameters than the means of a feature that says nothing.
    assert found.support_[~USEFUL].any() == (regression == "all")
    assert rand_index(TRUTH, found.labels_) > 0.98


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_step_changes_the_evidence_by_its_difference(direction):
    # With regressions on all features, the BICs of a single Gaussian are consistent with each other.
    table = shifted_groups(mu=1.0, n_features=15, n_useful=6, seed=3).X
    found = fit(table, direction=direction, regression="all", covariance_models="EEE")
    evidence = evidence_of(table, regression="all")
    features = [] if direction == "forward" else list(range(15))
    before = 0.0 if direction == "forward" else None
    steps = [step for step in found.steps_ if step.accepted]
    assert len(steps) > 2
    for n_steps, step in enumerate(steps):
        features = [*features, step.column] if step.action == "add" else [a for a in features if a != step.column]
        now = step.bic - evidence.one_cluster(features)
        if before is not None:
            gain = step.difference if step.action == "add" else -step.difference
            assert now - before == pytest.approx(gain, abs=1e-6)
            # The first two features of a forward search are added in any case.
            assert gain >= 0 or (direction == "forward" and n_steps < 2)
        before = now
    assert sorted(features) == chosen(found)
    # At the end, EM is run until it hardly moves.
    assert found.evidence_ == pytest.approx(before, abs=0.05)
    assert found.evidence_ >= before - 1e-6


def test_a_copy_of_a_chosen_feature_is_left_out():
    found = fit(np.column_stack([X, X[:, :4]]))
    assert found.support_.sum() == 4
    assert (found.support_[:4] != found.support_[12:]).all()


def test_a_feature_that_a_chosen_one_explains_is_left_out_though_it_separates_the_clusters():
    rng = np.random.default_rng(0)
    echo = X[:, 0] + 0.3 * rng.normal(size=len(X))
    found = fit(np.column_stack([X, echo]))
    assert found.feature_scores_[[0, 12]].min() > found.feature_scores_[4:12].max() + 0.3
    assert found.support_[[0, 12]].sum() == 1
    assert found.support_[:4].sum() == 3


@pytest.mark.filterwarnings("ignore:A cluster is made of")
def test_features_that_separate_only_together_are_found_from_the_other_end():
    # Two long clusters side by side: each feature alone looks like one wide Gaussian.
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 60)
    along = rng.normal(size=120) * 3
    across = np.where(truth, 1.5, -1.5) + 0.3 * rng.normal(size=120)
    table = np.column_stack([along + across, along - across, rng.normal(size=(120, 6))])
    forward, found = (
        fit(table, n_clusters=2, direction=direction, covariance_models="EEE") for direction in ("forward", "backward")
    )
    assert forward.evidence_ < 0
    assert chosen(found) == [0, 1]
    assert rand_index(truth, found.labels_) == 1.0


def recorded(monkeypatch):
    """Return a list to which every set of features is added on which mixtures are fitted."""
    fitted, of = [], _stepwise.best_mixture
    monkeypatch.setattr(_stepwise, "best_mixture", lambda *given: fitted.append(given[-1]) or of(*given))
    return fitted


def test_no_mixture_is_fitted_twice(monkeypatch):
    fitted = recorded(monkeypatch)
    fit(X)
    assert len(fitted) == len(set(fitted)) > 40


def test_a_headlong_search_looks_at_fewer_features(monkeypatch):
    fitted = recorded(monkeypatch)
    table = shifted_groups(mu=2.5, n_features=40, n_useful=4, seed=0).X
    counts = []
    for search in ("greedy", "headlong"):
        fitted.clear()
        assert chosen(fit(table, search=search)) == [0, 1, 2, 3]
        counts.append(len(fitted))
    assert counts[1] < counts[0] / 1.5


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_features_are_chosen_than_allowed(direction, most):
    found = fit(X, direction=direction, max_features=most)
    assert found.support_.sum() == most
    assert found.support_[~USEFUL].sum() == 0


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_candidates_are_those_that_separate_best_alone(direction):
    evidence = evidence_of((X - X.mean(axis=0)) / X.std(axis=0), 3, ("EII", "EEI", "VVI"))
    alone = Stepwise(evidence, "greedy", "forward", 12)._additions(range(12))
    best = sorted(alone, key=lambda proposal: proposal.difference, reverse=True)[:3]
    found = fit(X, direction=direction, max_candidates=3)
    assert chosen(found) == sorted(proposal.feature for proposal in best)
    assert {step.column for step in found.steps_} <= set(chosen(found))


# ---------------------------------------------------------------- what a fit tells


def test_steps_are_a_table_with_the_names_of_the_user():
    frame = pd.DataFrame(X[:, ::-1], columns=[f"gene{a}" for a in range(12)])
    found = fit(frame)
    table = pd.DataFrame(found.steps_)
    assert table.columns.tolist() == ["name", "column", "action", "difference", "bic", "covariance_model", "accepted"]
    assert (table["name"] == [f"gene{a}" for a in table["column"]]).all()
    assert set(table.loc[table["accepted"], "column"]) == {8, 9, 10, 11}
    assert (table.loc[~table["accepted"] & (table["action"] == "add"), "difference"] <= 0).all()
    assert (table.loc[~table["accepted"] & (table["action"] == "remove"), "difference"] > 0).all()


def test_a_table_in_other_units_has_the_same_features_and_a_bic_in_these_units():
    # Powers of two, which change no digit: EM near a singular mixture may end elsewhere after a rounding error.
    units = 2.0 ** np.array([-4, -3, -3, -2, -1, 0, 1, 1, 2, 3, 3, 4])
    one, other = fit(X), fit(X * units)
    assert chosen(other) == chosen(one)
    assert other.evidence_ == pytest.approx(one.evidence_, abs=1e-6)
    assert other.bic_ == pytest.approx(one.bic_ - 2 * len(X) * np.log(units[:4]).sum(), abs=1e-6)
    assert rand_index(one.labels_, other.labels_) == 1.0


def test_without_standardizing_equal_variances_are_those_of_the_table():
    found = fit(X * 7.0, covariance_models="EII", standardize=False)
    plain = fit(X * 7.0 * np.where(np.arange(12) < 2, 1.0, 3.0), covariance_models="EII", standardize=False)
    assert chosen(found) == [0, 1, 2, 3]
    assert plain.evidence_ != pytest.approx(found.evidence_, abs=0.1)


@pytest.mark.parametrize("model", ["EII", "VVI", "EEE", "VVV"])
def test_memberships_are_probabilities_of_the_clusters(model):
    table = shifted_groups(mu=1.5, n_features=8, n_useful=4, group_size=40, seed=0).X
    found = fit(table, covariance_models=model)
    np.testing.assert_allclose(found.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.memberships_.argmax(axis=1), found.labels_)
    np.testing.assert_allclose(found.predict_proba(table), found.memberships_, atol=1e-8)
    np.testing.assert_array_equal(found.predict(table), found.labels_)


@pytest.mark.parametrize("model", ["EII", "VVI", "EEE", "VVV"])
def test_new_samples_are_judged_by_the_gaussians_of_the_memberships(model):
    table, new = (shifted_groups(mu=1.5, n_features=8, n_useful=4, group_size=40, seed=seed).X for seed in (0, 1))
    found = fit(table, covariance_models=model)
    units = table.std(axis=0, ddof=1)
    used, seen = table[:, found.support_] / units[found.support_], new[:, found.support_] / units[found.support_]
    sizes = found.memberships_.sum(axis=0)
    means = found.memberships_.T @ used / sizes[:, None]
    clusters = zip(means, found.memberships_.T, strict=True)
    squares = [(used - mean).T @ np.diag(weights) @ (used - mean) for mean, weights in clusters]
    gaussians = map(multivariate_normal, means, model_covariances(squares, sizes, model))
    joint = np.log(sizes) + np.column_stack([each.logpdf(seen) for each in gaussians])
    np.testing.assert_allclose(found.predict_proba(new), softmax(joint, axis=1), atol=1e-4)


def test_the_model_with_the_best_bic_is_chosen():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 60)
    wide = rng.normal(size=(120, 3)) * np.where(truth, 3.0, 0.5)[:, None] + 5.0 * truth[:, None]
    turned = rng.multivariate_normal([0, 0, 0], np.full((3, 3), 0.9) + 0.1 * np.eye(3), 120) + 3.0 * truth[:, None] * [
        1,
        -1,
        0,
    ]
    assert fit(wide, n_clusters=2, covariance_models="all").covariance_model_ == "VII"
    assert fit(turned, n_clusters=2, covariance_models="all").covariance_model_ == "EEE"


# ---------------------------------------------------------------- the number of clusters


def test_the_number_of_clusters_with_the_most_evidence_is_chosen():
    found = fit(X, n_clusters=[2, 3, 4])
    curve = found.n_clusters_curve_
    assert found.n_clusters_ == 3
    assert curve.criterion == "bic"
    for k, score in zip(curve.values, curve.score, strict=True):
        assert fit(X, n_clusters=int(k)).evidence_ == pytest.approx(score, rel=1e-12)
    assert curve.frame().loc[3, "n_features"] == 4


@pytest.mark.filterwarnings("ignore:A cluster is made of")
def test_a_table_without_clusters_warns():
    noise = np.random.default_rng(0).normal(size=(200, 4))
    with pytest.warns(UserWarning, match="No number of clusters from 2 to 3 .* single cluster.* may have no clusters"):
        found = fit(noise, n_clusters=[2, 3], covariance_models="EEI")
    assert found.evidence_ <= 0
    assert found.support_.sum() >= 1


# ---------------------------------------------------------------- extremes and errors


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_more_clusters_than_values_need_several_features(direction):
    table = (np.random.default_rng(0).random((40, 5)) < 0.5).astype(float)
    found = fit(table, n_clusters=6, direction=direction)
    assert np.unique(found.labels_).size == 6
    assert found.support_.sum() >= 3


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_clusters_too_small_for_their_covariances_are_those_of_kmeans(strict, direction):
    table = np.repeat(np.eye(3), 2, axis=0) * 9 + X[:6, :3]
    found = fit(table, covariance_models="VVV", direction=direction)
    assert np.bincount(found.labels_).tolist() == [2, 2, 2]
    np.testing.assert_array_equal(found.predict(table), found.labels_)
    assert np.isfinite(found.bic_)


def test_too_few_features_for_the_clusters_are_refused_with_a_way_out():
    table = (np.random.default_rng(0).random((40, 5)) < 0.5).astype(float)
    with refuses("fewer than 6 distinct samples", "Raise max_features or max_candidates", error=NoClustersError):
        fit(table, n_clusters=6, max_features=2)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_large_and_very_small_numbers_are_numbers(strict, scale):
    table = X / np.abs(X).max() * scale
    found = fit(table)
    assert chosen(found) == [0, 1, 2, 3]
    assert np.isfinite(found.bic_)
    np.testing.assert_array_equal(found.predict(table), found.labels_)


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("search", "greddy", ['search must be one of "greedy", "headlong"', "greddy", 'Did you mean "greedy"']),
        ("direction", "up", ['direction must be one of "forward", "backward"', "got 'up'"]),
        ("regression", None, ['regression must be one of "subset", "all"', "got None"]),
        ("covariance_models", "VEV", ['covariance_models must be one of "all", "EII"', "got 'VEV'"]),
        ("covariance_models", ["EEI", "EIE"], ["covariance_models must be one of", "or a sequence of these", "'EIE'"]),
        ("covariance_models", [], ["covariance_models must be one of", "or a sequence of these", r"got \[\]"]),
        ("covariance_models", 3, ["covariance_models must be one of", "got 3"]),
        ("max_features", 0, ["max_features must be a whole number of at least 1", "got 0", "None"]),
        ("max_candidates", 2.5, ["max_candidates must be a whole number of at least 1", "got 2.5", "None"]),
    ],
)
def test_parameters_are_refused_before_the_table_is_looked_at(parameter, value, words):
    with refuses(*words):
        fit(None, **{parameter: value})
