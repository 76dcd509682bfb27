"""Regressions of many features on the best subset of a few others, from cross products alone."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# A regressor of which the others leave less than this share is a linear combination of them.
COLLINEAR = 1e-10


@inline
def criterion(rss, n_slopes, n):
    """n log RSS + (number of slopes) log n: what of the BIC differs between subsets. Smaller is better."""
    return n * np.log(rss) + n_slopes * np.log(n)


@inline
def best_of_all(matrix, n, least, most, work, following):
    """Go through all subsets of at most `most` regressors, each by one elimination step from the one without its last.

    The last row of the matrix of cross products is the response. Returns the smallest criterion.
    """
    m = len(matrix) - 1
    best = criterion(max(matrix[m, m], least), 0, n)
    work[0] = matrix
    following[0] = 0
    depth = 0
    while depth >= 0:
        j = following[depth]
        if j == m or depth == most:
            depth -= 1
            continue
        following[depth] += 1
        pivot = work[depth, j, j]
        if not pivot > COLLINEAR * matrix[j, j]:
            continue
        for i in range(j + 1, m + 1):
            ratio = work[depth, i, j] / pivot
            for h in range(j + 1, i + 1):
                work[depth + 1, i, h] = work[depth, i, h] - ratio * work[depth, h, j]
        depth += 1
        following[depth] = j + 1
        best = min(best, criterion(max(work[depth, m, m], least), depth, n))
    return best


@inline
def sweep(matrix, j):
    """Sweep regressor j in, or out if it is in. The last entry of the matrix is then the residual sum of squares."""
    size, pivot = len(matrix), matrix[j, j]
    for h in range(size):
        matrix[j, h] /= pivot
    for i in range(size):
        if i != j:
            ratio = matrix[i, j]
            for h in range(size):
                matrix[i, h] -= ratio * matrix[j, h]
            matrix[i, j] = -ratio / pivot
    matrix[j, j] = 1.0 / pivot


@inline
def best_by_steps(matrix, n, least, most, swept, inside):
    """Add or drop the regressor by which the criterion falls most, until none does, from no regressor and from all.

    Returns the smaller of the two criteria.
    """
    m = len(matrix) - 1
    best = np.inf
    for from_all in range(2):
        swept[:] = matrix
        n_slopes = 0
        for j in range(m):
            inside[j] = from_all == 1 and n_slopes < most and swept[j, j] > COLLINEAR * matrix[j, j]
            if inside[j]:
                sweep(swept, j)
                n_slopes += 1
        value = criterion(max(swept[m, m], least), n_slopes, n)
        winner = 0
        while winner >= 0:
            winner = -1
            for j in range(m):
                if not inside[j] and (n_slopes == most or not swept[j, j] > COLLINEAR * matrix[j, j]):
                    continue
                # Both in and out, the residual sum of squares changes by the same formula.
                rss = swept[m, m] - swept[m, j] * swept[j, m] / swept[j, j]
                new = criterion(max(rss, least), n_slopes + (-1 if inside[j] else 1), n)
                if new < value - 1e-9:
                    value, winner = new, j
            if winner >= 0:
                sweep(swept, winner)
                n_slopes += -1 if inside[winner] else 1
                inside[winner] = not inside[winner]
        best = min(best, value)
    return best


@kernel
def best_regressions(given, links, squares, n, least, most_compared):
    """Smallest n log RSS + (number of slopes) log n of each response over the subsets of the regressors.

    `given` are the cross products of the m centered regressors, `links` those with the responses, of shape (m, q), and
    `squares` the sums of squares of the responses, of shape (q,). RSS is at least the share `least` of them. With more
    than `most_compared` regressors, the subset is found by steps. At least two degrees of freedom are left.
    """
    m, q = links.shape
    most = max(0, min(m, n - 3))
    matrix = np.empty((m + 1, m + 1))
    matrix[:m, :m] = given
    found = np.empty(q)
    n_levels = m + 1 if m <= most_compared else 0
    work, following = np.empty((n_levels, m + 1, m + 1)), np.zeros(m + 1, np.int64)
    inside = np.zeros(m, np.bool_)
    swept = np.empty((m + 1, m + 1))
    for a in range(q):
        matrix[m, :m] = links[:, a]
        matrix[:m, m] = links[:, a]
        matrix[m, m] = squares[a]
        bound = least * squares[a]
        if m <= most_compared:
            found[a] = best_of_all(matrix, n, bound, most, work, following)
        else:
            found[a] = best_by_steps(matrix, n, bound, most, swept, inside)
    return found
