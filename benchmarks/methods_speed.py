"""Speed of Sparse K-means compared with a plain version, and of IF-PCA with and without a cached null distribution."""

from __future__ import annotations

import os
import tempfile

from threadpoolctl import threadpool_limits

from sparsecluster import IFPCA, SparseKMeans, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain

from .report import compared, seconds_of

# Seconds of R's sparcl (10 bounds, B = 25) on one core of another machine (n = 90, kappa = 3, mu = 0.7).
R_SECONDS = {100: 4.8, 500: 18.2, 1000: 31.0}


def measure(p, repeats):
    """Return the row of the table for one p; everything is measured on one thread in one run."""
    X, truth, _ = shifted_groups(mu=0.7, n_features=p, seed=0)

    def ours():
        return SparseKMeans(n_clusters=3).fit(X)

    with threadpool_limits(1):
        ours()  # the first run compiles
        fast = seconds_of(ours, repeats)
        slow = seconds_of(lambda: plain.sparse_kmeans(X, 3))
        rand = rand_index(truth, plain.sparse_kmeans(X, 3)[0]), rand_index(truth, ours().labels_)
    return [p, *compared(slow, fast), *(f"{r:.3f}" for r in rand), R_SECONDS[p]]


def ifpca(repeats):
    """Return the seconds at n = 100, p = 10,000 with an empty cache, and with the null distribution in the cache."""
    X, _, _ = shifted_groups(mu=0.7, n_features=10_000, group_size=34, seed=0)
    X = X[:100]
    before = os.environ.get("SPARSECLUSTER_CACHE")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        os.environ["SPARSECLUSTER_CACHE"] = folder
        try:
            IFPCA(n_clusters=3).fit(X[:50])  # compiles; another n needs another null distribution
            first = seconds_of(lambda: IFPCA(n_clusters=3).fit(X))
            again = seconds_of(lambda: IFPCA(n_clusters=3).fit(X), repeats)
        finally:
            os.environ.pop("SPARSECLUSTER_CACHE")
            if before is not None:
                os.environ["SPARSECLUSTER_CACHE"] = before
    return first, again


def main(repeats=5):
    rows = [measure(p, repeats) for p in R_SECONDS]
    first, again = ifpca(repeats)
    header = ["p", "plain, tuned", "ours, tuned", "ratio", "Rand index, plain", "Rand index, ours", "sparcl, elsewhere"]
    text = (
        "## Sparse K-means\n\n"
        "n = 90, three groups, mu = 0.7, seed 0, 10 bounds, B = 25, on one thread with compiled kernels. Seconds: ours "
        f"is the median of {repeats} runs, plain is one run. `plain` is the algorithm of R's sparcl in NumPy and "
        "scikit-learn ([plain.py](../../src/sparsecluster/experiments/plain.py)). The seconds of sparcl itself were "
        "measured on another machine and are only a rough guide.\n\n"
        + markdown_table(header, rows)
        + "\n\n## IF-PCA\n\n"
        f"n = 100, p = 10,000, one thread: **{first:.2f} s** including the simulation of 100,000 null values, "
        f"{again:.2f} s when they are in the cache (median of {repeats} runs)."
    )
    return "Speed of the methods", text
