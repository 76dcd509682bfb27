"""The app in a real browser, from a dropped file to the downloaded results."""

import os
import signal
import time
import zipfile

import pytest

from sparsecluster.datasets import shifted_groups
from tests.helpers.app import app as app
from tests.helpers.app import memory_of, running_app, slow_text, table_text, two_ways_text, until

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the app is tried in a browser by selenium: pip install selenium")
import pandas as pd
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

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

    def give(self, name, number):
        self.one(f"#{name}").clear()
        self.one(f"#{name}").send_keys(str(number))

    def choose_quick(self):
        """Give the numbers, so that the fit takes a moment."""
        for name in ("clusters", "size"):
            self.give(name, 3)

    def choose(self, file):
        """Choose a file in the dialog of the browser."""
        self.one("#file").send_keys(str(file))
        return self.wait_for("columns-body", "info-error", "table-error")

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


@pytest.mark.slow
def test_an_alternative_is_one_click_away_and_so_is_the_way_back(page):
    page.drop("two.csv", two_ways_text())
    page.give("clusters", 2)
    page.give("size", 6)
    assert page.fit() == "result"
    assert page.texts("#others button") == ["First clustering", "Alternative 0"]
    first = page.text("command")
    page.all("#others button")[1].click()
    until(lambda: page.is_shown("result") and "--alternative 0" in page.text("command"))
    assert page.text("command") == first.replace(" --out", " --alternative 0 --out")
    assert page.text("verdict").startswith("This is alternative 0: another good clustering")
    assert page.column("fits", 1) == ["1", "2, alternative 0"]
    page.driver.switch_to.frame(page.one("#report"))
    until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    assert page.one("h1").text == "Clusters in two.csv: alternative 0"
    page.driver.switch_to.default_content()
    # The way back, and there again, need no other fit, even after the page was loaded again.
    page.driver.refresh()
    page.wait_for("result")
    for place, words in ((0, first), (1, page.text("command"))):
        page.all("#others button")[place].click()
        assert page.text("command") == words
    assert len(page.all("#fits tbody tr")) == 2


def test_hostile_and_long_names_are_shown_as_text_and_no_step_is_wider_than_a_phone(page):
    names = [*(f"{name}{place}" for place, name in enumerate(HOSTILE[:5])), "x" * 100]
    file = f"<img src=x onerror=window.hacked=1>{'a' * 200}.csv"
    assert page.drop(file, table_text(names)) == "columns-body"
    assert page.text("table-name") == file
    assert_narrow(page)
    shown = page.texts("#columns .name > span")
    assert [text for text in shown if "<script>" in text or "onerror" in text]
    assert len(shown) == 6
    Select(page.all("#columns td:nth-child(2) select")[0]).select_by_value("left out")
    page.choose_quick()
    assert page.fit() == "result"
    assert "'<script>alert(1)</script>0'" in page.text("command")
    assert page.js("return window.hacked") is None
    assert page.all("main img, main script, main svg") == []
    assert_narrow(page)


def assert_narrow(page):
    """Nothing has to be scrolled sideways, also on a phone."""
    for pixels in (1280, 390, 320):
        page.width(pixels)
        assert page.js("return document.documentElement.scrollWidth") <= pixels
    page.width(1280)


@pytest.mark.slow
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
    page.drop("slow.csv", slow_text())
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


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/cwd"), reason="the process is found by /proc, which only Linux has")
def test_a_killed_computation_is_told_and_the_same_page_goes_on(page, app):
    page.drop("slow.csv", slow_text())
    page.press("fit")
    until(lambda: " of " in page.text("time"))
    (process,) = app.fitting()
    os.kill(process, signal.SIGKILL)
    assert page.wait_for("result", "result-error") == "result-error"
    assert page.text("result-error").startswith("The computation was stopped from outside, most likely because the mem")
    assert not page.is_shown("running")
    page.choose_quick()
    assert page.fit() == "result"
    assert page.text("result-error") == ""
    assert page.column("fits", 6) == ["failed", "Show"]


def test_a_file_over_the_limit_is_told_before_it_is_sent(driver, tmp_path):
    file = tmp_path / "large.csv"
    file.write_text("one,two\n" + "1,2\n" * 300_000)
    with running_app(tmp_path, "--max-upload", "0.001") as app:
        page = Page(driver, app)
        page.open()
        assert "up to 0.001 GB" in page.text("drop")
        assert page.choose(file) == "table-error"
        assert "Files may have at most 0.001 GB; this one is larger." in page.text("table-error")
        assert not [each for each in app.files() if "table-" in each]
        # Another one can be chosen at once.
        assert page.is_shown("drop")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc, which only Linux has")
def test_a_file_of_100_megabytes_can_be_chosen(page, app, tmp_path):
    file, columns = tmp_path / "large.csv", [f"column {a}" for a in range(200)]
    lines = "".join(",".join(f"{row}.{a}" for a in range(200)) + "\n" for row in range(100)).encode()
    with open(file, "wb") as stream:
        stream.write((",".join(columns) + "\n").encode())
        for _ in range(100_000_000 // len(lines) + 1):
            stream.write(lines)
    before = memory_of(app.process.pid)
    assert page.choose(file) == "columns-body"
    assert page.texts("#columns .name > span") == columns[:50]
    assert page.text("table-size").startswith("100")
    assert memory_of(app.process.pid) < before + 30


def test_the_page_can_be_used_by_keyboard_alone(page, tmp_path):
    file = tmp_path / "keys.csv"
    file.write_text(table_text())
    assert page.choose(file) == "columns-body"
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
    assert page.choose(file) == "columns-body"
    began = time.monotonic()
    assert page.fit() == "result"
    page.driver.switch_to.frame(page.one("#report"))
    until(lambda: page.js("return document.documentElement.dataset.ready") == "yes")
    seconds = time.monotonic() - began
    page.driver.switch_to.default_content()
    print(f"The report was there after {seconds:.1f} s.")
    # The time depends on the machine, so the limit is generous.
    assert seconds < 60
