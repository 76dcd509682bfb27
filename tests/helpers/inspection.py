"""Tables of every kind to draw, and results that a test makes up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from sparsecluster import SASClustering
from sparsecluster._data.kinds import SquaredEuclidean
from sparsecluster._data.reading import Given, TableReader, read_columns
from sparsecluster.methods._result import Kept

TRUTH = np.repeat([0, 1, 2], [20, 14, 8])


def far_apart(n_noise=6, seed=0, truth=TRUTH):
    """Four columns that part the groups, and noise."""
    rng = np.random.default_rng(seed)
    centers = rng.permuted(np.tile([-5.0, 0.0, 5.0], (4, 1)), axis=1).T
    noise = rng.normal(size=(truth.size, n_noise))
    return np.hstack([rng.normal(size=(truth.size, 4)) + centers[truth], noise])


def mixed_table():
    """Numbers, ordered and plain levels, truth values, counts, with missing values."""
    rng, n = np.random.default_rng(1), TRUTH.size
    table = pd.DataFrame(far_apart(2), columns=[f"number {a}" for a in range(6)])
    table["color"] = np.array(["red", "green", "blue"], dtype=object)[TRUTH]
    order = ["low", "mid", "high", "top"]
    table["grade"] = pd.Categorical(np.array(order)[TRUTH + rng.integers(0, 2, n)], order, ordered=True)
    table["flag"] = TRUTH == 1
    table["count"] = rng.poisson(1 + 5 * (TRUTH == 2))
    table["town"] = rng.choice([f"town {i}" for i in range(12)], n)
    table.loc[::7, "color"] = None
    table.loc[3::9, "number 0"] = np.nan
    return table


def sparse_table():
    rng = np.random.default_rng(2)
    X = sparse.random(TRUTH.size, 40, 0.1, format="lil", random_state=0)
    for c, size in enumerate(np.bincount(TRUTH)):
        samples = np.flatnonzero(np.isin(TRUTH, c))
        X[np.ix_(samples, range(3 * c, 3 * c + 3))] = rng.poisson(3, (size, 3))
    return X.tocsr()


TABLES = {
    "numbers": far_apart,
    "float32": lambda: far_apart().astype(np.float32),
    "mixed": mixed_table,
    "polars": lambda: pl.from_pandas(mixed_table()),
    "levels only": lambda: mixed_table()[["color", "flag", "town"]].fillna("none"),
    "objects": lambda: mixed_table()[["number 1", "color"]].to_numpy(dtype=object),
    "sparse": sparse_table,
    "missing values": lambda: np.where(np.random.default_rng(3).random((42, 10)) < 0.15, np.nan, far_apart()),
}


class Result:
    """A fitted estimator that found what a test wants it to."""

    def __init__(self, labels, chosen, scores, reader=None, **more):
        self.labels_, self.support_ = np.asarray(labels), np.asarray(chosen, dtype=bool)
        self.feature_scores_ = np.asarray(scores, dtype=float)
        p = self.n_features_in_ = self.support_.size
        numbers = TableReader([f"x{a}" for a in range(p)], (SquaredEuclidean(),) * p)
        self._kept = Kept(reader or numbers, None, int(self.support_.sum()), p)
        vars(self).update(more)

    def fit(self, X):
        return self

    def __sklearn_tags__(self):
        return SASClustering().__sklearn_tags__()

    def __sklearn_is_fitted__(self):
        return True

    def get_params(self, deep=True):
        return {}


def named(frame, labels, chosen=None, **more):
    """A result on a data frame, with scores that fall from column to column."""
    p = frame.shape[1]
    names = np.array(frame.columns, dtype=object)
    chosen = np.ones(p, bool) if chosen is None else chosen
    kinds = read_columns(Given(frame, True, names, names), "auto").kinds
    reader = TableReader(list(names), kinds, True)
    return Result(labels, chosen, np.linspace(0.9, 0.1, p), reader, feature_names_in_=names, **more)
