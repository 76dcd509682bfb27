"""The runner of the experiments loses nothing and does nothing twice, even where it is stopped."""

import json
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.datasets import DataNotFoundError
from sparsecluster.experiments import runner
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.experiment import Experiment, Job, Setting
from sparsecluster.experiments.runner import append, do, load, mend, run, table_of

CODE = Setting("code")


def experiment_of(function, **changes):
    cells = [{"p": p, "group size": 3} for p in (1, 2)]
    return Experiment("tiny", "Tiny", cells, ("one", "other"), ("rand",), function, 2, **changes)


@pytest.fixture
def counting():
    """An experiment that counts how often each of its tasks is done."""
    done = []

    def one(task, setting):
        done.append(task.key)
        return [{"rand": np.float64(task.seed / 10), "n": np.int64(task.cell["p"]), "all": np.arange(2)}]

    return experiment_of(one), done


def values(results):
    return {record.task.key: record.rows for record in results.records}


def test_a_finished_run_does_nothing_again_and_more_repeats_only_add(counting, tmp_path):
    tiny, done = counting
    first = run(tiny, tmp_path)
    assert len(done) == 2 * 2 * 2
    before = (tmp_path / "tiny.jsonl").read_bytes()
    assert run(tiny, tmp_path) == first == load(tmp_path / "tiny.jsonl")
    assert (tmp_path / "tiny.jsonl").read_bytes() == before
    assert len(run(tiny, tmp_path, repeats=3, command="again").records) == len(done) == len(set(done)) == 12
    assert [each["command"] for each in load(tmp_path / "tiny.jsonl").runs if "command" in each] == ["", "again"]


def test_a_variant_with_repeats_of_its_own_has_as_many(counting, tmp_path):
    tiny = counting[0]._replace(variants=("text", "code"), own_repeats={"code": 1})
    seeds = {variant: {r.task.seed for r in run(tiny, tmp_path, setting=Setting(variant)).records}
             for variant in tiny.variants}  # fmt: skip
    assert seeds == {"text": {0, 1}, "code": {0}}


def test_what_is_written_is_read_back_as_plain_numbers(counting, tmp_path):
    results = run(counting[0], tmp_path, repeats=1, seed=4)
    assert results.records[0].rows == [{"rand": 0.4, "n": 1, "all": [0, 1]}]
    row = next(results.rows())
    assert (row["p"], row["group size"], row["method"], row["seed"], row["rand"]) == (1, 3, "one", 4, 0.4)


@pytest.mark.parametrize("cut", [1, 2, 30, -1])
def test_a_table_cut_in_the_middle_of_a_line_is_mended(counting, tmp_path, cut):
    tiny, done = counting
    whole = run(tiny, tmp_path)
    table = tmp_path / "tiny.jsonl"
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(lines[:4]) + lines[4][:cut])
    assert len(load(table).records) == 3
    done.clear()
    assert values(run(tiny, tmp_path)) == values(whole)
    assert len(done) == 5
    assert all(json.loads(line) for line in table.read_text().splitlines())


def test_a_table_cut_in_the_middle_of_a_letter_can_be_read(tmp_path):
    append(tmp_path / "t", {"cell": {}, "method": "é", "seed": 0, "rows": [], "seconds": 0.0, "error": "é"})
    content = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(content + content[: content.rindex("é".encode()) + 1])
    assert len(load(tmp_path / "t").records) == 1
    mend(tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == content


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, MemoryError, ImportError])
def test_a_method_that_fails_is_a_record_with_its_reason_and_is_tried_again(tmp_path, error):
    broken = [True]

    def sometimes(task, setting):
        if broken and task.method == "other":
            raise error("no luck")
        return [{"rand": 1.0}]

    tiny = experiment_of(sometimes)
    results = run(tiny, tmp_path)
    reasons = {"one": None, "other": f"{error.__name__}: no luck"}
    assert {r.task.method: r.error for r in results.records} == reasons
    assert all(bool(record.rows) == (record.task.method == "one") for record in results.records)
    assert len(list(results.rows())) == 4
    broken.clear()
    again = run(tiny, tmp_path)
    assert [record.error for record in again.records] == [None] * 8
    assert len(again.records) == len(list(again.rows())) == 8


