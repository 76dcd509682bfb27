"""The app over HTTP, as a program of its own: from a file to its results, and whatever can go wrong on the way."""

import io
import os
import signal
import sys
import zipfile

import pytest
from typer.testing import CliRunner

from sparsecluster.cli import app as command_line
from tests.helpers.app import app as app
from tests.helpers.app import memory_of, running_app, slow_text, table_text, two_ways_text, until
from tests.helpers.common import arguments_in
from tests.helpers.imports import heavy_modules

HOSTILE_NAMES = ("<img src=x onerror=alert(1)>.csv", "../../etc/passwd", "two\nlines.csv")
# Each table is described by a process of its own, which takes seconds to begin.
MORE_HOSTILE_NAMES = ("a" * 300 + ".csv", "\u202egnp.csv", "-k.csv", "$(touch hacked).csv", "part-*.csv")
LONG_WORK = {"clusters": "auto", "size": "auto"}


@pytest.fixture
def practised_app(tmp_path):
    """The app as users have it, whose processes fit a small table before they are needed."""
    with running_app(tmp_path, practised=True) as running:
        yield running


@pytest.fixture(scope="module")
def table(app):
    return app.upload("my table.csv")


@pytest.fixture(scope="module")
def slow(app):
    """A table that takes a while, unless its numbers are given."""
    return app.upload("slow.csv", slow_text().encode())


@pytest.fixture(scope="module")
def two_ways(app):
    """A result that has an alternative."""
    return app.ended(app.fit(app.upload("table.csv", two_ways_text().encode()), clusters="2", size="6"))


# ---------------------------------------------------------------- from a file to its results


def test_the_server_loads_nothing_heavy():
    assert heavy_modules("import sparsecluster.app.server, sparsecluster.app.run, uvicorn")[0] == set()


def test_a_table_is_described_fitted_and_downloaded(practised_app):
    app, table = practised_app, practised_app.upload("my table.csv")
    assert (table["name"], table["samples"], table["n_columns"]) == ("my table.csv", 36, 6)
    columns = app.get(f"tables/{table['key']}/columns").json()
    assert [column["shown"] for column in columns["columns"]] == ["one", "two", "three", "four", "five", "six"]
    told = app.ended(app.fit(table))
    assert (told["state"], told["n_clusters"], told["n_chosen"], told["sizes"]) == ("done", 3, 3, [12, 12, 12])
    files = {file["name"] for file in told["files"]}
    assert files >= {"labels.csv", "features.csv", "summary.json", "report.html"}
    archive = zipfile.ZipFile(io.BytesIO(app.get(f"jobs/{told['key']}/results.zip").content))
    assert {name.removeprefix("my table-clusters/") for name in archive.namelist()} == files
    single = app.get(f"jobs/{told['key']}/files/labels.csv")
    assert single.content == archive.read("my table-clusters/labels.csv")
    assert "attachment" in single.headers["content-disposition"]
    assert "<h1>Clusters in my table.csv</h1>" in app.http.get(f"{app.origin}/reports/{told['report']}").text


def test_the_command_that_is_shown_gives_the_same_files(app, table, tmp_path, monkeypatch):
    (tmp_path / "my table.csv").write_text(table_text())
    told = app.ended(app.fit(table, columns=[["six", "left out", "auto"]]))
    assert told["command"].startswith("sparsecluster fit 'my table.csv' -k 3 --size 3 --drop six --out")
    arguments, out = arguments_in(told["command"]), tmp_path / "my table-clusters"
    # Results name the command by which they were made.
    monkeypatch.setattr(sys, "argv", ["sparsecluster", *arguments])
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command_line, arguments).exit_code == 0
    for file in told["files"]:
        ours = app.get(f"jobs/{told['key']}/files/{file['name']}").content
        assert (out / file["name"]).read_bytes() == ours, file["name"]
    assert b"six" not in (out / "features.csv").read_bytes()


def test_an_alternative_is_the_result_of_the_same_command_with_its_number(app, two_ways, tmp_path):
    assert (two_ways["n_alternatives"], two_ways["alternative"], two_ways["first"]) == (1, None, two_ways["key"])
    started = app.post(f"jobs/{two_ways['key']}/alternatives", {"alternative": 0}).raise_for_status().json()
    told = app.ended(started["key"])
    assert (told["state"], told["alternative"], told["first"]) == ("done", 0, two_ways["key"])
    assert told["command"] == two_ways["command"].replace(" --out", " --alternative 0 --out")
    numbered = app.get(f"jobs/{two_ways['key']}/files/alternatives.csv").text.splitlines()[1:]
    labels = app.get(f"jobs/{told['key']}/files/labels.csv").text.splitlines()[1:]
    assert [line.split(",")[1] for line in labels] == [line.split(",")[1] for line in numbered]


