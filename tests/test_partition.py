"""Clusters of equal size: swaps that keep them so, and nothing better near by."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._features.features import dissimilarity
from sparsecluster._kernels.partition import improve_balanced
from tests import naive
from tests.helpers.clusterers import PASSES, OnlyPairs, random_dissimilarities, run
from tests.helpers.common import same_groups

# ---------------------------------------------------------------- partition


def is_balanced(labels, k):
    return set(np.bincount(labels, minlength=k)) <= {len(labels) // k, -(-len(labels) // k)}


def shifts(labels, k, lead, samples):
    """Labelings in which one sample goes to a cluster with at least `lead` samples fewer."""
    sizes = np.bincount(labels, minlength=k)
    for i in samples:
        for c in range(k):
            if sizes[labels[i]] - sizes[c] >= lead:
                yield np.where(np.arange(len(labels)) == i, c, labels)


def swaps(labels, samples):
    """Labelings in which one sample changes places with one of another cluster."""
    for i in samples:
        for j in range(len(labels)):
            if labels[i] != labels[j]:
                swapped = labels.copy()
                swapped[[i, j]] = labels[[j, i]]
                yield swapped


def naive_balanced(similarity, labels, k):
    """Twin of the kernel: the cheapest moves to clusters with fewer samples, then the best step of each sample."""

    def best(tries):
        return max(tries, key=lambda each: naive.similarity_objective(similarity, each), default=labels)

    def value(each):
        return naive.similarity_objective(similarity, each)

    everyone = range(len(labels))
    while not is_balanced(labels, k):
        labels = best(shifts(labels, k, 2, everyone))
    before = None
    while before is None or not np.array_equal(labels, before):
        before = labels
        for i in everyone:
            found = best([*shifts(labels, k, 1, [i]), *swaps(labels, [i])])
            if value(found) > value(labels) + 1e-11:
                labels = found
    return labels


def similarities(rng, n):
    """A Gram matrix, and what stands for dissimilarities without coordinates."""
    table = rng.standard_normal((n, 3))
    yield table @ table.T
    yield -random_dissimilarities(rng, 1, n)[0] / 2


@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 5), (9, 3), (11, 3), (13, 2), (14, 4)])
def test_evening_out_and_swaps_are_those_of_the_twin(n, k):
    rng = np.random.default_rng(n)
    for _ in range(8):
        for similarity in similarities(rng, n):
            for start in (naive.random_labels(rng, n, k), np.minimum(np.arange(n), k - 1).astype(np.int32)):
                labels = start.copy()
                value = improve_balanced(similarity, labels, k, PASSES)
                np.testing.assert_array_equal(labels, naive_balanced(similarity, start, k))
                assert value == pytest.approx(naive.similarity_objective(similarity, labels), abs=1e-12)


@pytest.mark.parametrize("whole", [False, True])
def test_sizes_are_balanced_and_no_swap_improves(features_of, whole):
    rng = np.random.default_rng(0)
    for n, k in ((12, 3), (20, 6), (23, 4), (17, 2)):
        features = features_of(naive.random_table(rng, n, 3, whole))
        similarity = features.pairs(np.arange(3)).similarity
        for warm in (None, naive.random_labels(rng, n, k)):
            labels = run("partition", features, k, warm=warm)
            assert is_balanced(labels, k)
            others = [*swaps(labels, range(n)), *shifts(labels, k, 1, range(n))]
            best = max(naive.similarity_objective(similarity, each) for each in others)
            assert best <= naive.similarity_objective(similarity, labels) + 1e-9


def test_balanced_warm_labels_only_get_better_and_an_optimum_stays():
    rng = np.random.default_rng(0)
    for n, k in ((12, 3), (23, 4)):
        features = OnlyPairs(random_dissimilarities(rng, 2, n))
        similarity = features.pairs(np.arange(2)).similarity
        warm = rng.permutation(np.arange(n) % k).astype(np.int32)
        labels = run("partition", features, k, warm=warm)
        assert naive.similarity_objective(similarity, labels) > naive.similarity_objective(similarity, warm)
        for seed in (1, 2):
            np.testing.assert_array_equal(run("partition", features, k, seed, warm=labels), labels)


@pytest.mark.parametrize(("n", "k"), [(8, 2), (9, 3), (8, 3), (7, 3), (9, 4)])
def test_the_partition_is_the_best_there_is_where_all_can_be_tried(n, k):
    rng = np.random.default_rng(n)
    balanced = [labels for labels in naive.partitions(n, k) if is_balanced(labels, k)]
    for similarity in similarities(rng, n):
        features = OnlyPairs(dissimilarity(similarity)[None])
        similarity = features.pairs(np.arange(1)).similarity
        best = max(naive.similarity_objective(similarity, labels) for labels in balanced)
        labels = run("partition", features, k, n_starts=50)
        assert naive.similarity_objective(similarity, labels) == pytest.approx(best)


def test_groups_of_unequal_size_are_evened_out(features_of):
    table = np.concatenate([np.zeros(15), np.full(5, 9.0)])[:, None] + np.linspace(0, 1, 20)[:, None]
    assert same_groups(run("kmeans", features_of(table), 2), np.arange(20) >= 15)
    assert same_groups(run("partition", features_of(table), 2), np.arange(20) >= 10)
