"""Running tasks in other processes, on this machine or on a cluster, with the results that they have in threads.

A function is sent in two parts: its large arrays, which each worker of a cluster gets once in a search, and all else.
Both are pickled here, so that no backend takes the contents of a task for something to be computed.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import cloudpickle
import joblib
import numpy as np
import numpy.typing as npt
from joblib.parallel import get_active_backend

from .blas import one_thread_blas

Bytes = npt.NDArray[np.uint8]
Function = Callable[[Any], Any]

# Arrays of at least this many bytes are sent apart from the function that uses them.
LARGE = 2**13
# Many short tasks are sent together, in about so many parts per process, which is enough to keep all of them busy.
PARTS = 8
# Kernels are compiled for arrays at such addresses.
ALIGNMENT = 16


def chosen_backend() -> Any:
    """Return the backend of joblib that the user has chosen, if its processes do not share memory; None otherwise."""
    backend, _ = get_active_backend(prefer="threads")
    return None if getattr(backend, "supports_sharedmem", False) else backend


def is_on_cluster() -> bool:
    """Whether this is a task that a worker of a Dask cluster runs."""
    worker = sys.modules.get("distributed.worker")
    return worker is not None and hasattr(worker.thread_state, "execution_state")


# ---------------------------------------------------------------- what is sent


class Packed:
    """A function without its large arrays, which is restored once, as long as the process keeps this object."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._function: Function | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, "_function": None}

    def function(self, arrays: Sequence[Bytes]) -> Function:
        """Return the function, given its large arrays."""
        if self._function is None:
            self._function = pickle.loads(self.content, buffers=map(usable, arrays))
        return self._function


def pack(function: Function) -> tuple[Packed, list[Bytes]]:
    """Return a function without its large arrays, and the bytes of these arrays, which are not copied."""
    arrays: list[Bytes] = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        content = buffer.raw()
        if content.nbytes < LARGE:
            return True
        arrays.append(np.frombuffer(content, np.uint8))
        return False

    try:
        content = cloudpickle.dumps(function, protocol=5, buffer_callback=stays)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise TypeError(
            f"The data or the parameters of this fit cannot be sent to other processes: {error}. Use joblib's backend "
            '"threading", or data and functions that can be pickled.'
        ) from error
    return Packed(content), arrays


def usable(array: Bytes) -> Bytes:
    """Return the bytes of an array at an address, and in memory, for which kernels need not be compiled again."""
    return array if array.flags.writeable and array.ctypes.data % ALIGNMENT == 0 else array.copy()


def run(packed: Packed, tasks: bytes, *arrays: Bytes) -> bytes:
    """Run some tasks in another process; returns their results and what they warned of."""
    function = packed.function(arrays)
    # Nothing in a task is divided among further processes or threads.
    alone = joblib.parallel_config(backend="threading", n_jobs=1)
    with alone, one_thread_blas(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [function(task) for task in pickle.loads(tasks)]
    warned = [(each.message, each.category, each.filename, each.lineno) for each in caught]
    return cloudpickle.dumps((results, warned))


def opened(answer: bytes) -> list[Any]:
    """Return the results of some tasks, and warn here of what they warned of there."""
    results, warned = pickle.loads(answer)
    for message, category, filename, line in warned:
        warnings.warn_explicit(message, category, filename, line)
    return results


def parts_of(tasks: Sequence[Any], n_processes: int) -> Iterator[bytes]:
    """Divide the tasks into parts that follow each other."""
    left = iter(tasks)
    size = -(-len(tasks) // (PARTS * n_processes))
    while part := list(islice(left, size)):
        yield cloudpickle.dumps(part)


# ---------------------------------------------------------------- where it is run


class Sent:
    """The large arrays that a cluster has been sent. It keeps them as long as this object lives."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def __reduce__(self) -> tuple[type[Sent], tuple[()]]:
        return Sent, ()

    def to(self, client: Any, arrays: Sequence[Bytes]) -> list[Any]:
        """Return futures of the arrays, of which those that the cluster does not have are sent to all its workers.

        All have them, so that none is lost together with a worker.
        """
        names = [hashlib.blake2b(array.data).digest() for array in arrays]
        new = {
            name: array
            for name, array in zip(names, arrays, strict=True)
            if name not in self._known or self._known[name].status != "finished"
        }
        if new:
            self._known.update(zip(new, client.scatter(list(new.values()), broadcast=True, hash=False), strict=True))
        return [self._known[name] for name in names]


def map_on_dask(backend: Any, function: Function, tasks: Sequence[Any], n: int, sent: Sent) -> Iterator[Any]:
    """Yield the results of all tasks in their order, from a cluster. If nobody waits for them, they are cancelled.

    Without `joblib.Parallel`, which would send the arrays anew for every call, to one worker, where they can be lost,
    and which would not cancel tasks.
    """
    client = backend.client
    packed, arrays = pack(function)
    known = [*client.scatter([packed], broadcast=True, hash=False), *sent.to(client, arrays)]
    futures = deque(
        client.submit(run, known[0], part, *known[1:], pure=False, **backend.submit_kwargs)
        for part in parts_of(tasks, n)
    )
    try:
        while futures:
            yield from opened(futures[0].result())
            futures.popleft()
    finally:
        if futures:
            with suppress(Exception):  # the cluster may be gone
                client.cancel(list(futures))


def map_in_processes(backend: Any, function: Function, tasks: Sequence[Any], n: int) -> Iterator[Any]:
    """Yield the results of all tasks in their order, from the processes of any other backend of joblib."""
    packed, arrays = pack(function)
    return_as = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = joblib.Parallel(n_jobs=n, return_as=return_as, batch_size=1)
    answers = parallel(joblib.delayed(run)(packed, part, *arrays) for part in parts_of(tasks, n))
    try:
        for answer in answers:
            yield from opened(answer)
    finally:
        getattr(answers, "close", lambda: None)()


def map_remotely(backend: Any, function: Function, tasks: Sequence[Any], n: int, sent: Sent) -> Iterator[Any]:
    """Yield the results of all tasks in their order, from the n processes of a backend of joblib."""
    if hasattr(backend, "client"):
        return map_on_dask(backend, function, tasks, n, sent)
    return map_in_processes(backend, function, tasks, n)
