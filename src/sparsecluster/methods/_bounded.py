"""Weights under an L1 bound, the common part of Witten and Tibshirani's sparse methods.

They maximize sum_a w_a g_a over weights w >= 0 with |w|_2 <= 1 and |w|_1 <= b, together with the clusters on which the
gains g_a of the features depend. A small bound b sets most weights to exactly zero: with b = 1 a single feature is
left, and for b >= sqrt(p) the bound has no effect. The bound is chosen by the gap statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._features.features import Features
from .._kernels.weights import bounded_weights
from .._search.climb import Problem
from .._search.curve import Rule, TuningCurve
from .._search.solve import MOST_PAIRED
from .._utils.arrays import Floats, Labels
from .._utils.checks import check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.progress import Verbosity
from .._utils.text import brief
from ._base import SparseClusterer
from ._result import Result
from ._weights import Tuning, Weighting, tuned

# The default number of bounds to compare, as in the R package sparcl.
N_BOUNDS = 10


class Bounded(NamedTuple):
    """The weights that maximize sum_a w_a g_a under the bounds, and the value of that sum."""

    bound: float

    def __call__(self, gains: Floats) -> tuple[Floats, float]:
        weights = bounded_weights(gains, self.bound)
        return weights, float(weights @ gains)

    def at_once(self, problem: Problem, labels: Labels) -> Weighting | None:
        """Use compiled code for plain numbers and K-means on rows. The steps and the result are the same."""
        plain = problem.plain()
        if plain is None:
            return None
        own = labels.astype(np.int32)
        weights, history = plain.alternate(own, problem.n_clusters, self.bound, problem.max_iter)
        return Weighting(own, weights, float(history[-1]), tuple(history.tolist()))


def usual_bounds(n_features: int, smallest: float, share: float, spaced: Callable[..., Floats]) -> Floats:
    """Return the default bounds, from `smallest` to a share of sqrt(p).

    The largest bound is at least sqrt(2), unless there is only one feature, so that two features can have equal
    weights.
    """
    root = np.sqrt(n_features)
    return spaced(min(smallest, root), max(share * root, min(root, np.sqrt(2))), N_BOUNDS)


class Chosen(NamedTuple):
    """A bound and, if it was tuned, the tuning curve and the solution found at this bound."""

    bound: float
    curve: TuningCurve | None = None
    found: Weighting | None = None


class BoundedWeights(SparseClusterer):
    """Base class of estimators whose weights are subject to an L1 bound, which can be tuned."""

    l1_bound: float | str
    bounds: Sequence[float] | None
    rule: Rule
    n_permutations: int
    n_jobs: int | None
    verbose: Verbosity

    def _choose(
        self,
        features: Features,
        usual: Floats,
        solve: Callable[[Features, Floats, np.random.Generator], list[Weighting]],
        rng: np.random.Generator,
    ) -> Chosen:
        """Return the given bound, or choose one by the gap statistic."""
        bound, bounds = check_bound(self.l1_bound), check_bounds(self.bounds, usual)
        if bound is not None:
            return Chosen(bound)
        workers = workers_for(self.n_jobs, self.verbose, features.n_samples * features.n_features)
        tuning = Tuning("l1_bound", bounds, int(self.n_permutations), self.rule, workers)
        curve, found = tuned(features, tuning, solve, rng)
        return Chosen(float(curve.chosen), curve, found)

    def _weighted(self, features: Features, k: int, chosen: Chosen, found: Weighting, **others: Any) -> Result:
        """Return the result that belongs to a weighting."""
        attributes = {
            "objective_": found.objective,
            "history_": found.history,
            "n_iter_": len(found.history),
            "l1_bound_": chosen.bound,
            "gap_curve_": chosen.curve,
            **others,
        }
        subset = np.flatnonzero(found.weights)
        return Result(features, found.labels, subset, k, found.weights, attributes=attributes)


# ---------------------------------------------------------------- parameters


def check_bound(value: Any) -> float | None:
    """Check the L1 bound. None stands for "auto"."""
    if is_auto(value):
        return None
    allowed = '"auto" or a number of at least 1 (a single feature)'
    return check_number("l1_bound", value, allowed, lambda bound: 1 <= bound < np.inf, 'Use "auto" to tune it.')


def check_bounds(value: Any, usual: Floats) -> Floats:
    """Check the bounds to compare, and return them in ascending order."""
    if value is None:
        return usual
    try:
        bounds = np.unique(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        bounds = np.zeros(1)
    if bounds.size < 2 or not (bounds >= 1).all() or not np.isfinite(bounds).all():
        raise ValueError(
            f"bounds must be at least two different numbers, each at least 1; got {brief(value)}. Use None for the "
            "default bounds."
        )
    return bounds


def check_pairs(name: str, n_samples: int) -> None:
    """Refuse data with too many samples for a method that compares all pairs of samples."""
    advice = f"{name} looks at all pairs of samples. Fit it on fewer samples, drawn at random."
    check_count("The number of samples", n_samples, 2, MOST_PAIRED, advice)
