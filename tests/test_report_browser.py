"""The report in a real browser, from a file and offline: it draws, answers to hand and keyboard, and is safe."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from sparsecluster.report._numbers import percent
from tests.helpers.browser import page as page
from tests.helpers.cases import in_turn
from tests.helpers.report import FRAME, HOSTILE_SHOWN, RESULTS, as_shown, result

# ---------------------------------------------------------------- every kind of result


@in_turn(kind=RESULTS, pixels=(1200, 375, 320))
def test_every_kind_of_result_is_drawn_no_wider_than_the_window_without_a_word_on_the_console(page, kind, pixels):
    shown, told = page(kind), result(kind)
    assert len(shown.all("#projection button")) == len(told["sizes"]) + (told["n_outliers"] > 0)
    has_columns = kind != "matrices"
    # If all features were chosen, one picture is enough.
    n_pictures = 1 if told["n_chosen"] == told["n_features"] else 2
    assert len(shown.all("#projection .dot")) == n_pictures * told["n_samples"] * has_columns
    assert len(shown.texts("#profiles h4")) == len(told["sizes"]) * has_columns
    assert shown.column("features", 1) == as_shown(row["name"] for row in told["features"]["rows"][:50])
    assert shown.column("samples", 1) == as_shown(row["id"] for row in told["samples"]["rows"][:50])
    assert len(shown.all("#heatmap canvas")) == has_columns
    undrawn = 4 + len(told["clusterings"])
    assert sum("no columns to draw" in text for text in shown.texts("main p")) == undrawn * (not has_columns)
    for name, curve in told["curves"].items():
        # One value makes no curve, but is told.
        count = 0 if curve is None else sum(score is not None for score in curve["score"])
        assert len(shown.all(f"#curve-{name} svg")) == (count > 1)
        assert [bool(text) for text in shown.texts(f"#curve-{name}-read")] == [True] * (count > 0)
    assert len(shown.all("#clusterings > div")) == len(told["clusterings"])
    # Also on a phone.
    shown.width(pixels)
    if has_columns:
        shown.drag(shown.one("#projection .pair svg"), (0.02, 0.02), (0.99, 0.9))
        assert "selected" in shown.one("#picked").text
    assert shown.js("return document.documentElement.scrollWidth") <= pixels


@pytest.mark.parametrize("kind", ["tuned", "twelve clusters", "hostile"])
def test_the_axes_have_a_few_round_numbers(page, kind):
    shown = page(kind)
    for svg in shown.all("#projection .pair svg"):
        ticks = shown.js("return [...arguments[0].querySelectorAll('text')].map((e) => e.textContent)", svg)[:-2]
        assert len(ticks) >= 4
        assert all(re.fullmatch(r"-?\d{1,3}(\.\d{1,2})?", tick) for tick in ticks), ticks


def test_what_a_method_does_not_have_is_not_shown(page):
    heads = {kind: page(kind).texts("#samples th") for kind in ("tuned", "hierarchical", "cosa", "spectral gem")}
    assert heads["tuned"] == ["sample", "cluster", "distance", "second best", "silhouette"]
    assert heads["hierarchical"] == heads["cosa"] == heads["spectral gem"] == ["sample", "cluster"]
    assert page("size given").texts("#curve-features, #h-size, #h-clusters, #h-outliers") == []
    assert "weight" not in page("size given").texts("#features th")
    assert "weight" in page("weights").texts("#features th")


@pytest.mark.parametrize("kind", ["tuned", "categories and missing values"])
def test_what_makes_a_cluster_is_listed(page, kind):
    shown, told = page(kind), result(kind)
    listed = [row for rows in told["profiles"]["clusters"] for row in rows]
    assert shown.texts("#profiles bdi") == [row["name"] for row in listed]
    assert shown.texts("#profiles li > div:not(.head)") == [row["words"] for row in listed]
    assert shown.texts("#profiles .quiet") == [f"explains {percent(row['explained'])}" for row in listed]


def test_every_cluster_has_the_mark_and_the_color_of_the_figures(page):
    shown, told = page("twelve clusters"), result("twelve clusters")
    looks = [(each["path"], each["color"]) for each in told["palette"]]
    assert len(set(looks)) == 12
    drawn = """return [...document.querySelectorAll(arguments[0])].map(
        (e) => [e.getAttribute('d'), e.getAttribute('fill')])"""
    assert [tuple(each) for each in shown.js(drawn, "#projection button path")] == looks
    assert [tuple(each) for each in shown.js(drawn, "#profiles h4 path")] == looks
    assert [tuple(each) for each in shown.js(drawn, ".dot")] == [looks[c] for c in told["projection"]["clusters"]] * 2
    # The strips have names or numbers, since colors repeat.
    names = shown.texts("#heatmap .beside div")
    assert [name.removeprefix("cluster ") for name in names] == [str(c) for c in range(12)]


def test_missing_values_are_gray_and_told(page):
    shown, drawn = page("categories and missing values"), result("categories and missing values")["heatmap"]
    i, j = next((i, j) for i, row in enumerate(drawn["values"]) for j, value in enumerate(row) if value is None)
    canvas = shown.one("#heatmap canvas")
    shown.point_at(canvas, (j + 0.5) / len(drawn["features"]), (i + 0.5) / len(drawn["values"]))
    assert shown.tip().endswith(f"{drawn['features'][j]}: missing")
    pixel = "return [...arguments[0].getContext('2d').getImageData(arguments[1], arguments[2], 1, 1).data]"
    color = shown.js(pixel, canvas, j, i)
    assert "#" + "".join(f"{part:02x}" for part in color[:3]) == drawn["missing"]
    assert "Missing values are gray." in shown.texts("#heatmap p")[0]
    assert "missing value" in shown.texts("#heatmap .key .entry")
    legend = shown.js("return getComputedStyle(document.querySelector('#heatmap .key i')).backgroundColor")
    assert [int(part) for part in re.findall(r"\d+", legend)] == color[:3]
    level = drawn["is_level"].index(True)
    i = next(i for i, row in enumerate(drawn["values"]) if row[level] is not None)
    shown.point_at(canvas, (level + 0.5) / len(drawn["features"]), (i + 0.5) / len(drawn["values"]))
    assert shown.tip().endswith(f"{drawn['features'][level]}: {'yes' if drawn['values'][i][level] > 0 else 'no'}")


# ---------------------------------------------------------------- tables


def as_numbers(cells):
    return [0.0 if cell == "under 0.001" else float(cell) for cell in cells if cell]


def test_the_table_of_features_is_sorted_by_a_press_on_a_head_and_turned_by_another(page):
    shown, rows = page("tuned"), result("tuned")["features"]["rows"]
    by_name, _, _, by_score = shown.all("#features th button")[:4]
    ways = []
    for button in (by_score, by_score, by_name, by_name):
        button.click()
        sorts = [each.get_attribute("aria-sort") for each in shown.all("#features th")]
        assert sum(each is not None for each in sorts) == 1
        ways.append((next(filter(None, sorts)), shown.column("features", 1), as_numbers(shown.column("features", 4))))
    scores = sorted(row["score"] for row in rows)
    assert [way for way, *_ in ways] == ["descending", "ascending", "ascending", "descending"]
    # Scores have three digits after the point.
    assert ways[0][2] == pytest.approx(scores[::-1][:50], abs=0.001)
    assert ways[1][2] == pytest.approx(scores[:50], abs=0.001)
    names = sorted(row["name"] for row in rows)
    assert ways[2][1] == names[:50]
    assert ways[3][1] == names[::-1][:50]


def test_the_table_of_features_is_searched_and_paged(page):
    shown = page("tuned")
    back, on = shown.all("#features .bar button")
    assert "120 features, page 1 of 3" in shown.texts("#features .bar")[0]
    assert not back.is_enabled()
    seen = shown.column("features", 1)
    for number in (2, 3):
        on.click()
        assert f"page {number} of 3" in shown.texts("#features .bar")[0]
        seen += shown.column("features", 1)
    assert sorted(seen) == sorted(FRAME.columns)
    assert not on.is_enabled()
    back.click()
    assert "page 2 of 3" in shown.texts("#features .bar")[0]
    search = shown.one("#features input")
    search.send_keys("GENE 11")
    assert sorted(shown.column("features", 1)) == sorted(["gene 11", *(f"gene 11{a}" for a in range(10))])
    assert not on.is_displayed()
    search.send_keys("zzz")
    assert shown.column("features", 1) == []
    assert "0 features" in shown.texts("#features .bar")[0]
    search.send_keys(Keys.BACKSPACE * 10)
    assert len(shown.column("features", 1)) == 50


def test_the_table_of_samples_is_sorted_searched_and_paged(page):
    shown, rows = page("tuned"), result("tuned")["samples"]["rows"]
    shown.all("#samples th button")[-1].click()
    silhouettes = sorted((row["silhouette"] for row in rows), reverse=True)
    assert as_numbers(shown.column("samples", 5)) == pytest.approx(silhouettes[:50], abs=0.001)
    shown.all("#samples .bar button")[1].click()
    assert as_numbers(shown.column("samples", 5)) == pytest.approx(silhouettes[50:], abs=0.001)
    shown.one("#samples input").send_keys("patient-7")
    assert set(shown.column("samples", 1)) == {"patient-7", *(f"patient-7{i}" for i in range(10))}


# ---------------------------------------------------------------- pointing


def test_pointing_at_a_sample_tells_its_name_and_cluster(page):
    shown, told = page("tuned"), result("tuned")["projection"]
    shown.js("document.querySelector('#projection .pair svg').scrollIntoView({block: 'center'})")
    # Those that no other covers, not even a pixel beside their center: the pointer is at whole pixels.
    free = shown.js("""return [...document.querySelectorAll(".dot")].slice(0, 90).map((dot, i) => {
        const box = dot.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
        const near = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]];
        return near.every(([right, down]) => document.elementFromPoint(x + right, y + down) === dot) ? i : -1;
    }).filter((i) => i >= 0)""")
    for i in free[:: len(free) // 4]:
        shown.point_at(shown.all("#projection .dot")[i])
        assert shown.tip() == f"{told['samples'][i]}: cluster {told['clusters'][i]}"
    shown.point_at(shown.one("h1"))
    assert shown.tip() is None


def test_pointing_at_the_heatmap_tells_sample_feature_and_value(page):
    shown, drawn = page("tuned"), result("tuned")["heatmap"]
    canvas, rows, columns = shown.one("#heatmap canvas"), len(drawn["samples"]), len(drawn["features"])
    for i, j in ((0, 0), (44, 7), (rows - 1, columns - 1)):
        shown.point_at(canvas, (j + 0.5) / columns, (i + 0.5) / rows)
        sample = drawn["samples"][i]
        value = f"{drawn['features'][j]}: {drawn['values'][i][j] / 10:.1f} sd"
        assert shown.tip() == f"{sample['id']}, cluster {sample['cluster']}, {value}"


def read_gap(text):
    found = re.fullmatch(r"s = (\S+): gap statistic (\S+), standard error (\S+)", text)
    return [float(each) for each in found.groups()]


def test_pointing_at_the_gap_curve_reads_it_and_so_do_the_arrow_keys(page):
    shown, gap = page("tuned"), result("tuned")["curves"]["features"]
    svg, points = shown.one("#curve-features svg"), list(zip(gap["values"], gap["score"], gap["error"], strict=True))
    at, read = gap["values"].index(gap["chosen"]), "#curve-features-read"
    assert read_gap(shown.one(read).text) == pytest.approx(points[at], rel=5e-3)
    for i in (0, 3, len(points) - 1):
        shown.point_at(svg, (64 + 636 * np.log(points[i][0]) / np.log(120)) / 720)
        assert shown.tip() == shown.one(read).text
        assert read_gap(shown.tip()) == pytest.approx(points[i], rel=5e-3)
    shown.point_at(shown.one("h1"))
    shown.js("arguments[0].focus({preventScroll: true})", svg)
    for key, i in ((Keys.ARROW_RIGHT, -1), (Keys.ARROW_LEFT, -2), (Keys.ARROW_LEFT, -3), (Keys.ARROW_RIGHT, -2)):
        ActionChains(shown.driver).send_keys(key).perform()
        assert read_gap(shown.one(read).text) == pytest.approx(points[i], rel=5e-3)


def test_a_rectangle_selects_the_samples_in_it_in_both_pictures_and_a_click_lets_them_go(page):
    shown, told = page("tuned"), result("tuned")["projection"]
    svg = shown.one("#projection .pair svg")
    shown.drag(svg, (0.02, 0.02), (0.99, 0.9))
    assert shown.one("#picked").text.startswith("90 selected: patient-0, patient-1,")
    x = told["chosen"]["x"]
    left, low, high = min(range(90), key=x.__getitem__), min(x), max(x)
    # From the edge to between the groups on the left and in the middle.
    third = (52 + (low * 0.55 - low) / (high - low) * 332) / 400
    shown.drag(svg, (0.05, 0.02), (third, 0.9))
    inside = [i for i in range(90) if told["clusters"][i] == told["clusters"][left]]
    assert shown.one("#picked").text.startswith(f"{len(inside)} selected: {told['samples'][inside[0]]}, ")
    dim = shown.js("return [...document.querySelectorAll('.dot')].map((e) => e.classList.contains('dim'))")
    assert [i for i, each in enumerate(dim[:90]) if not each] == inside
    assert dim[90:] == dim[:90]
    shown.point_at(svg, 0.5, 0.97)
    ActionChains(shown.driver).click().perform()
    assert shown.one("#picked").text == ""
    assert not shown.all(".dot.dim")


def test_a_rectangle_that_is_let_go_outside_of_the_picture_is_done(page):
    shown = page("tuned")
    svg = shown.one("#projection .pair svg")
    shown.point_at(svg, 0.3, 0.1)
    ActionChains(shown.driver, duration=30).click_and_hold().move_by_offset(0, -120).release().perform()
    shown.point_at(svg, 0.6, 0.6)
    assert {each.get_attribute("visibility") for each in shown.all("rect[stroke-dasharray]")} == {"hidden"}


def test_a_button_shows_one_cluster_and_lets_go_of_it(page):
    shown, clusters = page("tuned"), result("tuned")["projection"]["clusters"]
    buttons = shown.all("#projection button")
    for pressed in (1, 2):
        buttons[pressed].click()
        assert [each.get_attribute("aria-pressed") == "true" for each in buttons] == [c == pressed for c in range(3)]
        dim = shown.js("return [...document.querySelectorAll('.dot')].map((e) => e.classList.contains('dim'))")
        assert dim == [c != pressed for c in clusters] * 2
    buttons[2].click()
    assert {each.get_attribute("aria-pressed") for each in buttons} == {"false"}
    assert not shown.all(".dot.dim")


# ---------------------------------------------------------------- hostile names and the network


def test_hostile_names_are_shown_and_do_nothing(page):
    shown = page("hostile")
    names = [*HOSTILE_SHOWN, "level"]
    assert shown.js("return window.hacked") is None
    assert shown.texts("h1") == [HOSTILE_SHOWN[2]]
    assert shown.driver.title == HOSTILE_SHOWN[2]
    assert shown.texts("[aria-labelledby=h-notes] li") == HOSTILE_SHOWN
    assert HOSTILE_SHOWN[1] in shown.texts("pre")
    assert set(shown.column("features", 1)) == set(names)
    assert shown.column("samples", 1)[:12] == HOSTILE_SHOWN
    assert set(HOSTILE_SHOWN[:3]) <= set(shown.texts("#features td"))
    assert not shown.all("img, main script, iframe, svg[onload]")
    for c in (4, 5, 6):
        shown.all("#features th button")[c - 1].click()
    shown.one("#features input").send_keys("<script>alert(1)")
    assert HOSTILE_SHOWN[0] in shown.column("features", 1)
    shown.drag(shown.one("#projection .pair svg"), (0.02, 0.02), (0.99, 0.9))
    assert HOSTILE_SHOWN[0] in shown.js("return document.getElementById('picked').textContent")
    drawn = result("hostile")["heatmap"]
    shown.point_at(shown.one("#heatmap canvas"), 0.5 / len(drawn["features"]), 0.5 / 90)
    assert drawn["samples"][0]["id"] in shown.js("return document.getElementById('tip').textContent")
    assert shown.js("return window.hacked") is None


def test_a_name_that_turns_the_direction_of_text_turns_only_itself(page):
    shown = page("hostile")
    ends = shown.js("""const place = document.querySelector("#profiles"), found = [];
        const list = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
        for (let node = list.nextNode(); node; node = list.nextNode()) {
          const at = node.data.indexOf("explains"), left = (i) => {
            const range = document.createRange();
            range.setStart(node, i);
            range.setEnd(node, i + 1);
            return range.getBoundingClientRect().left;
          };
          if (at >= 0) found.push([left(at), left(at + 2), node.parentElement.closest("li").textContent]);
        }
        return found;""")
    assert any(HOSTILE_SHOWN[7] in text for *_, text in ends)
    assert [text for first, third, text in ends if not first < third] == []


def test_only_the_script_of_the_page_is_run(page):
    shown = page("hostile")
    # As if a name had been written into the page without escaping.
    shown.js("""const script = document.createElement("script");
        script.textContent = "window.hacked = 1";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<svg onload='window.hacked = 2'></svg>");
        document.body.insertAdjacentHTML("beforeend", "<a id='bad' href='javascript:window.hacked = 3'>x</a>");
        document.getElementById("bad").click();""")
    assert shown.js("return window.hacked") is None
    assert len(shown.driver.get_log("browser")) >= 2


def test_nothing_is_loaded_and_nothing_could_be(page):
    hits = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        shown = page("hostile")
        assert shown.js("return performance.getEntriesByType('resource').map((each) => each.name)") == []
        # Even a script in the page could not call home.
        code = """const [at, done] = arguments;
            let refused = 0;
            document.addEventListener("securitypolicyviolation", () => { if (++refused === 5) done(); });
            new Image().src = at + "/image";
            for (const [tag, key] of [["script", "src"], ["iframe", "src"], ["link", "href"]]) {
              const node = document.createElement(tag); node.rel = "stylesheet"; node[key] = at + "/" + tag;
              document.body.append(node);
            }
            fetch(at + "/fetch").catch(() => {});"""
        shown.driver.execute_async_script(code, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert hits == []
    told = [each["message"] for each in shown.driver.get_log("browser")]
    assert len(told) >= 5
    assert all("Content Security Policy" in each for each in told)
