"""How kernels are compiled: ahead of time or at their first call, without the GIL, and cached on disk."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, singledispatch, wraps
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher
from numba.core.types.misc import unliteral
from numba.extending import overload

from .._utils.progress import is_watched, whisper
from ._ahead import KernelCache

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered, so that they use vector registers. NaN and infinity keep their meaning.
FAST_SUMS = {"reassoc", "contract", "nsz"}


def kernel(function: F) -> F:
    """Compile `function` at its first call and cache the machine code on disk.

    The first fit on a machine waits for the compiler, which takes about a millisecond for every operation in the
    source. Kernels therefore use loops over numbers: assigning an array to a part of another one, sums along an axis
    or `np.argmax` take the compiler longer than a whole kernel of loops. For the same reason, a kernel is always
    called with arrays of the same types and layouts.
    """
    return _compiled(function, fastmath=FAST_SUMS)


def step_by_step(function: F) -> F:
    """Like `kernel`, but every operation is done as it is written: x - y - z does not become x - (y + z)."""
    # Said, because a kernel that calls this one would otherwise have it compiled with its own options.
    return _compiled(function, fastmath=False)


def _compiled(function: F, **options: Any) -> F:
    # A check of each divisor would keep the compiler from using vector registers; as in NumPy, there is none.
    options |= {"cache": True, "nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(**options)(function)
    except RuntimeError:
        # Numba can write neither to the package's folder nor to the user's cache folder. Use a new folder for this
        # process only: cached code is executed, so it must not come from a folder that other users can write to.
        numba.config.CACHE_DIR = _private_folder()
        compiled = numba.njit(**options)(function)
    if isinstance(compiled, Dispatcher):  # not if the user has turned off Numba's compiler
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
        _forget_constants(compiled)
    return compiled


def _forget_constants(compiled: Any) -> None:
    """Let kernels that call this one with a constant share one version of it, instead of one for each constant."""
    template_of = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: template_of(tuple(map(unliteral, args)), kws)


@cache
def _private_folder() -> str:
    folder = tempfile.mkdtemp(prefix="sparsecluster-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def inline(function: F) -> F:
    """Compile `function` into each of the kernels that call it."""
    return numba.njit(nogil=True, error_model="numpy", fastmath=FAST_SUMS, inline="always")(function)


def by_kind(function: F) -> Any:
    """A function with a version for each kind of data, which is the class of its first argument, a named tuple.

    Versions are added by `register(kind)`. A kernel that calls the function is compiled with the version for its own
    arguments, so that what is the same for all kinds is written once, and is as fast as if it were written for each.
    """

    @wraps(function)
    def unknown(data: Any, *others: Any) -> Any:
        raise TypeError(f"{function.__name__} has no version for {type(data).__name__}")

    def version(*types: Any) -> Any:
        found = chosen.dispatch(types[0].instance_class)
        return None if found is unknown else found

    chosen = singledispatch(unknown)
    options = {"nogil": True, "error_model": "numpy", "fastmath": FAST_SUMS}
    overload(chosen, jit_options=options, strict=False)(version)
    return chosen


class _SayOnce(event.Listener):
    """Tells the user at a terminal why the first fit takes longer."""

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if getattr(function, "__module__", "").startswith(__package__) and is_watched():
            whisper("sparsecluster: compiling its kernels for this machine (once, about half a minute)")
            _unregister()

    def on_end(self, event: Any) -> None:
        pass


_listener = _SayOnce()
event.register("numba:compile", _listener)


def _unregister() -> None:
    event.unregister("numba:compile", _listener)
