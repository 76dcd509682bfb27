"""Speed beside its limits: the fixed cost of a fit, two threads, the bandwidth of memory; and the time of IF-PCA."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import numba
import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from sparsecluster import IFPCA, SASClustering
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups

from .report import seconds_of

# A table that is much larger than the last cache.
LARGE = (1000, 20_000)
THREADED = (1000, 20_000)


def sections(repeats):
    """Write all sections."""
    return "\n\n".join([tiny(repeats), two_threads(repeats), bandwidth(repeats), ifpca(repeats)])


def tiny(repeats):
    """Write the time of a fit in which fixed costs dominate."""
    X = load_iris().data

    def fit():
        SASClustering(n_clusters=3, n_features_to_select=2).fit(X)

    fit()
    with threadpool_limits(1):
        seconds = seconds_of(fit, 4 * repeats, time.process_time)
    return (
        "## A tiny fit\n\n"
        f"Iris (150 x 4), s = 2 given, all defaults: **{1000 * seconds:.1f} ms** of CPU time (wanted: at most 5 ms), "
        f"median of {4 * repeats} runs."
    )


# ---------------------------------------------------------------- two threads


def paced(p, repeats, ready):
    """Return the wall time of a tuned fit in this process, when those of the other processes are as far."""
    X = shifted_groups(mu=0.7, n_features=p, seed=0).X
    SASClustering(n_clusters=3, n_jobs=1).fit(X)
    ready.wait()
    return seconds_of(lambda: SASClustering(n_clusters=3, n_jobs=1).fit(X), repeats)


def side_by_side(p, repeats):
    """Return the median wall times of a fit on one thread, alone and beside another one in a process of its own."""
    context = multiprocessing.get_context("spawn")
    found = []
    with context.Manager() as manager:
        for count in (1, 2):
            with ProcessPoolExecutor(count, context) as pool:
                ready = manager.Barrier(count)
                tasks = [pool.submit(paced, p, repeats, ready) for _ in range(count)]
                found.append(np.median([task.result() for task in tasks]))
    return found


def two_threads(repeats):
    """Write how well a tuned fit uses a second thread."""
    rows = []
    for p in THREADED:
        alone, beside = side_by_side(p, repeats)
        X = shifted_groups(mu=0.7, n_features=p, seed=0).X
        SASClustering(n_clusters=3, n_jobs=2).fit(X)
        walls, cpus = [], []
        for _ in range(repeats):  # in turn, so that a busy machine disturbs both alike
            for n_jobs in (1, 2):
                began, worked = time.perf_counter(), time.process_time()
                SASClustering(n_clusters=3, n_jobs=n_jobs).fit(X)
                walls.append(time.perf_counter() - began)
                cpus.append(time.process_time() - worked)
        one, two = np.median(walls[::2]), np.median(walls[1::2])
        work = np.median(cpus[1::2]) / np.median(cpus[::2])
        shares = f"**{one / (2 * two):.0%}**", f"{alone / beside:.0%}"
        rows.append([f"90, {p:,}", f"{one:.3f}", f"{two:.3f}", *shares, f"{work:.2f}"])
    header = ["n, p", "one thread, s", "two threads, s", "efficiency", "limit", "CPU seconds of two threads / one"]
    return (
        f"## Two threads\n\nWall time of a tuned fit with all defaults, median of {repeats} runs. The efficiency is "
        "the time on one thread divided by twice the time on two (wanted: at least 80%). Another process on the same "
        "cores lowers it; the ratio of CPU seconds, which would be 1 without any waste, it hardly changes. The limit "
        "is what the cores of this machine allow: the time of a fit on one thread divided by its time beside the same "
        "fit in another process, with which it shares nothing but the memory and its caches.\n\n"
        + markdown_table(header, rows)
    )


# ---------------------------------------------------------------- bandwidth


@numba.njit(fastmath=True)
def one_stream(values):
    """Sum of an array, read from its beginning to its end."""
    found = 0.0
    for i in range(values.size):
        found += values[i]
    return found


@numba.njit(fastmath=True)
def eight_streams(values):
    """Sum of an array, read at eight places at once, which keeps more reads under way."""
    m, found = values.size // 8, 0.0
    for i in range(m):
        first = (values[i] + values[m + i]) + (values[2 * m + i] + values[3 * m + i])
        found += first + ((values[4 * m + i] + values[5 * m + i]) + (values[6 * m + i] + values[7 * m + i]))
    return found


def best_seconds(function, repeats):
    """Return the shortest time of some calls, after one that compiles: a limit is not a typical time."""
    function()
    return min(seconds_of(function, clock=time.process_time) for _ in range(repeats))


def scoring_pace(X, repeats):
    """Return the most bytes per second of one scoring, and its seconds.

    The sum of one cluster follows from those of the others, so the rows of the largest one need not be read, and are
    not counted.
    """
    rng = np.random.default_rng(1)
    features = SASClustering(n_clusters=3).read(X).source.features()
    labels = rng.integers(0, 3, len(X)).astype(np.int32)
    features.scores(labels, 3)
    found = []
    for _ in range(repeats):
        # Every sample moves to another cluster, so that no sum of the last scoring can be kept.
        labels = ((labels + rng.integers(1, 3, len(X))) % 3).astype(np.int32)
        began = time.process_time()
        features.scores(labels, 3)
        seconds = time.process_time() - began
        found.append(((1 - np.bincount(labels).max() / len(X)) * X.nbytes / seconds, seconds))
    return max(found)


def bandwidth(repeats):
    """Write the share of the bandwidth of memory that one scoring pass reaches."""
    X = np.random.default_rng(0).standard_normal(LARGE)
    flat, repeats = X.ravel(), 2 * repeats
    with threadpool_limits(1):
        readers = (lambda: one_stream(flat), lambda: eight_streams(flat), flat.sum)
        limit = X.nbytes / min(best_seconds(reader, repeats) for reader in readers)
        pace, seconds = scoring_pace(X, repeats)
    n, p = LARGE
    return (
        "## Bandwidth\n\n"
        f"One scoring of all features of a table of {n:,} x {p:,} numbers ({X.nbytes / 1e6:.0f} MB, much larger than "
        "the last cache), for labels that differ from the last ones at every sample, takes "
        f"{1000 * seconds:.1f} ms: {pace / 1e9:.1f} GB/s, without the rows of the largest cluster, whose sum follows "
        "from those of the others. The sum of all numbers of the table, the fastest of NumPy and of compiled loops "
        f"that read at one place and at eight, reads {limit / 1e9:.1f} GB/s. A scoring reaches **{pace / limit:.0%}** "
        f"of this bandwidth (wanted: 70%). One thread, CPU time, the best of {repeats} runs."
    )


# ---------------------------------------------------------------- IF-PCA


def ifpca(repeats):
    """Write the time of IF-PCA with an empty cache, and with the null distribution in the cache."""
    X = shifted_groups(mu=0.7, n_features=10_000, group_size=34, seed=0).X[:100]
    before = os.environ.get("SPARSECLUSTER_CACHE")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        os.environ["SPARSECLUSTER_CACHE"] = folder
        try:
            IFPCA(n_clusters=3).fit(X[:50])  # compiles; another n needs another null distribution
            first = seconds_of(lambda: IFPCA(n_clusters=3).fit(X), clock=time.process_time)
            again = seconds_of(lambda: IFPCA(n_clusters=3).fit(X), repeats, time.process_time)
        finally:
            os.environ.pop("SPARSECLUSTER_CACHE")
            if before is not None:
                os.environ["SPARSECLUSTER_CACHE"] = before
    return (
        "## IF-PCA\n\n"
        f"n = 100, p = 10,000, one thread: **{first:.2f} s** of CPU time including the simulation of 100,000 null "
        f"values, {again:.2f} s when they are in the cache (median of {repeats} runs)."
    )
