"""What a clustering of all samples by its centers means in the user's units: centers of all columns, and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.kinds import Dissimilarity
from .._data.kinds.levels import LevelMeasure
from .._data.kinds.numbers import MeanMeasure
from .._data.profiles import Profile, Profiles
from .._utils.arrays import Floats, Subset
from .features import BlockFeatures, level_tables
from .sums import Sums


def centers_of(features: BlockFeatures, kinds: Sequence[Dissimilarity], sums: Sums) -> npt.NDArray[Any]:
    """The mean or the most frequent level of every column in every cluster, of shape (k, n_columns)."""
    numbers = means_of(features, sums)
    scale = features.scale
    if not scale.coded.size:
        return numbers
    centers = numbers.astype(object)
    for column, first in zip(scale.coded.tolist(), scale.firsts[:-1].tolist(), strict=True):
        counts, levels = sums.counts[:, first : first + scale.levels[column]], kinds[column].levels
        assert levels is not None
        for cluster, own in enumerate(counts):
            centers[cluster, column] = levels[int(np.argmax(own))] if own.any() else None
    return centers


def means_of(features: BlockFeatures, sums: Sums) -> Floats:
    """The mean of every column of numbers in every cluster, in the user's units; NaN if no value is observed."""
    scale = features.scale
    means = scale.origin + sums.means / np.where(scale.unit > 0, scale.unit, 1.0)
    return np.asarray(np.where(sums.seen > 0, means, np.nan))


def profiles_by(features: BlockFeatures, sums: Sums, subset: Subset, clusters: Subset) -> Profiles:
    """Profiles of the columns of the chosen features, in the user's order of columns; see `profiles_of`.

    clusters[c] is the number of cluster c in the profiles.
    """
    scale, members = features.scale, features.members(subset)
    columns, order = features.layout.columns[members], np.argsort(clusters)
    spreads, seen = features.spreads[columns], features.moments.sums.seen[0, columns]
    total, shares, means = features.total[members], features.shares[members], means_of(features, sums)
    profiles = []
    for j, column in enumerate(columns.tolist()):
        measure: Any
        if scale.levels[column]:
            spread = float(spreads[j] / seen[j])
            (apart,) = level_tables(scale, sums.counts, columns[[j]], np.ones(1), np.full(1, np.nan))
            # The last row is for a level that was never seen: q = 0 in every cluster.
            unseen = 1.0 - (1.0 - level_purity(features, sums, column)) / 2.0
            measure = LevelMeasure(np.vstack([apart, unseen])[:, order])
        else:
            unit = float(scale.high[column] - scale.low[column])
            spread = float(spreads[j] / seen[j] / scale.unit[column] ** 2 / unit**2)
            measure = MeanMeasure(means[order, column], unit)
        profiles.append(Profile(measure, spread, float(total[j] / (spread * seen[j])), float(shares[j])))
    return Profiles(profiles, float(subset.size))


def level_purity(features: BlockFeatures, sums: Sums, column: int) -> Floats:
    """sum_l q_l^2 of every cluster in one column of levels; NaN if no value is observed."""
    place = int(np.searchsorted(features.scale.coded, column))
    first, last = features.scale.firsts[place : place + 2]
    own = sums.counts[:, first:last]
    with np.errstate(invalid="ignore"):
        return np.asarray(((own / own.sum(axis=1, keepdims=True)) ** 2).sum(axis=1))
