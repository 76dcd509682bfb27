"""Weights on features: the one that maximises their sum of gains under bounds on its lengths."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def soft_cut(descending, bound):
    """The cut D at which w = (g - D)_+ / |(g - D)_+|_2 has |w|_1 = bound; 0 where |w|_1 is smaller without any.

    With the m largest gains above the cut, mean M and variance V, the condition is a quadratic equation in D with the
    root D = M - bound * sqrt(V / (m - bound^2)). The right m is the first whose root leaves out the next gain.
    """
    mean = 0.0
    squares = 0.0  # sum of squared differences to the mean, updated as in Welford's method
    for m in range(1, descending.size + 1):
        gain = descending[m - 1]
        change = gain - mean
        mean += change / m
        squares += change * (gain - mean)
        following = descending[m] if m < descending.size else 0.0
        if m > bound * bound:
            cut = mean - bound * np.sqrt(squares / m / (m - bound * bound))
            # Never above a gain that it keeps: only rounding would put it there.
            if cut >= following:
                return max(min(cut, gain), 0.0)
    return 0.0


@kernel
def bounded_weights(gains, bound):
    """argmax of sum_a w_a g_a over w >= 0 with |w|_2 <= 1 and |w|_1 <= bound; gains below zero get none.

    Where more than bound^2 features share the largest gain, no cut meets the bound: the first of them get equal parts.
    """
    positive = np.maximum(gains, 0.0)
    descending = np.sort(positive)[::-1]
    cut = soft_cut(descending, bound)
    weights = np.maximum(positive - cut, 0.0)
    # The first power of two makes squares of very small numbers safe; it leaves no rounding.
    largest = weights.max()
    if largest <= 0.0 or not np.isfinite(largest):
        weights[:] = 0.0
        places = np.flatnonzero(positive == descending[0])
        count = max(1, min(places.size, int(bound * bound * (1.0 + 1e-12))))
        weights[places[:count]] = 1.0
        largest = 1.0
    weights /= largest
    return weights / np.sqrt((weights * weights).sum())
