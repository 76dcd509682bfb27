"""The report in a real browser by daylight, in the dark, on paper and when it is large."""

import re

import pytest

from sparsecluster import SASClustering, write_report
from sparsecluster.datasets import shifted_groups

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")

from tests.helpers.browser import page as page


def luminance(color):
    parts = [int(each) / 255 for each in re.findall(r"\d+", color)[:3]]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_the_light_and_in_the_dark(page, scheme):
    shown = page("hostile")
    shown.media(prefers_color_scheme=scheme)
    pairs = shown.js("""const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        return [...document.querySelectorAll("body *:not(script)")].filter(own).map((e) => {
          let under = e;
          while (getComputedStyle(under).backgroundColor === "rgba(0, 0, 0, 0)") under = under.parentElement;
          const style = getComputedStyle(e), ink = e.tagName === "text" ? style.fill : style.color;
          return [ink, getComputedStyle(under).backgroundColor, e.tagName];
        })""")
    assert {"P", "TD", "A", "BUTTON", "LI", "text", "PRE", "H1"} <= {tag for *_, tag in pairs}
    assert min(contrast(ink, paper) for ink, paper, _ in pairs) >= 4.5
    assert (luminance(shown.one("body").value_of_css_property("background-color")) < 0.1) == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_is_white_and_has_no_buttons(page, scheme):
    shown = page("tuned")
    shown.media("print", prefers_color_scheme=scheme)
    assert not any(each.is_displayed() for each in shown.all("nav, .bar input, .bar button:not(.legend), #tip"))
    # The buttons of clusters are the legend.
    assert all(each.is_displayed() for each in shown.all("#projection .legend"))
    assert shown.one("#projection .pair svg").is_displayed()
    assert luminance(shown.one("body").value_of_css_property("background-color")) == 1
    assert luminance(shown.one(".lead").value_of_css_property("color")) == 0


# ---------------------------------------------------------------- large


def test_twenty_thousand_features_make_a_page_of_a_few_megabytes_that_opens(driver, tmp_path):
    table = shifted_groups(mu=2.0, n_features=20_000, group_size=34, seed=0).X[:100]
    file = tmp_path / "large.html"
    write_report(SASClustering(3, n_features_to_select=50, n_init=1).fit(table), table, file)
    assert file.stat().st_size < 8e6
    driver.get(file.as_uri())
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert driver.get_log("browser") == []


def test_fifty_thousand_samples_are_thinned_and_the_page_is_small_and_ready_at_once(driver, tmp_path):
    table = shifted_groups(mu=2.0, n_features=8, n_useful=8, group_size=16_667, seed=0).X[:50_000]
    file = tmp_path / "many.html"
    write_report(SASClustering(3, n_features_to_select=6, n_init=1).fit(table), table, file)
    assert file.stat().st_size < 5e6
    driver.get(file.as_uri())
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert driver.execute_script("return performance.timing.domComplete - performance.timing.responseEnd") < 2000
    text = driver.execute_script("return document.querySelector('main').textContent.replace(/\\s+/g, ' ')")
    told = re.findall(r"Only ([\d,]+) of the 50,000 samples are (drawn|listed)", text)
    assert [what for _, what in told] == ["drawn", "drawn", "listed"]
    counts = [int(count.replace(",", "")) for count, _ in told]
    # As many as possible with the same share of every cluster.
    assert counts == pytest.approx([2000, 300, 2000], abs=2)
    assert driver.get_log("browser") == []
