"""What is read: files, compressed or not, folders of counts, pipes, standard input, no further than memory allows."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, NamedTuple

from .limits import FileError, TooLargeError, check_memory, shown

# Functions that open compressed files, by extension.
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Other compressed files, which are not read.
PACKED = (".zst", ".zip")
# Errors that mean that compressed data are damaged, besides those of the operating system.
DAMAGED = (EOFError, lzma.LZMAError, zlib.error)
# What has a name in the file system but cannot be read as a file.
NOT_READ = {
    stat.S_IFDIR: "is a folder. Give the name of a file.",
    stat.S_IFSOCK: "is a socket. Give the name of a file.",
    stat.S_IFBLK: "is a disk, not a file on it. Give the name of a file.",
}
# The end of the name of a matrix of counts, whose folder has the names of its genes and cells as well.
MATRIX = re.compile(r"matrix\.mtx(\.gz)?$", re.IGNORECASE)
CHUNK = 2**20
# The length at which the name of a file is truncated in messages.
LONGEST_NAME = 200


class Source(NamedTuple):
    """A file or stream to read.

    Attributes
    ----------
    name : str
        Its name in messages.
    path : Path or None
        The file, or a folder with a matrix of counts; None for standard input.
    limit : int
        The memory that reading may take, in bytes.
    """

    name: str
    path: Path | None
    limit: int

    @property
    def opener(self) -> Any:
        """The function that opens it if it is compressed, else None."""
        return None if self.path is None else OPENERS.get(self.path.suffix.lower())

    @property
    def is_plain(self) -> bool:
        """Whether it is a regular file that is not compressed, which other packages may open by its name."""
        return self.path is not None and self.path.is_file() and self.opener is None

    def size(self) -> int:
        """Return the number of bytes of a regular file."""
        assert self.path is not None
        return self.path.stat().st_size

    def handle(self) -> Any:
        """Return the name of a plain file, or else the content as a file in memory."""
        return str(self.path) if self.is_plain else io.BytesIO(self.read())

    def check(self, needed: float, advice: str = "") -> None:
        """Refuse to go on if this needs more memory than the limit."""
        check_memory(needed, self.limit, self.name, advice)

    def read(self, per_byte: int = 1) -> bytes:
        """Return the decompressed content. `per_byte` is the memory that each byte of it will need in the end."""
        if self.is_plain:
            self.check(self.size() * per_byte)
        with self.telling(), self._opened() as file:
            return self.content_of(file, self.limit // per_byte)

    def reopener(self, per_byte: int = 1) -> Callable[[], IO[bytes]]:
        """Return a function that opens the decompressed content, as often as it is called.

        What cannot be read twice is read into memory, of which each byte will need `per_byte`.
        """
        if self.path is not None and self.path.is_file():
            return self._opened
        return functools.partial(io.BytesIO, self.read(per_byte))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn errors of the operating system and of compressed files into errors that name this one."""
        try:
            yield
        except PermissionError:
            raise FileError(f"{self.name} cannot be read: permission denied.") from None
        except (OSError, *DAMAGED) as error:
            if self.opener is None:
                raise FileError(f"{self.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
            raise FileError(
                f"{self.name} cannot be decompressed: it is incomplete or damaged, or its extension is wrong."
            ) from error

    def _opened(self) -> Any:
        if self.path is None:
            return nullcontext(sys.stdin.buffer)
        return (self.opener or open)(self.path, "rb")

    def content_of(self, file: IO[bytes], most: int) -> bytes:
        """Return the content of an open file, but give up when it is larger than `most`."""
        kept, size = io.BytesIO(), 0
        while chunk := file.read(CHUNK):
            size += len(chunk)
            self.check_so_far(size, most)
            kept.write(chunk)
        return kept.getvalue()

    def check_so_far(self, size: int, most: int) -> None:
        """Give up on a file of which more than `most` bytes were read."""
        if size > most:
            raise TooLargeError(
                f"Reading {self.name} needs more than {shown(self.limit)} of memory, which is the limit. Leave out "
                "columns, use another format, or raise the limit with --max-memory."
            )


def matrices_in(folder: Path) -> list[Path]:
    """The matrices of counts in a folder, in order of their names."""
    try:
        return sorted(path for path in folder.iterdir() if MATRIX.search(path.name) and not path.name.startswith("."))
    except OSError:
        return []


def source_of(given: str | Path, limit: int) -> Source:
    """Return the source that a name stands for, "-" being standard input, after a check that it can be read."""
    if str(given) == "-":
        return Source("standard input", None, limit)
    name, path = str(given), Path(given)
    if len(name) > LONGEST_NAME:
        # Its end is the most telling part.
        name = f"{name[: LONGEST_NAME // 2]}…{name[-LONGEST_NAME // 2 :]}"
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise FileError(f"There is no file {name}.") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    refused = NOT_READ.get(stat.S_IFMT(status.st_mode))
    if refused and not matrices_in(path):
        raise FileError(f"{name} {refused}")
    return Source(name, path, limit)
