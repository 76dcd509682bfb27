"""The report in a real browser: curves over k and m, the core, samples in no cluster, and alternatives."""

import re

import pytest

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.helpers.browser import page as page
from tests.helpers.report import HOSTILE, as_shown, result

GRAY = "#8c8c8c"


def read(text, parameter, criterion):
    found = re.fullmatch(rf"{parameter} = (\S+): {re.escape(criterion)} (\S+)", text)
    return [float(each.replace(",", "")) for each in found.groups()]


# ---------------------------------------------------------------- curves


def test_the_curve_over_the_number_of_clusters_has_a_tick_and_a_mark_at_each(page):
    shown, curve = page("clusters chosen"), result("clusters chosen")["curves"]["clusters"]
    assert "How the number of clusters was chosen" in shown.texts("h2")
    texts = shown.texts("#curve-clusters text")
    assert [text for text in texts if text in ("2", "3", "4", "5")] == ["2", "3", "4", "5"]
    assert texts[-2:] == ["number of clusters k", "Bayesian information criterion"]
    assert len(shown.all("#curve-clusters .value")) == 4
    assert shown.all("#curve-clusters .band, #curve-clusters .required") == []
    points = list(zip(curve["values"], curve["score"], strict=True))
    told = shown.one("#curve-clusters-read")
    assert read(told.text, "k", curve["titles"][1]) == pytest.approx(points[curve["values"].index(3)], rel=5e-3)
    shown.js("arguments[0].focus({preventScroll: true})", shown.one("#curve-clusters svg"))
    for key, k in ((Keys.ARROW_RIGHT, 4), (Keys.ARROW_RIGHT, 5), (Keys.ARROW_RIGHT, 5), (Keys.ARROW_LEFT, 4)):
        ActionChains(shown.driver).send_keys(key).perform()
        assert read(told.text, "k", curve["titles"][1]) == pytest.approx(points[k - 2], rel=5e-3)


def test_a_number_of_clusters_that_is_out_of_the_question_is_not_drawn(page):
    shown, told = page("a number out of the question"), result("a number out of the question")
    assert told["curves"]["clusters"]["values"] == [2, 3, 4, 5]
    assert len(shown.all("#curve-clusters .value")) == 3
    texts = shown.texts("#curve-clusters text")
    assert [text for text in texts if text in ("2", "3", "4", "5")] == ["2", "3", "4"]
    assert shown.one("#curve-clusters-read").text.startswith("k = 3: ")


def test_the_curve_of_the_core_is_above_the_line_where_it_was_chosen(page):
    shown, curve = page("tuned"), result("tuned")["curves"]["core"]
    spot, line = shown.one("#curve-core .spot"), shown.one("#curve-core .required")
    height = float(re.match(r"M[\d.]+,([\d.]+)H", line.get_attribute("d"))[1])
    assert float(spot.get_attribute("cy")) <= height
    told = shown.one("#curve-core-read").text
    assert read(told, "m", "agreement (adjusted Rand index)") == pytest.approx(
        [curve["chosen"], curve["best"]], rel=5e-3
    )


def test_a_core_that_was_tried_at_one_size_has_no_curve_but_is_told(page):
    shown, curve = page("two ways"), result("two ways")["curves"]["core"]
    assert curve["values"] == [1]
    assert shown.all("#curve-core svg") == []
    assert shown.one("#curve-core-read").text == "m = 1: agreement (adjusted Rand index) 1"


def test_the_core_is_listed_in_the_order_of_scores_and_marked_in_the_table(page):
    shown, told = page("tuned"), result("tuned")
    listed = [row["name"] for row in told["core"]["rows"]]
    assert 1 < len(listed) < told["n_chosen"]
    assert shown.texts(".core bdi") == listed
    assert shown.texts("#features th")[:4] == ["feature", "chosen", "core", "score"]
    marked = [
        name
        for name, core in zip(shown.column("features", 1), shown.column("features", 3), strict=True)
        if core == "yes"
    ]
    assert marked == listed
    assert f"core features{len(listed)}" in shown.texts(".tiles li")


# ---------------------------------------------------------------- samples in no cluster


def test_samples_in_no_cluster_are_a_gray_group_with_a_button(page):
    shown, told = page("two ways"), result("two ways")
    buttons = shown.all("#projection button")
    assert [each.text for each in buttons] == [
        *(f"cluster {c} ({size})" for c, size in enumerate(told["sizes"])),
        "no cluster (3)",
    ]
    buttons[-1].click()
    assert [each.get_attribute("aria-pressed") for each in buttons] == ["false", "false", "true"]
    dim = shown.js("return [...document.querySelectorAll('.dot')].map((e) => e.classList.contains('dim'))")
    assert dim == [c != -1 for c in told["projection"]["clusters"]] * 2
    fills = shown.js("return [...document.querySelectorAll('.dot:not(.dim)')].map((e) => e.getAttribute('fill'))")
    assert fills == [GRAY] * 6
    buttons[-1].click()
    assert not shown.all(".dot.dim")


