"""Whole climbs in one call: the steps of `_search.climb.climb`, for every kind of data in `kinds`.

On small tables, calling each step from Python would take longer than the step itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats, Subset
from ._jit import inline, kernel
from .kinds import empty_view, scores_of, view_of
from .moves import LLOYD_PASSES
from .select import largest
from .views import improve, seeded

# A gain below this share of the objective is a rounding error.
LEAST_RISE = 1e-10
# A kick drops this share of the chosen features.
FORGET = 0.5


class Sweep(NamedTuple):
    """Climbs that follow each other: one at each of the sizes, and a second one where it is `kicked`.

    A climb starts where the best one at the size before has ended. Where counts[j] is not 0, it starts from a
    clustering by the next counts[j] features of `begin` instead, which uses k of the uniform random numbers. A kick
    uses as many of them as there are chosen features, and k.
    """

    sizes: Subset
    kicked: npt.NDArray[np.bool_]
    counts: Subset
    begin: Subset
    uniforms: Floats


@inline
def sum_of(scores, subset):
    """The objective: the sum of the scores of the chosen features."""
    total = 0.0
    for a in subset:
        total += scores[a]
    return total


@inline
def exchange(chosen, p, held, is_filled):
    """Let `held`, which has some of p features if it is filled, have the chosen ones. Returns the new ones' places."""
    is_new = np.zeros(p, np.bool_)
    for a in chosen:
        is_new[a] = True
    places = np.empty(held.size, np.intp)
    left, count = 0, 0
    for j in range(held.size):
        if is_filled and is_new[held[j]]:
            is_new[held[j]] = False
        else:
            places[left] = j
            left += 1
    for a in chosen:
        if is_new[a]:
            held[places[count]] = a
            count += 1
    return places[:count]


@inline
def climb_on(data, labels, known, k, size, history):
    """Algorithm 1 from `labels`, which become those at its end; `known` are their scores, or empty.

    Fills a row of `history` for each iteration: the objective, and the numbers of samples that moved and of features
    that changed. Returns the scores, the subset, and the number of iterations.
    """
    new, held, view = labels.copy(), np.empty(size, np.intp), empty_view(data, size)
    scores, subset = np.empty(0), held
    done, moved = 0, 0
    while True:
        # Step 2: keeping C fixed, S <- argmin over |S| = s of Delta_S[C].
        new_scores = known if done == 0 and known.size > 0 else scores_of(data, new, k)
        new_subset = largest(new_scores, size)
        objective = sum_of(new_scores, new_subset)
        if done > 0 and objective <= history[done - 1, 0] * (1.0 + LEAST_RISE):
            break
        places = exchange(new_subset, new_scores.size, held, done > 0)
        scores, subset = new_scores, new_subset
        history[done, 0], history[done, 1] = objective, moved
        history[done, 2] = places.size if done > 0 else 0
        for i in range(new.size):
            labels[i] = new[i]
        done += 1
        # With the same subset as before, no sample would move.
        if done == len(history) or places.size == 0:
            break
        # Step 1: keeping S fixed, C <- C-hat(delta_S, k).
        view = view_of(data, held, places, view)
        improve(view, new, k, 0)
        moved = 0
        for i in range(new.size):
            moved += new[i] != labels[i]
        if moved == 0:
            break
    return scores, subset, done


@inline
def cluster_on(data, subset, k, uniforms, labels):
    """Let the labels be a clustering by the subset, from seeds that use one uniform random number each."""
    view = view_of(data, subset, np.arange(subset.size), empty_view(data, subset.size))
    fresh = seeded(view, uniforms)
    improve(view, fresh, k, LLOYD_PASSES)
    for i in range(labels.size):
        labels[i] = fresh[i]


@inline
def part_of(subset, uniforms):
    """A random half of the subset, as in `_search.starts.kick`."""
    kept = np.empty(subset.size, np.intp)
    count = 0
    for j in range(subset.size):
        kept[count] = subset[j]
        count += uniforms[j] >= FORGET
    if count == 0:
        kept[0], count = subset[0], 1
    return kept[:count]


@kernel
def sweep_on(data, labels, sweep, k, max_iter):
    """The climbs of a sweep, the first one from `labels`, as in `_search.search.sweep`.

    `labels` become those from which a further size would start. Returns the labels and the scores of all climbs, the
    numbers of their iterations, and their histories, of shape (n_climbs, max_iter, 3).
    """
    sizes, kicked, counts, begin, uniforms = sweep
    count = sizes.size
    for j in range(sizes.size):
        count += kicked[j]
    all_labels, all_scores = np.empty((count, labels.size), np.int32), np.empty((0, 0))
    history, steps = np.empty((count, max_iter, 3)), np.empty(count, np.intp)
    own, subset, unknown = labels.copy(), begin, np.empty(0)
    begun, used, filled, best, most = 0, 0, 0, 0, 0.0
    for j in range(sizes.size):
        for attempt in range(2 if kicked[j] else 1):
            is_fresh = attempt == 1 or counts[j] > 0
            if is_fresh:
                features = begin[begun : begun + counts[j]]
                if attempt == 1:
                    features = part_of(subset, uniforms[used : used + subset.size])
                    used += subset.size
                else:
                    begun += counts[j]
                cluster_on(data, features, k, uniforms[used : used + k], own)
                used += k
            known = unknown if is_fresh or filled == 0 else all_scores[best]
            scores, subset, steps[filled] = climb_on(data, own, known, k, sizes[j], history[filled])
            if filled == 0:
                all_scores = np.empty((count, scores.size))
            for a in range(scores.size):
                all_scores[filled, a] = scores[a]
            objective = history[filled, steps[filled] - 1, 0]
            is_best = attempt == 0 or objective > most * (1.0 + LEAST_RISE)
            best, most = filled if is_best else best, objective
            for i in range(labels.size):
                all_labels[filled, i] = own[i]
                labels[i] = own[i] if is_best else labels[i]
            filled += 1
        for i in range(labels.size):
            own[i] = labels[i]
    return all_labels, all_scores, steps, history
