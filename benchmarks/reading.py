"""How long a mixed table takes to read, compared with numbers alone; and how long the package takes to start."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sparsecluster import SASClustering
from sparsecluster._utils.markdown import markdown_table

from .report import peak_bytes, seconds_of, seconds_of_python

N, P = 2_000, 2_000
MIB = 2**20


def numbers(n=N, p=P):
    """Return a data frame of numbers."""
    return pd.DataFrame(np.random.default_rng(0).standard_normal((n, p))).add_prefix("x")


def mixed(n=N, p=P):
    """Return the same data frame with one column of text, which has four levels."""
    return numbers(n, p).assign(text=np.array(["blue", "green", "red", "yellow"])[np.arange(n) % 4])


TABLES = {"numbers": numbers, "numbers and one text column": mixed}
# A small table is read first, because the first reading loads modules; writing 5 makes Linux forget the peak so far.
PREPARE = """
from benchmarks.reading import TABLES, read
make = TABLES[{name!r}]
read(make(20, 20))
X = make()
open("/proc/self/clear_refs", "w").write("5")
"""


def read(X):
    """Read a table without fitting."""
    return SASClustering(n_clusters=3).read(X)


def reading(repeats):
    """Return the rows of the first table: seconds, their ratio to numbers alone, and peak memory."""
    rows, alone = [], None
    for name, make in TABLES.items():
        X = make()
        read(X)  # the first reading loads modules
        seconds = seconds_of(lambda X=X: read(X), repeats)
        alone = alone or seconds
        memory = peak_bytes(PREPARE.format(name=name), "read(X)")
        copies = memory / (N * P * np.dtype(float).itemsize)
        rows.append([name, f"{seconds:.3f}", f"**{seconds / alone:.1f}x**", f"{memory / MIB:.0f}", f"{copies:.1f}"])
    return rows


def starting(repeats):
    """Return the rows of the second table: whole processes, from start to end."""
    processes = {
        "`python -c pass`": ("-c", "pass"),
        "`python -c 'import sparsecluster'`": ("-c", "import sparsecluster"),
        "`sparsecluster --help`": ("-m", "sparsecluster", "--help"),
    }
    return [[name, f"{seconds_of_python(*given, repeats=repeats):.3f}"] for name, given in processes.items()]


def main(repeats=5):
    text = (
        f"A pandas data frame of {N:,} samples and {P:,} columns of numbers, alone and with one column of text in four "
        f"levels, read by `SASClustering(n_clusters=3).read(X)`. Median of {repeats} runs. Peak memory is what reading "
        "needs in addition to the data frame, in MiB and in copies of the numbers (float64).\n\n"
        + markdown_table(["table", "seconds", "relative to numbers", "peak memory, MiB", "copies"], reading(repeats))
        + f"\n\n## Start\n\nWhole processes, median of {repeats} runs.\n\n"
        + markdown_table(["what", "seconds"], starting(repeats))
    )
    return "Reading", text
