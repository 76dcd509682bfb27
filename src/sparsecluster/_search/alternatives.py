"""Other groupings of the same samples: good solutions that are really different from the best one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Floats, Labels, Subset
from .._utils.parallel import ONE_THREAD, Workers
from .agreement import agreement, as_named
from .bic import bic_values
from .climb import By, Climb, Problem, climb, climb_all, in_shares
from .curve import TuningCurve

# Two clusterings with an adjusted Rand index below this are really different.
DIFFERENT = 0.5
# The number of candidates that are looked at.
MOST_CANDIDATES = 60
# A gap is a sign of clusters if it exceeds this many standard errors: it is a maximum over many sizes.
LEAST_ERRORS = 3.0
# A solution that is nearly as good as the best one is an alternative. A solution that is less good, but not hopeless,
# is one if it is made of other features: with the same features, it would only be a worse local optimum. The shares of
# the best gap, or of the best objective if the size was given, and the largest share of features in common.
NEARLY, HOPELESS, HOPELESS_OBJECTIVE, IN_COMMON = 0.9, 0.25, 0.75, 0.5
# Starts on the features that the solution does not explain, and the smallest share of these features that is drawn.
ELSEWHERE, LEAST_SHARE = 24, 0.02


class Alternative(NamedTuple):
    """Another solution, and the criterion of the tuning curve at its size; None if the size was given."""

    climb: Climb
    value: float | None


class Merit(NamedTuple):
    """How good a clustering is at its best size, and how good it must be."""

    value: float
    size: int
    least: float


def alternatives(
    problem: Problem,
    found: Climb,
    candidates: Iterable[Labels],
    curve: TuningCurve | None,
    most: int,
    rng: np.random.Generator,
    workers: Workers = ONE_THREAD,
) -> list[Alternative]:
    """The best `most` solutions that differ from the solution found and from each other.

    They are sought among the candidates and, if the size was chosen, on the features that the solution does not
    explain. A candidate is as good as the criterion by which the size was chosen says at the size that is best for it.
    If the size was given, the objective decides.
    """
    if most == 0:
        return []
    sought = elsewhere(problem, found, rng, workers) if curve is not None else []
    others = distinct([*sought, *candidates], found.labels)
    ranked = sorted(((merit(problem, labels, found, curve), labels) for labels in others), key=by_merit)
    chosen: list[Alternative] = []
    known = [found.labels]
    best = merit(problem, found.labels, found, curve).value
    for (value, size, least), labels in ranked:
        if value < least:
            break
        other = climb(problem, labels, size, rng)
        at = merit(problem, other.labels, found, curve)
        is_new = at.value >= NEARLY * best or in_common(found.subset, other.subset) <= IN_COMMON
        if is_new and all(agreement(other.labels, each) < DIFFERENT for each in known):
            chosen.append(Alternative(other, None if curve is None else at.value))
            known.append(other.labels)
        if len(chosen) == most:
            break
    # A climb may change what a candidate is worth, and with it the order.
    return sorted(chosen, key=lambda each: -(each.climb.objective if each.value is None else each.value))


def still_different(found: Climb, others: Iterable[Alternative]) -> list[Alternative]:
    """The alternatives that differ from the solution and from each other after all of them have climbed further."""
    kept: list[Alternative] = []
    for other in others:
        known = [found.labels, *(each.climb.labels for each in kept)]
        if all(agreement(other.climb.labels, labels) < DIFFERENT for labels in known):
            kept.append(other)
    return kept


def in_common(one: Subset, other: Subset) -> float:
    """The share of the features of the smaller subset that both subsets have."""
    return np.intersect1d(one, other).size / min(one.size, other.size)


def by_merit(pair: tuple[Merit, Labels]) -> float:
    """Sorts the best first."""
    return -pair[0].value


def distinct(candidates: Iterable[Labels], first: Labels) -> list[Labels]:
    """The candidates that differ from the first clustering, each only once."""
    once: dict[bytes, Labels] = {}
    for labels in candidates:
        once.setdefault(as_named(labels).tobytes(), labels)
    different = (labels for labels in once.values() if agreement(labels, first) < DIFFERENT)
    return list(islice(different, MOST_CANDIDATES))


def elsewhere(problem: Problem, found: Climb, rng: np.random.Generator, workers: Workers) -> list[Labels]:
    """Climbs from random subsets of the features that the solution does not choose or explains least."""
    rest, size = unexplained(found, problem.features.n_features), found.subset.size

    def run(tasks: list[tuple[int, np.random.Generator]]) -> list[Labels]:
        starts, sizes = [], []
        for number, own_rng in tasks:
            drawn, smaller = (max(1, round(most * LEAST_SHARE ** own_rng.random())) for most in (rest.size, size))
            starts.append(By(np.sort(own_rng.choice(rest, drawn, replace=False))))
            # Every other start climbs at a smaller size, where there are more local optima.
            sizes.append(smaller if number % 2 else size)
        return [each.labels for each in climb_all(problem, starts, sizes, [own_rng for _, own_rng in tasks])]

    shares = in_shares(problem, list(enumerate(rng.spawn(ELSEWHERE))))
    return list(chain.from_iterable(workers.map(run, shares, "starts on other features")))


def unexplained(found: Climb, p: int) -> Subset:
    """The features that are not chosen, and at least half of all features: those with the lowest scores."""
    lowest = np.argsort(found.scores, kind="stable")
    return np.asarray(lowest[: max(p - found.subset.size, (p + 1) // 2)])


def merit(problem: Problem, labels: Labels, found: Climb, curve: TuningCurve | None) -> Merit:
    """How good a clustering is: at its best size by the criterion of the curve, or at the given size."""
    scores = problem.scores(labels)
    if curve is None:
        size = found.subset.size
        value = descending_sums(np.partition(scores, -size)[-size:])[-1]
        return Merit(float(value), size, HOPELESS_OBJECTIVE * found.objective)
    running, at = descending_sums(scores), curve.values - 1
    if curve.criterion == "bic":
        values, error = bic_values(problem.features, labels, problem.n_clusters)[at], np.zeros(at.size)
    else:
        values, error = curve.gap_of(running[at]), curve.error if curve.error is not None else np.zeros(at.size)
    best = int(np.argmax(values))
    least = max(LEAST_ERRORS * float(error[best]), HOPELESS * float(curve.score.max()))
    return Merit(float(values[best]), int(curve.values[best]), least)


def descending_sums(scores: Floats) -> Floats:
    """The sums of the largest 1, 2, ... scores."""
    return np.cumsum(np.sort(scores)[::-1])
