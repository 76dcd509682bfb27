"""Where climbs begin: labels made from nothing but the data, a size and random numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._features.base import Labels
from .._kernels.select import largest
from .climb import Climb, Problem, climb

# Neighboring sizes on the ladder differ by this ratio; finer ladders found nothing more in the same time.
LADDER_RATIO = 2.0
# So few features need no ladder.
FEW = 10
# A kick forgets this share of the chosen features.
FORGET = 0.5

Start = Callable[[Problem, int, np.random.Generator], Labels]


def ladder(largest: int, smallest: int = 1, ratio: float = LADDER_RATIO) -> list[int]:
    """Sizes from `largest` down to `smallest`, each smaller than the last by a constant ratio; all of them if few."""
    if largest <= FEW:
        return list(range(largest, smallest - 1, -1))
    sizes = [largest]
    while sizes[-1] > smallest:
        sizes.append(max(smallest, min(sizes[-1] - 1, round(sizes[-1] / ratio))))
    return sizes


def coordinate_start(problem: Problem, size: int, rng: np.random.Generator) -> Labels:
    """Algorithm 1's own: the features that cluster best each on its own."""
    subset = largest(problem.features.univariate(problem.n_clusters), size)
    if size == 1:
        return problem.features.univariate_labels(int(subset[0]), problem.n_clusters)
    return problem.cluster(subset, rng)


def random_start(problem: Problem, size: int, rng: np.random.Generator) -> Labels:
    """Remark 2 of the paper, with a random subset of `size` features or more, evenly on the log scale.

    Larger subsets hold more of the useful features and lead to better climbs; smaller ones bring variety.
    """
    p = problem.features.n_features
    drawn = round(size * (p / size) ** rng.random())
    return problem.cluster(np.sort(rng.choice(p, drawn, replace=False)), rng)


def shrinking_start(problem: Problem, size: int, rng: np.random.Generator) -> Labels:
    """From all features down to `size` by a constant ratio, with warm labels."""
    p = problem.features.n_features
    labels = problem.cluster(np.arange(p), rng)
    for larger in ladder(p, size)[:-1]:
        labels = climb(problem, labels, larger, rng).labels
    return labels


STARTS: dict[str, Start] = {"coordinate": coordinate_start, "random": random_start, "shrinking": shrinking_start}


def kick(problem: Problem, found: Climb, rng: np.random.Generator) -> Labels:
    """Leave a local optimum: cluster afresh on a random half of its subset."""
    kept = found.subset[rng.random(found.subset.size) >= FORGET]
    return problem.cluster(kept if kept.size else found.subset[:1], rng)
