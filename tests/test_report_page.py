"""A page is made of a whole summary or not at all."""

import pytest

from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, summarize
from tests.helpers.pages import Page

SHOWN = (
    *("title", "sentences", "warnings", "notes", "n_samples", "n_features", "n_chosen", "sizes", "explained"),
    *("n_outliers", "projection", "core", "heatmap", "clusterings", "features", "samples", "curves", "settings"),
    *("palette", "no_cluster", "profiles", "outliers", "cluster_features"),
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
