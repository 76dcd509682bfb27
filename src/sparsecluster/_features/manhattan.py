"""Distances between numbers or ranks: delta_a(i, j) = |x_ia - x_ja|."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np

from .._kernels.kinds import Distances
from .._kernels.manhattan import distance_within, sum_distances, sum_seen_distances
from .._kernels.order import shuffle_columns
from .._kernels.select import take_columns
from .._utils.arrays import Floats, Labels, Subset
from .alone import DISTANCES, runs_labels, runs_within
from .features import Features
from .numeric import LARGE_VALUES
from .units import counted_totals, has_two_values, power_of_two


class ManhattanFeatures(Features):
    """Columns of numbers, one feature each, with NaN for missing values.

    `shares` multiply the scores (see `Features`), and features with equal `streams` are permuted together.
    """

    has_rows = False

    def __init__(self, table: Floats, standardize: bool, shares: Floats, streams: Subset) -> None:
        self.n_samples, self.n_features = table.shape
        self.shares, self.streams = shares, streams
        # Measured from the smallest value, so that a small spread about a large value keeps its digits.
        table = table - np.fmin.reduce(table, axis=0)
        if standardize:
            # Sums over pairs of very large values would overflow.
            table *= power_of_two(np.fmax.reduce(table, axis=0))
        self._sort(table)
        total = self._within(np.zeros(self.n_samples, np.int32), 1)
        apart = np.fmax.reduce(table, axis=0)
        seen = self.counts / self.n_samples
        self._total = counted_totals(total, standardize, has_two_values(table), apart, shares, seen)
        scale = self._total / total
        self.table = table * scale
        self.sorted *= scale[:, None]
        self.has_missing = bool(self.counts.min(initial=self.n_samples) < self.n_samples)
        # Shared with all permuted copies: permuting a column does not change the best clustering of it alone.
        self._best_scores: dict[int, Floats] = {}

    @property
    def total(self) -> Floats:
        return self._total

    def _sort(self, table: Floats) -> None:
        """Sort the values of each column, together with their samples; missing values (NaN) come last."""
        order = np.argsort(table.T, axis=1, kind="stable")
        self.order = order.astype(np.int32)
        self.sorted = np.take_along_axis(np.ascontiguousarray(table.T), order, axis=1)
        self.counts = self.n_samples - np.isnan(self.sorted).sum(axis=1)

    def _within(self, labels: Labels, n_clusters: int) -> Floats:
        return distance_within(self.sorted, self.order, self.counts, labels, n_clusters)

    def _explained(self, within: Floats) -> Floats:
        return self.shares * np.maximum(1.0 - within / self.total, 0.0)

    def scores(self, labels: Labels, n_clusters: int) -> Floats:
        return self._explained(self._within(labels, n_clusters))

    def climbing(self, n_clusters: int, size: int) -> Distances | None:
        if self.has_missing or self.n_samples * max(self.n_samples, size) >= LARGE_VALUES:
            return None
        return Distances(self.table, self.total, self.shares, self.sorted, self.order, self.counts)

    def seen_pairs(self, subset: Subset, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
        rows, shares = take_columns(self.table, subset), self.shares[subset]
        if weights is not None:
            rows, shares = rows * weights, shares * weights
        if not self.has_missing:
            return -sum_distances(rows) / 2, None
        distances, seen = sum_seen_distances(rows, shares)
        return -distances / 2, seen

    def univariate(self, n_clusters: int) -> Floats:
        if n_clusters not in self._best_scores:
            self._best_scores[n_clusters] = self._explained(runs_within(self.table, n_clusters, DISTANCES))
        return self._best_scores[n_clusters]

    def univariate_labels(self, feature: int, n_clusters: int) -> Labels:
        return runs_labels(self.table[:, feature], n_clusters, DISTANCES)

    def permuted(self, seed: int) -> Self:
        other = copy(self)
        other.table = self.table.copy()
        shuffle_columns(other.table, self.streams, np.uint64(seed))
        # The sorted values stay as they are, but belong to other samples: the value of sample i goes to `goes_to[i]`.
        came_from = np.tile(np.arange(self.n_samples)[:, None], self.n_features)
        shuffle_columns(came_from, self.streams, np.uint64(seed))
        goes_to = np.empty((self.n_features, self.n_samples), np.int32)
        np.put_along_axis(goes_to, came_from.T, np.arange(self.n_samples, dtype=np.int32)[None, :], axis=1)
        other.order = np.take_along_axis(goes_to, self.order.astype(np.intp), axis=1)
        return other
