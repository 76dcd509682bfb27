"""Algorithm 1 of the paper: alternate between clustering and feature selection until the objective stops rising."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._clusterers.clusterer import Clusterer
from .._features.features import Features
from .._features.numeric import NumericFeatures
from .._kernels.climbs import LEAST_RISE, Sweep, sweep_on
from .._kernels.select import largest
from .._utils.arrays import Floats, Labels, Subset

# A gain below this share of the objective is a rounding error.
LEAST_GAIN = LEAST_RISE

# Climbs on tables of at most this many values are so quick that some of them are one task.
FEW_VALUES, TOGETHER = 2**19, 5

NO_UNIFORMS, NO_FEATURES = np.empty(0), np.empty(0, np.intp)


T = TypeVar("T")


class By(NamedTuple):
    """A start of a climb: the clustering of the samples by a subset, of any size, of the features."""

    subset: Subset


class Problem(NamedTuple):
    """What all climbs on one data set have in common: the data, the clusterer C-hat and the number of clusters k."""

    features: Features
    clusterer: Clusterer
    n_clusters: int
    max_iter: int = 100

    @property
    def least_gain(self) -> float:
        """A gain below this share of the objective is a rounding error."""
        return LEAST_GAIN

    @property
    def constrains(self) -> bool:
        """Whether labels from elsewhere have to pass through the clusterer before they can be a result."""
        return self.clusterer.constrains

    def cluster(
        self, subset: Subset, rng: np.random.Generator, warm: Labels | None = None, n_starts: int = 1
    ) -> Labels:
        """C-hat(delta_S, k): labels of the samples, clustered by a subset S; see `Clusterer.cluster`."""
        return self.clusterer.cluster(self.features, subset, self.n_clusters, rng, warm, n_starts)

    def scores(self, labels: Labels) -> Floats:
        """1 - Delta_a[C] / T_a of every feature, for the clustering given by `labels`; see `Features.scores`."""
        return self.features.scores(labels, self.n_clusters)

    def at_once(self, start: Labels | By, size: int, rng: np.random.Generator) -> Climb | None:
        """The result of `climb` in one call, or None if there is no compiled code for it."""
        if isinstance(start, By):
            found = self.all_at_once([start], [size], [rng])
            return None if found is None else found[0]
        data = self.compiled(size)
        if data is None:
            return None
        return self._climbs(data, start, [size])[0]

    def all_at_once(
        self, starts: Sequence[By], sizes: Sequence[int], rngs: Sequence[np.random.Generator]
    ) -> list[Climb] | None:
        """The results of `climb` from several starts in one call, or None if there is no compiled code for one."""
        k, subsets = self.n_clusters, [start.subset for start in starts]
        if not all(self.clusterer.is_compiled_from(self.features, subset, k) for subset in subsets):
            return None
        counts = [subset.size for subset in subsets]
        data = self.compiled(max(*sizes, *counts))
        if data is None:
            return None
        uniforms = np.concatenate([rng.random(k) for rng in rngs])
        labels = np.zeros(self.features.n_samples, np.int32)
        return self._climbs(data, labels, sizes, counts, np.concatenate(subsets), uniforms)

    def _climbs(
        self,
        data: Any,
        labels: Labels,
        sizes: Sequence[int],
        counts: Sequence[int] = (0,),
        begin: Subset = NO_FEATURES,
        uniforms: Floats = NO_UNIFORMS,
    ) -> list[Climb]:
        sweep = Sweep(np.array(sizes), np.zeros(len(sizes), np.bool_), np.array(counts), begin, uniforms)
        found = sweep_on(data, labels.astype(np.int32), sweep, self.n_clusters, self.max_iter)
        climbs = []
        for each_labels, scores, done, history, size in zip(*found, sizes, strict=True):
            steps = tuple(Step(value, int(moved), int(changed)) for value, moved, changed in history[:done].tolist())
            climbs.append(Climb(each_labels, scores, largest(scores, size), steps[-1].objective, steps))
        return climbs

    def compiled(self, size: int) -> Any:
        """What climbs in compiled code need of the features, at sizes up to `size`; None if there are none for them."""
        if not self.clusterer.is_compiled(self.features):
            return None
        return self.features.climbing(self.n_clusters, size)

    def plain(self, size: int = 0) -> NumericFeatures | None:
        """The features if they are numbers, clustered by K-means, for which there are climbs in compiled code."""
        features = self.features
        if not (isinstance(features, NumericFeatures) and self.clusterer.is_compiled(features)):
            return None
        return features if features.can_climb(self.n_clusters, size) else None

    def is_same(self, new: Labels, old: Labels) -> bool:
        """Whether a step has changed nothing."""
        return np.array_equal(new, old)

    def moved(self, new: Labels, old: Labels) -> int:
        """The number of samples in another cluster."""
        return int(np.count_nonzero(new != old))


class Step(NamedTuple):
    """One iteration of both steps: the objective after it, and the numbers of samples and features that changed."""

    objective: float
    samples_moved: int
    features_changed: int


class Climb(NamedTuple):
    """The result of a climb: labels of shape (n_samples,), scores of shape (n_features,), and the chosen features."""

    labels: Any
    scores: Floats
    subset: Subset
    objective: float
    history: tuple[Step, ...]


def labels_at(problem: Any, start: Any, rng: np.random.Generator) -> Any:
    """The labels at which a climb begins."""
    return problem.cluster(start.subset, rng) if isinstance(start, By) else start


def climb(problem: Any, start: Any, size: int, rng: np.random.Generator) -> Climb:
    """Maximize sum_{a in S} (1 - Delta_a[C] / T_a) over the clustering C and the subset S of `size` features.

    The climb starts from labels, of shape (n_samples,), or from a clustering `By` some features, and alternates between
    two steps:

    - Step 1: with S fixed, cluster the samples by delta_S, the sum of the dissimilarities over S.
    - Step 2: with C fixed, let S be the `size` features with the largest scores, which is the best subset for C.

    Step 1 starts from the current labels, so that the objective rises until a local maximum is reached. If a clusterer
    lowers the objective nevertheless, the climb ends with the best result so far.
    """
    done: Climb | None = problem.at_once(start, size, rng)
    if done is None and isinstance(start, By):
        start = labels_at(problem, start, rng)
        done = problem.at_once(start, size, rng)
    if done is not None:
        return done
    labels = start
    scores = problem.scores(labels)
    subset: Subset = largest(scores, size)
    if problem.constrains:
        # The labels at the start may violate the constraint, so they pass through the clusterer first.
        labels = problem.cluster(subset, rng, warm=labels)
        scores = problem.scores(labels)
        subset = largest(scores, size)
    objective = float(scores[subset].sum())
    # The start counts as the first iteration: its labels come from a clustering, and its subset from the labels.
    history = [Step(objective, 0, 0)]
    for _ in range(problem.max_iter - 1):
        # Step 1: keeping S fixed, C <- C-hat(delta_S, k).
        new_labels = problem.cluster(subset, rng, warm=labels)
        if problem.is_same(new_labels, labels):
            break
        # Step 2: keeping C fixed, S <- argmin over |S| = s of Delta_S[C].
        new_scores = problem.scores(new_labels)
        new_subset = largest(new_scores, size)
        new_objective = float(new_scores[new_subset].sum())
        if new_objective <= objective * (1 + problem.least_gain):
            break
        was_chosen = np.zeros(scores.size, bool)
        was_chosen[subset] = True
        features_changed = size - int(np.count_nonzero(was_chosen[new_subset]))
        samples_moved = problem.moved(new_labels, labels)
        labels, scores, subset, objective = new_labels, new_scores, new_subset, new_objective
        history.append(Step(objective, samples_moved, features_changed))
    return Climb(labels, scores, subset, objective, tuple(history))


def climb_all(
    problem: Problem, starts: Sequence[Labels | By], sizes: Sequence[int], rngs: Sequence[np.random.Generator]
) -> list[Climb]:
    """Climb from several starts, each at its own size and with its own random numbers.

    Where there is compiled code for it, the climbs `By` features are one call.
    """
    places = [place for place, start in enumerate(starts) if isinstance(start, By)]
    by = [start for start in starts if isinstance(start, By)]
    found = problem.all_at_once(by, [sizes[each] for each in places], [rngs[each] for each in places]) if by else None
    done = {} if found is None else dict(zip(places, found, strict=True))
    return [
        done[place] if place in done else climb(problem, *task)
        for place, task in enumerate(zip(starts, sizes, rngs, strict=True))
    ]


def in_shares(problem: Problem, climbs: list[T]) -> list[list[T]]:
    """The climbs in shares that are one task each: single ones, or some of them if the table is small."""
    n, p = problem.features.n_samples, problem.features.n_features
    step = TOGETHER if n * p <= FEW_VALUES else 1
    return [climbs[first : first + step] for first in range(0, len(climbs), step)]
