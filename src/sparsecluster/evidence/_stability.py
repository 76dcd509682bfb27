"""How stable clusters and samples are: what fits to subsamples, and to halves, find again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._utils.arrays import Floats, Labels, Subset
from ..metrics import adjusted_rand_index
from ._columns import Columns
from ._held_out import distances
from ._parts import Part, cross_table

# A cluster is recovered by a subsample from this Jaccard similarity on, and dissolved below that (Hennig, 2007).
RECOVERED, DISSOLVED = 0.75, 0.5


class Jaccard(NamedTuple):
    """The stability of each cluster, of shape (n_clusters,): the mean of its largest Jaccard similarity with a cluster
    of a subsample, and the shares of the subsamples that recover and that dissolve it.
    """

    mean: Floats
    recovered: Floats
    dissolved: Floats


def jaccard(parts: list[Part | None], labels: Labels, k: int) -> Jaccard:
    """Compare every cluster with the clusters of the subsamples (clusterboot of Hennig, 2007).

    The Jaccard similarity of two sets is the size of their intersection divided by that of their union. Of a cluster,
    only the samples that are in a subsample are compared.
    """
    found = np.array([best_jaccard(part.labels, labels[part.places], k) for part in parts if part is not None])
    if not len(found):
        return Jaccard(np.zeros(k), np.zeros(k), np.ones(k))
    known = ~np.isnan(found)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.nan_to_num(found).sum(axis=0) / count
    with np.errstate(invalid="ignore"):
        return Jaccard(mean, (found >= RECOVERED).sum(axis=0) / count, (found <= DISSOLVED).sum(axis=0) / count)


def best_jaccard(labels: Labels, others: Labels, k: int) -> Floats:
    """The largest Jaccard similarity of each cluster of the other labels; NaN if none of its samples is there.

    >>> best_jaccard(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), 2).round(3).tolist()
    [0.667, 0.5]
    """
    both = cross_table(labels, others, k)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    best = (both / np.maximum(either, 1)).max(axis=0)
    return np.asarray(np.where(both.sum(axis=0) > 0, best, np.nan))


class Kept(NamedTuple):
    """How often each sample keeps its cluster, and where it goes otherwise.

    Attributes
    ----------
    share : ndarray of shape (n_samples,)
        Share of the subsamples with this sample in which it is in the matching cluster; NaN if it is in none of them.
    second : ndarray of shape (n_samples,)
        The other cluster in which it is most often; -1 if there is none.
    together : ndarray of shape (n_samples, n_samples)
        Share of the subsamples with both samples in which they are in the same cluster; NaN if there is none.
    """

    share: Floats
    second: Subset
    together: Floats


def kept(parts: list[Part | None], labels: Labels, k: int) -> Kept:
    """Count in which clusters the samples are in the subsamples."""
    n = labels.size
    counts, together, drawn = np.zeros((n, k)), np.zeros((n, n)), np.zeros((n, n))
    for part in parts:
        if part is None:
            continue
        counts[part.places, part.labels] += 1.0
        inside = np.zeros((n, k), np.float32)
        inside[part.places, part.labels] = 1.0
        seen = inside.sum(axis=1)
        together += inside @ inside.T
        drawn += np.outer(seen, seen)
    everyone = np.arange(n)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts[everyone, labels] / counts.sum(axis=1)
        shares = together / drawn
    counts[everyone, labels] = 0.0
    second = np.where(counts.max(axis=1) > 0, counts.argmax(axis=1), -1)
    return Kept(share, second, shares)


def agreement_of_halves(parts: list[Part | None], columns: Columns | None, k: int) -> Floats:
    """The agreement of the halves of each split, of shape (n_splits,).

    The samples of one half are assigned to the nearest clusters of the other half, and compared with their own clusters
    by the adjusted Rand index; the mean over both roles of the halves. 0 if no clusters are found in one of them.
    """

    def assigned(near: Part, own: Part) -> Subset:
        if columns is not None:
            used = columns.of(near.subset)
            return np.asarray(distances(columns, used, near, own.places, k).sum(axis=2).argmin(axis=1))
        assert near.outside is not None
        # All other samples were assigned; if the number of samples is odd, one of them is in neither half.
        out = np.delete(np.arange(near.places.size + near.outside.size), near.places)
        return near.outside[np.isin(out, own.places)]

    def agreement(one: Part, other: Part) -> float:
        roles = ((one, other), (other, one))
        return float(np.mean([adjusted_rand_index(own.labels, assigned(near, own)) for near, own in roles]))

    splits = zip(parts[::2], parts[1::2], strict=True)
    return np.array([0.0 if one is None or other is None else agreement(one, other) for one, other in splits])
