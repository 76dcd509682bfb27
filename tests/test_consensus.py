"""What the climbs agree on: an optimum like any other, and the best itself where there is nothing to settle."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._search.climb import climb
from sparsecluster._search.consensus import NEAR_BEST, VOTERS, consensus
from sparsecluster._search.search import Pool, search_size
from tests import naive

K, SIZE = 3, 5


@pytest.fixture(params=range(6))
def case(problem_of, request):
    """Noise alone: every start ends elsewhere. The problem, the climbs from the best down, and random numbers."""
    rng = np.random.default_rng(request.param)
    problem = problem_of(rng.standard_normal((25, 15)), K)
    climbs = [climb(problem, naive.random_labels(rng, 25, K), SIZE, rng) for _ in range(30)]
    return problem, sorted(climbs, key=lambda found: -found.objective), rng


def second_best(climbs):
    """The best of those that are not as good as the best."""
    return next(found for found in climbs if found.objective < 0.999 * climbs[0].objective)


def renamed(found, rng):
    return found._replace(labels=rng.permutation(K).astype(np.int32)[found.labels])


def pool_of(fresh, better=None):
    """A pool of fresh climbs, and one climb that is not fresh."""
    pool = Pool()
    for found in fresh:
        pool.add(found, fresh=True)
    if better is not None:
        pool.add(better)
    return pool


def same_grouping(first, second):
    together = [labels[:, None] == labels[None, :] for labels in (first, second)]
    return np.array_equal(*together)


def test_where_all_climbs_are_equal_it_is_the_best(case):
    problem, (best, *_), rng = case
    assert consensus(problem, pool_of([best] * 10), rng) is best
    assert consensus(problem, pool_of([best]), rng) is best
    assert consensus(problem, pool_of([], best), rng) is best


def test_it_is_a_local_optimum(case):
    problem, climbs, rng = case
    found = consensus(problem, pool_of(climbs), rng)
    table = problem.features.source.values
    assert found.objective == pytest.approx(naive.objective(table, found.labels, SIZE))

    def value(labels):
        return naive.scores(table[:, found.subset], labels).sum()

    assert naive.best_after_one_move(value, found.labels, K) <= value(found.labels) + 1e-8


def test_it_is_never_worse_than_the_worst_voter(case):
    problem, climbs, rng = case
    found = consensus(problem, pool_of(climbs), rng)
    worst_voter = climbs[round(VOTERS * len(climbs)) - 1].objective
    assert found.objective >= max(worst_voter, NEAR_BEST * climbs[0].objective)


def test_an_agreement_that_leads_lower_than_its_voters_is_not_taken(case):
    problem, (best, *_, worst), rng = case
    # Labels of the worst climb under the value of a good one: climbing from them does not get there.
    voters = [worst._replace(objective=0.99 * best.objective)] * 10
    assert consensus(problem, pool_of(voters, best), rng) is best


def test_it_is_not_always_the_best(problem_of):
    """Otherwise there would be no need for it."""
    lost = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = problem_of(rng.standard_normal((40, 30)), K)
        pool = search_size(problem, 10, rng, init="random", n_init=30)
        lost.append(1 - consensus(problem, pool, rng).objective / pool.best.objective)
    assert max(lost) > 0.001


def test_climbs_that_differ_in_names_alone_agree(case):
    """A better climb that no fresh start found has no vote; the fresh ones all say the same."""
    problem, climbs, rng = case
    best, second = climbs[0], second_best(climbs)
    assert second.objective > NEAR_BEST * best.objective
    assert not same_grouping(second.labels, best.labels)
    fresh = [renamed(second, rng) for _ in range(10)]
    found = consensus(problem, pool_of(fresh, best), rng)
    assert same_grouping(found.labels, second.labels)
    np.testing.assert_array_equal(found.subset, second.subset)


def test_the_answer_is_a_climb_from_what_is_shared(case):
    """Voters that agree on most samples and differ on one: the majority wins."""
    problem, climbs, rng = case
    best, second = climbs[0], second_best(climbs)
    off = second.labels.copy()
    crowded = np.flatnonzero(np.bincount(off)[off] > 1)[0]
    off[crowded] = (off[crowded] + 1) % K
    voters = [renamed(second, rng) for _ in range(8)] + [second._replace(labels=off)]
    found = consensus(problem, pool_of(voters * 4, best), rng)
    assert same_grouping(found.labels, climb(problem, second.labels, SIZE, rng).labels)
