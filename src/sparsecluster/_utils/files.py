"""Writing files completely or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .parts import HAS_LOCKS, Held, hold, hold_abandoned, part_of, parts_of
from .text import visible

# These names stand for files that are open already. What is written there follows what was written before.
OPEN_ALREADY = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
STANDARD_STREAMS = (1, 2)

# What kinds of places are refused, and what to do.
REFUSED = (
    (stat.S_ISDIR, "it is a folder. Name a file in it"),
    (stat.S_ISBLK, "it is a disk, not a file. Choose another name"),
    (stat.S_ISSOCK, "it is a socket, not a file. Choose another name"),
)
NOT_A_FOLDER = "a part of its path is a file, not a folder. Choose another place"
NOT_ALLOWED = "permission denied. Choose a place where you may write"
# The reasons that are known, and what to do.
REASONS = {
    errno.ENOSPC: "the disk is full. Free some space, or choose another place",
    errno.EDQUOT: "your disk quota is used up. Free some space, or choose another place",
    errno.EFBIG: "it is larger than files may be here. Choose another place",
    errno.EROFS: "the file system is read-only. Choose another place",
    errno.EACCES: NOT_ALLOWED,
    errno.EPERM: NOT_ALLOWED,
    errno.ENOTDIR: NOT_A_FOLDER,
    errno.EEXIST: NOT_A_FOLDER,
    errno.ENAMETOOLONG: "its name is too long. Choose a shorter one",
    errno.ELOOP: "its symbolic links point at each other. Remove one of them, or choose another name",
}


class WriteError(OSError):
    """A file could not be written. The message names the file and says why and what to do."""

    def __init__(self, file: str | os.PathLike[str], reason: str, number: int | None = None) -> None:
        super().__init__(number, reason, os.fspath(file))
        self.file, self.reason = Path(file), reason

    def __str__(self) -> str:
        return f"{visible(self.file)} could not be written: {self.reason}."


@contextmanager
def writing(file: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of the operating system into errors that name this file, but for that of a closed output."""
    try:
        yield
    except (WriteError, BrokenPipeError):
        raise
    except OSError as error:
        known = REASONS.get(error.errno or 0)
        raise WriteError(file, known or f"{error.strerror or error}. Choose another place", error.errno) from error


def write(file: Path, content: str | bytes | Iterable[str]) -> Path:
    """Write a file completely or not at all.

    A regular file is written under a temporary name in the same folder and renamed, so that nobody ever sees half a
    file; it keeps its permissions. A symbolic link stays, and the file that it points to is replaced. Pipes and
    terminals are written as they are.

    Parameters
    ----------
    file : Path
        File to write. Missing folders are made.
    content : str, bytes or iterable of str
        What to write, as a whole or in parts. Halves of characters, which text may have in the place of bytes that
        are no text, are escaped.

    Returns
    -------
    Path
        The file, as it was given.

    Raises
    ------
    WriteError
        If the file cannot be written. An existing file is unchanged then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "new" / "file.txt", "text").read_text()
    'text'
    """
    parts = [content] if isinstance(content, str | bytes) else content
    # In JSON, too, a backslash escapes half a character.
    data = (each if isinstance(each, bytes) else each.encode(errors="backslashreplace") for each in parts)
    with writing(file):
        try:
            old = os.stat(file)
        except FileNotFoundError:
            old = None
        if old is not None and (not stat.S_ISREG(old.st_mode) or os.path.abspath(file).startswith(OPEN_ALREADY)):
            _stream(file, old, data)
        else:
            _replace(Path(os.path.realpath(file)), old, data)
    return file


def _stream(file: Path, old: os.stat_result, data: Iterable[bytes]) -> None:
    number = next((each for each in STANDARD_STREAMS if _is_open(each, old)), None)
    if number is None:
        for is_refused, reason in REFUSED:
            if is_refused(old.st_mode):
                raise WriteError(file, reason)
    # A copy of a standard stream shares its place in the file; opened by name, the file would begin again.
    place = file if number is None else os.dup(number)
    try:
        with open(place, "ab" if stat.S_ISREG(old.st_mode) and number is None else "wb") as stream:
            stream.writelines(data)
    except BrokenPipeError as error:
        if number is not None:
            raise
        raise WriteError(file, "the program that reads it has ended. Start it again", error.errno) from error


def _is_open(number: int, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), file)
    except OSError:
        return False


def _replace(target: Path, old: os.stat_result | None, data: Iterable[bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    clean(target)
    part, held = _new_part(target)
    try:
        with open(held.descriptor, "wb", closefd=False) as new:
            new.writelines(data)
            new.flush()
            # Without this, a file may be empty after a power failure, although it has its name.
            os.fsync(held.descriptor)
        if old is not None:
            like(part, old)
        if not HAS_LOCKS:
            held.close()  # Windows does not rename open files
        # As long as the file is locked, nobody takes it for one that was left behind.
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        held.close()


def _new_part(target: Path) -> tuple[Path, Held]:
    while True:
        # A file created like this, unlike one from `tempfile`, gets the user's default permissions.
        part = part_of(target)
        held = hold(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        # Before it was locked, another program may have taken it for a file that was left behind.
        if held is not None:
            return part, held


def like(new: Path, old: os.stat_result) -> None:
    """Give a new file or folder the owner, as far as possible, and the permissions of the one that it replaces."""
    with suppress(OSError, AttributeError):
        os.chown(new, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.chmod(new, stat.S_IMODE(old.st_mode))


def clean(target: Path) -> None:
    """Remove what killed programs left when they wrote this file."""
    for part in parts_of(target):
        held = None if part.is_dir() else hold_abandoned(part)
        if held is not None:
            with suppress(OSError):
                part.unlink()
            held.close()
