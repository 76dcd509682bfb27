"""PROCLUS as an estimator: the groups of the reference, features of clusters, outliers, and what it refuses."""

import numpy as np
import pytest

from sparsecluster import PROCLUS, rand_index
from sparsecluster.methods._projected import distances_to, objective_of
from tests import naive_projected
from tests.helpers.common import plain_scores, refuses, same_groups
from tests.helpers.methods import CORNERS, HARD
from tests.helpers.projected import OWN, TRUTH, X, narrow


def fit(table, k=2, **parameters):
    return PROCLUS(k, **{"n_dimensions": 2.5, "n_init": 3, "core_agreement": None, **parameters}).fit(table)


def features_of(found):
    return [np.flatnonzero(mask).tolist() for mask in found.cluster_features_]


# ---------------------------------------------------------------- agreement with other programs


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_dimensions", [4, "auto"])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_groups_of_the_reference_and_their_features_are_found(reference, seed, n_dimensions, standardize):
    table = reference.table("proclus120x12")
    found = fit(table, 3, n_dimensions=n_dimensions, n_init=2, random_state=seed, standardize=standardize)
    assert found.n_dimensions_ == 4
    assert not found.is_outlier_.any()
    for run in reference.proclus("proclus120x12"):
        assert same_groups(found.labels_, run["labels"])
        assert sorted(features_of(found)) == sorted([a - 1 for a in own] for own in run["dimensions"])


@pytest.mark.parametrize("data", ["simfuse", "gauss"])
def test_the_objective_is_smaller_than_that_of_any_run_of_the_reference(reference, data):
    """Its runs differ from each other. The outliers that it leaves out go to the cluster with the nearest centroid."""
    table, theirs = reference.table(data), []
    for run in reference.proclus(data):
        labels, k, own = np.array(run["labels"]) - 1, run["k"], np.zeros((run["k"], table.shape[1]), bool)
        for cluster, features in enumerate(run["dimensions"]):
            own[cluster, np.array(features) - 1] = True
        centers = np.array([table[labels == c].mean(axis=0) for c in range(k)])
        nearest = distances_to(table, centers, own).argmin(axis=1)
        theirs.append(objective_of(table, np.where(labels < 0, nearest, labels).astype(np.int32), own))
    found = fit(table, k, n_dimensions=run["average_dimensions"], n_init=10, standardize=False)
    assert found.cluster_features_.sum() == own.sum()
    assert found.objective_ < min(theirs)


# ---------------------------------------------------------------- clusters and their features


def test_each_cluster_has_the_features_in_which_it_is_narrow():
    found = fit(X)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.cluster_features_, OWN)
    np.testing.assert_array_equal(found.support_, OWN.any(axis=0))
    np.testing.assert_array_equal(found.labels_[found.medoids_], [0, 1])
    assert found.bic_curve_ is None


@pytest.mark.parametrize(("given", "total"), [(2, 6), (2.3, 7), (2.5, 8), (4.0, 12), (8, 24)])
def test_there_are_as_many_features_as_asked_for(given, total):
    found = fit(X, 3, n_dimensions=given)
    assert found.cluster_features_.sum() == total
    assert found.cluster_features_.sum(axis=1).min() >= 2
    assert found.n_dimensions_ == pytest.approx(total / 3)


@pytest.mark.parametrize("table", [X, HARD, CORNERS])
def test_the_number_that_was_chosen_gives_the_same_result_if_it_is_given(table):
    chosen = fit(table, 3, n_dimensions="auto", n_init=7)
    given = fit(table, 3, n_dimensions=chosen.n_dimensions_, n_init=7)
    curve = chosen.bic_curve_
    assert (curve.parameter, curve.criterion) == ("n_dimensions", "bic")
    assert curve.chosen == chosen.n_dimensions_ == curve.values[curve.score.argmax()]
    np.testing.assert_array_equal(given.cluster_features_, chosen.cluster_features_)
    np.testing.assert_array_equal(given.labels_, chosen.labels_)
    assert given.objective_ == chosen.objective_


