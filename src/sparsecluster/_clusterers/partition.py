"""Balanced graph partitioning: clusters of equal size, found by swaps as in the method of Kernighan and Lin."""

from __future__ import annotations

from .._features.features import Pairs
from .._kernels.moves import MOVE_PASSES
from .._kernels.partition import improve_balanced
from .._utils.arrays import Labels
from .clusterer import Clusterer, Task
from .kmeans import kmeans


class Partition(Clusterer):
    """Clusters of n // k or n // k + 1 samples, whose J cannot be raised by a swap or by a move that keeps the balance.

    J = sum_k (1/|C_k|) sum_{i,j in C_k} A_ij, as in k-means: the paper's objective under a constraint on the sizes.

    Fresh starts are k-means clusters whose sizes are evened out. They lead to a higher J, and sooner, than random
    balanced labels or evened-out k-means++ seeds. Each sample makes its best swap at once. Full Kernighan-Lin passes
    (samples locked, the best prefix kept) reach a higher J from one start, but several plain starts in the same time
    reach a higher J still.
    """

    needs = "pairs"
    constrains = True

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        pairs = features.pairs(subset)
        if warm is not None:
            return balanced(pairs, warm, k)[0]
        runs = [balanced(pairs, kmeans(pairs, k, rng), k) for _ in range(n_starts)]
        return max(runs, key=lambda run: run[1])[0]


def balanced(pairs: Pairs, labels: Labels, n_clusters: int) -> tuple[Labels, float]:
    """The labels after evening out the sizes and improving J, and the value of J."""
    labels = labels.copy()
    value: float = improve_balanced(pairs.similarity, labels, n_clusters, MOVE_PASSES)
    return labels, value
