"""Rows of numbers in ascending order, sorted by the digits of their bits."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .select import LOWEST, turned

# With fewer values than this in a row, NumPy is faster.
MANY = 512
# Words are sorted by three digits of 11 bits: the sign, the exponent and 21 bits of the fraction. Few share all three.
BITS, LOW, MIDDLE, HIGH = 11, 31, 42, 53
# The word that comes last: its bits are those of a NaN.
LAST = np.int64(2**63 - 1)


def sort_rows(table):
    """Sort every row of a table of shape (m, n) in place, as NumPy does: NaN comes last."""
    if table.shape[1] < MANY:
        table.sort(axis=1)
    else:
        sort_long_rows(table)


@inline
def digit(word, shift):
    """The BITS bits of a word above `shift`, as a number that is never negative."""
    return np.int64((np.uint64(word ^ LOWEST) >> np.uint64(shift)) & np.uint64((1 << BITS) - 1))


@kernel
def sort_long_rows(table):
    """`sort_rows` by digits: from the lowest to the highest, each of which keeps the order among equal ones."""
    n = table.shape[1]
    words, moved = np.empty(n, np.int64), np.empty(n, np.int64)
    places = np.empty((3, 1 << BITS), np.int64)
    for row in table:
        bits = row.view(np.int64)
        for each in places:
            for value in range(each.size):
                each[value] = 0
        for i in range(n):
            word = turned(bits[i]) if row[i] == row[i] else LAST
            words[i] = word
            places[0, digit(word, LOW)] += 1
            places[1, digit(word, MIDDLE)] += 1
            places[2, digit(word, HIGH)] += 1
        for step in range(3):
            # Where the words with each digit begin.
            own, shift, begin = places[step], LOW + BITS * step, 0
            for value in range(own.size):
                count = own[value]
                own[value] = begin
                begin += count
            for i in range(n):
                at = digit(words[i], shift)
                moved[own[at]] = words[i]
                own[at] += 1
            words, moved = moved, words
        sort_within(words)
        for i in range(n):
            bits[i] = turned(words[i])


@inline
def sort_within(words):
    """Sort words that are sorted except for those that share all digits."""
    first, is_sorted = 0, True
    for last in range(1, words.size + 1):
        if last == words.size or words[last] >> np.uint64(LOW) != words[first] >> np.uint64(LOW):
            if not is_sorted:
                words[first:last].sort()
            first, is_sorted = last, True
        else:
            is_sorted = is_sorted and words[last - 1] <= words[last]
