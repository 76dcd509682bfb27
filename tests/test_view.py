"""One view of a fit: what it holds, where samples are in it, and the colors and marks of its clusters."""

from __future__ import annotations

import pickle
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from sparsecluster import COSA, SASClustering, SparseKMeans
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.inspection import (
    Agreement,
    Contributions,
    Distributions,
    FeatureScores,
    Heatmap,
    History,
    Projection,
    inspect,
)
from sparsecluster.inspection._style import COLORS, DIVERGING, MISSING, STYLES, palette
from sparsecluster.inspection.columns import describe_columns

X = shifted_groups(mu=3.0, n_features=12, n_useful=4, group_size=10, seed=0).X
MIXED = mixed_groups(n_features=12, n_useful=6, group_size=10, seed=0).X
MATRICES = np.abs(X.T[:, :, None] - X.T[:, None, :])
GIVEN = {"n_features_to_select": 4, "n_init": 2}
TABLES = {
    "numbers": (X, {}),
    "missing": (np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), {}),
    "mixed": (MIXED, {}),
    "sparse": (sp.csr_matrix(np.where(X > 0, X, 0.0)), {}),
    "distances": (X, {"metric": "manhattan"}),
    "a function": (X, {"metric": lambda x, y: np.abs(x - y) ** 0.5}),
    "matrices": (MATRICES, {"metric": "precomputed"}),
}


@pytest.fixture(scope="module", params=TABLES)
def fitted(request):
    table, more = TABLES[request.param]
    return SASClustering(3, **GIVEN, **more).fit(table), table


# ---------------------------------------------------------------- what a view holds


def test_a_view_holds_what_the_estimator_found(fitted):
    estimator, table = fitted
    view = inspect(estimator, table)
    np.testing.assert_array_equal(view.labels, estimator.labels_)
    np.testing.assert_array_equal(view.scores, estimator.feature_scores_)
    np.testing.assert_array_equal(view.is_chosen, estimator.support_)
    assert (np.diff(view.scores[view.chosen]) <= 0).all()
    assert view.sizes.tolist() == np.bincount(estimator.labels_).tolist()
    assert (view.method, view.parameters) == ("SASClustering", estimator.get_params(deep=False))
    assert view.history == tuple(estimator.history_)
    assert view.curves == {"core_curve_": estimator.core_curve_}
    np.testing.assert_array_equal(view.is_core, estimator.core_support_)
    assert view.core.tolist() == view.chosen[: view.core.size].tolist()
    assert (view.n_outliers, view.clustered is view, view.alternatives) == (0, True, ())
    assert len(view.ids) == 30


def test_values_are_those_of_the_table_with_codes_for_levels():
    view = inspect(SASClustering(3, **GIVEN).fit(MIXED), MIXED)
    for a, name in enumerate(MIXED.columns):
        codes, given = view.block(np.array([a]))[:, 0], MIXED[name]
        np.testing.assert_array_equal(np.isnan(codes), given.isna())
        seen = ~np.isnan(codes)
        assert view.scale_of(a) == ("level" if given.dtype == "object" or given.dtype == "category" else "number")
        own = view.kinds[a].decode(codes)[seen] if view.scale_of(a) == "level" else codes[seen]
        assert own.tolist() == given[seen].tolist()
    assert view.n_missing(np.arange(12)) == MIXED.isna().to_numpy().sum()


def test_the_curve_of_a_tuned_fit_and_the_weights_are_there():
    tuned = SparseKMeans(3, n_permutations=2).fit(X)
    view = inspect(tuned, X)
    assert view.curves == {"gap_curve_": tuned.gap_curve_, "core_curve_": tuned.core_curve_}
    np.testing.assert_array_equal(view.weights, tuned.feature_weights_)
    np.testing.assert_array_equal(view.centers, tuned.cluster_centers_)


