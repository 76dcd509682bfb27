"""Time and memory of whole commands on files of every format."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sparsecluster._utils.markdown import markdown_table

LONG, WIDE, TEXT = (1_000_000, 50), (200, 200_000), (5000, 1100)
# The tables whose results are listed.
SHOWN = ("long.parquet", "wide.npy")
# Runs a command and prints its exit code, its duration in seconds and its peak memory in MiB.
MEASURE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.perf_counter() - began, used.ru_maxrss / 1024]))
"""
READ = "import sys; from sparsecluster.io import read_table; read_table(sys.argv[1])"


def table(shape, n_useful=10):
    """Return a table with three groups of samples, which differ in the first columns."""
    X = np.random.default_rng(0).standard_normal(shape)
    X[:, :n_useful] += (np.arange(shape[0]) % 3)[:, None] * 1.5
    return X


def put_csv(file, X):
    """Write a column of ids, then numbers with 16 digits."""
    with file.open("w") as out:
        out.write("id," + ",".join(f"gene{a}" for a in range(X.shape[1])) + "\n")
        for i, row in enumerate(X):
            out.write(f"sample{i}," + ",".join(map(repr, row.tolist())) + "\n")


def put_parquet(file, X):
    import pandas as pd

    pd.DataFrame(X, columns=[f"x{a}" for a in range(X.shape[1])]).to_parquet(file)


def put_h5ad(file, X):
    import anndata

    anndata.AnnData(X.astype(np.float32)).write_h5ad(file)


# The file of each table, its shape, its bytes per number, and how it is written.
TABLES = {
    "long.parquet": (LONG, 8, put_parquet),
    "long.npy": (LONG, 8, np.save),
    "long.h5ad": (LONG, 4, put_h5ad),
    "text.csv": (TEXT, 8, put_csv),
    "wide.npy": (WIDE, 8, np.save),
}


def measured(*command):
    """Return the duration in seconds and the peak memory in MiB of a command of Python."""
    code, seconds, memory = json.loads(
        subprocess.check_output([sys.executable, "-c", MEASURE, sys.executable, *map(str, command)])
    )
    assert code == 0, command
    return seconds, memory


def commands(folder, name):
    """Yield the commands that are run on a file, and what each is called."""
    file, result = folder / name, folder / f"{name}-result"
    run = ("-m", "sparsecluster")
    yield "read", ("-c", READ, file)
    yield "info", (*run, "info", file)
    yield "fit", (*run, "fit", file, "-k", "3", "--out", result, "-q")
    yield "predict", (*run, "predict", result / "model.json", file, "--out", folder / "labels.csv")


def main(repeats=1):
    rows, sizes = [], []
    with tempfile.TemporaryDirectory() as made:
        folder, tiny = Path(made), Path(made) / "tiny"
        tiny.mkdir()
        for name, (shape, width, put) in TABLES.items():
            put(folder / name, table(shape))
            put(tiny / name, table((60, 12)))
            array = shape[0] * shape[1] * width / 2**20
            # What Python, its packages and compiled code take is the memory of the same command on a tiny table.
            base = {what: measured(*command)[1] for what, command in commands(tiny, name)}
            for what, command in commands(folder, name):
                seconds, memory = np.median([measured(*command) for _ in range(repeats)], axis=0)
                taken = max(0.0, memory - base[what])
                size = f"{shape[0]:,} x {shape[1]:,}"
                rows.append([name, size, what, f"{seconds:.1f}", f"{memory:.0f}", f"{taken / array:.2f}"])
            result = folder / f"{name}-result"
            for file in sorted(result.iterdir()) if name in SHOWN else ():
                sizes.append([name, file.name, f"{file.stat().st_size / 1e6:.2f}"])
            (folder / name).unlink()
    runs = "once" if repeats == 1 else f"{repeats} times"
    text = (
        f"Whole commands on one thread, including the start of Python, run {runs}. The last column is the peak memory, "
        "less that of the same command on a table of 60 x 12, over the memory of the table as an array (single "
        "precision in the H5AD file). `read` is `read_table` alone. `text.csv` has numbers of 16 digits and a column "
        "of ids.\n\n"
        + markdown_table(["file", "size", "command", "seconds", "peak memory, MB", "peak / table"], rows)
        + "\n\nThe files that `fit` wrote:\n\n"
        + markdown_table(["table", "file", "MB"], sizes)
    )
    return "Files", text
