"""How often each criterion finds the true number of clusters."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sparsecluster import SASClustering
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import bernoulli_groups, many_groups, mixed_groups, shifted_groups
from sparsecluster.methods._clusters import CRITERIA

# Correlation of neighboring features, standard deviation of the loadings of three factors, variance of the centers.
NEIGHBORS, LOADINGS, CENTERS = 0.7, 0.4, 0.4
# All criteria but the default make many fits, up to a minute per table, so they are tried on fewer tables and designs.
FEWER = 6
COMPARED = (
    *("3 groups of 30", "5 groups of 30", "8 groups of 30", "5 groups of 20", "three groups in a row, mu = 1.0"),
    *("categories, q = 0.9", "numbers, categories and missing values"),
    *("3 groups of 30, AR(1) noise", "3 groups of 30, three common factors"),
)


class Cell(NamedTuple):
    """One row of the table: a name, and a function from a seed to a table and its number of groups."""

    name: str
    simulate: object


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

    return Cell(f"{kappa} groups of 30, {name}", simulate)


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
# Criteria that need complete numbers, and those that are compared with the default.
ON_NUMBERS = ("gap", "gap_uniform", "stadion", "logdet_gap")
OTHERS = tuple(name for name in CRITERIA if name not in ("auto", "bic"))
# Real tables with few columns, which depend on each other.
REAL = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


def number_chosen(X, criterion, most):
    """Return the number of clusters that a criterion chooses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = SASClustering("auto", max_clusters=most, cluster_criterion=criterion, n_alternatives=0, criterion="bic")
        return found.fit(X).n_clusters_


def one_table(cell, criterion, seed):
    """Return by how much the chosen number of clusters differs from the true one."""
    X, kappa = cell.simulate(seed)
    return abs(number_chosen(X, criterion, 12) - kappa)


def shares(cell, criterion, repeats):
    """Return the shares of tables with the right number, and with a number that is wrong by at most one."""
    is_compared = criterion == "auto" or cell.name in COMPARED
    if not is_compared or (criterion in ON_NUMBERS and hasattr(cell.simulate(0)[0], "columns")):
        return ""
    away = np.array(Parallel(n_jobs=-1)(delayed(one_table)(cell, criterion, seed) for seed in range(repeats)))
    return f"{(away == 0).mean():.2f} ({(away <= 1).mean():.2f})"


def real_table(name):
    """Return a row with the numbers that all criteria choose for a real table."""
    data = REAL[name]()
    chosen = [str(number_chosen(data.data, criterion, 10)) for criterion in ("auto", "bic", *OTHERS)]
    return [name, f"{data.data.shape[0]} x {data.data.shape[1]}", str(data.target.max() + 1), *chosen]


def cost():
    """Return the time of a fit that chooses k among 2 to 10, relative to one with k given; medians of three."""
    ratios = []
    for kappa in (3, 5, 8):
        X = many_groups(kappa, seed=1).X
        seconds = {kappa: [], "auto": []}
        for _ in range(4):
            for n_clusters, spent in seconds.items():
                began = time.process_time()
                SASClustering(n_clusters).fit(X)
                spent.append(time.process_time() - began)
        # The first fit of each compiles.
        ratios.append(np.median(seconds["auto"][1:]) / np.median(seconds[kappa][1:]))
    return ratios


def main(repeats=20):
    ratios = cost()
    fewer = max(1, repeats // FEWER)
    rows = [
        [cell.name, shares(cell, "auto", repeats), *(shares(cell, name, fewer) for name in OTHERS)] for cell in CELLS
    ]
    real = Parallel(n_jobs=-1)(delayed(real_table)(name) for name in REAL)
    others = ", ".join(f"`{name}`" for name in OTHERS)
    return "Number of clusters", (
        'Share of tables in which `SASClustering("auto", max_clusters=12, cluster_criterion=...)` chooses the true '
        f"number of clusters and, in parentheses, a number that is wrong by at most one; {repeats} tables per cell for "
        f"`auto`, the default, and {fewer} for {others} (which take up to a minute per table and are not tried on all "
        "designs), with seeds from 0. The designs are those of Figure 5 (p = 500, 50 useful features), Table 1 and "
        "Table 4 of the paper, `mixed_groups` with 20 useful features, and the groups of Figure 5 with noise in which "
        f"neighboring features have correlation {NEIGHBORS} or all features share three factors. On all of these, "
        "`auto` is the BIC.\n\n"
        + markdown_table(["design", "`auto`", *(f"`{name}`" for name in OTHERS)], rows)
        + "\n\nOn real tables with few columns that depend on each other within the classes, `auto` is the gap "
        "statistic of K-means. The rule was made with these three tables in view, so they show what it is for and not "
        "how good it is; [Other real tables](clusters_real.md) has tables that were not looked at. Number of classes, "
        "and number of clusters chosen among 2 to 10:\n\n"
        + markdown_table(["data", "size", "classes", "`auto`", "`bic`", *(f"`{name}`" for name in OTHERS)], real)
        + "\n\nA fit that chooses among 2 to 10 clusters takes "
        + ", ".join(f"{ratio:.2f}" for ratio in ratios)
        + " times as long as one with the number of clusters given, both with the number of features tuned by the gap "
        "statistic (3, 5 and 8 groups of 30; one thread, medians of three fits)."
    )
