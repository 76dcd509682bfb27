"""How commands end: results that are whole, outputs that are closed, and errors in one line, also those of our own."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from sparsecluster.cli import app, errors
from sparsecluster.datasets import shifted_groups

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

FULL = shifted_groups(mu=3.0, n_features=8, n_useful=4, group_size=8, seed=0)
TABLE = pd.DataFrame(FULL.X.round(3), columns=[f"f{a}" for a in range(8)])
FIT = ("-k", 3, "--size", 4)
COMPARE = ("-k", 3, "--methods", "ward", "--repeats", 1)
# Of results that were written by the commands.
HELD = {"fit": "summary.json", "compare": "comparison.csv"}


def run(*arguments, code=0, env=None, given=None):
    result = CliRunner().invoke(app, [*map(str, arguments)], env=env, input=given)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def table(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table and its result."""
    made = tmp_path_factory.mktemp("result")
    TABLE.to_csv(made / "table.csv", index=False)
    run("fit", made / "table.csv", *FIT, "--out", made / "out")
    return made


def held(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# ---------------------------------------------------------------- the folder of a result

WRITING = {"fit": FIT, "compare": COMPARE}


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_with_other_files_is_refused_before_the_table_is_read(tmp_path, command):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    told = run(command, "none.csv", *WRITING[command], "--out", tmp_path / "out", code=2).stderr
    assert f"{tmp_path / 'out'} is not empty and is not a result of {command}: it has thesis.tex." in told
    assert "--force" in told
    assert held(tmp_path / "out") == {"thesis.tex": b"mine"}


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_with_other_files_is_used_by_force_and_keeps_them(tmp_path, table, command):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    run(command, table, *WRITING[command], "--out", out, "--force")
    assert held(out)["thesis.tex"] == b"mine"
    assert HELD[command] in held(out)
    # Now it is a result.
    run(command, table, *WRITING[command], "--out", out)
    assert held(out)["thesis.tex"] == b"mine"


def test_a_result_of_one_command_is_not_one_of_the_other(tmp_path, table):
    run("fit", table, *FIT, "--out", tmp_path / "fit")
    run("compare", table, *COMPARE, "--out", tmp_path / "compare")
    assert "is not a result of compare" in run("compare", table, *COMPARE, "--out", tmp_path / "fit", code=2).stderr
    assert "is not a result of fit" in run("fit", table, *FIT, "--out", tmp_path / "compare", code=2).stderr


@pytest.mark.parametrize("content", ["", "[1]", '{"settings": {"versions": {}}}', "[" * 100_000, "\x00"])
def test_a_summary_of_something_else_is_no_result(tmp_path, content):
    (tmp_path / "summary.json").write_text(content)
    assert "it has summary.json" in run("fit", "none.csv", *FIT, "--out", tmp_path, code=2).stderr


@pytest.mark.parametrize("command", WRITING)
def test_standard_output_in_the_place_of_a_folder_is_refused(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    told = run(command, "none.csv", *WRITING[command], "--out", "-", code=2).stderr
    assert "Results are written into a folder, not to standard output" in told


@pytest.mark.parametrize("command", WRITING)
def test_a_file_or_a_place_in_a_file_is_refused_before_the_table_is_read(tmp_path, command):
    (tmp_path / "file").write_text("mine")
    for place in ("file", "file/out"):
        told = run(command, "none.csv", *WRITING[command], "--out", tmp_path / place, code=2).stderr
        assert str(tmp_path / place) in told
    assert (tmp_path / "file").read_text() == "mine"


def test_a_disk_that_fills_up_leaves_the_old_result_and_the_message_names_the_file(tmp_path, table, monkeypatch):
    out = tmp_path / "out"
    run("fit", table, *FIT, "--out", out)
    before, calls = held(out), []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = run("fit", table, "-k", 2, "--size", 2, "--out", out, code=2).stderr
    assert told.startswith(f"Error: {out}{os.sep}")
    assert "could not be written: the disk is full." in told
    assert held(out) == before
    assert sorted(os.listdir(tmp_path)) == ["out", "table.csv"]


@pytest.mark.skipif(os.name != "posix", reason="programs are killed on POSIX")
@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_fit_killed_while_it_writes_leaves_one_result_and_the_next_fit_cleans_up(tmp_path, table, times):
    out, rng = tmp_path / "out", random.Random(0)
    run("fit", table, *FIT, "--out", out, "--no-report")
    (out / "mine.txt").write_text("mine")
    old = set(held(out))
    # Many results in a row, so that most of the time is spent on writing them.
    code = (
        "import sys; from sparsecluster.cli import main; import sparsecluster.cli.results as own;"
        "write = own.write_results; own.write_results = lambda *given: [write(*given) for _ in range(200)][-1];"
        "print('ready', flush=True); main()"
    )
    command = [sys.executable, "-c", code, "fit", str(table), *map(str, FIT), "--out", str(out), "-q"]
    for _ in range(times):
        begun = out.stat().st_ino
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            while out.stat().st_ino == begun and process.poll() is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.3))
            process.send_signal(signal.SIGKILL)
        assert {*held(out), "mine.txt"} == {*old, "report.html"}
        assert json.loads((out / "summary.json").read_text())["n_chosen"] == 4
    run("fit", table, *FIT, "--out", out, "--no-report")
    assert set(held(out)) == old
    assert sorted(os.listdir(tmp_path)) == ["out", "table.csv"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX")
def test_two_fits_into_the_same_folder_leave_one_of_the_results(tmp_path, table):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "sparsecluster", "fit", str(table), "-q", "--out", str(out)]
    both = [subprocess.Popen([*command, "-k", k, "--size", size]) for k, size in (("2", "2"), ("3", "4"))]
    assert [process.wait(120) for process in both] == [0, 0]
    summary = json.loads((out / "summary.json").read_text())
    k = len(summary["sizes"])
    assert (k, summary["n_chosen"]) in [(2, 2), (3, 4)]
    assert pd.read_csv(out / "labels.csv")["cluster"].nunique() == k
    assert pd.read_csv(out / "features.csv")["chosen"].sum() == summary["n_chosen"]
    assert sorted(os.listdir(tmp_path)) == ["out", "table.csv"]


