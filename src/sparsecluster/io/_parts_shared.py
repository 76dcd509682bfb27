"""What the readers of parts share: the form of parts, and how errors of reading a block are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from .._blocks.collections import RefusedError
from .._utils.checks import listed
from .limits import FileError

T = TypeVar("T")

# The number of bytes that a block may hold, as it is stored: enough to make the overhead of a task small.
BLOCK_BYTES = 2**26
# How many blocks may be in memory at the same time: some are being read while others are computed on.
AT_ONCE = 4


class Opened(NamedTuple):
    """Files that were opened as blocks of rows.

    Attributes
    ----------
    read : callable
        Function of a piece and of the names of some columns, or None for all, that returns a pandas data frame.
    pieces : list
        What each block is read from, in the order of the rows.
    files : list of str
        The file of each block.
    meta : pandas.DataFrame
        A frame without rows that has the columns and the types of the blocks.
    needed : float
        An estimate of the memory, in bytes, that all rows need together.
    notes : list of str
        Decisions made while opening the files, in full sentences.
    check : callable or None, default=None
        Function of a piece that checks what `read` takes for granted. It is called once for every block.
    """

    read: Callable[..., Any]
    pieces: Sequence[Any]
    files: list[str]
    meta: Any
    needed: float
    notes: list[str]
    check: Callable[..., None] | None = None


def told(name: str, read: Callable[[], T]) -> T:
    """Read something of a part, and tell what goes wrong in one line that names its file.

    The error is one that a pass over blocks hands on as it is.
    """
    try:
        return read()
    except (RefusedError, MemoryError):
        raise
    except FileError as error:
        raise RefusedError(str(error)) from error
    except ImportError as error:
        package = error.name or "another package"
        raise RefusedError(f"Reading {name} needs {package}. Install it with: pip install {package}") from error
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise RefusedError(
            f"{name} cannot be read ({type(error).__name__}: {reason}). Repair this file, or leave it out."
        ) from error


def refuse_other_columns(names: Sequence[str], first: str, others: Sequence[str], file: str) -> None:
    """Refuse a part that does not have the columns of the first one, and say which."""
    lacking, more = ([a for a in one if a not in known] for one, known in ((names, {*others}), (others, {*names})))
    differences = [
        f"{verb} {listed(columns)}" for verb, columns in (("lacks", lacking), ("has in addition", more)) if columns
    ]
    if differences:
        raise FileError(
            f"All parts must have the same columns, but {file} is different from {first}: it "
            f"{' and '.join(differences)}. Leave this file out, or write it again."
        )
