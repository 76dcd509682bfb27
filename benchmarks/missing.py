"""Missing values: used as they are, compared with filling in the mean of the column first."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from sklearn.impute import SimpleImputer

from sparsecluster import SASClustering, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.experiments.contenders import LIMIT_STARTS, kmeans_limit

from .paper import simulated
from .report import best_in_bold

STRENGTHS = (1.0, 0.7)
# Share of all values that are missing, and where.
CASES = (
    (0.0, "anywhere"),
    (0.05, "anywhere"),
    (0.1, "anywhere"),
    (0.2, "anywhere"),
    (0.4, "anywhere"),
    (0.05, "half of the rows"),
    (0.1, "half of the rows"),
    (0.2, "half of the rows"),
    (0.4, "half of the rows"),
)


def with_missing(X, share, where, rng):
    """Return a copy of X with a share of the values missing, either anywhere or only in a random half of the rows."""
    chances = np.full(len(X), share)
    if where != "anywhere":
        chances = 2 * share * rng.permutation(np.arange(len(X)) % 2)
    return np.where(rng.random(X.shape) < chances[:, None], np.nan, X)


def one_repeat(mu, share, where, seed):
    """Return the Rand index of ours, of ours on filled values and of the limit; then the numbers of features."""
    data = simulated("table-1a", {"mu": mu, "p": 200}, seed)
    X = with_missing(data.X, share, where, np.random.default_rng(seed))
    filled = SimpleImputer().fit_transform(X)
    fits = [SASClustering(n_clusters=3, random_state=seed).fit(table) for table in (X, filled)]
    limit = kmeans_limit(data._replace(X=filled), 3, seed, standardize=True)
    rand = [rand_index(data.truth, labels) for labels in (*(sas.labels_ for sas in fits), limit.labels)]
    return *rand, *(sas.support_.sum() for sas in fits)


def main(repeats=20):
    keys = [(mu, *case) for mu in STRENGTHS for case in CASES]
    tasks = [(*key, seed) for key in keys for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_repeat)(*task) for task in tasks)
    means = np.array(results, float).reshape(len(keys), repeats, 5).mean(axis=1)
    rows = []
    for (mu, share, where), (ours, filled, limit, s, s_filled) in zip(keys, means, strict=True):
        place = where if share else "-"
        compared = best_in_bold([f"{ours:.3f}", f"{filled:.3f}"])
        row = [mu, f"{share:.0%}", place, *compared, f"{limit:.3f}", f"{ours - filled:+.3f}"]
        rows.append([*row, f"{s:.1f}", f"{s_filled:.1f}"])
    header = ["mu", "missing", "where", "ours", "ours, filled", "limit, filled", "ours - ours filled"]
    return "Missing values", (
        "The design of Table 1: n = 90 in three groups of 30, p = 200, 50 useful features, "
        f"{repeats} repeats per cell with seeds 0 to {repeats - 1}; s is tuned (B = 25). The table shows the mean Rand "
        "index. `ours` is given the missing values as they are; for `filled`, they are replaced by the mean of the "
        f"column; `limit` is K-means ({LIMIT_STARTS} starts) with the useful features given. Values are removed at "
        "random, either from all rows or, at twice the rate, from a random half of the rows. `s` is the number of "
        "features chosen. The better of `ours` and `ours, filled` is bold.\n\n"
        + markdown_table([*header, "s", "s, filled"], rows)
    )
