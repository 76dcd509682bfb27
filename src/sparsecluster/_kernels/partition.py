"""Balanced clusters on pairs: every cluster has n // k samples or one more, before and after each swap or shift."""

from __future__ import annotations

import numpy as np

from ._jit import inline, kernel
from .moves import LEAST_GAIN, mean_similarity
from .pairs import link_pairs, relocate, size_of_sums


@inline
def best_shift(q, link, own, sizes, here, lead, least):
    """Cluster, at least `lead` samples smaller, to which the move of a sample raises J most, and the gain in J.

    Returns -1 and `least` if no move raises J by more than `least`.
    """
    there = -1
    most = least
    if sizes[here] > lead:
        leave = (q[here] - 2.0 * link[here] + own) / (sizes[here] - 1.0) - q[here] / sizes[here]
        for c in range(q.size):
            if sizes[here] - sizes[c] >= lead:
                gain = leave + (q[c] + 2.0 * link[c] + own) / (sizes[c] + 1.0) - q[c] / max(sizes[c], 1.0)
                if gain > most:
                    most = gain
                    there = c
    return there, most


@inline
def best_partner(similarity, labels, link, sizes, i, least):
    """Sample of another cluster with which a swap raises J most, and the gain in J.

    With D_ij = A_ii + A_jj - 2 A_ij, swapping i in cluster a with j in cluster b adds to J
    (2 (link_aj - link_ai) + D_ij) / n_a + (2 (link_bi - link_bj) + D_ij) / n_b.
    Returns -1 and `least` if no swap raises J by more than `least`.
    """
    partner = -1
    most = least
    a = labels[i]
    for j in range(labels.size):
        b = labels[j]
        if b != a:
            apart = similarity[i, i] + similarity[j, j] - 2.0 * similarity[i, j]
            for_a = (2.0 * (link[a, j] - link[a, i]) + apart) / sizes[a]
            for_b = (2.0 * (link[b, i] - link[b, j]) + apart) / sizes[b]
            gain = for_a + for_b
            if gain > most:
                most = gain
                partner = j
    return partner, most


@kernel
def even_out(similarity, labels, link, q, sizes):
    """Move samples to clusters that are at least two samples smaller, always the one that costs J least.

    Each move lowers the sum of squared sizes, so the moves come to an end, with sizes that differ by at most one.
    """
    while True:
        sample, goal, most = -1, -1, -np.inf
        for i in range(labels.size):
            there, gain = best_shift(q, link[:, i], similarity[i, i], sizes, labels[i], 2.0, most)
            if there >= 0:
                sample, goal, most = i, there, gain
        if sample < 0:
            break
        relocate(similarity, labels, link, q, sizes, sample, goal)


@kernel
def improve_balanced(similarity, labels, k, passes):
    """Even out the sizes, then swap samples or shift one to a smaller cluster until neither raises J.

    Changes `labels` in place; returns J.
    """
    n = labels.size
    link = np.empty((k, n))
    q = np.empty(k)
    sizes = np.empty(k)
    link_pairs(similarity, labels, link, q, sizes)
    even_out(similarity, labels, link, q, sizes)
    tolerance = LEAST_GAIN * size_of_sums(similarity, q, sizes)
    for _ in range(passes):
        changed = 0
        for i in range(n):
            here = labels[i]
            there, gain = best_shift(q, link[:, i], similarity[i, i], sizes, here, 1.0, tolerance)
            partner, gain = best_partner(similarity, labels, link, sizes, i, gain)
            if partner >= 0:
                there = labels[partner]
                relocate(similarity, labels, link, q, sizes, partner, here)
            if there >= 0:
                relocate(similarity, labels, link, q, sizes, i, there)
                changed += 1
        if changed == 0:
            break
    return mean_similarity(q, sizes)
