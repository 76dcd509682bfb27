"""K-means: k-means++ seeds, Lloyd to get near, single-sample moves to finish. On pairs it climbs any dissimilarity."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._features.base import Coordinates, Labels, Pairs, Rows, SeenRows, SparseRows
from .._kernels.missing import improve_seen, seed_seen
from .._kernels.pairs import improve_pairs, seed_pairs
from .._kernels.rows import improve_rows, seed_rows
from .._kernels.sparse import improve_sparse, seed_sparse
from .base import Clusterer, Needs, Task

Form = Literal["pairs", "rows"]

# Lloyd gets near in a few passes; from there single-sample moves are better and no dearer.
LLOYD_PASSES = 3
# A bound that is never reached: a few tens of passes are the most seen.
MOVE_PASSES = 1000
# Two runs whose values differ by less than this share have found the same thing.
SAME = 1e-9
# One product inside the Gram matrix takes about this share of the time of one inside a pass over rows.
GRAM_COST = 1 / 6
# Passes over the rows that a call takes, about.
WARM_PASSES, COLD_PASSES = 2, 8


def cheaper_form(n_samples: int, n_clusters: int, passes: int) -> Form:
    """On q coordinates pairs cost n^2 q / 2 products once, rows cost n q k products a pass."""
    return "pairs" if GRAM_COST * n_samples / 2 <= n_clusters * passes else "rows"


# How to seed and how to improve, by what the samples are given as.
FORMS: dict[type, tuple[Any, Any]] = {
    Pairs: (seed_pairs, improve_pairs),
    Rows: (seed_rows, improve_rows),
    SeenRows: (seed_seen, improve_seen),
    SparseRows: (seed_sparse, improve_sparse),
}


class KMeans(Clusterer):
    """A clustering whose within sum of squares no move of a single sample lowers.

    Works on rows (n x q) or on pairs (n x n); both give the same labels, and `form=None` takes the cheaper. Rows with
    missing values stay rows: only there is each sum over what is seen exact.
    """

    needs: Needs = "rows"

    def __init__(self, form: Form | None = None) -> None:
        self.form = form

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        passes = COLD_PASSES if warm is None else WARM_PASSES
        form = self.form or ("rows" if features.has_missing else cheaper_form(features.n_samples, k, passes))
        data = features.pairs(subset) if form == "pairs" else features.rows(subset)
        return kmeans(data, k, rng, warm, n_starts)


class HillClimb(KMeans):
    """Single-sample moves on the n x n sum that lower sum_k (1/|C_k|) sum_{i<j in C_k} D_S(i, j), for any D_S."""

    needs: Needs = "pairs"

    def __init__(self) -> None:
        super().__init__("pairs")


def kmeans(
    data: Pairs | Coordinates,
    n_clusters: int,
    rng: np.random.Generator,
    warm: Labels | None = None,
    n_starts: int = 1,
) -> Labels:
    """K-means on rows or pairs: `warm` labels improved, or the best of some fresh starts."""
    seed, improve = FORMS[type(data)]
    if warm is not None:
        labels: Labels = warm.copy()
        improve(*data, labels, n_clusters, 0, MOVE_PASSES)
        return labels
    best, most = None, -np.inf
    for _ in range(n_starts):
        labels = seed(*data, rng.random(n_clusters))
        value = improve(*data, labels, n_clusters, LLOYD_PASSES, MOVE_PASSES)
        # A gain that is only rounding must not decide which of two equal clusterings is taken.
        if best is None or value > most + SAME * abs(most):
            best, most = labels, value
    assert best is not None
    return best
