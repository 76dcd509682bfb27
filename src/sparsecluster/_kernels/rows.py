"""K-means on rows: n x width numbers and k cluster sums, with the same seeds, passes, moves and result as on pairs.

`weights` multiply the squared differences of each column; a zero leaves a column out without copying the others.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import (
    LEAST_GAIN,
    best_move,
    carry_over,
    draw,
    join_if_nearer,
    mean_similarity,
    nearest_cluster,
    reassign,
    settle_seed,
)

# Number of samples whose inner products are computed together.
BLOCK = 32
# A move whose gain is surely below this share of the tolerance need not be looked at; the rest is for rounding errors.
SURELY = 0.5


@inline
def dot(x, y):
    """Sum of products."""
    total = 0.0
    for a in range(x.size):
        total += x[a] * y[a]
    return total


@inline
def weighted_norm(x, weights):
    """Weighted sum of squares."""
    total = 0.0
    for a in range(x.size):
        total += weights[a] * x[a] * x[a]
    return total


@kernel
def seed_rows(rows, weights, uniforms):
    """`seed_pairs` on rows."""
    n = rows.shape[0]
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        center = rows[seed]
        for i in range(n):
            row = rows[i]
            apart = 0.0
            for a in range(row.size):
                apart += weights[a] * (row[a] - center[a]) * (row[a] - center[a])
            join_if_nearer(labels, near, taken, i, c, apart)
        settle_seed(labels, near, taken, seed, c)
    return labels


@inline
def sum_rows(rows, weights, labels, sums, q, sizes):
    """Fill the weighted cluster sums, of shape (k, width), q and sizes for the given labels."""
    sums[:] = 0.0
    sizes[:] = 0.0
    for i in range(labels.size):
        row = rows[i]
        target = sums[labels[i]]
        for a in range(row.size):
            target[a] += row[a]
        sizes[labels[i]] += 1.0
    for c in range(q.size):
        target = sums[c]
        norm = 0.0
        for a in range(weights.size):
            norm += weights[a] * target[a] * target[a]
            target[a] *= weights[a]
        q[c] = norm


@kernel
def link_rows(rows, sums, first, last, link):
    """Fill link[i, c], the inner product of sample i with the weighted sum of cluster c, for samples in a range."""
    width = rows.shape[1]
    i = first
    # Four samples at a time, so that a cluster sum is read a quarter as often.
    while i + 4 <= last:
        row0, row1, row2, row3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for c in range(sums.shape[0]):
            center = sums[c]
            total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
            for a in range(width):
                total0 += row0[a] * center[a]
                total1 += row1[a] * center[a]
                total2 += row2[a] * center[a]
                total3 += row3[a] * center[a]
            link[i, c], link[i + 1, c], link[i + 2, c], link[i + 3, c] = total0, total1, total2, total3
        i += 4
    while i < last:
        for c in range(sums.shape[0]):
            link[i, c] = dot(rows[i], sums[c])
        i += 1


@inline
def fill_terms(terms, q, sizes, c):
    """What the gains of moves have in common: those of leaving cluster c and those of joining it."""
    size = max(sizes[c], 1.0)
    terms[c, 0] = 1.0 / max(sizes[c] - 1.0, 1.0)
    terms[c, 1] = q[c] * terms[c, 0] - q[c] / size
    terms[c, 2] = 1.0 / (sizes[c] + 1.0)
    terms[c, 3] = q[c] * terms[c, 2] - q[c] / size


@inline
def may_gain(terms, link, own, lengths, paths, seen, i, here, least):
    """Whether a move of sample i may gain more than `least`, given how far the sums moved since link[i] was seen."""
    b = i // BLOCK
    leave = own[i] - 2.0 * (link[i, here] - (paths[here] - seen[b, here]) * lengths[i])
    most = -np.inf
    for c in range(paths.size):
        join = terms[c, 3] + (own[i] + 2.0 * (link[i, c] + (paths[c] - seen[b, c]) * lengths[i])) * terms[c, 2]
        most = join if c != here and join > most else most
    return terms[here, 1] + leave * terms[here, 0] + most > least


@kernel
def improve_rows(rows, weights, labels, k, lloyd_passes, move_passes):
    """`improve_pairs` on rows: link[i, c] is the inner product of sample i with the weighted sum of cluster c.

    The inner products of one pass of moves serve the next ones as well, as in the algorithms of Elkan and Hamerly:
    while the sum of cluster c moves along a path of length t, link[i, c] changes by at most t times the length of
    sample i. Samples for which no move can gain anything then need not be looked at, and the moves are the same.
    """
    n, width = rows.shape
    sums, q, sizes, link = np.empty((k, width)), np.empty(k), np.empty(k), np.empty((n, k))
    before, now, own, lengths = np.empty(k), np.empty(k), np.empty(n), np.empty(n)
    for lloyd_pass in range(lloyd_passes + 1):
        sum_rows(rows, weights, labels, sums, q, sizes)
        if lloyd_pass == lloyd_passes:
            break
        link_rows(rows, sums, 0, n, link)
        for c in range(k):
            before[c] = sizes[c]
        changed = 0
        for i in range(n):
            changed += reassign(labels, sizes, i, nearest_cluster(q, link[i], before, labels[i]))
        if changed == 0:
            break
    tolerance = LEAST_GAIN * (mean_similarity(q, sizes) + measure_rows(rows, weights, own, lengths))
    terms, paths, seen = np.empty((k, 4)), np.zeros(k), np.empty((n // BLOCK + 1, k))
    for c in range(k):
        fill_terms(terms, q, sizes, c)
    for move_pass in range(move_passes):
        moved = 0
        for i in range(n):
            b, here = i // BLOCK, labels[i]
            if i % BLOCK == 0:
                # Look at a block of samples if one of them may move.
                last = min(i + BLOCK, n)
                to_look = move_pass == 0
                for j in range(i, last):
                    if not to_look:
                        to_look = may_gain(terms, link, own, lengths, paths, seen, j, labels[j], SURELY * tolerance)
                if to_look:
                    link_rows(rows, sums, i, last, link)
                    for c in range(k):
                        seen[b, c] = paths[c]
            if not (to_look and may_gain(terms, link, own, lengths, paths, seen, i, here, SURELY * tolerance)):
                continue
            for c in range(k):
                now[c] = dot(rows[i], sums[c])
            there = best_move(q, now, own[i], sizes, here, tolerance)
            if there == here:
                continue
            carry_over(q, now, own[i], sizes, here, there)
            labels[i] = there
            for a in range(width):
                part = weights[a] * rows[i, a]
                sums[here, a] -= part
                sums[there, a] += part
            for c in range(k):
                fill_terms(terms, q, sizes, c)
            paths[here] += lengths[i]
            paths[there] += lengths[i]
            moved += 1
        if moved == 0:
            break
    return mean_similarity(q, sizes)


@inline
def measure_rows(rows, weights, own, lengths):
    """Fill the weighted squares of the samples and their lengths; returns the sum of the squares."""
    total = 0.0
    for i in range(rows.shape[0]):
        own[i] = weighted_norm(rows[i], weights)
        lengths[i] = np.sqrt(own[i])
        total += own[i]
    return total
