"""Tables that are mostly zero, compressed by row or by column: time and memory depend on the stored values only.

The coordinates are z = x - means. Only x is sparse, and z is never formed: cluster sums are those of x, and sizes times
means are subtracted where a sum is used.
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
from .order import shuffle_columns

# ---------------------------------------------------------------- by row: K-means


@kernel
def seed_sparse(values, columns, starts, means, weights, uniforms):
    """`seed_rows` on sparse rows; the means cancel in differences of rows."""
    n = starts.size - 1
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    center = np.zeros(means.size)
    # The last sample found to have a stored value in each column.
    last = np.full(means.size, -1)
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for t in range(starts[seed], starts[seed + 1]):
            center[columns[t]] = values[t]
        for i in range(n):
            total = 0.0
            for t in range(starts[i], starts[i + 1]):
                a = columns[t]
                total += weights[a] * (values[t] - center[a]) * (values[t] - center[a])
                last[a] = i
            for t in range(starts[seed], starts[seed + 1]):
                a = columns[t]
                if last[a] != i:
                    total += weights[a] * values[t] * values[t]
            apart[i] = total
        for t in range(starts[seed], starts[seed + 1]):
            center[columns[t]] = 0.0
        join_seed(labels, near, taken, apart, seed, c)
    return labels


@kernel
def sum_sparse(values, columns, starts, means, weights, labels, sums, pull, q, sizes):
    """Fill the cluster sums of x, of shape (width, k), pull, q and sizes for the given labels.

    pull[c] is the inner product of the means with the sum of z in the cluster; q[c] is that of the sum with itself.
    """
    sums[:] = 0.0
    pull[:] = 0.0
    q[:] = 0.0
    sizes[:] = 0.0
    for i in range(labels.size):
        for t in range(starts[i], starts[i + 1]):
            sums[columns[t], labels[i]] += values[t]
        sizes[labels[i]] += 1.0
    for a in range(means.size):
        for c in range(q.size):
            centered = sums[a, c] - sizes[c] * means[a]
            pull[c] += weights[a] * means[a] * centered
            q[c] += weights[a] * centered * centered


@inline
def link_sparse(values, columns, starts, means, weights, i, sums, pull, sizes, link):
    """Fill link: the inner product of z_i with the sum of z in every cluster."""
    for c in range(link.size):
        link[c] = -pull[c]
    for t in range(starts[i], starts[i + 1]):
        a = columns[t]
        mean = means[a]
        x = weights[a] * values[t]
        row = sums[a]
        for c in range(link.size):
            link[c] += x * (row[c] - sizes[c] * mean)


@kernel
def own_sparse(values, columns, starts, means, weights, origin, own):
    """Fill own: the inner product of every z_i with itself; `origin` is that of a row of zeros."""
    for i in range(own.size):
        own[i] = origin
        for t in range(starts[i], starts[i + 1]):
            a = columns[t]
            own[i] += weights[a] * values[t] * (values[t] - 2.0 * means[a])


@kernel
def improve_sparse(values, columns, starts, means, weights, labels, k, lloyd_passes, move_passes):
    """`improve_rows` on sparse rows.

    A pass takes time proportional to k times the number of stored values; summing again takes another width x k.
    """
    n = labels.size
    sums = np.empty((means.size, k))
    pull = np.empty(k)
    q = np.empty(k)
    sizes = np.empty(k)
    link, links = np.empty(k), np.empty((n, k))
    sum_sparse(values, columns, starts, means, weights, labels, sums, pull, q, sizes)
    for _ in range(lloyd_passes):
        for i in range(n):
            link_sparse(values, columns, starts, means, weights, i, sums, pull, sizes, links[i])
        if assign_to_nearest(labels, links.T, q, sizes) == 0:
            break
        sum_sparse(values, columns, starts, means, weights, labels, sums, pull, q, sizes)
    origin = 0.0
    for a in range(means.size):
        origin += weights[a] * means[a] * means[a]
    own = np.empty(n)
    own_sparse(values, columns, starts, means, weights, origin, own)
    scale = own.sum()
    for c in range(k):
        scale += q[c] / max(sizes[c], 1.0)
    for _ in range(move_passes):
        moved = 0
        for i in range(n):
            here = labels[i]
            link_sparse(values, columns, starts, means, weights, i, sums, pull, sizes, link)
            there = best_move(q, link, own[i], sizes, here, LEAST_GAIN * scale)
            if there != here:
                carry_over(q, link, own[i], sizes, here, there)
                labels[i] = there
                pulled = -origin
                for t in range(starts[i], starts[i + 1]):
                    a = columns[t]
                    sums[a, here] -= values[t]
                    sums[a, there] += values[t]
                    pulled += weights[a] * means[a] * values[t]
                pull[here] -= pulled
                pull[there] += pulled
                moved += 1
        if moved == 0:
            break
    return mean_similarity(q, sizes)


# ---------------------------------------------------------------- by column


@kernel
def sparse_scores(values, samples, starts, means, total, labels, k):
    """`between_scores` of sparse columns: the sum of z over cluster k is that of x minus n_k times the mean."""
    sizes = np.zeros(k)
    for i in range(labels.size):
        sizes[labels[i]] += 1.0
    scores = np.zeros(means.size)
    sums = np.empty(k)
    for a in range(means.size):
        sums[:] = 0.0
        for t in range(starts[a], starts[a + 1]):
            sums[labels[samples[t]]] += values[t]
        for c in range(k):
            if sizes[c] > 0.0:
                centered = sums[c] - sizes[c] * means[a]
                scores[a] += centered * centered / sizes[c]
        scores[a] = min(scores[a] / total[a], 1.0) if total[a] > 0.0 else 0.0
    return scores


@kernel
def sparse_rows(values, samples, starts, subset, n):
    """A subset of the columns compressed by row: values, their positions in the subset, and the start of each row."""
    row_starts = np.zeros(n + 1, np.int64)
    for a in subset:
        for t in range(starts[a], starts[a + 1]):
            row_starts[samples[t] + 1] += 1
    for i in range(n):
        row_starts[i + 1] += row_starts[i]
    filled = row_starts[:-1].copy()
    row_values = np.empty(row_starts[n])
    columns = np.empty(row_starts[n], np.int64)
    for j in range(subset.size):
        for t in range(starts[subset[j]], starts[subset[j] + 1]):
            at = filled[samples[t]]
            row_values[at] = values[t]
            columns[at] = j
            filled[samples[t]] += 1
    return row_values, columns, row_starts


@kernel
def dense_columns(values, samples, starts, means, subset, n):
    """A subset of the columns of z as a dense array of shape (subset.size, n)."""
    block = np.empty((subset.size, n))
    for j in range(subset.size):
        a = subset[j]
        block[j] = -means[a]
        for t in range(starts[a], starts[a + 1]):
            block[j, samples[t]] += values[t]
    return block


@kernel
def sparse_gram(values, samples, starts, means, subset, n):
    """Gram matrix of the samples on a subset of the columns of z: that of x, corrected for the means."""
    gram = np.zeros((n, n))
    level = np.zeros(n)
    origin = 0.0
    for a in subset:
        origin += means[a] * means[a]
        for s in range(starts[a], starts[a + 1]):
            row = gram[samples[s]]
            level[samples[s]] += values[s] * means[a]
            for t in range(starts[a], starts[a + 1]):
                row[samples[t]] += values[s] * values[t]
    for i in range(n):
        for j in range(n):
            gram[i, j] += origin - (level[i] + level[j])
    return gram


# ---------------------------------------------------------------- order


@kernel
def shuffle_samples(samples, starts, n, streams, seed):
    """`shuffle_columns` of sparse columns: returns the samples to which the stored values move."""
    moved = np.empty_like(samples)
    origin = np.empty((n, 1), np.int64)
    place = np.empty(n, np.int64)
    stream = np.empty(1, np.int64)
    for a in range(starts.size - 1):
        stream[0] = streams[a]
        for i in range(n):
            origin[i, 0] = i
        shuffle_columns(origin, stream, seed)
        for i in range(n):
            place[origin[i, 0]] = i
        for t in range(starts[a], starts[a + 1]):
            moved[t] = place[samples[t]]
    return moved
