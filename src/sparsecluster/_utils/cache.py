"""The user's cache folder, for results that take long to compute and never change."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from .arrays import Floats
from .files import write

# An environment variable that names another folder.
VARIABLE = "SPARSECLUSTER_CACHE"


def cache_folder() -> Path:
    """Return the folder named by $SPARSECLUSTER_CACHE, or else the cache folder of the operating system's convention.

    Returns
    -------
    Path
        The folder, which may not exist yet.
    """
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    try:
        # Without a home folder, recent versions of platformdirs raise an error and older ones return "~/.cache", for
        # which expanduser raises the same error.
        return user_cache_path("sparsecluster", appauthor=False).expanduser()
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "sparsecluster"


def cached(name: str, shape: tuple[int, ...], make: Callable[[], Floats]) -> Floats:
    """Return the array stored under `name` in the cache folder, or compute it and try to store it there.

    Parameters
    ----------
    name : str
        Name of the file, without its extension.
    shape : tuple of int
        Expected shape. A stored array of another shape counts as damaged.
    make : callable
        Computes the array. It is called if the file is missing or damaged.

    Returns
    -------
    ndarray of shape `shape`
        The array, of finite values.
    """
    file = cache_folder() / f"{name}.npy"
    # Whatever is wrong with the file, the array is computed again.
    with suppress(Exception):
        kept: Any = np.load(file, allow_pickle=False)
        if kept.shape == shape and kept.dtype == np.float64 and np.isfinite(kept).all():
            return np.asarray(kept)
    made = make()
    content = io.BytesIO()
    np.save(content, made, allow_pickle=False)
    with suppress(OSError):  # if the folder cannot be written, the next call computes the array again
        write(file, content.getvalue())
    return made
