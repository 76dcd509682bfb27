"""What can be said of every sample: how far it is from its cluster, and which cluster comes second."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.profiles import Profiles
from .._features.base import Floats


class Placed(NamedTuple):
    """For every sample: distance to its own cluster, the second-best cluster, and the silhouette; NaN where unknown.

    The distance is that of the chosen features and their weights, in units of how far a typical sample is from the middle
    of all samples: for numbers that are standardized, the root of the mean over the features of the squared difference to
    the center, over the variance. The silhouette is the simplified one, (b - a) / max(a, b) with a the distance to the
    own cluster and b that to the second best: near 1 well inside, near 0 between two clusters, below 0 nearer to
    another.
    """

    distance: Floats
    second: npt.NDArray[np.intp]
    silhouette: Floats


def placed(estimator: Any, X: Any) -> Placed | None:
    """The places of the samples of `fit`; None for methods that have no distances to clusters."""
    clusters = getattr(estimator, "_clusters", None)
    if not isinstance(clusters, Profiles):
        return None
    values = estimator._new_values(X)
    typical = sum(each.weight * each.spread for each in clusters.columns) / sum(each.share for each in clusters.columns)
    squared = np.maximum(clusters.distances(values), 0.0) / typical
    unknown = np.all(
        [np.isnan(each.distances(new)[:, 0]) for each, new in zip(clusters.columns, values, strict=True)], 0
    )
    squared[unknown] = np.nan
    own = np.asarray(estimator.labels_)
    rows = np.arange(own.size)
    mine = squared[rows, own]
    others = squared.copy()
    others[rows, own] = np.inf
    second = others.argmin(axis=1)
    a, b = np.sqrt(mine), np.sqrt(others[rows, second])
    return Placed(a, second, (b - a) / np.maximum(np.maximum(a, b), np.finfo(float).tiny))
