"""A table with three clear groups, to be spoiled."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sparsecluster import SASClustering
from tests.helpers.common import three_groups

# Three groups far apart in 6 of 30 features.
X, TRUTH, USEFUL = three_groups(mu=10.0, n_features=30, n_useful=6)
NAMES = [f"gene{a}" for a in range(30)]
WORDS = np.array(["a", "b", "c"], dtype=object)[TRUTH]


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 3, **parameters}).fit(table)


def frame_with(column, values):
    return pd.DataFrame(X, columns=NAMES).assign(**{column: values})


def table_with(value, row=4, column=3):
    table = X.copy()
    table[row, column] = value
    return table
