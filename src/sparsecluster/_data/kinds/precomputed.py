"""Dissimilarities computed by the user: one n x n matrix per feature, and no values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._features.matrices import entries
from ..._utils.arrays import Floats, Table
from ..content import Content
from .dissimilarity import Dissimilarity


@dataclass(frozen=True)
class CrossMeasure:
    """Mean of the given dissimilarities to the samples of the cluster, minus half of the mean over their pairs."""

    members: Sequence[Any]
    halves: Sequence[float]

    @classmethod
    def make(cls, matrix: Table, labels: Any, k: int) -> Self:
        """The measure for the matrix and labels of `fit`."""
        members = [np.flatnonzero(labels == c) for c in range(k)]
        return cls(members, [float(observed_mean(entries(matrix, each, each))) / 2 for each in members])

    def __call__(self, new: Table) -> Floats:
        clusters = zip(self.members, self.halves, strict=True)
        return np.column_stack([observed_mean(new[:, members], 1) - half for members, half in clusters])

    def check(self) -> int:
        return len(self.members)


def observed_mean(block: Table, axis: int | None = None) -> Any:
    """Mean of the observed entries; NaN if there are none."""
    observed = ~np.isnan(block)
    with np.errstate(invalid="ignore"):
        return np.where(observed, block, 0.0).sum(axis=axis) / observed.sum(axis=axis)


@dataclass(frozen=True)
class Precomputed(Dissimilarity):
    """delta(i, j) is entry (i, j) of the matrix; nothing else is known about the samples."""

    name = "precomputed"
    words = "a matrix of dissimilarities"
    can_be_saved = False

    @classmethod
    def learn(cls, content: Content, column: str) -> Self:
        raise TypeError("precomputed dissimilarities have no columns to learn from")

    def encode(self, content: Content, column: str) -> Any:
        raise TypeError("precomputed dissimilarities have no values to encode")

    def pairs(self, left: Table, right: Table) -> Floats:
        raise TypeError("precomputed dissimilarities have no values to compare")

    def measure(self, codes: Any, labels: Any, k: int) -> CrossMeasure:
        return CrossMeasure.make(codes, labels, k)
