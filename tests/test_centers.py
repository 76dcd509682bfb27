"""Centers that are found for many columns together are those of each column alone."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._data.centers import most_frequent, table_centers
from sparsecluster._data.kinds import Distance, Hamming, Ordinal, SquaredEuclidean

LETTERS = ("a", "b", "c", "d")


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_centers_are_those_of_each_column_alone(missing):
    rng = np.random.default_rng(0)
    kinds = [SquaredEuclidean(), Distance(), Hamming(LETTERS), Ordinal(LETTERS), Hamming(LETTERS), Distance()]
    for _ in range(20):
        values = np.where([kind.levels is None for kind in kinds], rng.random((9, 6)), rng.integers(4, size=(9, 6)))
        values[rng.random(values.shape) < missing] = np.nan
        labels = rng.permutation(np.arange(9) % 2)
        expected = [[kind.center(values[labels == c, a]) for a, kind in enumerate(kinds)] for c in range(2)]
        # As text, because NaN differs from itself.
        assert str(table_centers(values, kinds, labels, 2).tolist()) == str(expected)


def test_of_equally_frequent_codes_the_smallest_counts():
    assert most_frequent(np.array([[2, 0, 1], [1, 0, 3], [2, 1, 3], [1, 1, 3]])).tolist() == [1, 0, 3]
    assert most_frequent(np.empty((4, 0), np.intp)).tolist() == []
