"""Samples that belong nowhere are left out of the clusters, and no others; the rest is as if they were not there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage, leaves_list

import sparsecluster._utils.parallel
import sparsecluster.methods._trim
from sparsecluster import SASClustering, SparseHierarchical, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._trim import MOST_UPDATES, OUTLYING, nearest_clusters, outlying
from tests.helpers.common import plain_scores, refuses, same_groups, three_groups

CLEAN = shifted_groups(mu=1.0, n_features=200)
# Of the groups, 30, 28 and 27 samples are left, so that only one numbering of them is right.
ROWS = np.array([41, 44, 63, 70, 88])
REST = np.setdiff1d(np.arange(90), ROWS)
WILD = CLEAN.X.copy()
WILD[ROWS] *= 5.0
TRIMS = pytest.mark.parametrize("trim", [0.05, 0.06, 0.1])


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 3, "n_alternatives": 0, **parameters}).fit(table)


@pytest.fixture(scope="module")
def fits():
    return {trim: fit(WILD, trim=trim) for trim in (0.05, 0.06, 0.1)}


# ---------------------------------------------------------------- wild rows


@TRIMS
def test_the_other_samples_are_clustered_as_well_as_without_the_wild_ones(fits, trim):
    assert rand_index(CLEAN.truth[REST], fits[trim].labels_[REST]) >= 0.99


@TRIMS
def test_the_wild_samples_are_in_no_cluster_and_all_others_are_in_one(fits, trim):
    """Also if more samples might be left out."""
    np.testing.assert_array_equal(np.flatnonzero(fits[trim].labels_ == -1), ROWS)
    assert set(fits[trim].labels_[REST]) == {0, 1, 2}
    assert f"; {ROWS.size} samples in no cluster" in fits[trim].summary()


@TRIMS
def test_everything_else_is_that_of_a_fit_to_the_samples_that_were_kept(trim):
    found = fit(WILD, trim=trim, n_features_to_select=50)
    alone = fit(WILD[REST], n_features_to_select=50)
    np.testing.assert_array_equal(found.labels_[REST], alone.labels_)
    np.testing.assert_array_equal(found.support_, alone.support_)
    np.testing.assert_allclose(found.feature_scores_, alone.feature_scores_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.cluster_centers_, alone.cluster_centers_, rtol=0, atol=1e-12)
    assert found.objective_ == pytest.approx(alone.objective_)
    assert found.score(WILD[REST]) == pytest.approx(alone.score(WILD[REST]))
    np.testing.assert_array_equal(found.predict(WILD), alone.predict(WILD))


def test_scores_and_centers_are_those_of_the_samples_that_were_kept(fits):
    found = fits[0.1]
    np.testing.assert_allclose(found.feature_scores_, plain_scores(WILD[REST], found.labels_[REST]), rtol=0, atol=1e-12)
    means = [WILD[found.labels_ == c].mean(axis=0) for c in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, rtol=0, atol=1e-12)


def test_wild_samples_have_the_largest_outlier_scores(fits):
    for found in fits.values():
        assert found.outlier_scores_.shape == (90,)
        assert found.outlier_scores_[ROWS].min() > max(OUTLYING, found.outlier_scores_[REST].max())


def test_new_samples_are_always_in_a_cluster(fits):
    assert set(fits[0.05].predict(WILD)) <= {0, 1, 2}


def test_without_trimming_a_few_of_them_are_clusters_and_it_is_said_what_to_do():
    with pytest.warns(UserWarning, match=r"clusters? (is|are) made of .* far from all others.* Try trim=0\.0\d+"):
        found = fit(WILD)
    assert not hasattr(found, "outlier_scores_")
    assert (found.labels_ >= 0).all()
    assert rand_index(CLEAN.truth[REST], found.labels_[REST]) < 0.7


def test_following_the_advice_is_enough():
    table, truth, _ = three_groups(mu=5.0, n_features=20, n_useful=8, sizes=(30, 20, 14))
    table = np.vstack([table, 30.0 + np.zeros((1, 20))])
    with pytest.warns(UserWarning, match="A cluster is made of 1 sample that is far from all others") as warned:
        fit(table, n_features_to_select=8)
    advised = float(str(warned[0].message).partition("trim=")[2].partition(",")[0])
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit(table, n_features_to_select=8, trim=advised)
    np.testing.assert_array_equal(found.labels_, [*truth, -1])


# ---------------------------------------------------------------- wild cells, and no wild samples


def test_a_few_wild_cells_make_no_outliers():
    table, rng = CLEAN.X.copy(), np.random.default_rng(0)
    table[rng.random(table.shape) < 0.01] *= 10.0
    plain, trimmed = (fit(table, trim=trim) for trim in (0.0, 0.05))
    kept = trimmed.labels_ >= 0
    assert kept.mean() >= 0.95
    assert rand_index(CLEAN.truth[kept], trimmed.labels_[kept]) >= rand_index(CLEAN.truth, plain.labels_) - 0.01


def test_clean_data_lose_almost_no_sample():
    for seed in range(3):
        design = shifted_groups(mu=1.5, n_features=60, n_useful=20, group_size=30, seed=seed)
        found = fit(design.X, trim=0.1, n_features_to_select=20)
        assert (found.labels_ == -1).sum() <= 1
        assert rand_index(design.truth, found.labels_) > 0.98


def test_clean_data_have_the_clusters_that_they_have_without_trimming():
    table = shifted_groups(mu=1.5, n_features=60, n_useful=20, group_size=20).X
    plain, trimmed = (fit(table, trim=trim, n_features_to_select=20) for trim in (0.0, 0.1))
    assert (trimmed.labels_ >= 0).all()
    assert same_groups(trimmed.labels_, plain.labels_)
    np.testing.assert_array_equal(trimmed.support_, plain.support_)


# ---------------------------------------------------------------- how many, and in what order

# Three groups far apart, and two samples far from all of them.
SMALL, TRUTH, USEFUL = three_groups(mu=6.0, n_features=20, n_useful=6, sizes=(20, 14, 10))
FAR = np.vstack([SMALL, 40.0 + np.zeros((1, 20)), -40.0 + np.zeros((1, 20))])


def small(table=FAR, **parameters):
    return fit(table, **{"n_features_to_select": 6, "trim": 0.05, "n_init": 3, **parameters})


@pytest.mark.parametrize("trim", [0.03, 0.05, 0.2])
def test_those_that_are_far_are_left_out_whatever_the_share(trim):
    found = small(trim=trim)
    np.testing.assert_array_equal(found.labels_, [*TRUTH, -1, -1])
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize(("trim", "n", "most"), [(0.07, 100, 7), (0.05, 90, 5), (0.001, 30, 1), (0.28, 25, 7)])
def test_the_number_that_may_be_left_out_is_the_share_rounded_up(monkeypatch, trim, n, most):
    kept = []
    of = sparsecluster.methods._trim.central
    monkeypatch.setattr(
        sparsecluster.methods._trim, "central", lambda reading, count: kept.append(count) or of(reading, count)
    )
    fit(np.random.default_rng(0).normal(size=(n, 5)), trim=trim, n_features_to_select=2, n_init=1)
    assert kept == [n - most]


def test_order_of_rows_and_columns_does_not_matter():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(46), rng.permutation(20)
    one, other = small(), small(FAR[np.ix_(rows, columns)])
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.support_, one.support_[columns])
    np.testing.assert_allclose(other.outlier_scores_, one.outlier_scores_[rows], rtol=1e-9)


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    one, two = (small(n_jobs=n_jobs, n_features_to_select="auto", n_permutations=2) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.gap_curve_.score, two.gap_curve_.score)


def test_the_number_of_clusters_may_be_chosen_too():
    found = small(n_clusters="auto", max_clusters=5)
    assert found.n_clusters_curve_.values.tolist() == [2, 3, 4, 5]
    assert set(found.labels_) - {-1} == set(range(found.n_clusters_))


def test_alternatives_leave_the_same_samples_out():
    rng = np.random.default_rng(0)
    sex, disease = rng.integers(2, size=(2, 60))
    table = rng.normal(size=(60, 60)) + 3.0 * sex[:, None] * (np.arange(60) < 20)
    table += 2.5 * disease[:, None] * ((np.arange(60) >= 20) & (np.arange(60) < 40))
    table[[3, 50]] *= 8.0
    found = fit(table, n_clusters=2, trim=0.05, n_alternatives=2)
    np.testing.assert_array_equal(np.flatnonzero(found.labels_ == -1), [3, 50])
    assert found.alternatives_
    for other in found.alternatives_:
        np.testing.assert_array_equal(other.labels == -1, found.labels_ == -1)


# ---------------------------------------------------------------- what must not go wrong


def test_a_cluster_of_which_all_samples_are_left_out_is_no_cluster():
    assert nearest_clusters(np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])) is None
    np.testing.assert_array_equal(nearest_clusters(np.array([[1.0, 2.0], [2.0, 1.0]])), [0, 1])


def test_clusters_may_vanish_on_the_way(strict):
    """Tables with wild samples in small clusters of their own: every label is used, whatever is left out."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(30, 12)) + 3.0 * rng.integers(4, size=30)[:, None] * (np.arange(12) < 4)
        table[rng.choice(30, 4, replace=False)] *= rng.choice([5.0, 50.0, 1e4])
        found = fit(table, n_clusters=4, trim=0.25, n_features_to_select=4, n_init=2)
        assert set(found.labels_) - {-1} == {0, 1, 2, 3}
        assert (found.labels_ == -1).sum() <= 8


