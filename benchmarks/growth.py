"""How time and memory grow with the number of features and with the number of samples."""

from __future__ import annotations

import time

import numpy as np

from sparsecluster import SASClustering
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups

from .report import peak_bytes, seconds_of

FEATURES = (500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
WIDE = 200_000
SAMPLES = (100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000)
# A large subset, searched on all samples and not on a subsample.
ALL_SAMPLES = {"n_features_to_select": 400, "subsample": None, "n_init": 2, "init": "random"}
# The exponent is fitted from these sizes on; fixed costs dominate below.
LARGE_FEATURES, LARGE_SAMPLES = 2000, 3000


def times(X):
    """Return the CPU seconds with s given and with s tuned."""
    given = seconds_of(lambda: SASClustering(3, n_features_to_select=20).fit(X), clock=time.process_time)
    return given, seconds_of(lambda: SASClustering(3).fit(X), clock=time.process_time)


def exponent(sizes, seconds):
    """Return the slope of log seconds over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(what, sizes, large, results):
    """Write the times by size, and the exponents for the large sizes."""
    from_large = [i for i, size in enumerate(sizes) if size >= large]
    fitted = [exponent([sizes[i] for i in from_large], [results[i][j] for i in from_large]) for j in (0, 1)]
    rows = [[f"{size:,}", f"{given:.3f}", f"{tuned:.2f}"] for size, (given, tuned) in zip(sizes, results, strict=True)]
    rows.append([f"exponent from {large:,} on", f"**{fitted[0]:.2f}**", f"**{fitted[1]:.2f}**"])
    return markdown_table([what, "s given, seconds", "tuned (B = 25), seconds"], rows)


# Compiles and loads everything that is needed before memory is measured.
PREPARE = """
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
parameters = {parameters!r}
for size in (20, 400):
    for more in ({{}}, {{"n_features_to_select": 5}}):
        SASClustering(3, **{{**parameters, **more}}).fit(shifted_groups(0.7, 500, 20, size).X)
"""
FIT = "SASClustering(3, **parameters).fit(shifted_groups(0.7, {p}, 20, {group_size}).X)"


def peak_copies(group_size, p, parameters):
    """Return the peak memory of a fit, including X itself, in copies of X."""
    used = peak_bytes(PREPARE.format(parameters=parameters), FIT.format(p=p, group_size=group_size))
    return used / (3 * group_size * p * np.dtype(float).itemsize)


def main(repeats=None):
    shifted = {"mu": 0.7, "n_useful": 20}
    times(shifted_groups(n_features=300, **shifted).X), times(shifted_groups(group_size=500, n_features=50).X)
    by_p = [times(shifted_groups(n_features=p, group_size=33, **shifted).X) for p in FEATURES]
    by_n = [times(shifted_groups(n_features=200, group_size=n // 3, **shifted).X) for n in SAMPLES]
    fits = (
        ("tuned, B = 2", 33, 100_000, {"n_permutations": 2}),
        ("tuned, B = 2", 50_000, 200, {"n_permutations": 2}),
        ("s = 400 given, all samples from the start", 10_000, 1_000, ALL_SAMPLES),
    )
    memory = [[f"{3 * size:,}", f"{p:,}", fit, f"{peak_copies(size, p, given):.2f}"] for fit, size, p, given in fits]
    X = shifted_groups(mu=1.2, n_features=WIDE, n_useful=50, group_size=67, seed=0).X
    wide = seconds_of(lambda: SASClustering(3).fit(X), clock=time.process_time)
    text = (
        "Three groups, 20 useful features, mu = 0.7, seed 0, one thread, CPU time of one run per size.\n\n"
        "## Features, n = 99\n\n"
        + table("p", FEATURES, LARGE_FEATURES, by_p)
        + f"\n\nA table of 201 x {WIDE:,} (mu = 1.2, 50 useful features) is tuned in {wide:.0f} s."
        "\n\n## Samples, p = 200\n\nWith more than 2,000 samples, the search uses 2,000 of them, and only the last "
        "climb uses all.\n\n"
        + table("n", SAMPLES, LARGE_SAMPLES, by_n)
        + "\n\n## Memory\n\nPeak memory of a fit, including X itself, in copies of X (float64, one thread).\n\n"
        + markdown_table(["n", "p", "fit", "copies of X"], memory)
    )
    return "Growth", text
