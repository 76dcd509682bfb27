"""Agreement with the truth, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import rand_score

from sparsecluster import rand_index, symmetric_difference


@pytest.mark.parametrize("seed", range(10))
def test_rand_index_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 2 + seed, (2, 50))
    assert rand_index(one, other) == pytest.approx(rand_score(one, other), rel=1e-14)


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


def test_rand_index_of_many_items_does_not_overflow():
    half = np.arange(200_000) % 2
    assert rand_index(half, half) == 1.0
    assert rand_index(half, np.zeros(200_000)) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("items", [[], [3]])
def test_without_pairs_all_agree(items):
    assert rand_index(items, items) == 1.0


def test_labellings_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same length; got 3 and 2"):
        rand_index([0, 1, 1], [0, 1])


def test_symmetric_difference_by_hand():
    useful = [True, True, True, False, False]
    assert symmetric_difference(useful, useful) == 0
    assert symmetric_difference(useful, [True, True, False, False, False]) == 1
    assert symmetric_difference(useful, [False, False, False, True, True]) == 5
    assert symmetric_difference(np.array(useful), np.array([1, 1, 0, 1, 0])) == 2


def test_masks_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="length"):
        symmetric_difference([True, False, True], [True])
