"""K-means on rows with missing values: the mean of a coordinate in a cluster is over the samples that observe it.

The kernels lower sum_k sum_a w_a sum_{i in C_k, x_ia observed} (x_ia - m_ka)^2, the within of the observed values, with
the same seeds, passes and moves as on complete rows. (Chi, Chi and Baraniuk, "k-POD", 2016, lower the same objective by
imputation and Lloyd passes.) `seen` is 1 where a value is observed and 0 where it is missing.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import LEAST_GAIN, draw, join_seed, reassign
from .objective import group_samples


@kernel
def seed_seen(rows, weights, seen, uniforms):
    """`seed_pairs` on rows with missing values.

    The distance of two samples is taken over the coordinates observed in both, and scaled up to all coordinates. It is
    0 if they have none in common.
    """
    n = rows.shape[0]
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    whole = weights.sum()
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for i in range(n):
            total = 0.0
            shared = 0.0
            for a in range(weights.size):
                both = weights[a] * seen[i, a] * seen[seed, a]
                total += both * (rows[i, a] - rows[seed, a]) * (rows[i, a] - rows[seed, a])
                shared += both
            apart[i] = total * whole / shared if shared > 0.0 else 0.0
        join_seed(labels, near, taken, apart, seed, c)
    return labels


@inline
def settle_means(sums, counts, weights, c, means, joining, leaving):
    """Means of cluster c, and the factors by which a squared distance to them counts when a sample joins or leaves.

    A sample that joins n_ka others adds n_ka / (n_ka + 1) of its squared distance to their mean. A sample that leaves a
    cluster of n_ka removes n_ka / (n_ka - 1) of its squared distance, or nothing if it was the only one.
    """
    for a in range(weights.size):
        count = counts[c, a]
        means[c, a] = sums[c, a] / max(count, 1.0)
        joining[c, a] = weights[a] * count / (count + 1.0)
        leaving[c, a] = weights[a] * count / (count - 1.0) if count > 1.0 else 0.0


@inline
def shift_sample(sums, counts, rows, seen, i, c, sign):
    """Add a sample to the sums and counts of a cluster (sign 1), or remove it (sign -1)."""
    for a in range(rows.shape[1]):
        sums[c, a] += sign * rows[i, a]
        counts[c, a] += sign * seen[i, a]


@inline
def seen_distance(row, mask, center, factors):
    """Squared distance of a sample to a center over its observed values, times the factor of each coordinate."""
    total = 0.0
    for a in range(row.size):
        d = row[a] - center[a]
        total += factors[a] * mask[a] * d * d
    return total


@kernel
def sum_seen(rows, seen, labels, sums, counts, sizes):
    """Fill the sums and counts of the observed values, of shape (k, width), and the sizes of the clusters."""
    sums[:] = 0.0
    counts[:] = 0.0
    sizes[:] = 0.0
    for i in range(labels.size):
        shift_sample(sums, counts, rows, seen, i, labels[i], 1.0)
        sizes[labels[i]] += 1.0


@kernel
def within_seen(rows, weights, seen, labels, means):
    """Weighted sum of squared distances of the observed values to the means of their clusters."""
    total = 0.0
    for i in range(labels.size):
        total += seen_distance(rows[i], seen[i], means[labels[i]], weights)
    return total


@kernel
def improve_seen(rows, weights, seen, labels, k, lloyd_passes, move_passes):
    """Lloyd passes, then moves of single samples until none lowers the within.

    Changes `labels` in place; returns -within.
    """
    n, width = rows.shape
    sums = np.empty((k, width))
    counts = np.empty((k, width))
    means = np.empty((k, width))
    joining = np.empty((k, width))
    leaving = np.empty((k, width))
    sizes = np.empty(k)
    sum_seen(rows, seen, labels, sums, counts, sizes)
    for _ in range(lloyd_passes):
        for c in range(k):
            settle_means(sums, counts, weights, c, means, joining, leaving)
        changed = 0
        for i in range(n):
            there = labels[i]
            nearest = seen_distance(rows[i], seen[i], means[there], weights)
            for c in range(k):
                d = seen_distance(rows[i], seen[i], means[c], weights)
                if d < nearest:
                    nearest = d
                    there = c
            changed += reassign(labels, sizes, i, there)
        if changed == 0:
            break
        sum_seen(rows, seen, labels, sums, counts, sizes)
    for c in range(k):
        settle_means(sums, counts, weights, c, means, joining, leaving)
    tolerance = 0.0
    for i in range(n):
        tolerance += LEAST_GAIN * seen_distance(rows[i], seen[i], np.zeros(width), weights)
    # What a sample costs a cluster is kept until the cluster changes: moves[c] counts its changes, and known[i, c] - 1
    # is that number when cost[i, c] was computed.
    cost, known, moves = np.empty((n, k)), np.zeros((n, k), np.int64), np.zeros(k, np.int64)
    for _ in range(move_passes):
        moved = 0
        for i in range(n):
            here = labels[i]
            if sizes[here] <= 1.0:
                continue
            for c in range(k):
                if known[i, c] != moves[c] + 1:
                    factors = leaving[c] if c == here else joining[c]
                    cost[i, c] = seen_distance(rows[i], seen[i], means[c], factors)
                    known[i, c] = moves[c] + 1
            most = tolerance
            there = here
            for c in range(k):
                gain = cost[i, here] - cost[i, c]
                if gain > most:
                    most = gain
                    there = c
            if there != here:
                reassign(labels, sizes, i, there)
                shift_sample(sums, counts, rows, seen, i, here, -1.0)
                shift_sample(sums, counts, rows, seen, i, there, 1.0)
                settle_means(sums, counts, weights, here, means, joining, leaving)
                settle_means(sums, counts, weights, there, means, joining, leaving)
                moves[here] += 1
                moves[there] += 1
                moved += 1
        if moved == 0:
            break
    return -within_seen(rows, weights, seen, labels, means)


@kernel
def seen_scores(table, seen, total, labels, k):
    """Score of every column over its observed values, whose mean must be 0; missing values are stored as 0."""
    p = table.shape[1]
    order, starts = group_samples(labels, k)
    scores = np.zeros(p)
    sums = np.empty(p)
    counts = np.empty(p)
    for c in range(k):
        sums[:] = 0.0
        counts[:] = 0.0
        for at in range(starts[c], starts[c + 1]):
            row = table[order[at]]
            mask = seen[order[at]]
            for a in range(p):
                sums[a] += row[a]
                counts[a] += mask[a]
        for a in range(p):
            scores[a] += sums[a] * sums[a] / max(counts[a], 1.0)
    for a in range(p):
        scores[a] = min(scores[a] / total[a], 1.0) if total[a] > 0.0 else 0.0
    return scores
