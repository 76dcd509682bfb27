"""Where joblib runs a fit, in threads, in processes or in neither, does not change it."""

import os
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

import sparsecluster._utils.parallel
from sparsecluster import SASClustering, SparseKMeans
from sparsecluster._utils.blas import one_thread_blas
from sparsecluster._utils.parallel import Workers, map_in_threads
from sparsecluster.datasets import shifted_groups
from tests.helpers.cases import in_turn

# Groups that overlap: any other random number or rounding shows.
X = shifted_groups(mu=0.6, n_features=30, n_useful=10, group_size=15, seed=1).X
ESTIMATORS = [SASClustering(3, n_permutations=3), SparseKMeans(3, n_permutations=3)]


def answer(estimator, n_jobs=1):
    """All that a fit says, to the last bit, also where a small table would use one thread."""
    sparsecluster._utils.parallel.THREADS_PAY = 0
    # A copy, because two threads must not fit one object.
    found = clone(estimator).set_params(n_jobs=n_jobs).fit(X)
    parts = (found.labels_, found.support_, found.feature_scores_, found.gap_curve_.score)
    return [part.tobytes() for part in parts]


@pytest.fixture(autouse=True)
def threads_for_small_tables(monkeypatch):
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)


@in_turn(estimator=ESTIMATORS, backend=["loky", "multiprocessing", "threading", "sequential"])
def test_a_backend_that_the_user_sets_does_not_change_a_result(estimator, backend):
    alone = answer(estimator)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert answer(estimator, n_jobs=None) == alone
        assert answer(estimator, n_jobs=2) == alone


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_side_by_side_are_the_fits_alone(backend):
    side_by_side = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(answer)(each) for each in ESTIMATORS * 2)
    assert side_by_side == [answer(each) for each in ESTIMATORS] * 2


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_that_the_user_asks_for_run_the_tasks(backend):
    table = np.arange(200_000.0).reshape(20, 10_000)

    def run(row):
        # Kernels are compiled once more for arrays that cannot be written.
        return os.getpid(), table.flags.writeable, table[row].sum()

    with joblib.parallel_config(backend=backend, n_jobs=2):
        pids, writeable, sums = zip(*Workers().map(run, range(20), "rows"), strict=True)
    assert os.getpid() not in pids
    assert all(writeable)
    assert sums == tuple(table.sum(axis=1))


def test_the_limit_of_one_thread_holds_until_the_last_has_left():
    def most():
        # SciPy lists its reader of matrices as well, which is not used while ours are at work.
        return max(each["num_threads"] for each in threadpool_info() if each["user_api"] in ("openmp", "blas"))

    threads = []
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with one_thread_blas():
            inside.set()
            leave.wait()
            threads.append(most())

    with threadpool_limits(2):
        holder = threading.Thread(target=hold)
        with one_thread_blas():
            holder.start()
            inside.wait()
        leave.set()
        holder.join()
        assert (threads, most()) == ([1], 2)


def test_the_limit_holds_for_libraries_that_were_loaded_later():
    code = """
import numpy
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits
from sparsecluster._utils.blas import one_thread_blas
with one_thread_blas():
    import scipy.linalg, sklearn.cluster
threadpool_limits(2)
with one_thread_blas():
    print({each["num_threads"] for each in threadpool_info()})
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "{1}\n"


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_every_task_is_run_once_and_the_results_come_in_order(n_threads):
    ran: list[int] = []

    def run(task):
        time.sleep(0.001 * (task % 3))
        ran.append(task)
        return -task

    assert list(map_in_threads(run, range(40), n_threads)) == [-task for task in range(40)]
    assert sorted(ran) == list(range(40))


def test_the_thread_that_asks_for_results_works_as_well():
    together = threading.Barrier(2, timeout=60)

    def run(task):
        # With one thread besides this one, both tasks can meet only if this one runs a task.
        together.wait()
        return threading.get_ident()

    assert threading.get_ident() in list(map_in_threads(run, range(2), 2))


def test_the_error_of_a_task_ends_the_others():
    ran: list[int] = []

    def run(task):
        if task == 3:
            raise ValueError("task 3")
        time.sleep(0.001)
        ran.append(task)

    with pytest.raises(ValueError, match="task 3"):
        list(map_in_threads(run, range(1000), 2))
    assert len(ran) < 900


def test_tasks_that_have_not_begun_are_canceled_when_no_more_results_are_wanted():
    ran: list[int] = []
    results = map_in_threads(lambda task: (time.sleep(0.001), ran.append(task)), range(1000), 2)
    next(results)
    results.close()
    count = len(ran)
    time.sleep(0.05)
    assert len(ran) == count < 900
