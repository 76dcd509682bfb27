"""The arithmetic of moving one sample between clusters, shared by K-means on rows and K-means on pairs.

Both raise J = sum_k Q_k / n_k, where Q_k is the sum of A_ij over i, j in cluster k. For numbers, A is the Gram matrix
and the within-cluster sum of squares is trace(A) - J. For any dissimilarity D, A = -D/2 gives the paper's objective.
A move of sample i depends on A only through link[c], the sum of A_ij over j in cluster c, and `own` = A_ii. In the
code, q[c] is Q_c and sizes[c] is n_c.
"""

from __future__ import annotations

import numpy as np

from ._jit import inline

# A move must gain more than this share of the total; otherwise rounding errors could make samples move forever.
LEAST_GAIN = 1e-12
# A move whose gain is surely below this share of the tolerance need not be looked at; the rest is for rounding errors.
SURELY = 0.5
# A few Lloyd passes come close to an optimum; from there, moves of single samples are better and cost no more.
LLOYD_PASSES = 3
# A limit that is not reached in practice: a few tens of passes are the most that have been observed.
MOVE_PASSES = 1000
# Two clusterings whose values differ by less than this share are equally good: a rounding error must not decide.
SAME = 1e-9


@inline
def assign_to_nearest(labels, link, q, sizes):
    """A Lloyd pass: every sample joins the cluster whose mean is nearest, and stays in a tie. Returns how many moved.

    link[c, i] is the sum of A_ij over j in cluster c. The last sample of a cluster stays where it is.
    """
    # Cluster by cluster, so that the loops over the samples use vector registers.
    nearest, chosen, moved = np.empty(labels.size), labels.copy(), 0
    for c in range(q.size):
        size = max(sizes[c], 1.0)
        norm, own = q[c] / (size * size), link[c]
        for i in range(labels.size):
            nearest[i] = norm - 2.0 * own[i] / size if labels[i] == c else nearest[i]
    for c in range(q.size):
        size = max(sizes[c], 1.0)
        norm, own = q[c] / (size * size), link[c]
        for i in range(labels.size):
            distance = norm - 2.0 * own[i] / size
            is_nearer = distance < nearest[i]
            nearest[i] = distance if is_nearer else nearest[i]
            chosen[i] = c if is_nearer else chosen[i]
    # As `reassign`, but in one loop: Numba would count references to the arrays in every call for a single sample.
    for i in range(labels.size):
        here, there = labels[i], chosen[i]
        if there != here and sizes[here] > 1.0:
            sizes[here] -= 1.0
            sizes[there] += 1.0
            labels[i] = there
            moved += 1
    return moved


@inline
def reassign(labels, sizes, i, there):
    """Move a sample in a Lloyd pass, unless it is the last of its cluster. Returns 1 if it moved, else 0."""
    here = labels[i]
    if there == here or sizes[here] <= 1.0:
        return 0
    sizes[here] -= 1.0
    sizes[there] += 1.0
    labels[i] = there
    return 1


@inline
def best_move(q, link, own, sizes, here, tolerance):
    """Cluster to which the move of a sample raises J most (Hartigan's rule); `here` if no move raises it."""
    best = here
    if sizes[here] > 1.0:
        leave = (q[here] - 2.0 * link[here] + own) / (sizes[here] - 1.0) - q[here] / sizes[here]
        most = tolerance
        for c in range(q.size):
            if c != here:
                gain = leave + (q[c] + 2.0 * link[c] + own) / (sizes[c] + 1.0) - q[c] / max(sizes[c], 1.0)
                if gain > most:
                    most = gain
                    best = c
    return best


@inline
def fill_terms(terms, q, sizes, c):
    """What the gains of moves have in common: those of leaving cluster c and those of joining it."""
    size = max(sizes[c], 1.0)
    terms[c, 0] = 1.0 / max(sizes[c] - 1.0, 1.0)
    terms[c, 1] = q[c] * terms[c, 0] - q[c] / size
    terms[c, 2] = 1.0 / (sizes[c] + 1.0)
    terms[c, 3] = q[c] * terms[c, 2] - q[c] / size


@inline
def most_gain(terms, link, own, here):
    """What the best move of a sample gains, up to rounding errors: `best_move` without divisions."""
    most = -np.inf
    for c in range(link.size):
        join = terms[c, 3] + (own + 2.0 * link[c]) * terms[c, 2]
        most = join if c != here and join > most else most
    return terms[here, 1] + (own - 2.0 * link[here]) * terms[here, 0] + most


@inline
def carry_over(q, link, own, sizes, here, there):
    """Update q and sizes for the move."""
    q[here] += own - 2.0 * link[here]
    q[there] += own + 2.0 * link[there]
    sizes[here] -= 1.0
    sizes[there] += 1.0


@inline
def mean_similarity(q, sizes):
    """J = sum_k Q_k / n_k."""
    value = 0.0
    for c in range(q.size):
        value += q[c] / max(sizes[c], 1.0)
    return value


@inline
def draw(weights, uniform, taken):
    """Draw a sample with probability proportional to its weight (k-means++), or the first one left if all are zero.

    The result is always a sample: the first one if all are taken.
    """
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    goal = uniform * total
    running = 0.0
    chosen = 0
    for i in range(weights.size):
        if taken[i] or (total > 0.0 and weights[i] <= 0.0):
            continue
        chosen = i
        running += weights[i]
        if running > goal or total <= 0.0:
            break
    return chosen


@inline
def join_seed(labels, near, taken, apart, seed, c):
    """Assign samples to cluster c if its seed is nearer than all earlier ones; seeds themselves stay put.

    apart[i] is the dissimilarity of sample i and the seed, which is marked so that it is not drawn again.
    """
    for i in range(labels.size):
        if not taken[i] and (c == 0 or apart[i] < near[i]):
            near[i] = max(apart[i], 0.0)
            labels[i] = c
    taken[seed] = True
    near[seed] = 0.0
    labels[seed] = c
