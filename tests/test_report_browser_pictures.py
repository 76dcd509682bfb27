"""The pictures of features and true groups as a real browser draws them, also on small screens and paper."""

import re

import pytest

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")

from tests.helpers.browser import page as page
from tests.helpers.report import HOSTILE_SHOWN, result

FIRST = 9
TEXTS = "return [...arguments[0].querySelectorAll('text')].map((e) => e.textContent)"


def drawn(kind):
    told = result(kind)["distributions"]
    return told["features"][: told["n_first"]]


# ---------------------------------------------------------------- distributions


@pytest.mark.parametrize("kind", ["tuned", "dates", "categories and missing values", "different levels"])
def test_every_feature_has_a_picture_with_a_row_for_each_cluster(page, kind):
    shown, features, k = page(kind), drawn(kind), len(result(kind)["sizes"])
    assert shown.texts("#distributions figcaption bdi") == [each["name"] for each in features]
    pictures = shown.all("#distributions svg")
    assert len(pictures) == len(features)
    for svg, each in zip(pictures, features, strict=True):
        count = "return arguments[0].querySelectorAll(arguments[1]).length"
        assert shown.js(count, svg, ".mark") == k
        assert svg.get_attribute("role") == "img"
        assert all(words in svg.get_attribute("aria-label") for words in each["words"])
        if each["kind"] == "level":
            assert shown.js(count, svg, "rect.own") == k * len(each["levels"])
        else:
            assert shown.js(count, svg, "path.own, path.points") == k
            assert shown.js(count, svg, ".center") == k


def test_the_kinds_of_features_are_drawn_on_their_own_axes(page):
    shown = page("dates")
    texts = {
        each["name"]: shown.js("return [...arguments[0].querySelectorAll('text')].map((e) => e.textContent)", svg)
        for each, svg in zip(drawn("dates"), shown.all("#distributions svg"), strict=True)
    }
    assert sum(bool(re.fullmatch(r"2020-\d\d-\d\d", text)) for text in texts["visit"]) == 2 + 2
    assert {"yes", "no"} <= set(texts["smoker"])
    assert {"30,000", "50,000", "70,000"} <= set(texts["income"])


def test_bars_of_levels_are_as_high_as_their_shares(page):
    shown, features = page("dates"), drawn("dates")
    at = next(i for i, each in enumerate(features) if each["name"] == "smoker")
    heights = shown.js(
        "return [...arguments[0].querySelectorAll('rect.own')].map((e) => +e.getAttribute('height'))",
        shown.all("#distributions svg")[at],
    )
    counts = [count / sum(row) for row in features[at]["counts"] for count in row]
    assert heights == pytest.approx([25 * share for share in counts])


def test_more_features_are_shown_on_request_with_the_keyboard_too(page):
    shown, features = page("tuned"), drawn("tuned")
    more = shown.one("#distributions details")
    figures = shown.all("#distributions figure")
    assert [each.is_displayed() for each in figures] == [i < FIRST for i in range(len(features))]
    summary = shown.one("#distributions summary")
    assert summary.text == f"Show {len(features) - FIRST} more features"
    shown.js("arguments[0].focus()", summary)
    summary.send_keys("\n")
    assert more.get_attribute("open") is not None
    assert all(each.is_displayed() for each in figures)


def test_pointing_at_a_row_tells_the_cluster_and_its_center(page):
    shown, first = page("tuned"), drawn("tuned")[0]
    svg = shown.one("#distributions svg")
    shown.point_at(svg, 0.5, 0.15)
    assert shown.tip() == f"cluster 0, 30 samples: {first['words'][0]}"


def test_a_cluster_is_drawn_in_its_color_before_the_others_in_gray(page):
    shown, told = page("dates"), result("dates")
    colors = shown.js(
        """return [...document.querySelectorAll('#profiles > div')].map((card) =>
            [...new Set([...card.querySelectorAll('.sketch .own')].map((each) => each.getAttribute('fill')))])"""
    )
    assert colors == [[each["color"]] for each in told["palette"]]
    assert len(shown.all("#profiles .sketch")) == sum(map(len, told["profiles"]["clusters"]))
    assert shown.js(
        "return [...document.querySelectorAll('#profiles .sketch')].every((e) => e.querySelector('.others'))"
    )


# ---------------------------------------------------------------- true groups


def test_the_cross_table_is_drawn_and_adds_up(page):
    shown, told = page("true groups"), result("true groups")["truth"]
    assert shown.texts("#truth tbody th") == told["groups"]
    cells = shown.js(
        "return [...document.querySelectorAll('#truth tbody td')].map((e) => parseInt(e.firstChild.textContent))"
    )
    rows = [cells[i : i + 4] for i in range(0, len(cells), 4)]
    assert [row[:3] for row in rows] == told["counts"]
    assert [row[3] for row in rows] == [sum(row) for row in told["counts"]]
    assert sum(row[3] for row in rows) == 90
    shares = shown.texts("#truth .share")
    assert shares == [f"{100 * n / 30:.0f}\N{NO-BREAK SPACE}%" for row in told["counts"] for n in row if n]
    strongest = """return [...document.querySelectorAll('#truth td:not(.total)')].map(
        (e) => +e.style.getPropertyValue('--share'))"""
    assert shown.js(strongest) == pytest.approx([45 * n / 30 for row in told["counts"] for n in row], abs=0.5)


