"""K-means: the same answer in both forms, and one that no single move betters."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._clusterers.kmeans import KMeans, cheaper_form
from tests import naive

FORMS = ["pairs", "rows"]


def explained(features, subset, labels):
    """What k-means maximizes on standardized columns: the sum of scores on the subset."""
    return naive.scores(features.source.values[:, subset], labels).sum()


def cases(seed, count, whole=False):
    """Random tables with a subset and a number of clusters."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, p = int(rng.integers(2, 30)), int(rng.integers(1, 12))
        k = int(rng.integers(2, min(n, 6) + 1))
        subset = np.sort(rng.choice(p, int(rng.integers(1, p + 1)), replace=False))
        yield naive.random_table(rng, n, p, whole), subset, k, rng


@pytest.mark.parametrize("n_starts", [1, 4])
def test_pairs_and_rows_give_the_same_labels(features_of, n_starts):
    for table, subset, k, rng in cases(0, 150):
        features, seed = features_of(table), int(rng.integers(1000))
        by_pairs, by_rows = (
            KMeans(form).cluster(features, subset, k, np.random.default_rng(seed), n_starts=n_starts) for form in FORMS
        )
        np.testing.assert_array_equal(by_pairs, by_rows)


def test_pairs_and_rows_give_the_same_labels_from_warm_ones(features_of):
    for table, subset, k, rng in cases(1, 150):
        features, warm = features_of(table), naive.random_labels(rng, len(table), k)
        by_pairs, by_rows = (KMeans(form).cluster(features, subset, k, rng, warm) for form in FORMS)
        np.testing.assert_array_equal(by_pairs, by_rows)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_no_move_of_a_single_sample_is_better_and_no_cluster_is_empty(features_of, form, whole):
    for table, subset, k, rng in cases(2, 15, whole):
        features = features_of(table)
        for warm in (None, naive.random_labels(rng, len(table), k)):
            labels = KMeans(form).cluster(features, subset, k, rng, warm)
            assert set(labels) == set(range(k))

            def value(each, features=features, subset=subset):
                return explained(features, subset, each)

            assert naive.best_after_one_move(value, labels, k) <= value(labels) + 1e-9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [2, 5, 10])
def test_no_cluster_is_empty_where_rows_are_equal(features_of, form, k):
    features = features_of(np.repeat([[0.0, 1.0, 5.0], [2.0, 3.0, 1.0]], 5, axis=0))
    for seed in range(20):
        labels = KMeans(form).cluster(features, np.arange(3), k, np.random.default_rng(seed))
        assert set(labels) == set(range(k))
        assert explained(features, np.arange(3), labels) == pytest.approx(3.0)


@pytest.mark.parametrize("form", FORMS)
def test_as_many_clusters_as_samples_explain_all(features_of, form):
    features = features_of(np.random.default_rng(0).standard_normal((12, 4)))
    labels = KMeans(form).cluster(features, np.arange(4), 12, np.random.default_rng(0))
    assert sorted(labels) == list(range(12))


@pytest.mark.parametrize("form", FORMS)
def test_warm_labels_are_never_made_worse_nor_changed_in_place(features_of, form):
    for table, subset, k, rng in cases(3, 40, whole=True):
        features, warm = features_of(table), naive.random_labels(rng, len(table), k)
        before = warm.copy()
        labels = KMeans(form).cluster(features, subset, k, rng, warm)
        np.testing.assert_array_equal(warm, before)
        assert explained(features, subset, labels) >= explained(features, subset, warm) - 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_the_best_of_several_starts_is_kept(features_of, form):
    gained = 0
    for table, subset, k, rng in cases(4, 40):
        features, seed = features_of(table), int(rng.integers(1000))
        values = [
            explained(features, subset, KMeans(form).cluster(features, subset, k, np.random.default_rng(seed), None, m))
            for m in (1, 3, 9)
        ]
        assert values[0] <= values[1] + 1e-9
        assert values[1] <= values[2] + 1e-9
        gained += values[2] > values[0] + 1e-9
    assert gained > 0


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("n_starts", [1, 20])
def test_few_samples_are_seen_as_pairs_and_many_as_rows(n_starts, is_warm):
    forms = [cheaper_form(n, 100, 3, n_starts, is_warm) for n in (2, 10, 30, 100, 1_000, 10_000, 100_000)]
    assert forms[0] == "pairs"
    assert forms[-1] == forms[-2] == "rows"
    assert forms == sorted(forms)


@pytest.mark.parametrize("warm", [False, True])
def test_the_cheaper_form_is_the_one_taken(features_of, monkeypatch, warm):
    rng = np.random.default_rng(0)
    for n in (20, 2000):
        features = features_of(rng.standard_normal((n, 3)))
        other = "rows" if cheaper_form(n, 3, 2, is_warm=warm) == "pairs" else "pairs"
        monkeypatch.setattr(type(features), other, lambda *_: pytest.fail("the dearer form was taken"))
        KMeans().cluster(features, np.arange(3), 2, rng, naive.random_labels(rng, n, 2) if warm else None)
        monkeypatch.undo()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_at_least_as_good_as_200_starts_in_r(reference, features_of, data, form):
    given, table = reference.result(data, "kmeans"), reference.table(data)
    features = features_of(table, standardize=False)
    subset = np.arange(table.shape[1])
    labels = KMeans(form).cluster(features, subset, given["k"], np.random.default_rng(0), n_starts=100)
    within = features.total.sum() - features.total @ features.scores(labels, given["k"])
    assert within <= given["tot_withinss"] + 1e-6
