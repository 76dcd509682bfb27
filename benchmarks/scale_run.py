"""One fit of a folder of Parquet files in a process with limited memory; prints what it took as JSON.

Usage: python -m benchmarks.scale_run FOLDER LIMIT_IN_MB [number of worker processes] [--kill]
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time

import numpy as np


class Passes:
    """Times every pass over the table, with the share of the columns that it reads."""

    def __init__(self):
        from sparsecluster._blocks import collections, look

        self.taken = []
        inner = collections.reduced

        def timed(collection, by, combine, columns=None):
            began = time.perf_counter()
            found = inner(collection, by, combine, columns)
            share = 1.0 if columns is None else columns.size / collection.n_columns
            self.taken.append((time.perf_counter() - began, share))
            return found

        collections.reduced = look.reduced = timed


def pairs_of(labels, truth):
    """Count the samples with each label and each group."""
    return np.histogram2d(labels, truth, bins=(range(8), range(8)))[0]


def rand_of(counts):
    """Return the Rand index of a table of counts."""
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    same = (counts**2).sum()
    return 1.0 - ((rows**2).sum() + (columns**2).sum() - 2.0 * same) / (n * (n - 1.0))


def kill_one(cluster, seconds):
    """End one of the worker processes after some time."""

    def strike():
        worker = next(iter(cluster.workers.values()))
        os.kill(worker.process.pid, signal.SIGKILL)

    threading.Timer(seconds, strike).start()


def limited(megabytes):
    """Limit the memory that this process may have for its data."""
    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 2**20, megabytes * 2**20))


def run(folder, megabytes, workers, is_killed):
    limited(megabytes)
    import dask.dataframe as dd
    from dask.delayed import delayed

    from sparsecluster import SASClustering

    # Kernels are compiled, or read from the disk, before anything is measured.
    small = np.random.default_rng(0).normal(size=(2100, 5))
    SASClustering(n_features_to_select=2, subsample=300).fit(dd.from_dict({f"x{a}": small[:, a] for a in range(5)}, 1))
    client = cluster = None
    if workers:
        import distributed

        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=f"{megabytes}MB", dashboard_address="127.0.0.1:0"
        )
        client = distributed.Client(cluster)
        client.run(limited, megabytes)
        client.run(import_package)
    table = dd.read_parquet(folder)
    X = table[[name for name in table.columns if name != "group"]]
    # Another result than the one that is timed, which a cluster might still have.
    X.max().compute()
    began = time.perf_counter()
    X.sum().compute()
    bare = time.perf_counter() - began
    passes = Passes()
    if is_killed:
        kill_one(cluster, 4.0 * bare)
    began, cpu = time.perf_counter(), time.process_time()
    found = SASClustering(n_clusters=3, n_jobs=1).fit(X)
    fit, cpu = time.perf_counter() - began, time.process_time() - cpu
    began = time.perf_counter()
    parts = zip(found.labels_.to_delayed().ravel(), table[["group"]].to_delayed(), strict=True)
    counted = [delayed(pairs_of)(labels, truth["group"]) for labels, truth in parts]
    counts = delayed(sum)(counted).compute()
    labels = time.perf_counter() - began
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    if client is not None:
        peaks += list(client.run(peak).values())
        client.close()
        cluster.close()
    whole = [seconds for seconds, share in passes.taken if share == 1.0]
    return {
        "n": int(counts.sum()),
        "bare": bare,
        "fit": fit,
        "cpu": cpu,
        "labels": labels,
        "passes": len(passes.taken),
        "whole_passes": len(whole),
        "in_passes": sum(seconds for seconds, _ in passes.taken),
        "read": sum(share for _, share in passes.taken),
        "slowest": max(seconds for seconds, _ in passes.taken),
        "peaks": peaks,
        "rand": rand_of(counts),
        "sizes": list(found._kept.sizes),
        "features": np.flatnonzero(found.support_).tolist(),
        "scores": found.feature_scores_.tolist(),
    }


def peak():
    """Return the peak memory of a worker in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def import_package():
    """Import the package on a worker, and read its kernels from the disk."""
    import sparsecluster  # noqa: F401


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--kill"]
    print(json.dumps(run(words[0], int(words[1]), int(words[2]) if len(words) > 2 else 0, "--kill" in sys.argv)))
