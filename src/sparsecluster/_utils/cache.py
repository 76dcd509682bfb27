"""A folder of the user's for what takes long to compute and never changes."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._features.base import Floats
from .files import write

# Where the folder is, if not in the usual place.
VARIABLE = "SPARSECLUSTER_CACHE"


def cache_folder() -> Path:
    """$SPARSECLUSTER_CACHE, or a folder in the place that the system has for such things."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(base).expanduser() / "sparsecluster"
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir()) / "sparsecluster"


def cached(name: str, shape: tuple[int, ...], make: Callable[[], Floats]) -> Floats:
    """The array of that name in the folder; made, and put there if possible, where it is missing or damaged."""
    file = cache_folder() / f"{name}.npy"
    # Whatever is wrong with the file, it is made again.
    with suppress(Exception):
        kept: Any = np.load(file, allow_pickle=False)
        if kept.shape == shape and kept.dtype == np.float64 and np.isfinite(kept).all():
            return np.asarray(kept)
    made = make()
    content = io.BytesIO()
    np.save(content, made, allow_pickle=False)
    with suppress(OSError):  # a folder that cannot be written only costs time
        write(file, content.getvalue())
    return made
