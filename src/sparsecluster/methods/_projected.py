"""The algorithm of PROCLUS: candidates for medoids, features around them, and the replacement of bad medoids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._kernels.segmental import deviations_within, distances_from, mean_deviations, segmental_distances
from .._utils.arrays import Floats, Labels, Subset
from ._result import NoClustersError

Own = npt.NDArray[np.bool_]

# Every cluster has at least this many features, as in the paper.
FEWEST = 2
# The largest number of values of `n_dimensions` that "auto" compares.
MOST_VALUES = 12


class Candidates:
    """Samples that are far from each other, among which medoids are chosen.

    Attributes
    ----------
    places : ndarray of shape (n_candidates,)
        The samples.
    far : ndarray of shape (n_candidates, n_samples)
        Distance of every sample to every candidate, in all features.
    """

    def __init__(self, table: Floats, places: Subset, far: Floats) -> None:
        self.table, self.places, self.far = table, places, far
        self._known: dict[tuple[int, int], Floats] = {}

    def deviations(self, medoids: Subset) -> Floats:
        """Mean deviation from every medoid in every feature, over the samples that are no farther than other medoids.

        The nearest other medoid is therefore one of these samples, so that there are always at least two.
        """
        between = self.far[np.ix_(medoids, self.places[medoids])]
        np.fill_diagonal(between, np.inf)
        return np.array([self._around(*pair) for pair in zip(medoids, medoids[between.argmin(axis=1)], strict=True)])

    def _around(self, medoid: int, nearest: int) -> Floats:
        # Depends on these two alone, and is needed for many sets of medoids.
        if (medoid, nearest) not in self._known:
            local = np.flatnonzero(self.far[medoid] <= self.far[medoid, self.places[nearest]])
            self._known[medoid, nearest] = mean_deviations(self.table, local, self.table[self.places[medoid]])
        return self._known[medoid, nearest]


class Solution(NamedTuple):
    """Medoids, as indices of candidates, the features of their clusters as a mask of shape (k, p), and the labels."""

    medoids: Subset
    own: Own
    labels: Labels
    objective: float


class Climb(NamedTuple):
    """The best solution, its medoids as samples, and which samples are outside the spheres of all medoids.

    `objectives` has the objective of every set of medoids that was better than all before, without the refinement.
    """

    found: Solution
    medoids: Subset
    outside: Own
    objectives: tuple[float, ...]
    n_tries: int


def candidates_of(table: Floats, k: int, n_sampled: int, n_candidates: int, rng: np.random.Generator) -> Candidates:
    """Return samples that are far from each other: each is the one farthest from all before, within a random sample."""
    pool = rng.permutation(len(table))[:n_sampled]
    places, far = [int(pool[0])], [distances_from(table, table[pool[0]])]
    nearest = far[0].copy()
    while len(places) < n_candidates:
        farthest = int(pool[nearest[pool].argmax()])
        if nearest[farthest] == 0.0:
            # The rest of the pool are copies of the candidates. Medoids have to differ, so the others are looked at.
            if len(places) >= k or pool.size == len(table):
                break
            pool = np.arange(len(table))
            continue
        places.append(farthest)
        far.append(distances_from(table, table[farthest]))
        np.minimum(nearest, far[-1], out=nearest)
    if len(places) < k:
        raise NoClustersError(
            f"Only {len(places)} samples differ by more than rounding errors, which is not enough for {k} clusters. "
            "Use fewer clusters."
        )
    return Candidates(table, np.array(places), np.array(far))


def standing_out(deviations: Floats) -> Floats:
    """Return how far each deviation is from the mean of its row, in standard deviations; 0 if all are equal."""
    k, p = deviations.shape
    from_mean = deviations - deviations.mean(axis=1, keepdims=True)
    spread = np.sqrt((from_mean**2).sum(axis=1, keepdims=True) / max(p - 1, 1))
    return np.divide(from_mean, spread, out=np.zeros((k, p)), where=spread > 0)


def allocated(z: Floats, total: int) -> Own:
    """Return the `total` pairs of cluster and feature with the smallest values, at least two of every cluster.

    If there are fewer pairs, all are returned.
    """
    k, p = z.shape
    own = np.zeros((k, p), bool)
    np.put_along_axis(own, np.argsort(z, axis=1, kind="stable")[:, :FEWEST], True, axis=1)
    rest = np.argsort(np.where(own, np.inf, z), axis=None, kind="stable")
    own.flat[rest[: max(0, total - k * min(FEWEST, p))]] = True
    return own


def listed(own: Own) -> tuple[Subset, Subset]:
    """Return the features of all clusters one after the other, and where those of each cluster start and end."""
    return np.nonzero(own)[1], np.append(0, own.sum(axis=1).cumsum())


def distances_to(rows: Floats, centers: Floats, own: Own) -> Floats:
    """Segmental distance of every row to every center in the features of its cluster, of shape (n_samples, k)."""
    return segmental_distances(rows, centers, *listed(own))


def nearest_of(apart: Floats, far: Floats) -> Labels:
    """Return the nearest medoid of each sample.

    Ties go to the medoid that is nearer in all features, so that every medoid is in its own cluster and copies of a
    sample stay together.
    """
    is_nearest = apart == apart.min(axis=1, keepdims=True)
    return np.where(is_nearest, far, np.inf).argmin(axis=1).astype(np.int32)


def objective_of(table: Floats, labels: Labels, own: Own) -> float:
    """Return the mean deviation of the samples from the centroids of their clusters, per feature of the cluster."""
    features, starts = listed(own)
    within = np.add.reduceat(deviations_within(table, labels, features, starts), starts[:-1]) / np.diff(starts)
    return float(np.bincount(labels, minlength=len(own)) @ within / labels.size)


def project(candidates: Candidates, medoids: Subset, deviations: Floats, total: int) -> tuple[Solution, Floats]:
    """Choose features for every medoid, assign the samples, and return both with the distances of the samples."""
    table = candidates.table
    own = allocated(standing_out(deviations), total)
    apart = distances_to(table, table[candidates.places[medoids]], own)
    labels = nearest_of(apart, candidates.far[medoids].T)
    return Solution(medoids, own, labels, objective_of(table, labels, own)), apart


def bad_medoids(sizes: Subset, min_deviation: float) -> Own:
    """Return which clusters have too few samples; the smallest one always has."""
    bad = sizes < sizes.sum() / sizes.size * min_deviation
    bad[sizes.argmin()] = True
    return np.asarray(bad)


def climb(
    candidates: Candidates, k: int, total: int, max_iter: int, min_deviation: float, rng: np.random.Generator
) -> Climb:
    """Replace bad medoids of the best set by other candidates until this does not help any more, and refine it."""
    m = candidates.places.size
    medoids, tried = rng.permutation(m)[:k], set()
    best: Solution | None = None
    objectives: list[float] = []
    n_tries = n_in_vain = 0
    while n_in_vain < max_iter:
        n_tries, n_in_vain = n_tries + 1, n_in_vain + 1
        key = frozenset(medoids.tolist())
        if key not in tried:
            tried.add(key)
            found, _ = project(candidates, medoids, candidates.deviations(medoids), total)
            if best is None or found.objective < best.objective:
                best, n_in_vain = found, 0
                objectives.append(found.objective)
        if m == k:
            break
        assert best is not None
        bad = np.flatnonzero(bad_medoids(np.bincount(best.labels, minlength=k), min_deviation))
        others = rng.permutation(np.setdiff1d(np.arange(m), best.medoids))[: bad.size]
        medoids = best.medoids.copy()
        medoids[bad[: others.size]] = others
    assert best is not None
    found, outside = refined(candidates, best, total)
    return Climb(found, candidates.places[found.medoids], outside, tuple(objectives), n_tries)


def refined(candidates: Candidates, best: Solution, total: int) -> tuple[Solution, Own]:
    """Choose the features again, now from the clusters, assign the samples once more, and tell which are outside all.

    A sample is outside if, for every medoid, it is farther away than the nearest other medoid.
    """
    table, places = candidates.table, candidates.places[best.medoids]
    members = [np.flatnonzero(best.labels == cluster) for cluster in range(places.size)]
    deviations = np.array([mean_deviations(table, own, table[i]) for own, i in zip(members, places, strict=True)])
    # A cluster of copies of its medoid says nothing about its features, so those around the medoid have to.
    alone = ~deviations.any(axis=1)
    deviations[alone] = candidates.deviations(best.medoids)[alone]
    found, apart = project(candidates, best.medoids, deviations, total)
    between = apart[places]
    np.fill_diagonal(between, np.inf)
    return found, (apart > between.min(axis=0)).all(axis=1)


def information(table: Floats, labels: Labels, own: Own, typical: Floats) -> float:
    """Return the BIC of the features of the clusters, by which `n_dimensions` is chosen.

    If deviations follow a Laplace distribution, describing those of the n_i samples of cluster i in feature a by their
    own mean y instead of the mean t of all samples increases the log likelihood by n_i (log(t / y) + y / t - 1), at the
    price of one parameter, log(n) / 2. It counts as a loss if y > t. One more sample that deviates by t keeps y above
    zero in small clusters.
    """
    features, starts = listed(own)
    sizes = np.repeat(np.bincount(labels), np.diff(starts))
    ratios = (sizes * deviations_within(table, labels, features, starts) / typical[features] + 1.0) / (sizes + 1.0)
    gains = sizes * (ratios - 1.0 - np.log(ratios))
    return float(np.where(ratios < 1.0, gains, -gains).sum() - own.sum() * np.log(labels.size) / 2.0)


def values_to_compare(p: int) -> Subset:
    """Return the numbers of features per cluster that "auto" compares, evenly on the log scale from two to all."""
    return np.unique(np.geomspace(min(FEWEST, p), p, MOST_VALUES).round().astype(np.intp))
