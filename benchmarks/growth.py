"""How time and memory grow with the number of features and of samples."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups

from .report import markdown_table, seconds_of

FEATURES = (500, 1000, 2000, 5000, 10000, 20000, 50000)
ITEMS = (100, 300, 1000, 3000, 10000, 30000, 100000)
# The row form on a large subset, without the sample that large tables are searched on.
ALL_ITEMS = {"n_features_to_select": 400, "subsample": None, "n_init": 2, "init": "random"}
# Sizes from which on the exponent is fitted: below, fixed costs show.
LARGE_FEATURES, LARGE_ITEMS = 2000, 3000


def times(X):
    """Seconds with s given and with s tuned."""
    given = seconds_of(lambda: SASClustering(3, n_features_to_select=20).fit(X))
    return given, seconds_of(lambda: SASClustering(3).fit(X))


def exponent(sizes, seconds):
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(what, sizes, large, results):
    """Times by size, and the exponents beyond the small sizes."""
    from_large = [i for i, size in enumerate(sizes) if size >= large]
    fitted = [exponent([sizes[i] for i in from_large], [results[i][j] for i in from_large]) for j in (0, 1)]
    rows = [[f"{size:,}", f"{given:.3f}", f"{tuned:.2f}"] for size, (given, tuned) in zip(sizes, results, strict=True)]
    rows.append([f"exponent from {large:,} on", f"**{fitted[0]:.2f}**", f"**{fitted[1]:.2f}**"])
    return markdown_table([what, "s given, seconds", "tuned (B = 25), seconds"], rows)


PEAK = """
import re, sys
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
group_size, p, parameters = int(sys.argv[1]), int(sys.argv[2]), eval(sys.argv[3])
for size in (20, 400):  # compile and load all that is needed
    SASClustering(3, **{**parameters, "n_features_to_select": 5}).fit(shifted_groups(0.7, 30, 20, size).X)
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
before = peak()
X = shifted_groups(0.7, p, 20, group_size).X
SASClustering(3, **parameters).fit(X)
print((peak() - before) / X.nbytes)
"""


def peak_copies(group_size, p, parameters):
    """Peak memory of a fit (Linux), the user's X included, in copies of X."""
    call = [sys.executable, "-c", PEAK, str(group_size), str(p), repr(parameters)]
    return float(subprocess.run(call, capture_output=True, text=True, check=True).stdout)


def main(repeats=None):
    shifted = {"mu": 0.7, "n_useful": 20}
    times(shifted_groups(n_features=300, **shifted).X), times(shifted_groups(group_size=500, n_features=50).X)
    by_p = [times(shifted_groups(n_features=p, group_size=33, **shifted).X) for p in FEATURES]
    by_n = [times(shifted_groups(n_features=200, group_size=n // 3, **shifted).X) for n in ITEMS]
    memory = [
        ["99", "100,000", "tuned, B = 2", f"{peak_copies(33, 100_000, {'n_permutations': 2}):.2f}"],
        ["150,000", "200", "tuned, B = 2", f"{peak_copies(50_000, 200, {'n_permutations': 2}):.2f}"],
        [
            "30,000",
            "1,000",
            "s = 400 given, all samples from the start",
            f"{peak_copies(10_000, 1_000, ALL_ITEMS):.2f}",
        ],
    ]
    text = (
        "Three groups, 20 useful features, mu = 0.7, seed 0, one thread, one run a size.\n\n## Features, n = 99\n\n"
        + table("p", FEATURES, LARGE_FEATURES, by_p)
        + "\n\n## Samples, p = 200\n\nBeyond 2,000 samples the search is on 2,000 of them; the last climb is on all.\n\n"
        + table("n", ITEMS, LARGE_ITEMS, by_n)
        + "\n\n## Memory\n\nPeak of a fit, X itself included, in copies of X (float64, one thread).\n\n"
        + markdown_table(["n", "p", "fit", "copies of X"], memory)
    )
    return "Growth", text
