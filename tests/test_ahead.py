"""Kernels that were compiled ahead of time are used where they fit; elsewhere they are compiled at their first call."""

import os
import subprocess
import sys

import pytest

from benchmarks.cold import COMPILED_HERE, FIT
from sparsecluster._kernels import _ahead
from tools.compile_kernels import compile_into

# Two columns of a table; then how often the kernel was found and how often it was compiled.
SCRIPT = """
import sys
from pathlib import Path
from sparsecluster._kernels import _ahead
_ahead.COMPILED = Path(sys.argv[1])
"""
TAKE = """
import numpy as np
from sparsecluster._kernels.select import take_columns
taken = take_columns(np.arange(6.0).reshape(2, 3), np.array([0, 2])).tolist()
print(taken, sum(take_columns.stats.cache_hits.values()), sum(take_columns.stats.cache_misses.values()))
"""
TAKEN = "[[0.0, 2.0], [3.0, 5.0]]"


def run(compiled, cache, script=TAKE, **environment):
    command = [sys.executable, "-c", SCRIPT + script, compiled]
    return subprocess.check_output(command, text=True, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with one kernel."""
    folder = tmp_path_factory.mktemp("compiled")
    made = {_ahead.VARIABLE: str(folder), "NUMBA_CPU_NAME": _ahead.processor().name, "NUMBA_CPU_FEATURES": ""}
    assert run(folder, tmp_path_factory.mktemp("cache"), **made) == f"{TAKEN} 0 1\n"
    return folder


pytestmark = pytest.mark.skipif(
    not _ahead.fits_this_machine(), reason="kernels are compiled ahead of time for other processors than this one"
)


def test_a_kernel_that_was_compiled_ahead_of_time_is_not_compiled(compiled, tmp_path):
    assert run(compiled, tmp_path) == f"{TAKEN} 1 0\n"
    assert not list(tmp_path.rglob("*.nbc"))


def test_it_is_compiled_if_there_is_none(tmp_path):
    assert run(tmp_path / "nothing", tmp_path) == f"{TAKEN} 0 1\n"


def test_a_damaged_file_is_compiled_again(compiled, tmp_path):
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in compiled.glob("*.nb?"):
        (damaged / file.name).write_bytes(file.read_bytes()[:-100] if file.suffix == ".nbc" else file.read_bytes())
    assert run(damaged, tmp_path / "cache") == f"{TAKEN} 0 1\n"


def test_what_was_compiled_from_other_sources_is_not_used(compiled, tmp_path):
    other = "_ahead.fingerprint = lambda: 'of other sources'"
    assert run(compiled, tmp_path, f"{other}\n{TAKE}") == f"{TAKEN} 0 1\n"


def test_what_was_compiled_here_is_used_again_while_the_sources_of_all_kernels_are_the_same(tmp_path):
    nothing, cache = tmp_path / "nothing", tmp_path / "cache"
    other = "_ahead.fingerprint = lambda: 'of other sources'"
    assert run(nothing, cache) == f"{TAKEN} 0 1\n"
    assert run(nothing, cache) == f"{TAKEN} 1 0\n"
    assert run(nothing, cache, f"{other}\n{TAKE}") == f"{TAKEN} 0 1\n"


@pytest.mark.parametrize("asked", [COMPILED_HERE, {"NUMBA_BOUNDSCHECK": "1"}])
def test_other_code_is_compiled_if_the_user_asks_numba_for_it(compiled, tmp_path, asked):
    assert run(compiled, tmp_path, **asked) == f"{TAKEN} 0 1\n"


def test_two_folders_become_one(compiled, tmp_path):
    _ahead.copy_compiled(compiled, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in compiled.glob("*.nb?")}
    assert run(tmp_path, tmp_path / "cache") == f"{TAKEN} 1 0\n"


@pytest.mark.slow
def test_the_first_fit_of_numbers_compiles_nothing(tmp_path):
    assert compile_into(tmp_path / "compiled") > 10
    run(tmp_path / "compiled", tmp_path / "cache", FIT)
    assert not list((tmp_path / "cache").rglob("*.nbc"))
