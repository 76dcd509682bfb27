"""A consensus of the climbs, for problems where each climb ends in a different clustering."""

from __future__ import annotations

import numpy as np

from .._clusterers.kmeans import kmeans
from .._features.features import Rows
from .climb import Climb, Problem, climb
from .search import TINY_HITS, Pool

# This share of the climbs, the best ones, may vote, provided that they reach this share of the best objective.
VOTERS, NEAR_BEST = 0.3, 0.9
# Runs of k-means on the votes.
RUNS = 10


def consensus(problem: Problem, pool: Pool, rng: np.random.Generator) -> Climb:
    """The climb from the consensus of the best climbs, or the best climb itself if they agree.

    If the signal is weak, every start ends in a different place, and the largest objective is partly due to noise.
    What the best climbs have in common is less affected by noise. Samples are clustered by how often these climbs put
    them in the same cluster: k-means on the indicator columns of the climbs, whose Gram matrix counts exactly this. The
    climb from there ends in a local optimum like any other. It is returned only if it is at least as good as the worst
    of the climbs that voted.
    """
    best = pool.best
    ranked = sorted(pool.fresh, key=lambda found: -found.merit)
    voters = [found for found in ranked if found.merit >= NEAR_BEST * pool.merit(best)]
    voters = voters[: max(1, round(VOTERS * len(ranked)))]
    # If this many starts agree on the best, it is no coincidence, however many other starts there are.
    if pool.hits >= min(len(voters), TINY_HITS) or len(voters) < 2:
        return best
    k = problem.n_clusters
    votes = np.concatenate([found.labels[:, None] == np.arange(k) for found in voters], axis=1).astype(np.float64)
    rows = Rows(votes, np.ones(votes.shape[1]))
    agreed = kmeans(rows, k, rng, n_starts=RUNS)
    found = climb(problem, agreed, best.subset.size, rng)
    return found if pool.merit(found) >= voters[-1].merit else best
