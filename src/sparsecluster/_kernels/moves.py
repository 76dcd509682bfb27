"""The arithmetic of moving one sample between clusters, shared by K-means on rows and K-means on pairs.

Both raise J = sum_k Q_k / n_k, where Q_k is the sum of A_ij over i, j in cluster k. For numbers, A is the Gram matrix
and the within-cluster sum of squares is trace(A) - J. For any dissimilarity D, A = -D/2 gives the paper's objective.
A move of sample i depends on A only through link[c], the sum of A_ij over j in cluster c, and `own` = A_ii. In the
code, q[c] is Q_c and sizes[c] is n_c.
"""

from __future__ import annotations

from ._jit import inline

# A move must gain more than this share of the total; otherwise rounding errors could make samples move forever.
LEAST_GAIN = 1e-12
# A few Lloyd passes come close to an optimum; from there, moves of single samples are better and cost no more.
LLOYD_PASSES = 3
# A limit that is not reached in practice: a few tens of passes are the most that have been observed.
MOVE_PASSES = 1000
# Two clusterings whose values differ by less than this share are equally good: a rounding error must not decide.
SAME = 1e-9


@inline
def nearest_cluster(q, link, sizes, here):
    """Cluster whose mean is nearest (Lloyd's rule). In a tie, the sample stays `here`."""
    best = here
    nearest = q[here] / (sizes[here] * sizes[here]) - 2.0 * link[here] / sizes[here]
    for c in range(q.size):
        size = max(sizes[c], 1.0)
        d = q[c] / (size * size) - 2.0 * link[c] / size
        if d < nearest:
            nearest = d
            best = c
    return best


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
def join_if_nearer(labels, near, taken, i, seed, apart):
    """Assign sample i to the newest seed if that is nearer than all earlier ones; seeds themselves stay put."""
    if not taken[i] and (seed == 0 or apart < near[i]):
        near[i] = max(apart, 0.0)
        labels[i] = seed


@inline
def settle_seed(labels, near, taken, i, seed):
    """Assign a seed to its own cluster, and mark it so that it is not drawn again."""
    taken[i] = True
    near[i] = 0.0
    labels[i] = seed
