"""Time and memory of whole commands on a text file of 100 MB."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sparsecluster._utils.markdown import markdown_table

N, P, USEFUL = 5000, 1100, 50
# Runs a command and prints its exit code, its duration in seconds and its peak memory in MiB.
MEASURE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.perf_counter() - began, used.ru_maxrss / 1024]))
"""


def write_table(file):
    """Write three groups of samples: a column of ids, then numbers with 16 digits."""
    rng = np.random.default_rng(0)
    groups = np.arange(N) % 3
    with file.open("w") as out:
        out.write("id," + ",".join(f"gene{a}" for a in range(P)) + "\n")
        for i in range(N):
            values = rng.standard_normal(P)
            values[:USEFUL] += groups[i] - 1
            out.write(f"sample{i}," + ",".join(map(repr, values.tolist())) + "\n")


def measured(*arguments):
    """Return the duration in seconds and the peak memory in MiB of a command."""
    command = [sys.executable, "-c", MEASURE, sys.executable, "-m", "sparsecluster", *arguments]
    code, seconds, memory = json.loads(subprocess.check_output(command))
    assert code == 0, arguments
    return seconds, memory


def main(repeats=1):
    with tempfile.TemporaryDirectory() as folder:
        file, result = Path(folder) / "table.csv", Path(folder) / "result"
        write_table(file)
        size = file.stat().st_size / 2**20
        array = N * P * 8 / 2**20
        rows = []
        for name, arguments in {
            "info": ("info", file),
            "fit, tuned": ("fit", file, "-k", "3", "--out", result, "-q"),
            "predict": ("predict", result / "model.json", file, "--out", Path(folder) / "labels.csv"),
        }.items():
            runs = [measured(*map(str, arguments)) for _ in range(repeats)]
            seconds, memory = np.median(runs, axis=0)
            rows.append([f"`{name}`", f"{seconds:.1f}", f"{memory:.0f}", f"{memory / array:.1f}"])
        page = (result / "report.html").stat().st_size / 2**20
    runs = "once" if repeats == 1 else f"{repeats} times"
    text = (
        f"A CSV file of {size:.0f} MB with {N:,} samples, {P:,} features and a column of ids; as an array of numbers, "
        f"it has {array:.0f} MB. Whole commands on one thread, including the start of Python, run {runs}. The report "
        f"has {page:.1f} MB.\n\n" + markdown_table(["command", "seconds", "peak memory, MB", "peak / array"], rows)
    )
    return "Files", text
