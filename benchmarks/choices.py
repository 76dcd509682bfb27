"""What every default is worth: the same data with one parameter changed at a time."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from sparsecluster import SASClustering, rand_index
from sparsecluster._utils.markdown import markdown_table
from sparsecluster.experiments.contenders import PUBLISHED
from sparsecluster.experiments.experiment import values_of

from .accuracy import TABLES
from .paper import simulated

CELLS = (
    ("table 1", {"mu": 0.6, "p": 100}),
    ("table 1", {"mu": 0.6, "p": 1000}),
    ("table 1", {"mu": 0.7, "p": 1000}),
    ("table 2", {"shift": 0.8, "p": 500}),
    ("table 2", {"shift": 1.0, "p": 1000}),
    ("table 2 rotated", {"shift": 0.8, "p": 500}),
    ("table 2 rotated", {"shift": 1.0, "p": 1000}),
    ("table 3", {"shift": 1.0, "p": 500}),
)
CHOICES = {
    "the defaults": {},
    "`criterion='bic'`": {"criterion": "bic"},
    "`consensus=False`": {"consensus": False},
    "`null='fixed'`": {"null": "fixed"},
    "`rule='1se'`": {"rule": "1se"},
    "`gap='within'`": {"gap": "within"},
    "`init='coordinate'`": {"init": "coordinate"},
    "`init='random'`": {"init": "random"},
    "`init='shrinking'`": {"init": "shrinking"},
    "as published: one coordinate-wise start, grid, fixed null": {"search": "grid", **PUBLISHED},
}


def one_repeat(table, cell, parameters, seed):
    """Return the Rand index and the number of chosen features."""
    X, truth, _ = simulated(TABLES[table], cell, seed)
    sas = SASClustering(n_clusters=3, random_state=seed, **parameters).fit(X)
    return rand_index(truth, sas.labels_), sas.support_.sum()


def main(repeats=20):
    tasks = [(*cell, parameters, seed) for parameters in CHOICES.values() for cell in CELLS for seed in range(repeats)]
    results = Parallel(n_jobs=-1)(delayed(one_repeat)(*task) for task in tasks)
    means = np.array(results).reshape(len(CHOICES), len(CELLS), repeats, 2).mean(axis=2)
    rows = [[name, *(f"{rand:.3f} ({s:.0f})" for rand, s in row)] for name, row in zip(CHOICES, means, strict=True)]
    header = ["choice", *("{}, {}, p = {}".format(table, *values_of(cell)) for table, cell in CELLS)]
    return "Choices", (
        "Mean Rand index (and mean number of features chosen; 50 features are useful), n = 90, "
        f"{repeats} repeats per cell with seeds 0 to {repeats - 1}. The designs are those of [Accuracy](accuracy.md); "
        "the next number is mu in table 1 and the shift in the other tables.\n\n" + markdown_table(header, rows)
    )
