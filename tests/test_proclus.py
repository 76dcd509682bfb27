"""The algorithm of PROCLUS: candidates, features around medoids, assignment, and the replacement of bad medoids."""

from itertools import combinations

import numpy as np
import pytest

from sparsecluster._kernels.segmental import deviations_within, distances_from, mean_deviations, segmental_distances
from sparsecluster.methods import _projected
from sparsecluster.methods._projected import (
    allocated,
    bad_medoids,
    candidates_of,
    climb,
    distances_to,
    information,
    listed,
    nearest_of,
    objective_of,
    project,
    refined,
    standing_out,
    values_to_compare,
)
from sparsecluster.methods._result import NoClustersError
from tests import naive, naive_projected
from tests.helpers.common import refuses
from tests.helpers.methods import HARD
from tests.helpers.projected import OWN, TRUTH, X


def masks(rng, k, p):
    """Random features of k clusters, at least one of each."""
    own = rng.random((k, p)) < 0.5
    own[np.arange(k), rng.integers(p, size=k)] = True
    return own


def all_candidates(table, k, seed=0, factor=3):
    return candidates_of(table, k, len(table), factor * k, np.random.default_rng(seed))


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("whole", [False, True])
def test_kernels_agree_with_their_definitions(whole):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table, k = naive.random_table(rng, 20, 6, whole), 3
        labels, own = naive.random_labels(rng, 20, k), masks(rng, k, 6)
        chosen = [np.flatnonzero(mask).tolist() for mask in own]
        centers, part = table[:k], rng.permutation(20)[:7]
        far = [naive_projected.segmental(x, centers[0], range(6)) for x in table]
        np.testing.assert_allclose(distances_from(table, centers[0]), far, rtol=1e-13)
        mean = np.abs(table[part] - centers[1]).mean(axis=0)
        np.testing.assert_allclose(mean_deviations(table, part, centers[1]), mean, rtol=1e-13)
        apart = [[naive_projected.segmental(x, centers[c], chosen[c]) for c in range(k)] for x in table]
        np.testing.assert_allclose(segmental_distances(table, centers, *listed(own)), apart, rtol=1e-13)
        parts = [table[labels == c][:, chosen[c]] for c in range(k)]
        within = np.concatenate([np.abs(each - each.mean(axis=0)).mean(axis=0) for each in parts])
        np.testing.assert_allclose(deviations_within(table, labels, *listed(own)), within, rtol=1e-12, atol=1e-14)
        expected = naive_projected.projected_objective(table, labels, chosen)
        assert objective_of(table, labels, own) == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- candidates


def test_each_candidate_is_the_farthest_from_those_before():
    found = all_candidates(X, 2)
    far = np.abs(X[:, None] - X).mean(axis=2)
    np.testing.assert_allclose(found.far, far[found.places])
    for count in range(1, 6):
        nearest = far[found.places[:count]].min(axis=0)
        assert nearest[found.places[count]] == pytest.approx(nearest.max())


def test_candidates_come_from_the_random_sample():
    for seed in range(5):
        found = candidates_of(X, 2, 10, 6, np.random.default_rng(seed))
        assert found.places.size == 6
        assert set(found.places) <= set(np.random.default_rng(seed).permutation(50)[:10])


@pytest.mark.parametrize("seed", range(5))
def test_candidates_differ_however_many_copies_there_are(seed):
    table = np.repeat(X[:4], [200, 1, 1, 1], axis=0)
    found = candidates_of(table, 3, 9, 9, np.random.default_rng(seed))
    assert 3 <= found.places.size <= 4
    assert len({tuple(row) for row in table[found.places]}) == found.places.size


def test_samples_that_are_all_alike_have_no_medoids():
    with refuses("Only 2 samples differ", "3 clusters", "fewer clusters", error=NoClustersError):
        all_candidates(np.repeat(X[:2], 5, axis=0), 3)


# ---------------------------------------------------------------- features of medoids


