"""The core of a clustering: the fewest features that are enough to find the same clusters again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._utils.arrays import Labels, Subset
from .agreement import agreement
from .climb import Problem
from .curve import TuningCurve

# Ratio of neighboring numbers of features that are tried; those in between are tried where it matters.
RATIO = 1.25
# Fresh starts of each clustering.
STARTS = 10


class Core(NamedTuple):
    """The core features, and the agreement with the clusters for the numbers of features that were tried."""

    subset: Subset
    curve: TuningCurve

    @property
    def is_enough(self) -> bool:
        """Whether the clusters found on the core features agree with the clusters."""
        return bool(self.curve.details["enough"][self.curve.place])


def find_core(problem: Problem, labels: Labels, ranked: Subset, least: float, rng: np.random.Generator) -> Core:
    """Cluster afresh on the first m features alone, and return the smallest m that gives the same clusters.

    Parameters
    ----------
    problem : Problem
        The data, the clusterer and the number of clusters.
    labels : ndarray of shape (n_samples,)
        The clusters.
    ranked : ndarray of int
        The chosen features, from the one with the highest score to the one with the lowest.
    least : float
        The adjusted Rand index from which on clusters count as the same.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    Core
        All chosen features if none of the numbers that were tried is enough.
    """
    seed = int(rng.integers(2**63))
    tried: dict[int, float] = {}

    def is_enough(m: int) -> bool:
        # The same random numbers for every m, so that the order in which they are tried makes no difference.
        found = problem.cluster(np.sort(ranked[:m]), np.random.default_rng([seed, m]), n_starts=STARTS)
        tried[m] = agreement(labels, found)
        return tried[m] >= least

    below, size = 0, ranked.size
    for m in numbers_to_try(ranked.size):
        if is_enough(m):
            size = m
            break
        below = m
    else:
        below = size
    while size - below > 1:
        middle = (below + size) // 2
        if is_enough(middle):
            size = middle
        else:
            below = middle
    numbers = np.array(sorted(tried))
    agreed = np.array([tried[m] for m in numbers.tolist()])
    details = {"enough": (agreed >= least).astype(np.float64), "required": np.full(numbers.size, least)}
    return Core(ranked[:size], TuningCurve("m", numbers, "agreement", agreed, size, None, details))


def numbers_to_try(most: int) -> list[int]:
    """Numbers of features from 1 to `most` by a constant ratio."""
    numbers = [1]
    while numbers[-1] < most:
        numbers.append(min(most, max(numbers[-1] + 1, round(numbers[-1] * RATIO))))
    return numbers
