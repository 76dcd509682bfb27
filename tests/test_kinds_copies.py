"""Whatever kind a feature is of, climbs end at the top, copies permute it as one, and alone it is clustered best."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sparsecluster._features.alone import level_labels, level_score
from sparsecluster._search.climb import climb
from sparsecluster._search.sizes import Effort, choose_size
from tests import naive
from tests.helpers.cases import in_turn
from tests.helpers.kinds import (
    CLIMBED,
    DELTAS,
    EXACT_ALONE,
    INCOMPLETE,
    KINDS,
    SUBSETS,
    K,
    N,
    P,
    apart_of,
    make,
    some_labels,
)

# ---------------------------------------------------------------- climbs


@in_turn(kind=CLIMBED, subset=SUBSETS)
def test_a_clusterer_leaves_no_move_that_lowers_the_within(kind, subset):
    case = make(kind)
    problem = case.problem(K)
    weights = case.weights(problem.features)

    def minus_within(labels):
        return -sum(weights[j] * naive.delta_within(case.deltas[j], labels) for j in case.chosen(subset))

    warm = some_labels()
    for start in (warm, None):
        labels = problem.cluster(np.array(subset), np.random.default_rng(0), warm=start)
        assert set(labels) == set(range(K))
        assert naive.best_after_one_move(minus_within, labels, K) <= minus_within(labels) + 1e-9
        assert start is None or minus_within(labels) >= minus_within(warm) - 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_climb_says_it_reached_is_what_its_labels_explain(kind):
    case = make(kind)
    for size in (1, 3, P):
        found = climb(case.problem(K), some_labels(), size, np.random.default_rng(0))
        scores = naive.feature_scores(case.members, found.labels)
        assert found.objective == pytest.approx(np.sort(scores)[::-1][:size].sum(), rel=1e-12)
        assert found.objective >= np.sort(naive.feature_scores(case.members, some_labels()))[::-1][:size].sum() - 1e-12


# ---------------------------------------------------------------- permuted copies


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_permutes_the_samples_of_each_feature_with_all_its_members(kind):
    """By one permutation a feature, the same for every kind, that depends on nothing but the seed."""
    features = make(kind).features()
    copy = features.permuted(7)
    orders = [naive.shuffled_samples(N, a, 7) for a in range(P)]
    assert len(set(map(tuple, orders))) == P
    for a, order in enumerate(orders):
        mine, theirs = (each.seen_pairs(np.array([a])) for each in (copy, features))
        np.testing.assert_allclose(apart_of(mine[0]), apart_of(theirs[0])[np.ix_(order, order)], atol=1e-13)
        if features.has_missing:
            np.testing.assert_allclose(mine[1], theirs[1][np.ix_(order, order)], atol=1e-13)
    assert copy.has_missing == features.has_missing
    assert copy.has_rows == features.has_rows
    np.testing.assert_allclose(copy.total, features.total, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_permuted_as_a_feature_have_the_score_that_they_had(kind):
    features, labels = make(kind).features(), some_labels()
    copy = features.permuted(7)
    for a in range(P):
        before = np.empty_like(labels)
        before[naive.shuffled_samples(N, a, 7)] = labels
        assert copy.scores(labels, K)[a] == pytest.approx(features.scores(before, K)[a], abs=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_a_copy_is_permuted_once_more(kind):
    features, labels = make(kind).features(), some_labels()
    twice = features.permuted(7).permuted(8)
    for a in range(P):
        before = np.empty_like(labels)
        before[naive.shuffled_samples(N, a, 7)[naive.shuffled_samples(N, a, 8)]] = labels
        assert twice.scores(labels, K)[a] == pytest.approx(features.scores(before, K)[a], abs=1e-13)


@pytest.mark.parametrize(
    ("kind", "p"),
    [*((kind, P) for kind in KINDS), *((kind, 1) for kind in KINDS), ("mixed", 4)],
)
def test_a_seed_gives_one_copy_and_the_original_stays_as_it_was(kind, p):
    features, labels = make(kind, p=p).features(), some_labels()
    before = features.scores(labels, K)
    first, again, other = (features.permuted(seed).scores(labels, K) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    np.testing.assert_array_equal(features.scores(labels, K), before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_keeps_what_each_feature_gives_alone(kind):
    features = make(kind).features()
    best = features.univariate(K)
    assert features.permuted(7).univariate(K) is best


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_clustering_of_a_feature_alone_moves_with_it(kind):
    features = make(kind).features()
    for copy, a in product((features.permuted(7), features.permuted(7).permuted(8)), range(P)):
        assert copy.scores(copy.univariate_labels(a, K), K)[a] == pytest.approx(features.univariate(K)[a], rel=1e-12)


@pytest.mark.parametrize("kind", EXACT_ALONE)
def test_one_feature_alone_has_no_gap_since_copies_have_it_too(kind):
    """Elsewhere nearly none: a climb on the data or on a copy may find a little more than the start that both share."""
    for seed in range(3):
        problem = make(kind, n=20, seed=seed).problem(K)
        curve = choose_size(problem, np.random.default_rng(seed), effort=Effort(n_init=1, n_permutations=3)).curve
        assert curve.score[0] == pytest.approx(0.0, abs=1e-12)


# ---------------------------------------------------------------- each feature alone


@in_turn(kind=KINDS, k=[2, 3, 4])
def test_the_score_of_a_feature_alone_is_reached_and_not_exceeded(kind, k):
    """By any clustering at all where it is exact; elsewhere by hill climbs, which now and then miss it."""
    missed = []
    for seed in range(5):
        case = make(kind, n=7, p=4, seed=seed)
        features = case.features()
        found = features.univariate(k)
        best = naive.all_feature_scores(case.members, k).max(axis=0)
        for a in range(4):
            labels = features.univariate_labels(a, k)
            assert set(labels) == set(range(k))
            assert naive.feature_scores(case.members, labels)[a] == pytest.approx(found[a], abs=1e-12)
        assert np.all(found <= best + 1e-12)
        missed.extend(found < best - 1e-12)
    if kind in EXACT_ALONE:
        assert not any(missed)
    elif kind not in INCOMPLETE:
        assert np.mean(missed) <= 0.1


@pytest.mark.parametrize("counts", [[3, 4], [1, 6], [2, 2, 3], [4, 2, 1], [3, 1, 1, 2], [2, 1, 2, 1, 1], [1] * 7])
def test_the_commonest_levels_alone_and_the_others_together_are_best(counts):
    values = np.repeat(np.arange(len(counts)), counts) + 0.0
    delta = naive.column_delta(values, DELTAS["hamming"])
    for k in range(2, 7):
        best = naive.all_delta_scores(delta, k).max()
        assert level_score(counts, k) == pytest.approx(best, rel=1e-12)
        labels = level_labels(values, k)
        assert set(labels) == set(range(k))
        assert naive.delta_score(delta, labels) == pytest.approx(best, rel=1e-12)
