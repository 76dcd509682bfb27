"""The page as HTML: it parses, loads nothing, and names cannot break out of it; and how it is written."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sparsecluster import SASClustering
from sparsecluster._utils.text import visible
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, write_report
from sparsecluster.report import summarize as summarize_view
from tests.helpers.common import three_groups
from tests.helpers.pages import Page

pd = pytest.importorskip("pandas")

X, truth, _ = three_groups(mu=3.0, n_features=20, n_useful=5, sizes=(12, 10, 8))
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>window.hacked=1</script>",
    "<!--",
    "]]>",
    "'single' \"double\" `back`",
    "two\nlines\r\tand a tab",
    "\u2028\u2029 line separators",
    "مرحبا \u202eright to left",
    "{data} {0} %s $& \\u003c \\",
    "&lt;&amp;&#60;",
    "__proto__",
]


@pytest.fixture(scope="module")
def fitted():
    return SASClustering(3, n_features_to_select=5).fit(X)


def summarize(estimator, table, ids=None, names=None, **told):
    """What a page shows of a fit."""
    return summarize_view(inspect(estimator, table, ids, names), **told)


def hostile():
    frame = pd.DataFrame(
        X[:, : len(HOSTILE)], columns=HOSTILE, index=[f"{name} {i}" for i, name in enumerate(HOSTILE * 3)][:30]
    )
    frame["level"] = np.array(HOSTILE)[truth]
    return frame


def test_a_page_is_well_formed_has_two_scripts_and_loads_nothing(fitted):
    page = Page(report_page(summarize(fitted, X, command="sparsecluster fit 'a b.csv' -k 3", notes=["a note"])))
    assert [given.get("type") for tag, given in page.tags if tag == "script"] == ["application/json", None]
    assert not any("src" in given or given.get("href", "#")[0] != "#" for _, given in page.tags)
    policy = next(given["content"] for tag, given in page.tags if given.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "sparsecluster fit 'a b.csv' -k 3" in page.text
    assert "a note" in page.text


def on_page(text):
    """Text as a page shows it: only white space is left of control characters."""
    return visible(text, keep="\n\t")


def test_names_cannot_break_out_of_the_page_and_come_back_with_control_characters_escaped():
    frame = hostile()
    estimator = SASClustering(3, n_features_to_select=13).fit(frame)
    told = {"title": HOSTILE[2], "notes": HOSTILE, "command": HOSTILE[0]}
    result = summarize(estimator, frame, ids=list(frame.index), **told)
    page = Page(report_page(result))
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert not any(tag == "img" for tag, _ in page.tags)
    embedded = json.loads(page.scripts[0])
    assert {row["name"] for row in embedded["features"]["rows"]} == {*map(on_page, frame.columns)}
    assert [row["id"] for row in embedded["samples"]["rows"]] == [*map(on_page, frame.index)]
    assert embedded["title"] == HOSTILE[2]
    assert set(HOSTILE[:3]) == {
        level for row in embedded["features"]["rows"] if row["name"] == "level" for level in row["centers"]
    }
    assert not {"<", ">", "&", "\u2028"} & set(page.scripts[0])
    for note in HOSTILE:
        assert " ".join(on_page(note).split()) in page.text


def test_a_report_is_written_of_an_estimator_or_of_a_view(fitted, tmp_path):
    frame = pd.DataFrame(X, index=[f"sample {i}" for i in range(30)]).rename(columns=str)
    named = SASClustering(3, n_features_to_select=5).fit(frame)
    file = tmp_path / "page.html"
    file.write_text("old")
    assert write_report(named, frame, str(file), title="Mine", notes=["one"]) == file
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    page = file.read_text(encoding="utf-8")
    assert page == report_page(summarize(named, frame, list(frame.index), title="Mine", notes=["one"]))
    write_report(inspect(named, frame), file=file, title="Mine", notes=["one"])
    assert file.read_text(encoding="utf-8") == page


def test_a_report_needs_a_fit_and_its_data_once(fitted, tmp_path):
    with pytest.raises(NotFittedError):
        write_report(SASClustering(3), X, tmp_path / "page.html")
    with pytest.raises(ValueError, match="X must be the data that fit was given; got None"):
        write_report(fitted, file=tmp_path / "page.html")
    with pytest.raises(ValueError, match="must be left out if a View is given"):
        write_report(inspect(fitted, X), X, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [np.array, pd.Index, pd.Series, tuple])
def test_ids_and_names_may_be_arrays(fitted, kind):
    ids, names = [f"i{i}" for i in range(30)], [f"n{a}" for a in range(20)]
    assert summarize(fitted, X, kind(ids), kind(names)) == summarize(fitted, X, ids, names)


def test_notebooks_show_the_result_above_the_estimator_and_names_are_only_text():
    estimator = SASClustering(3, n_features_to_select=5)
    assert "clusters of" not in estimator._repr_html_()
    shown = estimator.fit(pd.DataFrame(X, columns=[f"<blink>{a}" for a in range(20)]))._repr_html_()
    assert "3 clusters of 12, 10, 8 samples" in shown
    assert "&lt;blink&gt;" in shown.split("<details>")[0]
    assert "<blink>" not in shown
