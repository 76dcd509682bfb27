"""Sparse hierarchical clustering: weights that spread the pairs most, and the tree on the weighted dissimilarity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform

import sparsecluster._utils.parallel
from sparsecluster import SparseHierarchical, TuningCurve
from sparsecluster._clusterers.hierarchical import LINKAGES, ON_COORDINATES
from sparsecluster._kernels.weights import bounded_weights
from sparsecluster.datasets import shifted_groups
from tests import naive
from tests.helpers.common import same_groups
from tests.helpers.new_samples import COLORS, MIXED_METRIC, TRUTH, levels, mixed_frame, numbers, root

DATA = ["gauss", "leukemia500"]
# Groups that overlap.
HARD = shifted_groups(mu=1.0, n_features=30, n_useful=8, group_size=8, seed=1).X
# Groups far apart in all of the useful columns.
EASY = shifted_groups(mu=10.0, n_features=20, n_useful=6, group_size=9, seed=0)
MATRICES = np.sqrt(np.abs(numbers(0).T[:, :, None] - numbers(0).T[:, None, :]))
# Of every kind: samples and metric.
KINDS = {
    "sqeuclidean": (numbers(0), "sqeuclidean"),
    "manhattan": (numbers(0), "manhattan"),
    "hamming": (COLORS[levels(0)], "hamming"),
    "ordinal": (levels(0) * 10.0, "ordinal"),
    "function": (numbers(0), root),
    "precomputed": (MATRICES, "precomputed"),
    "mixed": (mixed_frame(numbers(0), levels(0)), MIXED_METRIC),
}


def fit(table, k=3, **parameters):
    return SparseHierarchical(k, **{"l1_bound": 2.5, **parameters}).fit(table)


def pairs_by_features(table, metric="sqeuclidean"):
    """D: the dissimilarity of every pair in every column."""
    return np.column_stack([pdist(x[:, None], metric) for x in table.T])


def random_tables(count, p=None):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        width = int(rng.integers(2, 8)) if p is None else p
        yield rng.standard_normal((int(rng.integers(5, 14)), width)) * rng.uniform(0.5, 2.0, width)


def with_missing(table, share, seed=0):
    table = table.copy()
    table[np.random.default_rng(seed).random(table.shape) < share] = np.nan
    return table


# ---------------------------------------------------------------- R


@pytest.mark.parametrize("data", DATA)
def test_weights_and_groups_are_those_of_r_and_the_sum_is_no_smaller(reference, data):
    theirs = reference.result(data, "HierarchicalSparseCluster")
    assert (theirs["wbound"], theirs["linkage"]) == (5, "complete")
    mine = SparseHierarchical(max(theirs["labels"]), l1_bound=5, linkage="complete", standardize=False).fit(
        reference.table(data)
    )
    assert theirs["criterion"] <= mine.objective_ <= theirs["criterion"] * (1 + 1e-4)
    np.testing.assert_allclose(mine.feature_weights_, theirs["weights"], rtol=0, atol=1e-4)
    assert mine.support_.sum() == np.count_nonzero(theirs["weights"])
    assert same_groups(mine.labels_, theirs["labels"])


@pytest.mark.parametrize("data", DATA)
def test_with_equal_weights_the_tree_is_that_of_r_on_all_features(reference, data):
    """Features of which each is the same as every other get equal weights."""
    theirs, table = reference.result(data, "hclust-complete"), reference.table(data)
    matrix = squareform(pdist(table, "sqeuclidean"))
    found = SparseHierarchical(
        theirs["k"], l1_bound=2, linkage="complete", metric="precomputed", standardize=False
    ).fit(np.stack([matrix, matrix, matrix, matrix]))
    np.testing.assert_allclose(found.feature_weights_, 0.5)
    assert same_groups(found.labels_, theirs["labels"])


# ---------------------------------------------------------------- weights


def test_without_a_bound_weights_are_the_leading_right_singular_vector_of_pairs_by_features():
    for table in random_tables(40):
        found = fit(table, 2, l1_bound=10.0, standardize=False)
        _, lengths, vectors = np.linalg.svd(pairs_by_features(table), full_matrices=False)
        np.testing.assert_allclose(found.feature_weights_, np.abs(vectors[0]), rtol=0, atol=1e-4)
        assert found.objective_ == pytest.approx(lengths[0], rel=1e-8)
        assert found.support_.all()


@pytest.mark.parametrize("bound", [1.1, 1.5, 2.0])
def test_weights_are_the_best_for_the_pairs_that_they_spread(bound):
    """A point at which neither step gains: w is the best for U = D w, of length 1, and the sum is |D w|."""
    for table in random_tables(20, p=7):
        found = fit(table, 2, l1_bound=bound, standardize=False)
        d, w = pairs_by_features(table), found.feature_weights_
        spread = d @ w
        assert found.objective_ == pytest.approx(np.linalg.norm(spread), rel=1e-8)
        best = bounded_weights(d.T @ (spread / np.linalg.norm(spread)), bound)
        np.testing.assert_allclose(w, best, rtol=0, atol=1e-4)
        assert w.sum() <= bound + 1e-12
        assert np.linalg.norm(w) == pytest.approx(1.0)


def test_at_bound_one_a_single_feature_is_left():
    for table in random_tables(30, p=6):
        found = fit(table, 2, l1_bound=1, standardize=False)
        assert found.support_.sum() == 1
        assert found.feature_weights_.max() == 1.0


def test_at_bound_one_it_is_nearly_always_the_feature_of_largest_sum_of_squared_dissimilarities():
    """From one start, as in sparcl; 95 of 100 when this was written. Always where one feature stands out."""
    hits = 0
    for seed in range(100):
        table = np.random.default_rng(seed).standard_normal((12, 6))
        largest = (pairs_by_features(table) ** 2).sum(axis=0).argmax()
        hits += fit(table, l1_bound=1, standardize=False).feature_weights_.argmax() == largest
        table[:, 4] *= 4
        assert fit(table, l1_bound=1, standardize=False).feature_weights_.argmax() == 4
    assert hits >= 90


@pytest.mark.parametrize("bound", [1.2, 2.0, 3.4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_falls(kind, bound):
    table, metric = KINDS[kind]
    found = fit(table, metric=metric, l1_bound=bound)
    history = np.array(found.history_)
    assert (np.diff(history) >= -1e-12 * history[0]).all()
    assert (found.n_iter_, found.objective_) == (history.size, history[-1])
    assert history.size > 1


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
@pytest.mark.parametrize("bound", [1.3, 2.0, 3.0])
def test_the_objective_never_falls_with_missing_values(bound, metric):
    for seed in range(5):
        found = fit(with_missing(numbers(seed), 0.25, seed), l1_bound=bound, metric=metric)
        assert (np.diff(found.history_) >= -1e-12 * found.objective_).all()


def test_steps_are_no_more_than_asked_for():
    assert fit(HARD, max_iter=1).n_iter_ == 1
    assert fit(HARD, max_iter=3).n_iter_ == 3
    assert fit(HARD).n_iter_ > 3


def test_standardized_columns_are_weighed_whatever_their_units():
    units = 10.0 ** np.random.default_rng(0).integers(-3, 4, HARD.shape[1])
    mine, theirs = fit(HARD * units), fit(HARD)
    np.testing.assert_allclose(mine.feature_weights_, theirs.feature_weights_, rtol=0, atol=1e-9)
    standard = fit(naive.standardized(HARD), standardize=False)
    np.testing.assert_allclose(standard.feature_weights_, theirs.feature_weights_, rtol=0, atol=1e-9)


# ---------------------------------------------------------------- the tree


def groups_after(tree, k):
    """Labels after the first n - k merges, by sets of leaves."""
    n = len(tree) + 1
    sets = {i: {i} for i in range(n)}
    for m, (left, right) in enumerate(tree[: n - k, :2].astype(int).tolist()):
        sets[n + m] = sets.pop(left) | sets.pop(right)
    labels = np.empty(n, int)
    for name, leaves in enumerate(sets.values()):
        labels[list(leaves)] = name
    return labels


def weighted_d(table, found):
    """D(i, j) = sum_a w_a delta_a(i, j) of columns that are not standardized."""
    return pairs_by_features(table) @ found.feature_weights_


@pytest.mark.parametrize("link", LINKAGES)
def test_every_linkage_finds_clear_groups_and_gives_a_tree_of_scipys_form(link):
    found = fit(EASY.X, linkage=link, standardize=False, l1_bound=2.0)
    assert same_groups(found.labels_, EASY.truth)
    assert is_valid_linkage(found.linkage_matrix_)
    assert found.linkage_matrix_.shape == (26, 4)
    assert not found.support_[~EASY.useful].any()


@pytest.mark.parametrize("k", [2, 3, 7, 24])
@pytest.mark.parametrize("link", LINKAGES)
def test_cutting_the_tree_gives_the_labels(link, k):
    found = fit(HARD, k, linkage=link)
    assert same_groups(groups_after(found.linkage_matrix_, k), found.labels_)
    assert np.bincount(found.labels_).tolist() == sorted(np.bincount(found.labels_), reverse=True)
    assert np.unique(found.labels_).size == k
    if link not in ("centroid", "median"):
        assert same_groups(fcluster(found.linkage_matrix_, k, "maxclust"), found.labels_)


@pytest.mark.parametrize("link", LINKAGES)
def test_permuting_rows_permutes_the_leaves(link):
    order = np.random.default_rng(0).permutation(len(HARD))
    mine, theirs = fit(HARD[order], linkage=link), fit(HARD, linkage=link)
    np.testing.assert_array_equal(mine.labels_, theirs.labels_[order])
    np.testing.assert_array_equal(mine.linkage_matrix_[:, 2], theirs.linkage_matrix_[:, 2])
    heights = squareform(cophenet(theirs.linkage_matrix_))
    np.testing.assert_array_equal(squareform(cophenet(mine.linkage_matrix_)), heights[np.ix_(order, order)])
    assert not np.array_equal(mine.linkage_matrix_, theirs.linkage_matrix_)


def test_permuting_columns_permutes_the_weights():
    order = np.random.default_rng(0).permutation(HARD.shape[1])
    mine, theirs = fit(HARD[:, order]), fit(HARD)
    np.testing.assert_array_equal(mine.feature_weights_, theirs.feature_weights_[order])
    np.testing.assert_array_equal(mine.linkage_matrix_, theirs.linkage_matrix_)


@pytest.mark.parametrize("link", ["complete", "single", "average", "weighted"])
def test_the_tree_is_that_of_scipy_on_the_weighted_dissimilarity(link):
    found = fit(HARD, linkage=link, standardize=False)
    d = weighted_d(HARD, found)
    np.testing.assert_allclose(cophenet(found.linkage_matrix_), cophenet(linkage(d, link)), rtol=1e-10)
    if link in ("complete", "single"):
        heights = found.linkage_matrix_[:, 2]
        assert np.abs(heights[:, None] - d).min(axis=1).max() < 1e-10 * d.max()


@pytest.mark.parametrize("link", ON_COORDINATES)
def test_linkages_of_coordinates_are_those_of_scipy_on_columns_times_the_root_of_their_weights(link):
    """Heights in units of D, which is the squared distance."""
    found = fit(HARD, linkage=link, standardize=False)
    theirs = linkage(np.sqrt(found.feature_weights_) * HARD, link)
    np.testing.assert_allclose(cophenet(found.linkage_matrix_), cophenet(theirs) ** 2, rtol=1e-9)
    np.testing.assert_allclose(found.linkage_matrix_[:, 2], theirs[:, 2] ** 2, rtol=1e-9)
    np.testing.assert_array_equal(found.linkage_matrix_[:, 3], theirs[:, 3])


def test_there_are_as_many_clusters_as_asked_for_also_where_all_heights_tie():
    table = (np.arange(12)[:, None] == np.arange(12)).astype(float)
    for k in (2, 5, 12):
        assert np.unique(fit(table, k).labels_).size == k


def test_two_samples_make_a_tree_of_one_merge():
    found = fit(np.array([[0.0, 1.0], [3.0, 2.0]]), 2, standardize=False, l1_bound=1)
    assert sorted(found.linkage_matrix_[0, :2]) == [0, 1]
    np.testing.assert_allclose(found.linkage_matrix_[0, 2:], [9.0, 2.0])
    assert sorted(found.labels_) == [0, 1]


# ---------------------------------------------------------------- kinds of data


@pytest.mark.parametrize("kind", KINDS)
def test_clear_groups_are_found_in_every_kind(kind):
    table, metric = KINDS[kind]
    found = fit(table, metric=metric, linkage="average")
    np.testing.assert_array_equal(found.labels_, TRUTH)
    assert is_valid_linkage(found.linkage_matrix_)
    assert found.feature_weights_.sum() == pytest.approx(2.5)


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_without_a_bound_weights_are_the_leading_singular_vector_for_any_dissimilarity(metric):
    if metric == "manhattan":
        table, d = HARD, pairs_by_features(HARD, "cityblock")
    else:
        table, d = MATRICES, np.column_stack([squareform(matrix) for matrix in MATRICES])
    found = fit(table, metric=metric, l1_bound=10.0, standardize=False)
    np.testing.assert_allclose(
        found.feature_weights_, np.abs(np.linalg.svd(d, full_matrices=False)[2][0]), rtol=0, atol=1e-4
    )
    expected = cophenet(linkage(d @ found.feature_weights_, "average"))
    np.testing.assert_allclose(cophenet(found.linkage_matrix_), expected, rtol=1e-9)


def test_groups_are_found_in_spite_of_missing_values():
    """By all linkages but "single", for which one pair of samples that have little in common makes a bridge."""
    for link in LINKAGES:
        found = fit(with_missing(EASY.X, 0.1), linkage=link, standardize=False, l1_bound=2.0)
        assert same_groups(found.labels_, EASY.truth) or link == "single"
        assert is_valid_linkage(found.linkage_matrix_)


def test_groups_are_found_in_numbers_next_to_categories():
    table = pd.DataFrame(COLORS[levels(0)]).add_prefix("c").assign(x=numbers(0)[:, 0])
    np.testing.assert_array_equal(fit(table, l1_bound=2.0).labels_, TRUTH)


def test_a_sparse_matrix_is_the_table_that_it_stands_for():
    table = np.where(np.abs(numbers(0)) > 0.6, numbers(0), 0.0)
    mine, theirs = (fit(each, linkage="ward") for each in (scipy.sparse.csr_array(table), table))
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    np.testing.assert_allclose(mine.feature_weights_, theirs.feature_weights_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(cophenet(mine.linkage_matrix_), cophenet(theirs.linkage_matrix_), atol=1e-9)


def test_columns_kept_out_have_no_weight():
    with pytest.warns(UserWarning, match="constant"):
        found = fit(np.column_stack([np.ones(36), numbers(0)]), l1_bound=10.0)
    assert found.feature_weights_[0] == 0.0
    assert found.support_.tolist() == [False] + [True] * 12


# ---------------------------------------------------------------- tuning


@pytest.mark.parametrize("rule", ["max", "1se"])
def test_the_bound_is_chosen_by_the_gap_statistic(rule):
    found = SparseHierarchical(3, n_permutations=4, rule=rule).fit(numbers(0))
    curve = found.gap_curve_
    assert isinstance(curve, TuningCurve)
    assert curve.parameter == "l1_bound"
    np.testing.assert_allclose(curve.values, np.linspace(1.1, 0.7 * np.sqrt(12), 10))
    top = curve.score.argmax()
    near = curve.score >= curve.score[top] - (curve.error[top] if rule == "1se" else 0.0)
    assert found.l1_bound_ == curve.chosen == curve.values[near].min()
    # A larger bound allows all that a smaller one does.
    assert (np.diff(curve.details["observed"]) > 0).all()
    assert found.feature_weights_.sum() == pytest.approx(found.l1_bound_, abs=1e-12)


def test_what_is_observed_at_a_bound_is_the_objective_of_a_fit_with_that_bound():
    bounds = [1.3, 2.0, 3.0]
    tuned = SparseHierarchical(3, bounds=bounds[::-1], n_permutations=2).fit(HARD)
    assert tuned.gap_curve_.values.tolist() == bounds
    alone = [np.log(fit(HARD, l1_bound=bound).objective_) for bound in bounds]
    np.testing.assert_allclose(tuned.gap_curve_.details["observed"], alone, rtol=1e-6)
    again = fit(HARD, l1_bound=tuned.l1_bound_)
    np.testing.assert_allclose(tuned.feature_weights_, again.feature_weights_, rtol=0, atol=1e-9)
    assert again.gap_curve_ is None


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_tables_of_very_few_columns_can_be_tuned(n_features):
    found = SparseHierarchical(3, n_permutations=2).fit(numbers(0)[:, :n_features])
    sizes = found.gap_curve_.values
    assert 1.0 <= sizes[0] <= sizes[-1] <= np.sqrt(max(n_features, 2)) + 1e-12
    np.testing.assert_array_equal(np.sort(sizes), sizes)


def test_the_number_of_threads_makes_no_difference(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    one, two = (SparseHierarchical(3, n_permutations=4, n_jobs=jobs).fit(HARD) for jobs in (1, 2))
    for name in ("feature_weights_", "labels_", "linkage_matrix_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.gap_curve_.score, two.gap_curve_.score)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("link", ON_COORDINATES)
@pytest.mark.parametrize("kind", ["manhattan", "ordinal", "function", "precomputed", "mixed"])
def test_linkages_of_coordinates_refuse_what_has_none(link, kind):
    table, metric = KINDS[kind]
    with pytest.raises(ValueError, match=f'linkage="{link}" needs coordinates.*Use "average"'):
        fit(table, metric=metric, linkage=link)


def test_unknown_linkages_are_answered_by_the_known_and_the_nearest():
    with pytest.raises(ValueError, match=r'linkage must be one of "average".*Did you mean "average"'):
        fit(HARD, linkage="avrage")


@pytest.mark.parametrize("bound", [0.5, np.nan, True, "x"])
def test_a_bound_is_auto_or_a_number_of_at_least_one(bound):
    with pytest.raises(ValueError, match='l1_bound must be "auto" or a number of at least 1'):
        fit(HARD, l1_bound=bound)
