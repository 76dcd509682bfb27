"""Algorithm 1 of the paper: alternate between the clustering and the subset until neither improves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._clusterers.base import Clusterer
from .._features.base import Features, Floats, Labels, Subset
from .._kernels.select import largest

# The objective is a sum of scores; a step that gains less than this share of it is rounding.
LEAST_GAIN = 1e-10


class Problem(NamedTuple):
    """What stays the same in every climb on one data set."""

    features: Features
    clusterer: Clusterer
    n_clusters: int
    max_iter: int = 100

    def cluster(
        self, subset: Subset, rng: np.random.Generator, warm: Labels | None = None, n_starts: int = 1
    ) -> Labels:
        return self.clusterer.cluster(self.features, subset, self.n_clusters, rng, warm, n_starts)

    def scores(self, labels: Labels) -> Floats:
        return self.features.scores(labels, self.n_clusters)


class Step(NamedTuple):
    """One pass through Steps 1 and 2."""

    objective: float
    samples_moved: int
    features_changed: int


class Climb(NamedTuple):
    """Where a climb ended, a local optimum of both steps, and how it got there."""

    labels: Labels
    scores: Floats
    subset: Subset
    objective: float
    history: tuple[Step, ...]


def climb(problem: Problem, labels: Labels, size: int, rng: np.random.Generator) -> Climb:
    """Climb from a labeling to a local maximum of sum_{a in S} (1 - Delta_a[C] / T_a) with |S| = size.

    Step 1 starts from the labels it has, so the objective never falls; a clusterer that lowers it all the same ends
    the climb at the best seen.
    """
    scores = problem.scores(labels)
    subset: Subset = largest(scores, size)
    if problem.clusterer.constrains:
        labels = problem.cluster(subset, rng, warm=labels)
        scores = problem.scores(labels)
        subset = largest(scores, size)
    objective = float(scores[subset].sum())
    # The start is a first pass: its labels came from a clustering, its subset from them.
    history = [Step(objective, 0, 0)]
    for _ in range(problem.max_iter - 1):
        # Step 1: keeping S fixed, C <- C-hat(delta_S, k).
        new_labels = problem.cluster(subset, rng, warm=labels)
        samples_moved = int(np.count_nonzero(new_labels != labels))
        if samples_moved == 0:
            break
        # Step 2: keeping C fixed, S <- argmin over |S| = s of Delta_S[C].
        new_scores = problem.scores(new_labels)
        new_subset = largest(new_scores, size)
        new_objective = float(new_scores[new_subset].sum())
        if new_objective <= objective * (1 + LEAST_GAIN):
            break
        was_chosen = np.zeros(scores.size, bool)
        was_chosen[subset] = True
        features_changed = size - int(np.count_nonzero(was_chosen[new_subset]))
        labels, scores, subset, objective = new_labels, new_scores, new_subset, new_objective
        history.append(Step(objective, samples_moved, features_changed))
    return Climb(labels, scores, subset, objective, tuple(history))
