"""Sparse tables for several tests, and the forms in which kernels and features take them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sparsecluster._data.source_sparse import SparseSource
from sparsecluster._features.numeric import NumericFeatures, Source
from tests import naive

LAYOUTS = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix]
PASSES = 1000
K = 3


def random_sparse(rng, n, p, density=0.3, whole=False):
    """Mostly zero, of either sign, with rows of zeros; no column is constant."""
    table = np.where(rng.random((n, p)) < density, naive.random_table(rng, n, p, whole), 0.0)
    table[rng.integers(n, size=n // 5)] = 0.0
    constant = np.flatnonzero(np.ptp(table, axis=0) == 0)
    table[rng.integers(n, size=constant.size), constant] = 1.0 + rng.integers(3, size=constant.size)
    return table


def grouped_sparse(rng, n, p, density=0.2):
    """Groups of samples that have their values in columns of their own, in the first third of the columns."""
    labels = naive.random_labels(rng, n, K)
    likely = np.where(np.arange(p) % K == labels[:, None], 3 * density, density / 3)
    likely[:, p // 3 :] = density
    return np.where(rng.random((n, p)) < likely, rng.gamma(2.0, size=(n, p)), 0.0)


def compressed(matrix):
    """Values, places and starts as the kernels take them."""
    matrix.sort_indices()
    return matrix.data.astype(float), matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)


def as_rows(table, means, weights):
    return *compressed(sparse.csr_array(table)), means, weights


def as_columns(table):
    return compressed(sparse.csc_array(table))


def dense_of(table, standardize=True):
    return NumericFeatures(Source(table, *map(np.arange, table.shape), standardize))


def sparse_of(table, standardize=True, layout=sparse.csc_array):
    return SparseSource(layout(table), *map(np.arange, table.shape), standardize, np.arange(table.shape[1])).features()


def both_of(table, standardize=True):
    return dense_of(table, standardize), sparse_of(table, standardize)


def coordinates(rows):
    """What sparse rows stand for."""
    values, columns, starts, means, weights = rows
    x = sparse.csr_array((values, columns, starts), shape=(starts.size - 1, means.size)).toarray()
    return (x - means) * np.sqrt(weights)


def untidy(rng, table):
    """The same numbers with zeros of both signs that are stored, values in two pieces, and columns in any order."""
    rows, columns = np.nonzero(table)
    zeros = [place[:10] for place in np.nonzero(table == 0)]
    piece = rng.integers(-8, 8, rows.size).astype(float)
    values = [table[rows, columns] - piece, piece, rng.choice([0.0, -0.0], zeros[0].size)]
    places = [np.concatenate([rows, rows, zeros[0]]), np.concatenate([columns, columns, zeros[1]])]
    order = np.lexsort([rng.random(places[0].size), places[0]])
    starts = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=len(table)))])
    return sparse.csr_array((np.concatenate(values)[order], places[1][order], starts), shape=table.shape)
