"""K-means: k-means++ seeds, a few Lloyd passes, then moves of single samples. On pairs, any dissimilarity will do."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._features.features import Coordinates, Features, Pairs, Rows, SeenRows, SparseRows
from .._features.levels import SeenLevelRows
from .._kernels.level_rows import improve_levels, seed_levels
from .._kernels.missing import improve_seen, seed_seen
from .._kernels.moves import LLOYD_PASSES, MOVE_PASSES, SAME
from .._kernels.pairs import improve_pairs, seed_pairs
from .._kernels.rows import improve_rows, seed_rows
from .._kernels.seen_levels import improve_seen_levels, seed_seen_levels
from .._kernels.sparse import improve_sparse, seed_sparse
from .._kernels.views import LevelRows
from .._utils.arrays import Labels, Subset
from .clusterer import Clusterer, Needs, Task

Form = Literal["pairs", "rows"]

# Measured costs, in units of one product in a pass over the rows: a product in the Gram matrix, and per call from warm
# labels and per fresh start, all passes over the rows and all passes over the pairs.
GRAM_COST = 0.85
WARM_COSTS, COLD_COSTS = (2.5, 6.0), (16.0, 20.0)
# Passes over more values than this wait for the memory and take longer by a factor. The BLAS, which reads them once,
# does not, so that a product in the Gram matrix then costs little beside one in a pass.
MOST_CACHED, FAR_ROWS, FAR_GRAM_COST = 2**20, 2.5, 0.35
# With fewer starts, pairs have to take at most this share of the time of rows: most searches need the kernels for rows
# in any case, and a first fit should not wait until others are compiled.
MANY_STARTS, MUCH_CHEAPER = 20, 0.5


def cheaper_form(n_samples: int, n_columns: int, n_clusters: int, n_starts: int = 1, is_warm: bool = False) -> Form:
    """The cheaper form: with q coordinates, pairs take n^2 q / 2 products once and n^2 a start, rows n q k a pass."""
    by_rows, by_pairs = WARM_COSTS if is_warm else COLD_COSTS
    is_far = n_samples * n_columns > MOST_CACHED
    rows = n_starts * by_rows * n_columns * n_clusters * (FAR_ROWS if is_far else 1.0)
    pairs = n_samples * ((FAR_GRAM_COST if is_far else GRAM_COST) * n_columns / 2 + n_starts * by_pairs)
    return "pairs" if pairs <= rows * (1.0 if n_starts >= MANY_STARTS else MUCH_CHEAPER) else "rows"


# The kernels that seed and improve labels, by the form in which the samples are given.
FORMS: dict[type, tuple[Any, Any]] = {
    Pairs: (seed_pairs, improve_pairs),
    Rows: (seed_rows, improve_rows),
    SeenRows: (seed_seen, improve_seen),
    LevelRows: (seed_levels, improve_levels),
    SeenLevelRows: (seed_seen_levels, improve_seen_levels),
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
        form = self._form_of(features, subset, k, n_starts, warm is not None)
        if warm is not None and form == "rows" and features.is_settled(subset, warm, k):
            return warm.copy()
        return kmeans(seen_as(form, features, subset), k, rng, warm, n_starts)

    def several(
        self, features: Features, subset: Subset, n_clusters: int, rng: np.random.Generator, count: int
    ) -> list[Labels]:
        data = seen_as(self._form_of(features, subset, n_clusters, count), features, subset)
        return [kmeans(data, n_clusters, rng) for _ in range(count)]

    def is_compiled(self, features: Features) -> bool:
        return self.form is None and features.has_rows

    def is_compiled_from(self, features: Features, subset: Subset, n_clusters: int) -> bool:
        # Climbs in compiled code see the samples as rows.
        return self.is_compiled(features) and self._form_of(features, subset, n_clusters, 1) == "rows"

    def _form_of(self, features: Features, subset: Subset, k: int, n_starts: int, is_warm: bool = False) -> Form:
        if self.form is not None:
            return self.form
        return "rows" if features.has_missing else cheaper_form(features.n_samples, subset.size, k, n_starts, is_warm)


def seen_as(form: Form, features: Features, subset: Subset) -> Pairs | Coordinates:
    """The samples as pairs or as rows."""
    return features.pairs(subset) if form == "pairs" else features.level_rows(subset)


class HillClimb(KMeans):
    """Moves of single samples that lower sum_k (1/|C_k|) sum_{i<j in C_k} D_S(i, j), for any dissimilarity D_S."""

    needs: Needs = "pairs"

    def __init__(self) -> None:
        super().__init__("pairs")

    def is_compiled(self, features: Features) -> bool:
        return not features.has_rows

    def is_compiled_from(self, features: Features, subset: Subset, n_clusters: int) -> bool:
        return self.is_compiled(features)


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
