"""What the readers of all formats share: the options, what they return, and how the errors of packages are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .limits import FileError
from .sources import Source

Frame = Any


class Options(NamedTuple):
    """Options for reading a file.

    Attributes
    ----------
    sheet : str, default=None
        Sheet of an Excel file; by default, the first.
    encoding, delimiter, decimal : str, default=None
        Encoding, delimiter and decimal sign of a text file; by default, UTF-8 is assumed and the signs are detected.
    max_memory : int or str, default=None
        Memory that reading may take, in bytes or as text such as "4GB" or "512MiB"; by default, three quarters of the
        memory of the machine. A file that needs more is refused before it is read.
    """

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    max_memory: int | str | None = None


class Matrix(NamedTuple):
    """A matrix of shape (n_samples, n_features), its names, a data frame that describes the samples, and notes."""

    X: Any
    ids: Sequence[str]
    names: Sequence[str]
    about: Any
    notes: list[str]


class Table(NamedTuple):
    """A data frame with samples or features in rows, and notes."""

    frame: Frame
    notes: list[str]


Reader = Callable[[Source, Options], Table | Matrix]


def read_with(package: str, source: Source, read: Callable[[], Any]) -> Any:
    """Call a function that uses a package, and translate its errors into one line."""
    try:
        return read()
    except ImportError as error:
        raise FileError(f"Reading {source.name} needs {package}. Install it with: pip install {package}") from error
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(
            f"Reading {source.name} needs more memory than there is. Leave out columns, or use another format."
        ) from error
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise FileError(f"{source.name} cannot be read ({type(error).__name__}: {reason}).") from error
