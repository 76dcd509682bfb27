"""How long a new user waits: for the import, for the first fit with its compilation, and for the demo."""

from __future__ import annotations

import tempfile

import llvmlite.binding

from sparsecluster._kernels._ahead import COMPILED
from sparsecluster._utils.markdown import markdown_table
from tools.compile_kernels import compile_into

from .report import seconds_of_python

FIT = """
import numpy as np
from sparsecluster import SASClustering
SASClustering(3).fit(np.random.default_rng(0).standard_normal((90, 1000)))
"""


ABOUT = """A fit of 90 x 1,000 numbers with all defaults. Wheels, and the environment that `make` creates, have kernels
that were compiled when they were built. They are used if the versions of Python and Numba and the kind of processor are
those of the build; elsewhere the first fit compiles them."""
# Kernels that are compiled ahead of time are not used if code for a certain processor is asked for.
COMPILED_HERE = {"NUMBA_CPU_NAME": llvmlite.binding.get_host_cpu_name()}


def main(repeats=5):
    compile_into(COMPILED)
    nothing = seconds_of_python("-c", "pass", repeats=repeats)
    imported = seconds_of_python("-c", "import sparsecluster", repeats=repeats)
    with tempfile.TemporaryDirectory() as empty:
        first = seconds_of_python("-c", FIT, repeats=repeats, NUMBA_CACHE_DIR=empty)
        cold = seconds_of_python("-c", FIT, NUMBA_CACHE_DIR=empty, **COMPILED_HERE)
        warm = seconds_of_python("-c", FIT, repeats=repeats, NUMBA_CACHE_DIR=empty, **COMPILED_HERE)
    libraries = seconds_of_python("-c", "import numpy, numba, sklearn.base", repeats=repeats)
    demo = seconds_of_python("-m", "sparsecluster", "demo", repeats=repeats)
    rows = [
        ["`import sparsecluster`, without the start of Python itself", f"{imported - nothing:.3f}"],
        ["first fit on a machine, in a new process: imports and fit", f"**{first:.1f}**"],
        ["of these, the imports of NumPy, Numba and scikit-learn", f"{libraries:.1f}"],
        ["the same where kernels have to be compiled first", f"{cold:.1f}"],
        ["the same when they have been", f"{warm:.1f}"],
        ["`sparsecluster demo`, kernels already compiled", f"{demo:.1f}"],
    ]
    about = f"{ABOUT} Median of {repeats} runs; compiling was measured once."
    return "Cold start", f"{about}\n\n{markdown_table(['what', 'seconds'], rows)}"
