"""What the climbs agree on, for when each of them finds something else."""

from __future__ import annotations

import numpy as np

from .._clusterers.kmeans import kmeans
from .._features.base import Rows
from .climb import Climb, Problem, climb
from .search import TINY_HITS, Pool

# The best share of the climbs has a say, and only climbs that come this near to the best.
VOTERS, NEAR_BEST = 0.3, 0.9
# K-means runs on the votes.
RUNS = 10


def consensus(problem: Problem, pool: Pool, rng: np.random.Generator) -> Climb:
    """The climb from what the best climbs share; the best one itself where they are all the same.

    Where the signal is weak, every start ends elsewhere and the best objective is won by fitting noise. What the best
    climbs have in common is less so. Samples are grouped by how often these climbs put them together: k-means on the
    climbs' indicator columns, whose Gram matrix counts just that. The climb from there is a local optimum like any
    other, and is taken only if it is as good as the worst of the climbs that it speaks for.
    """
    best = pool.best
    ranked = sorted(pool.fresh, key=lambda found: -found.objective)
    voters = [found for found in ranked if found.objective >= NEAR_BEST * best.objective]
    voters = voters[: max(1, round(VOTERS * len(ranked)))]
    # So many starts that agree on the best are no accident, however many others there are.
    if pool.hits >= min(len(voters), TINY_HITS) or len(voters) < 2:
        return best
    k = problem.n_clusters
    votes = np.concatenate([found.labels[:, None] == np.arange(k) for found in voters], axis=1).astype(np.float64)
    rows = Rows(votes, np.ones(votes.shape[1]))
    agreed = kmeans(rows, k, rng, n_starts=RUNS)
    found = climb(problem, agreed, best.subset.size, rng)
    return found if found.objective >= voters[-1].objective else best
