"""One thread in inner libraries, such as the BLAS, while ours are at work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_n_inside = 0
_limits: list[Any] = []


@cache
def _controller(with_sklearn: bool) -> ThreadpoolController:
    """Return the controller of the loaded thread pools. Loading scikit-learn's clusterers adds another pool."""
    return ThreadpoolController()


@contextmanager
def one_thread_blas() -> Iterator[None]:
    """Let inner libraries use a single thread.

    Otherwise their threads would compete with ours for cores, and sums could be added in a different order. The limit
    holds for the process, so it is lifted when the last of several threads that are inside has left.
    """
    global _n_inside
    with _lock:
        _limits.append(_controller("sklearn.cluster" in sys.modules).limit(limits=1))
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            while not _n_inside and _limits:
                _limits.pop().restore_original_limits()
