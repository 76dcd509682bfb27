"""Samples to fit and new samples of every kind, with three groups in a few of the features."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from sparsecluster import SASClustering

N, P, S = 36, 12, 4
TRUTH = np.repeat([0, 1, 2], [16, 12, 8])
USEFUL = np.arange(P) < S
COLORS = np.array(["red", "green", "blue"], dtype=object)
RANKS = {"low": 0, "mid": 1, "high": 2}


def root(x, y):
    """A dissimilarity of a user's own."""
    return np.sqrt(abs(x - y))


def levels(seed):
    """Levels 0, 1, 2: those of the first columns are the groups, each with names of its own and a few exceptions."""
    rng = np.random.default_rng(seed)
    table = rng.integers(3, size=(N, P))
    for a in range(S):
        table[:, a] = rng.permutation(3)[TRUTH]
    # Some samples are a step away in one of these columns.
    table[::4, 2] = np.where(table[::4, 2] == 1, 0, 1)
    table[1::4, 3] = np.where(table[1::4, 3] == 1, 2, 1)
    return table


def numbers(seed):
    """The levels with noise, more of it in smaller groups, so that how wide a cluster is matters."""
    return (
        levels(seed) + np.random.default_rng(seed + 100).normal(size=(N, P)) * np.array([0.05, 0.15, 0.25])[TRUTH, None]
    )


def random_numbers(seed, n=150):
    return np.random.default_rng(seed).normal(1.0, 1.5, (n, P))


def pairwise(left, right, delta):
    """delta of all samples of two tables in every column, p x n x m."""
    return np.array([[[delta(x, y) for y in right[:, a]] for x in left[:, a]] for a in range(left.shape[1])])


def mixed_frame(table, codes):
    """Three columns of each kind: numbers, distances, colors and ordered words, with one useful each."""
    kinds = {}
    for j, a in enumerate([0, 4, 5]):
        kinds[f"x{j}"] = table[:, a]
        kinds[f"d{j}"] = table[:, [1, 6, 7][j]]
        kinds[f"c{j}"] = pd.Categorical(COLORS[codes[:, [2, 8, 9][j]]], COLORS)
        kinds[f"o{j}"] = pd.Categorical.from_codes(codes[:, [3, 10, 11][j]], list(RANKS), ordered=True)
    return pd.DataFrame(kinds)


MIXED_METRIC = {f"d{j}": "manhattan" for j in range(3)}
# Of every kind: samples of fit, new samples, parameters.
KINDS = {
    "sqeuclidean": lambda: (numbers(0), random_numbers(1), {}),
    "manhattan": lambda: (numbers(0), random_numbers(1), {"metric": "manhattan"}),
    "hamming": lambda: (COLORS[levels(0)], COLORS[levels(1)[::-1]], {}),
    "ordinal": lambda: (levels(0) * 10.0, levels(1)[::-1] * 10.0, {"metric": "ordinal"}),
    "function": lambda: (numbers(0), random_numbers(1), {"metric": root}),
    "sparse": lambda: (*(sparse.csr_array(np.where(t > 0.5, t, 0)) for t in (numbers(0), random_numbers(1))), {}),
    "mixed": lambda: (mixed_frame(numbers(0), levels(0)), mixed_frame(random_numbers(1, N), levels(1)[::-1]),
                      {"metric": MIXED_METRIC}),
    "precomputed": lambda: (pairwise(numbers(0), numbers(0), root), pairwise(random_numbers(1), numbers(0), root),
                            {"metric": "precomputed"}),
}  # fmt: skip


def fit(table, **parameters):
    return SASClustering(**{"n_features_to_select": S, **parameters}).fit(table)
