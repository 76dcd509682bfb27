"""What the library promises about accuracy, memory and compilation, measured: `make test-slow`.

Speed is measured by the benchmarks.
"""

import os
import subprocess
import sys

import pytest

from benchmarks import cold, growth
from benchmarks.paper import mean_of, runs_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("mu", "p", "allowed"),
    [(0.6, 100, 0.04), (0.6, 1000, 0.04), (0.7, 200, 0.02), (0.7, 1000, 0.02), (0.8, 1000, 0.02)],
)
def test_it_comes_near_k_means_with_the_useful_features_given(mu, p, allowed):
    found = runs_of("table-1a", 50, ("limit", "sas"), [{"mu": mu, "p": p}])[mu, p]
    assert mean_of(found["sas"], "rand") > mean_of(found["limit"], "rand") - allowed
    if mu >= 0.7:
        assert mean_of(found["sas"], "difference") <= 10


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("group_size", "p", "parameters"),
    [(33, 100_000, {"n_permutations": 2}), (50_000, 200, {"n_permutations": 2}), (10_000, 1_000, growth.ALL_SAMPLES)],
)
def test_memory_stays_within_three_copies_of_the_table(group_size, p, parameters):
    assert growth.peak_copies(group_size, p, parameters) <= 3


def test_the_first_fit_compiles_few_kernels_and_the_second_none(tmp_path):
    def compiled():
        run = [sys.executable, "-c", cold.FIT]
        subprocess.run(run, check=True, env={**os.environ, **cold.COMPILED_HERE, "NUMBA_CACHE_DIR": str(tmp_path)})
        return {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nbc")}

    first = compiled()
    # Each takes about half a second.
    assert 0 < len(first) <= 25
    assert compiled() == first


@pytest.mark.parametrize(("q", "p"), [(0.6, 30), (0.6, 200), (0.7, 60), (0.8, 200)])
def test_levels_come_near_the_same_clusterer_with_the_useful_features_given(q, p):
    found = runs_of("table-4", 20, ("limit", "sas"), [{"q": q, "p": p}])[q, p]
    assert mean_of(found["sas"], "rand") > mean_of(found["limit"], "rand") - 0.02
