"""Makes docs/pictures/app.png: the app with a result, in Chromium. It needs selenium and palmerpenguins."""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from palmerpenguins import load_penguins
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

FILE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "app.png"
WIDTH, HEIGHT = 1180, 1800
FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars")
PATIENCE_SECONDS = 300
# They are what the clusters turn out to be, so they are compared with them.
KNOWN = "species"


def driver() -> webdriver.Chrome:
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in (*FLAGS, f"window-size={WIDTH},{HEIGHT}"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def photograph(address: str, table: Path) -> bytes:
    """Fit a table in the app, and return a picture of the whole page."""
    browser = driver()
    try:
        browser.get(address)
        browser.find_element(By.ID, "file").send_keys(str(table))
        wait = WebDriverWait(browser, PATIENCE_SECONDS)
        wait.until(lambda _: browser.find_element(By.ID, "columns-body").is_displayed())
        Select(browser.find_element(By.CSS_SELECTOR, f"[aria-label='Use of {KNOWN}']")).select_by_value("truth")
        browser.find_element(By.ID, "fit").click()
        wait.until(lambda _: browser.find_element(By.ID, "result").is_displayed())
        # The report is drawn only where it is seen, so the window is as high as the page.
        size = {"width": WIDTH, "height": 2 * HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_script("scrollTo(0, 0)")
        browser.switch_to.frame("report")
        wait.until(lambda _: browser.execute_script("return document.documentElement.dataset.ready") == "yes")
        browser.switch_to.default_content()
        # What was drawn must also be painted.
        time.sleep(2)
        return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
    finally:
        browser.quit()


def main() -> None:
    """Run the app, take the picture and save it with few colors."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "penguins.csv"
        load_penguins().to_csv(table, index=False)
        command = [sys.executable, "-m", "sparsecluster", "app", "--no-browser"]
        app = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert app.stdout is not None
            found = re.search(r"http\S+", app.stdout.readline())
            assert found is not None
            picture = Image.open(io.BytesIO(photograph(found[0], table)))
        finally:
            app.terminate()
            app.wait()
    shown = picture.convert("RGB").crop((0, 0, WIDTH, min(picture.height, HEIGHT)))
    shown.quantize(128, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
