"""Reduction before clustering: components and metagenes are what they say, and so are the clusters found by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from sparsecluster import PlainClustering, ReducedClustering, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._nmf import amounts_of
from sparsecluster.methods._reduced_mixtures import FORMS, fit_form, n_parameters, ward
from sparsecluster.methods._result import NoClustersError
from tests import naive
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, HARD, TRUTH, corners

pytestmark = pytest.mark.usefixtures("one_thread")

NEW, NEW_TRUTH, _ = corners(seed=1)
NMF = {"reduction": "nmf", "n_init": 3}


def fit(table=CORNERS, n_clusters=3, **parameters):
    return ReducedClustering(n_clusters, **parameters).fit(table)


def scores(table):
    """Coordinates along all principal components of the standardized table."""
    return PCA().fit_transform(naive.standardized(table))


# ---------------------------------------------------------------- principal components


def test_the_embedding_is_the_leading_components_but_for_signs():
    found = fit(n_components=4)
    z = (CORNERS - CORNERS.mean(axis=0)) / CORNERS.std(axis=0, ddof=1)
    np.testing.assert_allclose(found.embedding_, z @ found.components_.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.embedding_), np.abs(PCA(4).fit_transform(z)), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(4), atol=1e-12)
    assert found.components_.shape == (4, 40)


@pytest.mark.parametrize("clusterer", ["mixture", "kmeans", "ward"])
def test_signs_of_columns_do_not_matter(clusterer):
    flipped = HARD * np.where(np.arange(30) % 3 == 0, -1.0, 1.0)
    np.testing.assert_array_equal(fit(flipped, clusterer=clusterer).labels_, fit(HARD, clusterer=clusterer).labels_)


@pytest.mark.parametrize("table", [corners(n_features=6, own=2)[0], corners(n_features=4, own=1, mu=6)[0]])
def test_with_all_components_it_is_the_plain_mixture(table):
    p = table.shape[1]
    found = fit(table, n_components=p)
    # Of all forms, only diagonal covariances depend on the axes.
    assert found.covariance_ != "diag"
    z = naive.standardized(table)
    z *= np.sqrt((len(z) - 1) / (z**2).sum(axis=0))
    plain = fit_form(found.covariance_, z, ward(z, 3, None), 3, 500)
    np.testing.assert_allclose(
        np.sort(found.memberships_, axis=1), np.sort(plain.gaussians.memberships(z), axis=1), atol=1e-6
    )
    assert rand_index(found.labels_, plain.labels) == 1.0


def test_the_plain_mixture_is_that_of_scikit_learn():
    """From the same start; scikit-learn adds a little more to variances."""
    table, _, _ = corners(n_features=6, own=2)
    z = naive.standardized(table)
    start = ward(z, 3, None)
    for form in ("spherical", "diag", "tied", "full"):
        ours = fit_form(form, z, start, 3, 500)
        theirs = GaussianMixture(3, covariance_type=form, means_init=ours.gaussians.centers, random_state=0).fit(z)
        np.testing.assert_allclose(ours.gaussians.memberships(z), theirs.predict_proba(z), atol=0.02)


# ---------------------------------------------------------------- the number of components


def bic_by_hand(points, q, mixture, form):
    """Mixture in the first coordinates, and a Gaussian for each of the others."""
    n = len(points)
    joint = mixture.gaussians.log_joint(points[:, :q])
    inside = np.log(np.exp(joint - joint.max()).sum(axis=1)).sum() + n * joint.max()
    outside = norm.logpdf(points[:, q:], scale=points[:, q:].std(axis=0)).sum()
    parameters = n_parameters(form, 3, q) + 2 * (points.shape[1] - q)
    return inside + outside - parameters / 2 * np.log(n)


def test_the_curve_is_the_bic_of_a_mixture_in_some_components_and_of_gaussians_in_the_others():
    found = fit(HARD, max_components=4)
    curve = found.components_curve_
    # Up to a constant, the BIC without clusters.
    points = np.column_stack([fit(HARD, n_components=4).embedding_, scores(HARD)[:, 4:20]])
    alone = norm.logpdf(points, scale=points.std(axis=0)).sum() - points.shape[1] * np.log(45)
    for q, score in zip(curve.values.tolist(), curve.score, strict=True):
        fits = [fit_form(form, points[:, :q], ward(points[:, :q], 3, None), 3, 500) for form in FORMS]
        expected = max(bic_by_hand(points, q, each, each.covariance) for each in fits if each is not None)
        assert score == pytest.approx(expected - alone, abs=1e-3)
    assert curve.values.tolist() == [1, 2, 3, 4]
    assert found.n_components_ == curve.chosen == curve.values[curve.score.argmax()]
    assert found.bic_ == curve.score.max()


@pytest.mark.parametrize("share", [0.01, 0.3, 0.8, 1.0])
def test_by_variance_the_fewest_components_with_the_share_are_used(share):
    found = fit(HARD, component_rule="variance", variance_share=share)
    shares = np.cumsum(PCA().fit(naive.standardized(HARD)).explained_variance_ratio_)
    assert found.n_components_ == np.argmax(shares >= share - 1e-12) + 1
    np.testing.assert_allclose(found.components_curve_.score, shares[: found.components_curve_.score.size], rtol=1e-9)


@pytest.mark.parametrize("p", [60, 500])
def test_with_more_features_than_samples_there_are_as_many_components_as_the_rank(p):
    X = shifted_groups(mu=1.5, n_features=p, n_useful=20, group_size=4).X
    found = fit(X, max_components=99)
    assert found.components_curve_.values.tolist() == list(range(1, 12))
    assert np.isfinite(found.components_curve_.score).all()
    assert fit(X, component_rule="variance", variance_share=1.0).n_components_ == 11


def test_copies_of_columns_add_no_components():
    table = np.repeat(HARD[:, :3], 5, axis=1)
    assert fit(table).components_curve_.values.tolist() == [1, 2, 3]
    assert fit(table, n_components=15).n_components_ == 3


def test_more_components_are_used_if_fewer_than_k_samples_would_differ():
    """Along the first component, these are two points."""
    table = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])[[0, 0, 0, 1, 2, 2, 2, 3]]
    found = fit(table, 4, n_components=1, standardize=False)
    assert found.n_components_ == 2
    assert np.bincount(found.labels_).tolist() == [3, 3, 1, 1]


def test_on_the_design_of_table_1a_it_is_better_than_plain_k_means():
    for seed in range(2):
        X, truth, _ = shifted_groups(mu=0.8, n_features=200, seed=seed)
        found = fit(X, random_state=seed)
        assert found.n_components_ == 1
        assert rand_index(truth, found.labels_) > max(0.95, rand_index(truth, PlainClustering(3).fit(X).labels_))


# ---------------------------------------------------------------- clusters and new samples


@pytest.mark.parametrize("parameters", [{}, {"reduction": "nmf", "n_init": 3}])
def test_probabilities_are_those_of_the_mixture(parameters):
    found = fit(**parameters)
    for table in (CORNERS, NEW, NEW * 100):
        memberships = found.predict_proba(table)
        assert memberships.shape == (45, 3)
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_array_equal(memberships.argmax(axis=1), found.predict(table))
    np.testing.assert_allclose(found.predict_proba(CORNERS), found.memberships_, atol=1e-9)
    np.testing.assert_array_equal(found.memberships_.argmax(axis=1), found.labels_)
    np.testing.assert_array_equal(found.predict(NEW), NEW_TRUTH)


@pytest.mark.parametrize("clusterer", ["kmeans", "ward", "spectral", "complete"])
def test_other_clusterers_have_centers_and_no_probabilities(clusterer):
    found = fit(clusterer=clusterer, n_components=3)
    assert not hasattr(found, "predict_proba")
    assert found.memberships_ is found.bic_ is found.covariance_ is None
    z = (NEW - CORNERS.mean(axis=0)) / CORNERS.std(axis=0, ddof=1) @ found.components_.T
    centers = np.array([found.embedding_[found.labels_ == c].mean(axis=0) for c in range(3)])
    nearest = ((z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(found.predict(NEW), nearest)
    total = ((z - found.embedding_.mean(axis=0)) ** 2).sum()
    assert found.score(NEW) == pytest.approx(1 - ((z - centers[nearest]) ** 2).sum() / total, rel=1e-9)


def test_the_number_of_clusters_is_the_smallest_with_about_the_best_bic():
    found = fit(CORNERS, "auto", max_clusters=5)
    curve = found.n_clusters_curve_
    assert curve.score.tolist() == [fit(CORNERS, k).bic_ for k in (2, 3, 4, 5)]
    assert found.n_clusters_ == curve.values[curve.score >= curve.score.max() - 1.0][0] == 3
    np.testing.assert_array_equal(found.labels_, TRUTH)


def test_without_clusters_the_user_is_warned():
    with pytest.warns(UserWarning, match="a single Gaussian .* may have no clusters"):
        found = fit(np.random.default_rng(0).normal(size=(90, 5)), "auto", max_clusters=3)
    assert found.bic_ < 0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("parameters", [{}, NMF, {**NMF, "nonnegative": "ranks"}])
def test_the_unit_does_not_matter(strict, parameters, scale):
    one, other = fit(**parameters), fit(CORNERS * scale, **parameters)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.predict(NEW * scale), one.predict(NEW))


# ---------------------------------------------------------------- metagenes


@pytest.mark.parametrize("clusterer", ["mixture", "kmeans"])
def test_samples_are_placed_by_their_amounts_of_metagenes(clusterer):
    found = fit(**NMF, clusterer=clusterer)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(NEW), NEW_TRUTH)
    assert found.n_components_ == found.components_curve_.chosen
    assert (found.components_ >= 0).all()
    np.testing.assert_allclose((found.components_**2).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose((found.embedding_**2).sum(axis=1), 1.0, rtol=1e-12)
    shifted = (CORNERS - CORNERS.min(axis=0)) / CORNERS.std(axis=0, ddof=1)
    amounts = amounts_of(shifted, found.components_)
    lengths = np.sqrt((amounts**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.embedding_, amounts / lengths, rtol=1e-6, atol=1e-9)


def test_ranks_do_not_see_how_samples_were_measured():
    """A different growing function for every sample, as on another platform, changes no rank."""
    one = fit(**NMF, nonnegative="ranks")
    other = one.predict(np.exp(CORNERS) * np.linspace(0.1, 9.0, 45)[:, None] + np.linspace(-5, 5, 45)[:, None])
    np.testing.assert_array_equal(one.predict(CORNERS), TRUTH)
    np.testing.assert_array_equal(other, TRUTH)


def test_ranks_of_one_feature_say_nothing():
    with refuses("Fewer than 3 samples differ", 'nonnegative="shift"', error=NoClustersError):
        fit(CORNERS[:, :1], **NMF, nonnegative="ranks")


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"reduction": "svd"}, ["reduction must be one of", "pca", "nmf", "got 'svd'"]),
        ({"component_rule": "scree"}, ["component_rule must be one of", "bic", "variance", "got 'scree'"]),
        ({"nonnegative": "rank"}, ["nonnegative must be one of", "got 'rank'", 'Did you mean "ranks"']),
        ({"clusterer": "mixtures"}, ["clusterer must be one of", "got 'mixtures'", 'Did you mean "mixture"']),
        ({"clusterer": "k-means"}, ["got 'k-means'", 'Did you mean "kmeans"']),
        ({"n_components": 0}, ["n_components must be a whole number of at least 1", "got 0", '"auto"']),
        ({"n_components": 2.5}, ["n_components", "whole number", "got 2.5"]),
        ({"n_components": "all"}, ["n_components", "got 'all'"]),
        ({"n_components": 41}, [r"n_components must be a whole number in \[1, 40\]", "got 41", "45 rows", "40 usable"]),
        ({"n_components": 41, "reduction": "nmf"}, ["n_components", r"\[1, 40\]"]),
        ({"max_components": 0}, ["max_components", "got 0"]),
        ({"variance_share": 0.0}, [r"variance_share must be a number in \(0, 1\]", "got 0.0"]),
        ({"variance_share": 80}, ["variance_share", "got 80"]),
        ({"variance_share": "most"}, ["variance_share", "got 'most'"]),
        ({"n_init": 0}, ["n_init", "got 0"]),
        ({"max_iter": 0}, ["max_iter", "got 0"]),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    with refuses(*words):
        fit(**parameters)
