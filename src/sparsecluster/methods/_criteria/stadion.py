"""Stadion: clusters should be stable under noise, and have no stable clusters inside (Mourer et al., 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._data.reading import Reading
from ..._search.curve import TuningCurve
from ..._utils.arrays import Floats, Labels, Subset
from ..._utils.parallel import Workers
from ..._utils.parameters import rng_of
from ...metrics.agreement import adjusted_rand_index
from .choice import Choice, at_least_two
from .refit import Refit, fit_each, quietly, workers_of
from .tables import NumberTable, numbers_of

# Amplitudes of the noise, including 0, as in the authors' program; and tables with noise for each of them. The authors
# make 10 tables, but a stability is also an average over several clusterings, and every fit takes its time.
N_AMPLITUDES, N_RUNS = 10, 3
# Numbers of clusters that are looked for inside of each cluster, as the authors recommend.
INSIDE = (2, 3, 4, 5)
# The largest amplitude is halved at most this often. After that, the clusters of the method are not even stable if the
# noise is a hundredth of what they are supposed to withstand.
MOST_HALVINGS = 7


class Part(NamedTuple):
    """Clusters of some of the samples, whose stability counts either between or within the clusters of a candidate.

    Attributes
    ----------
    place : int
        Place of the candidate among all candidates, of which k = 1 is the first.
    inside : bool
        Whether these are clusters inside of one of its clusters.
    samples : ndarray of shape (n_own,)
        Places of the samples.
    k : int
        Number of clusters.
    refit : Refit
        The method, with the values that were tuned for the candidate.
    labels : ndarray of shape (n_own,)
        The clusters without noise.
    weight : float
        Factor of the stability.
    """

    place: int
    inside: bool
    samples: Subset
    k: int
    refit: Refit
    labels: Labels
    weight: float = 1.0

    def agreement(self, table: NumberTable, noise: float, rng: np.random.Generator) -> float:
        """Return the adjusted Rand index of the clusters with and without noise."""
        values = table.values[self.samples]
        noisy = table.read(values + rng.uniform(-noise, noise, values.shape), self.k)
        again = self.refit(noisy, self.k, rng)
        return 0.0 if again is None else adjusted_rand_index(self.labels, again.labels)


class Parts(NamedTuple):
    """All parts, and the stability within each candidate that does not depend on the noise, of shape (n_ks,)."""

    every: list[Part]
    constant: Floats

    def of_single(self) -> Parts:
        """Return the parts that tell whether a single cluster wins."""
        return self._replace(every=[part for part in self.every if not part.inside or part.place == 0])

    def stability(self, table: NumberTable, noise: float, rng: np.random.Generator, workers: Workers) -> Floats:
        """Return the stability between and within the clusters of every candidate, of shape (2, n_ks)."""

        def mean_agreement(task: tuple[Part, np.random.Generator]) -> float:
            part, own = task
            return float(np.mean([part.agreement(table, noise, own) for _ in range(N_RUNS)]))

        tasks = list(zip(self.every, rng.spawn(len(self.every)), strict=True))
        sums = np.zeros((2, self.constant.size))
        for part, value in zip(self.every, workers.map(mean_agreement, tasks, "clusterings with noise"), strict=True):
            sums[int(part.inside), part.place] += part.weight * value
        # A single cluster is always found again.
        sums[0, 0] = 1.0
        sums[1] += self.constant
        return sums


def stadion(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the trade-off between two kinds of stability, Stadion (Mourer et al., 2020).

    Uniform noise on [-e, e] is added to every column, in units of its standard deviation (without standardization, of
    the root mean square of those of all columns). For clusters C_1, ..., C_k of the data and the clusters of the data
    with noise, let

        between(k, e) = mean over noise of the adjusted Rand index of the two clusterings,
        within(k, e)  = sum_c (|C_c| / n) mean_{m = 2, ..., 5} (the same index for m clusters of the samples of C_c),
        Stadion(k)    = max_e between(k, e) - within(k, e),

    where m is at most |C_c| - 1, and clusters of one or two samples count as 1 in `within`. The k with the largest
    value is chosen. A single cluster has between(1, e) = 1 and is always compared. Since it wins if the noise covers
    everything, the maximum is over amplitudes up to the last one at which some k >= 2 has a larger difference than
    k = 1. If k = 1 is best even so, a warning is issued and the best k >= 2 is used.

    The amplitudes are evenly spaced from 0 to sqrt(p), as in the authors' program. If this is far more than any
    clusters withstand, as with many columns of which few separate the clusters, the largest amplitude is halved until
    it is not.

    The authors also have an extended form, in which the samples with noise are assigned to the clusters found without
    noise instead of being clustered again. It is not used here, because a method that selects features finds some that
    seem to separate clusters even in noise, and the assignment to such clusters is stable.

    Parameters
    ----------
    estimator : SparseClusterer
        The method.
    reading : Reading
        The data, a dense table of numbers without missing values.
    ks : sequence of int
        The candidates in ascending order.

    Returns
    -------
    choice : Choice
        The number of clusters, the curve, which also has k = 1, and the labels of the fit to the data.

    References
    ----------
    A. Mourer, F. Forest, M. Lebbah, H. Azzag and J. Lacaille, "Selecting the number of clusters K with a stability
    trade-off: an internal validation criterion", arXiv:2006.08530 (2020).
    """
    table = numbers_of(reading, "stadion")
    rng, workers = rng_of(vars(estimator).get("random_state")), workers_of(estimator, reading)
    with quietly():
        found = fit_each(estimator, reading, ks)
        refits = {k: Refit.like(estimator, each, few_starts=True) for k, each in found.items()}
        labels = {k: each.labels for k, each in found.items()}
        parts = parts_of(table, labels, refits, rng, workers)
        path = stability_path(table, parts, rng, workers)
    curve = curve_of([1, *ks], up_to_crossing(path))
    return Choice(int(curve.chosen), curve, found[curve.chosen].labels)


