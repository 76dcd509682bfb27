"""Kernels run without checks of bounds, so whatever they are given, they index by numbers that they have set."""

import numpy as np
import pytest

from sparsecluster._kernels.moves import draw
from sparsecluster._kernels.objective import between_scores
from sparsecluster._kernels.pairs import improve_pairs
from sparsecluster._kernels.select import largest


@pytest.mark.parametrize("places", [[0], [0, 1, 2], [1, 4, 5], [0, 1, 2, 3, 4, 5]])
def test_the_largest_of_values_that_are_no_numbers_are_different_places(places):
    values = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 0.0])
    values[places] = np.nan
    numbers = np.flatnonzero(~np.isnan(values))
    for count in range(1, 7):
        chosen = largest(values, count)
        assert (np.diff(chosen) > 0).all()
        assert set(chosen) <= set(range(6))
        assert set(numbers[np.argsort(-values[numbers])][:count]) <= set(chosen)


@pytest.mark.parametrize("weight", [0.0, np.nan, np.inf])
def test_a_seed_is_always_a_sample(weight):
    assert draw(np.full(3, weight), 0.5, np.ones(3, bool)) in range(3)
    assert draw(np.full(3, weight), 0.5, np.zeros(3, bool)) in range(3)


def test_a_column_without_a_total_has_no_score():
    labels = np.array([0, 0, 1, 1], np.int32)
    assert between_scores(np.zeros((4, 1)), np.zeros(1), labels, 2).tolist() == [0.0]


def test_an_empty_cluster_is_filled():
    table = np.random.default_rng(0).normal(size=(20, 4))
    gram = table @ table.T
    labels = np.zeros(20, np.int32)
    improve_pairs(gram, labels, 2, 3, 100)
    assert set(labels) == {0, 1}