def test_samples_are_named_by_the_index_or_as_told():
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(30)], columns=[f"f{a}" for a in range(12)])
    estimator = SASClustering(3, **GIVEN).fit(frame)
    assert inspect(estimator, frame).ids == tuple(frame.index)
    assert inspect(estimator, frame, ids=range(30)).ids == tuple(map(str, range(30)))
    assert inspect(estimator, frame, names=list("abcdefghijkl")).names == tuple("abcdefghijkl")
    assert inspect(SASClustering(3, **GIVEN).fit(X), X).names == tuple(f"x{a}" for a in range(12))


def test_what_does_not_fit_is_refused():
    estimator = SASClustering(3, **GIVEN).fit(X)
    with pytest.raises(NotFittedError):
        inspect(SASClustering(3), X)
    with pytest.raises(ValueError, match="with 30 samples; got 29"):
        inspect(estimator, X[1:])
    with pytest.raises(ValueError, match="ids must hold 30 names; got 2"):
        inspect(estimator, X, ids=["a", "b"])
    with pytest.raises(ValueError, match="names must hold 12 names; got 1"):
        inspect(estimator, X, names=["a"])


def test_without_data_there_are_scores_and_a_history_but_no_values():
    view = inspect(SASClustering(3, **GIVEN).fit(X))
    assert len(FeatureScores.from_view(view).features) == 12
    assert History.from_view(view).objective.size
    assert view.places_of_samples() is None
    for display in (Projection, Heatmap, Contributions, Distributions):
        with pytest.raises(ValueError, match="Pass the table that fit was given as X"):
            display.from_view(view)


@pytest.mark.parametrize("display", [Projection, Heatmap, Contributions, Distributions, FeatureScores, History])
def test_a_display_of_an_estimator_is_that_of_its_view(display):
    estimator = SASClustering(3, **GIVEN).fit(MIXED)
    one, two = display.from_estimator(estimator, MIXED), display.from_view(inspect(estimator, MIXED))
    pd.testing.assert_frame_equal(one.frame(), two.frame())


def test_views_of_the_same_samples_can_be_compared():
    views = {str(k): inspect(SASClustering(k, **GIVEN).fit(X)) for k in (2, 3)}
    labels = {name: view.labels for name, view in views.items()}
    pd.testing.assert_frame_equal(Agreement.from_views(views).frame(), Agreement.from_labels(labels).frame())


def test_a_view_can_be_sent_to_another_process():
    view = inspect(SASClustering(3, **GIVEN).fit(X), X)
    again = pickle.loads(pickle.dumps(view))
    np.testing.assert_array_equal(again.places_of_samples().distance, view.places_of_samples().distance)
    assert "30 samples in 3 clusters, 4 of 12 features chosen" in repr(again)


# ---------------------------------------------------------------- where samples are


def test_the_nearest_cluster_is_the_predicted_one(fitted):
    estimator, table = fitted
    view = inspect(estimator, table)
    placed, predicted = view.places_of_samples(), estimator.predict(table)
    inside = placed.silhouette >= 0
    np.testing.assert_array_equal(predicted[inside], view.labels[inside])
    np.testing.assert_array_equal(predicted[~inside], placed.second[~inside])
    assert (placed.second != view.labels).all()


def test_methods_without_distances_have_no_places():
    assert inspect(COSA(3).fit(X), X).places_of_samples() is None


