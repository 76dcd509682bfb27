"""Faults of tables in parts: what cannot be read is named, and no result is ever half a result."""

import errno
import os
import signal
import subprocess
import sys
import threading

import pyarrow.parquet
import pytest

from sparsecluster._blocks import watch
from sparsecluster.cli import parts as cli_parts
from sparsecluster.io import FileError, Options
from sparsecluster.io.parts import open_parts
from tests.helpers.parts import FEATURES, QUICK, cut, made_table, ran, refused, same_result

pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def table():
    return made_table()


@pytest.fixture
def place(tmp_path, table):
    """A folder with parts of two formats."""
    for number, part in enumerate(cut(table)):
        part.to_parquet(tmp_path / f"{number}.parquet")
        part.to_csv(tmp_path / f"{number}.csv", index=False)
    return tmp_path


# ---------------------------------------------------------------- parts that are refused


def without(name):
    return lambda part: part.drop(columns=name)


def with_text(part):
    return part.assign(f2=["tall", *map(str, part["f2"][1:])])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("f3"), ["lacks 'f3'", "same columns"]),
        (lambda part: part.assign(f9=1.0), ["has in addition 'f9'"]),
        (with_text, ["f2", "holds numbers", "--drop"]),
        (
            lambda part: part.assign(group=[None, *part["group"][1:]]),
            ["'group'", "a group in every row"],
        ),
        (lambda part: part.assign(name=[None, *part["name"][1:]]), ["'name'", "an id in every row"]),
        (lambda part: part.assign(name="same"), ["ids must be unique", "'same'"]),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_part_unlike_the_others_is_named_before_the_work_begins(place, table, monkeypatch, change, words, ending):
    monkeypatch.setattr(cli_parts, "fit_parts", lambda *given: pytest.fail("the work has begun"))
    part, file = change(cut(table)[2]), place / f"2.{ending}"
    part.to_parquet(file) if ending == "parquet" else part.to_csv(file, index=False)
    if ending == "csv" and change is with_text:
        # Only a value that the first look at the types does not see is an error.
        monkeypatch.setattr("sparsecluster.io._parts_text.PLACES", 1)
    message = refused("fit", place / f"?.{ending}", *QUICK, "--id", "name", "--truth", "group", "-o", place / "out")
    for word in (*words, f"2.{ending}"):
        assert word in message
    assert not (place / "out").exists()


def cut_off(file):
    file.write_bytes(file.read_bytes()[:-100])


def scrambled(file):
    content = bytearray(file.read_bytes())
    content[200:3000] = os.urandom(2800)
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [cut_off, scrambled, lambda file: file.write_bytes(b""), lambda file: file.unlink()])
def test_a_damaged_part_is_named(place, damage):
    damage(place / "2.parquet")
    files = [place / f"{number}.parquet" for number in range(4)]
    assert "2.parquet" in refused("fit", *files, *QUICK, "-o", place / "out")
    assert not (place / "out").exists()


def test_a_damaged_part_of_text_is_named_with_its_line(place):
    lines = (place / "2.csv").read_text().splitlines()
    lines[100] = lines[100].replace(",", ",,", 1)
    (place / "2.csv").write_text("\n".join(lines))
    message = refused("fit", place / "?.csv", *QUICK, "-o", place / "out")
    assert "2.csv, line 101: expected 9 cells but found 10" in message


def test_a_damaged_compressed_part_is_named(place, table):
    for number, part in enumerate(cut(table)):
        part.to_csv(place / f"{number}.csv.gz", index=False)
    cut_off(place / "3.csv.gz")
    assert "3.csv.gz cannot be decompressed" in refused("fit", place / "?.csv.gz", *QUICK, "-o", place / "out")


def test_a_damaged_array_of_zarr_is_named(tmp_path, table):
    zarr = pytest.importorskip("zarr")
    X = table[FEATURES].to_numpy()
    stored = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(500, 6), dtype="f8")
    stored[:] = X
    (tmp_path / "X.zarr" / "c" / "2" / "0").write_bytes(b"damaged")
    assert "X.zarr cannot be read" in refused("fit", tmp_path / "X.zarr", *QUICK, "-o", tmp_path / "out")


