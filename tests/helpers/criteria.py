"""Criteria for the number of clusters, called directly, with K-means and with less work than they would do."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster import PlainClustering, SASClustering
from sparsecluster._utils.parallel import one_thread_blas
from sparsecluster.methods import plain
from sparsecluster.methods._clusters import CRITERIA
from sparsecluster.methods._criteria import gap, prediction_strength, stadion

# Criteria that fit other tables than the data, and those of them that make tables of numbers.
REFITTING = [name for name in CRITERIA if name not in ("auto", "bic")]
SIMULATING = [name for name in REFITTING if name != "prediction_strength"]


def choose(name, estimator, X, ks):
    """The choice of a criterion."""
    with one_thread_blas():
        return CRITERIA[name](estimator, estimator.read(X), ks)


def kmeans(**parameters):
    """K-means with many starts and single moves, which finds better optima than Lloyd's algorithm."""
    return SASClustering(n_features_to_select=1.0, **{"standardize": False, "n_init": 10, **parameters})


def lloyd(**parameters):
    """The K-means++ of scikit-learn."""
    return PlainClustering(algorithm="kmeans++", **{"standardize": False, **parameters})


@pytest.fixture
def few_tables(monkeypatch):
    """As few tables, splits, amplitudes and starts as possible."""
    monkeypatch.setattr(plain, "STARTS", 3)
    monkeypatch.setattr(gap, "N_REFERENCES", 3)
    monkeypatch.setattr(prediction_strength, "N_SPLITS", 2)
    monkeypatch.setattr(stadion, "N_AMPLITUDES", 3)
    monkeypatch.setattr(stadion, "N_RUNS", 1)
    monkeypatch.setattr(stadion, "INSIDE", (2,))


def far_apart(sizes, n_features=4, seed=0):
    """Groups at the corners of a large simplex."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(seed).standard_normal((truth.size, n_features)) + 40.0 * np.eye(n_features)[
        truth
    ], truth
