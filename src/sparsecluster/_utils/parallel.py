"""Running tasks in threads or, if the user has chosen such a backend of joblib, in other processes.

Results come in the order of the tasks, so nothing depends on the number of threads or on where they run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple, TypeVar

import joblib

from .blas import one_thread_blas as one_thread_blas
from .journal import as_one_task, begin_stage
from .progress import Progress, Verbosity
from .remote import Sent, chosen_backend, is_on_cluster, map_remotely

T = TypeVar("T")
R = TypeVar("R")


SILENT = Progress(verbose=False)


class Workers(NamedTuple):
    """The number of threads to use, where to show progress, and the arrays that a cluster has already been sent."""

    n_jobs: int | None = None
    progress: Progress = SILENT
    sent: Sent | None = None

    def map(self, function: Callable[[T], R], tasks: Sequence[T], what: str) -> Iterator[R]:
        """Yield the result of `function` for each task, in the order of the tasks, as soon as it is available.

        Results that are in the current journal are not computed again; see `recorded`.
        """
        results: Iterable[R]
        known, record = begin_stage(what, len(tasks))
        run, tasks_left = as_one_task(function), tasks[len(known) :]
        # joblib is asked only if it matters: its answer takes as long as a small task.
        backend = None if self.n_jobs == 1 or len(tasks_left) <= 1 else chosen_backend()
        # A cluster is used as a whole, whatever n_jobs is, but not for 1 and not by a task that it runs itself.
        is_alone = self.n_jobs == 1 or len(tasks_left) <= 1 or (backend is not None and is_on_cluster())
        n_jobs = 1 if is_alone else joblib.effective_n_jobs(self.n_jobs)
        if n_jobs == 1:
            results = map(run, tasks_left)
        elif backend is not None:
            results = map_remotely(backend, function, tasks_left, n_jobs, self.sent or Sent())
        else:
            results = map_in_threads(run, tasks_left, n_jobs)
        try:
            for done, result in enumerate(self.progress.track(chain(known, results), what, len(tasks))):
                if done >= len(known):
                    record(result)
                yield result
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                # After Ctrl-C joblib would warn of the tasks that it cancels, which is what was asked for.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    close()


def map_in_threads(function: Callable[[T], R], tasks: Sequence[T], n_threads: int) -> Iterator[R]:
    """Yield the results in the order of the tasks. Tasks that have not begun are canceled if the generator is closed.

    Kernels release the GIL, and threads share the data, so nothing is copied or pickled. The threads of joblib would
    do the same, but starting them takes as long as the fit of a small table. The thread that asks for the results is
    one of those that work: if it waited, it would be woken, and take the GIL, for every single task.
    """
    pool = ThreadPoolExecutor(n_threads - 1)
    try:
        futures = [pool.submit(function, task) for task in tasks]
        own: dict[int, R] = {}
        places = iter(range(len(tasks)))
        for place, future in enumerate(futures):
            while place not in own and not future.done():
                # A task that can still be canceled has not begun. If there is none, there is nothing to do but wait.
                ahead = next((each for each in places if futures[each].cancel()), None)
                if ahead is None:
                    break
                own[ahead] = function(tasks[ahead])
            yield own.pop(place) if place in own else future.result()
    finally:
        pool.shutdown(cancel_futures=True)


ONE_THREAD = Workers(n_jobs=1)
# The smallest number of values for which several threads are faster than one.
THREADS_PAY = 2**15


def workers_for(n_jobs: int | None, verbose: Verbosity, n_values: int) -> Workers:
    """Return the requested number of threads if the data are large enough to benefit from them, or else one."""
    return Workers(n_jobs if n_values >= THREADS_PAY else 1, Progress(verbose), Sent())
