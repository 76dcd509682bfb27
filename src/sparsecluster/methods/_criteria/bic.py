"""The classification BIC, which is computed from the clusterings of the data alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._data.reading import Reading
from ..._search.clusters import Candidates, bic_curve
from ..._search.curve import TuningCurve
from ..._search.subsample import draw_subsample
from ..._utils.arrays import Labels
from ..._utils.parameters import rng_of
from .choice import Choice, warn

# With more samples than this, clusterings are compared on a random subsample, because all pairs are looked at.
MOST_COMPARED = 2000


def bic(estimator: Any, reading: Reading, ks: Sequence[int]) -> Choice:
    """Choose by the classification BIC; see `_search.bic`."""
    return choice_of(reading, ks, *bic_curve(candidates_of(estimator, reading, ks)))


def choice_of(reading: Reading, ks: Sequence[int], curve: TuningCurve, labels: Labels) -> Choice:
    """Return the choice by a curve, with a warning if a single cluster is better."""
    if curve.score.max() <= 0:
        warn(
            f"No number of clusters from {ks[0]} to {ks[-1]} describes the data better than a single cluster. The best "
            f"of them, {curve.chosen}, is used. The data may have no clusters."
        )
    return Choice(int(curve.chosen), curve, labels if labels.size == reading.n_used else None)


def candidates_of(estimator: Any, reading: Reading, ks: Sequence[int]) -> Candidates:
    """Return clusterings for every k, of a random subsample if there are many samples: all pairs will be looked at."""
    found: Candidates = estimator._candidates(reading, ks)
    if not MOST_COMPARED < found.features.n_samples == reading.n_used:
        return found
    rng = rng_of(vars(estimator).get("random_state", 0))
    part = draw_subsample(reading.source, MOST_COMPARED, max(found.labels), 1, rng)
    if part is None:
        return found
    labels = {k: [each[part.places] for each in clusterings] for k, clusterings in found.labels.items()}
    return Candidates(found.features.like_this(part.source.features()), labels)
