"""Whole climbs on a table of numbers with K-means on rows, in one call: the steps of `_search.climb.climb`.

On small tables, calling each step from Python would take longer than the step itself.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import LLOYD_PASSES, MOVE_PASSES
from .rows import improve_rows, seed_rows
from .select import largest, take_columns
from .sums import updated_scores

# A gain below this share of the objective is a rounding error.
LEAST_RISE = 1e-10
# A kick drops this share of the chosen features.
FORGET = 0.5


@inline
def sum_of(scores, subset):
    """The objective: the sum of the scores of the chosen features."""
    total = 0.0
    for a in subset:
        total += scores[a]
    return total


@inline
def exchange_columns(table, chosen, held, rows):
    """Let `rows` have the chosen columns, of which it has `held`, in any order; returns the number of new ones."""
    is_new = np.zeros(table.shape[1], np.bool_)
    for a in chosen:
        is_new[a] = True
    places = np.empty(held.size, np.intp)
    left = 0
    for j in range(held.size):
        if is_new[held[j]]:
            is_new[held[j]] = False
        else:
            places[left] = j
            left += 1
    count = 0
    for a in chosen:
        if is_new[a]:
            held[places[count]] = a
            count += 1
    for i in range(table.shape[0]):
        for j in range(count):
            rows[i, places[j]] = table[i, held[places[j]]]
    return count


@kernel
def climb_rows(table, total, of_all, labels, size, max_iter, old, sums):
    """Algorithm 1 from `labels`, which become those at its end; `old` and `sums` are those of `updated_scores`.

    Returns the scores, the subset, and for each iteration the objective and the numbers of samples that moved and of
    features that changed.
    """
    k, p = sums.shape
    scores = updated_scores(table, total, of_all, labels, old, sums)
    subset = largest(scores, size)
    history = np.zeros((max_iter, 3))
    history[0, 0] = sum_of(scores, subset)
    done = 1
    if max_iter == 1:
        return scores, subset, history
    held, weights = subset.copy(), np.ones(size)
    rows = take_columns(table, subset) if size < p else table
    new = labels.copy()
    while done < max_iter:
        # Step 1: keeping S fixed, C <- C-hat(delta_S, k).
        improve_rows(rows, weights, new, k, 0, MOVE_PASSES)
        moved = 0
        for i in range(new.size):
            moved += new[i] != labels[i]
        if moved == 0:
            break
        # Step 2: keeping C fixed, S <- argmin over |S| = s of Delta_S[C].
        new_scores = updated_scores(table, total, of_all, new, old, sums)
        new_subset = largest(new_scores, size)
        objective = sum_of(new_scores, new_subset)
        if objective <= history[done - 1, 0] * (1.0 + LEAST_RISE):
            break
        history[done, 0], history[done, 1] = objective, moved
        history[done, 2] = exchange_columns(table, new_subset, held, rows) if size < p else 0
        for i in range(new.size):
            labels[i] = new[i]
        scores, subset = new_scores, new_subset
        done += 1
    return scores, subset, history[:done]


@inline
def kick_rows(table, subset, k, uniforms):
    """Labels of a clustering by a random half of the subset, as in `_search.starts.kick`."""
    kept = np.empty(subset.size, np.intp)
    count = 0
    for j in range(subset.size):
        kept[count] = subset[j]
        count += uniforms[j] >= FORGET
    if count == 0:
        kept[0], count = subset[0], 1
    rows, weights = take_columns(table, kept[:count]), np.ones(count)
    labels = seed_rows(rows, weights, uniforms[subset.size :])
    improve_rows(rows, weights, labels, k, LLOYD_PASSES, MOVE_PASSES)
    return labels


@kernel
def sweep_rows(table, total, of_all, labels, sizes, most_kicked, max_iter, uniforms, old, sums):
    """Climb at each of `sizes` in turn, as `_search.search.sweep` does; up to the size `most_kicked` also after a kick.

    A kick uses as many uniform random numbers as there are chosen features, and k. Returns the labels and the scores of
    all climbs. `labels` become those from which a further size would start.
    """
    k, p = sums.shape
    count = sizes.size
    for j in range(sizes.size):
        count += sizes[j] <= most_kicked
    all_labels, all_scores = np.empty((count, labels.size), np.int32), np.empty((count, p))
    used, filled = 0, 0
    for size in sizes:
        scores, subset, _ = climb_rows(table, total, of_all, labels, size, max_iter, old, sums)
        objective = sum_of(scores, subset)
        keep_climb(labels, scores, all_labels[filled], all_scores[filled])
        filled += 1
        if size <= most_kicked:
            kicked = kick_rows(table, subset, k, uniforms[used : used + size + k])
            used += size + k
            scores, subset, _ = climb_rows(table, total, of_all, kicked, size, max_iter, old, sums)
            keep_climb(kicked, scores, all_labels[filled], all_scores[filled])
            filled += 1
            if sum_of(scores, subset) > objective * (1.0 + LEAST_RISE):
                for i in range(labels.size):
                    labels[i] = kicked[i]
    return all_labels, all_scores


@inline
def keep_climb(labels, scores, own_labels, own_scores):
    """Copy the end of a climb to where it is kept."""
    for i in range(labels.size):
        own_labels[i] = labels[i]
    for a in range(scores.size):
        own_scores[a] = scores[a]
