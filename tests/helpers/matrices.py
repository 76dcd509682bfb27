"""Matrices of dissimilarities for tests."""

from __future__ import annotations

import numpy as np


def random_matrix(rng, n, missing=0.0):
    """A dissimilarity that is no distance; some pairs and a few samples are missing, as the diagonal says."""
    matrix = np.tril(rng.random((n, n)), -1)
    unseen = np.tril(rng.random((n, n)) < missing, -1)
    unseen[rng.integers(n, size=int(missing * n) // 2)] = True
    matrix[unseen] = np.nan
    matrix = np.tril(matrix, -1) + np.tril(matrix, -1).T
    alone = np.isnan(matrix + np.where(np.eye(n), np.nan, 0.0)).all(axis=1)
    np.fill_diagonal(matrix, np.where(alone, np.nan, 0.0))
    return matrix
