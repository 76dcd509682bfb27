"""K-means and hill climbing on pairs: an n x n similarity matrix, whatever the number of features."""

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
    most_gain,
)


@kernel
def seed_pairs(similarity, uniforms):
    """k-means++ seeding with one uniform random number per seed; each sample joins its nearest seed."""
    n = similarity.shape[0]
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for i in range(n):
            apart[i] = similarity[i, i] + similarity[seed, seed] - 2.0 * similarity[seed, i]
        join_seed(labels, near, taken, apart, seed, c)
    return labels


@inline
def link_pairs(similarity, labels, link, q, sizes):
    """Fill link, of shape (k, n), q and sizes for the given labels."""
    link[:] = 0.0
    q[:] = 0.0
    sizes[:] = 0.0
    n = labels.size
    for j in range(n):
        c = labels[j]
        for i in range(n):
            link[c, i] += similarity[j, i]
        sizes[c] += 1.0
    for i in range(n):
        c = labels[i]
        q[c] += link[c, i]


@inline
def move_link(row, left, joined):
    """Let a sample, whose similarities are `row`, leave one cluster and join another."""
    for j in range(row.size):
        left[j] -= row[j]
        joined[j] += row[j]


@inline
def relocate(similarity, labels, link, q, sizes, i, there):
    """Move a sample, and update everything that depends on it."""
    here = labels[i]
    carry_over(q, link[:, i], similarity[i, i], sizes, here, there)
    labels[i] = there
    move_link(similarity[i], link[here], link[there])


@inline
def relink_pairs(similarity, before, labels, link, q):
    """`link_pairs` from what it has filled for the labels `before`, which become the new ones."""
    for i in range(labels.size):
        if labels[i] != before[i]:
            move_link(similarity[i], link[before[i]], link[labels[i]])
            before[i] = labels[i]
    for c in range(q.size):
        q[c] = 0.0
    for i in range(labels.size):
        q[labels[i]] += link[labels[i], i]


@inline
def size_of_sums(similarity, q, sizes):
    """Magnitude of the sums by which moves are compared: the scale of their rounding errors."""
    scale = 0.0
    for i in range(similarity.shape[0]):
        scale += abs(similarity[i, i])
    for c in range(q.size):
        scale += abs(q[c]) / max(sizes[c], 1.0)
    return scale


@kernel
def improve_pairs(similarity, labels, k, lloyd_passes, move_passes):
    """Lloyd passes, then moves of single samples until none raises J. Changes `labels` in place; returns J."""
    n = labels.size
    link = np.empty((k, n))
    q = np.empty(k)
    sizes = np.empty(k)
    own_link = np.empty(k)
    before = labels.copy()
    link_pairs(similarity, labels, link, q, sizes)
    for _ in range(lloyd_passes):
        if assign_to_nearest(labels, link, q, sizes) == 0:
            break
        relink_pairs(similarity, before, labels, link, q)
    tolerance = LEAST_GAIN * size_of_sums(similarity, q, sizes)
    terms = np.empty((k, 4))
    for c in range(k):
        fill_terms(terms, q, sizes, c)
    # The number of samples that have been looked at since the last move: when it is n, none would move.
    quiet = 0
    for _ in range(move_passes):
        for i in range(n):
            quiet += 1
            if quiet > n:
                break
            for c in range(k):
                own_link[c] = link[c, i]
            if not most_gain(terms, own_link, similarity[i, i], labels[i]) > SURELY * tolerance:
                continue
            here = labels[i]
            there = best_move(q, own_link, similarity[i, i], sizes, here, tolerance)
            if there != here:
                relocate(similarity, labels, link, q, sizes, i, there)
                fill_terms(terms, q, sizes, here)
                fill_terms(terms, q, sizes, there)
                quiet = 0
        if quiet >= n:
            break
    return mean_similarity(q, sizes)
