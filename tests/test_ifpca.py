"""IF-PCA is what Jin and Wang say: features by Kolmogorov-Smirnov and higher criticism, singular vectors, K-means."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans

from sparsecluster import IFPCA, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods import ifpca
from sparsecluster.methods._screening import by_higher_criticism, higher_criticism, screen
from tests import naive
from tests.helpers.common import refuses, within

# Two groups of 16 and 14 samples, far apart in 8 of 200 features.
TWO = shifted_groups(mu=10.0, n_features=200, n_useful=8, group_size=16, seed=0).X[:30]
HALVES = (np.arange(30) >= 16).astype(int)
# Three groups that overlap, in columns of different units.
HARD = shifted_groups(mu=2.0, n_features=60, n_useful=20, group_size=10, seed=3).X * np.linspace(0.5, 2.0, 60)


def fit(table, n_clusters=3, **parameters):
    return IFPCA(n_clusters, **parameters).fit(table)


def standardized(table):
    return (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)


def left_vectors(table, count):
    return np.linalg.svd(standardized(table), full_matrices=False)[0][:, :count]


# ---------------------------------------------------------------- the authors' own program


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_with_the_null_of_the_authors_the_groups_are_theirs_or_better(reference, monkeypatch, data):
    """K-means on the singular vectors ends no higher than at their labels, which no Lloyd pass changes either."""
    result = reference.ifpca(data)
    table, null, k = reference.table(data), reference.table(f"{data}_ksnull"), result["k"]
    monkeypatch.setattr(ifpca, "ks_null", lambda *args: null)
    found = fit(table, k)
    np.testing.assert_allclose(found.statistics_, result["ks"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.p_values_, result["pval"], rtol=0, atol=1e-6)
    # Which of two features of equal p-value comes first is decided by their contents, not by their order.
    np.testing.assert_allclose(np.sort(found.higher_criticism_), np.sort(result["hc"]), rtol=0, atol=1e-6)
    assert found.support_.sum() == result["selected"]
    places = left_vectors(table[:, found.support_], k - 1)
    theirs = np.unique(result["labels"], return_inverse=True)[1]
    centers = np.array([places[group].mean(axis=0) for group in naive.members(theirs)])
    np.testing.assert_array_equal(((places[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1), theirs)
    better = within(places, found.labels_).sum() < within(places, theirs).sum() * (1 - 1e-9)
    assert better or rand_index(found.labels_, theirs) == 1.0


# ---------------------------------------------------------------- each step


@pytest.mark.parametrize("table", [HARD, TWO], ids=["hard", "two"])
def test_features_are_those_of_ks_and_higher_criticism(table):
    found, expected = fit(table), screen(table, "ks")
    np.testing.assert_allclose(found.statistics_, expected.statistics, rtol=1e-9)
    np.testing.assert_allclose(found.p_values_, expected.p_values, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.higher_criticism_, higher_criticism(found.p_values_, len(table)), rtol=1e-12)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), by_higher_criticism(found.p_values_, len(table)))
    assert 0 < found.support_.sum() < table.shape[1]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_places_are_the_leading_left_singular_vectors_in_the_order_of_the_rows(k):
    found = fit(HARD, k)
    expected = left_vectors(HARD[:, found.support_], k - 1)
    assert found.embedding_.shape == (30, k - 1)
    np.testing.assert_allclose(found.embedding_.T @ found.embedding_, np.eye(k - 1), atol=1e-12)
    np.testing.assert_allclose(np.abs((found.embedding_ * expected).sum(axis=0)), 1.0, rtol=1e-9)
    largest = found.embedding_[np.abs(found.embedding_).argmax(axis=0), np.arange(k - 1)]
    assert (largest > 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_are_k_means_of_the_places(k):
    """No lower sum of squares from thirty starts of scikit-learn, and no better by moving a sample."""
    found = fit(HARD, k)
    value = within(found.embedding_, found.labels_).sum()
    assert value <= KMeans(k, n_init=30, random_state=0).fit(found.embedding_).inertia_ * (1 + 1e-9)
    best = naive.best_after_one_move(lambda labels: -within(found.embedding_, labels).sum(), found.labels_, k)
    assert best <= -value + 1e-12


def test_two_groups_in_one_dimension_are_the_best_split_there_is():
    found = fit(HARD, 2)
    order = np.argsort(found.embedding_[:, 0])
    splits = (np.isin(np.arange(30), order[:size]).astype(int) for size in range(1, 30))
    best = min(splits, key=lambda labels: within(found.embedding_, labels).sum())
    assert rand_index(best, found.labels_) == 1.0


def test_far_groups_are_found_without_an_error():
    found = fit(TWO, 2)
    np.testing.assert_array_equal(found.labels_, HALVES)
    np.testing.assert_array_equal(found.predict(TWO), HALVES)
    assert found.support_[:8].all()
    assert found.p_values_[:8].max() < np.quantile(found.p_values_[8:], 0.05)


def test_groups_in_one_huge_feature_are_found():
    """The unit of a feature does not make it pass; that it has two values does."""
    table = np.random.default_rng(0).normal(size=(30, 100))
    table[:, 17] = table[:, 17] * 1e3 + 1e6 * HALVES
    found = fit(table, 2)
    assert found.support_[17]
    assert found.p_values_.argmin() == 17
    assert fit(table[:, [17]], 2).labels_.tolist() == HALVES.tolist()


@pytest.mark.parametrize("k", [3, 4, 6])
def test_more_groups_than_features_allow_directions_are_found_all_the_same(strict, k):
    """One feature, of which there is one singular vector only."""
    values = np.repeat(np.arange(k) ** 2.0, np.arange(k + 2, 2, -1))[:, None]
    truth = np.repeat(np.arange(k), np.arange(k + 2, 2, -1))
    noise = np.random.default_rng(0).normal(size=values.shape) * 0.01
    found = fit(values + noise, k)
    np.testing.assert_array_equal(found.labels_, truth)
    np.testing.assert_array_equal(found.predict(values + noise), truth)
    assert found.embedding_.shape == (truth.size, 1)


def test_as_many_groups_as_asked_for_also_where_the_chosen_feature_has_two_values():
    """Rows that differ only in features left out may go anywhere, but no group is empty."""
    table = np.column_stack([HALVES, np.random.default_rng(0).normal(size=30)])
    found = fit(table, 4)
    assert np.flatnonzero(found.support_).tolist() == [0]
    assert np.bincount(found.labels_).size == 4


@pytest.mark.parametrize("copies", [2, 5])
def test_features_that_are_copies_of_each_other_have_one_direction(strict, copies):
    one = np.random.default_rng(0).normal(size=(30, 1)) + 8 * HALVES[:, None]
    found = fit(np.tile(one, copies), 4)
    assert found.support_.all()
    assert found.embedding_.shape == (30, 1)
    assert len(set(found.labels_)) == 4


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize(("k", "seed"), list(product([2, 3, 5], range(4))))
def test_the_samples_of_fit_get_their_labels(k, seed):
    """K-means ends where no sample gains by a move, so that every sample is nearest to the center of its own group."""
    table = shifted_groups(mu=1.0, n_features=50, n_useful=10, group_size=10, seed=seed).X
    found = fit(table, k, n_init=1)
    np.testing.assert_array_equal(found.predict(table), found.labels_)


def test_new_samples_are_projected_and_join_the_nearest_center():
    found, new = fit(HARD), np.random.default_rng(0).normal(0.0, 3.0, (100, 60))
    chosen = HARD[:, found.support_]
    left, lengths, right = np.linalg.svd(standardized(chosen), full_matrices=False)
    centers = np.array([left[found.labels_ == c, :2].mean(axis=0) for c in range(3)])
    places = (new[:, found.support_] - chosen.mean(axis=0)) / chosen.std(axis=0, ddof=1) @ right[:2].T / lengths[:2]
    apart = ((places[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.predict(new), apart.argmin(axis=1))
    assert len(set(found.predict(new))) == 3
    assert found.score(new) == pytest.approx(1 - apart.min(axis=1).sum() / (places**2).sum(), rel=1e-9)


def test_the_score_is_the_share_of_the_spread_of_the_places_that_the_groups_explain():
    found = fit(HARD)
    assert found.score(HARD) == pytest.approx(1 - within(found.embedding_, found.labels_).sum() / 2, rel=1e-9)


def test_features_left_out_have_no_say():
    found, new = fit(HARD), np.random.default_rng(0).normal(0.0, 3.0, (50, 60))
    np.testing.assert_array_equal(found.predict(np.where(found.support_, new, 1e3)), found.predict(new))


# ---------------------------------------------------------------- order, units, seeds


def test_the_order_of_rows_and_columns_does_not_matter():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(30), rng.permutation(60)
    one, other = fit(HARD), fit(HARD[np.ix_(rows, columns)])
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.embedding_, one.embedding_[rows])
    for name in ("support_", "statistics_", "p_values_", "higher_criticism_", "feature_scores_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name)[columns])
    new = rng.normal(0.0, 3.0, (50, 60))
    np.testing.assert_array_equal(other.predict(new[:, columns]), one.predict(new))


def test_the_units_and_zeros_of_columns_do_not_matter():
    rng = np.random.default_rng(0)
    units, zeros = rng.uniform(0.01, 100.0, 60), rng.normal(0.0, 10.0, 60)
    one, other = fit(HARD), fit(HARD * units + zeros)
    np.testing.assert_array_equal(other.support_, one.support_)
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-9)
    assert rand_index(other.labels_, one.labels_) == 1.0
    np.testing.assert_array_equal(other.predict(HARD * units + zeros), other.labels_)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_squares_of_very_large_and_small_values_stay_within_range(strict, scale):
    found = fit(TWO * scale, 2)
    np.testing.assert_array_equal(found.labels_, HALVES)
    np.testing.assert_array_equal(found.predict(TWO * scale), HALVES)
    assert found.score(TWO * scale) == pytest.approx(fit(TWO, 2).score(TWO), rel=1e-6)


def test_a_seed_decides_everything():
    for seed in (0, 1):
        one, other = (fit(HARD, 5, n_init=1, random_state=each) for each in (seed, np.random.RandomState(seed)))
        np.testing.assert_array_equal(one.labels_, other.labels_)
    many = {fit(HARD, 5, n_init=1, random_state=seed).labels_.tobytes() for seed in range(12)}
    assert len(many) > 1


# ---------------------------------------------------------------- tables


def test_tables_with_names_keep_them():
    names = [f"gene{a}" for a in range(200)]
    frame = pd.DataFrame(TWO, columns=names)
    found = fit(frame, 2)
    assert found.get_feature_names_out().tolist() == [names[a] for a in np.flatnonzero(found.support_)]
    np.testing.assert_array_equal(found.predict(frame), HALVES)


def test_single_precision_gives_the_same_groups():
    found = fit(TWO.astype(np.float32), 2)
    np.testing.assert_array_equal(found.labels_, HALVES)
    np.testing.assert_array_equal(found.predict(TWO.astype(np.float32)), HALVES)


def test_constant_columns_have_no_statistic_and_never_pass():
    table = TWO.copy()
    table[:, [3, 20]] = 1.5
    with pytest.warns(UserWarning, match="2 columns are constant"):
        found = fit(table, 2)
    for values in (found.statistics_, found.p_values_, found.higher_criticism_):
        assert np.flatnonzero(np.isnan(values)).tolist() == [3, 20]
    assert not found.support_[[3, 20]].any()
    np.testing.assert_array_equal(found.predict(table), HALVES)


@pytest.mark.parametrize("shape", [(2, 1), (2, 5), (3, 2), (4, 1)])
def test_the_smallest_tables_work(shape):
    table = np.random.default_rng(0).normal(size=shape)
    found = fit(table, 2)
    assert set(found.labels_) == {0, 1}
    np.testing.assert_array_equal(found.predict(table), found.labels_)


# ---------------------------------------------------------------- refusals


def test_missing_values_are_refused_in_fit_and_in_predict():
    table = TWO.copy()
    table[1:3, 5] = np.nan
    with refuses("NaN", "1 of 200 columns", "'x5'", "IFPCA"):
        fit(table)
    with refuses("NaN", "IFPCA"):
        fit(TWO).predict(table)


def test_sparse_matrices_are_refused_in_fit_and_in_predict():
    for call in (fit, fit(TWO).predict):
        with refuses("sparse", "IFPCA", "toarray", error=TypeError):
            call(scipy.sparse.csr_array(TWO))


def test_words_and_infinity_are_refused_by_the_name_of_their_column():
    frame = pd.DataFrame(TWO).add_prefix("gene")
    with refuses("'gene7'", "number"):
        fit(frame.assign(gene7=np.array(["red", "blue"])[HALVES]))
    with refuses("infinity", "'gene7'"):
        fit(frame.assign(gene7=np.where(HALVES == 0, np.inf, 0.0)))


@pytest.mark.parametrize("parameters", [{"n_clusters": 1}, {"n_clusters": 31}, {"n_clusters": 2.0}, {"n_init": 0}])
def test_parameters_that_make_no_sense_are_refused(parameters):
    with refuses(next(iter(parameters)), "whole number", f"got {next(iter(parameters.values()))}"):
        fit(TWO, **parameters)


def test_a_fit_without_anything_odd_says_nothing(strict):
    assert fit(TWO, 2).score(TWO) > 0.9
