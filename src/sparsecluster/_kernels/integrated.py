"""Moves of single samples that raise the integrated complete-data likelihood (Marbac and Sedki, 2017)."""

from __future__ import annotations

import math

import numpy as np

from ._jit import inline, kernel

# A gain below this is a rounding error.
LEAST_GAIN = 1e-9
# Weight of the prior mean, as a number of samples.
PRIOR_WEIGHT = 0.01


@kernel
def count_terms(most):
    """The part of `number_term` that depends on the number of values alone, for 0, ..., `most` values."""
    terms = np.empty(most + 1)
    for n in range(most + 1):
        terms[n] = math.lgamma(0.5 * (n + 1.0)) - 0.5 * n * math.log(math.pi) - 0.5 * math.log(n + PRIOR_WEIGHT)
    return terms


@inline
def number_term(count, total, squares, prior, terms):
    """Log integral of a Gaussian column over its mean and variance, up to a constant that the prior alone determines.

    `total` and `squares` are the sums of the `count` values and of their squares, measured from the prior mean.
    """
    left = max(prior + squares - total * total / (count + PRIOR_WEIGHT), prior)
    return terms[count] - 0.5 * (count + 1.0) * math.log(left)


@kernel
def number_change(row, counts, totals, squares, prior, terms, times):
    """Change of the sum of `number_term` over the columns if a row joins a cluster `times` times (leaves, if < 0)."""
    change = 0.0
    for a in range(row.size):
        x = row[a]
        if not np.isnan(x):
            change -= number_term(counts[a], totals[a], squares[a], prior[a], terms)
            total, square = totals[a] + times * x, squares[a] + times * x * x
            change += number_term(counts[a] + times, total, square, prior[a], terms)
    return change


@kernel
def level_change(codes, starts, counts, times):
    """The same for categories with a Dirichlet(1/2) prior, given the number of samples of the cluster per level."""
    change = 0.0
    for a in range(codes.size):
        if codes[a] >= 0:
            own = counts[starts[a] + codes[a]]
            seen = 0.5 * (starts[a + 1] - starts[a])
            for level in range(starts[a], starts[a + 1]):
                seen += counts[level]
            change += math.lgamma(own + times + 0.5) - math.lgamma(own + 0.5)
            change += math.lgamma(seen) - math.lgamma(seen + times)
    return change


@kernel
def improve_integrated(numbers, prior, codes, starts, blocks, labels, k, passes):
    """Move blocks of equal samples between clusters as long as the integrated likelihood rises.

    Parameters
    ----------
    numbers : array of shape (n_samples, q)
        Numerical columns, measured from their means; NaN where a value is missing.
    prior : array of shape (q,)
        Square of the prior scale of each of them.
    codes, starts : arrays of shape (n_samples, m) and (m + 1,)
        Categorical columns, as in `level_counts`.
    blocks : array of shape (n_blocks + 1,)
        Block b consists of the samples blocks[b], ..., blocks[b + 1] - 1, which are equal and have the same label.
    labels : array of shape (n_samples,)
        Cluster of each sample; changed in place. No cluster loses its last block.
    k, passes : int
        Number of clusters, and the largest number of passes over the samples.

    Returns
    -------
    float
        The increase of the log integrated likelihood.
    """
    q = numbers.shape[1]
    terms = count_terms(labels.size)
    sizes, seen = np.zeros(k, np.int64), np.zeros((k, q), np.int64)
    totals, squares, levels = np.zeros((k, q)), np.zeros((k, q)), np.zeros((k, starts[-1]))
    for b in range(blocks.size - 1):
        i = blocks[b]
        times = blocks[b + 1] - i
        carry(numbers[i], codes[i], starts, labels[i], times, sizes, seen, totals, squares, levels)
    total = 0.0
    for _ in range(passes):
        moved = False
        for b in range(blocks.size - 1):
            i, own = blocks[b], labels[blocks[b]]
            times = blocks[b + 1] - i
            if sizes[own] <= times:
                continue
            leave = math.lgamma(sizes[own] - times + 0.5) - math.lgamma(sizes[own] + 0.5)
            leave += number_change(numbers[i], seen[own], totals[own], squares[own], prior, terms, -times)
            leave += level_change(codes[i], starts, levels[own], -times)
            best, target = LEAST_GAIN, -1
            for c in range(k):
                if c != own:
                    gain = leave + math.lgamma(sizes[c] + times + 0.5) - math.lgamma(sizes[c] + 0.5)
                    gain += number_change(numbers[i], seen[c], totals[c], squares[c], prior, terms, times)
                    gain += level_change(codes[i], starts, levels[c], times)
                    if gain > best:
                        best, target = gain, c
            if target >= 0:
                carry(numbers[i], codes[i], starts, own, -times, sizes, seen, totals, squares, levels)
                carry(numbers[i], codes[i], starts, target, times, sizes, seen, totals, squares, levels)
                for j in range(i, blocks[b + 1]):
                    labels[j] = target
                total += best
                moved = True
        if not moved:
            break
    return total


@kernel
def carry(row, codes, starts, c, times, sizes, seen, totals, squares, levels):
    """Add a row `times` times to the sums of cluster c."""
    sizes[c] += times
    for a in range(row.size):
        if not np.isnan(row[a]):
            seen[c, a] += times
            totals[c, a] += times * row[a]
            squares[c, a] += times * row[a] * row[a]
    for a in range(codes.size):
        if codes[a] >= 0:
            levels[c, starts[a] + codes[a]] += times
