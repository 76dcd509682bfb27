"""Starts of EM. With many more features than samples EM hardly leaves its start, so starts of many kinds are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._search.climb import Problem, labels_at
from .._search.search import search_size
from .._search.starts import ladder, random_start
from .._utils.arrays import Floats, Labels
from .em import Model, Table, annealed, one_hot, started
from .penalties import NoPenalty
from .variances import LogVariances

# Starts of K-means on all features.
KMEANS_STARTS = 10
# Random subsets have at least this share of the features.
SMALLEST_SHARE = 0.02
# Sizes at which SAS clustering is run, as a ratio of neighbors, and its climbs at each size.
SAS_RATIO, SAS_CLIMBS = 4.0, 4

# A function of the problem, the number of starts and random numbers, which returns labels.
Start = Callable[[Problem, int, np.random.Generator], list[Labels]]


def by_kmeans(problem: Problem, count: int, rng: np.random.Generator) -> list[Labels]:
    """K-means on all features."""
    return [problem.cluster(np.arange(problem.features.n_features), rng, n_starts=KMEANS_STARTS)]


def by_subsets(problem: Problem, count: int, rng: np.random.Generator) -> list[Labels]:
    """K-means on random subsets of the features, of all sizes."""
    smallest = max(1, round(SMALLEST_SHARE * problem.features.n_features))
    return [labels_at(problem, random_start(problem, smallest, rng), rng) for _ in range(count)]


def by_sas(problem: Problem, count: int, rng: np.random.Generator) -> list[Labels]:
    """SAS clustering at several numbers of features."""
    sizes = ladder(problem.features.n_features, ratio=SAS_RATIO)[1:][:count]
    return [search_size(problem, size, rng, n_init=SAS_CLIMBS).best.labels for size in sizes]


STARTS: dict[str, Start] = {"kmeans": by_kmeans, "subsets": by_subsets, "sas": by_sas}
# Annealed EM starts from memberships instead, and needs the table of the mixture.
ANNEALED = "annealed"
KINDS = (*STARTS, ANNEALED)


def start_memberships(
    problem: Problem,
    table: Table,
    kinds: Sequence[str],
    count: int,
    rng: np.random.Generator,
    known: Sequence[Labels] = (),
) -> list[Floats]:
    """Return memberships of shape (n, k) to start from, of the given kinds, without repeats.

    `known` are labels that are tried as well. `count` is the number of random starts of each kind.
    """
    k = problem.n_clusters
    # Every kind has its own random numbers, so that leaving one out does not change the others.
    children = dict(zip(KINDS, rng.spawn(len(KINDS)), strict=True))
    labels = [
        *known,
        *(each for kind in kinds if kind in STARTS for each in STARTS[kind](problem, count, children[kind])),
    ]
    found = [one_hot(each, k) for each in distinct(labels)]
    if ANNEALED in kinds:
        plain = Model(NoPenalty(), LogVariances(0.0) if table.own_variances else None)
        p, own_rng = problem.features.n_features, children[ANNEALED]
        firsts = distinct([labels_at(problem, random_start(problem, p, own_rng), own_rng) for _ in range(count)])
        found += [annealed(table, started(table, one_hot(first, k)), plain) for first in firsts]
    return found


def distinct(labels: Sequence[Labels]) -> list[Labels]:
    """Return the different clusterings among some, whatever their numbering."""
    seen: dict[bytes, Labels] = {}
    for each in labels:
        seen.setdefault(canonical(each).tobytes(), each)
    return list(seen.values())


def canonical(labels: Labels) -> Labels:
    """Number the clusters in the order of their first samples."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int32)
