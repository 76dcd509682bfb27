"""The memory that reading files takes, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# The kernel of Linux tells the highest use of memory of a process, and can be asked to forget it.
MEASURED = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of memory")

CODE = """
import json, sys
import anndata, h5py, numpy, openpyxl, pandas, pyarrow.feather, pyarrow.parquet, scipy.io
import sparsecluster.io.sources as sources
from sparsecluster.io import FileError, Options, read_table
from sparsecluster.io.models import ModelError, load_model

def memory(line):
    return next(int(each.split()[1]) * 1024 for each in open("/proc/self/status") if each.startswith(line))

estimates, own = [0], sources.check_memory
def noted(needed, *others):
    estimates.append(needed)
    own(needed, *others)
sources.check_memory = noted

for name, limit in json.load(sys.stdin):
    estimates[1:] = []
    before = memory("VmRSS")
    open("/proc/self/clear_refs", "w").write("5")
    try:
        kept = load_model(name) if name.endswith("json") else read_table(name, options=Options(max_memory=limit))
        told = None
    except (FileError, ModelError) as error:
        told = str(error)
    print(json.dumps([told, memory("VmHWM") - before, max(estimates)]), flush=True)
"""


def reading(files):
    """For each file and limit: what is said if it is refused, the bytes that reading it took, and the estimate."""
    given = json.dumps([[str(file), limit] for file, limit in files])
    run = subprocess.run([sys.executable, "-c", CODE], input=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [tuple(json.loads(line)) for line in run.stdout.splitlines()]
