"""The app as a program of its own, and what a page asks it for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason='the app needs starlette: pip install "sparsecluster[app]"')
pytest.importorskip("uvicorn", reason='the app needs uvicorn: pip install "sparsecluster[app]"')
pytest.importorskip("httpx", reason="the app is asked by httpx: pip install httpx")
pytest.importorskip("pandas")
import httpx
import numpy as np

from sparsecluster.datasets import shifted_groups

PATIENCE_SECONDS = 120
# Three clusters that are found at once, with an id and a column that is not wanted.
DATA = shifted_groups(mu=4.0, n_features=6, n_useful=3, group_size=12, seed=0)
QUICK = {"clusters": "3", "size": "3"}


def memory_of(pid):
    """The most memory that a process has had, in megabytes."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1000 for line in file if line.startswith("VmHWM"))


def table_text(names=("one", "two", "three", "four", "five", "six")):
    """A table of 36 samples as CSV."""
    rows = [",".join(f"{value:.4f}" for value in row) for row in DATA.X]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    return "\n".join([header, *rows, ""])


def slow_text():
    """A table whose fit takes seconds if the numbers of clusters and features are to be found."""
    X = shifted_groups(mu=0.5, n_features=2000, group_size=80, seed=1).X.round(3)
    header = ",".join(f"gene{a}" for a in range(2000))
    return "\n".join([header, *(",".join(map(str, row)) for row in X.tolist()), ""])


def two_ways_text():
    """A table of 60 samples that can be grouped in two ways, by six features each."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(2, size=(2, 60))
    X = rng.normal(size=(60, 20))
    X[:, :6] += 4 * one[:, None]
    X[:, 6:12] += 2.5 * other[:, None]
    header = ",".join(f"f{a}" for a in range(20))
    return "\n".join([header, *(",".join(map(str, row)) for row in X.round(3).tolist()), ""])


def until(is_true, seconds=PATIENCE_SECONDS):
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := is_true():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


class App:
    """A running app."""

    def __init__(self, process, address, folder):
        self.process, self.address, self.folder = process, address, folder
        self.origin = re.match(r"http://[^/]+", address)[0]
        self.http = httpx.Client(base_url=address, headers={"origin": self.origin}, timeout=60)

    def get(self, path):
        return self.http.get(path)

    def post(self, path, choices=None):
        return self.http.post(path, json=choices or {})

    def send(self, name, content):
        return self.http.post("tables", content=content, headers={"x-file-name": quote(name)})

    def upload(self, name="table.csv", content=None):
        """Send a file, and return what is told of it when its columns are known."""
        key = self.send(name, content or table_text().encode()).raise_for_status().json()["key"]
        return until(lambda: self.table_if_read(key))

    def table_if_read(self, key):
        told = self.get(f"tables/{key}").json()
        return told if told["info"]["state"] not in ("queued", "running") else None

    def fit(self, table, **choices):
        """Start a fit and return its key."""
        return self.post(f"tables/{table['key']}/fits", QUICK | choices).raise_for_status().json()["key"]

    def job(self, key):
        return self.get(f"jobs/{key}").json()

    def ended(self, key):
        """Wait for the end of a fit and return what is told of it."""
        return until(lambda: told if (told := self.job(key))["state"] not in ("queued", "running") else None)

    def workers(self):
        """The processes that the app has started."""
        asked = ["ps", "-o", "pid=", "--ppid", str(self.process.pid)]
        return [int(pid) for pid in subprocess.run(asked, capture_output=True, text=True).stdout.split()]

    def fitting(self):
        """The processes that are running a fit: each works in the folder of its fit."""
        return [pid for pid in self.workers() if os.readlink(f"/proc/{pid}/cwd").endswith("/run")]

    def files(self):
        return sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*"))

    def close(self):
        self.http.close()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()


# The processes for fits do not fit a small table in advance, which takes longer than the fits of most tests.
UNPRACTISED = """
from sparsecluster.app.jobs import Pool
from sparsecluster.cli import main
started = Pool._started
Pool._started = lambda self, *options: started(self, "--cold")
main()
"""


@contextmanager
def running_app(folder, *options, practised=False):
    """Start the app, with a temporary folder of its own."""
    program = ["-m", "sparsecluster"] if practised else ["-c", UNPRACTISED]
    process = subprocess.Popen(
        [sys.executable, *program, "app", "--no-browser", *options],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    app = App(process, re.search(r"http\S+", process.stdout.readline())[0], folder)
    try:
        yield app
    finally:
        app.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("app")) as running:
        yield running
