"""Samples that belong nowhere, and single wild values: what trimming is worth."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import Parallel, delayed

from sparsecluster import rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.registry import make_method

METHODS = ("sas", "sparse-kmeans", "kmeans++")
TRIMS = (0.0, 0.05, 0.1)


def clean(X, rng):
    """Change nothing."""
    return X, []


def wild_rows(X, rng):
    """Multiply five samples by 5."""
    rows = rng.choice(len(X), 5, replace=False)
    X[rows] *= 5
    return X, rows


def shifted_rows(X, rng):
    """Add strong noise to the useful features of five samples."""
    rows = rng.choice(len(X), 5, replace=False)
    X[np.ix_(rows, np.arange(50))] += 4 * rng.standard_normal((5, 50))
    return X, rows


def wild_cells(X, rng):
    """Multiply one value in a hundred by 10."""
    return np.where(rng.random(X.shape) < 0.01, 10 * X, X), []


DESIGNS = {
    "no outliers": clean,
    "5 samples times 5": wild_rows,
    "5 samples with strong noise in the useful features": shifted_rows,
    "1 % of the values times 10": wild_cells,
}


def one_repeat(design, method, trim, seed):
    """Return the Rand index on the other samples, the share of outliers found, and the other samples left out."""
    X, truth, _ = shifted_groups(1.0, 200, seed=seed)
    X, rows = DESIGNS[design](X.copy(), np.random.default_rng([seed, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = make_method(method, 3, trim=trim, random_state=seed).fit(X).labels_
    rest = np.setdiff1d(np.arange(len(X)), rows)
    found = np.mean(labels[rows] == -1) if len(rows) else np.nan
    return rand_index(truth[rest], labels[rest]), found, np.sum(labels[rest] == -1)


def main(repeats=20):
    rows = []
    for design in DESIGNS:
        for trim in TRIMS:
            row = [design, f"{trim:g}"]
            for method in METHODS:
                tasks = (delayed(one_repeat)(design, method, trim, seed) for seed in range(repeats))
                rand, found, lost = np.array(Parallel(n_jobs=-1)(tasks)).mean(axis=0)
                row.append(
                    f"{rand:.3f}" + ("" if np.isnan(found) else f" ({found:.0%})") + (f" -{lost:.1f}" if lost else "")
                )
            rows.append(row)
    return "Outliers", (
        "Mean Rand index on the samples that are not outliers (in parentheses, the share of the outliers that get the "
        "label -1; after a minus, the mean number of other samples that get it), n = 90 in three groups, p = 200, "
        f"mu = 1, {repeats} repeats with seeds 0 to {repeats - 1}.\n\n"
        + markdown_table(["design", "`trim`", *(f"`{name}`" for name in METHODS)], rows)
    )
