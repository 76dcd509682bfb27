"""Tables of every form that is fitted in blocks, with groups that can be found."""

import numpy as np
import pandas as pd
import scipy.sparse

N = 2500


def numbers(seed=0, n=N, p=10, useful=3, shift=1.5):
    """Numbers of shape (n, p), of which the first few columns differ between three groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, n)
    table = rng.normal(size=(n, p))
    table[:, :useful] += shift * groups[:, None]
    return table, groups


def with_gaps(table, seed=1, share=0.1):
    """The table with some values missing."""
    return np.where(np.random.default_rng(seed).random(table.shape) < share, np.nan, table)


def words(seed=0, n=N, missing=0.0):
    """A data frame of numbers, text, booleans, categories and dates, some of which differ between three groups."""
    rng = np.random.default_rng(seed)
    table, groups = numbers(seed, n, p=5)
    frame = pd.DataFrame(table, columns=[f"n{j}" for j in range(5)])
    frame["color"] = np.where(
        rng.random(n) < 0.8, np.array(["red", "green", "blue"])[groups], rng.choice(["red", "grey"], n)
    )
    frame["junk"] = rng.choice(list("abcdef"), n)
    frame["flag"] = rng.random(n) < 0.2 + 0.3 * groups
    frame["kind"] = pd.Categorical(rng.choice(["u", "v"], n))
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    frame["constant"] = 1.0
    if missing:
        for name in frame.columns.drop(["flag", "constant"]):
            frame[name] = frame[name].mask(rng.random(n) < missing)
    return frame


def frequent_words(n=N):
    """Words, which in the last two columns are equally frequent, so that only where they are tells these apart."""
    rng = np.random.default_rng(0)
    groups = np.arange(n) % 3
    named = np.array(["a", "b", "c"])[groups]
    columns = [np.where(rng.permutation(np.arange(n) < n // 2), named, rng.permutation(named)) for _ in range(4)]
    frame = pd.DataFrame({f"w{j}": column for j, column in enumerate(columns)})
    return frame.assign(u=rng.permutation(named), v=rng.permutation(named))


def counts(seed=0, n=N, p=40):
    """A sparse matrix of counts."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(0.2, size=(n, p)) * 1.0
    table[:, :5] += rng.poisson(rng.integers(0, 3, n)[:, None], size=(n, 5))
    return scipy.sparse.csr_array(table)


# The table, and the parameters of the fit besides the usual ones.
TABLES = {
    "numbers": (numbers()[0], {}),
    "single precision": (numbers()[0].astype(np.float32), {}),
    "single precision, large": (numbers()[0].astype(np.float32) * np.float32(1e12), {}),
    "missing values": (with_gaps(numbers()[0]), {}),
    "own units": (numbers()[0] * np.arange(1, 11), {"standardize": False}),
    "groups of columns": (numbers()[0], {"feature_groups": {"a": [0, 1], "b": [2, 5]}}),
    "numbers as levels": (numbers()[0].round(), {"metric": "hamming"}),
    "two values": ((numbers()[0] > 1).astype(float), {}),
    "the same values in every column": (numbers()[0].argsort(axis=0).argsort(axis=0) * 1.0, {}),
    "words": (words(), {}),
    "words with missing values": (words(missing=0.2), {}),
    "equally frequent words": (frequent_words(), {}),
    "many equal rows": (numbers()[0][:, :4].round(), {}),
    "a chosen number of clusters": (numbers()[0], {"n_clusters": "auto", "max_clusters": 4}),
    "the core": (numbers(p=30, useful=20)[0], {"rule": "core"}),
    "sparse": (counts(), {}),
}


def in_dask(table, rows=400):
    """The table as a Dask collection with blocks of so many rows."""
    import dask.array as da
    import dask.dataframe as dd

    if isinstance(table, pd.DataFrame):
        return dd.from_pandas(table, npartitions=-(-len(table) // rows), sort=False)
    if scipy.sparse.issparse(table):
        cut = [table[first : first + rows] for first in range(0, table.shape[0], rows)]
        return da.concatenate([da.from_array(each, chunks=each.shape, asarray=False) for each in cut])
    # Several blocks of columns as well, which are put together.
    return da.from_array(table, chunks=(rows, 3))
