"""One thread in inner libraries, such as the BLAS, while ours are at work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_n_inside = 0
_limits: list[Any] = []


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> tuple[ThreadpoolController, ThreadpoolController]:
    """Return the loaded thread pools of OpenMP and of the BLAS, of which every import may have loaded another one."""
    every = ThreadpoolController()
    return every.select(user_api="openmp"), every.select(user_api="blas")


@contextmanager
def one_thread_blas() -> Iterator[None]:
    """Let inner libraries use a single thread.

    Otherwise their threads would compete with ours for cores, and sums could be added in a different order. A limit of
    OpenMP holds for the thread that sets it. One of the BLAS holds for the process, so it is lifted when the last of
    several threads that are inside has left.
    """
    global _n_inside
    openmp, blas = _pools(len(sys.modules))
    with openmp.limit(limits=1):
        with _lock:
            _limits.append(blas.limit(limits=1))
            _n_inside += 1
        try:
            yield
        finally:
            with _lock:
                _n_inside -= 1
                while not _n_inside and _limits:
                    _limits.pop().restore_original_limits()