def test_the_heatmap_has_them_last_and_tells_that_they_are_in_no_cluster(page):
    shown, drawn = page("two ways"), result("two ways")["heatmap"]
    assert [sample["cluster"] for sample in drawn["samples"]][-3:] == [-1] * 3
    strip = shown.all("#heatmap .beside div")
    assert [each.text for each in strip] == ["cluster 0", "cluster 1", ""]
    assert strip[-1].get_attribute("title") == "no cluster"
    rows, columns = len(drawn["samples"]), len(drawn["features"])
    shown.point_at(shown.one("#heatmap canvas"), 0.5 / columns, (rows - 0.5) / rows)
    assert shown.tip().startswith(f"{drawn['samples'][-1]['id']}, no cluster, ")


def test_samples_in_no_cluster_have_a_table_and_are_in_the_table_of_samples(page):
    shown, told = page("two ways"), result("two ways")
    assert shown.texts("#outliers th") == ["sample", "outlier score", "nearest cluster"]
    assert shown.column("outliers", 1) == as_shown(row["id"] for row in told["outliers"]["rows"])
    assert shown.texts("#samples th")[-1] == "outlier score"
    shown.one("#samples input").send_keys("none")
    assert set(shown.column("samples", 1)) == {row["id"] for row in told["outliers"]["rows"]}
    assert shown.column("samples", 2) == ["none"] * 3
    shown.one("#samples input").send_keys(Keys.BACKSPACE * 10)
    shown.all("#samples th button")[-1].click()
    assert shown.column("samples", 1)[:3] == [row["id"] for row in told["outliers"]["rows"]]


# ---------------------------------------------------------------- alternatives


def test_alternatives_stand_beside_this_clustering_with_what_they_are_made_of(page):
    shown, told = page("two ways"), result("two ways")["clusterings"]
    assert len(told) > 1
    assert shown.texts("#clusterings h3") == ["This clustering", *(f"Alternative {i}" for i in range(len(told) - 1))]
    boxes = shown.all("#clusterings > div")
    # Side by side, not below each other.
    assert boxes[0].rect["y"] == boxes[1].rect["y"]
    for i, (box, each) in enumerate(zip(boxes, told, strict=True)):
        words = box.text
        assert f"2 clusters of {each['sizes'][0]}, {each['sizes'][1]} samples, 3 in none" in words
        assert f"{each['n_chosen']} features, " in words
        assert (f"{each['n_core']} core feature" in words) == (each["n_core"] is not None)
        assert f"(adjusted Rand index): {each['agreement']:.2f}".replace("-0.00", "0.00") in words or not i
        assert len(box.find_elements("css selector", "svg .mark")) == 60 + 2
        for rows in each["profiles"]:
            assert all(f"{row['name']}: {row['words']}" in words for row in rows)
        cells = [int(cell.text) for cell in box.find_elements("css selector", ".cross td.number")]
        assert cells == ([count for row in each["cross"] for count in row] if i else [])


def test_pointing_at_a_sample_of_an_alternative_tells_its_cluster_there(page):
    shown, told = page("two ways"), result("two ways")
    svg = shown.all("#clusterings > div > svg")[1]
    shown.js("arguments[0].scrollIntoView({block: 'center'})", svg)
    free = shown.js(
        """return [...arguments[0].querySelectorAll(".mark")].map((dot, i) => {
        const box = dot.getBoundingClientRect(), at = [box.x + box.width / 2, box.y + box.height / 2];
        return document.elementFromPoint(...at) === dot ? i : -1;
    }).filter((i) => i >= 0)""",
        svg,
    )
    for i in free[:: len(free) // 3]:
        shown.point_at(svg.find_elements("css selector", ".mark")[i])
        assert shown.tip() == f"{told['projection']['samples'][i]}: cluster {told['clusterings'][1]['clusters'][i]}"


def test_results_without_these_parts_have_no_sections_for_them(page):
    shown = page("size given")
    heads = shown.texts("h2")
    assert not {"Samples in no cluster", "How the number of clusters was chosen"} & set(heads)
    links = shown.js("return [...document.querySelectorAll('nav a')].map((e) => e.getAttribute('href').slice(1))")
    assert links == shown.js("return [...document.querySelectorAll('main > section > h2[id]')].map((e) => e.id)")


# ---------------------------------------------------------------- hostile names


def test_hostile_names_are_only_text_in_the_new_parts(page):
    shown, told = page("hostile two ways"), result("hostile two ways")
    assert shown.js("return window.hacked") is None
    assert shown.texts(".core bdi") == as_shown(row["name"] for row in told["core"]["rows"])
    assert shown.column("outliers", 1) == as_shown(row["id"] for row in told["outliers"]["rows"])
    named = shown.texts("#clusterings bdi")
    expected = [
        name
        for each in told["clusterings"]
        for rows in (each["best"], *each["profiles"])
        for name in (row["name"] for row in rows)
    ]
    assert named == as_shown(expected)
    assert any(name.startswith(HOSTILE[0]) for name in named)
    assert not shown.all("img, main script, iframe, svg[onload]")
    for svg in shown.all("#clusterings > div > svg"):
        shown.point_at(svg, 0.4, 0.5)
    assert shown.js("return window.hacked") is None
