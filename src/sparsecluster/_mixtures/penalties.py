"""Penalties on the means of a mixture, and the contract that the EM algorithm expects of them.

The M-step of EM consists of one small problem per feature j: over the means mu_j1, ..., mu_jk of the clusters, minimize

    sum_k (a_jk / 2) (m_jk - mu_jk)^2 + penalty(mu_j),      a_jk = N_k / variance_jk,

where m_jk are the means weighted by the memberships, and N_k their sums. A penalty solves it exactly, or at least
never makes it worse than the means of the step before; then the penalized likelihood never falls. Arrays of means have
the shape (p, k): one row per feature, one column per cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._kernels.penalized_means import capped_means, fused_means, hierarchical_means
from .._kernels.shrink import shrunken_rows, shrunken_sets
from .._utils.arrays import Floats, Subset

# Adaptive weights are one over a mean, which may be zero: smaller means count as this, in units of the feature.
SMALLEST_MEAN = 1e-6
# Most passes of the hierarchical penalty in one M-step. Small means are slow to become zero.
PASSES = 1000
# A common mean below this share of its standard error is a rounding error.
ROUNDING = 1e-9


@dataclass(frozen=True)
class MeanPenalty(ABC):
    """A penalty on the means of the clusters, which is proportional to its strength unless it says otherwise."""

    strength: float

    def with_strength(self, strength: float) -> Self:
        """Return the same penalty with another strength."""
        return replace(self, strength=strength)

    @abstractmethod
    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Return the penalized means, and what makes the next call with similar arrays faster.

        `before` are the means of the step before, and `memory` is what that step has returned (None at first).
        """

    @abstractmethod
    def value(self, means: Floats) -> float:
        """Return the penalty of some means, which is subtracted from the log likelihood."""

    @abstractmethod
    def strongest(self, m: Floats, a: Floats) -> float:
        """Return a strength at which all means are zero."""

    def n_free(self, means: Floats) -> int:
        """Return the number of free parameters among the means, for the BIC."""
        return int(np.count_nonzero(means))


def soft_threshold(m: Floats, thresholds: Floats) -> Floats:
    """Move values towards zero by a threshold, and not beyond."""
    return np.sign(m) * np.maximum(np.abs(m) - thresholds, 0.0)


def inverse_sizes(values: Floats, units: Floats) -> Floats:
    """Adaptive weights: one over the absolute value, where values much smaller than the unit count as not zero."""
    return np.asarray(1.0 / np.maximum(np.abs(values), SMALLEST_MEAN * units[:, None]))


