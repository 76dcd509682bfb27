"""What a page shows of a fit: numbers that one gets by hand, words that are true, and HTML that data cannot break."""

import copy
import json
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sparsecluster import COSA, SASClustering, SparseKMeans, SpectralGem
from sparsecluster._search.curve import TuningCurve
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.inspection import Heatmap, Projection, inspect
from sparsecluster.methods.registry import METHODS, make_method
from sparsecluster.report import report_page, summary
from sparsecluster.report import summarize as summarize_view
from tests.helpers.cases import some
from tests.helpers.common import three_groups
from tests.helpers.pages import Page

pd = pytest.importorskip("pandas")

X, truth, _ = three_groups(mu=3.0, n_features=20, n_useful=5, sizes=(12, 10, 8))


@pytest.fixture(scope="module")
def fitted():
    return SASClustering(3, n_features_to_select=5).fit(X)


@pytest.fixture(scope="module")
def tuned():
    return SASClustering(3, n_permutations=5).fit(X)


def summarize(estimator, table, ids=None, names=None, **told):
    """What a page shows of a fit."""
    return summarize_view(inspect(estimator, table, ids, names), **told)


def with_changes(estimator, **attributes):
    """The same result, in which some attributes are others."""
    changed = copy.copy(estimator)
    for key, value in attributes.items():
        setattr(changed, key, value)
    return changed


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_the_summary_of_every_method_is_plain_json_and_makes_a_page(name):
    estimator = make_method(name, 3)
    quick = {key: value for key, value in (("n_permutations", 2), ("n_init", 2)) if key in estimator.get_params()}
    result = summarize(estimator.set_params(**quick).fit(X), X)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["method"] == type(estimator).__name__
    Page(report_page(result))


FRAME = mixed_groups(n_features=12, n_useful=6, group_size=10, seed=0).X
TABLES = {
    "sparse": sp.csr_matrix(np.where(X > 0, X, 0.0)),
    "lists": X.astype(np.float32).tolist(),
    "words and missing values": FRAME,
    "words without names": FRAME.to_numpy(dtype=object),
    "numbers that pandas says are no names": pd.DataFrame(X),
}


@pytest.mark.parametrize("kind", TABLES)
def test_any_table_that_fit_takes_can_be_shown(kind):
    result = summarize(SASClustering(3, n_features_to_select=4).fit(TABLES[kind]), TABLES[kind])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert len(result["heatmap"]["values"]) == result["n_samples"]
    assert len(result["projection"]["chosen"]["x"]) == len(result["projection"]["all"]["y"]) == result["n_samples"]


def test_precomputed_dissimilarities_can_be_shown():
    matrices = (X.T[:, :, None] - X.T[:, None]) ** 2
    result = summarize(SASClustering(3, n_features_to_select=5, metric="precomputed").fit(matrices), matrices)
    assert result["sizes"] == [12, 10, 8]
    assert result["heatmap"]["values"] == []
    assert result["projection"]["all"] is result["projection"]["chosen"] is None
    said = [*result["heatmap"]["notes"], *result["projection"]["notes"].values(), result["profiles"]["note"]]
    assert set(said) == {"The features are precomputed dissimilarities, which have no columns to draw."}
    Page(report_page(result))


def test_counts_and_shares_are_those_that_one_gets_by_hand(fitted):
    result = summarize(fitted, X)
    within = sum(X[truth == group].var(axis=0) * (truth == group).sum() for group in range(3))
    scores = 1 - within / (X.var(axis=0) * len(X))
    assert (result["n_samples"], result["n_features"], result["n_chosen"]) == (30, 20, 5)
    assert result["sizes"] == [12, 10, 8]
    assert result["explained"] == pytest.approx(scores[:5].mean())
    assert result["features"]["rest"] == pytest.approx(scores[5:].mean())
    rows = result["features"]["rows"]
    assert [row["chosen"] for row in rows] == [True] * 5 + [False] * 15
    assert [row["name"] for row in rows[:5]] == [f"x{a}" for a in np.argsort(-scores[:5])]
    assert all(one["score"] >= other["score"] for one, other in pairwise(rows[5:]))
    for row in rows:
        a = int(row["name"][1:])
        assert row["score"] == pytest.approx(scores[a], rel=1e-3)
        assert row["centers"] == pytest.approx([X[truth == c, a].mean() for c in range(3)], rel=1e-3)


