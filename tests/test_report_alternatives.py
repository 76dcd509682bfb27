"""What a page shows of the choice of k, of the core, of samples in no cluster and of alternatives."""

import json
import warnings

import numpy as np
import pytest

from sparsecluster import COSA, PlainClustering, RegularizedKMeans, SASClustering, SparseKMeans, adjusted_rand_index
from sparsecluster._utils.text import visible
from sparsecluster.inspection import Projection, inspect
from sparsecluster.methods.registry import METHODS, make_method
from sparsecluster.report import report_page, summarize, summary
from tests.helpers.cases import some
from tests.helpers.common import three_groups
from tests.helpers.pages import Page

pd = pytest.importorskip("pandas")

X, truth, _ = three_groups(mu=3.0, n_features=20, n_useful=5, sizes=(12, 10, 8))
OUTSIDE = [7, 30, 55]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>window.hacked=1</script>",
    "<!--",
    "مرحبا \u202eright to left",
    "{{ data }} {% raw %}",
]


def two_ways(p=45, far=20.0):
    """Samples that differ in two ways, and three samples that are nowhere."""
    rng = np.random.default_rng(1)
    one, other = rng.integers(2, size=(2, 60))
    table = rng.normal(size=(60, p))
    table[:, : p // 3] += 4 * one[:, None]
    table[:, p // 3 : 2 * p // 3] += 2.5 * other[:, None]
    table[OUTSIDE] = rng.normal(size=(3, p)) * far + 3 * far
    return table


TABLE = two_ways()


@pytest.fixture(scope="module")
def trimmed():
    found = SASClustering(2, n_permutations=3, trim=0.05).fit(TABLE)
    assert np.flatnonzero(found.labels_ == -1).tolist() == OUTSIDE
    assert found.alternatives_
    return found


@pytest.fixture(scope="module")
def shown(trimmed):
    return summarize(inspect(trimmed, TABLE))


@pytest.fixture(scope="module")
def chosen():
    return SASClustering([2, 3, 4], n_permutations=3).fit(X)


@pytest.mark.parametrize("name", some(METHODS, first=2))
@pytest.mark.usefixtures("less_work")
def test_every_method_that_chooses_k_and_leaves_samples_out_makes_a_page(name):
    table, estimator = two_ways(far=3.0), make_method(name, [2, 3], trim=0.05)
    quick = {key: 2 for key in ("n_permutations", "n_bootstraps", "n_init") if key in estimator.get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.set_params(**quick).fit(table)
    result = summarize(inspect(estimator, table))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["n_outliers"] == (estimator.labels_ == -1).sum()
    assert sum(result["sizes"]) + result["n_outliers"] == 60
    curve = result["curves"]["clusters"]
    assert sorted([*curve["values"], *curve["unusable"]]) == [2, 3]
    assert any(
        f"Number of clusters: {estimator.n_clusters_}, chosen among 2 and 3" in each for each in result["sentences"]
    )
    assert "The number of clusters was chosen among 2 and 3 by " in Page(report_page(result)).text


# ---------------------------------------------------------------- curves


def test_curves_are_those_of_the_fit(chosen):
    told = summarize(inspect(chosen, X))["curves"]
    curves = {"clusters": chosen.n_clusters_curve_, "features": chosen.gap_curve_, "core": chosen.core_curve_}
    for name, curve in curves.items():
        assert told[name]["values"] == curve.values.tolist()
        assert told[name]["score"] == pytest.approx(curve.score.tolist(), rel=1e-3)
        assert told[name]["chosen"] == curve.chosen
        assert told[name]["titles"] == list(curve.titles)
        assert (told[name]["error"] is None) == (curve.error is None)
    assert (told["clusters"]["is_log"], told["features"]["is_log"]) == (False, True)
    assert (told["clusters"]["required"], told["core"]["required"]) == (None, 0.9)


OTHERS = {
    "bic": SASClustering(3, criterion="bic"),
    "gap": SparseKMeans(3, n_permutations=2),
    "instability": RegularizedKMeans(3, n_bootstraps=2),
}


@pytest.mark.parametrize("criterion", OTHERS)
def test_whatever_the_criterion_its_curve_is_on_the_page(criterion):
    result = summarize(inspect(OTHERS[criterion].fit(X), X))
    assert result["curves"]["features"]["criterion"] == criterion
    assert "How the number of features was chosen" in Page(report_page(result)).text


def test_the_page_says_how_the_number_of_clusters_was_chosen_only_if_it_was(chosen, shown):
    result = summarize(inspect(chosen, X))
    page = Page(report_page(result))
    assert "Number of clusters: 3, chosen among 2 to 4 by the BIC." in result["sentences"]
    assert "The number of clusters was chosen among 2 to 4 by the BIC." in page.text
    assert "How the number of clusters was chosen" in page.text
    assert "number of clusters was chosen" not in Page(report_page(shown)).text


# ---------------------------------------------------------------- the core


def test_the_core_is_listed_the_highest_score_first(trimmed, shown):
    order = np.argsort(-trimmed.feature_scores_, kind="stable")[: trimmed.core_size_]
    assert shown["core"]["count"] == trimmed.core_size_ == len(shown["core"]["rows"])
    assert [row["name"] for row in shown["core"]["rows"]] == [f"x{a}" for a in order]
    rows = {row["name"]: row["core"] for row in shown["features"]["rows"]}
    assert [rows[f"x{a}"] for a in range(45)] == trimmed.core_support_.tolist()
    page = Page(report_page(shown))
    assert "The features that are enough" in page.text
    assert all(row["name"] in page.text for row in shown["core"]["rows"])


def told(estimator, table=X):
    """The sentence about features."""
    sentences = summarize(inspect(estimator.fit(table), table))["sentences"]
    return next(each for each in sentences if "features" in each)


def test_what_is_said_of_features_is_true_of_every_kind_of_result():
    found = SASClustering(3).fit(X)
    s, m = int(found.support_.sum()), found.core_size_
    assert told(SASClustering(3)).startswith(f"{s} of 20 features differ between the clusters; ")
    assert told(SASClustering(3, n_features_to_select="core")).startswith(f"{s} of 20 features differ between the clu")
    assert f"these {m} are enough" in told(SASClustering(3)) or (
        m == 1 and "this one is enough" in told(SASClustering(3))
    )
    assert told(SASClustering(3, core_agreement=None)) == f"{s} of 20 features differ between the clusters."
    assert told(SASClustering(3, n_features_to_select=4)).startswith("4 of 20 features were chosen")
    assert told(SASClustering(2, n_features_to_select=1)).startswith("1 of 20 features was chosen, and it is needed")
    assert told(PlainClustering(3)).startswith("All 20 features were used")
    sparse = SparseKMeans(3, l1_bound=2.0)
    assert told(sparse).startswith(f"{sparse.support_.sum()} of 20 features were chosen")


def test_a_core_that_was_not_sought_has_no_place_on_the_page():
    result = summarize(inspect(SASClustering(3, n_features_to_select=4, core_agreement=None).fit(X), X))
    assert result["core"] is None
    assert "core" not in result["features"]["rows"][0]
    assert "enough" not in Page(report_page(result)).text


def test_if_other_clusters_are_found_on_the_chosen_features_the_page_says_so():
    noise = np.random.default_rng(0).normal(size=(40, 30))
    found = COSA(4).fit(noise)
    assert found.core_curve_.score.max() < 0.9
    result = summarize(inspect(found, noise))
    assert not result["core"]["is_enough"]
    assert "core" not in result["features"]["rows"][0]
    text = Page(report_page(result)).text
    assert "finds other clusters" in text
    assert "are enough" not in text


def test_a_long_core_is_named_in_part_and_the_page_says_how_much_is_left(trimmed, shown):
    rows = [{"name": f"feature {a}", "score": 0.5} for a in range(100)]
    page = Page(report_page({**shown, "core": {**shown["core"], "count": 100, "rows": rows}}))
    assert "feature 59 " in page.text
    assert "feature 60 " not in page.text
    assert "The other 40 are marked in the table of features." in page.text


# ---------------------------------------------------------------- samples in no cluster


def test_samples_in_no_cluster_are_counted_listed_and_no_part_of_any_cluster(trimmed, shown):
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert (shown["n_samples"], shown["n_outliers"], sum(shown["sizes"])) == (60, 3, 57)
    listed = shown["outliers"]["rows"]
    assert {int(row["id"]) for row in listed} == set(OUTSIDE)
    scores = [row["score"] for row in listed]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(sorted(trimmed.outlier_scores_[OUTSIDE], reverse=True), rel=1e-3)
    assert [row["nearest"] for row in listed] == trimmed.predict(TABLE[[int(row["id"]) for row in listed]]).tolist()
    for row in shown["samples"]["rows"]:
        assert row["outlier_score"] == pytest.approx(trimmed.outlier_scores_[int(row["id"])], rel=1e-3, abs=1e-6)
        assert (row["silhouette"] is None) == (row["cluster"] == -1)
    text = Page(report_page(shown)).text
    assert any(each.startswith("3 samples are in no cluster: ") for each in shown["sentences"])
    assert f"In no cluster are {', '.join(row['id'] for row in listed)}." in text
    assert "They were left out of the clusters and of the scores." in text


def test_what_makes_a_cluster_does_not_depend_on_samples_outside(trimmed, shown):
    inside = trimmed.labels_ != -1
    overall = TABLE[inside].mean(axis=0)
    for c, rows in enumerate(shown["profiles"]["clusters"]):
        for row in rows:
            a = int(row["name"][1:])
            center, everywhere = row["words"].removesuffix(")").split(" (all: ")
            assert float(center) == pytest.approx(TABLE[trimmed.labels_ == c, a].mean(), abs=0.01)
            assert float(everywhere) == pytest.approx(overall[a], abs=0.01)


def test_the_picture_is_no_wider_for_samples_far_away(shown, trimmed):
    drawn = shown["projection"]["chosen"]
    places = Projection.from_estimator(trimmed, TABLE).chosen.places
    inside = trimmed.labels_ != -1
    assert np.ptp(places[:, 0]) > 3 * np.ptp(places[inside, 0])
    assert max(drawn["x"]) - min(drawn["x"]) < 1.6 * np.ptp(places[inside, 0])
    np.testing.assert_allclose(np.array(drawn["x"])[inside], places[inside, 0], rtol=1e-3, atol=1e-6)


def test_a_long_list_of_samples_in_no_cluster_is_cut_and_the_page_says_so(trimmed, monkeypatch):
    monkeypatch.setattr(summary, "MOST_OUTLIERS", 2)
    result = summarize(inspect(trimmed, TABLE))
    assert (len(result["outliers"]["rows"]), result["outliers"]["left_out"]) == (2, 1)
    assert "Only 2 of the 3 samples in no cluster are listed" in Page(report_page(result)).text


def test_an_infinite_outlier_score_can_be_shown(trimmed):
    view = inspect(trimmed, TABLE)
    scores = np.where(view.outliers, np.inf, view.outlier_scores)
    object.__setattr__(view, "outlier_scores", scores)
    assert [row["score"] for row in summarize(view)["outliers"]["rows"]] == [None] * 3


# ---------------------------------------------------------------- alternatives


def test_clusterings_stand_side_by_side_this_one_first(trimmed, shown):
    fits = [trimmed, *(each.estimator for each in trimmed.alternatives_)]
    assert len(shown["clusterings"]) == len(fits)
    for told, fit in zip(shown["clusterings"], fits, strict=True):
        inside = fit.labels_ != -1
        assert told["sizes"] == np.bincount(fit.labels_[inside]).tolist()
        assert (told["n_chosen"], told["n_outliers"]) == (fit.support_.sum(), 3)
        assert told["clusters"] == fit.labels_.tolist()
        assert told["agreement"] == adjusted_rand_index(trimmed.labels_[inside], fit.labels_[inside])
        assert told["best"][0]["name"] == f"x{np.argmax(np.where(fit.support_, fit.feature_scores_, -1))}"
        assert told["explained"] == pytest.approx(fit.feature_scores_[fit.support_].mean())
        places = Projection.from_estimator(fit, TABLE).chosen.places
        np.testing.assert_allclose(np.array(told["projection"]["y"])[inside], places[inside, 1], rtol=1e-3, atol=1e-6)
        for c, rows in enumerate(told["profiles"]):
            a = int(rows[0]["name"][1:])
            assert float(rows[0]["words"].split(" (")[0]) == pytest.approx(TABLE[fit.labels_ == c, a].mean(), abs=0.01)


def test_the_cross_table_counts_every_sample_once(trimmed, shown):
    for told, other in zip(shown["clusterings"][1:], trimmed.alternatives_, strict=True):
        by_hand = pd.crosstab(pd.Series(trimmed.labels_ % 3), pd.Series(other.labels % 3))
        assert told["cross"] == by_hand.to_numpy().tolist()
        assert sum(map(sum, told["cross"])) == 60


def test_a_result_without_alternatives_has_none_on_the_page(chosen):
    alone = SASClustering(3, n_alternatives=0, n_features_to_select=5).fit(X)
    result = summarize(inspect(alone, X))
    assert result["clusterings"] == []
    assert not any("other good" in each or "another good" in each for each in result["sentences"])
    assert "Other good clusterings" not in Page(report_page(result)).text


def test_names_cannot_break_out_of_the_new_parts():
    names = [f"{name} {a}" for a in range(8) for name in HOSTILE][:45]
    ids = [f"{name} {i}" for i in range(10) for name in HOSTILE]
    frame = pd.DataFrame(TABLE, columns=names, index=ids)
    result = summarize(inspect(SASClustering(2, n_permutations=3, trim=0.05).fit(frame), frame))
    page = Page(report_page(result))
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert not any(tag in ("img", "iframe", "svg") for tag, _ in page.tags)
    # The core and the samples in no cluster are in the text as they are.
    for row in result["core"]["rows"]:
        assert " ".join(visible(row["name"]).split()) in page.text
    embedded = json.loads(page.scripts[0])
    assert {row["id"] for row in embedded["outliers"]["rows"]} == {visible(ids[i]) for i in OUTSIDE}
    for clustering in embedded["clusterings"]:
        assert {row["name"] for row in clustering["best"]} <= {*map(visible, names)}
    assert not {"<", ">", "&", "\u2028"} & set(page.scripts[0])
