"""Nonnegative matrix factorization: one step for both factors, and the divergence from the table."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel


@inline
def fill_ratio(row, amounts, metagenes, ratio):
    """Fill `ratio` with the values of a row divided by their approximation."""
    for a in range(row.size):
        ratio[a] = 0.0
    for r in range(amounts.size):
        for a in range(row.size):
            ratio[a] += amounts[r] * metagenes[r, a]
    # Numba checks single quotients for zero, which is slow, but not those of arrays.
    np.divide(row, ratio, ratio)


@kernel
def improve_factors(table, amounts, metagenes, smallest):
    """Multiplicative step of Lee and Seung for the amounts (n, q), and then for the metagenes (q, p), in place.

    The new amounts of a sample depend only on its own row, so one pass over the table is enough for both.
    """
    n, p = table.shape
    q = len(metagenes)
    ratio, sums, gains, used = np.empty(p), np.zeros(q), np.zeros((q, p)), np.zeros(q)
    for r in range(q):
        for a in range(p):
            sums[r] += metagenes[r, a]
    for i in range(n):
        fill_ratio(table[i], amounts[i], metagenes, ratio)
        for r in range(q):
            gain = 0.0
            for a in range(p):
                gain += ratio[a] * metagenes[r, a]
            amounts[i, r] = max(amounts[i, r] * gain / sums[r], smallest)
            used[r] += amounts[i, r]
        fill_ratio(table[i], amounts[i], metagenes, ratio)
        for r in range(q):
            for a in range(p):
                gains[r, a] += amounts[i, r] * ratio[a]
    for r in range(q):
        for a in range(p):
            metagenes[r, a] = max(metagenes[r, a] * gains[r, a] / used[r], smallest)


@kernel
def factors_divergence(table, amounts, metagenes):
    """Sum of x log(x / y) - x + y over all values x of the table and y of the product of the factors."""
    total = 0.0
    ratio = np.empty(table.shape[1])
    for i in range(len(table)):
        fill_ratio(table[i], amounts[i], metagenes, ratio)
        for a in range(ratio.size):
            if table[i, a] > 0.0:
                total += table[i, a] * (np.log(ratio[a]) - 1.0)
    for r in range(len(metagenes)):
        total += amounts[:, r].sum() * metagenes[r].sum()
    return total
