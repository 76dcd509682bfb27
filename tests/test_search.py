"""Many climbs find what there is to find: on tiny tables, the best of all groupings and all subsets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sparsecluster._kernels.select import largest
from sparsecluster._search.climb import Climb, climb, labels_at
from sparsecluster._search.search import (
    FRESH,
    MOST_BATCHES,
    MOST_LABELS,
    ROUNDS,
    Envelope,
    Pool,
    refine,
    search_size,
    search_sizes,
    start_batches,
)
from sparsecluster._search.starts import STARTS, kick, ladder
from sparsecluster._utils.parallel import Workers
from tests import naive


def as_climb(problem, labels, size=1):
    """A labeling that nobody climbed from."""
    scores = problem.scores(labels)
    subset = largest(scores, size)
    return Climb(labels, scores, subset, float(scores[subset].sum()), ())


def running_sums(scores):
    return np.cumsum(np.sort(scores)[::-1])


# ---------------------------------------------------------------- starts


@pytest.mark.parametrize(("largest", "smallest"), [(11, 1), (12, 12), (100, 4), (1000, 1), (1000, 37)])
def test_a_ladder_goes_down_to_its_end_by_steps_of_about_one_ratio(largest, smallest):
    sizes = ladder(largest, smallest)
    assert sizes[0] == largest
    assert sizes[-1] == smallest
    assert all(after < before for before, after in pairwise(sizes))
    # Half, up to rounding; the last step may be smaller.
    assert all(abs(before / 2 - after) <= 0.5 for before, after in pairwise(sizes[:-1]))
    assert len(sizes) <= 2 + np.log2(sizes[0] / smallest)


def test_a_ladder_over_few_sizes_has_them_all():
    assert [ladder(1), ladder(3, 3), ladder(10, 7)] == [[1], [3], [10, 9, 8, 7]]


TABLES = {
    "gaussian": lambda rng: rng.standard_normal((12, 7)),
    "zeros and ones": lambda rng: rng.permuted(np.arange(84).reshape(12, 7) % 2.0, axis=0),
    "equal rows": lambda rng: np.repeat(rng.standard_normal((4, 7)), 3, axis=0),
}


@pytest.mark.parametrize("k", [2, 3, 4, 12])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", STARTS)
def test_every_start_uses_all_clusters(problem_of, kind, table, k):
    rng = np.random.default_rng(0)
    problem = problem_of(TABLES[table](rng), k)
    for size in (1, 2, 4, 7):
        labels = labels_at(problem, STARTS[kind](problem, size, rng), rng)
        assert labels.dtype == np.int32
        assert set(labels) == set(range(k))


@pytest.mark.parametrize("table", TABLES)
def test_a_kick_leaves_with_all_clusters(problem_of, table):
    rng = np.random.default_rng(0)
    problem = problem_of(TABLES[table](rng), 3)
    for size in (1, 2, 7):
        found = climb(problem, naive.random_labels(rng, 12, 3), size, rng)
        kicked = [labels_at(problem, kick(found, rng), rng) for _ in range(10)]
        assert all(set(labels) == {0, 1, 2} for labels in kicked)


def test_the_coordinate_start_clusters_the_features_that_are_best_alone(problem_of):
    table = np.random.default_rng(0).standard_normal((15, 6))
    problem = problem_of(table, 3)
    alone = np.array([naive.univariate_over_splits(x, 3) / naive.total(x) for x in table.T])
    best = np.sort(np.argsort(alone)[:4])
    np.testing.assert_array_equal(STARTS["coordinate"](problem, 4, None).subset, best)
    assert naive.scores(table, STARTS["coordinate"](problem, 1, None))[np.argmin(alone)] == pytest.approx(
        1 - alone.min()
    )


# ---------------------------------------------------------------- one size


@pytest.mark.parametrize("init", ["auto", *STARTS])
@pytest.mark.parametrize("n_init", [1, 2, 7])
def test_as_many_fresh_starts_as_asked_for(problem_of, init, n_init):
    problem = problem_of(np.random.default_rng(0).standard_normal((15, 8)), 3)
    pool = search_size(problem, 3, np.random.default_rng(0), init=init, n_init=n_init)
    assert len(pool.fresh) == n_init
    assert pool.best.subset.size == 3
    assert pool.best.objective == max(ending.merit for ending in pool.fresh)


def test_auto_takes_each_kind_first_and_random_ones_after():
    kinds = [start for batch in start_batches("auto", "auto") for start in batch]
    assert kinds[:2] == [STARTS["coordinate"], STARTS["shrinking"]]
    assert set(kinds[2:]) == {STARTS["random"]}
    assert start_batches("random", 3) == [[STARTS["random"]] * 3]
    assert start_batches("auto", 0) == []


def test_hits_are_the_fresh_starts_that_found_the_best(problem_of):
    problem = problem_of(np.random.default_rng(0).standard_normal((12, 6)), 2)
    climbs = [as_climb(problem, naive.random_labels(np.random.default_rng(i), 12, 2), 3) for i in range(4)]
    climbs.sort(key=lambda found: found.objective)
    pool = Pool()
    for found in climbs:
        pool.add(found, fresh=True)
        assert pool.best is found
        assert pool.hits == 1
    for found in (climbs[3], climbs[0], climbs[3]):
        pool.add(found, fresh=True)
    assert pool.best is climbs[3]
    assert pool.hits == 3
    np.testing.assert_array_equal([ending.merit for ending in pool.fresh[:4]], [c.objective for c in climbs])


def test_climbs_that_are_not_fresh_may_be_best_but_are_no_hits(problem_of):
    problem = problem_of(np.random.default_rng(0).standard_normal((12, 6)), 2)
    first, second = (as_climb(problem, naive.random_labels(np.random.default_rng(i), 12, 2), 3) for i in range(2))
    worse, better = sorted((first, second), key=lambda found: found.objective)
    pool = Pool()
    pool.add(worse, fresh=True)
    pool.add(better)
    assert pool.best is better
    assert pool.hits == 0
    assert len(pool.fresh) == 1


def test_auto_stops_where_starts_agree_and_goes_on_where_they_do_not(problem_of):
    rng = np.random.default_rng(0)
    clear = np.repeat(rng.standard_normal((3, 40)) * 50, 10, axis=0) + rng.standard_normal((30, 40))
    assert len(search_size(problem_of(clear, 3), 40, rng).fresh) == FRESH
    unclear = search_size(problem_of(rng.standard_normal((60, 40)), 5), 10, rng)
    assert len(unclear.fresh) > FRESH


def test_auto_asks_more_starts_to_agree_on_tiny_tables(problem_of):
    rng = np.random.default_rng(0)
    clear = np.repeat(rng.standard_normal((3, 5)) * 50, 10, axis=0) + rng.standard_normal((30, 5))
    assert FRESH < len(search_size(problem_of(clear, 3), 5, rng).fresh) < FRESH * MOST_BATCHES


@pytest.mark.parametrize("n_init", [0, 1, "auto"])
def test_known_labels_are_never_made_worse(problem_of, n_init):
    rng = np.random.default_rng(0)
    for size in range(1, 8):
        problem = problem_of(rng.standard_normal((20, 7)), 4)
        known = [naive.random_labels(rng, 20, 4) for _ in range(3)]
        pool = search_size(problem, size, rng, known=known, n_init=n_init)
        assert pool.best.objective >= max(running_sums(problem.scores(labels))[size - 1] for labels in known)
        assert pool.best.objective >= max(climb(problem, labels, size, rng).objective for labels in known)


@pytest.mark.parametrize("n_init", [6, "auto"])
def test_two_threads_find_what_one_finds(problem_of, n_init):
    problem = problem_of(np.random.default_rng(0).standard_normal((30, 20)), 3)
    pools = [search_size(problem, 5, np.random.default_rng(0), n_init=n_init, workers=Workers(j)) for j in (1, 2)]
    for one, two in zip(*(pool.fresh for pool in pools), strict=True):
        np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(pools[0].best.labels, pools[1].best.labels)
    curves = [search_sizes(problem, np.random.default_rng(0), workers=Workers(j)).objective for j in (1, 2)]
    np.testing.assert_array_equal(*curves)


# ---------------------------------------------------------------- every size


def test_the_envelope_is_the_largest_running_sum_of_its_pool(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.standard_normal((25, 12)), 3)
    pool = [as_climb(problem, naive.random_labels(rng, 25, 3)) for _ in range(40)]
    envelope = Envelope.of_none(12)
    for count, found in enumerate(pool, 1):
        before = envelope.objective.copy()
        gain = envelope.add([found])
        best = np.max([running_sums(each.scores) for each in pool[:count]], axis=0)
        np.testing.assert_allclose(envelope.objective, best, rtol=1e-8)
        assert gain == pytest.approx(np.max(1 - before / envelope.objective))
        reached = [running_sums(problem.scores(envelope.labels(size)))[size - 1] for size in range(1, 13)]
        np.testing.assert_allclose(reached, best, rtol=1e-8)


def test_an_early_owner_is_kept_while_many_come_and_go():
    """The first is best at size one for good; every later one outdoes the one before it at all other sizes."""
    envelope = Envelope.of_none(4)
    count = 3 * MOST_LABELS
    for number in range(count):
        scores = np.array([1.0, 0.0, 0.0, 0.0]) if number == 0 else np.full(4, 0.5 + 0.4 * number / count)
        envelope.add([Climb(np.array([number]), scores, np.array([0]), 1.0, ())])
    assert [envelope.labels(size)[0] for size in range(1, 5)] == [0] + [count - 1] * 3
    assert envelope.stretches() == [(1, 1), (2, 4)]


def test_merging_envelopes_is_adding_their_pools(problem_of):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.standard_normal((25, 12)), 3)
    for _ in range(20):
        merged, added = Envelope.of_none(12), Envelope.of_none(12)
        for _ in range(3):
            part = Envelope.of_none(12)
            found = [as_climb(problem, naive.random_labels(rng, 25, 3)) for _ in range(5)]
            part.add(found)
            for each in found:
                added.add([each])
            before = merged.objective.copy()
            gain = merged.merge(part)
            assert gain == pytest.approx(np.max(1 - before / merged.objective))
            np.testing.assert_array_equal(merged.objective, added.objective)
            for size in range(1, 13):
                np.testing.assert_array_equal(merged.labels(size), added.labels(size))


def test_stretches_are_runs_of_one_owner_that_cover_all_sizes(problem_of):
    rng = np.random.default_rng(1)
    envelope = search_sizes(problem_of(rng.standard_normal((30, 20)), 3), rng)
    stretches = envelope.stretches()
    assert len(stretches) > 2
    assert [size for first, last in stretches for size in range(first, last + 1)] == list(range(1, 21))
    for first, last in stretches:
        assert all(envelope.labels(size) is envelope.labels(first) for size in range(first, last + 1))
    owners = [envelope.labels(first) for first, _ in stretches]
    assert all(before is not after for before, after in pairwise(owners))


@pytest.mark.parametrize("init", ROUNDS)
def test_size_one_is_exact(problem_of, init):
    rng = np.random.default_rng(0)
    for k in (2, 3, 4):
        table = rng.standard_normal((14, 5))
        envelope = search_sizes(problem_of(table, k), rng, init=init, n_init=1)
        best = max(1 - naive.univariate_over_splits(x, k) / naive.total(x) for x in table.T)
        assert envelope.objective[0] == pytest.approx(best, rel=1e-12)


def test_labels_reach_the_objective_of_every_size(problem_of):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((20, 9))
    envelope = search_sizes(problem_of(table, 3), rng)
    reached = [naive.objective(table, envelope.labels(size), size) for size in range(1, 10)]
    np.testing.assert_allclose(envelope.objective, reached, rtol=1e-9)


def test_known_labels_are_never_made_worse_at_any_size(problem_of):
    rng = np.random.default_rng(0)
    for _ in range(10):
        table = rng.standard_normal((20, 9))
        problem = problem_of(table, 3)
        known = search_size(problem, int(rng.integers(1, 10)), rng, n_init=5).best.labels
        envelope = search_sizes(problem, rng, known=[known], n_init=0)
        assert np.all(envelope.objective >= running_sums(problem.scores(known)) * (1 - 1e-8))


def test_refining_only_raises(problem_of):
    rng = np.random.default_rng(0)
    raised = 0
    for _ in range(5):
        problem = problem_of(rng.standard_normal((40, 50)), 3)
        envelope = search_sizes(problem, rng, n_init=1)
        before = envelope.objective.copy()
        refine(problem, envelope, rng)
        assert np.all(envelope.objective >= before)
        raised += np.any(envelope.objective > before)
    assert raised > 0


# ---------------------------------------------------------------- brute force


def tiny_cases(count=300):
    """All n in 4..8 and k in 2..n-1 in turn, p in 2..6, every size in turn; every third table of whole numbers."""
    rng = np.random.default_rng(0)
    shapes = [(n, k) for n in range(4, 9) for k in range(2, n)]
    for number in range(count):
        n, k = shapes[number % len(shapes)]
        p = int(rng.integers(2, 7))
        yield number, naive.random_table(rng, n, p, whole=number % 3 == 0), k, 1 + number % p


def report(misses, count, allowed):
    print(*misses, sep="\n")
    assert len(misses) <= allowed * count, f"{len(misses)} of {count} missed"


def test_one_size_finds_the_best_of_all_groupings_and_subsets(problem_of):
    misses = []
    for number, table, k, size in tiny_cases():
        best = naive.optimum(table, k, size)
        pool = search_size(problem_of(table, k), size, np.random.default_rng(number))
        assert pool.best.objective <= best + 1e-9
        if pool.best.objective < best - 1e-9:
            misses.append(f"case {number}: n, p = {table.shape}, {k=}, {size=}: {pool.best.objective} of {best}")
    report(misses, 300, 0.01)


def test_all_sizes_find_the_best_of_all_groupings_and_subsets(problem_of):
    """Nearly: paths only prepare the choice of a size, which is then searched as above."""
    misses, count = [], 0
    for number, table, k, _ in tiny_cases():
        envelope = search_sizes(problem_of(table, k), np.random.default_rng(number))
        for size, found in enumerate(envelope.objective, 1):
            best = naive.optimum(table, k, size)
            count += 1
            assert found <= best + 1e-9
            if found < best - 1e-9:
                misses.append(f"case {number}: n, p = {table.shape}, {k=}, {size=}: {found} of {best}")
    report(misses, count, 0.05)
