"""Balanced graph partitioning: clusters of equal size, by swaps in the manner of Kernighan and Lin."""

from __future__ import annotations

from .._features.base import Labels, Pairs
from .._kernels.partition import improve_balanced
from .base import Clusterer, Task
from .kmeans import MOVE_PASSES, kmeans


class Partition(Clusterer):
    """Clusters of n // k samples or one more, whose J no swap of two samples raises, nor a move that keeps the balance.

    J = sum_k (1/|C_k|) sum_{i,j in C_k} A_ij, as in k-means: the paper's objective under the bound on the sizes.

    Fresh starts are k-means evened out, which ends higher than random balanced labels and than k-means++ seeds evened
    out, and sooner. Each sample makes its best swap at once. Whole passes of Kernighan and Lin (samples locked, the best
    prefix kept) end higher from one start, but in the time that they take, several plain starts end higher still.
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
    """Labels evened out and improved, and their J."""
    labels = labels.copy()
    value: float = improve_balanced(pairs.similarity, labels, n_clusters, MOVE_PASSES)
    return labels, value
