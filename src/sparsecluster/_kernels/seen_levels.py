"""K-means on rows and categories with missing values, both over the observed values: `missing` and `level_rows` in one.

In cluster k, n_ka samples have an observed level of category a, and n_kl of them have level l. The indicator columns of
a sample with level l are at half the squared distance (1 + Q_ka / n_ka^2) / 2 - n_kl / n_ka from their mean, where Q_ka
is the sum of the n_kl^2. `level_seen` is 1 where a level is observed and 0 where it is missing, and `shares` are the
weights by which the coordinates observed in both samples are counted when seeds are drawn.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .missing import seen_distance, settle_means, shift_sample, sum_seen, within_seen
from .moves import LEAST_GAIN, draw, join_seed, reassign


@kernel
def seed_seen_levels(rows, weights, seen, levels, units, level_seen, shares, n_levels, uniforms):
    """`seed_seen` with categories."""
    n = rows.shape[0]
    labels = np.zeros(n, np.int32)
    near = np.ones(n)
    taken = np.zeros(n, np.bool_)
    apart = np.empty(n)
    whole = weights.sum() + shares.sum()
    for c in range(uniforms.size):
        seed = draw(near, uniforms[c], taken)
        for i in range(n):
            total = 0.0
            shared = 0.0
            for a in range(weights.size):
                both = weights[a] * seen[i, a] * seen[seed, a]
                total += both * (rows[i, a] - rows[seed, a]) * (rows[i, a] - rows[seed, a])
                shared += both
            for a in range(units.size):
                if level_seen[i, a] and level_seen[seed, a]:
                    total += units[a] if levels[i, a] != levels[seed, a] else 0.0
                    shared += shares[a]
            apart[i] = total * whole / shared if shared > 0.0 else 0.0
        join_seed(labels, near, taken, apart, seed, c)
    return labels


@inline
def shift_levels(numbers, mask, counts, squares, observed, sign):
    """Add a sample to the counts of a cluster (sign 1), or remove it (sign -1)."""
    for a in range(numbers.size):
        if mask[a]:
            squares[a] += 2.0 * sign * counts[numbers[a]] + 1.0
            counts[numbers[a]] += sign
            observed[a] += sign


@kernel
def count_seen_levels(levels, level_seen, labels, counts, squares, observed):
    """Fill the counts of the levels, of shape (k + 1, n_levels), Q_ka and n_ka; the last row is for all samples."""
    counts[:] = 0.0
    squares[:] = 0.0
    observed[:] = 0.0
    every = counts.shape[0] - 1
    for i in range(labels.size):
        c = labels[i]
        shift_levels(levels[i], level_seen[i], counts[c], squares[c], observed[c], 1.0)
        shift_levels(levels[i], level_seen[i], counts[every], squares[every], observed[every], 1.0)


@inline
def settle_levels(squares, observed, units, joining, leaving):
    """Bases and slopes, of shape (2, n_categories), by which a sample's distance counts when it joins or leaves.

    A sample with level l adds base - slope n_kl to the within, as in `settle_means`.
    """
    for a in range(units.size):
        m = observed[a]
        base = 0.5 * (m + squares[a] / max(m, 1.0))
        joining[0, a] = units[a] * base / (m + 1.0)
        joining[1, a] = units[a] / (m + 1.0)
        leaving[0, a] = units[a] * base / (m - 1.0) if m > 1.0 else 0.0
        leaving[1, a] = units[a] / (m - 1.0) if m > 1.0 else 0.0


@inline
def level_distance(numbers, mask, factors, counts):
    """Sum of base - slope n_kl over the observed levels of a sample."""
    total = 0.0
    for a in range(numbers.size):
        total += mask[a] * (factors[0, a] - factors[1, a] * counts[numbers[a]])
    return total


@inline
def mean_distance(numbers, mask, units, counts, squares, observed, c):
    """Half the squared distance of a sample's indicator columns to their mean in cluster c, over the observed levels.

    Where a cluster has no observed level of a category, the mean is that of all samples.
    """
    total = 0.0
    for a in range(numbers.size):
        if mask[a]:
            at = c if observed[c, a] > 0.0 else counts.shape[0] - 1
            m = observed[at, a]
            total += units[a] * (0.5 + 0.5 * squares[at, a] / (m * m) - counts[at, numbers[a]] / m)
    return total


@inline
def within_levels(squares, observed, units):
    """sum_a u_a (n_ka - Q_ka / n_ka) / 2, the within of the observed levels of a cluster."""
    total = 0.0
    for a in range(units.size):
        total += 0.5 * units[a] * (observed[a] - squares[a] / max(observed[a], 1.0))
    return total


@kernel
def improve_seen_levels(
    rows, weights, seen, levels, units, level_seen, shares, n_levels, labels, k, lloyd_passes, move_passes
):
    """`improve_seen` with categories."""
    n, width = rows.shape
    sums = np.empty((k, width))
    numbers = np.empty((k, width))
    means = np.empty((k, width))
    joining = np.empty((k, width))
    leaving = np.empty((k, width))
    sizes = np.empty(k)
    counts = np.empty((k + 1, n_levels))
    squares = np.empty((k + 1, units.size))
    observed = np.empty((k + 1, units.size))
    level_joining = np.empty((k, 2, units.size))
    level_leaving = np.empty((k, 2, units.size))
    sum_seen(rows, seen, labels, sums, numbers, sizes)
    count_seen_levels(levels, level_seen, labels, counts, squares, observed)
    for _ in range(lloyd_passes):
        for c in range(k):
            settle_means(sums, numbers, weights, c, means, joining, leaving)
        changed = 0
        for i in range(n):
            there = labels[i]
            nearest = seen_distance(rows[i], seen[i], means[there], weights)
            nearest += mean_distance(levels[i], level_seen[i], units, counts, squares, observed, there)
            for c in range(k):
                d = seen_distance(rows[i], seen[i], means[c], weights)
                d += mean_distance(levels[i], level_seen[i], units, counts, squares, observed, c)
                if d < nearest:
                    nearest = d
                    there = c
            changed += reassign(labels, sizes, i, there)
        if changed == 0:
            break
        sum_seen(rows, seen, labels, sums, numbers, sizes)
        count_seen_levels(levels, level_seen, labels, counts, squares, observed)
    for c in range(k):
        settle_means(sums, numbers, weights, c, means, joining, leaving)
        settle_levels(squares[c], observed[c], units, level_joining[c], level_leaving[c])
    tolerance = LEAST_GAIN * within_levels(squares[k], observed[k], units)
    for i in range(n):
        tolerance += LEAST_GAIN * seen_distance(rows[i], seen[i], np.zeros(width), weights)
    for _ in range(move_passes):
        moved = 0
        for i in range(n):
            here = labels[i]
            if sizes[here] <= 1.0:
                continue
            saved = seen_distance(rows[i], seen[i], means[here], leaving[here])
            saved += level_distance(levels[i], level_seen[i], level_leaving[here], counts[here])
            most = tolerance
            there = here
            for c in range(k):
                if c != here:
                    cost = seen_distance(rows[i], seen[i], means[c], joining[c])
                    cost += level_distance(levels[i], level_seen[i], level_joining[c], counts[c])
                    if saved - cost > most:
                        most = saved - cost
                        there = c
            if there != here:
                reassign(labels, sizes, i, there)
                for step in range(2):
                    c, sign = (here, -1.0) if step == 0 else (there, 1.0)
                    shift_sample(sums, numbers, rows, seen, i, c, sign)
                    settle_means(sums, numbers, weights, c, means, joining, leaving)
                    shift_levels(levels[i], level_seen[i], counts[c], squares[c], observed[c], sign)
                    settle_levels(squares[c], observed[c], units, level_joining[c], level_leaving[c])
                moved += 1
        if moved == 0:
            break
    within = within_seen(rows, weights, seen, labels, means)
    for c in range(k):
        within += within_levels(squares[c], observed[c], units)
    return -within
