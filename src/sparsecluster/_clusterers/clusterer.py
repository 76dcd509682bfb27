"""The contract of clusterers, written C-hat in Algorithm 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._features.features import Features
from .._utils.arrays import Labels, Subset

Needs = Literal["rows", "pairs"]


class Task(NamedTuple):
    """The arguments of `Clusterer.cluster`, as one value."""

    features: Features
    subset: Subset
    n_clusters: int
    rng: np.random.Generator
    warm: Labels | None
    n_starts: int


class Clusterer(ABC):
    """An algorithm that clusters samples by delta_S, the sum of the dissimilarities over a subset S of the features.

    A subclass implements `solve`.

    Attributes
    ----------
    needs : {"rows", "pairs"}
        Whether the clusterer needs coordinates of the samples, or only dissimilarities between pairs. K-means needs
        coordinates, even if it then computes with the pairs that they give.
    constrains : bool
        Whether its clusters satisfy a constraint that other labels may violate, such as equal sizes. If so, labels from
        elsewhere have to pass through the clusterer before they can be a result.
    """

    needs: Needs = "pairs"
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
        """Cluster the samples.

        Parameters
        ----------
        features : Features
            The data.
        subset : ndarray of int
            The features to cluster by.
        n_clusters : int
            The number of clusters k.
        rng : numpy.random.Generator
            The only source of random numbers.
        warm : ndarray of shape (n_samples,), default=None
            Labels to start from. A clusterer that lowers the paper's objective improves them and never makes them
            worse. Other clusterers may ignore them.
        n_starts : int, default=1
            The number of fresh starts if `warm` is None. The best result is returned.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels 0, ..., k - 1; no cluster is empty.
        """
        return self.solve(Task(features, subset, n_clusters, rng, warm, n_starts))

    def several(
        self, features: Features, subset: Subset, n_clusters: int, rng: np.random.Generator, count: int
    ) -> list[Labels]:
        """The labels of `count` calls of `cluster`, each with one fresh start."""
        return [self.cluster(features, subset, n_clusters, rng) for _ in range(count)]

    def is_compiled(self, features: Features) -> bool:
        """Whether climbs of these features in compiled code cluster as this clusterer does."""
        return False

    def is_compiled_from(self, features: Features, subset: Subset, n_clusters: int) -> bool:
        """Whether a fresh start on a subset does so as well, and as fast."""
        return self.is_compiled(features)

    @abstractmethod
    def solve(self, task: Task) -> Labels:
        """Return the labels, as described in `cluster`."""


def named_like(labels: Labels, warm: Labels | None, n_clusters: int) -> Labels:
    """The same clusters, renumbered to agree with `warm` on as many samples as possible.

    The samples that moved can then be counted by comparing labels.
    """
    if warm is None:
        return labels
    together = np.zeros((n_clusters, n_clusters))
    np.add.at(together, (labels, warm), 1)
    return linear_sum_assignment(-together)[1].astype(np.int32)[labels]
