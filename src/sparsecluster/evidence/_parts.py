"""A clustering that is assessed, and fits of the same method to parts of its samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from .._data.reading import Reading
from .._utils.arrays import Labels, Subset
from .._utils.parallel import Workers
from ..methods._criteria.refit import Refit, assign, part_of


class Clustering(NamedTuple):
    """A clustering that is assessed.

    Attributes
    ----------
    reading : Reading
        The samples in clusters.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, in the order of the source.
    k : int
        Number of clusters.
    chosen : ndarray of shape (n_features,), dtype=bool
        Whether each feature is chosen.
    refit : Refit
        The method with the tuning parameters of this clustering, which can be fitted to other tables.
    is_tuned_path : bool
        Whether this is SAS clustering that has searched all numbers of features.
    """

    reading: Reading
    labels: Labels
    k: int
    chosen: npt.NDArray[np.bool_]
    refit: Refit
    is_tuned_path: bool = False

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.labels.size


class Part(NamedTuple):
    """A fit to some of the samples.

    Attributes
    ----------
    places : ndarray of shape (n_part,)
        The samples, by their places in the source, in ascending order.
    labels : ndarray of shape (n_part,)
        Cluster of each of them, under the number of the cluster of all samples with which it is matched.
    subset : ndarray of shape (n_chosen,)
        The features that were chosen, under their numbers among the features of all samples.
    outside : ndarray of shape (n_samples - n_part,) or None
        The nearest of these clusters for each of the other samples, as `predict` finds it; None if it was not asked
        for. The clusters are numbered in another order.
    """

    places: Subset
    labels: Labels
    subset: Subset
    outside: Subset | None = None


def fit_part(given: Clustering, places: Subset, rng: np.random.Generator, *, with_others: bool = False) -> Part | None:
    """Fit some of the samples. None if they are too similar, or if the method finds no clusters in them."""
    places = np.sort(places)
    reading = part_of(given.reading, places, given.k)
    found = given.refit(reading, given.k, rng)
    if reading is None or found is None:
        return None
    whole, part = given.reading.source, reading.source
    # The number that each feature of the part has among all features.
    numbers = np.zeros(part.owners.max() + 1, np.intp)
    numbers[part.owners] = whole.owners[np.isin(whole.columns, part.columns)]
    labels = matched(found.labels, given.labels[places], given.k)[found.labels].astype(np.int32)
    outside = assign(reading, found, np.delete(whole.samples, places)) if with_others else None
    return Part(places, labels, np.sort(numbers[found.subset]), outside)


def fit_parts(
    given: Clustering,
    parts: Sequence[Subset],
    rng: np.random.Generator,
    workers: Workers,
    what: str,
    *,
    with_others: bool = False,
) -> list[Part | None]:
    """Fit several parts, side by side."""

    def one(task: tuple[Subset, np.random.Generator]) -> Part | None:
        return fit_part(given, *task, with_others=with_others)

    return list(workers.map(one, list(zip(parts, rng.spawn(len(parts)), strict=True)), what))


def matched(labels: Labels, others: Labels, k: int) -> Subset:
    """For every cluster, the cluster of the other labels that it is matched with, one to one.

    The matching is the one in which most samples have matching labels.

    >>> matched(np.array([0, 0, 1, 1, 2]), np.array([2, 2, 0, 0, 1]), 3).tolist()
    [2, 0, 1]
    """
    return np.asarray(linear_sum_assignment(-cross_table(labels, others, k))[1])


def cross_table(labels: Labels, others: Labels, k: int) -> Subset:
    """The number of samples in each cluster of both labels, of shape (k, k)."""
    return np.bincount(labels * k + others, minlength=k * k).reshape(k, k)


# ---------------------------------------------------------------- which samples


def folds(n_samples: int, n_folds: int, rng: np.random.Generator) -> list[Subset]:
    """Divide the samples at random into folds of nearly equal size; returns the samples of each."""
    numbers = rng.permutation(np.arange(n_samples) % n_folds)
    return [np.flatnonzero(numbers == number) for number in range(n_folds)]


def halves(n_samples: int, n_splits: int, rng: np.random.Generator) -> list[Subset]:
    """Divide the samples at random into halves, several times; an odd sample is in neither half.

    Returns both halves of the first split, both of the second, and so on.
    """
    half = n_samples // 2
    orders = [rng.permutation(n_samples) for _ in range(n_splits)]
    return [np.sort(part) for order in orders for part in (order[:half], order[half : 2 * half])]
