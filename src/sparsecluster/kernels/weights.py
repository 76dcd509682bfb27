"""Weights on features: the one that maximises their sum of gains under bounds on its lengths."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# Rounds of leaving out gains below the cut: about ten are usual, each leaves out one gain at least.
ROUNDS = 10_000


@inline
def root(m, mean, variance, bound):
    """D with |g - D|_1 = bound |g - D|_2 for m gains: a quadratic equation; -inf where m is at most bound^2."""
    if m <= bound * bound:
        return -np.inf
    return mean - bound * np.sqrt(max(variance, 0.0) / (m - bound * bound))


@kernel
def soft_cut(gains, bound):
    """The cut D at which w = (g - D)_+ / |(g - D)_+|_2 has |w|_1 = bound; 0 where |w|_1 is smaller without any.

    The root for all gains is never too high a cut; those below it are left out, and it rises, until none is.
    """
    largest = gains.max()
    cut = 0.0
    left = -1.0
    for _ in range(ROUNDS):
        # Sums without branches, so that they use vector registers; from the largest gain on, so that little cancels.
        m = 0.0
        total = 0.0
        squares = 0.0
        for a in range(gains.size):
            kept = 1.0 if gains[a] > cut else 0.0
            below = kept * (gains[a] - largest)
            m += kept
            total += below
            squares += below * below
        if m == left:
            break
        left = m
        new = root(m, largest + total / max(m, 1.0), squares / max(m, 1.0) - (total / max(m, 1.0)) ** 2, bound)
        if new <= cut:
            break
        cut = new
    if cut == 0.0:
        return 0.0
    # Once more for those that are left, and now to the last digit.
    m = 0.0
    total = 0.0
    for a in range(gains.size):
        kept = 1.0 if gains[a] > cut else 0.0
        m += kept
        total += kept * gains[a]
    mean = total / max(m, 1.0)
    squares = 0.0
    for a in range(gains.size):
        kept = 1.0 if gains[a] > cut else 0.0
        squares += kept * (gains[a] - mean) * (gains[a] - mean)
    # Where gains tie, rounding may leave too few for a root.
    return max(root(m, mean, squares / m, bound), 0.0) if m > bound * bound else cut


@kernel
def bounded_weights(gains, bound):
    """argmax of sum_a w_a g_a over w >= 0 with |w|_2 <= 1 and |w|_1 <= bound; gains below zero get none.

    Where more than bound^2 features share the largest gain, no cut meets the bound: the first of them get equal parts.
    """
    largest = gains.max()
    weights = np.maximum(gains - soft_cut(gains, bound), 0.0)
    top = weights.max()
    # Rounding may put the cut at the largest gain, or as near as makes no difference.
    if top <= 1e-14 * abs(largest) or not np.isfinite(top):
        count = max(1, int(bound * bound * (1.0 + 1e-12)))
        for a in range(gains.size):
            chosen = gains[a] == largest and count > 0
            weights[a] = 1.0 if chosen else 0.0
            if chosen:
                count -= 1
        top = 1.0
    # Divided by the largest first, so that squares of very large or small numbers stay within range.
    weights /= top
    return weights / np.sqrt((weights * weights).sum())
