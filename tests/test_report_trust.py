"""Whether the clustering can be trusted: the first thing that a summary and its page say."""

import functools
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from sparsecluster import PlainClustering, SASClustering, assess, write_report
from sparsecluster._utils.text import visible
from sparsecluster.datasets import shifted_groups
from sparsecluster.evidence import _assess
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, summarize
from sparsecluster.report._numbers import p_value
from tests.helpers.pages import Page

pd = pytest.importorskip("pandas")

PLAN = {"n_copies": 19, "n_repeats": 1, "n_splits": 4}
GROUPS = shifted_groups(mu=2.0, n_features=40, n_useful=10, group_size=20, seed=0).X
NOISE = np.random.default_rng(0).normal(size=(60, 40))
HOSTILE = ["</script><script>window.hacked=1</script>", '"><img src=x onerror=alert(1)>', "مرحبا \u202eright", "a\x1bb"]


def told_of(X, k, **told):
    """A fit, its assessment and its summary."""
    found = SASClustering(k, n_features_to_select=10, n_init=2).fit(X)
    assessment = assess(found, X, **PLAN)
    result = summarize(inspect(found, X), assessment=assessment, **told)
    return SimpleNamespace(found=found, assessment=assessment, result=result)


TABLES = {"groups": (GROUPS, 3), "no groups": (NOISE, 2), "no groups, k chosen": (NOISE, [2, 3])}
told = functools.cache(lambda kind: told_of(*TABLES[kind]))


@pytest.fixture(scope="module")
def groups():
    return told("groups")


@pytest.fixture(scope="module", params=["no groups", "no groups, k chosen"])
def noise(request):
    return told(request.param)


# ---------------------------------------------------------------- the summary


def test_the_first_sentence_says_that_there_are_groups(groups):
    first, second = groups.result["sentences"][:2]
    assert first == groups.assessment.sentences()[0]
    assert first.startswith("There are groups: ")
    assert second == "There are 3 clusters, with 20, 20 and 20 samples."


def test_the_first_sentence_says_that_there_are_none_and_the_others_do_not_claim_any(noise):
    first, *others = noise.result["sentences"]
    was_chosen = noise.result["curves"]["clusters"] is not None
    assert first.startswith("No groups (k = 1): " if was_chosen else "There is no evidence of groups: ")
    assert any(each.startswith("The best clustering into 2 clusters has ") for each in others)
    assert was_chosen == any(each.startswith("Among 2 and 3 clusters, 2 are best by ") for each in others)
    assert not any(re.match(r"There are \d clusters|Number of clusters|.* good ", each) for each in others)
    assert noise.result["assessment"]["n_clusters"] == 1


@pytest.mark.parametrize("kind", TABLES)
def test_a_summary_has_the_numbers_of_the_assessment(kind):
    plain, found = told(kind).result["assessment"], told(kind).assessment
    for name in ("verdict", "p_independent", "p_one_group", "n_clusters", "n_copies", "alpha", "agreement"):
        assert plain[name] == getattr(found, name)
    assert plain["agreement_null"] == found.agreement_null.mean()
    assert plain["n_listed"] == found.features.listed.sum()
    assert (plain["n_listed"] > 0) == (kind == "groups")
    assert pd.DataFrame(plain["clusters"]).to_dict("list") == found.clusters.frame().to_dict("list")
    assert plain["sentences"][1:] == found.sentences()[1:]


def test_without_an_assessment_nothing_is_said_of_it():
    view = inspect(SASClustering(3, n_features_to_select=10, n_init=1).fit(GROUPS), GROUPS)
    result = summarize(view)
    assert result["assessment"] is None
    assert result["trust"] is None
    assert "trust" not in Page(report_page(result)).text


def test_numbers_that_are_unknown_are_null_in_json():
    matrices = np.abs(GROUPS.T[:8, :, None] - GROUPS.T[:8, None])
    found = SASClustering(3, n_features_to_select=4, n_init=2, metric="precomputed").fit(matrices)
    # Samples in different halves are never seen together.
    assessment = assess(found, matrices, **{**PLAN, "n_folds": 2})
    result = summarize(inspect(found, matrices), assessment=assessment)
    stored = json.loads(json.dumps(result, allow_nan=False))
    assert stored["assessment"]["p_one_group"] is None
    assert {row["effect"] for row in stored["trust"]["features"]} == {None}
    assert None in np.ravel(stored["trust"]["together"]).tolist()
    assert "Can you trust it?" in Page(report_page(stored)).text


