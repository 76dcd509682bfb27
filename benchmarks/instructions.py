"""Instructions of one fit, counted by callgrind of valgrind: the same number at every run, whatever else is running."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# Kernels are compiled for a processor whose instructions valgrind knows, so vectors are short (SSE 4.2); the BLAS is
# told the same. The order of sets must not differ from one process to the next.
ENVIRONMENT = {
    "NUMBA_CPU_NAME": "nehalem",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Nehalem",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
# Counts from the first fit to the second only: the first one loads the compiled kernels. The second dump holds what
# switching the counter takes.
SCRIPT = """
import os, subprocess, sys
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups
X = shifted_groups(mu=0.7, n_features={p}, group_size={n} // 3, seed=0).X
def fit():
    SASClustering(n_clusters=3, **{parameters!r}).fit(X)
def counter(*command):
    subprocess.run(["callgrind_control", *command, str(os.getpid())], check=True, capture_output=True)
fit()
if "count" in sys.argv:
    counter("--instr=on")
    counter("--zero")
    fit()
    counter("--dump")
    counter("--zero")
    counter("--dump")
"""
# What the files are, of which the instructions are counted; code that was compiled at run time has none.
PARTS = (
    (r"^\?\?\?$", "kernels"),
    (r"openblas", "BLAS"),
    (r"/numpy/", "NumPy"),
    (r"_dispatcher|_helperlib|/numba/", "calls of kernels (Numba)"),
    (r"python", "Python"),
    (r"/(libc|libm|ld-|libpthread|libstdc)[^/]*$", "C library"),
)
NAMES = (*dict.fromkeys(name for _, name in PARTS), "other")


def is_there():
    """Whether instructions can be counted here."""
    return all(shutil.which(each) for each in ("valgrind", "callgrind_control"))


def part_of(file):
    """The part of the program that a file belongs to.

    >>> part_of("???"), part_of("/usr/lib/x86_64-linux-gnu/libc-2.31.so"), part_of("/x/libxml.so")
    ('kernels', 'C library', 'other')
    """
    return next((name for pattern, name in PARTS if re.search(pattern, file)), "other")


def by_part(dump):
    """Return the instructions of every part, from the text of a dump of callgrind.

    A line of costs has a position and a number. The line after `calls=` is the cost of the called function, which is
    counted where it is spent. Files have a number, and their name only where they are first mentioned.
    """
    found, files, here, is_call = Counter(), {}, "other", False
    for line in dump.splitlines():
        named = re.match(r"ob=\((\d+)\)(?: (.*))?$", line)
        mentioned = re.match(r"cob=\((\d+)\) (.*)$", line)
        if named:
            if named[2]:
                files[named[1]] = named[2]
            here = part_of(files[named[1]])
        elif mentioned:
            files[mentioned[1]] = mentioned[2]
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[\d+*-]", line):
            if not is_call:
                found[here] += int([*line.split(), "0"][1])
            is_call = False
    return found


def instructions_of(n, p, parameters):
    """Return the instructions of every part for one fit, in a process whose kernels are compiled already."""
    script = SCRIPT.format(n=n, p=p, parameters=parameters)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **ENVIRONMENT, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        python = [sys.executable, "-c", script]
        subprocess.run(python, check=True, env=environment)
        out = Path(folder, "out")
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        subprocess.run([*valgrind, *python, "count"], check=True, env=environment, capture_output=True)
        fit, switching = (by_part(out.with_name(f"out.{number}").read_text()) for number in (1, 2))
    return {name: fit[name] - switching[name] for name in NAMES}
