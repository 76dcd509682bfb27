"""Weights on features: the alternation between clusters and weights, its path and its tuning by the gap statistic.

Methods that weigh features differ in one thing, the weights and the objective that they take from the gains
g_a[C] = T_a - Delta_a[C] of the features for given clusters. All else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from .._features.base import Features, Floats, Labels
from .._features.weighted import WeightedFeatures
from .._search.climb import LEAST_GAIN, Problem
from .._search.curve import Rule, TuningCurve, copy_seeds, gap_curve, on_copies
from .._utils.parallel import Workers


class Weigh(Protocol):
    """Weights and objective for the gains of the features."""

    def __call__(self, gains: Floats) -> tuple[Floats, float]: ...

    def at_once(self, problem: Problem, labels: Labels) -> Weighting | None:
        """The whole alternation in compiled code, where there is some for these features."""


class Weighting(NamedTuple):
    """Weights that no step improves, the clusters that go with them, and the objective on the way."""

    labels: Labels
    weights: Floats
    objective: float
    history: tuple[float, ...]


def weighting(problem: Problem, labels: Labels, weigh: Weigh) -> Weighting:
    """The best weights for a clustering. Gains are what the clusterer sees, whatever share of the samples is seen."""
    features = problem.features
    weights, objective = weigh(problem.scores(labels) / features.shares * features.total)
    return Weighting(labels, weights, objective, (objective,))


def alternate(problem: Problem, labels: Labels, weigh: Weigh, rng: np.random.Generator) -> Weighting:
    """From a clustering on: cluster by the weighted features, weigh by the clusters, until neither gains."""
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
    """A solution for each of several ways to weigh, the last of which chooses least: from there back, warm labels."""
    labels = problem.cluster(np.arange(problem.features.n_features), rng, n_starts=n_init)
    found = []
    for weigh in reversed(weighs):
        found.append(alternate(problem, labels, weigh, rng))
        labels = found[-1].labels
    return found[::-1]


def best_weighting(
    problem: Problem, weigh: Weigh, rng: np.random.Generator, n_init: int, known: Sequence[Labels] = ()
) -> Weighting:
    """The best of several starts: known labels, one feature's own clusters, and all features alike `n_init` times."""
    features, k = problem.features, problem.n_clusters
    alone = features.univariate_labels(int(np.argmax(features.univariate(k) * features.total)), k)
    everything = np.arange(features.n_features)
    fresh = [problem.cluster(everything, rng) for _ in range(n_init)]
    starts = [*known, alone, *fresh]
    return max((alternate(problem, labels, weigh, rng) for labels in starts), key=lambda found: found.objective)


class Tuning(NamedTuple):
    """A tuning parameter, the ascending values to compare, and how: on so many permuted copies, by a rule."""

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
    """The value of largest gap, log O(v) - mean log O(v) of permuted copies; and what was found there on the way.

    `solve` gives a solution for each of the values, of the data and of the copies alike.
    """
    seeds = copy_seeds(rng, tuning.n_permutations)
    found = solve(features, tuning.values, rng)

    def on_copy(copy: Features, own_rng: np.random.Generator) -> Floats:
        return np.array([each.objective for each in solve(copy, tuning.values, own_rng)])

    reference = on_copies(features, seeds, rng, on_copy, tuning.workers)
    observed = np.array([each.objective for each in found])
    curve = gap_curve(tuning.values, observed, reference, rule=tuning.rule, parameter=tuning.parameter)
    return curve, found[int(np.flatnonzero(tuning.values == curve.chosen)[0])]
