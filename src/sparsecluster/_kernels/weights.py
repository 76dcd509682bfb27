"""Weights on features: the one that maximizes their sum of gains under bounds on its lengths."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# Rounds of leaving out gains below the cut: about ten are usual, each leaves out one gain at least.
ROUNDS = 10_000
# Weights below this share of the largest are rounding.
ROUNDING = 1e-13


@kernel
def cut_depth(depths, bound, deepest):
    """How far below the largest gain the cut is at which w = (t - h)_+ / |(t - h)_+|_2 has |w|_1 = bound.

    `depths` h are the distances of the gains from the largest, so that nothing cancels. For m depths of mean M and
    variance V the cut is the root t = M + bound * sqrt(V / (m - bound^2)) of a quadratic equation. The root for all
    gains is never too high a cut; those below it are left out, and it rises, until it leaves out none. Where no cut is
    needed the answer is `deepest`.
    """
    depth = deepest
    left = -1.0
    for _ in range(ROUNDS):
        # Sums without branches, so that they use vector registers.
        m = 0.0
        total = 0.0
        for a in range(depths.size):
            kept = 1.0 if depths[a] < depth else 0.0
            m += kept
            total += kept * depths[a]
        if m == left or m <= bound * bound:
            break
        left = m
        mean = total / m
        squares = 0.0
        for a in range(depths.size):
            kept = 1.0 if depths[a] < depth else 0.0
            squares += kept * (depths[a] - mean) * (depths[a] - mean)
        new = mean + bound * np.sqrt(squares / m / (m - bound * bound))
        if new >= depth:
            break
        depth = new
    return depth


@kernel
def bounded_weights(gains, bound):
    """argmax of sum_a w_a g_a over w >= 0 with |w|_2 <= 1 and |w|_1 <= bound; gains below zero get none.

    Where more than bound^2 features share the largest gain, no cut meets the bound: of these the first few get equal
    weights and the next one what is left, so that both bounds hold with equality.
    """
    largest = gains.max()
    depths = largest - gains
    depth = cut_depth(depths, bound, max(largest, 0.0))
    weights = np.maximum(depth - depths, 0.0)
    top = weights.max()
    ties = 0
    for a in range(gains.size):
        if gains[a] == largest:
            ties += 1
    if top <= 0.0 or ties > bound * bound * (1.0 + ROUNDING):
        return tied_weights(gains == largest, min(bound * bound, float(ties)), bound)
    # Divided by the largest first, so that squares of very large or small numbers stay within range.
    weights /= top
    for a in range(weights.size):
        if weights[a] <= ROUNDING:
            weights[a] = 0.0
    return weights / np.sqrt((weights * weights).sum())


@kernel
def tied_weights(is_tied, square, bound):
    """Weights of features that are all alike, with |w|_1 = bound and |w|_2 = 1: the first few, and a rest."""
    count = int(square * (1.0 + ROUNDING))
    weights = np.zeros(is_tied.size)
    # c (a)^2 + (b - c a)^2 = 1, of which the larger root gives the rest less than the others.
    rest = max(count + 1.0 - square, 0.0)
    each = (bound * count + np.sqrt(count * rest)) / (count * (count + 1.0)) if square > count else 1.0 / np.sqrt(count)
    filled = 0
    for a in range(is_tied.size):
        if not is_tied[a]:
            continue
        if filled < count:
            weights[a] = each
        elif filled == count and square > count * (1.0 + ROUNDING):
            weights[a] = max(bound - count * each, 0.0)
        filled += 1
    return weights
