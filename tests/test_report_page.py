"""A page is made of a whole summary or not at all."""

import pytest

from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, summarize

SHOWN = (
    *("title", "sentences", "warnings", "notes", "n_samples", "n_features", "n_chosen", "sizes", "explained"),
    *("projection", "heatmap", "features", "samples", "gap", "settings"),
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


def test_the_gap_statistic_is_explained_only_where_it_was_used(summary):
    curve = {"parameter": "s", "s": [1.0], "gap": [0.1], "error": [0.1], "chosen": 1.0, "best": 0.1, "best_error": 0.1}
    assert "The gap statistic compares" in report_page({**summary, "gap": curve})
    assert "The gap statistic compares" not in report_page({**summary, "gap": None})