@dataclass(frozen=True)
class NoPenalty(MeanPenalty):
    """No penalty: the plain mixture."""

    strength: float = 0.0

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Return the weighted means."""
        return m, None

    def value(self, means: Floats) -> float:
        """Return 0."""
        return 0.0

    def n_free(self, means: Floats) -> int:
        """All means are free."""
        return means.size

    def strongest(self, m: Floats, a: Floats) -> float:
        """Return 0, the only strength."""
        return 0.0


@dataclass(frozen=True)
class L1(MeanPenalty):
    """strength * sum_jk w_jk |mu_jk|, with weights of shape (p, k) or 1 (Pan and Shen, 2007)."""

    weights: Floats | float = 1.0

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Soft thresholding by strength w / a."""
        return soft_threshold(m, self.strength * self.weights / a), None

    def value(self, means: Floats) -> float:
        """Weighted sum of the absolute means."""
        return float(self.strength * (self.weights * np.abs(means)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """max a |m| / w."""
        return float((a * np.abs(m) / self.weights).max())


@dataclass(frozen=True)
class MaxNorm(MeanPenalty):
    """strength * sum_j w_j max_k |mu_jk|, with weights of shape (p,) (Wang and Zhu, 2008)."""

    weights: Floats

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Cut the largest means to the same absolute value, or all to zero."""
        return capped_means(m, a, self.strength * self.weights), None

    def value(self, means: Floats) -> float:
        """Weighted sum of the largest absolute means."""
        return float(self.strength * (self.weights * np.abs(means).max(axis=1)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """max_j sum_k a |m| / w_j."""
        return float(((a * np.abs(m)).sum(axis=1) / self.weights).max())


@dataclass(frozen=True)
class Hierarchical(MeanPenalty):
    """2 sqrt(strength) sum_j sqrt(sum_k w_jk |mu_jk|), with weights of shape (p, k) (Wang and Zhu, 2008).

    This is the adaptive hierarchical penalty: mu_jk = gamma_j theta_jk with the penalty
    sum_j gamma_j + strength sum_jk w_jk |theta_jk|, minimized over all such products. It is not convex, and a feature
    whose means are all zero stays so.
    """

    weights: Floats

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Passes over gamma and theta from the means of the step before."""
        return hierarchical_means(m, a, before, self.weights, self.strength, PASSES), None

    def value(self, means: Floats) -> float:
        """The penalty with the product eliminated."""
        return float(2.0 * np.sqrt(self.strength) * np.sqrt((self.weights * np.abs(means)).sum(axis=1)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """max_j (sum_k a m^2)^2 / sum_k w |m|: from there on, gamma is zero in the first pass."""
        sizes = (self.weights * np.abs(m)).sum(axis=1)
        squares = (a * m**2).sum(axis=1) ** 2
        return float((squares[sizes > 0] / sizes[sizes > 0]).max(initial=0.0))


@dataclass(frozen=True)
class Grouped(MeanPenalty):
    """strength * sqrt(k) sum_j |mu_j|_2: the means of a feature form one group (Xie, Pan and Shen, 2008)."""

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Group lasso for each feature."""
        return shrunken_rows(m, a, np.full(len(m), self.strength * np.sqrt(m.shape[1]))), None

    def value(self, means: Floats) -> float:
        """Sum of the lengths."""
        return float(self.strength * np.sqrt(means.shape[1]) * np.sqrt((means**2).sum(axis=1)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """max_j |a_j m_j|_2 / sqrt(k)."""
        return float(np.sqrt(((a * m) ** 2).sum(axis=1).max() / m.shape[1]))


@dataclass(frozen=True)
class InSets(MeanPenalty):
    """strength * sum_k sum_g sqrt(p_g) |mu_gk|_2: the means of a set of features in a cluster form one group.

    Set g has p_g features: members[ends[g - 1] : ends[g]] (Xie, Pan and Shen, 2008).
    """

    members: Subset
    ends: Subset

    @classmethod
    def of(cls, strength: float, owners: npt.ArrayLike) -> InSets:
        """Return the penalty, given the number of the set of each feature."""
        own = np.asarray(owners)
        order = np.argsort(own, kind="stable")
        return cls(strength, order, np.cumsum(np.unique(own, return_counts=True)[1]))

    @property
    def roots(self) -> Floats:
        """Square roots of the numbers of features."""
        return np.sqrt(np.diff(self.ends, prepend=0).astype(np.float64))

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Group lasso for each set and cluster."""
        return shrunken_sets(m, a, self.members, self.ends, self.strength * self.roots), None

    def _lengths(self, values: Floats) -> Floats:
        """Length of each set in each cluster, of shape (n_sets, k)."""
        starts = np.concatenate([[0], self.ends[:-1]])
        return np.sqrt(np.add.reduceat(values[self.members] ** 2, starts, axis=0))

    def value(self, means: Floats) -> float:
        """Sum of the lengths."""
        return float(self.strength * (self.roots[:, None] * self._lengths(means)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """max over sets and clusters of |a m|_2 / sqrt(p_g)."""
        return float((self._lengths(a * m) / self.roots[:, None]).max())


@dataclass(frozen=True)
class Fusion(MeanPenalty):
    """strength * sum_j sum_{k < l} w_jkl |mu_jk - mu_jl|, with weights of shape (p, n_pairs) or (1, n_pairs).

    Features are centered, so that means that are all equal are zero (Guo, Levina, Michailidis and Zhu, 2010).
    """

    weights: Floats

    def means(self, m: Floats, a: Floats, before: Floats, memory: Any) -> tuple[Floats, Any]:
        """Exact minimum by coordinate descent on the dual, which the memory holds."""
        if memory is None:
            memory = np.zeros((len(m), self.weights.shape[1]))
        limits = np.broadcast_to(self.strength * self.weights, memory.shape)
        means = fused_means(m, a, np.ascontiguousarray(limits), pair_numbers(m.shape[1]), memory)
        # The common mean of a feature whose means are all equal is that of all samples, which is zero but for rounding.
        is_zero = np.abs(means[:, 0]) <= ROUNDING / np.sqrt(a.max(axis=1))
        means[is_zero & (means == means[:, :1]).all(axis=1)] = 0.0
        return means, memory

    def value(self, means: Floats) -> float:
        """Weighted sum of the absolute differences of pairs."""
        return float(self.strength * (self.weights * np.abs(pair_differences(means))).sum())

    def n_free(self, means: Floats) -> int:
        """Return the number of distinct nonzero values, summed over the features."""
        ordered = np.sort(means, axis=1)
        is_new = np.concatenate([np.ones((len(means), 1), bool), np.diff(ordered, axis=1) > 0], axis=1)
        return int((is_new & (ordered != 0)).sum())

    def strongest(self, m: Floats, a: Floats) -> float:
        """The flow (b_k - b_l) / k with b = a (m - mean) is within the limits of all pairs."""
        middle = (a * m).sum(axis=1, keepdims=True) / a.sum(axis=1, keepdims=True)
        flows = np.abs(pair_differences(a * (m - middle))) / m.shape[1]
        return float((flows / self.weights).max())


def pair_numbers(k: int) -> Subset:
    """Number of each pair of clusters, of shape (k, k), in the order (0, 1), (0, 2), ..., (k - 2, k - 1)."""
    numbers = np.zeros((k, k), np.intp)
    first, second = np.triu_indices(k, 1)
    numbers[first, second] = numbers[second, first] = np.arange(first.size)
    return numbers


def pair_differences(means: Floats) -> Floats:
    """Difference of the means of each pair of clusters, of shape (p, n_pairs)."""
    first, second = np.triu_indices(means.shape[1], 1)
    return np.asarray(means[:, first] - means[:, second])
