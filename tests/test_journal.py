"""A computation that was interrupted is continued, and its answer is that of one that was not."""

import json
import os
import time
import zlib
from itertools import count

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster._search.climb import Climb, Step
from sparsecluster._search.search import Envelope
from sparsecluster._utils import journal
from sparsecluster._utils.journal import Journal, recorded
from sparsecluster._utils.parallel import Workers
from sparsecluster.cli import app
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import compare

pytestmark = pytest.mark.usefixtures("short_assessments")


@pytest.fixture(autouse=True)
def at_once(monkeypatch, tmp_path):
    """Record from the start, in a folder of the test."""
    monkeypatch.setattr(journal, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path / "cache"))


def records(tmp_path):
    return sorted((tmp_path / "cache" / "unfinished").glob("*.jsonl"))


def computation(stop_after=np.inf, n_jobs=1):
    """Two stages of ten tasks each, interrupted after some of them; returns the results and the tasks that were run."""
    ran = []

    def square(i):
        if len(ran) >= stop_after:
            raise KeyboardInterrupt
        ran.append(i)
        return np.array([float(i), i**2])

    results = []
    with recorded("squares") as kept:
        for stage in ("first", "second"):
            results.append(list(Workers(n_jobs).map(square, range(10), stage)))
    kept.remove()
    return results, ran


@pytest.mark.parametrize("stop_after", [1, 9, 10, 13, 19])
def test_a_continued_computation_runs_only_what_is_left(stop_after):
    with pytest.raises(KeyboardInterrupt):
        computation(stop_after)
    results, ran = computation()
    assert len(ran) == 20 - stop_after
    np.testing.assert_array_equal(results, computation()[0])


