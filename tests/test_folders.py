"""A folder of results is the old result or the new one, never a mixture, and nothing of the user's is ever lost."""

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest

from sparsecluster._utils import folders
from sparsecluster._utils.files import WriteError, write
from sparsecluster._utils.folders import check_place, replaced
from tests.helpers.common import refuses
from tests.helpers.folders import FILES, KIND, held, put, result
from tests.helpers.folders import way as way

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX only"),
    pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning"),
]

# ---------------------------------------------------------------- one result after another


def test_a_new_result_replaces_the_old_one_and_leaves_nothing_of_it(tmp_path, way):
    put(tmp_path / "out", "old")
    put(tmp_path / "out", "new", FILES[1:])
    assert held(tmp_path) == {f"out/{name}": "new" for name in FILES[1:]}


def test_what_the_user_put_into_a_result_stays_there(tmp_path, way):
    out = tmp_path / "out"
    put(out, "old")
    (out / "notes").mkdir()
    (out / "notes" / "mine.txt").write_text("mine")
    (out / ".hidden").write_text("mine")
    (out / "link").symlink_to("a.txt")
    put(out, "new")
    assert held(out) == {**result("new"), "notes/mine.txt": "mine", ".hidden": "mine", "link": "new"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_of_the_user_with_the_name_of_a_file_is_kept_under_another(tmp_path, way):
    out = tmp_path / "out"
    (out / "a.txt").mkdir(parents=True)
    (out / "a.txt" / "mine").write_text("mine")
    put(out, "new")
    assert held(out) == {**result("new"), "a.txt.1/mine": "mine"}


def test_folders_that_do_not_exist_are_made(tmp_path):
    put(tmp_path / "deep" / "er" / "out", "new")
    assert held(tmp_path / "deep" / "er" / "out") == result("new")


def test_a_replaced_folder_keeps_its_permissions(tmp_path, way):
    (tmp_path / "out").mkdir(mode=0o700)
    put(tmp_path / "out", "new")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_the_folder_that_it_points_to_is_the_result(tmp_path, exists):
    (tmp_path / "there").mkdir()
    if exists:
        put(tmp_path / "there" / "out", "old")
    (tmp_path / "link").symlink_to("there/out")
    put(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert held(tmp_path / "there") == {f"out/{name}": "new" for name in FILES}
    assert sorted(os.listdir(tmp_path)) == ["link", "there"]


@pytest.mark.parametrize("inside", [".", "notes"])
def test_the_current_folder_stays_the_current_folder(tmp_path, monkeypatch, inside):
    out = tmp_path / "out"
    put(out, "old")
    (out / "notes").mkdir()
    (out / "mine.txt").write_text("mine")
    monkeypatch.chdir(out / inside)
    before = os.stat(".")
    put(out, "new", FILES[1:])
    assert os.path.samestat(before, os.stat("."))
    assert os.path.samestat(os.stat(out / inside), os.stat("."))
    assert held(out) == {**result("new", FILES[1:]), "mine.txt": "mine"}


def test_a_result_is_written_into_the_current_folder_by_its_shortest_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(Path(), "new")
    assert held(tmp_path) == result("new")


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV, errno.EPERM], ids=errno.errorcode.get)
def test_a_folder_that_cannot_be_renamed_is_filled_file_by_file(tmp_path, monkeypatch, number):
    out = tmp_path / "out"
    put(out, "old")
    (out / "mine.txt").write_text("mine")

    def refuse(one, other):
        raise OSError(number, "no")

    monkeypatch.setattr(folders, "exchange", refuse)
    before = out.stat()
    put(out, "new", FILES[1:])
    assert os.path.samestat(before, out.stat())
    assert held(tmp_path) == {**{f"out/{name}": "new" for name in FILES[1:]}, "out/mine.txt": "mine"}


def test_a_mount_point_is_filled_file_by_file(tmp_path):
    out, disk = tmp_path / "out", tmp_path / "disk"
    out.mkdir()
    disk.mkdir()
    with mounted("--bind", disk, out):
        put(out, "old")
        (out / "mine.txt").write_text("mine")
        put(out, "new")
        assert held(out) == {**result("new"), "mine.txt": "mine"}
    assert held(disk) == {**result("new"), "mine.txt": "mine"}
    assert held(out) == {}
    assert sorted(os.listdir(tmp_path)) == ["disk", "out"]


