"""The numbers behind the pictures, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparsecluster import SASClustering, SparseKMeans
from sparsecluster._search.climb import Step
from sparsecluster.inspection import (
    Agreement,
    Contributions,
    Distributions,
    FeatureScores,
    Heatmap,
    History,
)
from sparsecluster.inspection.distributions import bin_edges
from sparsecluster.inspection.heatmap import thinned
from tests.helpers.inspection import TABLES, Result, far_apart, mixed_table, named

# ---------------------------------------------------------------- scores and history


def test_features_are_ranked_by_score():
    shown = FeatureScores.from_estimator(Result([0, 1], [0, 1, 0, 1], [0.1, 0.5, 0.5, 0.7]))
    expected = {
        "feature": ["x3", "x1", "x2", "x0"],
        "score": [0.7, 0.5, 0.5, 0.1],
        "chosen": [True, True, False, False],
    }
    pd.testing.assert_frame_equal(shown.frame(), pd.DataFrame(expected, index=pd.RangeIndex(1, 5, name="rank")))
    assert shown.is_cut


def test_there_is_no_cut_where_others_than_the_best_are_chosen():
    assert not FeatureScores.from_estimator(Result([0, 1], [1, 0, 1], [0.9, 0.5, 0.1])).is_cut
    assert not FeatureScores.from_estimator(Result([0, 1], [1, 1, 1], [0.9, 0.5, 0.1])).is_cut


def test_weights_come_with_the_scores():
    estimator = SparseKMeans(n_clusters=3, l1_bound=1.8).fit(far_apart())
    frame = FeatureScores.from_estimator(estimator).frame()
    by_name = frame.set_index("feature")["weight"]
    assert [by_name[f"x{a}"] for a in range(10)] == estimator.feature_weights_.tolist()
    assert (frame["weight"] > 0).tolist() == frame["chosen"].tolist()


def test_the_history_of_a_climb():
    steps = (Step(1.0, 0, 0), Step(2.5, 7, 3), Step(2.75, 1, 0))
    frame = History.from_estimator(Result([0, 1], [1], [0.5], history_=steps)).frame()
    assert frame.index.tolist() == [1, 2, 3]
    assert frame.to_dict("list") == {
        "objective": [1.0, 2.5, 2.75],
        "samples_moved": [0, 7, 1],
        "features_changed": [0, 3, 0],
    }


def test_the_history_of_other_methods_is_the_objective():
    estimator = SparseKMeans(n_clusters=3, l1_bound=1.8).fit(far_apart())
    frame = History.from_estimator(estimator).frame()
    assert list(frame.columns) == ["objective"]
    assert frame["objective"].tolist() == list(estimator.history_)


# ---------------------------------------------------------------- contributions


def test_contributions_of_numbers_by_hand():
    X = np.array([[1.0], [3.0], [5.0], [5.0], [11.0]])
    frame = Contributions.from_estimator(Result([0, 0, 1, 1, 2], [1], [0.8]), X).frame()
    # Means 2, 5 and 11 about 5: between 2 x 9, 0 and 36.
    assert frame["contribution"].tolist() == pytest.approx([18 / 54, 0.0, 36 / 54])
    assert frame["center"].tolist() == [2.0, 5.0, 11.0]
    assert frame["overall"].tolist() == [5.0] * 3
    assert frame["difference"].tolist() == [-3.0, 0.0, 6.0]
    assert frame["explained"].tolist() == pytest.approx([0.8 * 18 / 54, 0.0, 0.8 * 36 / 54])


def test_contributions_with_missing_values_are_of_what_is_seen():
    X = np.array([[1.0], [np.nan], [4.0], [4.0], [np.nan], [7.0]])
    frame = Contributions.from_estimator(Result([0, 0, 1, 1, 2, 2], [1], [0.8]), X).frame()
    # One, two and one seen, with means 1, 4 and 7 about 4.
    assert frame["contribution"].tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_contributions_of_levels_by_hand():
    X = pd.DataFrame({"color": ["red", "red", "red", "blue", "blue", "red", None, "blue"]})
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    frame = Contributions.from_estimator(named(X, labels), X).frame()
    # Shares of red: 3/4 and 1/3, of all 4/7; so is blue, and its squares are the same.
    first, second = 4 * 2 * (3 / 4 - 4 / 7) ** 2, 3 * 2 * (1 / 3 - 4 / 7) ** 2
    assert frame["contribution"].tolist() == pytest.approx([first / (first + second), second / (first + second)])
    assert frame["center"].tolist() == ["red", "blue"]
    assert frame["overall"].tolist() == ["red", "red"]
    assert frame["difference"].tolist() == pytest.approx([3 / 4 - 4 / 7, 2 / 3 - 3 / 7])


def test_contributions_of_ordered_levels_are_of_ranks():
    order = ["low", "mid", "high"]
    X = pd.DataFrame({"grade": pd.Categorical(["low", "low", "mid", "high", "high", "high"], order, ordered=True)})
    frame = Contributions.from_estimator(named(X, [0, 0, 1, 1, 2, 2]), X).frame()
    ranks, overall = np.array([0.0, 1.5, 2.0]), 7 / 6
    squares = (ranks - overall) ** 2
    assert frame["contribution"].tolist() == pytest.approx((squares / squares.sum()).tolist())
    assert frame["center"].tolist() == ["low", "mid", "high"]
    assert frame["difference"].tolist() == pytest.approx((ranks - overall).tolist())


@pytest.mark.parametrize("kind", TABLES)
def test_contributions_sum_to_one(kind):
    X = TABLES[kind]()
    estimator = SASClustering(n_clusters=3, n_features_to_select=min(4, X.shape[1] - 1)).fit(X)
    shown = Contributions.from_estimator(estimator, X)
    frame = shown.frame()
    assert len(frame) == 3 * estimator.support_.sum()
    sums = frame.groupby("feature")["contribution"].sum()
    np.testing.assert_allclose(sums, 1.0)
    # What the clusters explain sums to the score.
    names = estimator.get_feature_names_out()
    explained = frame.groupby("feature")["explained"].sum()
    assert explained[names].tolist() == pytest.approx(estimator.feature_scores_[estimator.support_].tolist())


def test_contributions_are_the_parts_of_the_score():
    """n_k (m_k - m)^2 / T sums to the score of numbers, so contribution times score is each cluster's part of it."""
    X = far_apart()
    estimator = SASClustering(n_clusters=3, n_features_to_select=4).fit(X)
    frame = Contributions.from_estimator(estimator, X).frame().set_index(["feature", "cluster"])
    for a in np.flatnonzero(estimator.support_):
        total = ((X[:, a] - X[:, a].mean()) ** 2).sum()
        for c in range(3):
            own = X[estimator.labels_ == c, a]
            part = own.size * (own.mean() - X[:, a].mean()) ** 2 / total
            assert frame.loc[(f"x{a}", c), "explained"] == pytest.approx(part)


