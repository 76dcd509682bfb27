"""How kernels are compiled: at the first call, kept on disk, without the GIL."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be added in another order, so that they use vector registers. NaN and inf keep their meaning.
FAST_SUMS = {"reassoc", "contract", "nsz"}


def kernel(function: F) -> F:
    """Compile `function` at its first call and keep the result on disk."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": FAST_SUMS}
    try:
        return numba.njit(**options)(function)
    except RuntimeError:
        # Neither the package's folder nor the user's cache folder can be written. A private folder, for this process
        # only: whatever is in a cache is executed, so nobody else may have put it there.
        numba.config.CACHE_DIR = _private_folder()
        return numba.njit(**options)(function)


@cache
def _private_folder() -> str:
    folder = tempfile.mkdtemp(prefix="sparsecluster-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def inline(function: F) -> F:
    """A piece that several kernels share; compiled into each of them."""
    return numba.njit(nogil=True, fastmath=FAST_SUMS, inline="always")(function)


class _SayOnce(event.Listener):
    """Tells a person at a terminal why the first fit takes longer."""

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if getattr(function, "__module__", "").startswith(__package__) and sys.stderr.isatty():
            print("sparsecluster: compiling its kernels for this machine, once; about 15 s", file=sys.stderr)
            _unregister()

    def on_end(self, event: Any) -> None:
        pass


_listener = _SayOnce()
event.register("numba:compile", _listener)


def _unregister() -> None:
    event.unregister("numba:compile", _listener)
