"""The test of one group: whether held-out samples fall into groups along the directions that separate the clusters.

Under the null hypothesis, the samples are one group whose features depend on each other in any way that a Gaussian
copula describes: trends, blocks and common factors. After every feature is replaced by normal scores, the samples are
then one multivariate normal group, and so is their projection on any direction that was found without them. The test is
therefore made on samples that were held out: for every fold, the method is fitted to the other samples, the held-out
samples are projected on the direction from the rest to each cluster, and the projections of all folds are tested for
more than one group. Their distribution under the null hypothesis does not depend on the covariance, so no covariance
has to be estimated, except to put equal values in an order. The samples are divided into folds several times, and the
p-values of all directions of all divisions are combined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .._kernels.groups import group_gains, tail_gain
from .._utils.arrays import Floats, Subset
from ._columns import Columns
from ._copula import drawn_scores
from ._parts import Part
from ._ties import has_ties, without_ties

# Simulated normal samples, and the seed of the simulation, which depends on nothing else.
N_SIMULATED, SEED = 2000, 0
# A group on a line has at least so many samples, and at least this share of them.
LEAST_SAMPLES, LEAST_SHARE = 3, 0.05
# The largest number of places at which groups may end.
MOST_CUTS = 100
# One group may have heavier tails than a normal one: those of a t distribution with these degrees of freedom, each
# fitted by this many passes of the EM algorithm, which need not converge, as simulated samples are treated alike.
DEGREES, PASSES = np.array([30.0, 10.0, 5.0, 3.0]), 8
# The least number of samples for which the test says something.
LEAST_TESTED = 10
# Larger p-values count as this one: a single p-value of 1 would otherwise outweigh all others in their combination.
LARGEST = 0.99


def p_value(divisions: Sequence[list[Part | None]], columns: Columns, k: int, rng: np.random.Generator) -> float | None:
    """The p-value of one group; None if there are too few samples.

    Parameters
    ----------
    divisions : list of list of Part or None
        For each division of the samples into folds, the fits to all samples but one fold.
    columns : Columns
        The values of the samples.
    k : int
        Number of clusters.
    rng : numpy.random.Generator
        Source of random numbers.
    """
    of_scores, of_ties = rng.spawn(len(divisions)), rng.spawn(1)[0]
    chosen = [[part.subset for part in parts if part is not None] for parts in divisions]
    subsets = [subset for each in chosen for subset in each]
    if not subsets:
        return None
    everywhere = columns.of(np.concatenate(subsets))
    values = columns.ordered(everywhere)
    if has_ties(values):
        values = without_ties(values, of_ties)
    found = []
    for parts, own_subsets, own in zip(divisions, chosen, of_scores, strict=True):
        if own_subsets:
            used = columns.of(np.concatenate(own_subsets))
            scores = drawn_scores(values[:, np.searchsorted(everywhere, used)], own)
            placed = projections(parts, scores, columns.owners[used], k)
            found += [p for p in map(p_of_direction, placed.T) if p is not None]
    return combined(np.array(found)) if found else None


def combined(p: Floats) -> float:
    """Combine p-values of tests that depend on each other, as 1/2 - arctan(mean tan((1/2 - p) pi)) / pi.

    This is the Cauchy combination of Liu and Xie (2020), with p-values of at most `LARGEST`.

    >>> round(combined(np.array([0.03, 0.03])), 4), round(combined(np.array([0.001, 0.5, 1.0])), 4)
    (0.03, 0.0033)
    """
    mean = float(np.mean(np.tan((0.5 - np.minimum(p, LARGEST)) * np.pi)))
    return float(0.5 - np.arctan(mean) / np.pi)


def projections(parts: list[Part | None], scores: Floats, owners: Subset, k: int) -> Floats:
    """Project every sample on the direction to each cluster, as it was found without this sample.

    Parameters
    ----------
    parts : list of Part or None
        Fits to all samples but one fold. Every sample is held out by one of them.
    scores : ndarray of shape (n_samples, n_columns)
        Scores of every column by the quantiles of a normal sample, NaN where a value is missing.
    owners : ndarray of shape (n_columns,)
        The feature of every column.
    k : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_samples, n_directions)
        One direction for two clusters, which have the same, or else k; NaN if a sample has no observed value.
    """
    n, n_directions = len(scores), 1 if k == 2 else k
    placed = np.full((n, n_directions), np.nan)
    for part in parts:
        if part is None:
            continue
        out = np.delete(np.arange(n), part.places)
        used = np.isin(owners, part.subset)
        inside, held_out = scores[part.places][:, used], scores[out][:, used]
        seen, known = ~np.isnan(held_out), np.nan_to_num(inside)
        for c in range(n_directions):
            own = part.labels == c
            if own.all() or not own.any():
                continue
            direction = known[own].mean(axis=0) - known[~own].mean(axis=0)
            # What is seen of a direction has length one, so that missing values do not shrink a projection.
            length = np.sqrt(seen @ direction**2)
            with np.errstate(invalid="ignore", divide="ignore"):
                placed[out, c] = np.nan_to_num(held_out) @ direction / length
    return placed


def p_of_direction(values: Floats) -> float | None:
    """The p-value of one direction: the share of normal samples that fall into groups at least as clearly."""
    values = np.sort(values[np.isfinite(values)])
    if values.size < LEAST_TESTED or values[-1] - values[0] <= 0:
        return None
    null = null_gains(values.size)
    found = ((gains(values) - null.mean) / null.spread).max()
    return float((1 + (null.largest >= found).sum()) / (1 + null.largest.size))


def gains(values: Floats) -> Floats:
    """How much better two, and three, normal groups on a line describe the sorted values than one group does.

    For groups that are intervals with shares pi_g and a common variance, the log likelihood ratio per sample, in which
    each sample belongs to the group of its interval, is the largest value of

        (1/2) log(total / within) + sum_g pi_g log pi_g

    over all intervals with at least a few samples. Samples that are far off in many features have projections with
    heavy tails, which groups at both ends would describe better than a normal distribution. The log likelihood ratio of
    a t distribution, if that is better, is therefore taken off.
    """
    centered = values - values.mean()
    return np.asarray(group_gains(centered, *cuts_of(values.size)) - tail_gain(centered, DEGREES, PASSES))


@lru_cache(maxsize=64)
def cuts_of(n_samples: int) -> tuple[Subset, int]:
    """The places at which groups may end, and the least number of samples of a group."""
    least = max(LEAST_SAMPLES, int(np.ceil(LEAST_SHARE * n_samples)))
    places = np.linspace(least, n_samples - least, min(MOST_CUTS, max(n_samples - 2 * least + 1, 1)))
    return np.unique(places.round().astype(np.int64)), least


class Null:
    """The gains of normal samples: their mean and spread, and the largest standardized gain of each sample."""

    def __init__(self, simulated: Floats) -> None:
        self.mean, self.spread = simulated.mean(axis=0), simulated.std(axis=0)
        self.largest = ((simulated - self.mean) / self.spread).max(axis=1)


@lru_cache(maxsize=64)
def null_gains(n_samples: int) -> Null:
    """The gains of normal samples of this size."""
    rng = np.random.default_rng([SEED, n_samples])
    return Null(np.array([gains(np.sort(rng.standard_normal(n_samples))) for _ in range(N_SIMULATED)]))
