"""The reference of the gap statistic with fixed subsets (Algorithm 2): K-means on a permuted copy, for many subsets."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .matrices import mirror
from .moves import LLOYD_PASSES, MOVE_PASSES, SAME
from .objective import between_scores
from .pairs import improve_pairs, seed_pairs
from .rows import dot, improve_rows, seed_rows
from .select import take_columns

# With fewer columns than this, inner products are added column by column.
NARROW = 16


@inline
def add_few_products(table, changed, joined, gram):
    """Add the inner products by some columns: those by the first `joined` ones, minus those by the others.

    Four columns are added at a time, so that the matrix is read and written a quarter as often.
    """
    n, count = len(table), changed.size
    columns, signed = np.empty((count, n)), np.zeros((count + 1, n))
    for a in range(count):
        for i in range(n):
            columns[a, i] = table[i, changed[a]]
            signed[a, i] = columns[a, i] if a < joined else -columns[a, i]
    for first in range(0, count, 4):
        at1, at2, at3 = min(first + 1, count), min(first + 2, count), min(first + 3, count)
        last = count - 1
        x0, x1, x2, x3 = columns[first], columns[min(at1, last)], columns[min(at2, last)], columns[min(at3, last)]
        # Behind the last column there are zeros.
        y0, y1, y2, y3 = signed[first], signed[at1], signed[at2], signed[at3]
        for i in range(n):
            row, z0, z1, z2, z3 = gram[i], y0[i], y1[i], y2[i], y3[i]
            for j in range(n):
                row[j] += (z0 * x0[j] + z1 * x1[j]) + (z2 * x2[j] + z3 * x3[j])


@kernel
def add_products(rows, sign, gram):
    """Add the inner products of all rows, times `sign`, to the lower triangle of a matrix.

    They are summed for three rows and three others at a time, so that the sums stay in registers and a row is read a
    third as often.
    """
    n, width = rows.shape
    whole = n - n % 3
    for i in range(0, whole, 3):
        x0, x1, x2 = rows[i], rows[i + 1], rows[i + 2]
        for j in range(0, i + 3, 3):
            y0, y1, y2 = rows[j], rows[j + 1], rows[j + 2]
            t00, t01, t02, t10, t11, t12, t20, t21, t22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for a in range(width):
                t00 += x0[a] * y0[a]
                t01 += x0[a] * y1[a]
                t02 += x0[a] * y2[a]
                t10 += x1[a] * y0[a]
                t11 += x1[a] * y1[a]
                t12 += x1[a] * y2[a]
                t20 += x2[a] * y0[a]
                t21 += x2[a] * y1[a]
                t22 += x2[a] * y2[a]
            first, second, third = gram[i, j : j + 3], gram[i + 1, j : j + 3], gram[i + 2, j : j + 3]
            first[0], first[1], first[2] = first[0] + sign * t00, first[1] + sign * t01, first[2] + sign * t02
            second[0], second[1], second[2] = second[0] + sign * t10, second[1] + sign * t11, second[2] + sign * t12
            third[0], third[1], third[2] = third[0] + sign * t20, third[1] + sign * t21, third[2] + sign * t22
    for i in range(whole, n):
        for j in range(i + 1):
            gram[i, j] += sign * dot(rows[i], rows[j])


@inline
def follow_columns(table, changed, joined, gram):
    """Let the inner products be those by the new columns: the first `joined` ones have joined, and the others left."""
    if changed.size < NARROW:
        add_few_products(table, changed, joined, gram)
        return
    add_products(take_columns(table, changed[:joined]), 1.0, gram)
    add_products(take_columns(table, changed[joined:]), -1.0, gram)
    mirror(gram)


@inline
def change_subset(is_in, subset, changed):
    """Let `is_in` mark the subset. Lists the columns that have joined it, and then those that have left it."""
    joined = 0
    for a in subset:
        if is_in[a] == 0:
            changed[joined] = a
            joined += 1
        is_in[a] = 2
    count = joined
    for a in range(is_in.size):
        if is_in[a] == 1:
            changed[count] = a
            count += 1
        is_in[a] = is_in[a] // 2
    return joined, count


@kernel
def null_objectives_pairs(table, total, members, starts, uniforms):
    """The largest objective of a subset over some clusterings by it, for many subsets; by inner products of samples.

    Subset j is members[starts[j]:starts[j+1]], and uniforms[j], of shape (n_clusterings, k), are its random numbers.
    All totals must be equal. The inner products follow the columns that join or leave from one subset to the next.
    """
    n, p = table.shape
    k = uniforms.shape[2]
    gram, is_in, changed = np.zeros((n, n)), np.zeros(p, np.int8), np.empty(p, np.intp)
    objectives = np.empty(starts.size - 1)
    for j in range(objectives.size):
        joined, count = change_subset(is_in, members[starts[j] : starts[j + 1]], changed)
        follow_columns(table, changed[:count], joined, gram)
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
