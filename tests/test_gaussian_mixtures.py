"""Mixtures of Gaussians: EM for six covariance models, the starts, and the best mixture that has all clusters."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from sparsecluster._mixtures import gaussian
from sparsecluster._mixtures.gaussian import (
    FINE,
    MODELS,
    Setting,
    best_complete,
    by_cluster,
    fit,
    mixtures,
    models_for,
    of_kmeans,
    starts,
)
from tests import naive
from tests.helpers.gaussians import REFERENCE, em

EVERY_MODEL = pytest.mark.parametrize("model", MODELS)


def columns_of(seed=0, n=60, d=3, k=3, shift=2.0):
    """Groups of different sizes and spreads, as centered columns of shape (d, n)."""
    rng = np.random.default_rng(seed)
    labels = naive.random_labels(rng, n, k)
    table = rng.normal(size=(n, d)) * (1 + labels[:, None]) + shift * rng.normal(size=(k, d))[labels]
    return np.ascontiguousarray((table - table.mean(axis=0)).T), labels


def fit_from(columns, model, labels, **limits):
    return fit(columns, model, by_cluster(labels, labels.max() + 1), **limits)


def full(mixture):
    """Covariance matrices, also of models in which they are diagonal."""
    form = mixture.covariances
    return form if form.ndim == 3 else np.array([np.diag(variances) for variances in form])


# ---------------------------------------------------------------- EM


@EVERY_MODEL
@pytest.mark.parametrize("n_iter", [1, 7])
def test_em_does_what_its_formulas_say(model, n_iter):
    columns, labels = columns_of()
    found = fit_from(columns, model, labels, tolerance=-1.0, max_iter=n_iter)
    loglik, means, covariances = em(columns.T, by_cluster(labels, 3), model, n_iter)
    n_parameters = 2 + 9 + {"EII": 1, "VII": 3, "EEI": 3, "VVI": 9, "EEE": 6, "VVV": 18}[model]
    assert found.bic == pytest.approx(2 * loglik - n_parameters * np.log(60), rel=1e-12)
    np.testing.assert_allclose(found.means, means, rtol=1e-9)
    np.testing.assert_allclose(full(found), covariances, rtol=1e-9, atol=1e-12)
    assert found.is_regular
    assert found.n_iter == n_iter


@EVERY_MODEL
def test_the_likelihood_never_falls(model):
    columns, labels = columns_of(seed=1)
    path = [fit_from(columns, model, labels, tolerance=-1.0, max_iter=n_iter).bic for n_iter in range(1, 40)]
    assert np.diff(path).min() > -1e-9
    assert path[-1] > path[0]


@pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
@pytest.mark.parametrize(("model", "theirs"), {"VII": "spherical", "VVI": "diag", "EEE": "tied", "VVV": "full"}.items())
def test_likelihood_bic_and_memberships_are_those_of_scikit_learn(model, theirs):
    columns, labels = columns_of(seed=2)
    found = fit_from(columns, model, labels)
    other = GaussianMixture(3, covariance_type=theirs, reg_covar=0.0, tol=1e-6, max_iter=1)
    inverse = np.linalg.inv(full(found))
    form = {
        "VII": inverse[:, 0, 0],
        "VVI": np.diagonal(inverse, axis1=1, axis2=2),
        "EEE": inverse[0],
        "VVV": inverse,
    }
    # One more iteration from our parameters, which changes nothing.
    other.set_params(weights_init=found.shares, means_init=found.means, precisions_init=form[model]).fit(columns.T)
    assert -other.bic(columns.T) == pytest.approx(found.bic, abs=1e-4)
    np.testing.assert_allclose(other.predict_proba(columns.T), found.memberships.T, atol=1e-3)


@pytest.mark.parametrize("each", REFERENCE["mclust"], ids=lambda each: f"{each['data']}-{each['model']}")
def test_from_given_labels_em_ends_where_mclust_ends(reference, each):
    table = reference.table(each["data"])
    labels = np.array(REFERENCE["starts"][each["data"]]) - 1
    found = fit_from(np.ascontiguousarray((table - table.mean(axis=0)).T), each["model"], labels, tolerance=1e-12)
    assert found.bic == pytest.approx(each["bic"], abs=1e-6)


@EVERY_MODEL
def test_names_of_clusters_do_not_matter(model):
    columns, labels = columns_of()
    one, other = (fit_from(columns, model, each) for each in (labels, (labels + 1) % 3))
    assert other.bic == pytest.approx(one.bic, rel=1e-12)
    np.testing.assert_allclose(other.means, np.roll(one.means, 1, axis=0), rtol=1e-9)


@EVERY_MODEL
def test_a_variance_at_its_bound_is_told(model):
    # The first feature has one value in each cluster, so that its variance within clusters is zero.
    columns, labels = columns_of(k=2, d=2)
    columns[0] = labels - labels.mean()
    found = fit_from(columns, model, labels)
    assert found.is_regular == (model in ("EII", "VII"))
    assert np.isfinite(found.bic) == (not MODELS[model].is_full)


@EVERY_MODEL
def test_a_cluster_without_members_is_a_failure(model):
    columns, labels = columns_of(k=2)
    found = fit(columns, model, by_cluster(labels, 3))
    assert found.bic == -np.inf
    assert not found.is_regular
    assert not found.is_complete


# ---------------------------------------------------------------- starts and models


def test_one_feature_has_two_models():
    assert models_for(1, list(MODELS)) == ["EII", "VII"]
    assert models_for(1, ["EEI"]) == models_for(1, ["EEE"]) == ["EII"]
    columns, _ = columns_of(d=1)
    assert [found.model for found in mixtures(columns, Setting(2))] == ["E", "V"]
    # The other models of one feature are the same.
    labels = columns_of(d=1)[1]
    for model in MODELS:
        same = "EII" if model[0] == "E" else "VII"
        assert fit_from(columns, model, labels).bic == pytest.approx(fit_from(columns, same, labels).bic, rel=1e-9)


def test_starts_that_are_the_same_clusters_are_kept_once():
    columns, labels = columns_of(shift=60.0)
    assert len(starts(columns, Setting(3), (labels + 1) % 3)) == 1
    columns, labels = columns_of(shift=0.5)
    assert len(starts(columns, Setting(3), labels)) == 3


def test_many_samples_have_no_tree(monkeypatch):
    monkeypatch.setattr(gaussian, "MOST_IN_TREE", 59)
    monkeypatch.setattr(gaussian, "linkage", None)
    assert len(starts(columns_of(shift=0.5)[0], Setting(3))) == 1


def test_a_good_start_is_not_wasted():
    # Clusters by the spread alone, which neither Ward's method nor K-means sees.
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    columns = rng.normal(size=(4, 200)) * np.where(labels, 1.0, 0.2)
    columns -= columns.mean(axis=1, keepdims=True)
    (without,), (with_it,) = (list(mixtures(columns, Setting(2, ["VII"]), warm)) for warm in (None, labels))
    assert with_it.bic >= without.bic - 1e-2
    assert with_it.bic == pytest.approx(fit_from(columns, "VII", labels).bic, abs=1e-2)


# ---------------------------------------------------------------- all clusters


@pytest.mark.parametrize("k", [2, 5, 8])
def test_all_clusters_have_samples(k):
    # Three groups, of which more clusters are asked.
    columns, _ = columns_of(n=40)
    found = best_complete(columns, Setting(k))
    assert np.unique(found.labels).size == k
    np.testing.assert_allclose(found.memberships.sum(axis=0), 1.0, rtol=1e-12)


def test_of_complete_mixtures_the_best_is_taken():
    columns, _ = columns_of()
    setting = Setting(3)
    found = [fit(columns, model, each.copy(), FINE) for model in MODELS for each in starts(columns, setting)]
    # One that is not regular would have a larger BIC.
    assert best_complete(columns, setting).bic == max(
        each.bic for each in found if each.is_complete and each.is_regular
    )
    assert best_complete(columns, setting).bic < max(each.bic for each in found)


def test_if_em_empties_a_cluster_the_clusters_are_those_of_kmeans(monkeypatch):
    columns, _ = columns_of()
    monkeypatch.setattr(gaussian.Mixture, "is_complete", False)
    found = best_complete(columns, Setting(4))
    np.testing.assert_array_equal(found.labels, of_kmeans(columns, Setting(4)).labels)
    centers = np.array([columns[:, found.labels == c].mean(axis=1) for c in range(4)])
    np.testing.assert_allclose(found.means, centers, atol=1e-12)
    # Its BIC is that of its parameters.
    other = GaussianMixture(4, covariance_type="spherical")
    other.weights_, other.means_ = found.shares, found.means
    other.precisions_cholesky_ = 1 / np.sqrt(found.covariances[:, 0])
    assert found.bic == pytest.approx(2 * 60 * other.score(columns.T) - (4 * 3 + 1) * np.log(60))
