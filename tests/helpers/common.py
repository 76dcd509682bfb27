"""What many tests share: tables with clear groups, and claims about clusters and messages."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from sparsecluster.datasets import shifted_groups


def refuses(*words, error=ValueError):
    """The message has all these words, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(words))


def three_groups(mu, n_features, n_useful, sizes=(14, 10, 6)):
    """Table, groups and useful features: three groups in a row, shifted by mu from one to the next.

    The groups are of different sizes, the largest first, so that only one numbering of them is right.
    """
    full = shifted_groups(mu=mu, n_features=n_features, n_useful=n_useful, group_size=max(sizes), seed=0)
    rows = np.concatenate([group * max(sizes) + np.arange(size) for group, size in enumerate(sizes)])
    return full.X[rows], full.truth[rows], full.useful


def same_groups(left, right):
    """Whether two labelings differ by the names of their groups only."""
    left, right = np.asarray(left), np.asarray(right)
    return np.array_equal(left[:, None] == left, right[:, None] == right)


def within(table, labels):
    """Sum of squares within clusters of every column."""
    return sum(((table[labels == c] - table[labels == c].mean(axis=0)) ** 2).sum(axis=0) for c in np.unique(labels))


def plain_scores(table, labels):
    """1 - within / total of every column."""
    return 1 - within(table, labels) / within(table, np.zeros(len(table)))


def arguments_in(command):
    """What a shell makes of one of our commands: all words after its name."""
    shell = command.replace("sparsecluster", "printf '%s\\0'", 1)
    run = subprocess.run(["bash", "-c", shell], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    return run.stdout.decode().split("\0")[:-1]
