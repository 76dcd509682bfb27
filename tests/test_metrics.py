"""Agreement with the truth, against the definitions and by hand."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from sparsecluster import rand_index, symmetric_difference
from sparsecluster.metrics import adjusted_rand_index, agreement_matrix, error_rate

MEASURES = [rand_index, adjusted_rand_index, error_rate]


def by_all_pairs(one, other):
    """Both Rand indexes, by a look at every pair of samples and in exact arithmetic."""
    pairs = [(one[i] == one[j], other[i] == other[j]) for i, j in combinations(range(len(one)), 2)]
    both, first, second = (sum(map(together, pairs)) for together in (all, lambda p: p[0], lambda p: p[1]))
    chance = Fraction(int(first) * int(second), len(pairs))
    above, most = both - chance, Fraction(int(first) + int(second), 2) - chance
    return sum(a == b for a, b in pairs) / len(pairs), float(above / most) if most else 1.0


def by_all_matchings(truth, labels):
    """The least share of wrong samples over every one-to-one matching of clusters to groups."""
    groups, clusters = np.unique(truth).tolist(), np.unique(labels).tolist()
    # Clusters that find no group left are matched with groups that do not exist.
    groups += [f"none {i}" for i in range(len(clusters))]
    matchings = permutations(groups, len(clusters))
    wrong = [sum(dict(zip(clusters, m, strict=True))[c] != g for g, c in zip(truth, labels, strict=True))
             for m in matchings]  # fmt: skip
    return min(wrong) / len(truth)


@pytest.mark.parametrize("seed", range(10))
def test_the_rand_indexes_are_those_of_their_definitions(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 2 + seed, 50), rng.integers(0, 2 + seed // 2, 50)
    near = np.where(rng.random(50) < 0.2, other, one)
    for labels in (other, near):
        found = rand_index(one, labels), adjusted_rand_index(one, labels)
        assert found == pytest.approx(by_all_pairs(one, labels), rel=1e-12, abs=1e-15)


def test_rand_index_by_hand():
    # Of the pairs 01 02 03 12 13 23, both put 01 together and 03 and 13 apart; they disagree on 02, 12 and 23.
    assert rand_index([0, 0, 0, 1], [0, 0, 1, 1]) == 3 / 6
    assert rand_index([0, 0, 0], [0, 1, 2]) == 0.0


def test_rand_index_does_not_depend_on_names_or_on_which_comes_first():
    truth, labels = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2])
    value = rand_index(truth, labels)
    assert value < 1.0
    assert rand_index(labels, truth) == value
    assert rand_index(["b", "b", "a", "a", "c"], -7 * labels) == value
    assert rand_index(truth, [5, 5, 3, 3, 9]) == 1.0


def test_rand_index_of_many_samples_does_not_overflow():
    half = np.arange(200_000) % 2
    assert rand_index(half, half) == 1.0
    assert rand_index(half, np.zeros(200_000)) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("samples", [[], [3]])
def test_without_pairs_all_agree(samples):
    assert rand_index(samples, samples) == 1.0
    assert adjusted_rand_index(samples, samples) == 1.0
    assert error_rate(samples, samples) == 0.0


@pytest.mark.parametrize("measure", MEASURES)
def test_labelings_of_different_lengths_are_refused(measure):
    with pytest.raises(ValueError, match="same length; got 3 and 2"):
        measure([0, 1, 1], [0, 1])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("labels", [[], [0], [1, 1, 1, 1]])
def test_an_empty_labeling_agrees_with_no_other(measure, labels):
    with pytest.raises(ValueError, match=f"same length; got 5 and {len(labels)}"):
        measure(range(5), labels)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([0, 1, 2, 3], [3, 2, 1, 0]),
        ([0, 0, 0, 0], [0, 1, 2, 3]),
        ([0, 0, 0, 0], [0, 0, 1, 1]),
        ([0, 1, 2, 3], [0, 0, 1, 1]),
        ([0, 1], [0, 0]),
    ],
)
def test_the_rand_indexes_of_one_cluster_and_of_single_samples_are_those_of_their_definitions(one, other):
    assert (rand_index(one, other), adjusted_rand_index(one, other)) == by_all_pairs(one, other)
    assert (rand_index(other, one), adjusted_rand_index(other, one)) == by_all_pairs(other, one)


def test_adjusted_rand_index_by_hand():
    # 01, 02, 12 are together in the first, 01 and 23 in the second, 01 in both: (1 - 3 * 2 / 6) / (5 / 2 - 1) = 0.
    assert adjusted_rand_index([0, 0, 0, 1], [0, 0, 1, 1]) == 0.0


def test_adjusted_rand_index_is_zero_by_chance_where_the_rand_index_is_not():
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 3, (200, 2, 60))
    assert abs(np.mean([adjusted_rand_index(*pair) for pair in pairs])) < 0.01
    assert np.mean([rand_index(*pair) for pair in pairs]) > 0.5


def test_adjusted_rand_index_of_many_samples_does_not_overflow():
    third = np.arange(300_000) % 3
    assert adjusted_rand_index(third, third + 5) == 1.0
    assert adjusted_rand_index(third, np.arange(300_000) % 2) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(("n_groups", "n_clusters"), [(2, 2), (3, 3), (4, 4), (3, 5), (2, 4), (4, 2), (5, 3), (3, 1)])
def test_error_rate_is_the_least_over_all_matchings(n_groups, n_clusters):
    rng = np.random.default_rng(10 * n_groups + n_clusters)
    for _ in range(5):
        truth, labels = rng.integers(0, n_groups, 12), rng.integers(0, n_clusters, 12)
        assert error_rate(truth, labels) == pytest.approx(by_all_matchings(truth, labels), abs=1e-15)


def test_error_rate_by_hand():
    assert error_rate([0, 0, 1, 1], [1, 1, 0, 0]) == 0.0
    # The best matching is not that of each cluster with its own majority: both have most of group 0.
    assert error_rate([0] * 7 + [1] * 3, [0] * 4 + [1] * 3 + [0] * 1 + [1] * 2) == pytest.approx(0.4)


def test_samples_of_clusters_that_have_no_group_left_are_wrong():
    assert error_rate([0, 0, 0, 0], [0, 0, 0, 1]) == 0.25
    assert error_rate([0, 0, 1, 1], [0, 1, 2, 3]) == 0.5


def test_groups_that_have_no_cluster_left_are_wrong():
    assert error_rate([0, 0, 0, 1, 2], [7, 7, 7, 7, 7]) == pytest.approx(0.4)


def test_error_rate_does_not_depend_on_names_or_on_which_comes_first():
    truth, labels = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2])
    assert error_rate(truth, labels) == pytest.approx(0.2)
    assert error_rate(labels, truth) == error_rate(truth, labels)
    assert error_rate(["b", "b", "a", "a", "c"], -7 * labels) == error_rate(truth, labels)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], [0.5, 1.5, np.nan], [True, False, True], [b"x", b"y", b"z"], np.array([3, 1, 2], dtype=object)],
    ids=["strings", "missing", "booleans", "bytes", "objects"],
)
def test_labels_may_be_anything_that_can_be_sorted(measure, names, strict):
    codes, labels = np.array([0, 1, 1, 2, 0, 2, 1]), [0, 0, 1, 2, 1, 2, 1]
    named = np.asarray(names)[codes]
    assert measure(named, labels) == measure(np.unique(named, return_inverse=True)[1], labels)


def test_agreement_of_many_labelings_is_that_of_every_two():
    labelings = np.random.default_rng(0).integers(0, 3, (4, 20))
    matrix = agreement_matrix(list(labelings))
    assert matrix.tolist() == [[adjusted_rand_index(one, other) for other in labelings] for one in labelings]
    assert agreement_matrix([]).shape == (0, 0)


def test_symmetric_difference_by_hand():
    useful = [True, True, True, False, False]
    assert symmetric_difference(useful, useful) == 0
    assert symmetric_difference(useful, [True, True, False, False, False]) == 1
    assert symmetric_difference(useful, [False, False, False, True, True]) == 5
    assert symmetric_difference(np.array(useful), np.array([1, 1, 0, 1, 0])) == 2


def test_symmetric_difference_is_that_of_the_sets():
    rng = np.random.default_rng(0)
    for useful, chosen in rng.random((20, 2, 30)) < 0.4:
        sets = set(np.flatnonzero(useful)), set(np.flatnonzero(chosen))
        assert symmetric_difference(useful, chosen) == len(sets[0] ^ sets[1])
        assert symmetric_difference(chosen, useful) == symmetric_difference(useful, chosen)
        assert symmetric_difference(useful, ~useful) == 30


def test_symmetric_difference_of_no_features_is_none():
    assert symmetric_difference([], []) == 0
    assert symmetric_difference([False, False], [True, True]) == 2


def test_masks_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"length; got shapes \(3,\) and \(1,\)"):
        symmetric_difference([True, False, True], [True])
