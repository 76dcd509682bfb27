"""A look at an HDF5 file in another process: on some damaged files, the HDF5 library crashes or never ends."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from .limits import FileError
from .sources import Source

# Arrays of at most so many bytes are read, all others only opened.
MOST_BYTES = 2**24
# The time that the look may take, and the bytes of a file for which it may take another second.
SECONDS, BYTES_A_SECOND = 20.0, 10**7
LOOK = f"""
import io, sys
import h5py

def look(name, each):
    dict(each.attrs)
    if isinstance(each, h5py.Dataset) and each.shape and each.size * each.dtype.itemsize <= {MOST_BYTES}:
        each[()]

with h5py.File(sys.argv[1] if len(sys.argv) > 1 else io.BytesIO(sys.stdin.buffer.read()), "r") as file:
    file.visititems(look)
"""


def check_readable(source: Source, handle: Any) -> None:
    """Refuse a file that another process cannot read to its end.

    Parameters
    ----------
    source : Source
        The file.
    handle : str or BytesIO
        Its name, or its content in memory.
    """
    if not sys.executable:
        return
    is_name = isinstance(handle, str)
    size = source.size() if is_name else len(handle.getbuffer())
    command = [sys.executable, "-c", LOOK, *([handle] if is_name else [])]
    try:
        done = subprocess.run(
            command,
            input=None if is_name else handle.getbuffer(),
            stdin=subprocess.DEVNULL if is_name else None,
            capture_output=True,
            timeout=SECONDS + size / BYTES_A_SECOND,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FileError(f"{source.name} is damaged: the HDF5 library does not finish reading it.") from None
    # Other errors occur again when the file is read, where they are told.
    if done.returncode < 0:
        raise FileError(f"{source.name} is damaged: the HDF5 library crashes when it reads it.")