@pytest.mark.parametrize("jobs", [1, 2])
def test_data_that_are_not_found_are_sought_once_in_a_run_and_again_in_the_next(tmp_path, monkeypatch, jobs):
    broken, tried = [True], []

    def sometimes(task, setting):
        tried.append(task)
        if broken and task.cell["p"] == 2:
            raise DataNotFoundError("in a folder of this machine")
        return [{"rand": 1.0}]

    tiny = experiment_of(sometimes)
    # Threads, so that the tasks that were tried can be counted here.
    monkeypatch.setattr(runner, "_by_name", lambda name, task, setting: do(tiny, task, setting))
    with parallel_config(backend="threading"):
        results = run(tiny, tmp_path, jobs=jobs)
        absent = [record for record in results.records if not record.has_data]
        # Where data were looked for is the affair of one machine, so the reason is given in words of its own.
        assert {record.error for record in absent} == {"no data set None on this machine"}
        assert {record.task.cell["p"] for record in absent} == {2}
        assert 1 <= len(absent) <= (1 if jobs == 1 else 4)
        assert len(tried) == len(results.records)
        broken.clear()
        again = run(tiny, tmp_path, jobs=jobs)
    assert [record.error for record in again.records] == [None] * 8


def test_a_row_that_is_no_number_does_not_end_the_run(tmp_path):
    results = run(experiment_of(lambda task, setting: [{"rand": np.nan if task.method == "one" else 1.0}]), tmp_path)
    assert len(results.records) == 8


def test_inner_libraries_have_one_thread_so_that_seconds_compare():
    # K-means of scikit-learn, by which the plain versions of Table 1b are written, adds OpenMP to the libraries.
    pools = experiment_of(lambda *_: [{each["user_api"]: each["num_threads"]} for each in threadpool_info()])
    rows = do(pools, Job({}, "one", 0), Setting()).rows
    # SciPy has threads for Matrix Market files, which count from the first such file on and compute nothing.
    assert {api: n for row in rows for api, n in row.items() if n != 1 and api != "scipy"} == {}


def test_the_variants_have_tables_of_their_own_and_tables_2a_and_2b_share_theirs(tmp_path):
    assert table_of(EXPERIMENTS["table-1a"], tmp_path, CODE).name == "table-1a-code.jsonl"
    assert table_of(EXPERIMENTS["table-1b"], tmp_path, Setting()).name == "table-1b.jsonl"
    assert table_of(EXPERIMENTS["table-2a"], tmp_path, CODE) == table_of(EXPERIMENTS["table-2b"], tmp_path, CODE)


TABLE, REPEATS, ASKED = EXPERIMENTS["table-1a"], 3, ("limit", "sas-golden")


def test_the_number_of_processes_changes_nothing(tmp_path):
    asked = {"repeats": 2, "methods": ["limit", "if-pca"], "cells": TABLE.cells[:2]}
    one, two = (run(TABLE, tmp_path / str(jobs), jobs=jobs, **asked) for jobs in (1, 2))
    assert values(one) == values(two)
    assert len(two.records) == 8


SOME = ["--cells", "mu=0.6,p=100", "--methods", ",".join(ASKED), "--repeats", str(REPEATS), "--jobs", "1", "-q"]


def reproduced(folder, before):
    """The command, after some code, in a process of its own."""
    command = ["sparsecluster", "reproduce", "table-1a", *SOME, "--out", str(folder)]
    # In a process that a shell has started in the background, interrupts are ignored.
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    run = "from sparsecluster.cli import main\nmain()"
    code = f"import sys\nsys.argv = {command!r}\n{heard}\n{before}\n{run}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


# The process stops itself as soon as four results are on disk: one line is about the run.
STOPPED = """
import os, signal
from sparsecluster.experiments import runner
append, lines = runner.append, []
def watched(table, entry):
    append(table, entry)
    lines.append(entry)
    if len(lines) == 5:
        os.kill(os.getpid(), signal.{sign})
runner.append = watched
"""


@cache
def whole():
    """The results of a run that nothing stops."""
    tasks = TABLE.tasks(REPEATS, 0, ASKED, TABLE.cells[:1])
    return {task.key: do(TABLE, task, Setting()).rows for task in tasks}


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("sign", ["SIGKILL", "SIGINT"])
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path, sign):
    table, stopped = tmp_path / "table-1a-text.jsonl", reproduced(tmp_path, STOPPED.format(sign=sign))
    before = values(load(table))
    assert len(before) == 4
    assert stopped.returncode in ((-9,) if sign == "SIGKILL" else (130, -2))
    assert "Traceback" not in stopped.stderr
    ended = CliRunner().invoke(app, ["reproduce", "table-1a", *SOME, "--out", str(tmp_path)])
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")

    lines = [json.loads(line) for line in table.read_text().splitlines()]
    keys = [Job(line["cell"], line["method"], line["seed"]).key for line in lines if "run" not in line]
    assert len(keys) == len(set(keys)) == 2 * REPEATS
    assert values(load(table)) == whole()
    assert before.items() <= whole().items()
    assert not list(tmp_path.rglob("*.part"))
