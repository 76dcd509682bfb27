"""Tasks in threads, with results in the order of the tasks, so that nothing depends on how many threads there are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from .progress import Progress, Verbosity

T = TypeVar("T")
R = TypeVar("R")


SILENT = Progress(verbose=False)


class Workers(NamedTuple):
    """How many threads to use, and where to say what they are doing."""

    n_jobs: int | None = None
    progress: Progress = SILENT

    def map(self, function: Callable[[T], R], tasks: Sequence[T], what: str) -> Iterator[R]:
        """Results of `function` for every task, in order, as they come."""
        results: Iterable[R]
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        if n_jobs == 1 or len(tasks) == 1:
            results = map(function, tasks)
        else:
            # Kernels run without the GIL; threads share the data, so nothing is copied or pickled.
            parallel = joblib.Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
            results = parallel(joblib.delayed(function)(task) for task in tasks)
        yield from self.progress.track(results, what, len(tasks))


ONE_THREAD = Workers(n_jobs=1)
# Values to look at below which threads only wait for each other.
THREADS_PAY = 2**18


def workers_for(n_jobs: int | None, verbose: Verbosity, n_values: int) -> Workers:
    """As many threads as asked for where the data are worth it."""
    return Workers(n_jobs if n_values >= THREADS_PAY else 1, Progress(verbose))


@cache
def _controller(with_sklearn: bool) -> ThreadpoolController:
    """What controls the libraries that are loaded; scikit-learn brings one more when it clusters."""
    return ThreadpoolController()


def one_thread_blas() -> Any:
    """Inner libraries use one thread inside ours: no fight for cores, and sums are added in one order."""
    return _controller("sklearn.cluster" in sys.modules).limit(limits=1)
