"""Tables whose sums are exact, and scores that follow from the cluster sums of other labels.

If all values of a column are multiples of one power of two and not too large, sums of them have no rounding error,
whatever the order. Sums that are updated, when some samples move, are then the same as sums from scratch to the last
bit, and nothing depends on what was computed before. This matters most for wide tables: reading all rows of the table
is the most expensive step of a climb, and most clusterings differ from the one before in a few samples only.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel, step_by_step

# Number of columns summed together: few enough for the running sums to stay in the cache.
BLOCK = 2048
# Number of columns that are read together if the values of a column, not those of a row, are side by side in memory.
STRIP = 64
# Number of columns that are measured together: few enough for what is known about them to stay in the cache.
MEASURED = 256


@kernel
def arranged(values, samples, columns, table):
    """Fill `table` with the chosen samples and columns, in the given order."""
    n, p = table.shape
    by_rows = values.strides[1] <= values.strides[0]
    width = p if by_rows else STRIP
    for first in range(0, p, width):
        for i in range(n):
            # A row that is copied as a whole is in the cache when its values are picked in another order.
            source = values[samples[i]].copy() if by_rows else values[samples[i]]
            for a in range(first, min(first + width, p)):
                table[i, a] = source[columns[a]]


@step_by_step
def measure_columns(table, unit, means, largest, spreads):
    """What `scale_columns` has to know about every column; `unit` is 0 if columns are standardized.

    Fills `means`, of shape (2, p), with the mean and with the mean that is left once it is subtracted: the mean of
    large values has a rounding error. `largest` becomes the largest size of the centered values, or `unit` unless that
    is 0. Values are divided by it first, so that squares of very large or small values stay within range. The rows of
    `spreads` become the sum of the squares and, for a column of at most two values, their squared distance, else 0.
    """
    n, p = table.shape
    for first in range(0, p, MEASURED):
        last = min(first + MEASURED, p)
        mean, left, sizes = means[0, first:last], means[1, first:last], largest[first:last]
        squares, apart = spreads[0, first:last], spreads[1, first:last]
        sums, others = np.zeros(sizes.size), np.zeros(sizes.size)
        low, high = table[0, first:last].copy(), table[0, first:last].copy()
        for i in range(n):
            row = table[i, first:last]
            for a in range(sizes.size):
                x, least, most = row[a], low[a], high[a]
                sums[a] += x
                low[a] = x if x < least else least
                high[a] = x if x > most else most
        for a in range(sizes.size):
            mean[a] = sums[a] / n
            sums[a] = 0.0
        for i in range(n):
            row = table[i, first:last]
            for a in range(sizes.size):
                sums[a] += row[a] - mean[a]
        for a in range(sizes.size):
            left[a] = sums[a] / n
            # Rounding keeps the order of values, so the smallest value is the smallest one after any step.
            low[a] = low[a] - mean[a] - left[a]
            high[a] = high[a] - mean[a] - left[a]
            sizes[a] = unit if unit > 0.0 else max(high[a], -low[a])
            low[a] /= sizes[a]
            high[a] /= sizes[a]
            squares[a] = 0.0
        for i in range(n):
            row = table[i, first:last]
            for a in range(sizes.size):
                x = (row[a] - mean[a] - left[a]) / sizes[a]
                squares[a] += np.float64(x) * np.float64(x)
                others[a] += (x != low[a]) & (x != high[a])
        for a in range(sizes.size):
            distance = np.float64(high[a] - low[a])
            apart[a] = distance * distance if others[a] == 0.0 else 0.0


@step_by_step
def scale_columns(table, first_means, means_left, largest, roots, anchors):
    """Center every column twice, divide it twice and round it by its anchor, in place.

    An anchor is 1.5 times a power of two. Adding and subtracting it leaves a multiple of its last bit.
    """
    for i in range(table.shape[0]):
        row = table[i]
        for a in range(row.size):
            x = row[a] - first_means[a] - means_left[a]
            row[a] = x / largest[a] / roots[a] + anchors[a] - anchors[a]


@inline
def nearest_sums(labels, k, old, sizes, bases, starts):
    """For every cluster, find the old cluster with nearly the same samples, and list the samples that differ.

    The sum of a cluster is that of its old cluster bases[c], or 0 if that is -1, plus the rows in the places
    starts[2c] to starts[2c+1] of the list, which have joined it, minus those from there to starts[2c+2], which have
    left it. The cluster for which this would take most rows is `spare`: its sum is what the others leave of the sum of
    all samples. Fills `sizes`, `bases` and `starts`; returns the list and `spare`.
    """
    both = np.zeros((k, k), np.int64)
    for i in range(labels.size):
        both[labels[i], old[i]] += 1
    costs, old_sizes = np.zeros(k, np.int64), np.zeros(k, np.int64)
    for c in range(k):
        sizes[c] = 0
        for b in range(k):
            sizes[c] += both[c, b]
            old_sizes[b] += both[c, b]
    spare, all_costs = 0, 0
    for c in range(k):
        bases[c], costs[c] = -1, sizes[c]
        for b in range(k):
            cost = sizes[c] + old_sizes[b] - 2 * both[c, b]
            if cost < costs[c]:
                bases[c], costs[c] = b, cost
        all_costs += costs[c]
        if costs[c] > costs[spare]:
            spare = c
    rows = np.empty(all_costs - costs[spare], np.int64)
    filled = 0
    starts[0] = 0
    for c in range(k):
        for leaving in range(2):
            for i in range(labels.size if c != spare and costs[c] > 0 else 0):
                is_in, was_in = labels[i] == c, old[i] == bases[c]
                if is_in != was_in and was_in == (leaving == 1):
                    rows[filled] = i
                    filled += 1
            starts[2 * c + leaving + 1] = filled
    return rows, spare


@kernel
def add_rows(table, rows, begin, end, first, last, sign, sums):
    """Add the rows of the table in some places of the list, from column `first` to `last`, to the sums; sign is +-1."""
    i = begin
    # Four rows at a time, so that the sums are read and written a quarter as often.
    while i + 4 <= end:
        row0, row1 = table[rows[i], first:last], table[rows[i + 1], first:last]
        row2, row3 = table[rows[i + 2], first:last], table[rows[i + 3], first:last]
        for a in range(last - first):
            pair = np.float64(row0[a]) + np.float64(row1[a])
            sums[a] += sign * (pair + (np.float64(row2[a]) + np.float64(row3[a])))
        i += 4
    while i < end:
        row = table[rows[i], first:last]
        for a in range(last - first):
            sums[a] += sign * np.float64(row[a])
        i += 1


@kernel
def updated_scores(table, total, of_all, labels, old, sums):
    """`between_scores` of a table with exact sums (step 2 of Algorithm 1), from the cluster sums of `old` labels.

    `sums`, of shape (k, p), are those of the old labels, and `of_all` those of all samples together. Both `old` and
    `sums` are changed in place and belong to `labels` afterwards.
    """
    k, p = sums.shape
    sizes, bases, starts = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(2 * k + 1, np.int64)
    rows, spare = nearest_sums(labels, k, old, sizes, bases, starts)
    scores = np.empty(p)
    new = np.empty((k, min(BLOCK, p)))
    for first in range(0, p, BLOCK):
        last = min(first + BLOCK, p)
        # Parts of arrays are indexed from 0, so that the compiler knows that no index is negative.
        all_sums, part, totals, rest = of_all[first:last], scores[first:last], total[first:last], new[spare]
        for a in range(part.size):
            rest[a] = all_sums[a]
            part[a] = 0.0
        for c in range(k):
            if c == spare:
                continue
            own, base = new[c], sums[max(bases[c], 0), first:last]
            keep = 1.0 if bases[c] >= 0 else 0.0
            for a in range(part.size):
                own[a] = keep * base[a]
            add_rows(table, rows, starts[2 * c], starts[2 * c + 1], first, last, 1.0, own)
            add_rows(table, rows, starts[2 * c + 1], starts[2 * c + 2], first, last, -1.0, own)
            for a in range(part.size):
                rest[a] -= own[a]
        for c in range(k):
            own, target, share = new[c], sums[c, first:last], 1.0 / max(sizes[c], 1)
            for a in range(part.size):
                target[a] = own[a]
                part[a] += own[a] * own[a] * share
        for a in range(part.size):
            part[a] = min(part[a] / totals[a], 1.0) if totals[a] > 0.0 else 0.0
    for i in range(labels.size):
        old[i] = labels[i]
    return scores
