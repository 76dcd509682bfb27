"""The reference of the gap statistic with fixed subsets (Algorithm 2): K-means on a permuted copy, for many subsets."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import LLOYD_PASSES, MOVE_PASSES, SAME
from .objective import between_scores
from .pairs import improve_pairs, seed_pairs
from .rows import improve_rows, seed_rows
from .select import take_columns

# Inner products of fewer columns than this are added column by column.
NARROW = 24


@inline
def add_few_products(rows, sign, gram):
    """`add_products` of a few columns: loops go over the samples, because sums over few columns are slow."""
    n, width = rows.shape
    columns = np.zeros((4, n))
    x0, x1, x2, x3 = columns[0], columns[1], columns[2], columns[3]
    # Four columns at a time, so that the matrix is read and written a quarter as often. The last ones may be zero.
    for first in range(0, width, 4):
        for i in range(n):
            for a in range(4):
                columns[a, i] = rows[i, first + a] if first + a < width else 0.0
        for i in range(n):
            row, y0, y1, y2, y3 = gram[i], sign * x0[i], sign * x1[i], sign * x2[i], sign * x3[i]
            for j in range(n):
                row[j] += (y0 * x0[j] + y1 * x1[j]) + (y2 * x2[j] + y3 * x3[j])


@kernel
def add_products(rows, sign, gram):
    """Add the inner products of all rows, or subtract them if the sign is -1, to a symmetric matrix."""
    n, width = rows.shape
    if width < NARROW:
        add_few_products(rows, sign, gram)
        return
    # Four rows at a time, so that the others are read a quarter as often. The last ones may be repeated.
    for first in range(0, n, 4):
        i1, i2, i3 = min(first + 1, n - 1), min(first + 2, n - 1), min(first + 3, n - 1)
        row0, row1, row2, row3 = rows[first], rows[i1], rows[i2], rows[i3]
        for j in range(i3 + 1):
            other = rows[j]
            total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
            for a in range(width):
                total0 += row0[a] * other[a]
                total1 += row1[a] * other[a]
                total2 += row2[a] * other[a]
                total3 += row3[a] * other[a]
            for i in range(first, i3 + 1):
                total = total0 if i == first else total1 if i == i1 else total2 if i == i2 else total3
                if j <= i:
                    gram[i, j] += sign * total
                    gram[j, i] = gram[i, j]


@inline
def change_subset(is_in, subset, columns):
    """Let `is_in` mark the subset. Lists the columns that have joined it, and from the end those that have left it."""
    joined, left = 0, columns.size
    for a in subset:
        if is_in[a] == 0:
            columns[joined] = a
            joined += 1
        is_in[a] = 2
    for a in range(is_in.size):
        if is_in[a] == 1:
            left -= 1
            columns[left] = a
        is_in[a] = is_in[a] // 2
    return joined, left


@kernel
def null_objectives_pairs(table, total, members, starts, uniforms):
    """The largest objective of a subset over some clusterings by it, for many subsets; by inner products of samples.

    Subset j is members[starts[j]:starts[j+1]], and uniforms[j], of shape (n_clusterings, k), are its random numbers.
    All totals must be equal. The inner products follow the columns that join or leave from one subset to the next.
    """
    n, p = table.shape
    k = uniforms.shape[2]
    gram, is_in = np.zeros((n, n)), np.zeros(p, np.int8)
    columns = np.empty(p, np.intp)
    objectives = np.empty(starts.size - 1)
    for j in range(objectives.size):
        joined, left = change_subset(is_in, members[starts[j] : starts[j + 1]], columns)
        add_products(take_columns(table, columns[:joined]), 1.0, gram)
        add_products(take_columns(table, columns[left:]), -1.0, gram)
        best = -np.inf
        for each in uniforms[j]:
            labels = seed_pairs(gram, each)
            best = max(best, improve_pairs(gram, labels, k, LLOYD_PASSES, MOVE_PASSES))
        objectives[j] = best / total[0]
    return objectives


@kernel
def null_objectives_rows(table, total, members, starts, uniforms):
    """`null_objectives_pairs` on rows, for any totals."""
    k = uniforms.shape[2]
    objectives = np.empty(starts.size - 1)
    for j in range(objectives.size):
        subset = members[starts[j] : starts[j + 1]]
        rows, weights = take_columns(table, subset), np.ones(subset.size)
        own = np.empty(subset.size)
        for a in range(subset.size):
            own[a] = total[subset[a]]
        most, objective = 0.0, -1.0
        for each in uniforms[j]:
            labels = seed_rows(rows, weights, each)
            value = improve_rows(rows, weights, labels, k, LLOYD_PASSES, MOVE_PASSES)
            # A rounding error must not decide between two equally good clusterings.
            if objective < 0.0 or value > most + SAME * abs(most):
                most, objective = value, 0.0
                for score in between_scores(rows, own, labels, k):
                    objective += score
        objectives[j] = objective
    return objectives
