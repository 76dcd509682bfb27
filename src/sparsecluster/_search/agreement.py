"""Comparing the clusterings of a search, whose labels are 0, ..., k - 1, and -1 for samples that are left out."""

from __future__ import annotations

import numpy as np

from .._kernels.labelings import crossed, named
from .._utils.arrays import Labels
from ..metrics.agreement import adjusted_rand_of


def agreement(one: Labels, other: Labels) -> float:
    """The adjusted Rand index, more quickly than for labels of any kind; samples that are left out count as a cluster.

    >>> agreement(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    -0.5
    """
    return adjusted_rand_of(crossed(one.astype(np.int32), other.astype(np.int32)))


def as_named(labels: Labels) -> Labels:
    """The labels of the same clusters, numbered by their first samples, so that equal clusterings have equal labels.

    >>> as_named(np.array([2, 0, 2, 1])).tolist()
    [0, 1, 0, 2]
    """
    found: Labels = named(labels.astype(np.int32))
    return found