@pytest.mark.parametrize("number", [1, -1, "0", True, None, 0.0])
def test_an_alternative_that_was_not_found_is_refused(app, two_ways, number):
    refused = app.post(f"jobs/{two_ways['key']}/alternatives", {"alternative": number})
    assert refused.status_code == 422
    assert "1 alternative, numbered from 0" in refused.json()["error"]


def test_other_ways_to_read_a_table_are_described_again(app, table):
    key = app.post(f"tables/{table['key']}/info", {"transpose": True}).raise_for_status().json()["key"]
    assert until(lambda: app.table_if_read(key))["samples"] == 6


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_HOSTILE_NAMES)]
)
def test_hostile_names_are_names_only(app, name):
    table = app.upload(name)
    assert table["samples"] == 36
    assert table["name"].isprintable()
    # Files of the user are in private folders, under names of ours.
    assert all(place.startswith("sparsecluster-app-") for place in app.files())
    stored = {place.split("/")[2] for place in app.files() if place.count("/") == 2 and "/table-" in place}
    assert {each for each in stored if not each.startswith(("fit-", "info-"))} <= {"table", "table.csv", "my table.csv"}


def test_the_command_names_the_file_as_the_user_does(app):
    name = "-<img src=x>'$(touch hacked)\n\u202e.csv"
    told = app.ended(app.fit(app.upload(name)))
    assert told["state"] == "done"
    assert told["command"].isprintable()
    assert arguments_in(told["command"])[:4] == ["fit", f"./{name}", "-k", "3"]


def test_20_000_columns_are_searched_and_shown_a_page_at_a_time(app):
    names = [f"gene{number}" for number in range(20_000)]
    content = ",".join(names) + "\n" + "\n".join(",".join(f"{row}.5" for _ in names) for row in range(4))
    table = app.upload("wide.csv", content.encode())
    assert table["n_columns"] == 20_000
    page = app.get(f"tables/{table['key']}/columns?first=100&count=50").json()
    assert (page["total"], [column["name"] for column in page["columns"]]) == (20_000, names[100:150])
    found = app.get(f"tables/{table['key']}/columns?search=GENE1999").json()
    assert [column["name"] for column in found["columns"]] == ["gene1999", *(f"gene1999{digit}" for digit in range(10))]
    assert len(app.get(f"tables/{table['key']}/columns?count=100000").json()["columns"]) == 200


# ---------------------------------------------------------------- what can go wrong


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.xlsx", b"no zip"),
        pytest.param("table.csv", b"", marks=pytest.mark.slow),
        pytest.param("a.parquet", b"PAR1", marks=pytest.mark.slow),
    ],
)
def test_a_damaged_file_gives_the_error_of_the_command(app, name, content):
    table = app.upload(name, content or b"\n")
    assert table["info"]["state"] == "failed"
    assert name in table["info"]["error"]
    assert "\n" not in table["info"]["error"]
    assert app.post(f"tables/{table['key']}/fits").status_code == 409


def test_a_fit_that_is_refused_gives_the_error_of_the_command(app, table):
    told = app.ended(app.fit(table, clusters="100"))
    assert told["state"] == "failed"
    assert "100" in told["error"]


@pytest.mark.parametrize(
    "choices",
    [
        *({"clusters": "1"}, {"clusters": "3; rm"}, {"size": "-4"}, {"expression": "yes"}, {"columns": {}}),
        *({"columns": [["nothing", "left out", "auto"]]}, {"columns": [["one", "eaten", "auto"]]}, {"columns": [[1]]}),
    ],
)
def test_choices_that_make_no_sense_are_refused(app, table, choices):
    refused = app.post(f"tables/{table['key']}/fits", choices)
    assert refused.status_code == 422
    assert refused.json()["error"].endswith(".")


