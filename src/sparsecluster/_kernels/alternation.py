"""Alternation between the clusters and the bounded weights of a numeric table, entirely in compiled code.

The steps are those of `methods.weights.alternate` with K-means and an L1 bound, so the result is the same. On small
tables, calling each step from Python would take longer than the step itself.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .objective import between_scores
from .rows import improve_rows
from .select import take_columns
from .weights import bounded_weights

# If a larger share of the columns has a weight, zero weights are cheaper than a copy of the other columns.
COPY_SHARE = 0.5


@kernel
def alternate_rows(table, total, labels, k, bound, max_iter, least_gain, move_passes):
    """Weights, and the objective after each step. `labels` hold the starting clusters and are changed in place."""
    gains = between_scores(table, total, labels, k) * total
    weights = bounded_weights(gains, bound)
    objective = (weights * gains).sum()
    history = [objective]
    for _ in range(max_iter - 1):
        used = np.flatnonzero(weights)
        new = labels.copy()
        if used.size <= COPY_SHARE * weights.size:
            improve_rows(take_columns(table, used), weights[used], new, k, 0, move_passes)
        else:
            improve_rows(table, weights, new, k, 0, move_passes)
        if (new == labels).all():
            break
        new_gains = between_scores(table, total, new, k) * total
        new_weights = bounded_weights(new_gains, bound)
        new_objective = (new_weights * new_gains).sum()
        if new_objective <= objective * (1.0 + least_gain):
            break
        labels[:] = new
        weights, objective = new_weights, new_objective
        history.append(objective)
    return weights, np.array(history)
