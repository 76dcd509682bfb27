"""Every method of the registry on the paper's Table 1a at mu = 0.8, p = 200."""

from __future__ import annotations

import time
import warnings

import numpy as np

from sparsecluster import rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods.registry import METHODS, make_method

from .report import markdown_table

MU, P = 0.8, 200
# Table 1a at this cell, mean (standard deviation) over 50 repeats: SAS_gs, Sparse K-means, IF-PCA.
PAPER = {"sas": (0.985, 0.022), "sparse-kmeans": (0.975, 0.029), "if-pca": (0.675, 0.056)}


def one_repeat(seed):
    """For every method: Rand index, features with a weight, useful ones among them, seconds."""
    X, truth, useful = shifted_groups(mu=MU, n_features=P, seed=seed)
    results = []
    for name in METHODS:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = make_method(name, 3, random_state=seed).fit(X)
        seconds = time.perf_counter() - began
        results.append((rand_index(truth, found.labels_), found.support_.sum(), found.support_[useful].sum(), seconds))
    return results


def main(repeats=20):
    one_repeat(0)  # compiles, and simulates the null distributions
    runs = np.array([one_repeat(seed) for seed in range(repeats)], float)
    rows = []
    for m, (name, method) in enumerate(METHODS.items()):
        rand, chosen, useful, seconds = runs[:, m].T
        paper = "{:.3f} ({:.3f})".format(*PAPER[name]) if name in PAPER else ""
        selects = [f"{chosen.mean():.1f}", f"{useful.mean():.1f}"] if method.selects else ["all", ""]
        rows.append(
            [
                f"`{name}`",
                f"**{rand.mean():.3f}** ({rand.std(ddof=1):.3f})",
                paper,
                *selects,
                f"{np.median(seconds):.3f}",
            ]
        )
    header = ["method", "Rand (sd)", "paper", "selected", "of them useful", "seconds"]
    text = (
        f"Table 1a's design: n = 90 in three groups, mu = {MU}, p = {P}, 50 useful features; {repeats} repeats, "
        f"seeds 0 to {repeats - 1}.\nEvery method with its own published tuning "
        "(`make_method(name, 3, random_state=seed)`), one thread, compiled, median seconds.\n"
        "A feature is selected if its weight is not zero. COSA, SpectralGem and the plain methods use all features.\n\n"
        + markdown_table(header, rows)
    )
    return "Methods", text
