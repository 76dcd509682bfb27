"""K-means on rows whose categories are given by their levels instead of L - 1 coordinates each.

The Hamming dissimilarity, 0 or 1, is half the squared distance of indicator columns. The inner product of a sample with
a cluster's sum of indicator columns is the number of samples in the cluster with the same level, which is looked up: a
category takes as long as one column, however many levels it has. Seeds, passes, moves and result are those on rows.

`levels`, of shape (n_samples, n_categories), numbers the levels of all categories one after the other, `units` are the
dissimilarities of two different levels of each category, `n_levels` is the number of all levels, and `center` is n
times the squared norm of the mean of all samples: indicator columns, unlike those of `rows`, are not centered.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import (
    LEAST_GAIN,
    assign_to_nearest,
    best_move,
    carry_over,
    draw,
    join_seed,
    mean_similarity,
)
from .rows import dot, weighted_norm


@inline
def look_up(numbers, values):
    """Sum of the values of a sample's levels."""
    total = 0.0
    for a in range(numbers.size):
        total += values[numbers[a]]
    return total


@inline
def shift_row(row, weights, numbers, units, sums, counts, sign):
    """Add a sample to the weighted sums and counts of a cluster (sign 1), or remove it (sign -1)."""
    for a in range(row.size):
        sums[a] += sign * weights[a] * row[a]
    for a in range(numbers.size):
        counts[numbers[a]] += sign * 0.5 * units[a]


@kernel
def seed_levels(rows, weights, levels, units, center, n_levels, uniforms):
    """`seed_rows` with categories."""
    n = rows.shape[0]
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for i in range(n):
            total = 0.0
            for a in range(weights.size):
                total += weights[a] * (rows[i, a] - rows[seed, a]) * (rows[i, a] - rows[seed, a])
            for a in range(units.size):
                total += units[a] if levels[i, a] != levels[seed, a] else 0.0
            apart[i] = total
        join_seed(labels, near, taken, apart, seed, c)
    return labels


@kernel
def sum_levels(rows, weights, levels, units, labels, sums, counts, q, sizes):
    """Fill the weighted sums, of shape (k, width), and counts, of shape (k, n_levels), q and sizes for the labels."""
    sums[:] = 0.0
    counts[:] = 0.0
    sizes[:] = 0.0
    q[:] = 0.0
    for i in range(labels.size):
        c = labels[i]
        shift_row(rows[i], weights, levels[i], units, sums[c], counts[c], 1.0)
        sizes[c] += 1.0
    for i in range(labels.size):
        c = labels[i]
        q[c] += dot(rows[i], sums[c]) + look_up(levels[i], counts[c])


@inline
def link_levels(row, numbers, sums, counts, link):
    """Fill link[c], the inner product of a sample with the weighted sum of cluster c."""
    for c in range(link.size):
        link[c] = dot(row, sums[c]) + look_up(numbers, counts[c])


@kernel
def improve_levels(rows, weights, levels, units, center, n_levels, labels, k, lloyd_passes, move_passes):
    """`improve_rows` with categories. The value is that of centered columns, as of `improve_rows`."""
    n, width = rows.shape
    sums = np.empty((k, width))
    counts = np.empty((k, n_levels))
    q = np.empty(k)
    sizes = np.empty(k)
    link, links = np.empty(k), np.empty((n, k))
    sum_levels(rows, weights, levels, units, labels, sums, counts, q, sizes)
    for _ in range(lloyd_passes):
        for i in range(n):
            link_levels(rows[i], levels[i], sums, counts, links[i])
        if assign_to_nearest(labels, links.T, q, sizes) == 0:
            break
        sum_levels(rows, weights, levels, units, labels, sums, counts, q, sizes)
    own_levels = 0.0
    for a in range(units.size):
        own_levels += 0.5 * units[a]
    scale = n * own_levels - 2.0 * center
    for i in range(n):
        scale += weighted_norm(rows[i], weights)
    for c in range(k):
        scale += q[c] / max(sizes[c], 1.0)
    # The number of samples that have been looked at since the last move: when it is n, none would move.
    quiet = 0
    for _ in range(move_passes):
        for i in range(n):
            quiet += 1
            if quiet > n:
                break
            here = labels[i]
            own = weighted_norm(rows[i], weights) + own_levels
            link_levels(rows[i], levels[i], sums, counts, link)
            there = best_move(q, link, own, sizes, here, LEAST_GAIN * scale)
            if there != here:
                carry_over(q, link, own, sizes, here, there)
                labels[i] = there
                shift_row(rows[i], weights, levels[i], units, sums[here], counts[here], -1.0)
                shift_row(rows[i], weights, levels[i], units, sums[there], counts[there], 1.0)
                quiet = 0
        if quiet >= n:
            break
    return mean_similarity(q, sizes) - center
