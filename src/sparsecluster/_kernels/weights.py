"""Feature weights that maximize the weighted sum of gains under bounds on their L1 and L2 norms."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# Most rounds of dropping the gains below the cut. About ten are usual, and each drops at least one gain.
ROUNDS = 10_000
# Weights below this share of the largest are rounding errors.
ROUNDING = 1e-13


@kernel
def cut_depth(depths, bound, deepest):
    """Depth t below the largest gain at which w = (t - h)_+ / |(t - h)_+|_2 has |w|_1 = bound.

    `depths` h are the differences between the largest gain and each gain, so that nothing cancels. For m depths with
    mean M and variance V, the cut is the root t = M + bound * sqrt(V / (m - bound^2)) of a quadratic equation. The root
    for all gains never cuts off too much. The gains below the cut are dropped and the root is computed again, which
    raises the cut, until no more are dropped. If no cut is needed, the result is `deepest`.
    """
    depth = deepest
    left = -1.0
    for _ in range(ROUNDS):
        # Sums without branches, so that the compiler can use vector registers.
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
    """argmax of sum_a w_a g_a over w >= 0 with |w|_2 <= 1 and |w|_1 <= bound; negative gains get no weight.

    If more than bound^2 features share the largest gain, no cut meets the bound. The first few of them then get equal
    weights and the next one gets the rest, so that both bounds hold with equality.
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
    # Divide by the largest first, so that the squares of very large or very small numbers stay within range.
    weights /= top
    for a in range(weights.size):
        if weights[a] <= ROUNDING:
            weights[a] = 0.0
    return weights / np.sqrt((weights * weights).sum())


@kernel
def tied_weights(is_tied, square, bound):
    """Weights of features with equal gains, with |w|_1 = bound and |w|_2 = 1: equal ones for the first, then a rest."""
    count = max(int(square * (1.0 + ROUNDING)), 1)
    weights = np.zeros(is_tied.size)
    # For c equal weights e and the rest b - c e, c e^2 + (b - c e)^2 = 1. The larger root makes the rest less than e.
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
