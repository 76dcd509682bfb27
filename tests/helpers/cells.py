"""Simulated counts of single cells."""

import numpy as np


def cells(seed=0, depth=0.8, n=150, p=300):
    """Counts of three types of cells, of which all but one value in five are zero, and the types."""
    rng = np.random.default_rng(seed)
    kind = np.sort(rng.choice(3, n, p=[0.5, 0.3, 0.2]))
    level = 0.3 * rng.lognormal(0, 1, p) * np.where(np.arange(p) // 12 == kind[:, None], 8.0, 1.0)
    return rng.poisson(level * rng.lognormal(0, depth, (n, 1))), kind
