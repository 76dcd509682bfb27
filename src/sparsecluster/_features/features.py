"""The contract of features: p dissimilarities between the same n samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._kernels.views import Pairs as Pairs
from .._kernels.views import Rows as Rows
from .._kernels.views import SeenRows as SeenRows
from .._utils.arrays import Floats, Labels, Subset, Table
from .likelihood import Likelihood, gaussian


class SparseRows(NamedTuple):
    """Coordinates x - means where x is mostly zero, compressed by row.

    The nonzero values of row i of x are values[starts[i]:starts[i+1]], in the columns columns[starts[i]:starts[i+1]].
    """

    values: Floats
    columns: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    means: Floats
    weights: Floats


Coordinates = Rows | SeenRows | SparseRows


class Features(ABC):
    """Everything that the search knows about the data: n samples and p features, each a dissimilarity delta_a.

    For a clustering C with clusters C_1, ..., C_k, and sums over unordered pairs of samples, feature a has

    - the total   T_a = (1/n) sum_{i<j} delta_a(i, j), its dissimilarity with all samples in one cluster,
    - the within  Delta_a[C] = sum_k (1/|C_k|) sum_{i<j in C_k} delta_a(i, j), and
    - the score   1 - Delta_a[C] / T_a, in [0, 1], the share of the feature that the clustering explains.

    If delta_a(i, j) = (x_i - x_j)^2, the total is the sum of squares about the mean and the within is the
    within-cluster sum of squares. (The paper sums over ordered pairs: this doubles both and does not affect the score.)

    If feature a has missing values, n and |C_k| count the samples with an observed value and the sums run over pairs of
    those samples. The score is multiplied by the share of the samples that are observed, so that by chance alone a
    feature with missing values scores no higher than a complete one.

    A feature may have several members, such as the columns of a group. Its dissimilarity is the sum of theirs.

    Attributes
    ----------
    n_samples, n_features : int
        The numbers n and p.
    shares : ndarray of shape (n_members,)
        The factor of each member's score: the share of the samples that are observed, times the member's share of its
        feature. Most features have one member, so that n_members is n_features.
    total : ndarray of shape (n_members,)
        T_a of each member as it counts in `pairs` and `rows`, that is, after standardization.
    has_rows : bool
        Whether the dissimilarity is a squared distance between coordinates, so that `rows` can be called.
    has_missing : bool
        Whether there are missing values.
    """

    n_samples: int
    n_features: int
    shares: Floats
    has_rows: bool = True
    has_missing: bool = False

    @property
    @abstractmethod
    def total(self) -> Floats:
        """Total of every member of every feature, as it counts in `pairs` and `rows`."""

    @abstractmethod
    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        """Score of every feature for the clustering given by `labels`; ndarray of shape (n_features,)."""

    def climbing(self, n_clusters: int, size: int) -> Any:
        """What climbs in compiled code need, one of the `kinds`; None if there are none up to this size of subsets."""
        return None

    def explained(self, labels: Labels, n_clusters: int) -> Floats:
        """T_a - Delta_a[C] of every feature, of shape (n_features,), as it counts in `pairs` and `rows`."""
        return self.scores(labels, n_clusters) * (self.total / self.shares)

    def likelihood(self, labels: Labels, n_clusters: int, members: Any = 1) -> Likelihood:
        """Log likelihood ratio of every feature with and without the clusters, and its number of parameters.

        `members` is the number of members of the group that each feature belongs to.
        """
        return gaussian(self.scores(labels, n_clusters) / self.shares, self.n_samples * self.shares * members)

    @abstractmethod
    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        """Similarity of the samples on a subset of the features, over the values observed in both samples of a pair.

        Parameters
        ----------
        subset : ndarray of int
            The features.
        weights : ndarray of shape (subset.size,), default=None
            The factor of each dissimilarity; 1 by default.

        Returns
        -------
        similarity : ndarray of shape (n_samples, n_samples)
            A in `Pairs`, for the sum of the dissimilarities over the subset.
        seen : ndarray of shape (n_samples, n_samples) or None
            For every pair, the sum of the weighted shares of the features observed in both samples; None if there are
            no missing values.
        """

    def pairs(self, subset: Subset, weights: Floats | None = None) -> Pairs:
        """Similarity of the samples on a subset, as `seen_pairs`, but scaled up for missing values."""
        similarity, seen = self.seen_pairs(subset, weights)
        return Pairs(similarity if seen is None else as_if_all_seen(similarity, seen))

    def rows(self, subset: Subset, weights: Floats | None = None) -> Coordinates:
        """Coordinates of the samples on a subset S, whose squared distances are delta_S; needs `has_rows`."""
        raise TypeError(f"{type(self).__name__} have no coordinates, only dissimilarities between pairs of samples")

    def level_rows(self, subset: Subset, weights: Floats | None = None) -> Any:
        """`rows` in a form in which K-means is fastest, which may have codes in the place of coordinates."""
        return self.rows(subset, weights)

    def is_settled(self, subset: Subset, labels: Labels, n_clusters: int) -> bool:
        """Whether no move of a single sample improves the labels on a subset; False if this is not cheap to tell."""
        return False

    def by_member(self, values: Floats) -> Floats:
        """Repeat one value per feature for each of its members; returns an ndarray of shape (n_members,)."""
        return values

    def pair_total(self, weights: Floats) -> Floats:
        """sum_a w_a delta_a(i, j) of all pairs, of shape (n_samples, n_samples).

        With missing values, each feature is scaled up separately, as in `pairs`.
        """
        used = np.flatnonzero(weights)
        if not self.has_missing:
            return dissimilarity(self.pairs(used, weights[used]).similarity)
        total = np.zeros((self.n_samples, self.n_samples))
        for a in used.tolist():
            total += weights[a] * dissimilarity(self.pairs(np.array([a])).similarity)
        return total

    def pair_sums(self, counts: Floats) -> Floats:
        """sum_{i<j} U_ij delta_a(i, j) of every feature, where the symmetric matrix U = `counts` weights the pairs."""
        apart = (dissimilarity(self.pairs(np.array([a])).similarity) for a in range(self.n_features))
        return np.array([np.vdot(counts, each) / 2 for each in apart])

    @abstractmethod
    def univariate(self, n_clusters: int) -> Floats:
        """Score of every feature for the clustering that is best for this feature alone; of shape (n_features,)."""

    @abstractmethod
    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        """Labels of the clustering that is best for one feature."""

    @abstractmethod
    def permuted(self, seed: int) -> Self:
        """A copy in which the samples are permuted within each feature, independently of the other features."""

    def like_this(self, features: Features) -> Features:
        """Other features, scored in the same way as these."""
        return features

    def release(self) -> None:  # noqa: B027  (there may be nothing to free)
        """Free memory whose contents can be computed again."""


def quadratic_sums(table: Table, counts: Floats) -> Floats:
    """sum_{i<j} U_ij (x_ia - x_ja)^2 of every column a: x' L x with the Laplacian L = diag(U 1) - U."""
    laplacian = np.diag(counts.sum(axis=1)) - counts
    return np.einsum("ia,ia->a", table, laplacian @ table)


def dissimilarity(similarity: Floats) -> Floats:
    """D_ij = A_ii + A_jj - 2 A_ij for a similarity A."""
    own = np.diag(similarity)
    apart = own[:, None] + own[None, :] - 2.0 * similarity
    np.fill_diagonal(apart, 0.0)
    return np.maximum(apart, 0.0)


def as_if_all_seen(similarity: Floats, seen: Floats) -> Floats:
    """Similarity after dividing each dissimilarity by the share of it that is observed (Gower).

    A pair of samples with no observed value in common gets the mean dissimilarity of the other pairs.
    """
    apart = dissimilarity(similarity)
    known = seen > 0
    np.fill_diagonal(known, False)
    apart[known] *= seen.max() / seen[known]
    apart[~known] = apart[known].mean() if known.any() else 0.0
    np.fill_diagonal(apart, 0.0)
    return -apart / 2