def test_the_objective_is_in_the_units_of_the_table_or_in_standard_deviations():
    own = [np.flatnonzero(mask) for mask in OWN]
    assert fit(X, standardize=False).objective_ == pytest.approx(naive_projected.projected_objective(X, TRUTH, own))
    units = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert fit(X).objective_ == pytest.approx(naive_projected.projected_objective(units, TRUTH, own))
    assert fit(X * 1e-3, standardize=False).objective_ == pytest.approx(1e-3 * fit(X, standardize=False).objective_)


def test_more_runs_never_raise_the_objective():
    values = [fit(HARD, 3, n_dimensions=3, n_init=count, random_state=1).objective_ for count in (1, 3, 10, 30)]
    assert (np.diff(values) <= 0).all()
    assert values[-1] < values[0]


def test_features_and_medoids_follow_rows_and_columns():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(45), rng.permutation(30)
    one, other = fit(HARD, 3), fit(HARD[np.ix_(rows, columns)], 3)
    np.testing.assert_array_equal(other.cluster_features_, one.cluster_features_[:, columns])
    np.testing.assert_array_equal(rows[other.medoids_], one.medoids_)
    np.testing.assert_array_equal(other.is_outlier_, one.is_outlier_[rows])


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
def test_constant_columns_belong_to_no_cluster():
    found = fit(np.insert(X, 2, 7.0, axis=1))
    np.testing.assert_array_equal(found.cluster_features_, np.insert(OWN, 2, False, axis=1))
    # All columns may be asked for, as long as X has them.
    assert fit(np.insert(X, 2, 7.0, axis=1), n_dimensions=9).cluster_features_.sum() == 16


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize("standardize", [True, False])
def test_new_samples_go_to_the_smallest_segmental_distance(standardize):
    found, new = fit(HARD, 3, standardize=standardize), np.random.default_rng(0).normal(size=(50, 30))
    units = HARD.std(axis=0, ddof=1) if standardize else np.ones(30)
    medoids, own = HARD[found.medoids_] / units, features_of(found)
    apart = np.array([[naive_projected.segmental(x / units, medoids[c], own[c]) for c in range(3)] for x in new])
    np.testing.assert_array_equal(found.predict(new), apart.argmin(axis=1))
    np.testing.assert_array_equal(found.predict(HARD), found.labels_)
    typical = np.abs(HARD - HARD.mean(axis=0)).mean(axis=0) / units
    without = np.array([typical[each].mean() for each in own])[apart.argmin(axis=1)]
    assert found.score(new) == pytest.approx(1 - apart.min(axis=1).sum() / without.sum())


def test_one_new_sample_has_a_score():
    found = fit(X)
    assert found.score(X[found.medoids_[:1]]) == 1.0
    assert np.isfinite(found.score(X.mean(axis=0, keepdims=True)))


def test_medoids_of_a_file_have_one_column_for_each_feature_and_features_for_each_cluster():
    clusters = fit(X)._kept.clusters
    assert clusters.is_for(5, 2)
    assert not clusters.is_for(5, 3)
    assert not clusters.is_for(4, 2)
    for own in (np.zeros((2, 5)), np.full((2, 5), 0.5), np.full((2, 5), np.nan), np.ones((2, 4)), [[1.0] * 5] * 2):
        assert not clusters._replace(own=own).is_for(5, 2)


# ---------------------------------------------------------------- outliers


@pytest.fixture(scope="module")
def scattered(reference):
    """The groups of the reference, and 20 samples that are uniform in all features."""
    return np.vstack([reference.table("proclus120x12"), np.random.default_rng(1).uniform(0, 100, (20, 12))])


def with_outliers(table, **parameters):
    return fit(table, 3, **{"n_dimensions": 4, "n_init": 10, "outliers": True, **parameters})


