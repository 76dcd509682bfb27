"""The starts of climbs, from the data, a size and random numbers alone: labels, or features to cluster by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._kernels.climbs import FORGET
from .._kernels.select import largest
from .._utils.arrays import Labels
from .climb import By, Climb, Problem, climb

# Ratio of neighboring sizes on the ladder; finer ladders found nothing better in the same time.
LADDER_RATIO = 2.0
# With at most this many features, the ladder has every size.
FEW = 10

Start = Callable[[Problem, int, np.random.Generator], Labels | By]


def ladder(largest: int, smallest: int = 1, ratio: float = LADDER_RATIO) -> list[int]:
    """Sizes from `largest` down to `smallest` by a constant ratio, or all sizes if there are only a few."""
    if largest <= FEW:
        return list(range(largest, smallest - 1, -1))
    sizes = [largest]
    while sizes[-1] > smallest:
        sizes.append(max(smallest, min(sizes[-1] - 1, round(sizes[-1] / ratio))))
    return sizes


def coordinate_start(problem: Problem, size: int, rng: np.random.Generator) -> Labels | By:
    """The start of Algorithm 1: cluster by the features with the best scores when each is clustered alone."""
    subset = largest(problem.features.univariate(problem.n_clusters), size)
    if size == 1:
        return problem.features.univariate_labels(int(subset[0]), problem.n_clusters)
    return By(subset)


def random_start(problem: Problem, size: int, rng: np.random.Generator) -> By:
    """The start of Remark 2 of the paper: cluster by a random subset of at least `size` features.

    The number of features is uniform on the log scale. Larger subsets contain more of the useful features and lead to
    better climbs; smaller ones bring variety.
    """
    p = problem.features.n_features
    drawn = round(size * (p / size) ** rng.random())
    return By(np.sort(rng.choice(p, drawn, replace=False)))


def shrinking_start(problem: Problem, size: int, rng: np.random.Generator) -> Labels | By:
    """Cluster by all features, then climb at ever smaller sizes, each from the labels of the one before."""
    p = problem.features.n_features
    start: Labels | By = By(np.arange(p))
    for larger in ladder(p, size)[:-1]:
        start = climb(problem, start, larger, rng).labels
    return start


STARTS: dict[str, Start] = {"coordinate": coordinate_start, "random": random_start, "shrinking": shrinking_start}


def kick(found: Climb, rng: np.random.Generator) -> By:
    """Leave a local optimum: cluster afresh by a random half of its subset."""
    kept = found.subset[rng.random(found.subset.size) >= FORGET]
    return By(kept if kept.size else found.subset[:1])
