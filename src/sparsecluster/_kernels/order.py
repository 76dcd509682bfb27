"""Fingerprints that ignore order, and seeded shuffles: they make results independent of how a table is arranged."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# The increment of splitmix64, 2^64 divided by the golden ratio.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Number of columns that are shuffled together: their values in a row are several lines of the cache.
STRIP = 64


def splitmix(x):
    """The finalizer of splitmix64: spreads every bit of x, or of the words in an array x, over all 64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


mix = inline(splitmix)


@inline
def pick(state, i):
    """Random integer in 0..i without a division: the upper half of (upper half of a random word) * (i + 1)."""
    return np.int64(((mix(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))


def mixed(words):
    """Mix every word, so that words that differ little give very different salts."""
    return splitmix(words + GOLDEN)


@kernel
def row_fingerprints(bits, column_salts, rows):
    """rows[i] += sum over columns of mix(bits ^ salt), modulo 2^64: the order of the columns does not matter."""
    for i in range(bits.shape[0]):
        total = rows[i]
        for a in range(bits.shape[1]):
            total += mix(bits[i, a] ^ column_salts[a])
        rows[i] = total


@kernel
def column_fingerprints(bits, row_salts, columns):
    """columns[a] += sum over rows of mix(bits ^ salt), modulo 2^64: the order of the rows does not matter."""
    for i in range(bits.shape[0]):
        for a in range(bits.shape[1]):
            columns[a] += mix(bits[i, a] ^ row_salts[i])


@kernel
def add_salts(numbers, salts, sums):
    """Add the salt of every row to the sums, modulo 2^64, of the numbers that stand in it."""
    for i in range(numbers.shape[0]):
        for a in range(numbers.shape[1]):
            sums[numbers[i, a]] += salts[i]


@inline
def shuffle(values, stream, seed):
    """Shuffle values in place (Fisher-Yates)."""
    state = mix(seed + GOLDEN * np.uint64(stream + 1))
    for i in range(values.size - 1, 0, -1):
        state += GOLDEN
        j = pick(state, i)
        value = values[i]
        values[i] = values[j]
        values[j] = value


@kernel
def shuffle_columns(table, streams, seed):
    """Shuffle every column in place; columns with the same stream are shuffled alike.

    All columns of a feature share a stream, so that the values of a sample stay together.
    """
    n, p = table.shape
    # Some columns at a time are copied to where their values are side by side, so that rows are read in larger parts.
    strip = np.empty((STRIP, n), table.dtype)
    for first in range(0, p, STRIP):
        width = min(STRIP, p - first)
        for i in range(n):
            for a in range(width):
                strip[a, i] = table[i, first + a]
        for a in range(width):
            shuffle(strip[a], streams[first + a], seed)
        for i in range(n):
            for a in range(width):
                table[i, first + a] = strip[a, i]
