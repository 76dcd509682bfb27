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


@kernel
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
        q[c] = weighted_norm(sums[c], weights)
        for a in range(weights.size):
            sums[c, a] *= weights[a]


@kernel
def improve_rows(rows, weights, labels, k, lloyd_passes, move_passes):
    """`improve_pairs` on rows: link[c] is the inner product of a sample with the weighted sum of cluster c."""
    n, width = rows.shape
    sums = np.empty((k, width))
    q = np.empty(k)
    sizes = np.empty(k)
    link = np.empty(k)
    sum_rows(rows, weights, labels, sums, q, sizes)
    for _ in range(lloyd_passes):
        before = sizes.copy()
        changed = 0
        for i in range(n):
            for c in range(k):
                link[c] = dot(rows[i], sums[c])
            changed += reassign(labels, sizes, i, nearest_cluster(q, link, before, labels[i]))
        if changed == 0:
            break
        sum_rows(rows, weights, labels, sums, q, sizes)
    scale = 0.0
    for i in range(n):
        scale += weighted_norm(rows[i], weights)
    for c in range(k):
        scale += q[c] / max(sizes[c], 1.0)
    for _ in range(move_passes):
        moved = 0
        for i in range(n):
            here = labels[i]
            row = rows[i]
            own = weighted_norm(row, weights)
            for c in range(k):
                link[c] = dot(row, sums[c])
            there = best_move(q, link, own, sizes, here, LEAST_GAIN * scale)
            if there != here:
                carry_over(q, link, own, sizes, here, there)
                labels[i] = there
                source = sums[here]
                target = sums[there]
                for a in range(width):
                    source[a] -= weights[a] * row[a]
                    target[a] += weights[a] * row[a]
                moved += 1
        if moved == 0:
            break
    return mean_similarity(q, sizes)
