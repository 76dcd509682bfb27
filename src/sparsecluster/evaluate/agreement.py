"""Agreement of labels with labels and of chosen features with useful ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def rand_index(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Share of pairs of items on which two clusterings agree: together in both, or apart in both (Rand, 1971).

    >>> rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    0.3333333333333333
    """
    _, rows = np.unique(np.asarray(truth), return_inverse=True)
    _, columns = np.unique(np.asarray(labels), return_inverse=True)
    if rows.size != columns.size:
        raise ValueError(f"Both labellings must have the same length; got {rows.size} and {columns.size}.")
    if rows.size < 2:
        return 1.0
    table = np.zeros((rows.max() + 1, columns.max() + 1), np.int64)
    np.add.at(table, (rows, columns), 1)
    pairs = [int((c * (c - 1) // 2).sum()) for c in (table, table.sum(axis=1), table.sum(axis=0))]
    together, in_truth, in_labels = pairs
    every = rows.size * (rows.size - 1) // 2
    return (every + 2 * together - in_truth - in_labels) / every


def symmetric_difference(useful: npt.ArrayLike, chosen: npt.ArrayLike) -> int:
    """|S* symmetric difference S|: useful features missed plus useless ones chosen, from two masks.

    >>> symmetric_difference([True, True, False], [True, False, True])
    2
    """
    useful, chosen = np.asarray(useful, dtype=bool), np.asarray(chosen, dtype=bool)
    if useful.shape != chosen.shape:
        raise ValueError(f"Both masks must have the same length; got shapes {useful.shape} and {chosen.shape}.")
    return int(np.count_nonzero(useful != chosen))
