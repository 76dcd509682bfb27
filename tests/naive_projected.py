"""Slow twins of the kernels of PROCLUS, as in `naive`."""

from __future__ import annotations

from typing import Any

import numpy as np


def segmental(x: np.ndarray, y: np.ndarray, features: Any) -> float:
    """Manhattan distance per feature, in some of them."""
    return sum(abs(x[a] - y[a]) for a in features) / len(features)


def deviations_around(table: np.ndarray, medoids: list[int]) -> np.ndarray:
    """X_ia: mean deviation from every medoid, of the samples no farther from it than the nearest other medoid."""
    everything, rows = range(table.shape[1]), []
    for m in medoids:
        reach = min(segmental(table[m], table[other], everything) for other in medoids if other != m)
        local = [x for x in table if segmental(x, table[m], everything) <= reach]
        rows.append([sum(abs(x[a] - table[m][a]) for x in local) / len(local) for a in everything])
    return np.array(rows)


def projected_objective(table: np.ndarray, labels: np.ndarray, features: list[list[int]]) -> float:
    """(1/n) sum_i |C_i| w_i, with w_i the mean segmental distance to the centroid."""
    clusters = [table[labels == c] for c in range(len(features))]
    pairs = zip(clusters, features, strict=True)
    return sum(segmental(x, rows.mean(axis=0), own) for rows, own in pairs for x in rows) / len(table)
