"""A record of finished tasks on disk, by which an interrupted computation is continued.

A computation whose tasks depend only on its data, parameters and seed comes to the same tasks in the same order when it
is repeated. The results of those that were finished are then taken from the record, so that the answer is the same as
that of a computation that was never interrupted.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from .cache import cache_folder

R = TypeVar("R")

# A computation that takes less time than this is not recorded.
PATIENCE_SECONDS = 5.0
# A record is not extended beyond this size, and records that nobody has continued for so many days are removed.
MOST_BYTES, MOST_DAYS = 2**29, 30


class Journal:
    """The results of finished tasks, of which the first ones may come from a file.

    A stage is one call of `Workers.map`. Its results are recorded in the order of its tasks.

    Parameters
    ----------
    file : Path
        The record. What is damaged in it is ignored, together with all that follows.
    patience : float, default=0.0
        Nothing is written to a new file before so many seconds have passed.
    """

    def __init__(self, file: Path, patience: float = 0.0) -> None:
        self.file = file
        self.n_reused = 0
        self._known, self._whole = _read(file)
        self._begin = time.monotonic() + (0.0 if self._known else patience)
        self._stage = -1
        self._waiting: list[bytes] = []
        self._open: BinaryIO | None = None
        self._size = self._whole

    def stage(self, what: str, n_tasks: int) -> tuple[list[Any], Callable[[Any], None]]:
        """Begin a stage; returns the results of its first tasks that are known, and a function that records another."""
        self._stage += 1
        name = [self._stage, what, n_tasks]
        known = self._known.get(json.dumps(name), [])[:n_tasks]
        self.n_reused += len(known)
        return known, lambda result: self._add([name, result])

    def _add(self, entry: list[Any]) -> None:
        if self._size > MOST_BYTES:
            return
        try:
            line = _line(entry)
        except TypeError:  # not a value that can be written down; the task would have to be repeated
            self._size = MOST_BYTES + 1
            return
        self._waiting.append(line)
        self._size += len(line)
        if time.monotonic() >= self._begin:
            with suppress(OSError):  # a record that cannot be written is only missed if the computation is interrupted
                self._write()

    def _write(self) -> None:
        if self._open is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._open = _locked(self.file, self._whole)
            if self._open is None:  # the same computation is running in another process, which records it
                self._size = MOST_BYTES + 1
                return
        lines, self._waiting = self._waiting, []
        self._open.write(b"".join(lines))
        self._open.flush()

    def close(self) -> None:
        """Stop recording; the file stays."""
        if self._open is not None:
            self._open.close()

    def remove(self) -> None:
        """Remove the record, because the results of the computation are safe."""
        self.close()
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


_current: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def recorded(name: str) -> Iterator[Journal]:
    """Record the tasks in this context under a name that says all that their results depend on.

    Yields the journal. Its record is kept at the end until `remove` is called.
    """
    folder = cache_folder() / "unfinished"
    _remove_old(folder)
    journal = Journal(folder / f"{name}.jsonl", PATIENCE_SECONDS)
    token = _current.set(journal)
    try:
        yield journal
    finally:
        _current.reset(token)
        journal.close()


def begin_stage(what: str, n_tasks: int) -> tuple[list[Any], Callable[[Any], None]]:
    """Begin a stage of the current journal, see `Journal.stage`; without a journal, nothing is known or recorded."""
    journal = _current.get()
    return ([], lambda result: None) if journal is None else journal.stage(what, n_tasks)


def as_one_task(function: Callable[..., R]) -> Callable[..., R]:
    """Let whatever a task consists of be a part of its result, instead of stages of their own."""

    def run(*args: Any) -> R:
        token = _current.set(None)
        try:
            return function(*args)
        finally:
            _current.reset(token)

    return run


# ---------------------------------------------------------------- the file


def _line(entry: list[Any]) -> bytes:
    """One line: a checksum and the entry as JSON."""
    text = json.dumps(_plain(entry), separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(file: Path) -> tuple[dict[str, list[Any]], int]:
    """The results in a record by stage, and the number of bytes up to the first line that is incomplete or damaged."""
    known: dict[str, list[Any]] = {}
    whole = 0
    with suppress(OSError, ValueError, TypeError, LookupError, AttributeError), file.open("rb") as lines:
        for line in lines:
            checksum, _, text = line.partition(b" ")
            if not line.endswith(b"\n") or int(checksum, 16) != zlib.crc32(text[:-1]):
                break
            name, result = json.loads(text)
            known.setdefault(json.dumps(name), []).append(_restored(result))
            whole += len(line)
    return known, whole


def _plain(value: Any) -> Any:
    """A value as JSON, from which `_restored` makes the same value; TypeError if it has parts of unknown types."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": content, "dtype": value.dtype.str, "shape": None if np.isscalar(value) else value.shape}
    if type(value) is tuple:
        return {"tuple": [_plain(each) for each in value]}
    if type(value) is dict:
        return {"dict": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if type(value).__module__.startswith("sparsecluster.") and _names(type(value)):
        parts = [_plain(getattr(value, name)) for name in _names(type(value))]
        return {"record": [type(value).__module__, type(value).__qualname__], "parts": parts}
    raise TypeError(f"a {type(value).__name__} cannot be recorded")


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        flat = np.frombuffer(base64.b64decode(value["array"]), np.dtype(value["dtype"]))
        return flat[0] if value["shape"] is None else flat.reshape(value["shape"]).copy()
    if "tuple" in value:
        return tuple(map(_restored, value["tuple"]))
    if "dict" in value:
        return {_restored(key): _restored(each) for key, each in value["dict"]}
    module, name = value["record"]
    # Only records of this package that are loaded already: a file must not import or call anything else.
    kind = getattr(sys.modules[module], name) if module.startswith("sparsecluster.") else None
    if not isinstance(kind, type) or len(_names(kind)) != len(value["parts"]):
        raise TypeError(f"{name} is not a record")
    return kind(*map(_restored, value["parts"]))


def _names(kind: type) -> tuple[str, ...]:
    """The names of the fields of a named tuple or dataclass; empty for other classes."""
    return getattr(kind, "_fields", ()) or (tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ())


def _locked(file: Path, size: int) -> BinaryIO | None:
    """The file cut to its first `size` bytes, and locked until it is closed; None if another process is using it."""
    opened = file.open("ab")
    try:
        with suppress(ImportError):  # without locks, the same computation must not be run twice at the same time
            import fcntl

            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(opened.fileno()).st_size < size:
            raise FileNotFoundError("another process has removed the record")
        opened.truncate(size)
    except OSError:
        opened.close()
        return None
    return opened


def _remove_old(folder: Path) -> None:
    """Remove records that nobody has continued for a long time."""
    with suppress(OSError):
        for file in folder.glob("*.jsonl"):
            if time.time() - file.stat().st_mtime > MOST_DAYS * 86_400:
                file.unlink(missing_ok=True)