def test_a_folder_beside_which_nobody_may_write_is_filled_file_by_file(tmp_path, monkeypatch):
    out = tmp_path / "out"
    put(out, "old")
    own = os.access
    monkeypatch.setattr(folders.os, "access", lambda place, how: place != tmp_path and own(place, how))
    monkeypatch.setattr(folders, "exchange", None)
    put(out, "new")
    assert held(tmp_path) == {f"out/{name}": "new" for name in FILES}


class mounted:  # noqa: N801
    """Something mounted for a while; skips the test where that is not allowed."""

    def __init__(self, *arguments):
        self.arguments = [*map(str, arguments)]

    def __enter__(self):
        ended = subprocess.run(["mount", *self.arguments], capture_output=True, text=True, check=False)
        if ended.returncode:
            pytest.skip(f"nothing can be mounted here: {ended.stderr.strip()}")

    def __exit__(self, *_):
        subprocess.run(["umount", self.arguments[-1]], check=True)


# ---------------------------------------------------------------- errors


def test_after_an_error_the_old_result_is_unchanged_and_the_message_names_the_file(tmp_path, monkeypatch):
    out = tmp_path / "out"
    put(out, "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError) as refused:
        put(out, "new")
    assert str(refused.value).startswith(f"{out / 'a.txt'} could not be written: the disk is full.")
    assert held(tmp_path) == {f"out/{name}": "old" for name in FILES}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_after_any_error_the_old_result_is_unchanged_and_nothing_else_is_left(tmp_path, error):
    put(tmp_path / "out", "old")
    with pytest.raises(error), replaced(tmp_path / "out", KIND) as new:  # noqa: PT012
        write(new / "a.txt", "new")
        raise error
    assert held(tmp_path) == {f"out/{name}": "old" for name in FILES}
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_disk_leaves_the_old_result(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", disk):
        put(disk / "out", "old")
        with refuses(str(disk / "out" / "a.txt"), "the disk is full", error=WriteError):
            put(disk / "out", "new" * 30_000)
        assert held(disk) == {f"out/{name}": "old" for name in FILES}
        assert os.listdir(disk) == ["out"]


# ---------------------------------------------------------------- what is refused before the work


def test_a_place_that_is_fine_is_left_as_it_was(tmp_path):
    put(tmp_path / "old", "old")
    (tmp_path / "empty").mkdir()
    for name in ("old", "empty", "new", "deep/er/new"):
        check_place(tmp_path / name, KIND)
    assert sorted(os.listdir(tmp_path)) == ["empty", "old"]


def test_a_folder_that_is_no_result_is_used_only_if_that_is_wanted(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with refuses(str(tmp_path), "is not empty and is not a result of tests: it has notes.txt", "--force"):
        check_place(tmp_path, KIND)
    check_place(tmp_path, KIND, force=True)
    put(tmp_path, "new")
    assert held(tmp_path) == {**result("new"), "notes.txt": "mine"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    for force in (True, False):
        with refuses("file is not a folder"):
            check_place(tmp_path / "file", KIND, force)
        with refuses("file/deep could not be written", "is a file, not a folder", error=WriteError):
            check_place(tmp_path / "file" / "deep", KIND, force)


def test_links_that_point_at_each_other_are_refused(tmp_path):
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with refuses("one could not be written", "symbolic links", error=WriteError):
        check_place(tmp_path / "one", KIND)


@pytest.mark.parametrize("name", ["out", "new", "deep/er/new"])
def test_a_read_only_file_system_is_refused(tmp_path, name):
    disk = tmp_path / "disk"
    put(disk / "out", "old")
    with mounted("--bind", "-o", "ro", disk, disk):
        if os.access(disk, os.W_OK):
            pytest.skip("a read-only file system cannot be mounted here")
        with refuses("could not be written", error=WriteError):
            check_place(disk / name, KIND)
