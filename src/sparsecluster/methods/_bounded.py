"""Weights under an L1 bound: what Witten and Tibshirani's sparse methods share.

Their framework: maximize sum_a w_a g_a over w >= 0 with |w|_2 <= 1 and |w|_1 <= b, together with the clusters on which
the gains g_a of the features depend. Small bounds b leave most weights at exactly zero; at b = 1 one feature is left,
and from b = sqrt(p) on the bound has no effect. The bound is chosen by the gap statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from .._clusterers.kmeans import MOVE_PASSES, WARM_PASSES, KMeans, cheaper_form
from .._data.reading import Reading
from .._features.base import Features, Floats, Labels
from .._features.numeric import NumericFeatures
from .._kernels.alternation import alternate_rows
from .._kernels.weights import bounded_weights
from .._search.climb import LEAST_GAIN, Problem
from .._search.curve import Rule, TuningCurve
from .._utils.checks import check_count, check_number, is_auto
from .._utils.parallel import workers_for
from .._utils.progress import Verbosity
from ._base import SparseClusterer
from ._result import Result
from ._weights import Tuning, Weighting, tuned

# Bounds compared where none are given, as in R's sparcl.
N_BOUNDS = 10
# With more samples all pairs are too many to look at.
MOST_PAIRED = 10_000


class Bounded(NamedTuple):
    """The weights that maximize sum_a w_a g_a under the bounds, and that sum."""

    bound: float

    def __call__(self, gains: Floats) -> tuple[Floats, float]:
        weights = bounded_weights(gains, self.bound)
        return weights, float(weights @ gains)

    def at_once(self, problem: Problem, labels: Labels) -> Weighting | None:
        """For plain numbers and K-means on rows; the steps and the answer are the same."""
        features, k = problem.features, problem.n_clusters
        is_kmeans = type(problem.clusterer) is KMeans and problem.clusterer.form is None
        if not (is_kmeans and isinstance(features, NumericFeatures)):
            return None
        if cheaper_form(features.n_samples, k, WARM_PASSES) != "rows":
            return None
        own = labels.copy()
        weights, history = alternate_rows(
            features.table, features.total, own, k, self.bound, problem.max_iter, LEAST_GAIN, MOVE_PASSES
        )
        return Weighting(own, weights, float(history[-1]), tuple(history.tolist()))


def usual_bounds(n_features: int, smallest: float, share: float, spaced: Callable[..., Floats]) -> Floats:
    """Bounds from `smallest` to a share of sqrt(p); of two features there is nothing to choose between but 1 and 2."""
    root = np.sqrt(n_features)
    return spaced(min(smallest, root), max(share * root, min(root, np.sqrt(2))), N_BOUNDS)


class Chosen(NamedTuple):
    """A bound; and if it was tuned, the curve that it was chosen by and what was found at it on the way."""

    bound: float
    curve: TuningCurve | None = None
    found: Weighting | None = None


class BoundedWeights(SparseClusterer):
    """An estimator with weights under an L1 bound, which may be tuned."""

    l1_bound: float | str
    bounds: Sequence[float] | None
    rule: Rule
    n_permutations: int
    n_jobs: int | None
    verbose: Verbosity

    def _choose(
        self,
        reading: Reading,
        features: Features,
        usual: Floats,
        solve: Callable[[Features, Floats, np.random.Generator], list[Weighting]],
        rng: np.random.Generator,
    ) -> Chosen:
        """The bound as it is given, or by the gap statistic; then also what was found at it on the way."""
        bound, bounds = check_bound(self.l1_bound), check_bounds(self.bounds, usual)
        if bound is not None:
            return Chosen(bound)
        workers = workers_for(self.n_jobs, self.verbose, reading.n_samples * reading.n_features)
        tuning = Tuning("l1_bound", bounds, int(self.n_permutations), self.rule, workers)
        curve, found = tuned(features, tuning, solve, rng)
        return Chosen(float(curve.chosen), curve, found)

    def _keep_weighting(
        self, reading: Reading, features: Features, chosen: Chosen, found: Weighting, **others: Any
    ) -> Self:
        attributes = {
            "objective_": found.objective,
            "history_": found.history,
            "n_iter_": len(found.history),
            "l1_bound_": chosen.bound,
            "gap_curve_": chosen.curve,
            **others,
        }
        scores = features.scores(found.labels, int(self.n_clusters))
        subset = np.flatnonzero(found.weights)
        return self._keep(reading, features, Result(found.labels, subset, scores, found.weights, attributes=attributes))


# ---------------------------------------------------------------- parameters


def check_bound(value: Any) -> float | None:
    """The bound asked for; None for "auto"."""
    if is_auto(value):
        return None
    allowed = '"auto" or a number of at least 1, where one feature is left'
    return check_number("l1_bound", value, allowed, lambda bound: 1 <= bound < np.inf, 'Use "auto" to tune it.')


def check_bounds(value: Any, usual: Floats) -> Floats:
    """The bounds to compare, ascending."""
    if value is None:
        return usual
    try:
        bounds = np.unique(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        bounds = np.zeros(1)
    if bounds.size < 2 or not (bounds >= 1).all() or not np.isfinite(bounds).all():
        raise ValueError(f"bounds must be at least two different numbers, each at least 1; got {value!r}.")
    return bounds


def check_pairs(name: str, n_samples: int) -> None:
    """Refuse more samples than pairs can be looked at."""
    advice = f"{name} looks at all pairs of samples; give it a sample."
    check_count("The number of samples", n_samples, 2, MOST_PAIRED, advice)
