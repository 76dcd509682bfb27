"""Tables for COSA, and the dissimilarities of their pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from sparsecluster import COSA
from sparsecluster.datasets import shifted_groups
from tests.helpers.common import three_groups

# Groups that overlap, so that any other random number or rounding shows.
HARD = shifted_groups(mu=0.8, n_features=20, n_useful=8, group_size=12, seed=1).X
# Three groups far apart in 6 of 12 features.
EASY, TRUTH, USEFUL = three_groups(mu=4.0, n_features=12, n_useful=6)
BOTH = pytest.mark.parametrize("weights", ["samples", "common"])


def fit(table, **parameters):
    return COSA(**{"n_permutations": 3, "n_init": 3, **parameters}).fit(table)


def by_pair(*matrices):
    """Dissimilarities of the pairs in every feature, each with mean 1."""
    apart = np.column_stack([squareform(matrix, checks=False) for matrix in matrices])
    return apart / apart.mean(axis=0)


def differences(column):
    return np.abs(np.subtract.outer(column, column))
