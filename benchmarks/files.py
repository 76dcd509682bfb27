"""`sparsecluster fit` on a text file of 100 MB: time and memory of the whole command."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .report import markdown_table

N, P, USEFUL = 5000, 1100, 50
# Runs a command and says how long it took and how much memory it had at most.
MEASURE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.perf_counter() - began, used.ru_maxrss / 1024]))
"""


def write_table(file):
    """Three groups of samples, a first column of ids, numbers with 16 digits."""
    rng = np.random.default_rng(0)
    groups = np.arange(N) % 3
    with file.open("w") as out:
        out.write("id," + ",".join(f"gene{a}" for a in range(P)) + "\n")
        for i in range(N):
            values = rng.standard_normal(P)
            values[:USEFUL] += groups[i] - 1
            out.write(f"sample{i}," + ",".join(map(repr, values.tolist())) + "\n")


def measured(*arguments):
    """Seconds and MiB of a command."""
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
    text = (
        f"A CSV file of {size:.0f} MB: {N:,} samples, {P:,} features, an id column; as numbers in memory {array:.0f} MB. "
        f"Whole commands, start of Python included;\none thread, {repeats} run each. The report has {page:.1f} MB.\n\n"
        + markdown_table(["command", "seconds", "MB at most", "times the array"], rows)
    )
    return "Files", text
