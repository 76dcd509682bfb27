"""Folders of results that change all at once: the files of the old result, or those of the new one, never a mixture.

A result is written into a hidden folder beside its place and exchanged with the old one in a single step. Then the
files that belong to the user, whose names are not those of results, are moved over, and the old result is removed. A
program that was killed in between leaves a hidden folder, which the next program puts in order.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from .files import WriteError, like, writing
from .parts import Held, hold, hold_abandoned, is_part, part_of, parts_of
from .text import visible

# Numbers of Linux: paths are relative to the current folder; exchange two names.
AT_FDCWD, RENAME_EXCHANGE = -100, 2
# Errors that say that names cannot be exchanged here, or that a folder must keep its name.
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
STAYS = (errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM)
# Errors that say that another program has made a folder of this name in the meantime.
TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


# The names of files that are written in parts.
PART_FILE = re.compile(r"part-\d{5,}\.parquet")


class Kind(NamedTuple):
    """What a command writes into a folder."""

    name: str  # as in "a result of fit"
    files: Collection[str]
    is_result: Callable[[Path], bool]  # whether a folder holds such a result
    folder: str | None = None  # the name of a folder of parts among the files; "" if the files themselves are parts


def check_place(folder: Path, kind: Kind, force: bool = False) -> None:
    """Check that a result can be written into a folder, before the work that leads to it.

    What a killed program left there is put in order. Nothing else is changed.

    Parameters
    ----------
    folder : Path
        Where the result will be.
    kind : Kind
        What will be written.
    force : bool, default=False
        Whether a folder that holds other files may be used.

    Raises
    ------
    ValueError
        If there is a file under this name, or if the folder holds files and is not a result of this kind.
    WriteError
        If nothing can be written there.
    """
    if str(folder) == "-":
        raise ValueError("Results are written into a folder, not to standard output: choose a name for it.")
    with writing(folder):
        target = _target(folder)
        if target.parent.is_dir():
            restore(target, kind)
        if target.is_dir() and not force:
            held = sorted(name for name in os.listdir(target) if not is_part(name, re.escape(target.name)))
            if held and not kind.is_result(target):
                raise ValueError(
                    f"{visible(folder)} is not empty and is not a result of {kind.name}: it has {visible(held[0])}. "
                    "Choose another folder, or use --force to write into this one, which replaces files of the same "
                    "names and keeps all others."
                )
        if target.is_dir() and not os.access(target, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Missing folders are made when the result is written.
        place = _beside(target)
        while not place.parent.exists():
            place = place.parent
        trial = part_of(place)
        trial.mkdir()
        # It is not locked, so another program may have removed it already.
        with suppress(FileNotFoundError):
            trial.rmdir()


@contextmanager
def replaced(folder: Path, kind: Kind) -> Iterator[Path]:
    """Give a new folder to write a result into, and put it in the place of the old one if all goes well.

    Parameters
    ----------
    folder : Path
        Where the result will be. A symbolic link stays, and the folder that it points to is replaced.
    kind : Kind
        What is written. Files of other names in the old folder are kept.

    Yields
    ------
    Path
        The new folder.

    Raises
    ------
    WriteError
        If something cannot be written. The old result is unchanged then, and the error names the file in `folder`.

    Examples
    --------
    >>> import tempfile
    >>> kind = Kind("fit", ["labels.csv", "gap.csv"], lambda folder: True)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     result = Path(place) / "result"
    ...     for name in ("gap.csv", "labels.csv"):
    ...         with replaced(result, kind) as new:
    ...             _ = (new / name).write_text("a,b")
    ...     os.listdir(result)
    ['labels.csv']
    """
    with writing(folder):
        target = _target(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        restore(target, kind)
        new, held = _new_folder(_beside(target))
    try:
        with _named(new, folder):
            yield new
        with writing(folder):
            _put(new, target, kind)
    finally:
        # After an error, this is the new folder; if all went well, something else or nothing has this name.
        if held.is_at(new):
            shutil.rmtree(new, ignore_errors=True)
        held.close()


def restore(target: Path, kind: Kind) -> None:
    """Put in order what killed programs left of this folder.

    Parameters
    ----------
    target : Path
        The folder, which may not exist. If it was taken away and nothing put in its place, it comes back.
    kind : Kind
        The files of results, which are removed. All others go to the folder.
    """
    inside = parts_of(_inside(target))
    # Those with an old result come first, because one of them may be the folder itself.
    for left in sorted([*parts_of(target), *inside], key=lambda path: path.suffix):
        held = hold_abandoned(left) if left.is_dir() and not left.is_symlink() else None
        if held is None:
            continue
        # If this fails, because another program replaces the folder at this moment, there is a next time.
        with suppress(OSError):
            if not target.exists() and (left.suffix == ".old" or _others(left, target, kind)):
                os.rename(left, target)
            else:
                _take_apart(left, target, kind)
        held.close()


def _target(folder: Path) -> Path:
    """Return the folder that a name stands for, which is another one if it is a symbolic link."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise ValueError(
                f"{visible(folder)} is not a folder. Results are written into a folder: choose another name."
            )
    return Path(os.path.realpath(folder))


@contextmanager
def _named(new: Path, folder: Path) -> Iterator[None]:
    """Make errors name the file as the user will know it."""
    try:
        yield
    except WriteError as error:
        if new not in error.file.parents:
            raise
        raise WriteError(folder / error.file.relative_to(new), error.reason, error.errno) from error


# ---------------------------------------------------------------- putting a new folder in its place


def _inside(target: Path) -> Path:
    return target / (target.name or "result")


