"""How long a new user waits: for the import, for the first fit with its compilation, and for the demo."""

from __future__ import annotations

import tempfile

from sparsecluster._utils.markdown import markdown_table

from .report import seconds_of_python

FIT = """
import numpy as np
from sparsecluster import SASClustering
SASClustering(3).fit(np.random.default_rng(0).standard_normal((90, 1000)))
"""


def main(repeats=5):
    nothing = seconds_of_python("-c", "pass", repeats=repeats)
    imported = seconds_of_python("-c", "import sparsecluster", repeats=repeats)
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds_of_python("-c", FIT, NUMBA_CACHE_DIR=empty)
        warm = seconds_of_python("-c", FIT, repeats=repeats, NUMBA_CACHE_DIR=empty)
    demo = seconds_of_python("-m", "sparsecluster", "demo", repeats=repeats)
    rows = [
        ["`import sparsecluster`, without the start of Python itself", f"{imported - nothing:.3f}"],
        ["first fit ever, in a new process: imports, compilation and fit", f"{cold:.1f}"],
        ["first fit in a new process, kernels already compiled", f"{warm:.1f}"],
        ["`sparsecluster demo`, kernels already compiled", f"{demo:.1f}"],
    ]
    return "Cold start", (
        f"Median of {repeats} runs; the first fit ever was run once.\n\n" + markdown_table(["what", "seconds"], rows)
    )