def test_coordinates_have_mean_zero_and_every_feature_has_variance_one():
    view = inspect(SASClustering(3, **GIVEN).fit(MIXED), MIXED)
    values, features, levels = view.coordinates(np.arange(12))
    np.testing.assert_allclose(np.nanmean(values, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.bincount(features, np.nanmean(values**2, axis=0)), 1.0)
    for a, name in enumerate(MIXED.columns):
        told = {level for level, feature in zip(levels, features, strict=True) if feature == a}
        assert told == (set(MIXED[name].dropna()) if view.scale_of(a) == "level" else {None})


def test_medians_are_the_centers_of_columns_compared_by_distance():
    estimator = SASClustering(3, **GIVEN, metric="manhattan").fit(X)
    shown = Contributions.from_estimator(estimator, X)
    for j, name in enumerate(shown.features):
        column = X[:, int(name[1:])]
        assert shown.overall[j] == np.median(column)
        assert shown.center[j].tolist() == [np.median(column[estimator.labels_ == c]) for c in range(3)]
        np.testing.assert_allclose(shown.difference[j], shown.center[j] - shown.overall[j])


def test_columns_are_described_as_they_are_read():
    frame = pd.DataFrame({"n": [1.5, np.nan, 2.0, 1.5], "word": ["a", "b", None, "a"], "on": [True, False, True, True]})
    frame["grade"] = pd.Categorical(["low", "high", "mid", "low"], ["low", "mid", "high"], ordered=True)
    told = {each.pop("name"): each for each in describe_columns(frame, list(frame.columns))}
    keys = ("type", "metric", "compared by", "values", "missing", "example", "problem")
    expected = {
        "n": ("numbers", "sqeuclidean", "squared difference", 2, 0.25, "1.5", ""),
        "word": ("levels", "hamming", "same level or not", 2, 0.25, "a", ""),
        "on": ("true or false", "hamming", "same level or not", 2, 0.0, "True", ""),
        "grade": ("ordered levels", "ordinal", "distance of ranks", 3, 0.0, "low", ""),
    }
    assert told == {name: dict(zip(keys, each, strict=True)) for name, each in expected.items()}
    (function,) = describe_columns(X[:, :1], ["x"], metric={"x": lambda x, y: abs(x - y)})
    assert function["compared by"] == "a function"


# ---------------------------------------------------------------- colors and marks


def test_twenty_clusters_look_different_and_neighbors_differ_in_color_and_mark():
    looks = [(each["color"], each["path"]) for each in palette(20)]
    assert len(set(looks)) == 20
    assert len({each[:2] for each in STYLES}) == 20
    assert [color for color, _ in looks] == [color for color, *_ in STYLES]
    for one, other in pairwise(looks):
        assert one[0] != other[0]
        assert one[1] != other[1]


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    high, low = sorted((float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colors_can_be_seen_on_white_and_on_a_dark_page():
    # The panels of the page; marks have an edge in the color of the text besides.
    assert min(contrast(color, "#f6f8fa") for color in COLORS) > 2
    assert min(contrast(color, "#171d24") for color in COLORS) > 2
    assert min(contrast(MISSING, shade) for shade in (*DIVERGING, "#ffffff")) > 1.5


# Machado, Oliveira and Fernandes (2009): what readers see who lack red or green cones.
PROTAN = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTAN = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]


def in_lab(light):
    """Of linear RGB, the CIE coordinates in which distances are those that people see."""
    xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]) @ light
    x, y, z = np.cbrt(xyz / [0.9505, 1.0, 1.0888])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", [np.eye(3), PROTAN, DEUTAN], ids=["all cones", "no red cones", "no green cones"])
def test_color_blind_readers_tell_the_colors_apart(sight):
    seen = [in_lab(np.clip(np.asarray(sight) @ linear(color), 1e-4, 1.0)) for color in COLORS]
    # Ten times what can just be noticed.
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 10


def test_notes_on_a_matrix_name_its_columns_as_they_are_named_beside_it():
    values = np.random.default_rng(0).normal(size=(20, 4))
    values[:, 2] = 7.0
    for table in (values, sp.csr_array(values)):
        estimator = SASClustering(2, n_features_to_select=2)
        reading = estimator.read(table)
        with pytest.warns(UserWarning, match="'x2'"):
            estimator.fit(reading)
        assert inspect(estimator, reading, names=["CD4", "CD8", "it's", "x1"]).notes == (
            '1 column is constant and will not be used: "it\'s".',
        )
