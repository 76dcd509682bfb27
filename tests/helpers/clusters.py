"""Dask clusters of this machine, whose workers are forked from a process that has loaded the libraries."""

from __future__ import annotations

import logging
import multiprocessing
from contextlib import contextmanager

import pytest

distributed = pytest.importorskip("distributed", reason="a cluster needs Dask: pip install 'sparsecluster[dask]'")
dask = pytest.importorskip("dask")

# No port in particular, so that tests can run side by side.
NO_PORT = "127.0.0.1:0"
METHOD = "distributed.worker.multiprocessing-method"
LIBRARIES = ["distributed", "dask.array", "pandas", "scipy.sparse", "scipy.stats", "sklearn.cluster", "sparsecluster"]


@contextmanager
def two_workers():
    """The client of a cluster of two workers. A worker that dies is replaced in no time."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    with dask.config.set({METHOD: method}):
        # Dask has its own list of libraries, which it sets when it is first asked.
        distributed.utils.get_mp_context()
        if method == "forkserver":
            multiprocessing.set_forkserver_preload(LIBRARIES)
        options = {"threads_per_worker": 1, "dashboard_address": NO_PORT, "silence_logs": logging.CRITICAL}
        with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
            yield client


def begun_anew():
    """In here, workers are started as users have them started: each loads the libraries."""
    return dask.config.set({METHOD: "spawn"})
