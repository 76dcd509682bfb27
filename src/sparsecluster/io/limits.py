"""How much memory reading a table may take, and how much files of each format need."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._utils.text import brief, one_line

# The share of the machine's memory that reading may take unless a limit is given. Fitting needs the rest.
SHARE_OF_MACHINE = 0.75
UNITS = {
    **{"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
    **{"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12},
    **{"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40},
}
# Where Linux says how much memory a container may use, in the second and the first version of control groups.
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

# Memory in bytes at the peak, measured with pandas 2.3 on tables of 2 to 20 million values and rounded up.
# Text: a byte of a file that can be read once only; a value as a number; a cell of the block that is parsed; a row; a
# byte in columns of words; and a word that does not occur twice.
TEXT_BYTE, TEXT_VALUE, TEXT_CELL, TEXT_ROW, TEXT_WORDS, TEXT_WORD = 2, 18, 150, 64, 6, 96
# Excel: a cell of the sheet, and a place of the rectangle around the cells, which may be empty.
EXCEL_CELL, EXCEL_PLACE = 80, 40
# Matrix Market: a stored entry as text, as a triplet and compressed, a value of a dense one, a row or column.
MATRIX_ENTRY, MATRIX_VALUE, MATRIX_LINE = 64, 56, 16
# Parquet and Feather: a number that is read directly, another value in Arrow and in pandas, and one that is a Python
# object in pandas.
ARROW_NUMBER, ARROW_VALUE, ARROW_OBJECT = 12, 32, 140
# NumPy and H5AD: how many copies are made, and a text of H5AD.
COPIES, NAME = 2, 240
# JSON: objects of Python for a byte of text.
JSON_BYTE = 30

# Deflate, the compression of zip, gzip and HDF5, makes nothing smaller than by this factor.
MOST_DEFLATED = 1032
# Sparse matrices and sheets may be mostly empty, but not to this degree: more places than this for a filled one.
MOST_EMPTY, SMALL = 1000, 10**6


class FileError(ValueError):
    """A file cannot be read as a table. The message is a single line for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class TooLargeError(FileError):
    """A file needs more memory than the limit."""


def machine_memory() -> int:
    """Return the memory of the machine in bytes, or what a container may use of it."""
    known = []
    if hasattr(os, "sysconf"):
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file in CONTAINER_LIMITS:
        try:
            known.append(int(Path(file).read_text()))
        except (OSError, ValueError):
            # There is no such file outside of Linux, and it says "max" where there is no limit.
            continue
    # Where the memory is not known, 8 GB are assumed.
    return min(known, default=8 * 10**9)


def memory_limit(given: int | str | None = None) -> int:
    """Return a limit in bytes, by default three quarters of the machine's memory.

    Parameters
    ----------
    given : int, str or None, default=None
        Number of bytes, or a text with a unit, such as "4GB" or "512MiB".

    Returns
    -------
    int
        The limit in bytes.

    Examples
    --------
    >>> memory_limit("4GB"), memory_limit("1.5 KiB"), memory_limit(2000)
    (4000000000, 1536, 2000)
    """
    if given is None:
        return int(SHARE_OF_MACHINE * machine_memory())
    parts = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*", str(given)[:50], re.ASCII)
    factor = UNITS.get(parts[2].lower(), 0) if parts and not isinstance(given, bool | float) else 0
    if not parts or not factor or float(parts[1]) * factor < 1:
        raise ValueError(
            'The memory limit (--max-memory) must be a number of bytes, or a number with a unit such as "4GB" or '
            f'"512MiB"; got {brief(given)}.'
        )
    return int(float(parts[1]) * factor)


def shown(size: float) -> str:
    """Return a number of bytes in words.

    >>> shown(300), shown(4.21e9)
    ('300 bytes', '4.2 GB')
    """
    for factor, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{int(size)} bytes"


def check_memory(needed: float, limit: int, name: str, advice: str = "") -> None:
    """Refuse a file that needs more memory than the limit, before any of it is taken."""
    if needed > limit:
        raise TooLargeError(
            f"Reading {name} needs about {shown(needed)} of memory, but the limit is {shown(limit)}. "
            f"{advice or 'Leave out columns'}, or raise the limit with --max-memory."
        )


def check_held(claimed: int, most: float, name: str, what: str) -> None:
    """Refuse a file that claims to contain more than its size allows: it is damaged or a trap."""
    if claimed > most:
        raise FileError(f"{name} is damaged: it claims to contain {what}, which a file of its size cannot hold.")
