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
def exchange_columns(table, chosen, held, is_filled, rows):
    """Let `rows`, which has the columns `held` if it is filled, have the chosen ones. Returns how many are new."""
    is_new = np.zeros(table.shape[1], np.bool_)
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
    for i in range(table.shape[0]):
        for j in range(count):
            rows[i, places[j]] = table[i, held[places[j]]]
    return count


@inline
def climb_rows(table, total, of_all, labels, size, history, old, sums):
    """Algorithm 1 from `labels`, which become those at its end; `old` and `sums` are those of `updated_scores`.

    Fills a row of `history` for each iteration: the objective, and the numbers of samples that moved and of features
    that changed. Returns the scores, the subset, and the number of iterations.
    """
    k, p = sums.shape
    new, held, weights = labels.copy(), np.empty(size, np.intp), np.ones(size)
    rows = table if size == p else np.empty((labels.size, size), table.dtype)
    scores, subset = total, held
    done, moved = 0, 0
    while True:
        # Step 2: keeping C fixed, S <- argmin over |S| = s of Delta_S[C].
        new_scores = updated_scores(table, total, of_all, new, old, sums)
        new_subset = largest(new_scores, size)
        objective = sum_of(new_scores, new_subset)
        if done > 0 and objective <= history[done - 1, 0] * (1.0 + LEAST_RISE):
            break
        scores, subset = new_scores, new_subset
        history[done, 0], history[done, 1], history[done, 2] = objective, moved, 0.0
        for i in range(new.size):
            labels[i] = new[i]
        if size < p and len(history) > 1:
            changed = exchange_columns(table, subset, held, done > 0, rows)
            history[done, 2] = changed if done > 0 else 0
        done += 1
        # With the same subset as before, no sample would move.
        if done == len(history) or (done > 1 and history[done - 1, 2] == 0.0):
            break
        # Step 1: keeping S fixed, C <- C-hat(delta_S, k).
        improve_rows(rows, weights, new, k, 0, MOVE_PASSES)
        moved = 0
        for i in range(new.size):
            moved += new[i] != labels[i]
        if moved == 0:
            break
    return scores, subset, done


@inline
def kick_rows(table, subset, k, uniforms, labels):
    """Let the labels be a clustering by a random half of the subset, as in `_search.starts.kick`."""
    kept = np.empty(subset.size, np.intp)
    count = 0
    for j in range(subset.size):
        kept[count] = subset[j]
        count += uniforms[j] >= FORGET
    if count == 0:
        kept[0], count = subset[0], 1
    rows, weights = take_columns(table, kept[:count]), np.ones(count)
    seeded = seed_rows(rows, weights, uniforms[subset.size :])
    improve_rows(rows, weights, seeded, k, LLOYD_PASSES, MOVE_PASSES)
    for i in range(labels.size):
        labels[i] = seeded[i]


@kernel
def sweep_rows(table, total, of_all, labels, sizes, most_kicked, uniforms, history, old, sums):
    """Climb at each of `sizes` in turn, as `_search.search.sweep` does; up to the size `most_kicked` also after a kick.

    A kick uses as many uniform random numbers as there are chosen features, and k. `labels` become those from which a
    further size would start. Returns the labels and the scores of all climbs, and of the last one the subset and the
    number of iterations, which are rows of `history`.
    """
    k, p = sums.shape
    count = sizes.size
    for j in range(sizes.size):
        count += sizes[j] <= most_kicked
    all_labels, all_scores = np.empty((count, labels.size), np.int32), np.empty((count, p))
    own, subset = labels.copy(), np.empty(0, np.intp)
    used, filled, done, most = 0, 0, 0, 0.0
    for size in sizes:
        for attempt in range(2 if size <= most_kicked else 1):
            if attempt == 1:
                kick_rows(table, subset, k, uniforms[used : used + size + k], own)
                used += size + k
            scores, subset, done = climb_rows(table, total, of_all, own, size, history, old, sums)
            for a in range(p):
                all_scores[filled, a] = scores[a]
            is_best = attempt == 0 or history[done - 1, 0] > most * (1.0 + LEAST_RISE)
            most = history[done - 1, 0]
            for i in range(labels.size):
                all_labels[filled, i] = own[i]
                labels[i] = own[i] if is_best else labels[i]
            filled += 1
        for i in range(labels.size):
            own[i] = labels[i]
    return all_labels, all_scores, subset, done