def test_a_part_that_vanishes_after_it_was_opened_is_named(place):
    parts = open_parts([str(place / "?.parquet")])
    (place / "1.parquet").unlink()
    with pytest.raises(FileError, match=r"1\.parquet cannot be read"):
        parts.check()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["nothing-*.csv"], "No file matches"),
        (["0.parquet", "0.csv"], "same format"),
        (["0.parquet", "0.parquet"], "only once"),
        (["0.parquet", "absent.parquet"], "There is no file"),
        (["0.parquet", "-"], "Standard input"),
        (["notes.xlsx", "0.csv"], "must be Parquet, CSV or Zarr"),
        (["empty"], "folder without parts"),
        (["nested"], "holds another folder, inner"),
        (["0.csv", "open.csv"], "open.csv"),
    ],
)
def test_names_that_are_no_parts_are_refused_with_what_to_do(place, monkeypatch, given, words):
    monkeypatch.chdir(place)
    (place / "notes.xlsx").write_text("x")
    (place / "empty").mkdir()
    (place / "nested" / "inner").mkdir(parents=True)
    (place / "open.csv").write_text("name," + ",".join(FEATURES) + ',color,group\ns0,"1,2\n' + "3\n" * 100_000)
    with pytest.raises(FileError) as caught:
        open_parts(given, options=Options(max_memory="2MB")).check()
    assert words in str(caught.value)


def test_parts_cannot_be_transposed(place):
    assert "--transpose" in refused("fit", place / "?.parquet", *QUICK, "--transpose", "-o", place / "out")


# ---------------------------------------------------------------- results


def test_a_full_disk_leaves_the_old_result(place, monkeypatch):
    ran("fit", place / "?.parquet", *QUICK, "--drop", "group", "-o", place / "out")
    before = {file: file.read_bytes() for file in sorted((place / "out").rglob("*")) if file.is_file()}

    def full(table, file, write=pyarrow.parquet.write_table):
        if file.endswith("part-00002.parquet"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(table, file)

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    command = ("fit", place / "?.parquet", *QUICK, "--drop", "group", "--seed", "1", "-o", place / "out")
    message = refused(*command)
    assert "out/labels/part-00002.parquet could not be written: the disk is full" in message
    after = {file: file.read_bytes() for file in sorted((place / "out").rglob("*")) if file.is_file()}
    assert after == before
    assert not [file for file in place.iterdir() if file.name.startswith(".")]


SLOW = """
import sys, time
from sparsecluster.cli import app, parts
def slow(*given, **more):
    print("writing", flush=True)
    time.sleep(2)
parts.put_part = slow
slow.__name__ = "put_part"
app(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
def test_a_fit_that_is_ended_while_it_writes_leaves_no_result(place, number, code):
    command = ["fit", str(place / "?.parquet"), *QUICK, "--drop", "group", "-o"]
    run = subprocess.Popen(
        [sys.executable, "-c", SLOW, *command, str(place / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert run.stdout.readline() == "writing\n"
        run.send_signal(number)
        _, told = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == code
    assert "Traceback" not in told
    assert not (place / "out").exists()
    # What was left behind is cleaned up by the next fit.
    ran(*command, place / "out")
    assert not [file for file in place.iterdir() if file.name.startswith(".out")]


# ---------------------------------------------------------------- clusters and progress


# Without files and commands, test_blocks_cluster.py shows the same sooner.
@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_of_a_pass_changes_nothing(place, table):
    distributed = pytest.importorskip("distributed")
    table.to_csv(place / "whole.csv", index=False)
    ran("fit", place / "whole.csv", *QUICK, "--truth", "group", "-o", place / "whole")
    for number, part in enumerate(cut(table, 24)):
        part.to_csv(place / f"many-{number:02d}.csv", index=False)
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, **options) as here, distributed.Client(here) as client:
        victim = next(iter(client.run(os.getpid).values()))
        is_over = threading.Event()
        killed = []

        def kill():
            while not is_over.wait(0.01):
                if client.run_on_scheduler(watch.n_left, task="guarded") > 2:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                    return

        thread = threading.Thread(target=kill)
        thread.start()
        address = here.scheduler_address
        words = ("--truth", "group", "--scheduler", address, "-o", place / "out")
        ran("fit", place / "many-*.csv", *QUICK, *words)
        is_over.set()
        thread.join()
    assert killed == [victim]
    same_result(place / "out", place / "whole")


def test_passes_are_shown_after_two_seconds_on_a_terminal_only(place, monkeypatch):
    shown = []
    monkeypatch.setattr("sparsecluster._utils.progress.is_watched", lambda: True)
    monkeypatch.setattr("sparsecluster._utils.progress.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("sparsecluster._utils.progress.REFRESH_SECONDS", 0.0)
    monkeypatch.setattr("sparsecluster._utils.progress.whisper", lambda text, end="\n": shown.append(text.strip()))
    ran("fit", place / "?.parquet", *QUICK, "--drop", "group", "-o", place / "out")
    passes = {text.split(":")[0] for text in shown if text.startswith("blocks in pass")}
    assert "blocks in pass 1: 4 of 4" in shown
    assert len(passes) > 3
    shown.clear()
    ran("fit", place / "?.parquet", *QUICK, "--drop", "group", "--quiet", "-o", place / "out")
    assert shown == []
