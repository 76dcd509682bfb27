"""Small tables and fits for the tests of the evidence."""

import numpy as np

from sparsecluster.evidence._columns import Columns
from sparsecluster.evidence._parts import Part

RNG = np.random.default_rng


def columns(scores, owners=None, nominal=()):
    """Numbers as columns, of which some are levels."""
    scores = np.asarray(scores, dtype=float)
    is_nominal = np.isin(np.arange(scores.shape[1]), nominal)
    return Columns(scores, scores, np.arange(scores.shape[1]) if owners is None else np.array(owners), is_nominal)


def part(places, labels, subset):
    return Part(np.array(places), np.array(labels, np.int32), np.array(subset))
