"""Selection of the largest of many numbers, and of the columns that belong to them."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel

# Number of bits by which many words are sorted at a time.
DIGIT = 16
# The least and the largest number of values by which the rank of another one is guessed.
LEAST_DRAWN, MOST_DRAWN = 8, 256


@inline
def ordered(value):
    """The value itself, and the least of all for NaN, which is neither smaller nor larger than any other."""
    return value if value == value else -np.inf


@inline
def digit(word, shift):
    """The DIGIT bits of a word above `shift`."""
    return np.int64((word >> np.uint64(shift)) & np.uint64((1 << DIGIT) - 1))


@inline
def rank_words(values):
    """Words, as whole numbers, in the order of the values; NaN comes first, and 0 and -0 are the same."""
    copy = np.empty(values.size)
    for a in range(values.size):
        copy[a] = ordered(values[a])
    words = copy.view(np.uint64)
    top = np.uint64(1 << 63)
    for a in range(words.size):
        # The bits of a number are its sign, on top, and its size. Those of negative numbers are turned around.
        words[a] = np.uint64(0) - words[a] if words[a] & top else words[a] | top
    return words


@inline
def rank_values(words):
    """The values behind `rank_words`, in place."""
    top = np.uint64(1 << 63)
    for a in range(words.size):
        words[a] = words[a] ^ top if words[a] & top else np.uint64(0) - words[a]
    return words.view(np.float64)


@inline
def kth_smallest(work, rank):
    """The value of the given rank, counted from 0, by quickselect. Changes the order of `work`."""
    low, high = 0, work.size - 1
    while low < high:
        middle = (low + high) // 2
        # With the median of three as pivot, sorted input is not the worst case.
        a, b, c = work[low], work[middle], work[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while work[i] < pivot:
                i += 1
            while work[j] > pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return work[rank]


@inline
def likely_range(words, count):
    """Two words between which the least of the `count` largest words is likely to be: by a sample of the words."""
    # A larger sample takes longer to sort, and a smaller one leaves more words between the two.
    size = min(max(int(np.sqrt(words.size)), LEAST_DRAWN), MOST_DRAWN)
    drawn = np.zeros(size + 2, np.uint64)
    drawn[size + 1] -= np.uint64(1)
    # The sample is sorted by insertion, between the least and the largest of all words.
    for j in range(size):
        word, at = words[j * words.size // size], j
        while drawn[at] > word:
            drawn[at + 1] = drawn[at]
            at -= 1
        drawn[at + 1] = word
    share = 1.0 - count / words.size
    # Three standard deviations around the expected rank in the sample, and one more.
    spread = 3.0 * np.sqrt(size * share * (1.0 - share)) + 1.0
    return drawn[max(int(size * share - spread), 0)], drawn[min(int(size * share + spread) + 2, size + 1)]


@kernel
def largest(values, count):
    """Indices of the `count` largest values, in ascending order; ties go to the first, and NaN comes last."""
    words = rank_words(values)
    # Most words are outside of a range that a sample suggests (Floyd and Rivest), so few have to be compared.
    low, high = likely_range(words, count)
    work = np.empty(words.size + 1, np.uint64)
    inside, above = 0, 0
    for a in range(words.size):
        work[inside] = words[a]
        inside += (words[a] >= low) & (words[a] <= high)
        above += words[a] > high
    if above >= count or above + inside < count:
        inside, above = words.size, 0
        for a in range(words.size):
            work[a] = words[a]
    least = kth_smallest(work[:inside], inside - (count - above))
    ties = count
    for a in range(words.size):
        ties -= words[a] > least
    # Without branches, which would be predicted wrongly half of the time. The last place takes what is not chosen.
    chosen = np.empty(count + 1, np.intp)
    filled = 0
    for a in range(words.size):
        is_tie = words[a] == least and ties > 0
        chosen[filled] = a
        filled += words[a] > least or is_tie
        ties -= is_tie
    return chosen[:count]


@kernel
def descending(values):
    """The values from the largest to the smallest; NaN counts as the least and becomes -inf. Pays for many values."""
    words = rank_words(values)
    # By the second digit and then, keeping this order among equals, by the first.
    for shift in (32, 48):
        ends = np.zeros(1 << DIGIT, np.int64)
        for word in words:
            ends[digit(word, shift)] += 1
        for value in range(1, ends.size):
            ends[value] += ends[value - 1]
        moved = np.empty_like(words)
        for a in range(words.size - 1, -1, -1):
            ends[digit(words[a], shift)] -= 1
            moved[ends[digit(words[a], shift)]] = words[a]
        words = moved
    # Usually few words share both digits.
    first = 0
    for last in range(1, words.size + 1):
        if last == words.size or words[last] >> np.uint64(32) != words[first] >> np.uint64(32):
            if last - first > 1:
                words[first:last].sort()
            first = last
    return rank_values(words)[::-1]


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
