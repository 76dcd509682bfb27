"""K-means on rows: n x width numbers and k cluster sums, with the same seeds, passes, moves and result as on pairs.

`weights` multiply the squared differences of each column; a zero leaves a column out without copying the others.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import (
    LEAST_GAIN,
    SURELY,
    assign_to_nearest,
    best_move,
    carry_over,
    draw,
    fill_terms,
    join_seed,
    mean_similarity,
)

# Number of samples whose inner products are computed together.
BLOCK = 32
# From this many columns on, sums are taken two at a time, and the last one follows from the others.
WIDE = 32


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
    n, width = rows.shape
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for i in range(n):
            total = 0.0
            for a in range(width):
                total += weights[a] * (rows[i, a] - rows[seed, a]) * (rows[i, a] - rows[seed, a])
            apart[i] = total
        join_seed(labels, near, taken, apart, seed, c)
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
def link_rows(rows, sums, count, first, last, link):
    """Fill link[c, i], the inner product of sum c with sample i, for samples in a range and the first `count` sums."""
    width = rows.shape[1]
    paired = count - count % 2 if width >= WIDE else 0
    i = first
    # Four samples at a time, so that a sum is read a quarter as often; in long rows two sums, so that these are, too.
    while i + 4 <= last:
        row0, row1, row2, row3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for c in range(0, paired, 2):
            center, other = sums[c], sums[c + 1]
            total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
            other0, other1, other2, other3 = 0.0, 0.0, 0.0, 0.0
            for a in range(width):
                total0 += row0[a] * center[a]
                total1 += row1[a] * center[a]
                total2 += row2[a] * center[a]
                total3 += row3[a] * center[a]
                other0 += row0[a] * other[a]
                other1 += row1[a] * other[a]
                other2 += row2[a] * other[a]
                other3 += row3[a] * other[a]
            link[c, i], link[c, i + 1], link[c, i + 2], link[c, i + 3] = total0, total1, total2, total3
            link[c + 1, i], link[c + 1, i + 1], link[c + 1, i + 2], link[c + 1, i + 3] = other0, other1, other2, other3
        for c in range(paired, count):
            center = sums[c]
            total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
            for a in range(width):
                total0 += row0[a] * center[a]
                total1 += row1[a] * center[a]
                total2 += row2[a] * center[a]
                total3 += row3[a] * center[a]
            link[c, i], link[c, i + 1], link[c, i + 2], link[c, i + 3] = total0, total1, total2, total3
        i += 4
    while i < last:
        for c in range(count):
            link[c, i] = dot(rows[i], sums[c])
        i += 1


@inline
def look_at(rows, sums, first, last, link, of_all, is_first):
    """`link_rows`, which at the first look also fills of_all[i], the inner product with all sums together.

    Moves do not change it, so that later, in long rows, the last inner product follows from the others.
    """
    k, is_wide = sums.shape[0], rows.shape[1] >= WIDE
    count = k - 1 if is_wide and not is_first else k
    link_rows(rows, sums, count, first, last, link)
    for i in range(first, last if is_wide else first):
        linked = 0.0
        for c in range(count):
            linked += link[c, i]
        if is_first:
            of_all[i] = linked
        else:
            link[count, i] = of_all[i] - linked


@inline
def may_gain(terms, link, own, lengths, moved, i, here, least):
    """Whether a move of sample i may gain more than `least`, given how far the sums have moved since link[:, i]."""
    leave = own[i] - 2.0 * (link[here, i] - moved[here] * lengths[i])
    most = -np.inf
    for c in range(moved.size):
        join = terms[c, 3] + (own[i] + 2.0 * (link[c, i] + moved[c] * lengths[i])) * terms[c, 2]
        most = join if c != here and join > most else most
    return terms[here, 1] + leave * terms[here, 0] + most > least


@kernel
def improve_rows(rows, weights, labels, k, lloyd_passes, move_passes):
    """`improve_pairs` on rows: link[c, i] is the inner product of the weighted sum of cluster c with sample i."""
    n, width = rows.shape
    sums, q, sizes, link = np.empty((k, width)), np.empty(k), np.empty(k), np.empty((k, n))
    for lloyd_pass in range(lloyd_passes + 1):
        sum_rows(rows, weights, labels, sums, q, sizes)
        if lloyd_pass == lloyd_passes:
            break
        link_rows(rows, sums, k, 0, n, link)
        if assign_to_nearest(labels, link, q, sizes) == 0:
            break
    move_rows(rows, weights, labels, sums, q, sizes, link, move_passes)
    return mean_similarity(q, sizes)


@inline
def move_rows(rows, weights, labels, sums, q, sizes, link, move_passes):
    """Passes of moves of single samples, until none gains anything.

    The inner products of one pass of moves serve the next ones as well, as in the algorithms of Elkan and Hamerly:
    while the sum of cluster c moves along a path of length t, link[c, i] changes by at most t times the length of
    sample i. Samples for which no move can gain anything then need not be looked at, and the moves are the same.
    """
    k, n = link.shape
    now, own, lengths, of_all = np.empty(k), np.empty(n), np.empty(n), np.empty(n)
    tolerance = LEAST_GAIN * (mean_similarity(q, sizes) + measure_rows(rows, weights, own, lengths))
    terms, seen = np.empty((k, 4)), np.zeros((n // BLOCK + 1, k))
    # How far every sum has moved in all, and since a block of samples was looked at.
    paths, gone = np.zeros(k), np.zeros(k)
    for c in range(k):
        fill_terms(terms, q, sizes, c)
    for move_pass in range(move_passes):
        moved = 0
        for first in range(0, n, BLOCK):
            b, last = first // BLOCK, min(first + BLOCK, n)
            for c in range(k):
                gone[c] = paths[c] - seen[b, c]
            # Look at a block of samples if one of them may move.
            to_look = move_pass == 0
            for i in range(first, last):
                if not to_look:
                    to_look = may_gain(terms, link, own, lengths, gone, i, labels[i], SURELY * tolerance)
            if not to_look:
                continue
            look_at(rows, sums, first, last, link, of_all, move_pass == 0)
            for c in range(k):
                seen[b, c], gone[c] = paths[c], 0.0
            for i in range(first, last):
                here = labels[i]
                if not may_gain(terms, link, own, lengths, gone, i, here, SURELY * tolerance):
                    continue
                for c in range(k):
                    now[c] = dot(rows[i], sums[c])
                there = best_move(q, now, own[i], sizes, here, tolerance)
                if there == here:
                    continue
                carry_over(q, now, own[i], sizes, here, there)
                labels[i] = there
                for a in range(weights.size):
                    part = weights[a] * rows[i, a]
                    sums[here, a] -= part
                    sums[there, a] += part
                fill_terms(terms, q, sizes, here)
                fill_terms(terms, q, sizes, there)
                paths[here] += lengths[i]
                paths[there] += lengths[i]
                gone[here] += lengths[i]
                gone[there] += lengths[i]
                moved += 1
        if moved == 0:
            break


@inline
def measure_rows(rows, weights, own, lengths):
    """Fill the weighted squares of the samples and their lengths; returns the sum of the squares."""
    total = 0.0
    for i in range(rows.shape[0]):
        own[i] = weighted_norm(rows[i], weights)
        lengths[i] = np.sqrt(own[i])
        total += own[i]
    return total