@pytest.mark.parametrize("trim", [0.0, 0.02])
def test_outliers_are_left_out_of_labels_sizes_centers_and_scores(scattered, trim):
    found = with_outliers(scattered, trim=trim, core_agreement=0.9)
    inside = found.labels_ >= 0
    np.testing.assert_array_equal(found.is_outlier_, ~inside)
    assert inside[:120].all()
    assert inside[120:].sum() <= 10
    assert same_groups(found.labels_[:120], np.repeat([0, 1, 2], 40))
    sizes = np.bincount(found.labels_[inside])
    assert found.n_clusters_ == sizes.size == 3
    told = ", ".join(map(str, sizes))
    assert f"3 clusters of {told} samples; {(~inside).sum()} samples in no cluster" in found.summary()
    table, labels = scattered[inside], found.labels_[inside]
    np.testing.assert_allclose(found.cluster_centers_, [table[labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(found.feature_scores_, plain_scores(table, labels), atol=1e-12)
    # New samples always go to a cluster.
    assert set(found.predict(scattered)) == {0, 1, 2}


def test_without_outliers_all_samples_are_in_clusters_and_only_marked(scattered):
    without, with_them = (with_outliers(scattered, outliers=each) for each in (False, True))
    assert (without.labels_ >= 0).all()
    np.testing.assert_array_equal(without.is_outlier_, with_them.labels_ == -1)
    np.testing.assert_allclose(without.feature_scores_, plain_scores(scattered, without.labels_), atol=1e-12)
    # Without the outliers, other clusters may be larger.
    order = [with_them.medoids_.tolist().index(medoid) for medoid in without.medoids_]
    np.testing.assert_array_equal(without.cluster_features_, with_them.cluster_features_[order])


@pytest.mark.parametrize("k", [3, 5, 8])
def test_no_cluster_consists_of_outliers_only(k):
    n_outliers = 0
    for table in (HARD, X, (HARD > 0.5).astype(float)):
        found = fit(table, k, outliers=True, n_dimensions=3)
        n_outliers += (found.labels_ < 0).sum()
        sizes = np.bincount(found.labels_[found.labels_ >= 0])
        assert sizes.size == k
        assert sizes.min() > 0
        assert (np.diff(sizes) <= 0).all()
        np.testing.assert_array_equal(found.labels_[found.medoids_], np.arange(k))
    assert n_outliers > 0


# ---------------------------------------------------------------- small and odd tables


@pytest.mark.parametrize(("n", "p", "k"), [(2, 1, 2), (3, 2, 3), (5, 1, 5), (6, 2, 2), (12, 3, 12)])
def test_the_smallest_tables_have_clusters_with_features(strict, n, p, k):
    found = fit(np.random.default_rng(0).normal(size=(n, p)), k, n_dimensions="auto")
    assert np.unique(found.labels_).size == k
    assert found.cluster_features_.sum(axis=1).min() >= min(2, p)
    assert np.isfinite([found.objective_, found.n_dimensions_]).all()


@pytest.mark.parametrize(("scale", "standardize"), [(1e-300, True), (1e300, True), (1e-150, False), (1e300, False)])
def test_very_large_and_very_small_numbers_are_numbers(strict, scale, standardize):
    table = X / 100 * scale
    found = fit(table, standardize=standardize)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.cluster_features_, OWN)
    np.testing.assert_array_equal(found.predict(table), TRUTH)


def test_many_features_and_few_of_them_in_each_cluster():
    table, truth, own = narrow((40, 30, 20), (range(10), range(5, 25), range(30, 45)), p=1000)
    found = PROCLUS(3, n_init=3).fit(table)
    assert rand_index(truth, found.labels_) == 1.0
    assert (found.cluster_features_ & own).sum() > 0.8 * own.sum()


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("value", [1, 1.9, 0, -1, np.nan, np.inf, True, None, "all"])
def test_a_cluster_has_at_least_two_features(value):
    with refuses('n_dimensions must be "auto" or a number of at least 2', f"got {value!r}", '"auto"'):
        PROCLUS(n_dimensions=value).fit(None)


def test_a_cluster_has_no_more_features_than_there_are():
    with refuses("n_dimensions must be at most 8", "columns of X; got 8.5", '"auto"'):
        PROCLUS(n_dimensions=8.5).fit(X)


@pytest.mark.parametrize(
    ("parameter", "allowed", "values"),
    [
        ("sample_factor", "a whole number of at least 1", [0, 2.5, "x"]),
        ("medoid_factor", "a whole number of at least 1", [0, 2.5, None]),
        ("min_deviation", r"a share in \[0, 1\]", [-0.1, 1.5, "x"]),
        ("outliers", "True or False", [1, "yes", None]),
    ],
)
def test_other_parameters_are_refused_before_the_table_is_looked_at(parameter, allowed, values):
    for value in values:
        with refuses(f"{parameter} must be {allowed}", f"got {value!r}"):
            PROCLUS(**{parameter: value}).fit(None)
