"""Chromium, and pages opened in it; skipped where there is none."""

from __future__ import annotations

import shutil

import pytest

from sparsecluster.report import report_page

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the report is tried in a browser by selenium: pip install selenium")
from selenium import webdriver

from tests.helpers.report import FLAGS, Shown, result


def started():
    """A browser without a window."""
    programs = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program, chauffeur = next(filter(None, programs), None), shutil.which("chromedriver")
    if program is None or chauffeur is None:
        pytest.skip("the report is tried in Chromium, and there is no chromium or no chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(chauffeur))
    made.set_page_load_timeout(200)
    made.set_script_timeout(200)
    return made


@pytest.fixture
def page(driver, tmp_path):
    """Opens a page from a file; it is ready, and nothing was said on the console, then and at the end of the test."""
    opened = []

    def open_(kind):
        file = tmp_path / "report.html"
        file.write_text(report_page(result(kind)), encoding="utf-8")
        driver.get_log("browser")
        driver.get(file.as_uri())
        opened.append(Shown(driver))
        assert opened[-1].js("return document.documentElement.dataset.ready") == "yes"
        # Pages that glide are not where they will be.
        opened[-1].js("document.documentElement.style.scrollBehavior = 'auto'")
        return opened[-1]

    yield open_
    for each in opened:
        each.media()
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert driver.get_log("browser") == []
