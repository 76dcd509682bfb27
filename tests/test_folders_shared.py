"""Folders of results, and programs that write at the same time or are killed: nothing is mixed and nothing is lost."""

import errno
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from sparsecluster._utils import folders
from sparsecluster._utils.folders import check_place, replaced
from tests.helpers.folders import FILES, KIND, held, put, result
from tests.helpers.folders import way as way

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX only"),
    pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning"),
]


# ---------------------------------------------------------------- several programs


def test_of_several_results_at_the_same_time_one_stays_as_a_whole(tmp_path, way):
    out, contents = tmp_path / "out", "abcd"
    put(out, "old")
    (out / "mine.txt").write_text("mine")
    threads = [threading.Thread(target=lambda own=own: [put(out, own) for _ in range(8)]) for own in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = held(out)
    assert found.pop("mine.txt") == "mine"
    assert found in [result(content) for content in contents]
    assert os.listdir(tmp_path) == ["out"]


def test_a_reader_never_sees_a_mixture(tmp_path):
    out = tmp_path / "out"
    put(out, "0")
    writer = threading.Thread(target=lambda: [put(out, str(number)) for number in range(1, 40)])
    writer.start()
    seen = set()
    while writer.is_alive():
        # What is read through one open folder is of one result, even if that is replaced and removed meanwhile.
        folder = os.open(out, os.O_RDONLY)
        read = set()
        for name in FILES:
            try:
                file = os.open(name, os.O_RDONLY, dir_fd=folder)
            except FileNotFoundError:
                continue
            read.add(os.read(file, 10))
            os.close(file)
        os.close(folder)
        assert len(read) <= 1
        seen |= read
    assert len(seen) > 1


# ---------------------------------------------------------------- killed programs

PUT_FOREVER = """
import itertools, sys
from pathlib import Path
from sparsecluster._utils import files, folders
kind = folders.Kind("tests", sys.argv[3:], lambda folder: True)
if sys.argv[2] == "two steps":
    def refuse(one, other):
        raise OSError(38, "no")
    folders.exchange = refuse
print("ready", flush=True)
for number in itertools.count():
    with folders.replaced(Path(sys.argv[1]), kind) as new:
        for name in kind.files:
            files.write(new / name, str(number))
"""


def test_a_program_killed_at_any_moment_leaves_one_result_and_the_next_one_cleans_up(tmp_path, way):
    out, rng = tmp_path / "out", random.Random(0)
    put(out, "old")
    (out / "mine.txt").write_text("mine")
    for _ in range(10):
        command = [sys.executable, "-c", PUT_FOREVER, str(out), way, *FILES]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
        # Where names cannot be exchanged, the folder may be away until the next program comes.
        assert out.exists() or way == "two steps"
        if out.exists():
            found = held(out)
            found.pop("mine.txt", None)
            assert set(found) == set(FILES)
            assert len(set(found.values())) == 1
        check_place(out, KIND)
        assert held(out)["mine.txt"] == "mine"
        assert os.listdir(tmp_path) == ["out"]


LEFT = ".out-0123abcd"


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("ending", ["part", "old"])
def test_what_the_user_had_in_a_folder_comes_back_from_a_killed_program(tmp_path, exists, ending):
    out, left = tmp_path / "out", tmp_path / f"{LEFT}.{ending}"
    put(left, "old")
    (left / "mine.txt").write_text("mine")
    if exists:
        put(out, "new")
    check_place(out, KIND)
    assert held(tmp_path) == {
        **{f"out/{name}": "new" if exists else "old" for name in FILES},
        "out/mine.txt": "mine",
    }


def test_a_result_that_was_being_written_when_the_program_was_killed_is_removed(tmp_path):
    put(tmp_path / "out", "old")
    left = tmp_path / f"{LEFT}.part"
    left.mkdir()
    (left / "a.txt").write_text("half")
    (left / ".b.txt-0123abcd.part").write_text("ha")
    check_place(tmp_path / "out", KIND)
    assert held(tmp_path) == {f"out/{name}": "old" for name in FILES}


def test_two_files_of_the_user_with_the_same_name_are_both_kept(tmp_path):
    out, left = tmp_path / "out", tmp_path / f"{LEFT}.part"
    put(out, "new")
    left.mkdir()
    (left / "mine.txt").write_text("first")
    (out / "mine.txt").write_text("second")
    check_place(out, KIND)
    assert held(out) == {**result("new"), "mine.txt": "second", "mine.txt.1": "first"}


def test_what_another_program_is_writing_is_left_alone(tmp_path):
    out = tmp_path / "out"
    with replaced(out, KIND) as new:
        (new / "a.txt").write_text("first")
        put(out, "second")
        check_place(out, KIND)
        assert new.exists()
    assert held(tmp_path) == {"out/a.txt": "first"}


def test_where_the_old_folder_cannot_be_put_back_at_once_the_next_program_does(tmp_path, monkeypatch):
    """In two steps: killed after the first of them."""
    out = tmp_path / "out"
    put(out, "old")
    (out / "mine.txt").write_text("mine")
    steps = itertools.count()

    class Killed(BaseException):
        pass

    def rename(one, other, own=os.rename):
        if next(steps):
            raise Killed
        own(one, other)

    def refuse(one, other):
        raise OSError(errno.ENOSYS, "no")

    with monkeypatch.context() as patch:
        patch.setattr(folders, "exchange", refuse)
        patch.setattr(folders.os, "rename", rename)
        with pytest.raises(Killed):
            put(out, "new")
    assert not out.exists()
    check_place(out, KIND)
    assert held(tmp_path) == {**{f"out/{name}": "old" for name in FILES}, "out/mine.txt": "mine"}
