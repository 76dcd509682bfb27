"""Features that differ between the clusters of samples that were held out.

A clustering always finds features that differ between its clusters, because they were chosen to. Here the clusters of a
sample are those to which it is assigned by a fit to other samples, and in the test of a feature that feature takes no
part in the assignment. A feature that only differs by chance, and whose noise is independent of that of other features,
then has nothing to do with the clusters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc

from .._utils.arrays import Floats, Subset
from ._columns import Columns
from ._parts import Part
from ._statistics import chi_square, explained_interval, worst_of_several

# The number of values of a design that are in memory at a time.
BLOCK_VALUES = 4_000_000
# Common factors are sought on at most this many columns. If more than so many stand out, features depend on each other
# locally, and leading components would not describe it. A factor stands out if its singular value exceeds the largest
# one of permuted residuals by this factor.
MOST_SOUGHT, MOST_FACTORS, N_PERMUTED, STANDS_OUT = 5000, 5, 5, 1.02
# Fewer samples or columns than this are too few to tell factors from chance.
LEAST_SEEN = 20


class HeldOut(NamedTuple):
    """What held-out samples say about every feature.

    Attributes
    ----------
    p : ndarray of shape (n_features,)
        P-value for no difference between the clusters.
    effect, low, high : ndarray of shape (n_features,)
        Share of the feature that the clusters explain, and its 95 % confidence interval.
    n_factors : int
        Number of common factors for which the tests are adjusted.
    """

    p: Floats
    effect: Floats
    low: Floats
    high: Floats
    n_factors: int


# ---------------------------------------------------------------- clusters of held-out samples


def held_out_labels(parts: list[Part | None], columns: Columns, k: int) -> npt.NDArray[np.int16]:
    """Assign every sample to the nearest cluster of the fits without it, for each feature without that feature.

    A fit assigns a sample to the cluster with the smallest sum of squared differences to its mean, in normal scores;
    for levels, of the mean dissimilarity. If there are several fits without a sample, most of them decide.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The cluster; -1 if a sample could not be assigned.
    """
    n, n_features = len(columns.values), int(columns.owners.max()) + 1
    votes = np.zeros((k, n, n_features), np.min_scalar_type(len(parts)))
    for part in parts:
        if part is None:
            continue
        out = np.delete(np.arange(n), part.places)
        used = columns.of(part.subset)
        apart = distances(columns, used, part, out, k)
        total = apart.sum(axis=2)
        nearest = np.repeat(total.argmin(axis=1)[:, None], n_features, axis=1)
        # What each chosen feature, which may own several columns, has of the total. An empty cluster is never nearest.
        order = np.argsort(columns.owners[used], kind="stable")
        first = np.searchsorted(columns.owners[used][order], part.subset)
        own = np.add.reduceat(np.where(np.isinf(apart), 0.0, apart)[:, :, order], first, axis=2)
        nearest[:, part.subset] = np.subtract(total[:, :, None], own, out=own).argmin(axis=1)
        for c in range(k):
            votes[c, out] += nearest == c
    return np.where(votes.any(axis=0), votes.argmax(axis=0), -1).astype(np.int16)


def distances(columns: Columns, used: Subset, part: Part, out: Subset, k: int) -> Floats:
    """The distance of held-out samples to each cluster in each of some columns, of shape (n_out, k, n_used).

    It is 0 if a value is missing, and infinite for an empty cluster.
    """
    apart = np.zeros((out.size, k, used.size))
    inside, outside = columns.scores[np.ix_(part.places, used)], columns.scores[np.ix_(out, used)]
    nominal = columns.is_nominal[used]
    for c in range(k):
        own = inside[part.labels == c]
        if not len(own):
            apart[:, c] = np.inf
            continue
        seen = ~np.isnan(own)
        centers = np.nan_to_num(own).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        apart[:, c, ~nominal] = np.nan_to_num((outside[:, ~nominal] - centers[~nominal]) ** 2)
    for j in np.flatnonzero(nominal).tolist():
        apart[:, :, j] = level_distances(inside[:, j], part.labels, outside[:, j], k)
    return apart


def level_distances(codes: Floats, labels: npt.NDArray[Any], new: Floats, k: int) -> Floats:
    """The distance of levels to each cluster, in units of the variation of the column; of shape (n_new, k)."""
    names = np.unique(codes[~np.isnan(codes)])
    shares = np.array([[np.mean(codes[labels == c] == name) if (labels == c).any() else 0.0 for name in names]
                       for c in range(k)])  # fmt: skip
    all_shares = np.array([np.mean(codes == name) for name in names])
    unit = max((1.0 - (all_shares**2).sum()) / 2.0, 1e-12)
    at = np.searchsorted(names, new).clip(0, max(names.size - 1, 0))
    known = (names[at] == new) if names.size else np.zeros(new.size, bool)
    near = np.where(known[:, None], shares[:, at].T, 0.0)
    apart = (1.0 - near - (1.0 - (shares**2).sum(axis=1)) / 2.0) / unit
    return np.where(np.isnan(new)[:, None], 0.0, apart)


# ---------------------------------------------------------------- common factors


def common_factors(columns: Columns, labels: Subset, k: int, rng: np.random.Generator) -> Floats:
    """The scores of the samples on factors that many features have in common within the clusters.

    Clusters may follow such a factor in part, and features that depend on the factor alone would then seem to differ
    between them. The factors are the singular vectors of the residuals that exceed those of permuted residuals
    (parallel analysis); there are none if too many do.

    Returns
    -------
    ndarray of shape (n_samples, n_factors)
    """
    n = labels.size
    places = np.flatnonzero(~columns.is_nominal)
    if places.size > MOST_SOUGHT:
        places = np.sort(rng.permutation(places)[:MOST_SOUGHT])
    if n < LEAST_SEEN or places.size < LEAST_SEEN:
        return np.zeros((n, 0))
    values = np.nan_to_num(columns.scores[:, places])
    left = values.copy()
    for c in range(k):
        own = labels == c
        if own.any():
            left[own] -= left[own].mean(axis=0)
    squares, vectors = np.linalg.eigh(products(left))
    chance = max(np.linalg.eigvalsh(products(rng.permuted(left, axis=0)))[-1] for _ in range(N_PERMUTED))
    stand_out = np.flatnonzero(squares > STANDS_OUT**2 * chance)
    if stand_out.size > MOST_FACTORS:
        return np.zeros((n, 0))
    # The loadings are the right singular vectors of the residuals.
    loadings = vectors[:, stand_out]
    if n <= places.size:
        loadings = left.T @ loadings / np.sqrt(squares[stand_out])
    return np.asarray(values @ loadings)


def products(table: Floats) -> Floats:
    """The products of all pairs of rows, or of all pairs of columns if there are fewer."""
    return np.asarray(table @ table.T if table.shape[0] <= table.shape[1] else table.T @ table)


# ---------------------------------------------------------------- tests


def differences(columns: Columns, labels: npt.NDArray[np.int16], k: int, factors: Floats) -> HeldOut:
    """Test every feature: numbers by the analysis of variance of their normal scores, adjusted for factors; levels by
    the chi-square test. The p-value of a feature with several columns is the smallest, times their number.
    """
    n_columns = columns.owners.size
    found = np.full((4, n_columns), np.nan)
    numbers = np.flatnonzero(~columns.is_nominal)
    width = 1 + factors.shape[1] + k
    step = max(1, BLOCK_VALUES // (labels.shape[0] * width))
    for first in range(0, numbers.size, step):
        at = numbers[first : first + step]
        found[:, at] = analysis_of_variance(columns.scores[:, at], labels[:, columns.owners[at]], k, factors)
    for j in np.flatnonzero(columns.is_nominal).tolist():
        found[:, j] = chi_square(columns.scores[:, j], labels[:, columns.owners[j]], k)
    p, effect, low, high = worst_of_several(found, columns.owners)
    return HeldOut(p, effect, low, high, factors.shape[1])


def analysis_of_variance(scores: Floats, labels: npt.NDArray[np.int16], k: int, factors: Floats) -> Floats:
    """The p-value, the share explained and its interval, for several columns; of shape (4, n_columns).

    The columns of the design are 1, the factors, and the indicators of the clusters but the first. With RSS_0 and RSS_1
    the residual sums of squares without and with the indicators, F = ((RSS_0 - RSS_1) / d_1) / (RSS_1 / d_2).
    """
    seen = (~np.isnan(scores) & (labels >= 0)).astype(np.float64)
    values = np.nan_to_num(scores) * seen
    shared = np.concatenate([np.ones((len(scores), 1)), factors], axis=1)
    clusters = (labels[:, :, None] == np.arange(k)).astype(np.float64) * seen[:, :, None]
    occupied = (clusters.sum(axis=0) > 0).sum(axis=1)
    # A cluster more than are needed: its indicator is a combination of the others, which the pseudoinverse allows for.
    design = np.concatenate([shared[:, None, :] * seen[:, :, None], clusters], axis=2)
    products = np.einsum("nbi,nbj->bij", design, design)
    towards = np.einsum("nbi,nb->bi", design, values)
    total = (values**2).sum(axis=0)
    m = shared.shape[1]

    def left(at: slice) -> Floats:
        inverse = np.linalg.pinv(products[:, at, at], rcond=1e-10, hermitian=True)
        return np.asarray(total - np.einsum("bi,bij,bj->b", towards[:, at], inverse, towards[:, at]))

    without, with_clusters = left(slice(0, m)), left(slice(None))
    d1 = np.maximum(occupied - 1, 0).astype(np.float64)
    d2 = np.maximum(seen.sum(axis=0) - m - d1, 0.0)
    usable = (d1 > 0) & (d2 > 0) & (without > 1e-12 * np.maximum(total, 1e-300))
    d1, d2 = np.where(usable, d1, 1.0), np.where(usable, d2, 1.0)
    within = np.maximum(with_clusters, 1e-12 * np.maximum(without, 1e-300))
    ratio = np.where(usable, np.maximum(without - within, 0.0) / d1 / (within / d2), 0.0)
    share = np.where(usable, 1.0 - within / np.maximum(without, 1e-300), 0.0).clip(0.0, 1.0)
    p = np.where(usable, fdtrc(d1, d2, ratio), 1.0)
    low, high = explained_interval(ratio, d1, d2)
    # A ratio far below 1 speaks for no difference at all, with an interval below the share that was seen.
    return np.array([p, share, np.minimum(low, share), np.maximum(high, share)])
