"""Running tasks in threads. Results come in the order of the tasks, so nothing depends on the number of threads."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from .journal import as_one_task, begin_stage
from .progress import Progress, Verbosity

T = TypeVar("T")
R = TypeVar("R")


SILENT = Progress(verbose=False)


class Workers(NamedTuple):
    """The number of threads to use, and where to show progress."""

    n_jobs: int | None = None
    progress: Progress = SILENT

    def map(self, function: Callable[[T], R], tasks: Sequence[T], what: str) -> Iterator[R]:
        """Yield the result of `function` for each task, in the order of the tasks, as soon as it is available.

        Results that are in the current journal are not computed again; see `recorded`.
        """
        results: Iterable[R]
        known, record = begin_stage(what, len(tasks))
        run, tasks_left = as_one_task(function), tasks[len(known) :]
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        if n_jobs == 1 or len(tasks_left) <= 1:
            results = map(run, tasks_left)
        else:
            # Kernels release the GIL, and threads share the data, so nothing is copied or pickled.
            parallel = joblib.Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
            results = parallel(joblib.delayed(run)(task) for task in tasks_left)
        try:
            for done, result in enumerate(self.progress.track(chain(known, results), what, len(tasks))):
                if done >= len(known):
                    record(result)
                yield result
        finally:
            # After Ctrl-C joblib would warn of the tasks that it cancels, which is what was asked for.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                getattr(results, "close", lambda: None)()


ONE_THREAD = Workers(n_jobs=1)
# The smallest number of values for which several threads are faster than one.
THREADS_PAY = 2**18


def workers_for(n_jobs: int | None, verbose: Verbosity, n_values: int) -> Workers:
    """Return the requested number of threads if the data are large enough to benefit from them, or else one."""
    return Workers(n_jobs if n_values >= THREADS_PAY else 1, Progress(verbose))


@cache
def _controller(with_sklearn: bool) -> ThreadpoolController:
    """Return the controller of the loaded thread pools. Loading scikit-learn's clusterers adds another pool."""
    return ThreadpoolController()


def one_thread_blas() -> Any:
    """Return a context in which inner libraries use a single thread.

    Otherwise their threads would compete with ours for cores, and sums could be added in a different order.
    """
    return _controller("sklearn.cluster" in sys.modules).limit(limits=1)
