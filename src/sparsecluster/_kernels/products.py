"""Products of a vector with a few rows of a matrix."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def combined_rows(rows, places, weights):
    """sum_k weights[k] rows[places[k]], without a copy of the rows."""
    total = np.zeros(rows.shape[1])
    for k in range(places.size):
        row = rows[places[k]]
        weight = weights[k]
        for a in range(total.size):
            total[a] += weight * row[a]
    return total
