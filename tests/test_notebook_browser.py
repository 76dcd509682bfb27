"""The result of a fit in a notebook, drawn by a real browser on a light and on a dark page."""

import pytest

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the page is tried in a browser by selenium: pip install selenium")
import pandas as pd

from sparsecluster import SASClustering
from tests.helpers.methods import CORNERS
from tests.helpers.report import HOSTILE, Shown

THEMES = {"light": ("rgb(255, 255, 255)", "rgb(33, 33, 33)"), "dark": ("rgb(17, 17, 17)", "rgb(224, 224, 224)")}
OURS = ".sparsecluster-fit"


@pytest.fixture(scope="module")
def html():
    names = [*HOSTILE, *(f"x{a}" for a in range(40 - len(HOSTILE)))]
    return SASClustering(3, n_features_to_select=12).fit(pd.DataFrame(CORNERS, columns=names))._repr_html_()


@pytest.fixture(params=THEMES)
def shown(request, driver, html, tmp_path):
    """The result on a page in the colors of a notebook."""
    background, text = THEMES[request.param]
    file = tmp_path / "notebook.html"
    style = f"background:{background};color:{text}"
    file.write_text(f"<!doctype html><meta charset=utf-8><body style='{style}'>{html}", encoding="utf-8")
    driver.get(file.as_uri())
    return Shown(driver), background, text


def test_text_has_the_color_of_the_notebook_and_is_on_its_background(shown):
    page, _, text = shown
    colors = "return [...document.querySelectorAll(arguments[0])].map(e => getComputedStyle(e)[arguments[1]])"
    assert set(page.js(colors, f"{OURS}, {OURS} *", "color")) == {text}
    assert set(page.js(colors, f"{OURS}, {OURS} *", "backgroundColor")) == {"rgba(0, 0, 0, 0)"}


def test_bars_are_as_long_as_clusters_are_large(shown):
    page, *_ = shown
    widths = page.js(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().width)",
        f"{OURS} section:first-child svg rect:last-child",
    )
    assert [width / widths[0] for width in widths] == pytest.approx([1.0, 15 / 20, 10 / 20], abs=1e-2)


def test_names_are_only_text(shown):
    page, *_ = shown
    assert page.js("return [window.hacked, document.querySelectorAll('.sparsecluster-fit script, img').length]") == [
        None,
        0,
    ]
    assert any("<script>alert(1)" in text or "<svg onload" in text for text in page.texts(f"{OURS} span"))


def test_parameters_appear_when_they_are_asked_for(shown):
    page, *_ = shown
    is_visible = "return document.querySelector('.sk-top-container').checkVisibility()"
    assert not page.js(is_visible)
    page.one(f"{OURS} + details > summary").click()
    assert page.js(is_visible)


def test_the_result_fits_into_a_narrow_notebook(shown):
    page, *_ = shown
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        assert page.js("return document.documentElement.scrollWidth") <= 420
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
