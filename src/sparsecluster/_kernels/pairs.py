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
def relocate(similarity, labels, link, q, sizes, i, there):
    """Move a sample, and update everything that depends on it."""
    here = labels[i]
    carry_over(q, link[:, i], similarity[i, i], sizes, here, there)
    labels[i] = there
    for j in range(labels.size):
        link[here, j] -= similarity[i, j]
        link[there, j] += similarity[i, j]


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
    for lloyd_pass in range(lloyd_passes + 1):
        link_pairs(similarity, labels, link, q, sizes)
        if lloyd_pass == lloyd_passes:
            break
        if assign_to_nearest(labels, link.T, q, sizes) == 0:
            break
    tolerance = LEAST_GAIN * size_of_sums(similarity, q, sizes)
    terms = np.empty((k, 4))
    for c in range(k):
        fill_terms(terms, q, sizes, c)
    for _ in range(move_passes):
        moved = 0
        for i in range(n):
            for c in range(k):
                own_link[c] = link[c, i]
            if not most_gain(terms, own_link, similarity[i, i], labels[i]) > SURELY * tolerance:
                continue
            there = best_move(q, own_link, similarity[i, i], sizes, labels[i], tolerance)
            if there != labels[i]:
                relocate(similarity, labels, link, q, sizes, i, there)
                for c in range(k):
                    fill_terms(terms, q, sizes, c)
                moved += 1
        if moved == 0:
            break
    return mean_similarity(q, sizes)
