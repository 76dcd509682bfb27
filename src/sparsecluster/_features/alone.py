"""The best clustering of a single feature: the start of Algorithm 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._kernels.moves import LLOYD_PASSES, MOVE_PASSES
from .._kernels.pairs import improve_pairs, seed_pairs
from .._kernels.sort import sort_rows
from .._kernels.univariate import DISTANCES, SQUARES, univariate_labels, univariate_within
from .._utils.arrays import Floats, Labels, Table
from .features import Pairs

__all__ = ["DISTANCES", "SQUARES", "level_labels", "level_score", "pairs_labels", "runs_labels", "runs_within"]

# Number of values sorted together: few enough to stay in the cache.
BLOCK_VALUES = 2**17
# Number of hill climbs where no exact method is known.
STARTS = 5


def runs_within(table: Table, n_clusters: int, kind: int = SQUARES) -> Floats:
    """Smallest within of every column over all clusterings, without its missing values (NaN)."""
    step = max(1, BLOCK_VALUES // len(table))
    within = [np.empty(0)]
    for first in range(0, table.shape[1], step):
        # In blocks of columns, so that the sorted copy stays small. NaN are sorted to the end.
        columns = table[:, first : first + step].T.astype(np.float64, order="C")
        sort_rows(columns)
        seen = np.full(len(columns), len(table))
        if np.isnan(columns[:, -1]).any():
            seen -= np.isnan(columns).sum(axis=1)
        within.append(univariate_within(kind, columns, seen, n_clusters))
    return np.concatenate(within)


def runs_labels(column: Table, n_clusters: int, kind: int = SQUARES) -> Labels:
    """The clustering behind `runs_within`. For a missing value every cluster is as good, and the first one is used."""
    seen = np.flatnonzero(~np.isnan(column))
    values = column[seen].astype(np.float64)
    order = np.argsort(values, kind="stable")
    labels = np.zeros(column.size, np.int32)
    labels[seen[order]] = univariate_labels(kind, values[order], n_clusters)
    return labels


def level_score(counts: npt.ArrayLike, n_clusters: int) -> Floats:
    """Largest score of categorical features with counts[..., l] samples at level l.

    The value of sum_k (1/|C_k|) sum_l |C_k with level l|^2 is largest if each of the k - 1 most common levels forms a
    cluster and all other levels form the last one.
    """
    sizes = np.sort(np.asarray(counts, dtype=np.float64), axis=-1)[..., ::-1]
    rest = sizes[..., n_clusters - 1 :]
    others = (rest**2).sum(axis=-1) / np.maximum(rest.sum(axis=-1), 1.0)
    best = sizes[..., : n_clusters - 1].sum(axis=-1) + others
    n = sizes.sum(axis=-1)
    one = (sizes**2).sum(axis=-1) / n
    return np.asarray((best - one) / (n - one))


def level_labels(codes: Table, n_clusters: int) -> Labels:
    """The clustering behind `level_score`; `codes` are 0, 1, ..., or NaN if missing, which go to the first cluster."""
    labels = np.zeros(codes.size, np.int32)
    seen = np.flatnonzero(~np.isnan(codes))
    levels, at, counts = np.unique(codes[seen], return_inverse=True, return_counts=True)
    rank = np.empty(levels.size, np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(levels.size)
    labels[seen] = np.minimum(rank[at], n_clusters - 1)
    # With fewer levels than clusters, the empty clusters get one sample each from the largest clusters.
    for missing in range(levels.size, n_clusters):
        labels[np.flatnonzero(labels == np.argmax(np.bincount(labels)))[-1]] = missing
    return labels


def pairs_labels(pairs: Pairs, n_clusters: int) -> Labels:
    """A good clustering for any dissimilarity: the best of a few hill climbs, always with the same random numbers."""
    best, most = np.zeros(len(pairs.similarity), np.int32), -np.inf
    for uniforms in np.random.default_rng(0).random((STARTS, n_clusters)):
        labels = seed_pairs(pairs.similarity, uniforms)
        value = improve_pairs(pairs.similarity, labels, n_clusters, LLOYD_PASSES, MOVE_PASSES)
        if value > most:
            best, most = labels, value
    return best
