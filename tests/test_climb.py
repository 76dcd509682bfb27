"""A climb goes up, ends at an optimum of both of its steps, and says how it got there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sparsecluster._clusterers.clusterer import Clusterer
from sparsecluster._kernels.select import largest
from sparsecluster._search.climb import By, Problem, climb, climb_all
from tests import naive


class RandomLabels(Clusterer):
    """Ignores the data, so the objective goes up and down."""

    def solve(self, task):
        return naive.random_labels(task.rng, task.features.n_samples, task.n_clusters)


def starts(count, n=25, p=12, k=3, whole=False):
    """Tables with a labeling to start from and a size."""
    rng = np.random.default_rng(0)
    for number in range(count):
        yield naive.random_table(rng, n, p, whole), naive.random_labels(rng, n, k), 1 + number % p, rng


def test_the_best_subset_has_the_largest_scores_in_index_order():
    scores = np.array([0.3, 0.9, 0.1, 0.9, 0.5])
    assert [largest(scores, size).tolist() for size in (2, 3, 4)] == [[1, 3], [1, 3, 4], [0, 1, 3, 4]]
    assert largest(scores, 5).tolist() == list(range(5))
    assert largest(scores, 1).tolist() in ([1], [3])


@pytest.mark.parametrize("whole", [False, True])
def test_the_objective_rises_and_is_the_sum_of_the_largest_scores(problem_of, whole):
    for table, labels, size, rng in starts(24, whole=whole):
        found = climb(problem_of(table, 3), labels, size, rng)
        rise = np.diff([step.objective for step in found.history])
        assert np.all(rise > 0)
        assert found.history[0].objective == pytest.approx(naive.objective(table, labels, size))
        assert found.history[-1].objective == found.objective
        assert found.objective == pytest.approx(naive.objective(table, found.labels, size))
        np.testing.assert_allclose(found.scores, naive.scores(table, found.labels), atol=1e-12)


@pytest.mark.parametrize("whole", [False, True])
def test_it_ends_where_neither_step_improves(problem_of, whole):
    for table, labels, size, rng in starts(12, whole=whole):
        found = climb(problem_of(table, 3), labels, size, rng)
        assert found.subset.size == size
        left_out = np.delete(found.scores, found.subset)
        assert found.scores[found.subset].min() >= left_out.max(initial=0.0)

        def value(each, table=table, subset=found.subset):
            return naive.scores(table[:, subset], each).sum()

        assert naive.best_after_one_move(value, found.labels, 3) <= value(found.labels) + 1e-8


def test_with_all_features_it_is_the_plain_clusterer(problem_of):
    for table, labels, _, rng in starts(20):
        problem = problem_of(table, 3)
        found = climb(problem, labels, 12, rng)
        np.testing.assert_array_equal(found.subset, np.arange(12))
        np.testing.assert_array_equal(found.labels, problem.cluster(np.arange(12), rng, warm=labels))


def test_permuting_features_permutes_the_subset(problem_of):
    for table, labels, size, rng in starts(20):
        order = rng.permutation(12)
        found = climb(problem_of(table, 3), labels, size, rng)
        other = climb(problem_of(table[:, order], 3), labels, size, rng)
        np.testing.assert_array_equal(np.sort(order[other.subset]), found.subset)
        np.testing.assert_array_equal(other.labels, found.labels)


def test_permuting_samples_or_renaming_clusters_changes_no_optimum(problem_of):
    """From a local optimum there is nowhere to go, whatever the clusters are called and the samples' order."""
    for table, labels, size, rng in starts(12):
        found = climb(problem_of(table, 3), labels, size, rng)
        order, names = rng.permutation(25), rng.permutation(3).astype(np.int32)
        again = climb(problem_of(table[order], 3), names[found.labels[order]], size, rng)
        assert len(again.history) == 1
        assert again.objective == pytest.approx(found.objective, rel=1e-12)
        np.testing.assert_array_equal(again.subset, found.subset)


def test_every_pass_counts_what_it_changed(problem_of):
    """A climb stopped after t passes shows where the whole climb was then."""
    passes = 0
    for table, labels, size, rng in starts(24):
        whole = climb(problem_of(table, 3), labels, size, rng)
        parts = [climb(problem_of(table, 3, max_iter=t + 1), labels, size, rng) for t in range(len(whole.history))]
        for t, part in enumerate(parts):
            assert part.history == whole.history[: t + 1]
        for before, after in pairwise(parts):
            step = after.history[-1]
            assert step.samples_moved == np.count_nonzero(before.labels != after.labels)
            assert step.features_changed == len(set(after.subset) - set(before.subset))
            passes += 1
        np.testing.assert_array_equal(parts[-1].labels, whole.labels)
    assert passes > 20


def test_the_first_pass_is_the_start(problem_of):
    table, labels, _, rng = next(starts(1))
    found = climb(problem_of(table, 3, max_iter=1), labels, 4, rng)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.subset, largest(found.scores, 4))
    assert found.history == ((found.objective, 0, 0),)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_no_more_passes_than_allowed(problem_of, max_iter):
    lengths = [len(climb(problem_of(t, 3, max_iter=max_iter), y, s, rng).history) for t, y, s, rng in starts(12)]
    assert max(lengths) == max_iter


def test_a_clusterer_that_lowers_the_objective_ends_at_the_best_seen(features_of):
    for table, labels, size, rng in starts(30):
        seed = int(rng.integers(1000))
        found = climb(Problem(features_of(table), RandomLabels(), 3), labels, size, np.random.default_rng(seed))
        # What the stub goes on to say, up to the first time that it does not raise the objective.
        said = np.random.default_rng(seed)
        seen = [naive.objective(table, labels, size)]
        while True:
            seen.append(naive.objective(table, naive.random_labels(said, 25, 3), size))
            if seen[-1] <= seen[-2]:
                break
        assert found.objective == pytest.approx(max(seen))
        assert found.objective == pytest.approx(naive.objective(table, found.labels, size))
        assert [step.objective for step in found.history] == pytest.approx(seen[:-1])


def test_the_labels_given_are_not_changed(problem_of):
    for table, labels, size, rng in starts(5):
        before = labels.copy()
        climb(problem_of(table, 3), labels, size, rng)
        np.testing.assert_array_equal(labels, before)


def test_climbs_together_are_those_of_each_alone(problem_of):
    """Each of them from its own start, labels or features, at its own size and with its own random numbers."""
    for table, labels, _, rng in starts(8):
        begins = [By(np.sort(rng.choice(12, count, replace=False))) for count in (1, 5, 12, 7)]
        begins.insert(2, labels)
        sizes, seeds = [3, 1, 12, 6, 3], rng.integers(1000, size=5).tolist()
        for problem in (problem_of(table, 3), problem_of(table, 3, max_iter=2)):
            together = climb_all(problem, begins, sizes, [np.random.default_rng(seed) for seed in seeds])
            for start, size, seed, found in zip(begins, sizes, seeds, together, strict=True):
                alone = climb(problem, start, size, np.random.default_rng(seed))
                assert found.history == alone.history
                np.testing.assert_array_equal(found.labels, alone.labels)
                np.testing.assert_array_equal(found.subset, alone.subset)
