"""Selection of the largest of many numbers, and of the columns that belong to them."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# The least whole number, which is also what the sign of a number alone looks like.
LOWEST = np.int64(-(2**63))


@inline
def ordered(value):
    """The value itself, and the least of all for NaN, which is neither smaller nor larger than any other."""
    return value if value == value else -np.inf


@inline
def turned(word):
    """The bits of a number as a whole number in the order of the numbers, and back.

    The bits are its sign, on top, and its size, so those of negative numbers are turned around. -0 becomes 0.
    """
    return LOWEST - word if word < 0 else word


@inline
def rank_words(values):
    """Whole numbers in the order of the values; NaN comes first, and 0 and -0 are the same."""
    copy = np.empty(values.size)
    for a in range(values.size):
        copy[a] = ordered(values[a])
    words = copy.view(np.int64)
    for a in range(words.size):
        words[a] = turned(words[a])
    return words


@inline
def count_above(words, bar):
    """The number of words above the bar."""
    count = 0
    for a in range(words.size):
        count += words[a] > bar
    return count


@kernel
def largest(values, count):
    """Indices of the `count` largest values, in ascending order; ties go to the first, and NaN comes last."""
    words = rank_words(values)
    low, high = words[0] - 1, words[0]
    for a in range(words.size):
        low, high = min(low, words[a] - 1), max(high, words[a])
    # By bisection: counting is a single loop without branches, which is faster than moving words about. At least
    # `count` words are above `low`, and fewer are above `high`.
    above = words.size
    while above > count and low + 1 < high:
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        found = count_above(words, middle)
        if found < count:
            high = middle
        else:
            low, above = middle, found
    # Words that are still too many are equal, and the last ones are left out.
    until = words.size
    while above > count:
        until -= 1
        above -= words[until] == high
    # Without branches, which would be predicted wrongly half of the time. The last place takes what is not chosen.
    chosen = np.empty(count + 1, np.intp)
    filled = 0
    for a in range(words.size):
        chosen[filled] = a
        filled += (words[a] > low) & ((words[a] != high) | (a < until))
    return chosen[:count]


@kernel
def take_columns(table, columns):
    """A contiguous copy of some columns."""
    rows = np.empty((table.shape[0], columns.size), table.dtype)
    for i in range(table.shape[0]):
        for j in range(columns.size):
            rows[i, j] = table[i, columns[j]]
    return rows


@kernel
def raise_envelope(objective, owner, ranked, first, least):
    """Raise `objective` to the running sums of the scores of several clusterings, ranked[j] in ascending order.

    The sum of the s largest scores is the objective at size s. A value is larger, and a gain counts, if it exceeds the
    old one by a share of `least`; clustering j then owns this place as first + j. Returns the largest gain of each.
    """
    count, p = ranked.shape
    gains = np.zeros(count)
    for j in range(count):
        total = 0.0
        for a in range(p):
            total += ranked[j, p - 1 - a]
            if total > objective[a] * (1.0 + least):
                gains[j] = max(gains[j], 1.0 - objective[a] / total)
                objective[a] = total
                owner[a] = first + j
    return gains
