"""What a user is promised about missing values."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import SASClustering, rand_index
from sparsecluster.datasets import shifted_groups


def with_missing(X, chances, seed):
    return np.where(np.random.default_rng(seed).random(X.shape) < chances, np.nan, X)


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
def test_a_fifth_of_the_values_may_be_missing(metric):
    rand = []
    for seed in range(5):
        X, truth, _ = shifted_groups(mu=1.0, n_features=200, seed=seed)
        found = SASClustering(n_clusters=3, metric=metric, n_permutations=5, random_state=seed)
        found.fit(with_missing(X, 0.2, seed))
        rand.append(rand_index(truth, found.labels_))
    assert np.mean(rand) > 0.97


def test_samples_with_few_values_are_not_drawn_to_the_middle():
    # Two rows in three lack eight values in ten. Means in their place would pull these to the group in the middle.
    X, truth, _ = shifted_groups(mu=1.0, n_features=60, seed=0)
    thin = np.arange(90) % 3 > 0
    missing = with_missing(X, np.where(thin, 0.8, 0.0)[:, None], seed=1)
    filled = np.where(np.isnan(missing), np.nanmean(missing, axis=0), missing)
    ours, by_means = (SASClustering(n_clusters=3).fit(table).labels_ for table in (missing, filled))
    assert rand_index(truth[thin], ours[thin]) > rand_index(truth[thin], by_means[thin]) + 0.1


def test_features_that_are_hardly_seen_are_not_chosen_for_it():
    X, truth, useful = shifted_groups(mu=0.9, n_features=200, seed=0)
    found = SASClustering(n_clusters=3).fit(with_missing(X, np.where(useful, 0.0, 0.8), seed=1))
    assert useful[found.get_support()].mean() > 0.9
    assert rand_index(truth, found.labels_) > 0.95


def test_a_column_without_any_value_changes_nothing_for_the_others():
    X, _, _ = shifted_groups(mu=1.0, n_features=30, n_useful=8, group_size=10, seed=0)
    plain = SASClustering(n_clusters=3).fit(X)
    with pytest.warns(UserWarning, match="1 column is missing too often.*'x30'"):
        beside = SASClustering(n_clusters=3).fit(np.column_stack([X, np.full(30, np.nan)]))
    np.testing.assert_array_equal(beside.labels_, plain.labels_)
    np.testing.assert_array_equal(beside.feature_scores_, [*plain.feature_scores_, 0.0])
