"""The default criterion for the number of clusters: the BIC, or the gap statistic if the columns are dependent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import sparsecluster._utils.parallel
from sparsecluster import SASClustering, SparseKMeans, adjusted_rand_index
from sparsecluster._search.clusters import bic_curve
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._criteria import auto
from sparsecluster.methods._criteria.auto import explained_by_correlations, gain_by_correlations, suits_gap
from tests.helpers.criteria import choose, few_tables  # noqa: F401

pytestmark = pytest.mark.usefixtures("less_work", "one_thread")


def groups(correlated, n=150, p=6, k=3, seed=0):
    """Groups whose columns are correlated within groups, or not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    noise = rng.standard_normal((n, p))
    if correlated:
        noise = noise @ (np.eye(p) + 0.5 * rng.standard_normal((p, p)))
    return noise + 4.0 * rng.standard_normal((k, p))[truth], truth


def fit(table, **parameters):
    return SASClustering(**{"n_clusters": "auto", "n_features_to_select": 1.0, **parameters}).fit(table)


# ---------------------------------------------------------------- which criterion


def test_columns_that_depend_on_each_other_are_left_to_the_gap_statistic():
    table, truth = groups(correlated=True)
    found = fit(table)
    assert (found.n_clusters_curve_.criterion, found.n_clusters_) == ("gap", 3)
    assert adjusted_rand_index(found.labels_, truth) > 0.9
    assert fit(table, cluster_criterion="bic").n_clusters_ > 3


def test_independent_columns_are_left_to_the_bic():
    table, truth = groups(correlated=False)
    found, by_bic = fit(table), fit(table, cluster_criterion="bic")
    assert (found.n_clusters_curve_.criterion, found.n_clusters_) == ("bic", 3)
    np.testing.assert_array_equal(found.n_clusters_curve_.score, by_bic.n_clusters_curve_.score)
    np.testing.assert_array_equal(found.labels_, by_bic.labels_)
    assert adjusted_rand_index(found.labels_, truth) > 0.9


@pytest.mark.parametrize(("load", "k", "least"), [(load_iris, 3, 0.6), (load_wine, 3, 0.85)])
def test_real_tables_with_few_columns_have_as_many_clusters_as_classes(load, k, least):
    data = load()
    found = SASClustering("auto").fit(data.data)
    assert (found.n_clusters_, found.n_clusters_curve_.criterion) == (k, "gap")
    assert adjusted_rand_index(data.target, found.labels_) > least


def test_it_is_the_same_for_other_methods():
    table, truth = groups(correlated=True)
    found = SparseKMeans("auto", l1_bound=2.0).fit(table)
    assert (found.n_clusters_curve_.criterion, found.n_clusters_) == ("gap", 3)
    assert adjusted_rand_index(found.labels_, truth) > 0.9


COLUMNS = groups(correlated=True)[0]
UNSUITABLE = {
    "words": np.where(np.median(COLUMNS, axis=0) < COLUMNS, "high", "low").astype(object),
    "missing values": np.where(np.arange(COLUMNS.size).reshape(COLUMNS.shape) % 17 == 0, np.nan, COLUMNS),
    "few samples per column": COLUMNS[:29],
    "two columns": COLUMNS[:, :2],
}


@pytest.mark.parametrize("name", UNSUITABLE)
def test_the_gap_statistic_needs_complete_numbers_in_three_columns_and_five_samples_per_column(name):
    assert suits_gap(SASClustering().read(COLUMNS))
    assert not suits_gap(SASClustering().read(UNSUITABLE[name]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fit(UNSUITABLE[name], max_clusters=4).n_clusters_curve_.criterion == "bic"


def test_a_criterion_that_keeps_rising_is_told_where_nothing_else_can_be_done():
    factor = np.random.default_rng(0).standard_normal((60, 1))
    table = factor + 0.1 * np.random.default_rng(1).standard_normal((60, 30))
    with pytest.warns(UserWarning, match=r"largest for 4 clusters, the largest number that was tried.*Try larger"):
        assert fit(table, max_clusters=4).n_clusters_ == 4


def test_clear_groups_warn_of_nothing(strict):
    design = shifted_groups(mu=3.0, n_features=30, n_useful=8, group_size=12)
    assert fit(design.X, n_features_to_select=8, max_clusters=5).n_clusters_ == 3


@pytest.mark.usefixtures("few_tables")
def test_of_many_samples_some_are_compared(monkeypatch):
    monkeypatch.setattr(auto, "MOST_SAMPLES", 100)
    looked_at, of = [], auto.gap
    monkeypatch.setattr(auto, "gap", lambda kmeans, part, ks: looked_at.append(part.n_used) or of(kmeans, part, ks))
    table, truth = groups(correlated=True, n=300)
    chosen = choose("auto", SASClustering(), table, list(range(2, 9)))
    assert looked_at == [100]
    assert (chosen.k, chosen.labels) == (3, None)
    assert adjusted_rand_index(fit(table, max_clusters=8).labels_, truth) > 0.9


@pytest.mark.usefixtures("few_tables")
def test_order_and_threads_do_not_matter_to_the_gap_statistic(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    table, rng = groups(correlated=True)[0], np.random.default_rng(1)
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])
    found, turned, threads = fit(table), fit(table[np.ix_(rows, columns)]), fit(table, n_jobs=2)
    assert found.n_clusters_curve_.criterion == "gap"
    for other, labels in ((turned, found.labels_[rows]), (threads, found.labels_)):
        np.testing.assert_array_equal(other.labels_, labels)
        np.testing.assert_array_equal(other.n_clusters_curve_.score, found.n_clusters_curve_.score)


# ---------------------------------------------------------------- dependence


def test_the_gain_by_correlations_is_that_of_a_gaussian_model(problem_of):
    rng = np.random.default_rng(0)
    table, labels = rng.standard_normal((40, 5)) @ rng.standard_normal((5, 5)), rng.integers(3, size=40)
    labels[:3] = range(3)
    residuals = table - np.array([table[labels == c].mean(axis=0) for c in range(3)])[labels]
    log_determinant = np.linalg.slogdet(np.corrcoef(residuals.T))[1]
    expected = -20.0 * log_determinant - np.log(40) / 2 * 10
    assert gain_by_correlations(problem_of(table, 3).features, labels.astype(np.int32), 3) == pytest.approx(expected)


def test_dependence_is_seen_in_correlated_columns_and_not_in_independent_ones():
    for seed in range(5):
        for correlated in (False, True):
            estimator = SASClustering("auto")
            reading = estimator.read(groups(correlated, seed=seed)[0])
            found = estimator._candidates(reading, range(2, 9))
            curve = bic_curve(found)[0]
            # Correlations need not be asked for if the BIC does not name too many clusters.
            assert explained_by_correlations(found, curve) == (correlated and curve.chosen >= 5)


def test_a_column_that_stands_twice_is_dependence_and_not_an_error(problem_of):
    table = groups(correlated=False)[0]
    labels = np.repeat([0, 1, 2], 50).astype(np.int32)
    assert 0 < gain_by_correlations(problem_of(np.hstack([table, table]), 3).features, labels, 3) < np.inf
