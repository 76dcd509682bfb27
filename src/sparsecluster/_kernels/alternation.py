"""Alternation between the clusters and the bounded weights of a numeric table, entirely in compiled code.

The steps are those of `methods.weights.alternate` with K-means and an L1 bound, so the result is the same. On small
tables, calling each step from Python would take longer than the step itself.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .climbs import LEAST_RISE
from .moves import MOVE_PASSES
from .rows import improve_rows
from .select import take_columns
from .sums import updated_scores
from .weights import bounded_weights

# If a larger share of the columns has a weight, zero weights are cheaper than a copy of the other columns.
COPY_SHARE = 0.5


@kernel
def alternate_rows(table, total, of_all, labels, bound, max_iter, old, sums):
    """Weights, and the objective after each step. `labels` hold the starting clusters and are changed in place.

    `old` and `sums` are those of `updated_scores`.
    """
    k = sums.shape[0]
    gains = updated_scores(table, total, of_all, labels, old, sums) * total
    weights = bounded_weights(gains, bound)
    history = np.empty(max_iter)
    history[0] = (weights * gains).sum()
    done = 1
    new = labels.copy()
    while done < max_iter:
        used = np.flatnonzero(weights)
        if used.size <= COPY_SHARE * weights.size:
            improve_rows(take_columns(table, used), weights[used], new, k, 0, MOVE_PASSES)
        else:
            improve_rows(table, weights, new, k, 0, MOVE_PASSES)
        if (new == labels).all():
            break
        gains = updated_scores(table, total, of_all, new, old, sums) * total
        new_weights = bounded_weights(gains, bound)
        history[done] = (new_weights * gains).sum()
        if history[done] <= history[done - 1] * (1.0 + LEAST_RISE):
            break
        for i in range(new.size):
            labels[i] = new[i]
        weights = new_weights
        done += 1
    return weights, history[:done]