def test_samples_that_leave_and_come_back_end_in_a_whole_solution(monkeypatch):
    """An update of the samples has no tuning curve; the solution has one, also if it is of the first samples again."""
    first, other = np.arange(44), np.arange(2, 46)
    told = iter([other, first])
    monkeypatch.setattr(sparsecluster.methods._trim, "central", lambda reading, count: first)
    monkeypatch.setattr(sparsecluster.methods._trim, "nearest_samples", lambda far, count: next(told, first))
    monkeypatch.setattr(sparsecluster.methods._trim, "outlying", lambda far: np.full(far.size, 9.0))
    found = small(n_features_to_select="auto", n_permutations=2)
    assert found.gap_curve_ is not None
    assert found.history_[-1].objective == found.objective_
    assert (found.labels_ == -1).sum() == 2


def test_samples_that_change_forever_are_left_at_last(monkeypatch):
    turns = []

    def restless(far, count):
        turns.append(count)
        return np.sort((np.arange(count) + len(turns)) % far.size)

    monkeypatch.setattr(sparsecluster.methods._trim, "nearest_samples", restless)
    assert set(small().labels_) - {-1} == {0, 1, 2}
    assert MOST_UPDATES <= len(turns) <= 2 * MOST_UPDATES


def test_where_most_samples_are_equal_those_that_differ_are_outliers(strict):
    scores = outlying(np.array([0.0] * 50 + [1e9]))
    assert np.isfinite(scores).all()
    assert scores[-1] > OUTLYING
    assert (scores[:-1] == 0).all()
    table = np.repeat(SMALL[[0, 25, 40]] * 1e6, [20, 14, 10], axis=0)
    found = fit(np.vstack([table, 1e9 + np.zeros((1, 20))]), trim=0.05, standardize=False, n_features_to_select=3)
    np.testing.assert_array_equal(found.labels_, [*np.repeat([0, 1, 2], [20, 14, 10]), -1])
    assert np.isfinite(found.outlier_scores_).all()


