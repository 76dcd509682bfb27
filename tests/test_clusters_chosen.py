"""The number of clusters that an estimator chooses: three where there are three, whatever the data and the method."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sparsecluster._search.clusters
import sparsecluster._utils.parallel
import sparsecluster.methods._clusters
from sparsecluster import PlainClustering, SASClustering, SparseKMeans, TuningCurve, adjusted_rand_index
from sparsecluster._data import content, reading
from sparsecluster.datasets import bernoulli_groups, many_groups, mixed_groups, shifted_groups
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.common import same_groups
from tests.helpers.methods import CORNERS, TRUTH, quick

pytestmark = [pytest.mark.usefixtures("less_work", "one_thread"), pytest.mark.filterwarnings("ignore:.*constant")]

SHIFTED = shifted_groups(mu=2.0, n_features=40, n_useful=8, group_size=12)


def with_missing(table):
    gone = np.random.default_rng(3).random(table.shape) < 0.1
    return table.mask(gone) if isinstance(table, pd.DataFrame) else np.where(gone, np.nan, table)


def words(design):
    """The zeros and ones of a design as words."""
    return design._replace(X=pd.DataFrame(np.where(design.X > 0, "yes", "no")))


BINARY = bernoulli_groups(q=0.9, n_features=40, group_size=20)
DESIGNS = {
    "shifted groups": SHIFTED,
    "shifted groups with missing values": SHIFTED._replace(X=with_missing(SHIFTED.X)),
    "zeros and ones": BINARY,
    "words": words(BINARY),
    "zeros and ones, most of them not stored": BINARY._replace(X=sparse.csr_array(BINARY.X)),
    "numbers and categories with missing values": mixed_groups(20, 12, group_size=20, shift=3.0, likely=0.95),
}


def choose(table, **parameters):
    """A fit that chooses the number of clusters and little else."""
    return SASClustering(**{"n_clusters": "auto", "max_clusters": 5, "n_permutations": 2, **parameters}).fit(table)


def distances(table):
    """|x - y| of every pair in every column."""
    return np.abs(table.T[:, :, None] - table.T[:, None, :])


@pytest.fixture(scope="module")
def shifted():
    return choose(SHIFTED.X)


# ---------------------------------------------------------------- three groups are three clusters


@pytest.mark.parametrize("design", DESIGNS)
def test_three_groups_are_found(design):
    X, truth, useful = DESIGNS[design]
    found = choose(X)
    assert found.n_clusters_ == found.n_clusters_curve_.chosen == 3
    assert adjusted_rand_index(truth, found.labels_) > 0.9
    assert found.support_[useful].mean() > 0.8
    assert found.support_[~useful].mean() < 0.2


def test_three_groups_are_found_among_matrices():
    found = choose(distances(SHIFTED.X[:, :20]), metric="precomputed", n_init=2)
    assert found.n_clusters_ == 3
    assert adjusted_rand_index(SHIFTED.truth, found.labels_) > 0.9


@pytest.mark.parametrize("k", [2, 3, 4])
def test_groups_with_random_centers_are_found_whatever_their_number(k):
    design = many_groups(k, n_features=60, n_useful=40, group_size=30, seed=3)
    found = choose(design.X)
    assert found.n_clusters_ == k
    assert adjusted_rand_index(design.truth, found.labels_) > 0.9


def test_a_table_without_groups_warns_and_uses_the_best_of_all():
    noise = np.random.default_rng(0).normal(size=(120, 30))
    with pytest.warns(UserWarning, match="No number of clusters from 2 to 5 .* single cluster.* may have no clusters"):
        found = choose(noise)
    curve = found.n_clusters_curve_
    assert curve.score.max() <= 0
    assert found.n_clusters_ == curve.values[curve.score.argmax()] == np.unique(found.labels_).size


def test_clear_groups_warn_of_nothing(strict):
    choose(SHIFTED.X)


def test_a_sample_of_many_samples_finds_the_groups_of_all():
    design = shifted_groups(mu=2.0, n_features=30, n_useful=8, group_size=100)
    found = choose(design.X, subsample=60)
    assert found.n_clusters_ == 3
    assert adjusted_rand_index(design.truth, found.labels_) > 0.9
    assert found.labels_.size == 300


@pytest.mark.parametrize("estimator", [SASClustering(n_features_to_select=8, subsample=None), PlainClustering()])
def test_many_samples_are_compared_on_some_of_them(monkeypatch, estimator):
    """All pairs of samples are looked at there, and of many samples they would not fit in memory."""
    looked_at, of = [], sparsecluster._search.clusters.dependence

    def watched(features, labels, k):
        looked_at.append((features.n_samples, labels.size))
        return of(features, labels, k)

    monkeypatch.setattr(sparsecluster._search.clusters, "dependence", watched)
    monkeypatch.setattr(sparsecluster.methods._criteria.bic, "MOST_COMPARED", 60)
    design = shifted_groups(mu=2.0, n_features=20, n_useful=8, group_size=50)
    found = estimator.set_params(n_clusters=[2, 3, 4]).fit(design.X)
    assert looked_at == [(60, 60)]
    assert found.n_clusters_ == 3
    assert adjusted_rand_index(design.truth, found.labels_) > 0.9


# ---------------------------------------------------------------- which numbers are tried


def test_the_curve_has_all_numbers_that_were_tried(shifted):
    curve = shifted.n_clusters_curve_
    assert isinstance(curve, TuningCurve)
    assert (curve.parameter, curve.criterion) == ("k", "bic")
    assert curve.values.tolist() == [2, 3, 4, 5]
    assert curve.chosen == curve.values[curve.score.argmax()]
    assert curve.frame().columns.tolist() == ["n_features", "bic"]


@pytest.mark.parametrize(("n", "most"), [(36, 7), (25, 5), (12, 2), (9, 2)])
def test_by_default_at_most_ten_numbers_and_five_samples_to_a_cluster_are_tried(n, most):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = choose(SHIFTED.X[np.linspace(0, 35, n).astype(int)], max_clusters=None, n_features_to_select=8)
    # A single number is no choice.
    curve = found.n_clusters_curve_
    assert (most == 2 and curve is None) or curve.values.tolist() == list(range(2, most + 1))
    assert found.n_clusters_ <= most


def test_no_more_clusters_than_distinct_samples_are_tried():
    table = np.repeat(SHIFTED.X[[0, 1, 15, 30]], 15, axis=0)
    assert choose(table, max_clusters=None).n_clusters_curve_.values.tolist() == [2, 3, 4]


@pytest.mark.parametrize("given", [[2, 3, 5], range(2, 5), (5, 3, 2, 3), np.array([3, 4]), {2, 3}])
def test_numbers_to_try_may_be_given(given):
    found = choose(SHIFTED.X, n_clusters=given, n_features_to_select=8)
    assert found.n_clusters_curve_.values.tolist() == sorted(set(map(int, given)))
    assert found.n_clusters_ == 3
    assert same_groups(found.labels_, SHIFTED.truth)


def test_a_single_number_is_used_without_a_choice():
    found = choose(SHIFTED.X, n_clusters=[4], n_features_to_select=8)
    assert (found.n_clusters_, found.n_clusters_curve_) == (4, None)
    np.testing.assert_array_equal(found.labels_, choose(SHIFTED.X, n_clusters=4, n_features_to_select=8).labels_)


def test_a_number_that_is_given_is_used_whatever_the_largest_is():
    assert choose(SHIFTED.X, n_clusters=4, max_clusters=2, n_features_to_select=8).n_clusters_ == 4


# ---------------------------------------------------------------- what does not matter


def test_order_of_rows_and_columns_does_not_matter(shifted):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(36), rng.permutation(40)
    turned = choose(SHIFTED.X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(turned.labels_, shifted.labels_[rows])
    np.testing.assert_array_equal(turned.support_, shifted.support_[columns])
    np.testing.assert_array_equal(turned.n_clusters_curve_.score, shifted.n_clusters_curve_.score)


def test_threads_do_not_matter(shifted, monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    again = choose(SHIFTED.X, n_jobs=2)
    np.testing.assert_array_equal(again.labels_, shifted.labels_)
    np.testing.assert_array_equal(again.n_clusters_curve_.score, shifted.n_clusters_curve_.score)


def test_a_fit_to_a_reading_is_the_fit_to_the_table(shifted):
    again = choose(SASClustering().read(SHIFTED.X))
    np.testing.assert_array_equal(again.labels_, shifted.labels_)


@pytest.mark.parametrize("estimator", [SASClustering, SparseKMeans, PlainClustering])
def test_the_table_is_read_once(monkeypatch, estimator):
    calls, of = [], content.contents
    monkeypatch.setattr(reading, "contents", lambda *given: calls.append(given) or of(*given))
    table = DESIGNS["numbers and categories with missing values"].X
    quick_parameters = {"n_permutations": 2} if "n_permutations" in estimator().get_params() else {}
    estimator("auto", max_clusters=4, **quick_parameters).fit(table)
    assert len(calls) == 1


# ---------------------------------------------------------------- every method

# Fits in which nothing else is tuned.
GIVEN = {
    "sas": {"n_features_to_select": 20},
    "sparse-kmeans": {"l1_bound": 4.0},
    "rskc": {"l1_bound": 4.0},
    "sparse-hierarchical": {"l1_bound": 4.0},
    "sparse-kmedoids": {"l1_bound": 4.0},
    "cosa-common": {"penalty": 0.3},
    "regularized-kmeans": {"penalty": 0.1},
    "pairwise-fusion": {"penalty": 4.0},
    "proclus": {"n_dimensions": 16},
    "reduced": {"n_components": 2},
    "reduced-nmf": {"n_components": 3},
}
# Methods that do not find these groups at all: by K-means on all features, they differ in too few of them.
FINDS = [name for name in METHODS if name not in ("cosa", "screened-moments", "screened-mode")]


@pytest.fixture(scope="module")
def fits():
    return {}


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_every_method_chooses_the_number_of_clusters(fits, name):
    found = fits[name] = quick(name, "auto", max_clusters=4, **GIVEN.get(name, {})).fit(CORNERS)
    curve = found.n_clusters_curve_
    assert sorted([*curve.values, *curve.unusable]) == [2, 3, 4]
    assert np.isfinite(curve.score).all()
    assert found.n_clusters_ == found.n_clusters_curve_.chosen == np.unique(found.labels_).size
    if name in FINDS:
        assert found.n_clusters_ == 3
        assert adjusted_rand_index(found.labels_, TRUTH) > 0.9
    if METHODS[name].predicts:
        assert set(found.predict(CORNERS)) <= set(range(found.n_clusters_))


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_the_number_that_was_chosen_gives_the_same_result_if_it_is_given(fits, name):
    """SAS clustering starts also from the labels by which the number was chosen, which may only help."""
    chosen = fits[name] if name in fits else quick(name, "auto", max_clusters=4, **GIVEN.get(name, {})).fit(CORNERS)
    given = quick(name, chosen.n_clusters_, **GIVEN.get(name, {})).fit(CORNERS)
    assert given.n_clusters_curve_ is None
    assert given.n_clusters_ == chosen.n_clusters_
    np.testing.assert_array_equal(given.labels_, chosen.labels_)