# ---------------------------------------------------------------- files and standard output


def test_a_table_and_a_page_can_go_to_standard_output(folder):
    simulated = run("simulate", "shifted", "--features", 60, "--out", "-").stdout
    assert simulated.startswith("useful0,useful1,")
    assert len(simulated.splitlines()) == 91
    page = run("report", folder / "out", "--out", "-").stdout
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    model, data = folder / "out" / "model.json", folder / "table.csv"
    assert run("predict", model, data, "--out", "-").stdout == run("predict", model, data).stdout


def test_a_place_for_results_of_experiments_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    told = run(
        "reproduce", "figure-convergence", "--repeats", 1, "--jobs", 1, "--out", tmp_path / "file", code=2
    ).stderr
    assert told.startswith(f"Error: {tmp_path / 'file'}{os.sep}")
    assert "is a file, not a folder" in told


@pytest.mark.parametrize("command", ["predict", "report", "simulate"])
def test_a_file_that_cannot_be_written_is_named(folder, tmp_path, command):
    arguments = {
        "predict": (folder / "out" / "model.json", folder / "table.csv"),
        "report": (folder / "out",),
        "simulate": ("shifted",),
    }[command]
    told = run(command, *arguments, "--out", tmp_path, code=2).stderr
    assert told == f"Error: {tmp_path} could not be written: it is a folder. Name a file in it.\n"


# ---------------------------------------------------------------- outputs that are closed

PRINTING = {
    "fit": ("fit", "table.csv", *FIT, "--out", "OUT"),
    "fit --json": ("fit", "table.csv", *FIT, "--json", "--out", "OUT"),
    "predict": ("predict", "out/model.json", "table.csv"),
    "predict to /dev/stdout": ("predict", "out/model.json", "table.csv", "--out", "/dev/stdout"),
    "info": ("info", "table.csv"),
    "methods": ("methods",),
    "methods --json": ("methods", "--json"),
    "compare": ("compare", "table.csv", *COMPARE, "--out", "OUT"),
    "reproduce": ("reproduce", "--list"),
}


