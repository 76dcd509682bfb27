"""Clusters and bounded weights of a table of numbers in turn, without leaving compiled code.

The same steps as `methods.weights.alternate` makes with K-means and an L1 bound, so the same answer: for small tables
the calls between the steps would take longer than the steps.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .objective import between_scores
from .rows import improve_rows
from .select import take_columns
from .weights import bounded_weights

# Above this share of columns with a weight, zeros are cheaper than a copy of the others.
COPY_SHARE = 0.5


@kernel
def alternate_rows(table, total, labels, k, bound, max_iter, least_gain, move_passes):
    """Labels, weights and the objective after each step; `labels` are where it begins and are changed in place."""
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