def test_the_features_chosen_most_often_are_drawn_if_none_can_be_tested():
    matrices = np.abs(GROUPS.T[:30, :, None] - GROUPS.T[:30, None])
    found = SASClustering(3, n_features_to_select=4, n_init=2, metric="precomputed").fit(matrices)
    rows = summarize(inspect(found, matrices), assessment=assess(found, matrices, **PLAN))["trust"]["features"]
    often = [row["frequency"] for row in rows]
    assert often == sorted(often, reverse=True)
    assert often[0] > 0


def test_the_picture_has_the_surest_features_and_the_consensus_by_cluster(groups):
    drawn, found = groups.result["trust"], groups.assessment
    assert [row["name"] for row in drawn["features"]] == found.features.frame().index[:15].tolist()
    clusters = [sample["cluster"] for sample in drawn["samples"]]
    assert clusters == sorted(clusters)
    at = [int(sample["id"]) for sample in drawn["samples"]]
    places = np.argsort(found.samples.assessed)[at]
    np.testing.assert_allclose(
        np.array(drawn["together"], float), 100 * found.samples.consensus[np.ix_(places, places)], atol=0.5
    )


def test_at_most_150_samples_are_drawn_and_the_page_says_so():
    X = shifted_groups(mu=3.0, n_features=6, n_useful=6, group_size=60, seed=0).X
    found = PlainClustering(3).fit(X)
    result = summarize(inspect(found, X), assessment=assess(found, X, n_copies=3, n_folds=2, n_repeats=1, n_splits=2))
    assert np.shape(result["trust"]["together"]) == (150, 150)
    assert "Only 150 of 180 samples are drawn." in Page(report_page(result)).text


def test_a_page_says_how_many_samples_were_assessed_if_not_all_were(monkeypatch):
    monkeypatch.setattr(_assess, "MOST_SAMPLES", 45)
    result = told_of(GROUPS, 3).result
    assert "Of the 60 samples, 45 were assessed, drawn at random." in Page(report_page(result)).text
    assert "None" not in json.dumps(result["assessment"])


# ---------------------------------------------------------------- the page


def alarms(page):
    return [tag for tag, given in page.tags if "alarm" in given.get("class", "").split()]


def test_the_page_warns_at_its_top_if_no_groups_are_shown(groups, noise):
    page = Page(report_page(noise.result))
    first = next(given for tag, given in page.tags if tag == "p")
    assert first["class"] == "alarm"
    assert len(alarms(page)) == 2
    assert "clusters, but no groups are shown" in page.text
    assert alarms(Page(report_page(groups.result))) == []


def test_the_section_comes_first_and_has_all_sentences(groups):
    page = Page(report_page(groups.result))
    headings = [given["id"] for tag, given in page.tags if tag == "h2" and "id" in given]
    assert headings[0] == "h-trust"
    first, p_values, *others = groups.assessment.sentences()
    assert p_values.startswith("P-values: ")
    # A page writes "80 %" where the terminal has "80%".
    assert all(re.sub(r"(\d)%", r"\1 %", sentence) in page.text for sentence in (first, *others))


@pytest.mark.parametrize(
    ("p", "words"), [(0.00004, "p < 0.001"), (0.0042, "p = 0.004"), (0.05, "p = 0.05"), (1.0, "p = 1")]
)
def test_the_page_writes_p_values_as_people_do(p, words):
    assert p_value(p) == words


def test_the_page_has_the_p_values_of_both_tests(groups):
    p, q = (p_value(each) for each in (groups.assessment.p_independent, groups.assessment.p_one_group))
    text = Page(report_page(groups.result)).text
    assert f"The tests give {p} against independent features and {q} against one group." in text


def test_hostile_names_are_escaped_in_it():
    frame = pd.DataFrame(GROUPS).set_axis([*HOSTILE, *map(str, range(36))], axis=1)
    frame = frame.set_axis([f"{HOSTILE[i % 4]} {i}" for i in range(60)])
    page = Page(report_page(told_of(frame, 3).result))
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert not any(tag == "img" for tag, _ in page.tags)
    drawn = json.loads(page.scripts[0])["trust"]
    shown = {visible(name, keep="\n\t") for name in HOSTILE}
    assert shown <= {row["name"] for row in drawn["features"]}
    assert {sample["id"].rsplit(" ", 1)[0] for sample in drawn["samples"]} == shown


def test_a_report_is_written_with_an_assessment(groups, tmp_path):
    file = write_report(groups.found, GROUPS, tmp_path / "report.html", assessment=groups.assessment)
    assert file.read_text(encoding="utf-8") == report_page(groups.result)
