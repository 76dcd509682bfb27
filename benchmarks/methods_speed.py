"""Speed of Sparse K-means against a plain version of it, and of IF-PCA with and without its null distribution."""

from __future__ import annotations

import os
import tempfile

from threadpoolctl import threadpool_limits

from sparsecluster import IFPCA, SparseKMeans, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.experiments import plain

from .report import markdown_table, seconds_of

# Seconds of R's sparcl (10 bounds, B = 25): another machine, another run, one core (n = 90, kappa = 3, mu = 0.7).
R_SECONDS = {100: 4.8, 500: 18.2, 1000: 31.0}


def measure(p, repeats):
    """Cells for one p, all on one thread in one run."""
    X, truth, _ = shifted_groups(mu=0.7, n_features=p, seed=0)

    def ours():
        return SparseKMeans(n_clusters=3).fit(X)

    with threadpool_limits(1):
        ours()  # the first run compiles
        fast = seconds_of(ours, repeats)
        slow = seconds_of(lambda: plain.sparse_kmeans(X, 3))
        rand = rand_index(truth, plain.sparse_kmeans(X, 3)[0]), rand_index(truth, ours().labels_)
    return [p, f"{slow:.2f}", f"{fast:.3f}", f"**{slow / fast:.0f}x**", *(f"{r:.3f}" for r in rand), R_SECONDS[p]]


def ifpca(repeats):
    """Seconds at n = 100, p = 10,000: with an empty cache folder, and with the null in it."""
    X, _, _ = shifted_groups(mu=0.7, n_features=10_000, group_size=34, seed=0)
    X = X[:100]
    before = os.environ.get("SPARSECLUSTER_CACHE")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        os.environ["SPARSECLUSTER_CACHE"] = folder
        try:
            IFPCA(n_clusters=3).fit(X[:50])  # compiles; another n has another null
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
    header = ["p", "plain, tuned", "ours, tuned", "ratio", "Rand plain", "Rand ours", "sparcl, elsewhere"]
    text = (
        "## Sparse K-means\n\nn = 90, three groups, mu = 0.7, seed 0, 10 bounds, B = 25, one thread, compiled kernels; "
        f"seconds, ours the median of {repeats} runs,\nplain one run. `plain` is the algorithm of R's sparcl in NumPy "
        "and scikit-learn ([plain.py](../../src/sparsecluster/experiments/plain.py)).\nThe seconds of sparcl "
        "itself are from another run on another machine, so they are only a rough guide.\n\n"
        + markdown_table(header, rows)
        + "\n\n## IF-PCA\n\nn = 100, p = 10,000, one thread: "
        f"**{first:.2f} s** with 100,000 simulated null values, {again:.2f} s where they are in the cache\n"
        f"(median of {repeats} runs)."
    )
    return "Speed of the methods", text
