"""What a newcomer waits for: the import, the first fit with its compilation, the demo."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from .report import markdown_table, seconds_of

FIT = """
import numpy as np
from sparsecluster import SASClustering
SASClustering(3).fit(np.random.default_rng(0).standard_normal((90, 1000)))
"""


def main(repeats=5):
    def run(*arguments, **environment):
        subprocess.run(arguments, check=True, capture_output=True, env={**os.environ, **environment})

    python = sys.executable
    nothing = seconds_of(lambda: run(python, "-c", "pass"), repeats)
    imported = seconds_of(lambda: run(python, "-c", "import sparsecluster"), repeats)
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds_of(lambda: run(python, "-c", FIT, NUMBA_CACHE_DIR=empty))
        warm = seconds_of(lambda: run(python, "-c", FIT, NUMBA_CACHE_DIR=empty), repeats)
    demo = seconds_of(lambda: run(python, "-m", "sparsecluster", "demo"), repeats)
    rows = [
        ["`import sparsecluster`, above that of Python itself", f"{imported - nothing:.3f}"],
        ["first fit ever, in a new process: imports, compilation and fit", f"{cold:.1f}"],
        ["first fit in a new process, kernels compiled before", f"{warm:.1f}"],
        ["`sparsecluster demo`, kernels compiled before", f"{demo:.1f}"],
    ]
    return "Cold start", f"Median of {repeats} runs, the first fit ever of one.\n\n" + markdown_table(
        ["what", "seconds"], rows
    )
