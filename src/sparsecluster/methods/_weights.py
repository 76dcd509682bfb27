"""Feature weights: the alternation between clusters and weights, its path, and its tuning by the gap statistic.

Methods with feature weights differ only in how they compute the weights and the objective from the gains
g_a[C] = T_a - Delta_a[C] of the features for given clusters. Everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from .._features.features import Features
from .._features.weighted import WeightedFeatures
from .._search.agreement import as_named
from .._search.climb import LEAST_GAIN, Problem
from .._search.curve import Rule, TuningCurve, copy_seeds, gap_curve, on_copies
from .._utils.arrays import Floats, Labels
from .._utils.parallel import Workers


class Weigh(Protocol):
    """Computes the weights and the objective from the gains of the features."""

    def __call__(self, gains: Floats) -> tuple[Floats, float]: ...

    def at_once(self, problem: Problem, labels: Labels) -> Weighting | None:
        """Run the whole alternation in compiled code, or return None if there is none for these features."""


class Weighting(NamedTuple):
    """Weights that no further step improves, their clusters, and the objective after each step."""

    labels: Labels
    weights: Floats
    objective: float
    history: tuple[float, ...]


def weighting(problem: Problem, labels: Labels, weigh: Weigh) -> Weighting:
    """Return the best weights for a clustering, given what the clustering explains of each feature."""
    weights, objective = weigh(problem.features.explained(labels, problem.n_clusters))
    return Weighting(labels, weights, objective, (objective,))


def alternate(problem: Problem, labels: Labels, weigh: Weigh, rng: np.random.Generator) -> Weighting:
    """Alternate between clustering the weighted features and updating the weights, until the objective stops rising."""
    at_once = weigh.at_once(problem, labels)
    if at_once is not None:
        return at_once
    found = weighting(problem, labels, weigh)
    for _ in range(problem.max_iter - 1):
        weighted = WeightedFeatures(problem.features, found.weights)
        labels = problem.clusterer.cluster(weighted, weighted.used, problem.n_clusters, rng, warm=found.labels)
        if np.array_equal(labels, found.labels):
            break
        new = weighting(problem, labels, weigh)
        if new.objective <= found.objective * (1 + LEAST_GAIN):
            break
        found = new._replace(history=found.history + new.history)
    return found


def path(problem: Problem, weighs: Sequence[Weigh], rng: np.random.Generator, n_init: int) -> list[Weighting]:
    """Return one solution for each way to compute weights, of which the last is the least sparse.

    The path is followed from the last to the first, and each solution starts from the labels of the one before.
    """
    labels = problem.cluster(np.arange(problem.features.n_features), rng, n_starts=n_init)
    found = []
    for weigh in reversed(weighs):
        found.append(alternate(problem, labels, weigh, rng))
        labels = found[-1].labels
    return found[::-1]


def best_weighting(
    problem: Problem, weigh: Weigh, rng: np.random.Generator, n_init: int, known: Sequence[Labels] = ()
) -> Weighting:
    """Return the best solution over several starts.

    The starts are the known labels, the clusters of the single best feature, and `n_init` clusterings of all features
    with equal weights.
    """
    features, k = problem.features, problem.n_clusters
    alone = features.univariate_labels(int(np.argmax(features.univariate(k) * features.total)), k)
    everything = np.arange(features.n_features)
    fresh = problem.clusterer.several(features, everything, k, rng, n_init)
    # Several starts often find the same clusters, and the alternation from there would be the same.
    starts: dict[bytes, Labels] = {}
    for labels in [*known, alone, *fresh]:
        starts.setdefault(as_named(labels).tobytes(), labels)
    found = (alternate(problem, labels, weigh, rng) for labels in starts.values())
    return max(found, key=lambda each: each.objective)


class Tuning(NamedTuple):
    """A tuning parameter, its values in ascending order, the number of permuted copies, and the rule for the choice."""

    parameter: str
    values: Floats
    n_permutations: int
    rule: Rule
    workers: Workers


def tuned(
    features: Features,
    tuning: Tuning,
    solve: Callable[[Features, Floats, np.random.Generator], list[Weighting]],
    rng: np.random.Generator,
) -> tuple[TuningCurve, Weighting]:
    """Choose the value with the largest gap, log O(v) - mean log O(v) of the permuted copies, and return its solution.

    `solve` returns one solution for each value. It is applied to the data and to each of the permuted copies.
    """
    seeds = copy_seeds(rng, tuning.n_permutations)
    found = solve(features, tuning.values, rng)

    def on_copy(copy: Features, own_rng: np.random.Generator) -> Floats:
        return np.array([each.objective for each in solve(copy, tuning.values, own_rng)])

    reference = on_copies(features, seeds, rng, on_copy, tuning.workers)
    observed = np.array([each.objective for each in found])
    curve = gap_curve(tuning.values, observed, reference, rule=tuning.rule, parameter=tuning.parameter)
    return curve, found[int(np.flatnonzero(tuning.values == curve.chosen)[0])]
