"""The contract of features: n items seen through p dissimilarities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]
Subset = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.floating[Any]]


class Rows(NamedTuple):
    """Coordinates of the items, n x q; squared differences count `weights` times."""

    table: Table
    weights: Floats


class Features(ABC):
    """Everything that the search needs to know about the data.

    For feature a with dissimilarity delta_a, over unordered pairs of items,

    - total    T_a = (1/n) sum_{i<j} delta_a(i, j),
    - within   Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j),
    - score    1 - Delta_a[C] / T_a, in [0, 1].

    With delta_a(i, j) = (x_i - x_j)^2 the total is the sum of squares about the mean and the within is the
    within-cluster sum of squares. (The paper sums over ordered pairs, which doubles both and keeps the score.)
    """

    n_items: int
    n_features: int

    @abstractmethod
    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        """Score of every feature for a labelling."""

    @abstractmethod
    def pairs(self, subset: Subset) -> Floats:
        """Similarity A of the items on a subset, n x n: within = trace(A) - sum_k (1/|C_k|) sum_{i,j in C_k} A_ij."""

    @abstractmethod
    def rows(self, subset: Subset) -> Rows:
        """Coordinates of the items on a subset, whose squared distances are delta_S."""

    @abstractmethod
    def univariate(self, n_clusters: int) -> Floats:
        """Score of every feature for its own best clustering: what no clustering can exceed."""

    @abstractmethod
    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        """The clustering that is best for one feature."""

    @abstractmethod
    def permuted(self, seed: int) -> Self:
        """A copy in which the items are permuted within each feature, independently."""

    def release(self) -> None:  # noqa: B027  (nothing to free is a valid answer)
        """Free what can be built again."""
