"""A file is written completely or not at all, wherever its name leads, and errors name it and say what to do."""

import errno
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sparsecluster._utils import files, parts
from sparsecluster._utils.files import WriteError, write
from sparsecluster.io.models import save_model

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, links and locks of POSIX")


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def refuses(file, *words):
    return pytest.raises(WriteError, match=".*".join([re.escape(str(file)), "could not be written", *words]))


# ---------------------------------------------------------------- where a name leads


def test_a_new_file_and_its_folders_are_made(tmp_path):
    file = tmp_path / "deep" / "er" / "file.txt"
    assert write(file, "naïve\n") == file
    assert file.read_bytes() == "naïve\n".encode()
    assert names(file.parent) == ["file.txt"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o751])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    file = tmp_path / "file.txt"
    file.write_text("old")
    file.chmod(mode)
    write(file, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", mode)


@posix
def test_a_new_file_has_the_permissions_that_the_user_gives_to_files(tmp_path):
    old = os.umask(0o027)
    try:
        write(tmp_path / "file.txt", "new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == 0o640


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_the_file_that_it_points_to_is_written(tmp_path, exists):
    target, link, second = tmp_path / "there" / "file.txt", tmp_path / "link.txt", tmp_path / "second.txt"
    target.parent.mkdir()
    if exists:
        target.write_text("old")
    link.symlink_to("there/file.txt")
    second.symlink_to(link)
    write(second, "new")
    assert link.is_symlink()
    assert second.is_symlink()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["link.txt", "second.txt", "there"]
    assert names(target.parent) == ["file.txt"]


@posix
def test_links_that_point_at_each_other_are_refused(tmp_path):
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with refuses(tmp_path / "one", "symbolic links point at each other", "Remove one"):
        write(tmp_path / "one", "new")
    assert names(tmp_path) == ["one", "other"]


@posix
def test_a_pipe_is_written_and_stays_a_pipe(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write(pipe, "through the pipe")
    reader.join(10)
    assert read == [b"through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@posix
def test_a_device_is_written_and_stays_a_device():
    write(Path("/dev/null"), "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


PRINT_AND_WRITE = (
    "import sys; from pathlib import Path; from sparsecluster._utils.files import write;"
    "print('before', flush=True); write(Path(sys.argv[1]), 'written\\n'); print('after')"
)


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("where", ["a pipe", "a file"])
def test_standard_output_by_its_name_follows_what_was_printed(tmp_path, name, where):
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("there are no names of open files here")
    command = [sys.executable, "-c", PRINT_AND_WRITE, name]
    if where == "a pipe":
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    else:
        with (tmp_path / "out.txt").open("w") as out:
            subprocess.run(command, stdout=out, check=True)
        told = (tmp_path / "out.txt").read_text()
        assert names(tmp_path) == ["out.txt"]
    assert told == "before\nwritten\nafter\n"


# ---------------------------------------------------------------- what is refused


def test_a_folder_is_refused(tmp_path):
    with refuses(tmp_path, "it is a folder", "Name a file in it"):
        write(tmp_path, "new")


@posix
def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with refuses("socket", "it is a socket"):
            write(Path("socket"), "new")
    assert stat.S_ISSOCK(os.stat("socket").st_mode)


@posix
def test_a_disk_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "disk"
    file.write_text("old")
    monkeypatch.setattr(files.os, "stat", lambda file, own=os.stat: as_disk(own(file)))
    with refuses(file, "it is a disk"):
        write(file, "new")
    assert file.read_text() == "old"


def as_disk(found):
    return os.stat_result((stat.S_IFBLK | 0o644, *found[1:]))


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for file in (tmp_path / "file" / "new.txt", tmp_path / "file" / "deep" / "new.txt"):
        with refuses(file, "is a file, not a folder", "Choose another place"):
            write(file, "new")


@pytest.mark.parametrize("length", [250, 255])
def test_a_name_as_long_as_names_may_be_is_written(tmp_path, length):
    write(tmp_path / ("n" * length), "new")
    assert names(tmp_path) == ["n" * length]


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with refuses(tmp_path / ("n" * 300), "its name is too long", "Choose a shorter one"):
        write(tmp_path / ("n" * 300), "new")


# ---------------------------------------------------------------- what may go wrong

ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "quota",
    errno.EROFS: "read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: os.strerror(errno.EIO),
}


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_an_error_names_the_file_and_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch, number, step):
    file = tmp_path / "file.txt"
    file.write_text("old")

    def fail(*given, **options):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, step, fail)
        with refuses(file, ERRORS[number]):
            write(file, "new")
    assert file.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


FULL = """
import resource, signal, sys
from pathlib import Path
from sparsecluster._utils.files import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write(Path(sys.argv[1]), "x" * 10_000)
except OSError as error:
    print(error)
"""


@posix
def test_a_file_that_does_not_fit_is_not_written_by_half(tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("old")
    told = subprocess.run([sys.executable, "-c", FULL, str(file)], capture_output=True, text=True, check=True).stdout
    assert told == f"{file} could not be written: it is larger than files may be here. Choose another place.\n"
    assert (file.read_text(), names(tmp_path)) == ("old", ["file.txt"])


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    file = tmp_path / "file.txt"
    file.write_text("old")

    def interrupt(descriptor):
        raise error

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(error):
        write(file, "new")
    assert (file.read_text(), names(tmp_path)) == ("old", ["file.txt"])


def test_halves_of_characters_are_escaped(tmp_path):
    assert write(tmp_path / "file.txt", "caf\udce9").read_text() == r"caf\udce9"


@posix
def test_a_name_that_is_no_text_is_written_and_named_in_errors(tmp_path):
    file = tmp_path / os.fsdecode(b"caf\xe9.txt")
    assert write(file, "new").read_text() == "new"
    with pytest.raises(WriteError) as refused:
        write(file / "deep", "new")
    assert r"caf\udce9.txt" in str(refused.value)
    str(refused.value).encode()


def test_what_the_library_saves_is_refused_in_the_same_words(tmp_path):
    from sparsecluster import SASClustering, write_report
    from sparsecluster.datasets import shifted_groups

    X = shifted_groups(mu=3.0, n_features=6, n_useful=3, group_size=6, seed=0).X
    found = SASClustering(3, n_features_to_select=3).fit(X)
    with refuses(tmp_path, "it is a folder"):
        save_model(found, tmp_path)
    with refuses(tmp_path, "it is a folder"):
        write_report(found, X, tmp_path)


# ---------------------------------------------------------------- killed and living programs

WRITE_FOREVER = """
import os, sys, time
from pathlib import Path
from sparsecluster._utils import files
def wait(descriptor):
    print("writing", flush=True)
    time.sleep(600)
files.os.fsync = wait
files.write(Path(sys.argv[1]), "half")
"""


@pytest.fixture
def writer(tmp_path):
    """A program that has written a file under its temporary name, and has not renamed it yet."""
    command = [sys.executable, "-c", WRITE_FOREVER, str(tmp_path / "file.txt")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


@posix
def test_what_a_killed_program_left_is_removed_when_the_file_is_written_again(tmp_path, writer):
    writer.kill()
    writer.wait()
    assert len(names(tmp_path)) == 1
    write(tmp_path / "other.txt", "new")
    assert len(names(tmp_path)) == 2
    write(tmp_path / "file.txt", "new")
    assert names(tmp_path) == ["file.txt", "other.txt"]


@posix
def test_what_a_living_program_writes_is_left_alone(tmp_path, writer):
    write(tmp_path / "file.txt", "new")
    assert len(names(tmp_path)) == 2
    assert writer.poll() is None


@posix
def test_files_of_the_user_that_look_similar_are_left_alone(tmp_path):
    own = [".file.txt-1.part", "file.txt-0123abcd.part", ".file.txt-0123abcd.part.bak", ".other-0123abcd.part"]
    for name in own:
        (tmp_path / name).write_text("")
    write(tmp_path / "file.txt", "new")
    assert names(tmp_path) == sorted([*own, "file.txt"])


@posix
def test_a_file_that_is_taken_for_a_leftover_before_it_is_locked_is_begun_again(tmp_path, monkeypatch):
    own, taken = parts.fcntl.flock, []

    def flock(descriptor, how):
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        own(descriptor, how)

    monkeypatch.setattr(parts.fcntl, "flock", flock)
    write(tmp_path / "file.txt", "new")
    assert len(taken) == 1
    assert (tmp_path / "file.txt").read_text() == "new"
    assert names(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("is_old", [True, False])
def test_where_there_are_no_locks_leftovers_are_known_by_their_age(tmp_path, monkeypatch, is_old):
    left = tmp_path / ".file.txt-0123abcd.part"
    left.write_text("half")
    if is_old:
        os.utime(left, (0, 0))
    monkeypatch.setattr(parts, "fcntl", None)
    monkeypatch.setattr(files, "HAS_LOCKS", False)
    write(tmp_path / "file.txt", "new")
    assert left.exists() != is_old


def test_programs_that_write_the_same_file_never_make_a_mixture(tmp_path):
    file, contents = tmp_path / "file.txt", [letter * 100_000 for letter in "abcd"]
    threads = [threading.Thread(target=lambda own=own: [write(file, own) for _ in range(10)]) for own in contents]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        if file.exists():
            seen.add(file.read_text())
    assert seen <= set(contents)
    assert names(tmp_path) == ["file.txt"]