def by_hand(samples, labels):
    """Distances to the centers: square roots of sums of squared differences, each feature with its spread as unit."""
    Z = samples / samples.std(axis=0)
    centers = np.array([Z[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    return np.sqrt(((Z[:, None] - centers) ** 2).sum(axis=2))


def test_the_silhouette_and_the_second_cluster_are_those_that_one_gets_by_hand(fitted):
    apart = by_hand(X[:, :5], fitted.labels_)
    for i, row in enumerate(summarize(fitted, X)["samples"]["rows"]):
        own, others = apart[i, row["cluster"]], np.delete(apart[i], row["cluster"])
        assert (row["id"], row["cluster"]) == (str(i), fitted.labels_[i])
        assert apart[i, row["second"]] == others.min()
        assert row["silhouette"] == pytest.approx((others.min() - own) / max(others.min(), own), rel=1e-3)


def test_the_distance_is_the_one_that_is_written_down(fitted):
    apart = by_hand(X[:, :5], fitted.labels_)
    told = [row["distance"] for row in summarize(fitted, X)["samples"]["rows"]]
    # The root of the mean over the five chosen features.
    assert told == pytest.approx((apart[np.arange(30), fitted.labels_] / np.sqrt(5)).tolist(), rel=1e-3)


def test_of_a_sample_without_any_chosen_value_nothing_is_claimed():
    missing = X.copy()
    missing[0, :5] = np.nan
    result = summarize(SASClustering(3, n_features_to_select=5).fit(missing), missing)
    assert result["samples"]["rows"][0]["distance"] is None
    assert result["samples"]["rows"][0]["silhouette"] is None


@pytest.mark.parametrize("estimator", [COSA(3), SpectralGem(3), make_method("sparse-hierarchical", 3, l1_bound=2.0)])
def test_methods_without_distances_show_none(estimator):
    rows = summarize(estimator.fit(X), X)["samples"]["rows"]
    assert {tuple(row) for row in rows} == {("id", "cluster")}


def test_weights_are_shown_where_there_are_some(fitted):
    weighted = SparseKMeans(3, l1_bound=2.0).fit(X)
    rows = summarize(weighted, X)["features"]["rows"]
    assert {row["name"]: row["weight"] for row in rows} == pytest.approx(
        {f"x{a}": weight for a, weight in enumerate(weighted.feature_weights_)}, rel=1e-3
    )
    assert "weight" not in summarize(fitted, X)["features"]["rows"][0]


def test_the_heatmap_holds_tenths_of_standard_deviations_cluster_after_cluster(fitted):
    drawn = summarize(fitted, X)["heatmap"]
    assert [sample["cluster"] for sample in drawn["samples"]] == sorted(fitted.labels_)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = [int(sample["id"]) for sample in drawn["samples"]]
    columns = [int(name[1:]) for name in drawn["features"]]
    assert sorted(columns) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(drawn["values"], (10 * Z[np.ix_(rows, columns)]).round())


def test_the_page_draws_what_the_displays_draw(fitted):
    view = inspect(fitted, X)
    result, shown = summarize_view(view), Heatmap.from_view(view)
    assert [int(sample["id"]) for sample in result["heatmap"]["samples"]] == shown.samples.tolist()
    assert result["heatmap"]["features"] == shown.columns
    assert result["heatmap"]["singled_out"] == shown.singled_out.tolist()
    for key, seen in Projection.from_view(view).panels.items():
        told = result["projection"][key]
        np.testing.assert_allclose(np.column_stack([told["x"], told["y"]]), seen.places, rtol=1e-3, atol=1e-9)
        assert told["shares"] == seen.shares.tolist()


def test_missing_values_are_missing_in_the_heatmap_and_levels_are_columns():
    view = inspect(SASClustering(3, n_features_to_select=6).fit(FRAME), FRAME)
    drawn = summarize_view(view)["heatmap"]
    np.testing.assert_array_equal(
        [[value is None for value in row] for row in drawn["values"]], np.isnan(Heatmap.from_view(view).values)
    )
    assert [" = " in name for name in drawn["features"]] == drawn["is_level"]
    assert any(drawn["is_level"])
    assert not all(drawn["is_level"])


@pytest.mark.parametrize("renamed", [{"zebra": "aaa"}, {"ant": "zzz", "bee": "a", "zebra": "m"}])
def test_names_of_levels_do_not_change_the_projection(renamed):
    rng, group = np.random.default_rng(0), np.repeat([0, 1, 2], 20)
    names = np.array(["ant", "bee", "zebra"])
    frame = pd.DataFrame({"n": group + rng.normal(size=60)})
    for a in range(3):
        frame[f"level {a}"] = names[np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), group)]
    other = frame.replace(renamed)
    one, two = (summarize(SASClustering(3, n_features_to_select=3).fit(each), each) for each in (frame, other))
    assert [row["cluster"] for row in one["samples"]["rows"]] == [row["cluster"] for row in two["samples"]["rows"]]
    for part in ("chosen", "all"):
        assert one["projection"][part]["shares"] == pytest.approx(two["projection"][part]["shares"])
        for axis in "xy":
            np.testing.assert_allclose(
                one["projection"][part][axis], two["projection"][part][axis], rtol=1e-3, atol=1e-9
            )


def test_what_makes_a_cluster_is_what_it_explains_most_of(fitted):
    profiles = summarize(fitted, X)["profiles"]["clusters"]
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    for c, rows in enumerate(profiles):
        own = X[fitted.labels_ == c]
        part = len(own) * (own.mean(axis=0) - X.mean(axis=0)) ** 2 / total
        places = [int(row["name"][1:]) for row in rows]
        assert [row["explained"] for row in rows] == pytest.approx(part[places].tolist(), rel=1e-3)
        assert places == sorted(places, key=lambda a: -part[a])
        assert set(range(5)) - set(places) <= {a for a in range(5) if part[a] < 0.01}
        for a, row in zip(places, rows, strict=True):
            assert float(row["words"].split()[0]) == pytest.approx(own[:, a].mean(), abs=0.01)


@pytest.mark.parametrize(("part", "columns"), [("chosen", slice(5)), ("all", slice(None))])
def test_the_projection_is_the_principal_components(fitted, part, columns):
    Z = X[:, columns]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    left, lengths, _ = np.linalg.svd(Z, full_matrices=False)
    told = summarize(fitted, X)["projection"][part]
    for c, axis in enumerate("xy"):
        np.testing.assert_allclose(np.abs(told[axis]), np.abs(left[:, c] * lengths[c]), rtol=2e-3, atol=1e-3)
    assert told["shares"] == pytest.approx((lengths**2 / (lengths**2).sum())[:2].tolist())


def test_one_feature_has_no_second_component():
    told = summarize(SASClustering(2, n_features_to_select=1).fit(X), X)["projection"]["chosen"]
    assert told["shares"] == pytest.approx([1.0, 0.0])
    assert not any(told["y"])


# ---------------------------------------------------------------- limits


def test_what_is_too_much_for_a_page_is_left_out_and_the_page_says_so(fitted, monkeypatch):
    for key, most in (("FEATURES", 8), ("SAMPLES", 20), ("DRAWN_SAMPLES", 10), ("DRAWN_FEATURES", 3), ("VALUES", 200)):
        monkeypatch.setattr(summary, f"MOST_{key}", most)
    result = summarize(fitted, X)
    assert (len(result["features"]["rows"]), result["features"]["left_out"]) == (8, 12)
    assert (len(result["samples"]["rows"]), result["samples"]["left_out"]) == (20, 10)
    assert np.shape(result["heatmap"]["values"]) == (10, 3)
    assert result["heatmap"]["left_out"] == [20, 2]
    assert [sample["cluster"] for sample in result["heatmap"]["samples"]].count(0) == 4
    assert len(result["projection"]["chosen"]["x"]) == 20
    assert result["projection"]["all"] is None
    assert result["projection"]["notes"]["chosen"] is None
    assert "600 values are too many" in result["projection"]["notes"]["all"]
    text = Page(report_page(result)).text
    assert "Only 8 of the 20 features are listed" in text
    assert "Only 20 of the 30 samples are listed" in text
    assert "Only 10 of the 30 samples are drawn" in text
    assert "Only 3 of the 5 chosen features are drawn" in text


def test_a_page_with_everything_says_nothing_of_things_left_out(fitted):
    assert "Only" not in Page(report_page(summarize(fitted, X))).text


def test_small_clusters_are_drawn_also_where_samples_are_left_out(fitted, monkeypatch):
    monkeypatch.setattr(summary, "MOST_SAMPLES", 10)
    monkeypatch.setattr(summary, "MOST_DRAWN_SAMPLES", 10)
    labels = np.repeat([0, 1, 2], [28, 1, 1])
    result = summarize(with_changes(fitted, labels_=labels), X)
    assert set(result["projection"]["clusters"]) == {0, 1, 2}
    assert {sample["cluster"] for sample in result["heatmap"]["samples"]} == {0, 1, 2}


def test_a_long_gap_curve_is_thinned_and_keeps_the_chosen_size(fitted):
    sizes = np.arange(1, 20_001)
    curve = TuningCurve("s", sizes, "gap", -((sizes - 7777.0) ** 2), 7777, sizes / 1e5)
    told = summarize(with_changes(fitted, gap_curve_=curve), X)["curves"]["features"]
    assert len(told["values"]) <= 601
    assert (told["values"][0], told["values"][-1], told["chosen"], told["best"]) == (1, 20_000, 7777, 0)
    assert 7777 in told["values"]
    assert told["score"] == pytest.approx([-((s - 7777) ** 2) for s in told["values"]], rel=1e-3)


# ---------------------------------------------------------------- words


def test_sentences_say_how_many_how_much_and_which(fitted):
    first, second, third, fourth, fifth = summarize(with_changes(fitted, alternatives_=[]), X)["sentences"]
    best = sorted(range(5), key=lambda a: -fitted.feature_scores_[a])
    assert first == "There are 3 clusters, with 12, 10 and 8 samples."
    core = ", ".join(f"x{a}" for a in best[: fitted.core_size_])
    these = "this one is" if fitted.core_size_ == 1 else f"these {fitted.core_size_} are"
    assert second == f"5 of 20 features were chosen; {these} enough to find the clusters again: {core}."
    share = f"{fitted.feature_scores_[:5].mean():.0%}"
    assert third == f"The clusters explain {share} of the variation of the chosen features on average."
    listed = ", ".join(f"x{a} ({fitted.feature_scores_[a]:.0%})" for a in best[:3])
    assert fourth == f"The features with the highest scores are {listed}."
    assert f"explain {fitted.feature_scores_[5:].mean():.0%} of the variation of the features that were not" in fifth


def test_a_result_without_problems_has_no_warnings(fitted, tuned):
    assert summarize(fitted, X)["warnings"] == summarize(tuned, X)["warnings"] == []


def warnings_of(estimator, table=X):
    return " ".join(summarize(estimator, table)["warnings"])


def test_each_problem_is_warned_of_and_only_that_one(fitted, tuned):
    tiny = with_changes(fitted, labels_=np.repeat([0, 1, 2], [15, 13, 2]))
    assert warnings_of(tiny) == "1 cluster has fewer than 3 samples, which may be outliers."
    alike = shifted_groups(mu=3.0, n_features=12, n_useful=12, group_size=10).X
    assert warnings_of(SASClustering(3, n_permutations=5).fit(alike), alike).startswith(
        "Nearly all features were chosen"
    )
    nothing = with_changes(fitted, feature_scores_=np.full(20, 0.04))
    assert warnings_of(nothing).startswith("The clusters explain hardly any of the variation")
    curve = copy.copy(tuned.gap_curve_)
    object.__setattr__(curve, "score", np.full(20, 0.01))
    object.__setattr__(curve, "error", np.full(20, 0.02))
    assert "not larger than its standard error" in warnings_of(with_changes(tuned, gap_curve_=curve))
    still = X.copy()
    still[:, 18:] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        constant = SASClustering(3, n_features_to_select=5).fit(still)
    left_out = "2 features are constant or nearly always missing, and were left out of the clustering."
    assert warnings_of(constant, still) == ""
    assert summarize(constant, still)["notes"] == [left_out]


@pytest.mark.parametrize("name", ["kmeans++", "cosa-common", "sas"])
def test_where_all_features_were_asked_for_no_one_warns_that_the_gap_statistic_took_them(name):
    given = {"n_features_to_select": 19} if name == "sas" else {}
    assert "Nearly all" not in warnings_of(make_method(name, 3, **given).fit(X))


def test_a_column_without_any_value_is_shown_without_a_warning_of_numpy(strict):
    empty = np.column_stack([X, np.full(30, np.nan)])
    with pytest.warns(UserWarning, match="missing"):
        estimator = SASClustering(3, n_features_to_select=5).fit(empty)
    assert "1 feature is constant or nearly always missing" in summarize(estimator, empty)["notes"][0]
