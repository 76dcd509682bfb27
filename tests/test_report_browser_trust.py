"""Whether the clustering can be trusted, as a real browser shows it."""

import re

import pytest

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")
from tests.helpers.browser import page as page
from tests.helpers.report import HOSTILE_SHOWN, result


def test_every_cluster_has_a_bar_as_long_as_it_is_stable(page):
    shown, told = page("groups"), result("groups")
    widths = [float(each.get_attribute("width")) for each in shown.all("#trust-bars rect")]
    assert widths == pytest.approx([206 * each["stability"] for each in told["assessment"]["clusters"]], abs=0.1)
    words = [f"cluster {c}: {each['verdict']}" for c, each in enumerate(told["assessment"]["clusters"])]
    assert shown.texts("#trust-bars text")[: len(words)] == words
    places = [float(re.match(r"M([\d.]+),", each.get_attribute("d"))[1]) for each in shown.all("#trust-bars .cut")]
    assert places == pytest.approx([142 + 206 * limit for limit in (0.5, 0.75)])
    shown.point_at(shown.one("#trust-bars rect"))
    assert shown.tip().startswith("cluster 0, 30 samples: stability ")


def test_pointing_at_the_consensus_tells_how_often_two_samples_are_together(page):
    shown, drawn = page("groups"), result("groups")["trust"]
    count = len(drawn["samples"])
    canvas = shown.one("#trust-consensus canvas")
    assert (int(canvas.get_attribute("width")), int(canvas.get_attribute("height"))) == (count, count)
    shown.point_at(canvas, 0.5 / count, (count - 0.5) / count)
    last, first = drawn["samples"][-1], drawn["samples"][0]
    told = f"{last['id']} (cluster {last['cluster']}) and {first['id']} (cluster {first['cluster']}): "
    share = drawn["together"][-1][0]
    often = "never in the same subsample" if share is None else f"together in {share} % of the subsamples"
    assert shown.tip() == told + often
    assert canvas.rect["width"] == pytest.approx(canvas.rect["height"], rel=0.05)


def test_the_surest_features_are_dots_with_ranges_and_ticks(page):
    shown, rows = page("groups"), result("groups")["trust"]["features"]
    for part in ("circle", ".range", ".often"):
        assert len(shown.all(f"#trust-surest {part}")) == len(rows)
    assert len(shown.all("#trust-surest .listed")) == sum(row["listed"] for row in rows) > 0
    shown.point_at(shown.all("#trust-surest rect")[0])
    assert shown.tip().startswith(f"{rows[0]['name']}: ")


def test_features_that_cannot_be_tested_have_ticks_only(page):
    shown = page("matrices")
    assert shown.all("#trust-surest circle") == []
    assert len(shown.all("#trust-surest .often")) == 8


def test_the_first_line_looks_like_a_warning_if_no_groups_are_shown(page):
    shown = page("no groups")
    first = shown.one("header p")
    assert first.text.startswith("No groups (k = 1): ")
    looks = [first.value_of_css_property(name) for name in ("border-left-style", "font-weight")]
    assert looks == ["solid", "700"]
    color = "return getComputedStyle(arguments[0]).color"
    assert shown.js(color, first) != shown.js(color, shown.all("header p")[1])


def test_the_picture_is_on_paper_as_well(page):
    shown = page("groups")
    shown.media("print")
    for part in ("#trust-bars rect", "#trust-consensus canvas", "#trust-surest circle"):
        assert shown.one(part).is_displayed()


def test_hostile_names_are_drawn_and_do_nothing(page):
    shown = page("hostile groups")
    names = set(shown.texts("#trust-surest text"))
    assert {name for name in HOSTILE_SHOWN if len(name) <= 20 and "\n" not in name} <= names
    assert shown.js("return window.hacked") is None