def test_a_tree_of_the_samples_that_were_kept_is_a_tree():
    rows = np.random.default_rng(0).permutation(46)
    found = SparseHierarchical(3, l1_bound=2.0, trim=0.05).fit(FAR[rows])
    tree = found.linkage_matrix_
    kept = np.flatnonzero(found.labels_ >= 0)
    assert kept.size == 44
    assert is_valid_linkage(tree)
    # Leaves in the order of the tree have labels in three runs.
    labels = found.labels_[kept][leaves_list(tree)]
    assert np.count_nonzero(np.diff(labels)) == 2


@pytest.mark.parametrize("trim", [-0.1, 0.5, 0.7, "a", None, True, np.nan])
def test_the_share_is_between_nothing_and_half(trim):
    with refuses(r"trim must be a share of the samples in \[0, 0.5\)", f"got {trim!r}"):
        fit(None, trim=trim)


def test_so_many_clusters_need_so_many_samples():
    with refuses("After trimming, fewer than 4 distinct samples are left", "fewer clusters", "smaller value of trim"):
        fit(SMALL[:5], n_clusters=4, trim=0.4, n_features_to_select=2)


def test_outliers_are_left_out_also_if_clusters_are_sought_in_a_subsample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) + 6.0 * np.repeat([0, 1, 2], 30)[:, None] * (np.arange(6) < 3)
    X[:4] += 50.0
    found = SASClustering(3, trim=0.1, subsample=60, n_permutations=3).fit(X)
    assert set(np.flatnonzero(found.labels_ == -1)) == {0, 1, 2, 3}
    assert rand_index(found.labels_[4:], np.repeat([0, 1, 2], 30)[4:]) == 1.0
