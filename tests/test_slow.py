"""What the library promises about accuracy, speed, growth and memory, measured: `make test-slow`."""

import os
import subprocess
import sys
import time

import pytest

from benchmarks import cold, growth, kinds, speed
from benchmarks.paper import mean_of, runs_of
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("mu", "p", "allowed"),
    [(0.6, 100, 0.04), (0.6, 1000, 0.04), (0.7, 200, 0.02), (0.7, 1000, 0.02), (0.8, 1000, 0.02)],
)
def test_it_comes_near_k_means_that_is_told_the_features(mu, p, allowed):
    found = runs_of("table-1a", 50, ("limit", "sas"), [{"mu": mu, "p": p}])[mu, p]
    assert mean_of(found["sas"], "rand") > mean_of(found["limit"], "rand") - allowed
    if mu >= 0.7:
        assert mean_of(found["sas"], "difference") <= 10


def test_it_is_many_times_faster_than_the_plain_version():
    seconds, _ = speed.measure(1000, repeats=5)
    assert seconds["plain given"] / seconds["given"] > 50
    assert seconds["plain tuned"] / seconds["tuned"] > 30


def test_time_grows_about_as_the_number_of_features():
    sizes = (2000, 6000, 20000)
    growth.times(shifted_groups(n_features=300).X)
    tables = [shifted_groups(mu=0.7, n_features=p, n_useful=20).X for p in sizes]
    given, tuned = zip(*map(growth.times, tables), strict=True)
    assert growth.exponent(sizes, given) < 1.15
    assert growth.exponent(sizes, tuned) < 1.15


def test_time_grows_no_faster_than_the_number_of_samples():
    sizes = (3000, 20000, 100000)
    growth.times(shifted_groups(n_features=50, group_size=700).X)
    tables = [shifted_groups(mu=0.7, n_features=200, n_useful=20, group_size=n // 3).X for n in sizes]
    given, tuned = zip(*map(growth.times, tables), strict=True)
    assert growth.exponent(sizes, given) < 1.15
    assert growth.exponent(sizes, tuned) < 1.15


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("group_size", "p", "parameters"),
    [(33, 100_000, {"n_permutations": 2}), (50_000, 200, {"n_permutations": 2}), (10_000, 1_000, growth.ALL_SAMPLES)],
)
def test_memory_stays_within_three_copies_of_the_table(group_size, p, parameters):
    assert growth.peak_copies(group_size, p, parameters) <= 3


def test_the_first_fit_ever_takes_less_than_twenty_seconds(tmp_path):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", cold.FIT], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(("q", "p"), [(0.6, 30), (0.6, 200), (0.7, 60), (0.8, 200)])
def test_levels_come_near_the_same_clusterer_that_is_told_the_features(q, p):
    found = runs_of("table-4", 20, ("limit", "sas"), [{"q": q, "p": p}])[q, p]
    assert mean_of(found["sas"], "rand") > mean_of(found["limit"], "rand") - 0.02


def test_other_kinds_cost_a_few_times_what_numbers_do():
    X, truth, _ = shifted_groups(mu=0.7, n_features=200, seed=0)
    tables = kinds.kinds(X)
    seconds = {name: kinds.timed(table, truth, parameters, 5)[0] for name, (table, parameters) in tables.items()}
    assert seconds["0 and 1, Hamming"] < 2 * seconds["numbers"]
    assert seconds["four levels, Hamming"] < 4 * seconds["numbers"]
    assert seconds["numbers, Manhattan"] < 5 * seconds["numbers"]


def test_a_hundred_matrices_of_500_samples_are_tuned_within_a_minute():
    X, _, _ = shifted_groups(mu=0.8, n_features=100, n_useful=20, group_size=167, seed=0)
    began = time.perf_counter()
    SASClustering(n_clusters=3, metric="precomputed").fit(kinds.differences(X[:500]))
    assert time.perf_counter() - began < 60
