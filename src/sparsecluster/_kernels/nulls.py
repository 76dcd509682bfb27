"""The reference of the gap statistic with fixed subsets (Algorithm 2): K-means on a permuted copy, for many subsets."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import LLOYD_PASSES, MOVE_PASSES, SAME
from .objective import between_scores
from .pairs import improve_pairs, seed_pairs
from .rows import improve_rows, seed_rows
from .select import take_columns

# Inner products of fewer columns than this are added column by column; the BLAS is faster for the others.
NARROW = 12


@inline
def add_few_products(columns, signed, gram):
    """`add_products` of a few columns, four at a time, so that the matrix is read and written a quarter as often."""
    count, n = columns.shape
    zeros = np.zeros(n)
    for first in range(0, count, 4):
        at1, at2, at3 = min(first + 1, count - 1), min(first + 2, count - 1), min(first + 3, count - 1)
        x0, x1, x2, x3 = columns[first], columns[at1], columns[at2], columns[at3]
        y0, y1 = signed[first], signed[at1] if at1 > first else zeros
        y2, y3 = signed[at2] if at2 > at1 else zeros, signed[at3] if at3 > at2 else zeros
        for i in range(n):
            row, z0, z1, z2, z3 = gram[i], y0[i], y1[i], y2[i], y3[i]
            for j in range(n):
                row[j] += (z0 * x0[j] + z1 * x1[j]) + (z2 * x2[j] + z3 * x3[j])


@kernel
def add_products(columns, signed, gram):
    """Add sum_a columns[a, i] signed[a, j] to a matrix, where `signed` has the columns or their negatives."""
    if len(columns) < NARROW:
        add_few_products(columns, signed, gram)
        return
    products = np.dot(columns.T, signed)
    for i in range(gram.shape[0]):
        for j in range(gram.shape[1]):
            gram[i, j] += products[i, j]


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
def null_objectives_pairs(columns, total, members, starts, uniforms):
    """The largest objective of a subset over some clusterings by it, for many subsets; by inner products of samples.

    The table is given column by column, of shape (p, n). Subset j is members[starts[j]:starts[j+1]], and uniforms[j],
    of shape (n_clusterings, k), are its random numbers. All totals must be equal. The inner products follow the columns
    that join or leave from one subset to the next.
    """
    p, n = columns.shape
    k = uniforms.shape[2]
    gram, is_in, changed = np.zeros((n, n)), np.zeros(p, np.int8), np.empty(p, np.intp)
    objectives = np.empty(starts.size - 1)
    for j in range(objectives.size):
        joined, count = change_subset(is_in, members[starts[j] : starts[j + 1]], changed)
        those, signed = np.empty((count, n)), np.empty((count, n))
        for a in range(count):
            sign = 1.0 if a < joined else -1.0
            for i in range(n):
                those[a, i] = columns[changed[a], i]
                signed[a, i] = sign * columns[changed[a], i]
        add_products(those, signed, gram)
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