def parts_of(
    table: NumberTable,
    labels: Mapping[int, Labels],
    refits: Mapping[int, Refit],
    rng: np.random.Generator,
    workers: Workers,
) -> Parts:
    """Cluster the samples of every cluster of every candidate, and of all samples together."""
    n = len(table.values)
    every = [Part(place, False, np.arange(n), k, refits[k], own) for place, (k, own) in enumerate(labels.items(), 1)]
    candidates = {1: np.zeros(n, np.int32), **labels}
    tuned = {1: refits[min(refits)], **refits}
    clusters = [
        (place, np.flatnonzero(own == cluster), tuned[k])
        for place, (k, own) in enumerate(candidates.items())
        for cluster in range(k)
    ]

    def cluster_inside(task: tuple[tuple[int, Subset, Refit], np.random.Generator]) -> list[Part]:
        (place, samples, refit), own = task
        ms = [m for m in INSIDE if m < samples.size]
        found = {m: refit(table.read(table.values[samples], m), m, own) for m in ms}
        return [Part(place, True, samples, m, refit, each.labels) for m, each in found.items() if each is not None]

    tasks = list(zip(clusters, rng.spawn(len(clusters)), strict=True))
    constant = np.zeros(len(candidates))
    made = workers.map(cluster_inside, tasks, "clusters inside of clusters")
    for (place, samples, _), parts in zip(clusters, made, strict=True):
        every += [part._replace(weight=samples.size / n / len(parts)) for part in parts]
        constant[place] += 0.0 if parts else samples.size / n
    return Parts(every, constant)


def stability_path(table: NumberTable, parts: Parts, rng: np.random.Generator, workers: Workers) -> Floats:
    """Return the stability between and within the clusters at every amplitude, of shape (n_amplitudes, 2, n_ks).

    The path ends early if no amplitude that follows can be of use.
    """
    # sqrt(p) standard deviations, where the standard deviation is the root mean square of those of all columns.
    most = float(np.sqrt((table.values**2).sum() / len(table.values)))
    for _ in range(MOST_HALVINGS):
        if not single_wins(parts.of_single().stability(table, most / 2.0, rng, workers)):
            break
        most /= 2.0
    # Without noise, all clusters are found again.
    path = [np.ones((2, parts.constant.size))]
    for noise in np.linspace(0.0, most, N_AMPLITUDES)[1:].tolist():
        path.append(parts.stability(table, noise, rng, workers))
        if single_wins(path[-1]):
            break
    return np.array(path)


def single_wins(stability: Floats) -> bool:
    """Whether k = 1 is best and will remain so with more noise, by which it can only gain and the others only lose."""
    between, within = stability
    return bool(1.0 - within[0] >= between[1:].max())


def up_to_crossing(path: Floats) -> Floats:
    """Return the path up to the last amplitude at which some k is better than k = 1; all of it if there is none."""
    difference = path[:, 0] - path[:, 1]
    better = np.flatnonzero((difference[:, 1:] > difference[:, :1]).any(axis=1))
    return path[: better[-1] + 1] if better.size else path


def curve_of(ks: list[int], path: Floats) -> TuningCurve:
    """The largest difference for every k, and the two kinds of stability at the same amplitude."""
    best = (path[:, 0] - path[:, 1]).argmax(axis=0)
    between, within = path[best, :, np.arange(len(ks))].T
    score = between - within
    chosen = at_least_two("Stadion", ks, score, ks[int(np.argmax(score))])
    return TuningCurve("k", np.array(ks), "stadion", score, chosen, None, {"between": between, "within": within})
