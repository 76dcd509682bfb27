"""The contract of clusterers: C-hat in Algorithm 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._features.base import Features, Labels, Subset

Needs = Literal["rows", "pairs"]


class Task(NamedTuple):
    """What is to be clustered, into how many, and from where."""

    features: Features
    subset: Subset
    n_clusters: int
    rng: np.random.Generator
    warm: Labels | None
    n_starts: int


class Clusterer(ABC):
    """Groups samples by the sum of dissimilarities over a subset of features."""

    # What it works on: coordinates of the samples (k-means may still take the pairs that these give), or pairs.
    needs: Needs = "pairs"
    # Whether its clusters have something that other labels may lack, as equal sizes; then no others are an answer.
    constrains: bool = False

    def cluster(
        self,
        features: Features,
        subset: Subset,
        n_clusters: int,
        rng: np.random.Generator,
        warm: Labels | None = None,
        n_starts: int = 1,
    ) -> Labels:
        """Labels 0..k-1, every one of them used.

        A clusterer that lowers the paper's objective improves `warm` labels and never makes them worse; others may use
        them as they like. Without them the best of `n_starts` fresh starts is taken.
        """
        return self.solve(Task(features, subset, n_clusters, rng, warm, n_starts))

    @abstractmethod
    def solve(self, task: Task) -> Labels:
        """What `cluster` promises."""


def named_like(labels: Labels, warm: Labels | None, n_clusters: int) -> Labels:
    """The same clusters with the names that most of their samples have in `warm`, so that what moved can be counted."""
    if warm is None:
        return labels
    together = np.zeros((n_clusters, n_clusters))
    np.add.at(together, (labels, warm), 1)
    return linear_sum_assignment(-together)[1].astype(np.int32)[labels]
