"""The dip statistic: the distance of an empirical distribution from the nearest unimodal one."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel


@inline
def hull(values, heights, low, high, sign, touched, on_hull):
    """Fill on_hull[low..high] with the convex minorant (sign 1) or the concave majorant (sign -1) of the points.

    `touched` receives the indices of the points that lie on it; returns their number.
    """
    count = 0
    for i in range(low, high + 1):
        # Of several points with equal values, only the extreme one can lie on the hull.
        if count > 0 and values[i] == values[touched[count - 1]]:
            if sign * (heights[i] - heights[touched[count - 1]]) >= 0.0:
                continue
            count -= 1
        while count > 1:
            a, b = touched[count - 2], touched[count - 1]
            left = (heights[b] - heights[a]) * (values[i] - values[b])
            right = (heights[i] - heights[b]) * (values[b] - values[a])
            if sign * (left - right) < 0.0:
                break
            count -= 1
        touched[count] = i
        count += 1
    at = 0
    for i in range(low, high + 1):
        while at < count - 2 and values[i] > values[touched[at + 1]]:
            at += 1
        a, b = touched[at], touched[min(at + 1, count - 1)]
        slope = (heights[b] - heights[a]) / (values[b] - values[a]) if values[b] > values[a] else 0.0
        on_hull[i] = heights[a] + slope * (values[i] - values[a])
    return count


@kernel
def dip(values):
    """Dip of sorted values: min over unimodal distributions G of sup_x |F(x) - G(x)|, F the empirical distribution.

    Hartigan and Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985): G is the greatest convex
    minorant of F before the modal interval and the least concave majorant after it, each shifted by the dip. The
    interval shrinks as long as minorant and majorant are further apart inside it than they are from F outside it.
    """
    n = values.size
    lower, upper = np.empty(n), np.empty(n)
    for i in range(n):
        lower[i], upper[i] = i, i + 1.0
    minorant, majorant = np.empty(n), np.empty(n)
    below, above = np.empty(n, np.int64), np.empty(n, np.int64)
    low, high, twice = 0, n - 1, 1.0
    while low < high:
        n_below = hull(values, lower, low, high, 1.0, below, minorant)
        n_above = hull(values, upper, low, high, -1.0, above, majorant)
        apart, left, right = -1.0, low, high
        for t in range(n_below):
            i = below[t]
            if majorant[i] - minorant[i] > apart:
                apart = majorant[i] - minorant[i]
                left = i
                for s in range(n_above):
                    if above[s] >= i:
                        right = above[s]
                        break
        for s in range(n_above):
            i = above[s]
            if majorant[i] - minorant[i] > apart:
                apart = majorant[i] - minorant[i]
                right = i
                for t in range(n_below):
                    if below[t] <= i:
                        left = below[t]
        if apart <= twice:
            break
        for i in range(low, left + 1):
            twice = max(twice, upper[i] - minorant[i])
        for i in range(right, high + 1):
            twice = max(twice, majorant[i] - lower[i])
        if left == low and right == high:
            break
        low, high = left, right
    return twice / (2.0 * n)


@kernel
def dips(columns):
    """Dip of every row; the values of each row must be in ascending order."""
    values = np.empty(columns.shape[0])
    for a in range(columns.shape[0]):
        values[a] = dip(columns[a])
    return values