def test_contributions_of_clusters_that_do_not_differ_are_zero():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 5.0], [1.0, 6.0]])
    frame = Contributions.from_estimator(Result([0, 0, 1, 1], [1, 1], [0.0, 0.9]), X).frame()
    assert frame.loc[frame["feature"] == "x0", "contribution"].tolist() == [0.0, 0.0]


def test_contributions_do_not_leave_the_range_of_numbers(strict):
    X = np.array([[1e200, 1e-200], [1e200, 2e-200], [-1e200, 9e-200], [-1e200, 8e-200]])
    frame = Contributions.from_estimator(Result([0, 0, 1, 1], [1, 1], [1.0, 0.9]), X).frame()
    assert frame["contribution"].tolist() == pytest.approx([0.5] * 4)


# ---------------------------------------------------------------- heatmap


def test_the_heatmap_by_hand():
    X = np.array([[10.0, 0.0, 0.0], [0.0, 3.0, 1.0], [14.0, 0.0, 0.0], [0.0, 5.0, 0.0], [12.0, 0.0, 1.0]])
    estimator = Result([0, 1, 0, 1, 0], [1, 1, 0], [0.9, 0.8, 0.1])
    shown = Heatmap.from_estimator(estimator, X)
    frame = shown.frame()
    # Sample 4 is at the center of cluster 0; in cluster 1 both are as far, and come as they are in X.
    assert frame.index.tolist() == [(0, 4), (0, 0), (0, 2), (1, 1), (1, 3)]
    # Means of x0 are 12 and 0 about 7.2, so it singles out cluster 1, where it is low; x1 too, where it is high.
    assert list(frame.columns) == ["x1", "x0"]
    assert shown.singled_out.tolist() == [1, 1]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(frame.to_numpy(), z[[4, 0, 2, 1, 3]][:, [1, 0]])


