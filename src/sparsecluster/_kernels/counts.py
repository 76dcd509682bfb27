"""Categories by the levels of the samples: sums of squared counts, and the pairs of samples with the same level.

`codes`, of shape (n_samples, n_features), holds the level of each sample in each feature, and -1 where it is missing.
The levels of all features are numbered one after the other: level l of feature a has the number starts[a] + l. Counts
are whole numbers, so counts that are updated when samples move are the same as counts from scratch.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel


@inline
def shift_levels(levels, starts, counts, squares, seen, sign):
    """Add a sample to the counts of a cluster (sign 1), or remove it (sign -1)."""
    for a in range(levels.size):
        if levels[a] >= 0:
            at = starts[a] + levels[a]
            # (x + 1)^2 = x^2 + 2 x + 1, and (x - 1)^2 = x^2 - 2 x + 1.
            squares[a] += 2 * sign * counts[at] + 1
            counts[at] += sign
            seen[a] += sign


@kernel
def count_all(codes, starts, labels, counts, squares, seen):
    """Fill the counts for the given labels, as in `updated_squares`."""
    counts[:] = 0
    for i in range(labels.size):
        own = counts[labels[i]]
        for a in range(codes.shape[1]):
            if codes[i, a] >= 0:
                own[starts[a] + codes[i, a]] += 1
    for c in range(counts.shape[0]):
        for a in range(codes.shape[1]):
            square, total = 0, 0
            for at in range(starts[a], starts[a + 1]):
                square += counts[c, at] * counts[c, at]
                total += counts[c, at]
            squares[c, a] = square
            seen[c, a] = total


@kernel
def updated_squares(codes, starts, labels, old, counts, squares, seen):
    """sum_k Q_k / n_k of every feature (step 2 of Algorithm 1), from the counts of `old` labels.

    In cluster k, n_k samples are observed and Q_k = sum_l n_kl^2, where n_kl of them have level l. `counts` holds n_kl,
    of shape (k, n_levels), `squares` holds Q_k and `seen` holds n_k, both of shape (k, n_features). The last four
    arrays are changed in place and belong to `labels` afterwards.
    """
    moved = 0
    for i in range(labels.size):
        moved += labels[i] != old[i]
    # A sample that moves leaves one cluster and joins another, with three counts each.
    if 4 * moved > labels.size:
        count_all(codes, starts, labels, counts, squares, seen)
    for i in range(labels.size):
        if 4 * moved <= labels.size and labels[i] != old[i]:
            shift_levels(codes[i], starts, counts[old[i]], squares[old[i]], seen[old[i]], -1)
            shift_levels(codes[i], starts, counts[labels[i]], squares[labels[i]], seen[labels[i]], 1)
        old[i] = labels[i]
    total = np.zeros(codes.shape[1])
    for c in range(counts.shape[0]):
        for a in range(total.size):
            total[a] += squares[c, a] / max(seen[c, a], 1)
    return total


@kernel
def level_scores(codes, starts, one, observed, labels, old, counts, squares, seen):
    """1 - Delta_a[C] / T_a of every feature over its observed samples, from the counts of `old` labels.

    `one` is the sum of `updated_squares` with all samples in one cluster, and `observed` the numbers of samples.
    """
    scores = updated_squares(codes, starts, labels, old, counts, squares, seen)
    for a in range(scores.size):
        between, whole = scores[a] - one[a], observed[a] - one[a]
        scores[a] = min(max(between / whole, 0.0), 1.0) if whole > 0.0 else 0.0
    return scores


@kernel
def add_matches(codes, weights, total):
    """total[i, j] += sum of the weights of the features in which samples i and j <= i have the same level."""
    for i in range(codes.shape[0]):
        for j in range(i + 1):
            same = 0.0
            for a in range(weights.size):
                same += weights[a] if codes[i, a] == codes[j, a] and codes[i, a] >= 0 else 0.0
            total[i, j] += same


@kernel
def add_seen_levels(codes, weights, total):
    """total[i, j] += sum of the weights of the features that are observed in both samples i and j <= i."""
    for i in range(codes.shape[0]):
        for j in range(i + 1):
            both = 0.0
            for a in range(weights.size):
                both += weights[a] if codes[i, a] >= 0 and codes[j, a] >= 0 else 0.0
            total[i, j] += both


@kernel
def numbered_levels(codes, features, starts):
    """The levels of some features, numbered one after the other, of shape (n_samples, len(features)); 0 if missing.

    With unsigned numbers of 32 bits, counts are looked up fastest.
    """
    numbers = np.empty((codes.shape[0], features.size), np.uint32)
    for i in range(codes.shape[0]):
        for j in range(features.size):
            numbers[i, j] = starts[j] + max(codes[i, features[j]], 0)
    return numbers
