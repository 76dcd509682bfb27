"""Temporary names beside a file or folder that is being written, and what killed programs left under such names.

A program holds a lock on what it writes as long as it lives. What is not locked any more was left behind.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
# A link is not followed, and a pipe without a writer is not waited for.
NO_SURPRISES = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Names of files have at most 255 bytes, and a temporary name is longer than the name that it stands for.
LONGEST_STEM = 200
# Where files cannot be locked, those of which nothing was heard for a day were left behind.
ABANDONED_SECONDS = 24 * 3600.0


def _stem(target: Path) -> str:
    return os.fsdecode(os.fsencode(target.name)[:LONGEST_STEM])


def part_of(target: Path, ending: str = "part") -> Path:
    """Return a new temporary name in the same folder: hidden, and never the same twice."""
    return target.with_name(f".{_stem(target)}-{secrets.token_hex(4)}.{ending}")


def is_part(name: str, stem: str = ".+") -> bool:
    """Whether a name was made by `part_of`, of a target whose name matches `stem`."""
    return re.fullmatch(rf"\.{stem}-[0-9a-f]{{8}}\.(part|old)", name, re.DOTALL) is not None


def parts_of(target: Path) -> list[Path]:
    """Return what there is under temporary names of this target, in order of their names."""
    stem = re.escape(_stem(target))
    try:
        names = os.listdir(target.parent)
    except FileNotFoundError:
        return []
    return sorted(target.with_name(name) for name in names if is_part(name, stem))


class Held:
    """A file or folder that is open, and locked as long as it is open."""

    def __init__(self, place: Path, flags: int = os.O_RDONLY, wait: bool = False) -> None:
        # Windows cannot open folders, and has none of the locks.
        closed = fcntl is None and place.is_dir()
        self.descriptor = -1 if closed else os.open(place, flags | NO_SURPRISES, 0o666)
        self.locked = self._lock(wait)

    def _lock(self, wait: bool) -> bool | None:
        """Return whether there is a lock now; None if there are no locks in this place."""
        if fcntl is None:
            return None
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:
            return None
        return True

    def is_at(self, place: Path) -> bool:
        """Whether this is what has the name `place` now."""
        if self.descriptor < 0:
            return place.exists()
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.lstat(place))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Close and unlock it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def hold(place: Path, flags: int = os.O_RDONLY, wait: bool = False) -> Held | None:
    """Open and lock what has the name `place`.

    Returns
    -------
    Held or None
        To be closed; None if another program has the lock, or took the name away before there was one.
    """
    try:
        held = Held(place, flags, wait)
    except FileNotFoundError:
        if flags & os.O_CREAT:
            raise
        return None
    if held.locked is not False and held.is_at(place):
        return held
    held.close()
    return None


def hold_abandoned(place: Path) -> Held | None:
    """Lock what a killed program left under a name; None if its writer may be alive, or if another cleans it up."""
    try:
        held = hold(place)
        if held is None:
            return None
        if held.locked or time.time() - os.lstat(place).st_mtime > ABANDONED_SECONDS:
            return held
    except OSError:
        return None
    held.close()
    return None
