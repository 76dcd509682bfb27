"""Comparing labels: the same clusters under other numbers, and the samples that two clusterings have in common."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def named(labels):
    """The labels of the same clusters, numbered by their first samples, so that equal clusterings have equal labels."""
    most = 0
    for label in labels:
        most = max(most, label)
    numbers, count = np.full(most + 1, -1), 0
    new = np.empty(labels.size, np.int32)
    for i in range(labels.size):
        if numbers[labels[i]] < 0:
            numbers[labels[i]] = count
            count += 1
        new[i] = numbers[labels[i]]
    return new


@kernel
def crossed(first, second):
    """The number of samples in each cluster of a first and each of a second clustering, from label -1 on."""
    rows, columns = 0, 0
    for i in range(first.size):
        rows, columns = max(rows, first[i]), max(columns, second[i])
    counts = np.zeros((rows + 2, columns + 2), np.int64)
    for i in range(first.size):
        counts[first[i] + 1, second[i] + 1] += 1
    return counts
