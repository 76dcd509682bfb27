"""How often each criterion finds the true number of clusters."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from sparsecluster import SASClustering
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import bernoulli_groups, many_groups, mixed_groups, shifted_groups
from sparsecluster.methods._clusters import CRITERIA

# Correlation of neighboring features, standard deviation of the loadings of three factors, variance of the centers.
NEIGHBORS, LOADINGS, CENTERS = 0.7, 0.4, 0.4
# The fits that other criteria than the BIC repeat are many, so these criteria are tried on fewer tables.
FEWER = 4


class Cell(NamedTuple):
    """One row of the table: a name, and a function from a seed to a table and its number of groups."""

    name: str
    simulate: object
    independent: bool = True


def figure_5(kappa, size):
    """Return the design of Figure 5."""
    return Cell(f"{kappa} groups of {size}", lambda seed: (many_groups(kappa, group_size=size, seed=seed).X, kappa))


def in_a_row(mu):
    """Return the design of Table 1: three groups in a row."""
    return Cell(f"three groups in a row, mu = {mu}", lambda seed: (shifted_groups(mu, 500, seed=seed).X, 3))


def correlated(kappa, noise, name):
    """Return the groups of Figure 5 with correlated noise."""

    def simulate(seed):
        X, truth, useful = many_groups(kappa, seed=seed)
        rng = np.random.default_rng([seed, kappa])
        centers = np.zeros((kappa, X.shape[1]))
        centers[:, useful] = np.sqrt(CENTERS) * rng.standard_normal((kappa, useful.sum()))
        return centers[truth] + noise(*X.shape, rng), kappa

    return Cell(f"{kappa} groups of 30, {name}", simulate, independent=False)


def neighbors(n, p, rng):
    """Return AR(1) noise."""
    noise = rng.standard_normal((n, p))
    for a in range(1, p):
        noise[:, a] = NEIGHBORS * noise[:, a - 1] + np.sqrt(1 - NEIGHBORS**2) * noise[:, a]
    return noise


def factors(n, p, rng):
    """Return noise with three common factors, scaled to variance 1."""
    loadings = LOADINGS * rng.standard_normal((3, p))
    return (rng.standard_normal((n, 3)) @ loadings + rng.standard_normal((n, p))) / np.sqrt(1 + 3 * LOADINGS**2)


CELLS = (
    *(figure_5(kappa, size) for size in (30, 20) for kappa in range(2, 11)),
    *map(in_a_row, (0.7, 1.0)),
    *(Cell(f"categories, q = {q}", lambda seed, q=q: (bernoulli_groups(q, 100, seed=seed).X, 3)) for q in (0.7, 0.9)),
    Cell("numbers, categories and missing values", lambda seed: (mixed_groups(seed=seed, n_useful=20).X, 3)),
    *(correlated(kappa, neighbors, "AR(1) noise") for kappa in (3, 5)),
    *(correlated(kappa, factors, "three common factors") for kappa in (3, 5)),
)
# Criteria that need complete numbers.
ON_NUMBERS = ("gap", "gap_uniform", "stadion", "logdet_gap")


def one_table(cell, criterion, seed):
    """Return the true number of clusters and the chosen one, or None if the criterion cannot be used."""
    X, kappa = cell.simulate(seed)
    if criterion in ON_NUMBERS and hasattr(X, "columns"):
        return kappa, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = SASClustering("auto", max_clusters=12, cluster_criterion=criterion, n_alternatives=0, criterion="bic")
        return kappa, found.fit(X).n_clusters_


def shares(cell, criterion, repeats):
    """Return the shares of tables with the right number, and with a number that is wrong by at most one."""
    runs = Parallel(n_jobs=-1)(delayed(one_table)(cell, criterion, seed) for seed in range(repeats))
    if any(chosen is None for _, chosen in runs):
        return ""
    away = np.array([abs(kappa - chosen) for kappa, chosen in runs])
    return f"{(away == 0).mean():.2f} ({(away <= 1).mean():.2f})"


def cost():
    """Return the time of choosing k among 2 to 10, relative to one fit whose size is tuned by the gap statistic."""
    ratios = []
    for kappa in (3, 5, 8):
        X = many_groups(kappa, seed=1).X
        seconds = []
        for n_clusters in (kappa, kappa, "auto", "auto"):
            began = time.perf_counter()
            SASClustering(n_clusters).fit(X)
            seconds.append(time.perf_counter() - began)
        ratios.append(seconds[3] / seconds[1])
    return ratios


def main(repeats=20):
    ratios = cost()
    names = list(CRITERIA)
    tables = {name: repeats if name == "bic" else max(1, repeats // FEWER) for name in names}
    rows = [[cell.name, *(shares(cell, name, tables[name]) for name in names)] for cell in CELLS]
    others = ", ".join(f"`{name}`" for name in names if name != "bic")
    return "Number of clusters", (
        'Share of tables in which `SASClustering("auto", max_clusters=12, cluster_criterion=...)` chooses the true '
        f"number of clusters and, in parentheses, a number that is wrong by at most one; {repeats} tables per cell for "
        f"`bic`{f' and {tables[names[-1]]} for {others}' if len(names) > 1 else ''}, with seeds from 0. The designs "
        "are those of Figure 5 (p = 500, 50 useful features), Table 1 and Table 4 of the paper, `mixed_groups` with 20 "
        f"useful features, and the groups of Figure 5 with noise in which neighboring features have correlation "
        f"{NEIGHBORS} or all features share three factors.\n\n"
        + markdown_table(["design", *(f"`{name}`" for name in names)], rows)
        + "\n\nChoosing among 2 to 10 clusters takes "
        + ", ".join(f"{ratio:.2f}" for ratio in ratios)
        + " times as long as one fit with the number of features tuned by the gap statistic (3, 5 and 8 groups of 30; "
        "one thread, one run)."
    )
