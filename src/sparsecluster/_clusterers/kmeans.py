"""K-means: k-means++ seeds, a few Lloyd passes, then moves of single samples. On pairs, any dissimilarity will do."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._features.features import Coordinates, Pairs, Rows, SeenRows, SparseRows
from .._kernels.missing import improve_seen, seed_seen
from .._kernels.moves import LLOYD_PASSES, MOVE_PASSES
from .._kernels.pairs import improve_pairs, seed_pairs
from .._kernels.rows import improve_rows, seed_rows
from .._kernels.sparse import improve_sparse, seed_sparse
from .._utils.arrays import Labels
from .clusterer import Clusterer, Needs, Task

Form = Literal["pairs", "rows"]

# Two runs whose values differ by less than this share count as equally good.
SAME = 1e-9
# A product in the Gram matrix takes about this share of the time of a product in a pass over rows.
GRAM_COST = 1 / 6
# Approximate number of passes over the rows per call.
WARM_PASSES, COLD_PASSES = 2, 8


def cheaper_form(n_samples: int, n_clusters: int, passes: int) -> Form:
    """The cheaper form: with q coordinates, pairs take n^2 q / 2 products once and rows take n q k per pass."""
    return "pairs" if GRAM_COST * n_samples / 2 <= n_clusters * passes else "rows"


# The kernels that seed and improve labels, by the form in which the samples are given.
FORMS: dict[type, tuple[Any, Any]] = {
    Pairs: (seed_pairs, improve_pairs),
    Rows: (seed_rows, improve_rows),
    SeenRows: (seed_seen, improve_seen),
    SparseRows: (seed_sparse, improve_sparse),
}


class KMeans(Clusterer):
    """A clustering whose within-cluster sum of squares cannot be lowered by moving a single sample.

    It works on rows, of shape (n_samples, q), or on pairs, of shape (n_samples, n_samples). Both give the same labels,
    and `form=None` uses the cheaper one. With missing values it always works on rows, because only there the sums over
    observed values are exact.
    """

    needs: Needs = "rows"

    def __init__(self, form: Form | None = None) -> None:
        self.form = form

    def solve(self, task: Task) -> Labels:
        features, subset, k, rng, warm, n_starts = task
        passes = COLD_PASSES if warm is None else WARM_PASSES
        form = self.form or ("rows" if features.has_missing else cheaper_form(features.n_samples, k, passes))
        if warm is not None and form == "rows" and features.is_settled(subset, warm, k):
            return warm.copy()
        data = features.pairs(subset) if form == "pairs" else features.rows(subset)
        return kmeans(data, k, rng, warm, n_starts)


class HillClimb(KMeans):
    """Moves of single samples that lower sum_k (1/|C_k|) sum_{i<j in C_k} D_S(i, j), for any dissimilarity D_S."""

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
    """K-means on rows or pairs: improves the `warm` labels, or returns the best of `n_starts` fresh starts."""
    seed, improve = FORMS[type(data)]
    if warm is not None:
        labels: Labels = warm.copy()
        improve(*data, labels, n_clusters, 0, MOVE_PASSES)
        return labels
    best, most = None, -np.inf
    for _ in range(n_starts):
        labels = seed(*data, rng.random(n_clusters))
        value = improve(*data, labels, n_clusters, LLOYD_PASSES, MOVE_PASSES)
        # A rounding error must not decide between two equally good clusterings.
        if best is None or value > most + SAME * abs(most):
            best, most = labels, value
    assert best is not None
    return best
