"""A table with one more column of any type, in pandas, Polars and PyArrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from sparsecluster import SASClustering

N = 36
TRUTH = np.repeat([0, 1, 2], [16, 12, 8])
RNG = np.random.default_rng(0)
# Two columns that make the groups and three that do not.
PLAIN = np.column_stack([12 * TRUTH, 12 * (TRUTH == 1), *np.zeros((3, N))]) + RNG.normal(size=(N, 5))
# Whole numbers that know the groups but for a few samples.
CODES = np.where(np.arange(N) % 12 == 3, (TRUTH + 1) % 3, TRUTH)
MISSING = np.arange(N) % 9 == 2
SIZES, COLORS = ["small", "medium", "large"], ["red", "green", "blue"]


def fit(table, **parameters):
    return SASClustering(**{"n_features_to_select": 3, **parameters}).fit(table)


def values(of, missing=None, codes=CODES):
    """`of` the code of every sample, with some missing."""
    return [missing if gone else of(int(code)) for code, gone in zip(codes, MISSING, strict=True)]


def frame(library, column):
    """The plain columns and one more."""
    columns = {**{f"x{a}": PLAIN[:, a] for a in range(5)}, "c": column}
    return pa.table(columns) if library is pa else library.DataFrame(columns)


def declared(library, words, codes, ordered):
    """A category of declared levels."""
    codes = [None if gone else int(code) for code, gone in zip(codes, MISSING, strict=True)]
    if library is pd:
        return pd.Categorical.from_codes([-1 if code is None else code for code in codes], words, ordered=ordered)
    if library is pl:
        return pl.Series([None if code is None else words[code] for code in codes], dtype=pl.Enum(words))
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), words, ordered=ordered)