@pytest.mark.parametrize("kind", TABLES)
def test_the_heatmap_is_in_order(kind):
    X = TABLES[kind]()
    estimator = SASClustering(n_clusters=3, n_features_to_select=min(4, X.shape[1] - 1)).fit(X)
    shown = Heatmap.from_estimator(estimator, X)
    assert sorted(shown.samples.tolist()) == list(range(42))
    np.testing.assert_array_equal(shown.labels, estimator.labels_[shown.samples])
    assert (np.diff(shown.labels) >= 0).all()
    assert (np.diff(shown.singled_out) >= 0).all()
    assert set(shown.features) == set(estimator.get_feature_names_out())
    np.testing.assert_allclose(np.nanmean(shown.values, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.nanmean(shown.values**2, axis=0), 1.0)
    if kind in ("numbers", "sparse"):
        means = np.array([shown.values[shown.labels == c].mean(axis=0) for c in range(3)])
        np.testing.assert_array_equal(shown.singled_out, np.abs(means).argmax(axis=0))
        distance = ((shown.values - means[shown.labels]) ** 2).sum(axis=1)
        assert all((np.diff(distance[shown.labels == c]) >= -1e-12).all() for c in range(3))


def test_the_heatmap_keeps_the_best_features_and_has_a_column_for_each_level():
    X = mixed_table()[["color", "number 0", "flag", "grade", "number 1"]]
    labels = np.repeat([0, 1, 2], [20, 14, 8])
    shown = Heatmap.from_estimator(named(X, labels), X, max_features=4)
    # Of two levels one is enough; levels with an order are ranks.
    colors = {f"color = {level}" for level in ("red", "green", "blue")}
    assert set(shown.columns) == {*colors, "number 0", "flag = 1", "grade"}
    assert "one column per level" in shown.title
    assert "4 of 5 chosen features" in shown.title
    assert "missing values are gray" in shown.title
    # Above the mean in the samples of the level, below it in the others, missing where the color is.
    given = X["color"].to_numpy()[shown.samples]
    for level, cluster in (("red", 0), ("green", 1), ("blue", 2)):
        place = shown.columns.index(f"color = {level}")
        column = shown.values[:, place]
        assert shown.singled_out[place] == cluster
        np.testing.assert_array_equal(np.isnan(column), [each is None for each in given])
        seen = ~np.isnan(column)
        np.testing.assert_array_equal(column[seen] > 0, given[seen] == level)


def test_of_many_levels_those_that_differ_most_between_the_clusters_are_drawn():
    labels = np.repeat([0, 1], [40, 40])
    town = np.where(np.arange(80) % 4 > 0, np.array(["here", "there"])[labels], [f"town {i % 10}" for i in range(80)])
    X = pd.DataFrame({"town": town, "n": np.arange(80.0)})
    shown = Heatmap.from_estimator(named(X, labels), X)
    assert shown.features.count("town") == 6
    assert {"town = here", "town = there"} <= set(shown.columns)
    assert "more than 6 levels" in shown.title


@pytest.mark.parametrize("most", [1, 3, 7, 20, 99, 100, 1000])
def test_samples_are_thinned_evenly(most):
    labels = np.repeat([0, 1, 2], [70, 29, 1])
    kept = thinned(np.arange(100), labels, most)
    assert kept.size <= max(most, 3)
    assert np.unique(kept).size == kept.size
    assert (np.diff(kept) > 0).all()
    assert set(labels[kept]) == {0, 1, 2}
    if most == 20:
        assert np.bincount(labels[kept]).tolist() == [13, 6, 1]
        # From the nearest to the farthest.
        assert {0, 69, 70, 98, 99} <= set(kept.tolist())


# ---------------------------------------------------------------- distributions


def test_distributions_by_hand():
    X = pd.DataFrame({"n": [0, 0, 1, 2, 2, 2], "kind": ["a", "a", "b", "b", None, "b"]})
    shown = Distributions.from_estimator(named(X, [0, 0, 0, 1, 1, 1]), X)
    frame = shown.frame()
    numbers = frame[frame["feature"] == "n"]
    assert numbers["low"].tolist() == [-0.5, 0.5, 1.5] * 2
    assert numbers["count"].tolist() == [2, 1, 0, 0, 0, 3]
    assert numbers["share"].tolist() == pytest.approx([2 / 3, 1 / 3, 0.0, 0.0, 0.0, 1.0])
    levels = frame[frame["feature"] == "kind"]
    assert levels["level"].tolist() == ["a", "b"] * 2
    assert levels["count"].tolist() == [2, 1, 0, 2]
    assert levels["share"].tolist() == pytest.approx([2 / 3, 1 / 3, 0.0, 1.0])


@pytest.mark.parametrize("kind", TABLES)
def test_all_that_is_seen_is_counted(kind):
    X = TABLES[kind]()
    estimator = SASClustering(n_clusters=3, n_features_to_select=2).fit(X)
    shown = Distributions.from_estimator(estimator, X, list(range(X.shape[1])))
    for panel in shown.panels:
        assert (panel.counts.sum(axis=1) <= shown.sizes).all()
        assert set(np.round(panel.shares.sum(axis=1), 12)) <= {0.0, 1.0}
    if kind in ("numbers", "sparse"):
        assert all((panel.counts.sum(axis=1) == shown.sizes).all() for panel in shown.panels)


def test_distributions_are_of_the_best_chosen_features_or_of_those_named():
    X = far_apart(20)
    estimator = SASClustering(n_clusters=3, n_features_to_select=12).fit(X)
    shown = Distributions.from_estimator(estimator, X)
    best = FeatureScores.from_estimator(estimator).frame().query("chosen")["feature"][:9]
    assert [panel.feature for panel in shown.panels] == best.tolist()
    named_ones = Distributions.from_estimator(estimator, X, ["x7", 2])
    assert [panel.feature for panel in named_ones.panels] == ["x7", "x2"]
    assert len(Distributions.from_estimator(estimator, X, max_features=3).panels) == 3


def test_ranks_of_numbers_are_shown_as_numbers():
    X = np.round(far_apart(), 2)
    estimator = SASClustering(n_clusters=3, n_features_to_select=4, metric="ordinal").fit(X)
    panel = Distributions.from_estimator(estimator, X, [0]).panels[0]
    assert panel.levels is None
    assert (panel.edges[0], panel.edges[-1]) == (X[:, 0].min(), X[:, 0].max())
    assert Contributions.from_estimator(estimator, X).scales == ("rank",) * 4


@pytest.mark.parametrize(
    "values",
    [[5.0, 5.0], [1e20, 1e20], [0.1], [], [1e12, 1e12 + 1e-4], [-1.7e308, 1.7e308], [0.0, 1e-320], [0.5, 2.0, 1e9]],
)
def test_bins_hold_all_values(values, strict):
    edges = bin_edges(np.array(values))
    assert (np.diff(edges / 2) > 0).all()
    assert all(edges[0] <= value <= edges[-1] for value in values)
    assert edges.size <= 41


# ---------------------------------------------------------------- agreement


def test_agreement_is_symmetric_with_ones_on_the_diagonal():
    rng = np.random.default_rng(0)
    frame = Agreement.from_labels({f"m{i}": rng.integers(0, 3, 20) for i in range(4)}).frame()
    np.testing.assert_array_equal(frame, frame.T)
    assert np.diag(frame).tolist() == [1.0] * 4
