"""The best clustering of one feature alone: where the paper's climb begins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._kernels.pairs import improve_pairs, seed_pairs
from .._kernels.univariate import DISTANCES, SQUARES, univariate_labels, univariate_within
from .base import Floats, Labels, Pairs, Table

__all__ = ["DISTANCES", "SQUARES", "level_labels", "level_score", "pairs_labels", "runs_labels", "runs_within"]

# Values sorted together: few enough to stay in the cache.
BLOCK_VALUES = 2**17
# Hill climbs where nothing exact is known, with Lloyd passes at the beginning and moves until none is left.
STARTS, LLOYD_PASSES, MOVE_PASSES = 5, 3, 1000


def runs_within(table: Table, n_clusters: int, kind: int = SQUARES) -> Floats:
    """Smallest within of every column of numbers, missing values (NaN) left out, over all clusterings."""
    step = max(1, BLOCK_VALUES // len(table))
    within = [np.empty(0)]
    for first in range(0, table.shape[1], step):
        # In blocks of columns, so that the sorted copy stays small. NaN is sorted to the end.
        columns = np.sort(table[:, first : first + step].T.astype(np.float64), axis=1)
        counts = len(table) - np.isnan(columns).sum(axis=1)
        within.append(univariate_within(kind, columns, counts, n_clusters))
    return np.concatenate(within)


def runs_labels(column: Table, n_clusters: int, kind: int = SQUARES) -> Labels:
    """The clustering behind `runs_within`; where a value is missing any cluster is as good, and the first is taken."""
    seen = np.flatnonzero(~np.isnan(column))
    values = column[seen].astype(np.float64)
    order = np.argsort(values, kind="stable")
    labels = np.zeros(column.size, np.int32)
    labels[seen[order]] = univariate_labels(kind, values[order], n_clusters)
    return labels


def level_score(counts: npt.ArrayLike, n_clusters: int) -> float:
    """Largest score of a category with so many samples on each level.

    Of sum_k (1/|C_k|) sum_l |C_k with level l|^2 the largest value has the k - 1 commonest levels in clusters of their
    own and the others together in the last.
    """
    sizes = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    rest = sizes[n_clusters - 1 :]
    best = sizes[: n_clusters - 1].sum() + ((rest**2).sum() / rest.sum() if rest.sum() else 0.0)
    n = sizes.sum()
    one = (sizes**2).sum() / n
    return float((best - one) / (n - one))


def level_labels(codes: Table, n_clusters: int) -> Labels:
    """The clustering behind `level_score`; codes are 0, 1, ... and NaN where missing, which join the first cluster."""
    labels = np.zeros(codes.size, np.int32)
    seen = np.flatnonzero(~np.isnan(codes))
    levels, at, counts = np.unique(codes[seen], return_inverse=True, return_counts=True)
    rank = np.empty(levels.size, np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(levels.size)
    labels[seen] = np.minimum(rank[at], n_clusters - 1)
    # Fewer levels than clusters: samples of the largest clusters make up for those that are missing.
    for missing in range(levels.size, n_clusters):
        labels[np.flatnonzero(labels == np.argmax(np.bincount(labels)))[-1]] = missing
    return labels


def pairs_labels(pairs: Pairs, n_clusters: int) -> Labels:
    """A good clustering for any dissimilarity: the best of a few hill climbs, always from the same draws."""
    best, most = np.zeros(len(pairs.similarity), np.int32), -np.inf
    for uniforms in np.random.default_rng(0).random((STARTS, n_clusters)):
        labels = seed_pairs(pairs.similarity, uniforms)
        value = improve_pairs(pairs.similarity, labels, n_clusters, LLOYD_PASSES, MOVE_PASSES)
        if value > most:
            best, most = labels, value
    return best
