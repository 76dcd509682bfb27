"""The search over the number of clusters k, with the size chosen by the BIC for every k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._clusterers.kmeans import kmeans
from .._features.features import Features, Pairs
from .._kernels.select import largest
from .._utils.arrays import Floats, Labels
from .._utils.parallel import ONE_THREAD, Workers
from .bic import bic_values, dependence, evaluate, price_of
from .climb import Problem
from .curve import TuningCurve
from .search import Found, Path, random_path, shrinking_path, sweep
from .starts import ladder

# The paths through all sizes that are tried for every k, besides climbs from the best solutions of neighboring k.
PATHS: tuple[Path, ...] = (shrinking_path, random_path)
# These climb at sizes within this factor of their own.
NEAR = 4.0
# Starts for splitting a cluster in two.
SPLIT_STARTS = 3
# If the criterion has fallen this many times in a row, larger k are only reached by splitting clusters.
FALLS = 2


class Candidates(NamedTuple):
    """Clusterings of the same samples for several numbers of clusters, and the features that they are compared on."""

    features: Features
    labels: Mapping[int, Sequence[Labels]]


class Candidate(NamedTuple):
    """The best clustering on a path, its number of features, and the criterion."""

    labels: Labels
    size: int
    value: float


def search_clusters(
    problem: Problem, ks: Sequence[int], rng: np.random.Generator, workers: Workers = ONE_THREAD
) -> Candidates:
    """For every k, the best clustering of each path through all sizes, and those that neighboring k lead to.

    On the way up, the best solution with k - 1 clusters is a start after one of its clusters is split; on the way down,
    the best one with k + 1 clusters is a start after two of its clusters are merged. Where the criterion keeps falling,
    even if parameters cost least, this is all that is done.
    """
    n = problem.features.n_samples
    price, least = price_of(n), price_of(n, dependence=0.0)
    found: dict[int, list[Candidate]] = {k: [] for k in ks}
    values: dict[int, float] = {}

    def follow(k: int, paths: Sequence[Path]) -> None:
        run = partial(best_on_path, problem._replace(n_clusters=k), price)
        tasks = list(zip(paths, rng.spawn(len(paths)), strict=True))
        found[k] += workers.map(run, tasks, f"paths with {k} clusters")

    for k in ks:
        near = [partial(near_path, best(found[k - 1]), split)] if k - 1 in found else []
        follow(k, near if near and keeps_falling(values, k) else [*PATHS, *near])
        values[k] = evaluate(problem.features, best(found[k]).labels, k, least).value
    for k in [k for k in reversed(ks) if k + 1 in found]:
        follow(k, [partial(near_path, best(found[k + 1]), merge)])
    return Candidates(problem.features, {k: [each.labels for each in found[k]] for k in ks})


def keeps_falling(values: Mapping[int, float], k: int) -> bool:
    """Whether the criterion has fallen from each of the numbers of clusters just below k to the next."""
    last = [values.get(each, -np.inf) for each in range(k - FALLS - 1, k)]
    return all(one > other for one, other in pairwise(last))


def best(candidates: Iterable[Candidate]) -> Candidate:
    """The candidate with the largest criterion."""
    return max(candidates, key=lambda each: each.value)


def best_on_path(problem: Problem, price: float, task: tuple[Path, np.random.Generator]) -> Candidate:
    """The climb with the largest criterion on one path."""
    path, rng = task
    features, k = problem.features, problem.n_clusters
    scored = ((evaluate(features, each.labels, k, price), each.labels) for each in path(problem, rng))
    return best(Candidate(labels, size, value) for (value, size), labels in scored)


def near_path(found: Candidate, change: Change, problem: Problem, rng: np.random.Generator) -> Iterator[Found]:
    """Climbs from a solution with one cluster more or less, at its size and at sizes near it."""
    subset = largest(problem.features.scores(found.labels, int(found.labels.max()) + 1), found.size)
    labels = change(problem.features.pairs(subset).similarity, found.labels, rng)
    sizes = [each for each in ladder(problem.features.n_features) if found.size / NEAR <= each <= found.size * NEAR]
    return sweep(problem, labels, [found.size, *sizes], rng)


Change = Callable[[Floats, Labels, np.random.Generator], Labels]


def split(similarity: Floats, labels: Labels, rng: np.random.Generator) -> Labels:
    """Labels with one cluster more: the cluster whose split in two explains most is split."""
    k = int(labels.max()) + 1
    best, most = labels, -np.inf
    for cluster in range(k):
        own = np.flatnonzero(labels == cluster)
        if own.size < 2:
            continue
        within = np.ascontiguousarray(similarity[np.ix_(own, own)])
        halves = kmeans(Pairs(within), 2, rng, n_starts=SPLIT_STARTS)
        parts = [np.flatnonzero(halves == half) for half in (0, 1)]
        gain = sum(within[np.ix_(part, part)].sum() / part.size for part in parts) - within.sum() / own.size
        if gain > most:
            best, most = labels.copy(), gain
            best[own[halves == 1]] = k
    return best


def merge(similarity: Floats, labels: Labels, rng: np.random.Generator) -> Labels:
    """Labels with one cluster less: the two clusters that are merged are those that lose least by it."""
    k = int(labels.max()) + 1
    members = (labels[:, None] == np.arange(k)).astype(np.float64)
    # A cluster may be empty if fewer samples are different than there should be clusters.
    sizes, sums = np.maximum(members.sum(axis=0), 1.0), members.T @ similarity @ members
    own = np.diag(sums) / sizes
    joined = (np.diag(sums)[:, None] + np.diag(sums) + 2.0 * sums) / (sizes[:, None] + sizes)
    loss = own[:, None] + own - joined
    loss[np.tril_indices(k)] = np.inf
    one, other = np.unravel_index(int(np.argmin(loss)), loss.shape)
    merged = np.where(labels == other, one, labels)
    # The last cluster takes the number that has become free.
    return np.where(merged == k - 1, other, merged).astype(labels.dtype)


def bic_curve(candidates: Candidates) -> tuple[TuningCurve, Labels]:
    """The criterion for every k, and the labels found for the chosen k.

    A number of clusters that is reached only by splitting off outliers has the value -inf, unless all of them are.

    How much a parameter costs depends on how strongly the features depend on each other within clusters, which is
    measured in the solution with the most clusters, where least is left to find.
    """
    features, found = candidates
    ks = sorted(found)
    usual = price_of(features.n_samples)
    most = ks[-1]
    fine = max(found[most], key=lambda labels: evaluate(features, labels, most, usual).value)
    price = price_of(features.n_samples, dependence(features, fine, most))
    winners = {}
    for k in ks:
        scored = [(evaluate(features, labels, k, price), labels) for labels in found[k]]
        winners[k] = max(scored, key=lambda pair: pair[0].value)
    values = np.array([winners[k][0].value for k in ks])
    if not np.isfinite(values).any():
        # All numbers of clusters are reached only by splitting off outliers.
        values = np.array([bic_values(features, winners[k][1], k, price).max() for k in ks])
    chosen = ks[int(np.argmax(values))]
    details = {"n_features": np.array([float(winners[k][0].size) for k in ks])}
    return TuningCurve("k", np.array(ks), "bic", values, chosen, None, details), winners[chosen][1]
