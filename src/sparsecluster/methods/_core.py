"""The core of a fitted clustering, for every method: the fewest features that are enough to find its clusters again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._data.reading import Reading
from .._features.features import Features
from .._search.climb import Problem
from .._search.core import find_core
from .._utils.arrays import Labels, Subset
from .._utils.checks import check_number
from .._utils.parameters import rng_of
from ._result import Array, Result

if TYPE_CHECKING:
    from ._base import SparseClusterer

# With more samples than this, the core is sought on a random subsample; for clusterers that look at pairs, on fewer.
MOST_SAMPLES, MOST_PAIRED_SAMPLES = 2000, 500


def check_core_agreement(value: object) -> None:
    """Check the agreement that the core must reach."""
    if value is not None:
        check_number("core_agreement", value, "None or a number above 0 and at most 1", lambda x: 0 < x <= 1)


class Part(NamedTuple):
    """Some of the samples: their features, their labels, and the ranked features that vary among them.

    counts[j] is the number of all ranked features up to the one at place j + 1 of these.
    """

    features: Features
    labels: Labels
    ranked: Subset
    counts: Subset


def with_core(estimator: SparseClusterer, reading: Reading, found: Result) -> Result:
    """Return the result with the attributes that describe its core, unless it is not wanted."""
    least = vars(estimator).get("core_agreement", 0.9)
    if least is None:
        return found
    rng = rng_of(vars(estimator).get("random_state", 0))
    ranked = ranked_features(found)
    return with_core_of(estimator, found, _part(estimator, reading, found, ranked, rng), ranked, rng)


def ranked_features(found: Result) -> Subset:
    """Return the chosen features, the one with the highest score first."""
    return found.subset[np.argsort(-found.scores[found.subset], kind="stable")]


def with_core_of(
    estimator: SparseClusterer, found: Result, part: Part, ranked: Subset, rng: np.random.Generator
) -> Result:
    """Return the result with its core, which is sought on a part of the samples."""
    least = vars(estimator).get("core_agreement", 0.9)
    problem = Problem(part.features, estimator._clusterer(part.features), found.n_clusters)
    core = find_core(problem, part.labels, part.ranked, float(least), rng)
    size = int(part.counts[core.subset.size - 1])
    curve = replace(core.curve, values=part.counts[core.curve.values - 1], chosen=size)
    subset = ranked[:size]
    mask = np.zeros(found.features.n_features, bool)
    mask[subset] = True
    found = found.with_attributes({"core_support_": Array(mask, ("feature",))}, core_size_=size, core_curve_=curve)
    return estimator._choose_core(found, np.sort(subset))


def _part(
    estimator: SparseClusterer, reading: Reading, found: Result, ranked: Subset, rng: np.random.Generator
) -> Part:
    """Return the samples in clusters, or a random subsample if there are many."""
    source, features = reading.source, found.features
    on_pairs = estimator._clusterer(features).needs == "pairs"
    most = MOST_PAIRED_SAMPLES if on_pairs else MOST_SAMPLES
    places = found.inside
    if places.size > most:
        places = places[from_all_clusters(found.labels[places], most, rng)]
    if places.size < features.n_samples:
        part = source.take(places, found.n_clusters)
        if part is not None:
            # The number of each feature among the features of the part, and -1 if it does not vary there.
            own = np.full(features.n_features, -1, np.intp)
            own[source.owners[np.isin(source.columns, part.columns)]] = part.owners
            known = np.flatnonzero(own[ranked] >= 0)
            if known.size:
                return Part(
                    part.features(), found.labels[places], own[ranked[known]], np.append(known[1:], ranked.size)
                )
    return Part(features, found.labels, ranked, np.arange(1, ranked.size + 1))


def from_all_clusters(labels: Labels, count: int, rng: np.random.Generator) -> Subset:
    """Return the places of `count` random samples in ascending order, among which there is one of every cluster."""
    order = rng.permutation(labels.size)
    firsts = order[np.unique(labels[order], return_index=True)[1]]
    others = order[~np.isin(order, firsts)]
    return np.sort(np.concatenate([firsts, others[: max(count - firsts.size, 0)]]))
