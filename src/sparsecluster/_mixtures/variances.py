"""Variances of the clusters: common to all of them, or their own, with a penalty that draws them to 1.

With N_k the sum of the memberships of cluster k and S_jk = sum_i tau_ik (x_ij - mu_jk)^2, the M-step for the variance v
of feature j in cluster k minimizes (N_k / 2) log v + S_jk / (2 v) + penalty(v). Arrays have the shape (p, k).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._kernels.penalized_variances import shrunken_log_variances
from .._utils.arrays import Floats


@dataclass(frozen=True)
class VariancePenalty(ABC):
    """A penalty that draws the variances of the clusters to 1, with its strength."""

    strength: float

    def with_strength(self, strength: float) -> Self:
        """Return the same penalty with another strength."""
        return replace(self, strength=strength)

    @abstractmethod
    def variances(self, counts: Floats, squares: Floats, floors: Floats) -> Floats:
        """Return the penalized variances, none of them below the floor of its feature, of shape (p, 1)."""

    @abstractmethod
    def value(self, variances: Floats) -> float:
        """Return the penalty, which is subtracted from the log likelihood."""

    @abstractmethod
    def strongest(self, counts: Floats, squares: Floats) -> float:
        """Return a strength at which all variances are 1."""


def cost(variances: Floats, counts: Floats, squares: Floats) -> Floats:
    """Minus the expected log likelihood of a variance, up to a constant."""
    return np.asarray(0.5 * counts * np.log(variances) + 0.5 * squares / variances)


@dataclass(frozen=True)
class LogVariances(VariancePenalty):
    """strength * sum_jk |log v_jk|, which is convex in log v."""

    def variances(self, counts: Floats, squares: Floats, floors: Floats) -> Floats:
        """S / (N + 2 l) if that is above 1, S / (N - 2 l) if that is below 1, and 1 otherwise."""
        above, below = counts + 2.0 * self.strength, counts - 2.0 * self.strength
        low = np.divide(squares, below, out=np.ones_like(squares), where=squares < below)
        return np.maximum(np.where(squares > above, squares / above, low), floors)

    def value(self, variances: Floats) -> float:
        """Sum of the absolute logarithms."""
        return float(self.strength * np.abs(np.log(variances)).sum())

    def strongest(self, counts: Floats, squares: Floats) -> float:
        """max |S - N| / 2."""
        return float(np.abs(squares - counts).max() / 2.0)


@dataclass(frozen=True)
class Variances(VariancePenalty):
    """strength * sum_jk |v_jk - 1|, which is not convex: there may be a minimum at 1 and another one below it."""

    def variances(self, counts: Floats, squares: Floats, floors: Floats) -> Floats:
        """The better one of 1 and of the minimum above or below it."""
        usual = squares / counts
        bend = 2.0 * self.strength * squares / counts**2
        high = usual / (0.5 + np.sqrt(0.25 + bend))
        low = np.where(bend <= 0.25, usual / (0.5 + np.sqrt(np.maximum(0.25 - bend, 0.0))), 1.0)
        best = np.maximum(np.ones_like(squares), floors)
        for candidate in (np.maximum(high, 1.0), np.minimum(low, 1.0)):
            candidate = np.maximum(candidate, floors)
            penalized = [cost(each, counts, squares) + self.strength * np.abs(each - 1.0) for each in (candidate, best)]
            best = np.where(penalized[0] < penalized[1], candidate, best)
        return best

    def value(self, variances: Floats) -> float:
        """Sum of the absolute differences to 1."""
        return float(self.strength * np.abs(variances - 1.0).sum())

    def strongest(self, counts: Floats, squares: Floats) -> float:
        """A strength that makes 1 the only minimum above and below: max of |S - N| / 2 and N^2 / (8 S)."""
        # Below the floor of a variance nothing can be gained, so very small sums of squares need not be covered.
        return float(max(np.abs(squares - counts).max() / 2.0, (counts**2 / (8.0 * np.maximum(squares, 1.0))).max()))


@dataclass(frozen=True)
class GroupedLogVariances(VariancePenalty):
    """strength * sqrt(k) sum_j |log v_j|_2: the variances of a feature form one group."""

    def variances(self, counts: Floats, squares: Floats, floors: Floats) -> Floats:
        """The minimum, which is convex in the logarithms."""
        penalty = self.strength * float(np.sqrt(squares.shape[1]))
        return np.maximum(shrunken_log_variances(counts, squares, penalty), floors)

    def value(self, variances: Floats) -> float:
        """Sum of the lengths of the logarithms."""
        lengths = np.sqrt((np.log(variances) ** 2).sum(axis=1))
        return float(self.strength * np.sqrt(variances.shape[1]) * lengths.sum())

    def strongest(self, counts: Floats, squares: Floats) -> float:
        """max_j |(N - S_j) / 2|_2 / sqrt(k)."""
        return float(np.sqrt((((counts - squares) / 2.0) ** 2).sum(axis=1).max() / squares.shape[1]))
