"""The lines of text files, which are decoded again whenever they are read, so that no file is held in memory."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from .limits import TEXT_BYTE, FileError
from .sources import CHUNK, Source

# Marks at the beginning of a file that tell its encoding. That of UTF-32 begins with that of UTF-16.
MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# Signs that are counted: they tell how many rows and cells there are, and how they have to be read.
COUNTED = ("\n", "\r", '"', "\t", ";", "|", ",")


@dataclass(frozen=True)
class Lines:
    r"""The lines of a text, each with "\n" at its end but perhaps the last, for as many passes as are needed.

    Attributes
    ----------
    opened : callable
        Returns the file, opened anew.
    encoding : str
        Its encoding.
    counts : Counter
        How often each of some signs occurs.
    longest : int
        About the number of characters of the longest line.
    end : str
        What lines end in: "\n", also after "\r", or "\r" in the files of old Macs.
    """

    opened: Callable[[], IO[bytes]]
    encoding: str
    counts: Counter[str]
    longest: int
    end: str

    def __iter__(self) -> Iterator[str]:
        with self.opened() as file, io.TextIOWrapper(file, self.encoding, newline=self.end) as text:
            has_returns, first = self.counts["\r"] > 0, True
            for line in text:
                if first:
                    line, first = line.lstrip("\ufeff"), False
                if has_returns and line.endswith("\r\n"):
                    line = line[:-2] + "\n"
                elif self.end == "\r":
                    line = line.replace("\r", "\n")
                yield line

    @property
    def has_returns(self) -> bool:
        """Whether there may be carriage returns that do not end a line."""
        return self.end == "\n" and self.counts["\r"] > 0

    @property
    def has_quotes(self) -> bool:
        """Whether there are quotation marks, so that delimiters and line ends may be in quotes."""
        return self.counts['"'] > 0


def lines_of(source: Source, encoding: str | None, delimiter: str | None) -> Lines:
    """Return the lines of a file after a look at all of them, or raise an error if it is not text."""
    opened = source.reopener(TEXT_BYTE)
    with source.telling():
        try:
            return _looked_at(opened, source, encoding, delimiter)
        except (ValueError, LookupError) as error:
            if isinstance(error, FileError):
                raise
        # The whole content tells where the error is. If there is none, the encoding can only be decoded as a whole.
        with opened() as file:
            text = decoded(source.content_of(file, source.limit // TEXT_BYTE), source.name, encoding)
        content = text.encode()
        return _looked_at(lambda: io.BytesIO(content), source, "utf-8", delimiter)


def _looked_at(opened: Callable[[], IO[bytes]], source: Source, encoding: str | None, delimiter: str | None) -> Lines:
    with opened() as file:
        used = encoding or encoding_of(file.read(4))
    counts, signs = Counter[str](), {*COUNTED, *((delimiter,) if delimiter else ())}
    size = run = longest = 0
    is_blank = True
    most = source.limit // TEXT_BYTE
    with opened() as file, io.TextIOWrapper(file, used, newline="") as text:
        while chunk := text.read(CHUNK):
            size += len(chunk)
            if not source.is_plain:
                source.check_so_far(size, most)
            if "\0" in chunk:
                raise ValueError("zero characters")
            is_blank = is_blank and not chunk.strip("\ufeff").strip()
            for sign in signs:
                counts[sign] += chunk.count(sign)
            # Lines within a chunk are short.
            first = chunk.find("\n")
            longest = max(longest, run + (first if first >= 0 else len(chunk)))
            run = len(chunk) - chunk.rfind("\n") if first >= 0 else run + len(chunk)
    if is_blank:
        raise ValueError("nothing but blanks")
    counts["all"] = size
    return Lines(opened, used, counts, longest, "\n" if counts["\n"] else "\r")


def encoding_of(begin: bytes) -> str:
    """Return the encoding that the first bytes of a file tell."""
    return next((word for mark, word in MARKS.items() if begin.startswith(mark)), "utf-8")


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    """Return the content as text, or raise an error if it is not text."""
    used = encoding or encoding_of(content[:4])
    if used == "utf-8" and b"\0" in content:
        # In UTF-16, every second byte of plain English is zero.
        advice = ", or set --encoding utf-16-le" if content.count(0) > len(content) // 4 else ""
        raise FileError(
            f"{name} is not a text file: it contains zero bytes. Check that its extension matches its format{advice}."
        )
    try:
        text = content.decode(used).lstrip("\ufeff")
    except (ValueError, LookupError) as error:
        place = f" in line {content.count(10, 0, error.start) + 1}" if isinstance(error, UnicodeDecodeError) else ""
        raise FileError(
            f"{name} cannot be decoded as {encoding or used.upper()}{place} ({error}). Set the right encoding with "
            "--encoding, such as latin-1 or cp1252."
        ) from error
    if not text.strip():
        raise FileError(f"{name} is empty.")
    if "\0" in text:
        raise FileError(f"{name} is not a text file in {used}: it contains zero characters. Check --encoding.")
    return text
