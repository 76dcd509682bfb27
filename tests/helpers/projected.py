"""Tables in which every group is narrow in features of its own."""

from __future__ import annotations

import numpy as np


def narrow(sizes=(30, 20), features=((0, 1, 2), (3, 4)), p=8, seed=0):
    """Groups that are narrow in features of their own and uniform in the others, and their features as masks."""
    rng = np.random.default_rng(seed)
    truth, table = np.repeat(np.arange(len(sizes)), sizes), rng.uniform(0, 100, (sum(sizes), p))
    own = np.array([np.isin(np.arange(p), each) for each in features])
    centers = rng.uniform(20, 80, own.shape)
    return np.where(own[truth], centers[truth] + rng.normal(size=table.shape), table), truth, own


X, TRUTH, OWN = narrow()
