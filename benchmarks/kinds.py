"""How much time other kinds of features take, compared with plain numbers."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from sparsecluster import SASClustering, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups

from .report import seconds_of


def levels(X, n_levels):
    """Cut the numbers of every column at their quantiles into levels of equal size."""
    cuts = np.quantile(X, np.arange(1, n_levels) / n_levels, axis=0)
    return (X[None, :, :] > cuts[:, None, :]).sum(axis=0).astype(float)


def differences(X):
    """Return the absolute differences of all pairs of samples, one matrix per feature."""
    return np.abs(X.T[:, :, None] - X.T[:, None, :])


def absolute_difference(x, y):
    return abs(x - y)


def kinds(X):
    """Return tables with the same groups, each with the parameters of its fit, by name."""
    gone = np.random.default_rng(0).random(X.shape) < 0.1
    return {
        "numbers": (X, {}),
        "numbers, 10 % missing": (np.where(gone, np.nan, X), {}),
        "0 and 1, Hamming": (levels(X, 2), {"metric": "hamming"}),
        "four levels, Hamming": (levels(X, 4), {"metric": "hamming"}),
        "four levels, ordinal": (levels(X, 4), {"metric": "ordinal"}),
        "numbers, Manhattan": (X, {"metric": "manhattan"}),
        "numbers, a Python function abs(x - y)": (X, {"metric": absolute_difference}),
        "numbers, precomputed abs(x - y)": (differences(X), {"metric": "precomputed"}),
    }


def timed(X, truth, parameters, repeats):
    """Return the seconds of a tuned fit without compilation, its Rand index and the number of chosen features."""
    sas = SASClustering(n_clusters=3, **parameters).fit(X)
    seconds = seconds_of(lambda: SASClustering(n_clusters=3, **parameters).fit(X), repeats)
    return seconds, rand_index(truth, sas.labels_), sas.support_.sum()


def mostly_zeros(n_samples=1000, n_features=5000, density=0.02):
    """Simulate three groups; each has 20 features in which half of its values are between 1 and 2 instead of 0."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_samples) % 3
    owner = np.arange(n_features) // 20
    chances = np.where(owner == truth[:, None], 0.5, density)
    X = np.where(rng.random(chances.shape) < chances, rng.uniform(1.0, 2.0, chances.shape), 0.0)
    return X, truth


def large(repeats):
    """Time a large precomputed problem, and a table with many zeros, dense and sparse."""
    X, truth, _ = shifted_groups(mu=0.7, n_features=100, group_size=167, seed=0)
    matrices = differences(X[:500])
    cases = {"precomputed, n = 500, p = 100": (matrices, truth[:500], {"metric": "precomputed"})}
    X, truth = mostly_zeros()
    cases["dense, n = 1000, p = 5000"] = (X, truth, {})
    cases["the same in SciPy's CSR, 2 % not zero"] = (sparse.csr_array(X), truth, {})
    return {name: timed(*case, repeats) for name, case in cases.items()}


def main(repeats=5):
    X, truth, _ = shifted_groups(mu=0.7, n_features=200, seed=0)
    with threadpool_limits(1):
        small = {name: timed(table, truth, fit, repeats) for name, (table, fit) in kinds(X).items()}
        big = large(1)
    numbers = small["numbers"][0]
    rows = [
        [name, f"{seconds:.3f}", f"**{seconds / numbers:.1f}x**", f"{rand:.3f}", size]
        for name, (seconds, rand, size) in small.items()
    ]
    big_rows = [[name, f"{seconds:.1f}", f"{rand:.3f}", size] for name, (seconds, rand, size) in big.items()]
    return "Kinds of features", (
        "Tuned fits (all parameters at their defaults, B = 25) on one thread with compiled kernels, seed 0.\n\n"
        "## n = 90, p = 200\n\n"
        f"The data are `shifted_groups(mu=0.7)` with 50 useful features; median of {repeats} runs. Levels are made by "
        "cutting every column at its quantiles.\n\n"
        + markdown_table(["features", "seconds", "relative to numbers", "Rand index", "s"], rows)
        + "\n\n## Larger tables\n\n"
        "One run each, after another one that compiles. The precomputed matrices are absolute differences of "
        "`shifted_groups(mu=0.7)` with 50 useful features; the other table has three groups and 60 useful features.\n\n"
        + markdown_table(["table", "seconds", "Rand index", "s"], big_rows)
    )
