"""Trimmed K-means: the samples farthest from their centers are left out (Cuesta-Albertos et al., 1997)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._features.features import Rows
from .._kernels.trimmed import center_distances, kept_means
from .._utils.arrays import Floats, Labels, Mask
from .kmeans import kmeans

# A gain below this share of the sum of squares is a rounding error.
LEAST_GAIN = 1e-10


class Partition(NamedTuple):
    """A cluster for each sample, the samples that are left out of the centers, and the sum of squares of the rest."""

    labels: Labels
    is_out: Mask
    within: float = np.inf


def farthest(apart: Floats, labels: Labels, n_out: int, is_out: Mask | None = None) -> Mask:
    """Mask of the `n_out` samples with the largest distances to their centers.

    The nearest sample of each cluster is never left out, so that no cluster disappears. If some samples are left out
    already (`is_out`), it is the nearest of the others.
    """
    candidates = apart.copy()
    near = apart if is_out is None else np.where(is_out, np.inf, apart)
    for c in range(labels.max() + 1):
        candidates[np.argmin(np.where(labels == c, near, np.inf))] = -1.0
    out = np.zeros(apart.size, bool)
    out[np.argsort(-candidates, kind="stable")[:n_out]] = True
    return out


def seeded(rows: Floats, k: int, n_out: int, rng: np.random.Generator) -> Partition:
    """Clusters of k seeds drawn as in k-means++, except that the `n_out` farthest samples are never drawn.

    These may be outliers, which k-means++ would almost always draw. The first seed is any sample.
    """
    n = len(rows)
    near, free, labels = np.ones(n), np.ones(n), np.zeros(n, np.int32)
    for c in range(k):
        within_reach = near.copy()
        within_reach[np.argsort(near, kind="stable")[n - n_out if c else n :]] = 0.0
        # If no other sample is within reach, or none differs from the seeds, any other sample is drawn.
        odds = next(each for each in (within_reach, near, free) if (each * free).any()) * free
        seed = int(rng.choice(n, p=odds / odds.sum()))
        apart = ((rows - rows[seed]) ** 2).sum(axis=1)
        labels[(apart < near) | (c == 0)] = c
        labels[seed], free[seed] = c, 0.0
        near = np.minimum(near, apart) if c else apart
    return Partition(labels, farthest(near, labels, n_out))


def own_distances(apart: Floats, labels: Labels) -> Floats:
    """The distance of each sample to its own center, given those to all centers."""
    return np.take_along_axis(apart, labels[:, None], axis=1)[:, 0]


def settled(rows: Floats, start: Partition, k: int, rng: np.random.Generator) -> Partition:
    """Alternate between K-means on the samples that are kept and leaving out the farthest samples.

    Both steps lower the sum of squares of the samples that are kept. A sample that is left out has the label of the
    nearest center.
    """
    labels, is_out, best = start.labels.copy(), start.is_out, start._replace(within=np.inf)
    n_out = int(is_out.sum())
    while True:
        kept = Rows(rows[~is_out], np.ones(rows.shape[1]))
        labels[~is_out] = kmeans(kept, k, rng, warm=labels[~is_out])
        apart = center_distances(rows, kept_means(rows, labels, is_out, k)[0])
        labels[is_out] = apart[is_out].argmin(axis=1)
        own = own_distances(apart, labels)
        within = float(own[~is_out].sum())
        if within >= best.within * (1.0 - LEAST_GAIN):
            return best
        best = Partition(labels.copy(), is_out, within)
        is_out = farthest(own, labels, n_out)
        if np.array_equal(is_out, best.is_out):
            return best
