"""The first fit on a machine waits for the compiler: each kernel should be compiled for one combination of types."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from benchmarks.cold import COMPILED_HERE
from sparsecluster._kernels._jit import kernel
from sparsecluster._kernels.order import mix, splitmix

# The number of kernels that a default fit of numbers needs may grow by a few, but not by accident.
MOST_KERNELS = 24
FIT = """
import numpy as np
from sparsecluster import SASClustering
for n, p in ((90, 1000), (30, 20)):
    SASClustering(3, random_state=0).fit(np.random.default_rng(0).standard_normal((n, p)))
"""
COUNT = """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("sparsecluster._kernels."):
        for function in vars(module).values():
            if getattr(function, "__module__", None) == name and hasattr(function, "signatures"):
                print(function.__name__, len(function.signatures))
"""


@kernel
def added(x, y):
    return x + y


@kernel
def added_constants(x):
    return added(x, 1) + added(x, 2)


def test_a_kernel_is_not_compiled_anew_for_each_constant():
    assert added_constants(3) == 9
    assert added(3, 4) == 7
    assert len(added.signatures) == 1


def test_a_fit_calls_each_kernel_with_the_same_types():
    printed = subprocess.check_output([sys.executable, "-c", FIT + COUNT], text=True)
    counts = {name: int(count) for name, count in (line.split() for line in printed.splitlines())}
    assert max(counts.values()) == 1, counts
    assert 5 <= sum(counts.values()) <= MOST_KERNELS


@pytest.mark.slow
def test_a_first_fit_compiles_each_kernel_once(tmp_path):
    environment = os.environ | COMPILED_HERE | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.check_call([sys.executable, "-c", FIT], env=environment)
    # There is one such file for every combination of types, also of the kernels that only other kernels call.
    compiled = Counter(file.name.split("-")[0] for file in tmp_path.rglob("*.nbc"))
    assert max(compiled.values()) == 1, compiled
    assert len(compiled) <= MOST_KERNELS


def test_words_are_mixed_alike_one_by_one_and_together():
    words = np.random.default_rng(0).integers(2**63, size=5, dtype=np.uint64)
    assert splitmix(words).tolist() == [int(mix(word)) for word in words]
