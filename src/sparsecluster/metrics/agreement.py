"""Agreement of labels with labels and of chosen features with useful ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment


def contingency(truth: npt.ArrayLike, labels: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Number of samples in every group of one labeling and every group of another.

    >>> contingency(["a", "a", "b"], [1, 2, 2]).tolist()
    [[1, 1], [0, 1]]
    """
    _, rows = np.unique(np.asarray(truth), return_inverse=True)
    _, columns = np.unique(np.asarray(labels), return_inverse=True)
    if rows.size != columns.size:
        raise ValueError(f"Both labelings must have the same length; got {rows.size} and {columns.size}.")
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1), np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


def _pairs(table: npt.NDArray[np.int64]) -> tuple[int, int, int, int]:
    """Pairs of samples: together in both, in the first, in the second, and all."""
    n = int(table.sum())
    counts = (table, table.sum(axis=1), table.sum(axis=0))
    both, first, second = (int((c * (c - 1) // 2).sum()) for c in counts)
    return both, first, second, n * (n - 1) // 2


def rand_index(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Share of pairs of samples on which two clusterings agree: together in both, or apart in both (Rand, 1971).

    >>> rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    0.3333333333333333
    """
    both, first, second, every = _pairs(contingency(truth, labels))
    return (every + 2 * both - first - second) / every if every else 1.0


def adjusted_rand_index(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Rand index less what chance gives, over what is left of 1 (Hubert and Arabie, 1985): 0 by chance, 1 if equal.

    With b pairs together in both, f in the first, s in the second and N in all,
    (b - f s / N) / ((f + s) / 2 - f s / N).

    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0]), adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    both, first, second, every = _pairs(contingency(truth, labels))
    # All times 2 N, so that only whole numbers are added.
    above_chance = 2 * (both * every - first * second)
    most = (first + second) * every - 2 * first * second
    return above_chance / most if most else 1.0


def agreement_matrix(labelings: list[npt.ArrayLike]) -> npt.NDArray[np.float64]:
    """Adjusted Rand index of every two labelings.

    >>> agreement_matrix([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]).tolist()
    [[1.0, 1.0, -0.5], [1.0, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    indices = [adjusted_rand_index(one, other) for one in labelings for other in labelings]
    return np.array(indices, dtype=np.float64).reshape(len(labelings), len(labelings))


def error_rate(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Share of samples with the wrong label, under the matching of clusters to groups that makes it smallest.

    The matching is one to one (the Hungarian method); samples of clusters that have no group left are wrong.

    >>> error_rate([0, 0, 1, 1], [1, 1, 0, 0]), error_rate([0, 0, 0, 1], [0, 0, 1, 2])
    (0.0, 0.25)
    """
    table = contingency(truth, labels)
    right = table[linear_sum_assignment(-table)].sum()
    return float(1.0 - right / table.sum()) if table.size else 0.0


def symmetric_difference(useful: npt.ArrayLike, chosen: npt.ArrayLike) -> int:
    """|S* symmetric difference S|: useful features missed plus useless ones chosen, from two masks.

    >>> symmetric_difference([True, True, False], [True, False, True])
    2
    """
    useful, chosen = np.asarray(useful, dtype=bool), np.asarray(chosen, dtype=bool)
    if useful.shape != chosen.shape:
        raise ValueError(f"Both masks must have the same length; got shapes {useful.shape} and {chosen.shape}.")
    return int(np.count_nonzero(useful != chosen))