def test_the_record_of_a_finished_computation_is_removed(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        computation(5)
    assert len(records(tmp_path)) == 1
    computation()
    assert records(tmp_path) == []


def test_the_number_of_threads_does_not_matter():
    with pytest.raises(KeyboardInterrupt):
        computation(12, n_jobs=1)
    results, ran = computation(n_jobs=2)
    assert len(ran) == 8
    np.testing.assert_array_equal(results, computation()[0])


def test_nothing_is_recorded_at_first(monkeypatch, tmp_path):
    monkeypatch.setattr(journal, "PATIENCE_SECONDS", 60.0)
    with pytest.raises(KeyboardInterrupt):
        computation(15)
    assert records(tmp_path) == []


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-5], lambda c: c.replace(b"array", b"arrow", 1), lambda c: b"\0" * 100]
)
def test_what_is_damaged_is_computed_again(tmp_path, damage):
    with pytest.raises(KeyboardInterrupt):
        computation(15)
    (file,) = records(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    results, ran = computation()
    assert 5 < len(ran) <= 20
    np.testing.assert_array_equal(results, computation()[0])


def test_a_record_that_cannot_be_written_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("SPARSECLUSTER_CACHE", str(tmp_path / "file"))
    assert len(computation()[1]) == 20


def test_tasks_inside_of_tasks_are_part_of_their_results(tmp_path):
    def outer(i):
        return sum(Workers(1).map(lambda j: i * j, range(3), "inner"))

    for n_jobs in (1, 2):
        with recorded(f"nested{n_jobs}"):
            assert list(Workers(n_jobs).map(outer, range(4), "outer")) == [0, 3, 6, 9]
    one, two = (file.read_bytes() for file in records(tmp_path))
    assert one == two
    assert one.count(b"\n") == 4


def test_results_that_cannot_be_written_down_are_computed_again():
    for _ in range(2):
        ran = []
        with recorded("objects"):
            list(Workers(1).map(lambda i, ran=ran: ran.append(i) or object(), range(3), "objects"))
        assert ran == [0, 1, 2]


VALUES = [
    None,
    True,
    -3,
    0.1 + 0.2,
    float("inf"),
    "text\n\x1b é",
    [1, [2.5, None]],
    (1, (2,)),
    {3: np.arange(4, dtype=np.int32), "x": ()},
    np.array([[1.0, -0.0], [np.inf, 5e-324]]),
    np.zeros((0, 3), np.float32),
    np.float64(0.1),
    np.array([True, False]),
    Climb(np.zeros(3, np.int32), np.ones(2), np.array([1]), 0.5, (Step(0.5, 0, 0),)),
    Envelope(np.ones(2), np.array([0, 4]), {4: np.zeros(2, np.int32)}, 5),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back_as_they_were(value, tmp_path):
    kept = Journal(tmp_path / "record")
    kept.stage("values", 1)[1](value)
    kept.close()
    ((known,), _) = Journal(tmp_path / "record").stage("values", 1)
    assert type(known) is type(value)
    assert repr(known) == repr(value)


@pytest.mark.parametrize("record", [["os", "system"], ["sparsecluster.cli", "main"], ["sparsecluster.missing", "X"]])
def test_a_record_cannot_name_anything_but_values_of_this_package(tmp_path, record):
    text = json.dumps([[0, "values", 1], {"record": record, "parts": ["touch x"]}]).encode()
    (tmp_path / "record").write_bytes(b"%08x %s\n" % (zlib.crc32(text), text))
    assert Journal(tmp_path / "record").stage("values", 1)[0] == []


def test_two_runs_of_the_same_computation_do_not_mix_their_records(tmp_path):
    one, other = Journal(tmp_path / "record"), Journal(tmp_path / "record")
    (_, record), (_, record_other) = one.stage("tasks", 2), other.stage("tasks", 2)
    record(1)
    record_other(1)
    record(2)
    record_other(2)
    assert Journal(tmp_path / "record").stage("tasks", 2)[0] == [1, 2]


def test_records_that_nobody_continues_are_removed_after_a_month(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        computation(5)
    (file,) = records(tmp_path)
    os.utime(file, (0, time.time() - 31 * 86_400))
    with recorded("another"):
        pass
    assert records(tmp_path) == []


# ---------------------------------------------------------------- sparsecluster fit


@pytest.fixture
def table(tmp_path):
    X, *_ = shifted_groups(mu=1.0, n_features=30, n_useful=6, group_size=10)
    np.save(tmp_path / "table.npy", X)
    return tmp_path / "table.npy"


def fit(table, out, monkeypatch, *options, stop_after=np.inf):
    """Run `sparsecluster fit`, interrupted after some of its tasks; returns its exit code and the number of tasks."""
    numbers = count()
    as_one_task = journal.as_one_task

    def interrupting(function):
        def run(task):
            if next(numbers) >= stop_after:
                raise KeyboardInterrupt
            return as_one_task(function)(task)

        return run

    monkeypatch.setattr("sparsecluster._utils.parallel.as_one_task", interrupting)
    found = CliRunner().invoke(app, ["fit", str(table), "-k", "2-4", "--out", str(out), *options])
    return found.exit_code, next(numbers), found.stderr


def contents(folder):
    # The summary holds the command, which is that of the test runner.
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# A task of a fit is lost with each interruption; one of an assessment is a fit with many starts, which count here.
@pytest.mark.parametrize(("option", "most_lost"), [("--no-assess", 1), ("--assess", 500)])
def test_an_interrupted_fit_continues_and_writes_the_same_files(table, tmp_path, monkeypatch, option, most_lost):
    code, whole, told = fit(table, tmp_path / "whole", monkeypatch, option)
    assert code == 0
    assert "interrupted before" not in told
    assert fit(table, tmp_path / "parts", monkeypatch, option, stop_after=whole // 3)[0] == 130
    assert not (tmp_path / "parts").exists()
    assert fit(table, tmp_path / "parts", monkeypatch, option, stop_after=whole // 3)[0] == 130
    code, left, told = fit(table, tmp_path / "parts", monkeypatch, option)
    assert code == 0
    assert "This fit was interrupted before" in told
    assert left <= whole - 2 * (whole // 3) + most_lost
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert records(tmp_path) == []


@pytest.mark.parametrize("options", [["--seed", "1"], ["--method", "sparse-kmeans"], ["--size", "5"]])
def test_a_fit_with_other_parameters_begins_anew(table, tmp_path, monkeypatch, options):
    fit(table, tmp_path / "one", monkeypatch, stop_after=8)
    fit(table, tmp_path / "other", monkeypatch, *options)
    fit(table, tmp_path / "whole", monkeypatch, *options)
    assert contents(tmp_path / "other") == contents(tmp_path / "whole")


def test_a_fit_of_another_table_begins_anew(table, tmp_path, monkeypatch):
    fit(table, tmp_path / "one", monkeypatch, stop_after=8)
    X = np.load(table)
    X[0, 0] += 1e-12
    np.save(table, X)
    _, ran, _ = fit(table, tmp_path / "other", monkeypatch)
    assert ran == fit(table, tmp_path / "whole", monkeypatch)[1]


# ---------------------------------------------------------------- sparsecluster compare


def test_an_interrupted_comparison_runs_only_the_methods_that_are_left(table, tmp_path, monkeypatch):
    ran, compared = [], compare._compared

    def interrupted(make, name, *args):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(name)
        return compared(make, name, *args)

    command = ["compare", str(table), "-k", "3", "--methods", "ward,kmeans++,sas", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(compare, "_compared", interrupted)
    assert CliRunner().invoke(app, command).exit_code == 130
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(compare, "_compared", lambda *args: ran.append(args[1]) or compared(*args))
    assert CliRunner().invoke(app, command).exit_code == 0
    assert ran == ["ward", "kmeans++", "sas"]
    assert "sas" in (tmp_path / "out" / "comparison.csv").read_text()
    assert records(tmp_path) == []