# ---------------------------------------------------------------- extremes


@pytest.mark.parametrize(("kind", "count"), [("twelve clusters", 12), ("twenty-five clusters", 25)])
def test_many_clusters_have_different_pairs_of_color_and_mark_and_a_number(page, kind, count):
    shown = page(kind)
    looks = """return [...document.querySelector(arguments[0]).querySelectorAll('.mark')].map(
        (e) => e.getAttribute('d') + e.getAttribute('fill'))"""
    assert len(set(shown.js(looks, "#distributions svg"))) == count
    labels = shown.js(TEXTS, shown.one("#distributions svg"))
    assert [text for text in labels if text in map(str, range(count))][-count:] == [str(c) for c in range(count)]
    assert [text.split(" (")[0] for text in shown.texts("#projection button")] == [f"cluster {c}" for c in range(count)]


@pytest.mark.parametrize("kind", ["one feature", "a single column"])
def test_one_feature_has_one_axis_with_the_clusters_in_rows(page, kind):
    shown, told = page(kind), result(kind)
    svg = shown.one("#projection .pair svg")
    texts = shown.js("return [...arguments[0].querySelectorAll('text')].map((e) => e.textContent)", svg)
    assert texts[-2:] == ["difference from the mean", "cluster"]
    assert not any("second component" in text for text in texts)
    assert texts[-4:-2] == ["0", "1"]
    dots = """return [...arguments[0].querySelectorAll('.dot')].map(
        (e) => +e.getAttribute('transform').match(/ ([\\d.]+)\\)/)[1])"""
    places = shown.js(dots, svg)
    rows = [[y for y, c in zip(places, told["projection"]["clusters"], strict=True) if c == own] for own in (0, 1)]
    assert max(rows[0]) < min(rows[1])
    assert len(shown.all("#projection .pair svg")) == (1 if kind == "a single column" else 2)


def test_names_of_samples_and_features_stand_beside_the_heatmap(page):
    shown, told = page("tuned"), result("tuned")["heatmap"]
    assert shown.texts("#heatmap .below span") == told["features"]
    beside = [name for name in shown.texts("#heatmap .right span") if name]
    assert len(beside) >= 40
    assert set(beside) <= {sample["id"] for sample in told["samples"]}
    assert shown.texts("#heatmap .beside div") == ["cluster 0", "cluster 1", "cluster 2"]
    assert shown.texts("#heatmap .shades span:not(.gradient)") == ["−2.5 sd or less", "mean", "+2.5 sd or more"]
    assert "missing value" not in shown.texts("#heatmap .key .entry")


SMALLEST = """const seen = (e) => e.getClientRects().length && e.textContent;
  return [...document.querySelectorAll("svg text")].filter(seen).map((e) => {
    const svg = e.ownerSVGElement, scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [scale * parseFloat(getComputedStyle(e).fontSize), e.textContent];
})"""


@pytest.mark.parametrize("kind", ["tuned", "groups", "dates", "twenty-five clusters", "two ways", "long names"])
@pytest.mark.parametrize("width", [1280, 390])
def test_text_in_pictures_is_large_enough_and_the_page_does_not_scroll_sideways(page, kind, width):
    shown = page(kind)
    shown.width(width)
    assert shown.js("return document.documentElement.scrollWidth") <= width
    assert [text for size, text in shown.js(SMALLEST) if size < 9] == []


@pytest.mark.parametrize("kind", ["tuned", "dates", "two ways", "long names", "twenty-five clusters"])
def test_on_paper_nothing_is_hidden_or_cut_off(page, kind):
    shown = page(kind)
    assert shown.all("details:not([open])")
    shown.media("print")
    shown.width(718)
    # The page hears of it before it is drawn next.
    shown.js("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown.js("return document.querySelectorAll('details:not([open])').length") == 0
    assert all(each.is_displayed() for each in shown.all("#distributions figure, #profiles .sketch, pre, dl, canvas"))
    cut = """return [...document.querySelectorAll(".scroll, pre, .heatmap.named, section")].filter((e) =>
        getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)"""
    assert shown.js(cut) == []
    assert shown.js("return document.documentElement.scrollWidth") <= 718
    shown.media()
    shown.js("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown.all("details:not([open])")


def test_hostile_names_are_only_text_in_the_pictures(page):
    shown = page("hostile")
    assert shown.js("return window.hacked") is None
    assert set(shown.texts("#distributions figcaption bdi")) <= {*HOSTILE_SHOWN, "level"}
    assert set(shown.texts("#heatmap .right span")) & set(HOSTILE_SHOWN)
    assert shown.texts("#truth") == []
    assert not shown.all("img, main script, iframe, svg[onload]")
    shown = page("true groups")
    assert "<b>three</b>" in shown.texts("#truth bdi")
    assert not shown.all("#truth b")


def test_every_picture_has_a_role_and_a_name(page):
    shown = page("dates")
    unnamed = """return [...document.querySelectorAll("main svg:not([aria-hidden]), main canvas")].filter((e) =>
        e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")).length"""
    assert shown.js(unnamed) == 0
