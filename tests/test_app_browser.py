"""The app in a real browser, from a dropped file to the downloaded results."""

import time
import zipfile

import pytest

from sparsecluster.datasets import shifted_groups
from tests.helpers.app import app as app
from tests.helpers.app import table_text, until

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the app is tried in a browser by selenium: pip install selenium")
import pandas as pd
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.helpers.browser import driver as driver
from tests.helpers.report import HOSTILE, Shown

DROP = """
const [name, text, target] = arguments;
const files = new DataTransfer();
files.items.add(new File([text], name, {type: "text/csv"}));
for (const kind of ["dragenter", "dragover", "drop"]) {
  const event = new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true});
  document.querySelector(target).dispatchEvent(event);
}
"""


class Page(Shown):
    """The page of the app."""

    def __init__(self, driver, app):
        super().__init__(driver)
        self.app = app

    def open(self):
        self.driver.get(self.app.address)
        until(lambda: self.js("return document.documentElement.dataset.ready") == "yes")

    def is_shown(self, name):
        return self.js("return document.getElementById(arguments[0]).offsetParent !== null", name)

    def text(self, name):
        return self.one(f"#{name}").text

    def press(self, name):
        self.js("arguments[0].scrollIntoView({block: 'center'})", self.one(f"#{name}"))
        self.one(f"#{name}").click()

    def wait_for(self, *names):
        """Wait until one of these is shown, and return its name."""
        return until(lambda: next((name for name in names if self.is_shown(name)), None))

    def drop(self, name="table.csv", text=None, target="#drop"):
        self.js(DROP, name, text or table_text(), target)
        return self.wait_for("columns-body", "info-error", "table-error")

    def choose_quick(self):
        """Give the numbers, so that the fit takes a moment."""
        for name in ("clusters", "size"):
            self.one(f"#{name}").clear()
            self.one(f"#{name}").send_keys("3")

    def fit(self):
        self.press("fit")
        return self.wait_for("result", "result-error", "fit-error")


@pytest.fixture
def page(driver, app):
    """The page without a table; nothing is said on the console until the end of the test."""
    driver.get_log("browser")
    opened = Page(driver, app)
    opened.open()
    yield opened
    opened.media()
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert driver.get_log("browser") == []


def test_from_a_dropped_file_to_the_downloaded_results(page, driver, tmp_path):
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    assert page.drop("my table.csv") == "columns-body"
    assert page.text("table-name") == "my table.csv"
    assert "36 samples and 6 columns" in page.text("columns-words")
    uses = page.all("#columns td:nth-child(2) select")
    Select(uses[5]).select_by_value("left out")
    assert page.text("fit-words") == "1 column changed."
    page.choose_quick()
    assert page.fit() == "result"
    assert [tile.text.split("\n")[0] for tile in page.all("#tiles li")][:2] == ["3", "3"]
    assert page.text("command").startswith("sparsecluster fit 'my table.csv' -k 3 --size 3 --drop six --out")
    page.press("zip")
    archive = until(lambda: next(tmp_path.glob("*.zip"), None))
    assert "my table-clusters/labels.csv" in zipfile.ZipFile(archive).namelist()
    # The report is drawn, and cannot reach the page that shows it.
    driver.switch_to.frame(page.one("#report"))
    until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    assert page.one("h1").text == "Clusters in my table.csv"
    assert page.js("try { return parent.document.title } catch (error) { return error.name }") == "SecurityError"
    assert page.js("return origin") == "null"
    driver.switch_to.default_content()
    # Nor can it in a tab of its own, whose address says nothing about that of the app.
    address = page.one("#report-tab").get_attribute("href")
    assert page.app.address.split("/")[3] not in address
    driver.get(address)
    until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    assert page.js("return origin") == "null"


def test_another_number_of_clusters_is_one_click_away_and_all_results_stay(page):
    page.drop()
    page.choose_quick()
    page.fit()
    page.js("document.querySelector('#again button').click()")
    until(lambda: page.is_shown("session") and len(page.all("#fits tbody button")) == 2)
    assert page.column("fits", 3) == ["3", "2"]
    page.js("document.querySelector('#fits tbody button').click()")
    assert "-k 3" in page.text("command")
    # After the page was loaded again, it is the same.
    page.driver.refresh()
    page.wait_for("result")
    until(lambda: page.column("fits", 3) == ["3", "2"])


