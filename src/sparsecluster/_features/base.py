"""The contract of features: n samples seen through p dissimilarities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]
Subset = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.uint8]


class Pairs(NamedTuple):
    """Similarity A of the samples, n x n: within = trace(A) - sum_k (1/|C_k|) sum_{i,j in C_k} A_ij."""

    similarity: Floats


class Rows(NamedTuple):
    """Coordinates of the samples, n x q; squared differences count `weights` times."""

    table: Table
    weights: Floats


class SeenRows(NamedTuple):
    """Coordinates with missing values: zero, the mean of those seen, where `seen` (n x q) is 0."""

    table: Floats
    weights: Floats
    seen: Mask


class SparseRows(NamedTuple):
    """Coordinates x - means of which x is mostly zero: row i is values[starts[i]:starts[i+1]] in `columns`."""

    values: Floats
    columns: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    means: Floats
    weights: Floats


Coordinates = Rows | SeenRows | SparseRows


class Features(ABC):
    """Everything that the search needs to know about the data.

    For feature a with dissimilarity delta_a, over unordered pairs of samples,

    - total    T_a = (1/n) sum_{i<j} delta_a(i, j),
    - within   Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j),
    - score    1 - Delta_a[C] / T_a, in [0, 1].

    With delta_a(i, j) = (x_i - x_j)^2 the total is the sum of squares about the mean and the within is the
    within-cluster sum of squares. (The paper sums over ordered pairs, which doubles both and keeps the score.)

    Where feature a has missing values, n and |C_k| count the samples that are seen and sums run over pairs of them; the score is
    multiplied by the share of the samples seen, so that chance gives a feature with missing values no more than one without.
    """

    n_samples: int
    n_features: int
    # What scores are multiplied by: the share of the samples seen, and of a feature that has several members.
    shares: Floats

    @property
    @abstractmethod
    def total(self) -> Floats:
        """Total of every feature, or member of one, as it counts in pairs and rows."""

    # Whether the dissimilarity is a squared distance of coordinates, and whether some of them are not known.
    has_rows: bool = True
    has_missing: bool = False

    @abstractmethod
    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        """Score of every feature for a labeling."""

    @abstractmethod
    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        """Similarity of the samples on a subset, n x n, over what is seen; and, with missing values, how much of it is seen.

        `weights` say how many times each feature of the subset counts; once where there are none.
        """

    def pairs(self, subset: Subset, weights: Floats | None = None) -> Pairs:
        """Similarity of the samples on a subset; with missing values, as if all of it were seen."""
        similarity, seen = self.seen_pairs(subset, weights)
        return Pairs(similarity if seen is None else as_if_all_seen(similarity, seen))

    def rows(self, subset: Subset, weights: Floats | None = None) -> Coordinates:
        """Coordinates of the samples on a subset, whose squared distances are delta_S."""
        raise TypeError(f"{type(self).__name__} have no coordinates; only pairs of samples have a meaning")

    def by_member(self, values: Floats) -> Floats:
        """What is said of the features, for each of their members; most have one."""
        return values

    def pair_total(self, weights: Floats) -> Floats:
        """sum_a w_a delta_a(i, j) of all pairs, n x n; with missing values, each feature as if all of it were seen."""
        used = np.flatnonzero(weights)
        if not self.has_missing:
            return dissimilarity(self.pairs(used, weights[used]).similarity)
        total = np.zeros((self.n_samples, self.n_samples))
        for a in used.tolist():
            total += weights[a] * dissimilarity(self.pairs(np.array([a])).similarity)
        return total

    def pair_sums(self, counts: Floats) -> Floats:
        """sum_{i<j} U_ij delta_a(i, j) of every feature, for a symmetric U, n x n: how many times each pair counts."""
        apart = (dissimilarity(self.pairs(np.array([a])).similarity) for a in range(self.n_features))
        return np.array([np.vdot(counts, each) / 2 for each in apart])

    @abstractmethod
    def univariate(self, n_clusters: int) -> Floats:
        """Score of every feature for its own best clustering."""

    @abstractmethod
    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        """The clustering that is best for one feature."""

    @abstractmethod
    def permuted(self, seed: int) -> Self:
        """A copy in which the samples are permuted within each feature, independently."""

    def release(self) -> None:  # noqa: B027  (nothing to free is a valid answer)
        """Free what can be built again."""


def quadratic_sums(table: Table, counts: Floats) -> Floats:
    """sum_{i<j} U_ij (x_ia - x_ja)^2 of every column: x' L x with the Laplacian L = diag(U 1) - U."""
    laplacian = np.diag(counts.sum(axis=1)) - counts
    return np.einsum("ia,ia->a", table, laplacian @ table)


def dissimilarity(similarity: Floats) -> Floats:
    """D_ij = A_ii + A_jj - 2 A_ij, of which A is a similarity."""
    own = np.diag(similarity)
    apart = own[:, None] + own[None, :] - 2.0 * similarity
    np.fill_diagonal(apart, 0.0)
    return np.maximum(apart, 0.0)


def as_if_all_seen(similarity: Floats, seen: Floats) -> Floats:
    """Dissimilarities divided by the share that is seen (Gower); a pair without any counts as an average pair."""
    apart = dissimilarity(similarity)
    known = seen > 0
    np.fill_diagonal(known, False)
    apart[known] *= seen.max() / seen[known]
    apart[~known] = apart[known].mean() if known.any() else 0.0
    np.fill_diagonal(apart, 0.0)
    return -apart / 2