def prepared(what, tmp_path):
    return [tmp_path / "new" if each == "OUT" else each for each in PRINTING[what]]


@pytest.fixture
def closed_pipe():
    """The end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def assert_written(arguments, tmp_path):
    if tmp_path / "new" in arguments:
        assert HELD[arguments[0]] in held(tmp_path / "new")


# Each is a program of its own, which takes a while.
REPEATED = ("fit --json", "predict", "methods --json", "reproduce")


@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=[pytest.mark.slow] if each in REPEATED else []) for each in PRINTING]
)
def test_a_command_whose_output_is_not_read_ends_quietly_with_its_results_written(
    nursery, folder, tmp_path, closed_pipe, what
):
    arguments = prepared(what, tmp_path)
    ended = nursery.run(*arguments, cwd=folder, stdout=closed_pipe)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert_written(arguments, tmp_path)


def test_a_command_whose_messages_are_not_read_does_its_work(nursery, folder, tmp_path, closed_pipe):
    arguments = prepared("fit", tmp_path)
    assert nursery.run(*arguments, "-v", cwd=folder, stderr=closed_pipe).returncode == 0
    assert_written(arguments, tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_an_output_that_is_full_is_an_error_in_one_line(nursery, folder):
    with open("/dev/full", "w") as full:
        ended = nursery.run("methods", cwd=folder, stdout=full.fileno())
    assert (ended.returncode, ended.stderr) == (2, "Error: No space left on device.\n")


def test_letters_that_the_terminal_does_not_know_are_shown_escaped(tmp_path):
    TABLE.rename(columns={"f0": "größe"}).to_csv(tmp_path / "table.csv", index=False)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    # A program of its own, since Python asks for the letters when it begins.
    command = [sys.executable, "-m", "sparsecluster", "info", "table.csv"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert r"gr\xf6\xdfe" in ended.stdout


# ---------------------------------------------------------------- errors of any kind

RAISED = {
    "memory": (MemoryError(), 2, "There is not enough memory."),
    "memory with a reason": (MemoryError("Unable to allocate 7 TiB"), 2, "Unable to allocate 7 TiB"),
    "recursion": (RecursionError("maximum recursion depth exceeded"), 2, "nested too deeply"),
    "a file": (
        FileNotFoundError(2, "No such file or directory", "gone.csv"),
        2,
        "gone.csv: No such file or directory.",
    ),
    "no words": (ValueError(), 2, "ValueError"),
    "a key": (KeyError("a"), 70, "This is a bug in sparsecluster: KeyError: 'a'. Please report it"),
    "an assertion": (AssertionError(), 70, "This is a bug in sparsecluster: AssertionError"),
    "several lines": (ZeroDivisionError("a\nb\x1b"), 70, r"ZeroDivisionError: a b\x1b"),
    "very long": (ValueError("x" * 34_000), 2, "more characters)"),
}


@pytest.fixture
def raising(monkeypatch):
    """The command `info` meets an error that it did not expect."""

    def make(error):
        def fail(*given):
            raise error

        # The module has the name of the command, which the package has in its place.
        for name in ("described", "described_blocks"):
            monkeypatch.setattr(sys.modules["sparsecluster.cli.info"], name, fail)
        monkeypatch.delenv(errors.DEBUG, raising=False)

    return make


@pytest.mark.parametrize("what", RAISED)
def test_any_error_is_one_line_of_limited_length(table, raising, what):
    error, code, told = RAISED[what]
    raising(error)
    result = run("info", table, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert len(result.stderr) < 1000
    assert told in result.stderr


@pytest.mark.parametrize("error", [KeyError("a"), ValueError("a")])
def test_the_traceback_is_shown_to_those_who_ask_for_it(table, raising, error):
    raising(error)
    told = run("info", table, code=70 if isinstance(error, KeyError) else 2, env={errors.DEBUG: "1"}).stderr
    assert told.startswith("Traceback (most recent call last):\n")
    assert "in fail\n" in told
    assert told.splitlines()[-1].startswith("Error: ")