def test_hostile_names_are_shown_as_text(page):
    names = [f"{name}{place}" for place, name in enumerate(HOSTILE[:6])]
    assert page.drop("<img src=x onerror=window.hacked=1>.csv", table_text(names)) == "columns-body"
    assert page.text("table-name") == "<img src=x onerror=window.hacked=1>.csv"
    shown = page.texts("#columns .name > span")
    assert [text for text in shown if "<script>" in text or "onerror" in text]
    assert len(shown) == 6
    Select(page.all("#columns td:nth-child(2) select")[0]).select_by_value("left out")
    page.choose_quick()
    assert page.fit() == "result"
    assert "'<script>alert(1)</script>0'" in page.text("command")
    assert page.js("return window.hacked") is None
    assert page.all("main img, main script, main svg") == []


def test_a_column_with_row_names_is_read_again(page):
    rows = table_text().splitlines()
    named = [f"name {number},{row},{'abc'[number % 3]}{number}" for number, row in enumerate(rows[1:])]
    page.drop("names.csv", "\n".join([f"first,{rows[0]},second", *named]))
    use = "return document.querySelectorAll('#columns td:nth-child(2) select')[7].value"
    Select(page.all("#columns td:nth-child(2) select")[7]).select_by_value("id")
    key = page.js("return new URLSearchParams(location.search).get('table')")
    until(lambda: (told := page.app.table_if_read(key)) and told["id"] == "second")
    until(lambda: not page.is_shown("upload") and page.js(use) == "id")
    page.choose_quick()
    assert page.fit() == "result"
    assert "--id second" in page.text("command")
    files = page.js("return [...document.querySelectorAll('#files a')].map((each) => each.getAttribute('href'))")
    labels = page.app.get(next(file for file in files if file.endswith("labels.csv"))).text
    assert [line.split(",")[0] for line in labels.splitlines()[1:4]] == ["a0", "b1", "c2"]


def test_a_damaged_file_is_told_and_another_can_be_used(page):
    assert page.drop("table.xlsx", "this is no workbook") == "info-error"
    assert "table.xlsx" in page.text("info-error")
    page.press("another")
    page.wait_for("drop")
    assert page.drop() == "columns-body"


def test_a_running_fit_is_shown_at_once_and_can_be_cancelled(page, app):
    X = shifted_groups(mu=0.5, n_features=300, group_size=60, seed=1).X
    page.drop("slow.csv", pd.DataFrame(X).add_prefix("gene").to_csv(index=False))
    page.press("fit")
    until(lambda: page.is_shown("stage"), seconds=1)
    assert page.one("#stage").get_attribute("role") == "status"
    until(lambda: " of " in page.text("time"))
    assert "Fitting: " in page.text("stage")
    assert "so far" in page.text("time")
    page.press("cancel")
    page.wait_for("result-error")
    assert "cancelled" in page.text("result-error")
    # In two tabs there are two sessions.
    page.driver.switch_to.new_window("tab")
    page.open()
    page.drop("other.csv")
    page.choose_quick()
    assert page.fit() == "result"
    assert "other.csv" in page.text("command")
    page.driver.close()
    page.driver.switch_to.window(page.driver.window_handles[0])
    assert page.text("table-name") == "slow.csv"


def test_no_step_is_wider_than_a_phone(page):
    page.drop("a" * 200 + ".csv", table_text(["x" * 100, "two", "three", "four", "five", "six"]))
    page.choose_quick()
    page.fit()
    for pixels in (1280, 390, 320):
        page.width(pixels)
        assert page.js("return document.documentElement.scrollWidth") <= pixels


def test_the_page_can_be_used_by_keyboard_alone(page, tmp_path):
    file = tmp_path / "keys.csv"
    file.write_text(table_text())
    page.one("#file").send_keys(str(file))
    page.wait_for("columns-body")
    page.choose_quick()
    page.one("#size").send_keys(Keys.ENTER)
    assert page.wait_for("result", "result-error") == "result"
    # Every control has a name that is read aloud.
    controls = page.all("main button, main input, main select, main a, main progress, main iframe")
    nameless = [each for each in controls if each.is_displayed() and not each.accessible_name]
    assert [each.get_attribute("outerHTML") for each in nameless] == []


@pytest.mark.slow
def test_the_report_of_1_000_samples_and_features_is_there_soon(page, tmp_path):
    X = shifted_groups(mu=0.8, n_features=1000, group_size=334).X
    file = tmp_path / "genes.csv"
    pd.DataFrame(X).add_prefix("gene").to_csv(file, index=False)
    page.one("#file").send_keys(str(file))
    page.wait_for("columns-body")
    began = time.monotonic()
    assert page.fit() == "result"
    page.driver.switch_to.frame(page.one("#report"))
    until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    seconds = time.monotonic() - began
    page.driver.switch_to.default_content()
    print(f"The report was there after {seconds:.1f} s.")
    # On two cores with nothing else to do, it takes less than ten seconds.
    assert seconds < 60
