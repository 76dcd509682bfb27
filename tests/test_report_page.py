"""A page is made of a whole summary or not at all."""

import numpy as np
import pandas as pd
import pytest

from sparsecluster import PROCLUS, SASClustering
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, summarize
from tests.helpers.pages import Page

SHOWN = (
    *("title", "lead", "warnings", "notes", "n_samples", "n_features", "n_chosen", "sizes", "explained"),
    *("n_outliers", "projection", "core", "heatmap", "clusterings", "features", "samples", "curves", "settings"),
    *("palette", "no_cluster", "profiles", "outliers", "cluster_features", "assessment", "trust"),
    "distributions",
)


@pytest.fixture(scope="module")
def summary():
    X = shifted_groups(mu=3.0, n_features=20, n_useful=5, group_size=10, seed=0).X
    return summarize(inspect(SASClustering(3, n_features_to_select=5, n_init=1).fit(X), X))


@pytest.mark.parametrize("key", SHOWN)
def test_a_summary_without_something_that_the_page_shows_is_incomplete(summary, key):
    part = {name: value for name, value in summary.items() if name != key}
    with pytest.raises(ValueError, match=f"summary of the result is incomplete: '{key}' is undefined"):
        report_page(part)


@pytest.mark.parametrize(("key", "inner"), [("heatmap", "left_out"), ("settings", "versions"), ("samples", "left_out")])
def test_so_is_a_summary_with_an_incomplete_part(summary, key, inner):
    part = {name: value for name, value in summary[key].items() if name != inner}
    with pytest.raises(ValueError, match=f"incomplete: 'dict object' has no attribute '{inner}'"):
        report_page({**summary, key: part})


def test_a_number_that_json_does_not_have_is_refused(summary):
    with pytest.raises(ValueError, match="JSON"):
        report_page({**summary, "explained": float("nan")})


EXPLAINED = {"gap": "The gap statistic compares", "bic": "The Bayesian information criterion is"}


@pytest.mark.parametrize("criterion", [*EXPLAINED, "instability", None])
def test_a_criterion_is_explained_only_where_it_was_used(summary, criterion):
    curve = {"criterion": criterion, "parameter": "s", "titles": ["s", "y"], "values": [1.0], "score": [0.1]}
    curves = {**summary["curves"], "features": curve if criterion else None}
    page = Page(report_page({**summary, "curves": curves}))
    assert [each for each, words in EXPLAINED.items() if words in page.text] == [criterion] * (criterion in EXPLAINED)
    assert ("How the number of features was chosen" in page.text) == (criterion is not None)
    assert "How the number of clusters was chosen" not in page.text


# ---------------------------------------------------------------- features of single clusters


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x>',
    "</script>",
    "<svg onload=alert(1)>",
    "two\nlines",
    "&lt;b&gt;",
]
HOSTILE += [f"{name} again" for name in HOSTILE]


def clusters_with_features(p=12, names=HOSTILE, **parameters):
    """Two groups, each narrow in half of the features."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [30, 20])
    is_narrow = (np.arange(p) < p // 2)[None, :] == (group == 0)[:, None]
    table = pd.DataFrame(np.where(is_narrow, 0.05, 1.0) * rng.normal(size=(50, p)), columns=list(names))
    found = PROCLUS(2, n_dimensions=p // 2, n_init=2, **parameters).fit(table)
    return found, summarize(inspect(found, table))


def test_the_features_of_each_cluster_are_listed_and_names_are_only_text():
    found, told = clusters_with_features()
    page = Page(report_page(told))
    assert "The features of each cluster" in page.text
    for cluster, own in enumerate(told["cluster_features"]):
        assert (own["count"], set(own["names"])) == (6, set(HOSTILE[6 * cluster : 6 * cluster + 6]))
        listed = page.text.split(f"Cluster {cluster}: 6 features")[1].split("Cluster 1:")[0]
        assert all(" ".join(name.split()) in listed for name in own["names"])
        scores = [found.feature_scores_[HOSTILE.index(name)] for name in own["names"]]
        assert scores == sorted(scores, reverse=True)
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert not any(tag in ("img", "svg") for tag, _ in page.tags)
    assert {row["name"]: row["clusters"] for row in told["features"]["rows"]} == {
        name: str(place // 6) for place, name in enumerate(HOSTILE)
    }


def test_the_summary_names_some_features_of_each_cluster():
    found, told = clusters_with_features(20, [f"gene{a}" for a in range(20)])
    for cluster, own in enumerate(told["cluster_features"]):
        line = f"features of cluster {cluster}: {', '.join(own['names'][:5])} and 5 more"
        assert line in found.summary().splitlines()


def test_of_many_features_of_a_cluster_some_are_listed_and_the_page_says_so():
    told = clusters_with_features(140, [f"gene{a}" for a in range(140)])[1]
    page = Page(report_page(told))
    assert page.text.count("The other 10 are marked in the table of features.") == 2


def test_other_methods_say_nothing_of_features_of_clusters(summary):
    page = Page(report_page(summary))
    assert summary["cluster_features"] is None
    assert "features of each cluster" not in page.text.lower()
    assert "clusters" not in summary["features"]["rows"][0]


@pytest.mark.parametrize("trim", [0.0, 0.1])
@pytest.mark.filterwarnings("ignore:A cluster is made")
def test_the_outlier_score_is_explained_only_where_there_is_one(trim):
    table = shifted_groups(mu=0.8, n_features=20, n_useful=5, group_size=15, seed=0).X
    table[0] += 40.0
    found = PROCLUS(3, n_dimensions=2, n_init=1, outliers=True, trim=trim, random_state=1).fit(table)
    page = Page(report_page(summarize(inspect(found, table))))
    assert "samples in no cluster" in page.text
    assert ("The outlier score is" in page.text) == (trim > 0)