def test_a_fit_shows_its_stage_and_steps_and_leaves_nothing_when_it_is_cancelled(app, slow):
    before, n_before = app.files(), len(app.workers())
    key = app.fit(slow, **LONG_WORK)
    told = until(lambda: told if (told := app.job(key))["done"] else None)
    assert told["phase"] == "fitting"
    assert told["what"]
    assert 0 < told["done"] <= told["total"]
    assert app.post(f"jobs/{key}/cancel").json()["state"] == "cancelled"
    assert [file for file in app.files() if file not in before and "/temporary" not in file] == []
    assert app.get(f"jobs/{key}/results.zip").status_code == 409
    until(lambda: len(app.workers()) <= n_before + 1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_a_killed_worker_is_told_and_the_next_fit_works(app, slow, table):
    key = app.fit(slow, **LONG_WORK)
    until(lambda: app.job(key)["total"])
    for worker in app.workers():
        os.kill(worker, signal.SIGKILL)
    told = app.ended(key)
    assert told["state"] == "failed"
    assert "memory" in told["error"]
    assert app.ended(app.fit(table))["state"] == "done"


def test_two_fits_run_at_once_and_others_wait(app, slow):
    keys = [app.fit(slow, **LONG_WORK) for _ in range(3)]
    until(lambda: [app.job(key)["state"] for key in keys] == ["running", "running", "queued"])
    app.post(f"jobs/{keys[0]}/cancel")
    until(lambda: app.job(keys[2])["state"] == "running")
    for key in keys:
        app.post(f"jobs/{key}/cancel")
    assert [app.job(key)["state"] for key in keys] == ["cancelled"] * 3


def test_a_table_that_is_not_wanted_any_more_is_removed(app):
    table = app.upload()
    n_files = len(app.files())
    app.post(f"tables/{table['key']}/forget")
    assert len(app.files()) < n_files
    assert app.get(f"tables/{table['key']}").status_code == 404


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc, which only Linux has")
def test_a_file_of_100_megabytes_passes_through_little_memory(app):
    lines = b"1.5,2.5,3.5\n" * 2**16
    before = memory_of(app.process.pid)
    parts = [b"one,two,three\n", *[lines] * (100_000_000 // len(lines) + 1)]
    key = app.send("large.csv", iter(parts)).raise_for_status().json()["key"]
    assert app.get(f"tables/{key}").json()["bytes"] == sum(map(len, parts)) > 100_000_000
    assert memory_of(app.process.pid) < before + 30
    app.post(f"tables/{key}/forget")


# ---------------------------------------------------------------- beginning and end


def test_a_file_over_the_limit_is_refused_and_nothing_is_kept(tmp_path):
    with running_app(tmp_path, "--max-upload", "0.001") as app:
        for content in (b"x" * 1_000_001, iter([b"x" * 600_000] * 2)):
            refused = app.send("large.csv", content)
            assert refused.status_code == 413
            assert "0.001 GB" in refused.json()["error"]
            assert "--max-upload" in refused.json()["error"]
        assert not [file for file in app.files() if "table-" in file]


@pytest.mark.parametrize("end", ["quit", "SIGTERM", "SIGINT"])
def test_nothing_is_left_when_the_app_ends(tmp_path, end):
    with running_app(tmp_path, practised=True) as app:
        app.send("table.csv", table_text().encode())
        (folder,) = tmp_path.glob("sparsecluster-app-*")
        assert folder.stat().st_mode & 0o777 == 0o700
        workers = app.workers()
        assert workers
        if end == "quit":
            assert app.post("quit").status_code == 200
        else:
            app.process.send_signal(getattr(signal, end))
        assert app.process.wait(20) == 0
        until(lambda: not [pid for pid in workers if os.path.exists(f"/proc/{pid}")])
        assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_app_is_removed_by_the_next_one(app):
    (own,) = app.folder.iterdir()
    with running_app(app.folder) as killed:
        killed.process.kill()
        killed.process.wait(20)
        left = set(app.folder.iterdir()) - {own}
        other = app.folder / "sparsecluster-app-of-another-kind"
        other.touch()
        with running_app(app.folder) as second:
            now = set(app.folder.iterdir())
            assert len(left) == 1
            assert not left & now
            # Those of living ones stay, and what is no private folder as well.
            assert {own, other} < now
            assert len(now) == 3
            assert app.get("").status_code == second.get("").status_code == 200
    other.unlink()


def test_a_port_that_is_taken_is_told_in_one_line(app):
    port = app.origin.rpartition(":")[2]
    run = CliRunner().invoke(command_line, ["app", "--no-browser", "--port", port])
    assert run.exit_code == 2
    assert run.stderr.startswith(f"Error: The port {port} cannot be used")
    assert run.stderr.count("\n") == 1