def _beside(target: Path) -> Path:
    """Return the name beside which the new folder is made: that of the target, or one inside if it must stay.

    A folder cannot be renamed if it is a mount point or has one, or if nobody may write beside it. The current folder,
    and those that it is in, could be renamed, but the terminal of the user would stay behind in the old one.
    """
    if not target.is_dir():
        return target
    with suppress(OSError):
        here = Path.cwd()
        if target == here or target in here.parents:
            return _inside(target)
    is_free = os.access(target.parent, os.W_OK | os.X_OK)
    try:
        has_mounts = any(map(os.path.ismount, (target, *target.iterdir())))
    except FileNotFoundError:
        return target  # another program replaces it at this moment
    return target if is_free and not has_mounts else _inside(target)


def _new_folder(place: Path) -> tuple[Path, Held]:
    while True:
        new = part_of(place)
        new.mkdir()
        held = hold(new)
        # Before it was locked, another program may have taken it for a folder that was left behind.
        if held is not None:
            return new, held


def _put(new: Path, target: Path, kind: Kind) -> None:
    """Put a new folder in the place of an old one, if there is one. Of several at the same time, the last one stays."""
    if new.parent == target:
        # Of several programs, one waits for the other.
        held = hold(target, wait=True)
        _put_one_by_one(new, target, kind)
        if held is not None:
            held.close()
    else:
        while not (_exchanged(new, target, kind) if target.exists() else _renamed(new, target)):
            pass
    restore(target, kind)


def _renamed(new: Path, target: Path) -> bool:
    """Give a folder a name that is free; False if it is not free any more."""
    try:
        os.rename(new, target)
    except OSError as error:
        if error.errno in TAKEN:
            return False
        raise
    return True


def _exchanged(new: Path, target: Path, kind: Kind) -> bool:
    """Put a folder in the place of another; False if that one is gone, because another program did the same."""
    # While another program puts its own folder there, this one waits. What is locked is not cleaned up by others.
    old = hold(target, wait=True)
    if old is None:
        return False
    try:
        like(new, os.stat(target))
        left = _swapped(new, target)
    except OSError as error:
        if error.errno not in STAYS:
            raise
        _put_inside(new, target, kind)
        return True
    else:
        if left is not None:
            _take_apart(left, target, kind)
        return left is not None
    finally:
        old.close()


def _swapped(new: Path, target: Path) -> Path | None:
    """Exchange two folders, and return where the old one is now; None if another program was faster."""
    try:
        exchange(new, target)
        return new
    except OSError as error:
        if error.errno not in NO_EXCHANGE:
            raise
    # In two steps. If the program is killed between them, the next one restores the old folder.
    old = part_of(target, "old")
    os.rename(target, old)
    try:
        os.rename(new, target)
    except OSError as error:
        if error.errno in TAKEN:
            return None
        os.rename(old, target)
        raise
    return old


def exchange(one: Path, other: Path) -> None:
    """Exchange the names of two folders in a single step, which only Linux can, and not in every file system."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _put_inside(new: Path, target: Path, kind: Kind) -> None:
    """Put the files of a folder into another one that cannot be renamed and may be in another file system."""
    copy, held = _new_folder(_inside(target))
    try:
        shutil.copytree(new, copy, dirs_exist_ok=True)
        _put_one_by_one(copy, target, kind)
    finally:
        shutil.rmtree(copy, ignore_errors=True)
        held.close()


def _put_one_by_one(new: Path, target: Path, kind: Kind) -> None:
    """Replace single files, for a moment or after a power failure a mixture of two results; there is no other way."""
    names = os.listdir(new)
    with os.scandir(target) as entries:
        # What is under a temporary name may belong to another program that is at work.
        old = [entry for entry in entries if _is_of(kind, entry)]
    for name in names:
        if (new / name).is_dir():
            # A folder cannot be replaced as long as it holds something.
            _remove([entry for entry in old if entry.name == name])
        os.replace(new / name, target / name)
    _remove([entry for entry in old if entry.name not in names])


# ---------------------------------------------------------------- what is left of an old folder


def _others(left: Path, target: Path, kind: Kind) -> list[str]:
    """Return the names in a folder that are not those of results. They belong to the user."""
    with os.scandir(left) as entries:
        return [entry.name for entry in entries if not _is_ours(entry, target, kind)]


def _is_ours(entry: os.DirEntry[str], target: Path, kind: Kind) -> bool:
    return _is_of(kind, entry) or any(is_part(entry.name, re.escape(name)) for name in (*kind.files, target.name))


def _is_of(kind: Kind, entry: os.DirEntry[str]) -> bool:
    """Whether a name in a folder is that of a result."""
    if entry.is_dir(follow_symlinks=False):
        return bool(kind.folder) and entry.name == kind.folder and holds_parts(Path(entry.path))
    return entry.name in kind.files or (kind.folder == "" and PART_FILE.fullmatch(entry.name) is not None)


def holds_parts(folder: Path) -> bool:
    """Whether a folder holds nothing but files that are written in parts. It may be empty if a writer has begun."""
    return all(PART_FILE.fullmatch(name) for name in os.listdir(folder))


def _remove(entries: list[os.DirEntry[str]]) -> None:
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                os.unlink(entry)


def _take_apart(left: Path, target: Path, kind: Kind) -> None:
    """Move what belongs to the user to the new folder, and remove the rest of the old one."""
    for name in _others(left, target, kind):
        os.rename(left / name, _free(target / name))
    with os.scandir(left) as entries:
        _remove([entry for entry in entries if _is_ours(entry, target, kind)])
    # If something was put there in the meantime, the next program finds it.
    with suppress(OSError):
        left.rmdir()


def _free(place: Path) -> Path:
    """Return this name, or one like it that does not exist."""
    tries = (place if number == 0 else place.with_name(f"{place.name}.{number}") for number in itertools.count())
    return next(each for each in tries if not os.path.lexists(each))
