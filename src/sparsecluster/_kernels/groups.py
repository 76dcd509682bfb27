"""How well groups on a line, and one group with heavy tails, describe values."""

from __future__ import annotations

import math

import numpy as np

from ._jit import inline, kernel


@inline
def within(sums, squares, first, last):
    """The sum of squares about their mean of the values first, ..., last - 1."""
    total = sums[last] - sums[first]
    return squares[last] - squares[first] - total * total / (last - first)


@kernel
def group_gains(values, cuts, least):
    """The largest log likelihood ratio per sample of two, and of three, normal groups that are intervals.

    Groups end before the places in `cuts`, in ascending order, and have at least `least` of the sorted values, whose
    mean is zero. With shares pi_g, the ratio is (1/2) log(total / within) + sum_g pi_g log pi_g.
    """
    n = values.size
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + values[i]
        squares[i + 1] = squares[i] + values[i] * values[i]
    total = within(sums, squares, 0, n)
    # What a group of m samples adds to sum_g pi_g log pi_g.
    shares = np.zeros(n + 1)
    for m in range(1, n + 1):
        shares[m] = m / n * np.log(m / n)
    smallest = total * 1e-12
    best = np.full(2, -np.inf)
    for a in range(cuts.size):
        i = cuts[a]
        left = within(sums, squares, 0, i)
        two = max(left + within(sums, squares, i, n), smallest)
        best[0] = max(best[0], 0.5 * np.log(total / two) + shares[i] + shares[n - i])
        for b in range(a + 1, cuts.size):
            j = cuts[b]
            if j - i < least:
                continue
            three = max(left + within(sums, squares, i, j) + within(sums, squares, j, n), smallest)
            best[1] = max(best[1], 0.5 * np.log(total / three) + shares[i] + shares[j - i] + shares[n - j])
    # Too few samples for three groups.
    if best[1] == -np.inf:
        best[1] = best[0]
    return best


@kernel
def tail_gain(values, degrees, passes):
    """The largest log likelihood ratio per sample of a t distribution and the normal one; 0 if the normal one is best.

    The degrees of freedom are tried one after the other, each with this many passes of the EM algorithm for location
    and scale, beginning where the one before has ended. The values have the mean zero.
    """
    n = values.size
    variance = 0.0
    for x in values:
        variance += x * x / n
    normal = -0.5 * math.log(2.0 * math.pi * variance) - 0.5
    best, center, square = normal, 0.0, variance
    for df in degrees:
        for _ in range(passes):
            weights, sums, squares = 0.0, 0.0, 0.0
            for x in values:
                w = (df + 1.0) / (df + (x - center) ** 2 / square)
                weights += w
                sums += w * x
                squares += w * x * x
            center = sums / weights
            square = max((squares - center * sums) / n, 1e-12 * variance)
        found = math.lgamma((df + 1.0) / 2.0) - math.lgamma(df / 2.0) - 0.5 * math.log(df * math.pi * square)
        for x in values:
            found -= (df + 1.0) / 2.0 * math.log1p((x - center) ** 2 / (df * square)) / n
        best = max(best, found)
    return best - normal