@pytest.mark.parametrize("k", [2, 3, 5])
def test_deviations_around_medoids_are_those_of_the_definition(k):
    for seed in range(5):
        found = all_candidates(HARD, k, seed)
        medoids = np.random.default_rng(seed).permutation(found.places.size)[:k]
        expected = naive_projected.deviations_around(HARD, found.places[medoids].tolist())
        for _ in range(2):  # The second time, they are known.
            np.testing.assert_allclose(found.deviations(medoids), expected, rtol=1e-12)
        assert (found.deviations(medoids) > 0).all()


def test_deviations_are_compared_with_the_others_of_the_same_medoid():
    deviations = np.random.default_rng(0).random((3, 7))
    z = standing_out(deviations)
    np.testing.assert_allclose(z.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(z.std(axis=1, ddof=1), 1)
    np.testing.assert_allclose(standing_out(deviations * [[1.0], [5.0], [1e-9]]), z)


def test_where_all_deviations_are_equal_none_stands_out(strict):
    assert standing_out(np.full((2, 5), 0.3)).tolist() == np.zeros((2, 5)).tolist()
    assert standing_out(np.zeros((2, 5))).tolist() == np.zeros((2, 5)).tolist()
    assert standing_out(np.array([[0.3], [0.4]])).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("total", range(4, 9))
def test_no_other_features_have_a_smaller_sum(total):
    pairs = [(c, a) for c in range(2) for a in range(4)]
    for seed in range(10):
        z = np.random.default_rng(seed).normal(size=(2, 4))
        sums = [
            sum(z[each] for each in chosen)
            for chosen in combinations(pairs, total)
            if min(sum(c == own for c, _ in chosen) for own in range(2)) >= 2
        ]
        own = allocated(z, total)
        assert own.sum() == total
        assert own.sum(axis=1).min() >= 2
        assert z[own].sum() == pytest.approx(min(sums))


def test_of_one_feature_every_cluster_has_it():
    assert allocated(np.zeros((3, 1)), 3).all()


# ---------------------------------------------------------------- assignment


@pytest.mark.parametrize("k", [2, 4, 6])
def test_medoids_stay_in_their_clusters_and_copies_together_whatever_the_features(k):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        # Many samples are equal in the features of a cluster.
        table = rng.integers(0, 2, (40, 5)).astype(float)
        found = all_candidates(table, k, seed)
        medoids, own = np.arange(k), masks(rng, k, 5)
        labels = nearest_of(distances_to(table, table[found.places[:k]], own), found.far[medoids].T)
        np.testing.assert_array_equal(labels[found.places[:k]], medoids)
        for row in np.unique(table, axis=0):
            assert np.unique(labels[(table == row).all(axis=1)]).size == 1


def test_samples_belong_to_the_smallest_segmental_distance():
    found = all_candidates(HARD, 3)
    solution, apart = project(found, np.arange(3), found.deviations(np.arange(3)), 12)
    medoids, chosen = HARD[found.places[:3]], [np.flatnonzero(mask) for mask in solution.own]
    expected = [[naive_projected.segmental(x, medoids[c], chosen[c]) for c in range(3)] for x in HARD]
    np.testing.assert_allclose(apart, expected)
    np.testing.assert_array_equal(solution.labels, np.argmin(expected, axis=1))
    expected = naive_projected.projected_objective(HARD, solution.labels, chosen)
    assert solution.objective == pytest.approx(expected)


# ---------------------------------------------------------------- the replacement of medoids


def test_bad_medoids_are_those_of_the_smallest_and_of_small_clusters():
    assert bad_medoids(np.array([50, 46, 4]), 0.1).tolist() == [False, False, True]
    assert bad_medoids(np.array([94, 3, 3]), 0.1).tolist() == [False, True, True]
    assert bad_medoids(np.array([94, 3, 3]), 0.0).tolist() == [False, True, False]
    assert bad_medoids(np.array([40, 30, 30]), 0.95).tolist() == [False, True, True]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_set_of_medoids_that_is_kept_raises_the_objective(k):
    lengths = []
    for seed in range(10):
        found = climb(all_candidates(HARD, k, seed), k, 5 * k, 20, 0.1, np.random.default_rng(seed))
        assert (np.diff(found.objectives) < 0).all()
        assert found.n_tries >= 20 + len(found.objectives) - 1
        lengths.append(len(found.objectives))
    assert max(lengths) > 2


@pytest.mark.parametrize("seed", range(5))
def test_bad_medoids_of_the_best_set_are_replaced_and_the_best_set_is_refined(monkeypatch, seed):
    tried = []

    def watched(*given):
        tried.append(project(*given)[0])
        return project(*given)

    monkeypatch.setattr(_projected, "project", watched)
    climb(all_candidates(HARD, 5, seed), 5, 20, 20, 0.1, np.random.default_rng(seed))
    best, n_not_better = tried[0], 0
    for each in tried[1:-1]:
        bad = bad_medoids(np.bincount(best.labels), 0.1)
        np.testing.assert_array_equal(each.medoids[~bad], best.medoids[~bad])
        assert not set(each.medoids[bad]) & set(best.medoids)
        n_not_better += each.objective >= best.objective
        best = min(best, each, key=lambda one: one.objective)
    assert n_not_better > 1
    np.testing.assert_array_equal(tried[-1].medoids, best.medoids)


def test_the_best_of_many_runs_is_the_best_of_all_sets_of_medoids():
    candidates = all_candidates(HARD, 3, factor=2)
    every = [
        project(candidates, np.array(medoids), candidates.deviations(np.array(medoids)), 12)[0].objective
        for medoids in combinations(range(6), 3)
    ]
    runs = [climb(candidates, 3, 12, 20, 0.1, np.random.default_rng(seed)).objectives[-1] for seed in range(20)]
    assert min(runs) == pytest.approx(min(every), rel=1e-12)
    assert min(every) < np.median(runs)


def test_a_cluster_of_its_medoid_alone_keeps_the_features_around_it(strict):
    table = np.vstack([X, np.full(8, 300.0)])
    candidates = all_candidates(table, 3)
    medoids = np.concatenate([np.flatnonzero(candidates.places == 50), np.flatnonzero(candidates.places != 50)[:2]])
    best, _ = project(candidates, medoids, candidates.deviations(medoids), 9)
    assert np.bincount(best.labels)[0] == 1
    again, outside = refined(candidates, best, 9)
    np.testing.assert_array_equal(again.own[0], allocated(standing_out(candidates.deviations(medoids)), 9)[0])
    assert not outside[50]


def test_samples_outside_are_farther_from_each_medoid_than_the_nearest_other_medoid():
    candidates = all_candidates(HARD, 3, seed=1)
    found = climb(candidates, 3, 9, 20, 0.1, np.random.default_rng(0))
    chosen = [np.flatnonzero(mask) for mask in found.found.own]
    rows = HARD[found.medoids]
    reach = [min(naive_projected.segmental(rows[c], rows[d], chosen[c]) for d in range(3) if d != c) for c in range(3)]
    expected = [all(naive_projected.segmental(x, rows[c], chosen[c]) > reach[c] for c in range(3)) for x in HARD]
    np.testing.assert_array_equal(found.outside, expected)
    assert not found.outside[found.medoids].any()
    assert 0 < found.outside.sum() < 45


# ---------------------------------------------------------------- the number of features


def test_narrow_features_add_to_the_criterion_and_others_take_from_it():
    table = (X - X.mean(axis=0)) / X.std(axis=0)
    labels, typical = TRUTH.astype(np.int32), np.abs(table).mean(axis=0)
    right = information(table, labels, OWN, typical)
    for c, a in np.ndindex(OWN.shape):
        other = OWN.copy()
        other[c, a] = not OWN[c, a]
        assert information(table, labels, other, typical) < right


def test_values_are_whole_numbers_from_two_to_all():
    assert values_to_compare(1).tolist() == [1]
    assert values_to_compare(2).tolist() == [2]
    assert values_to_compare(6).tolist() == [2, 3, 4, 5, 6]
    for p in (30, 1000, 20_000):
        values = values_to_compare(p)
        assert (values[0], values[-1]) == (2, p)
        assert 8 < values.size <= 12
