"""The distributions of the chosen columns in the clusters, which assign new samples to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._mixtures.independent import Columns
from .._mixtures.selection import Mixture, posterior
from .._utils.arrays import Floats
from ._result import Array, Order, have_shapes, placed


class Components(NamedTuple):
    """The distributions of the chosen columns in the clusters.

    Attributes
    ----------
    shares : ndarray of shape (n_clusters,)
        Probability of each cluster.
    means, deviations : ndarray of shape (n_chosen, n_clusters)
        Mean and standard deviation of each number, in the user's units. 0 and 1 for levels.
    spreads : ndarray of shape (n_chosen,)
        Standard deviation of each number in all clusters together. 1 for levels.
    levels : list of (ndarray of shape (n_codes, n_clusters) or None)
        Probability of each code of a column with levels, and NaN for codes that did not occur. None for numbers.
    """

    shares: Floats
    means: Floats
    deviations: Floats
    spreads: Floats
    levels: Sequence[Floats | None]

    def memberships(self, values: Sequence[Any]) -> Floats:
        """Return the probability of each cluster for each sample. Missing values and unknown levels do not count."""
        joint = np.log(self.shares) + np.zeros((len(values[0]), 1))
        for a, (column, levels) in enumerate(zip(values, self.levels, strict=True)):
            if levels is not None:
                found = np.log(at_codes(levels, column))
            else:
                apart = placed(np.asarray(column)[:, None], self.means[a], self.deviations[a])
                found = -0.5 * apart**2 - np.log(self.deviations[a] / self.spreads[a])
            joint += np.where(np.isnan(found), 0.0, found)
        return posterior(joint)[0]

    def nearest(self, values: Sequence[Any]) -> npt.NDArray[np.intp]:
        """Return the most probable cluster of each sample."""
        return self.memberships(values).argmax(axis=1)

    def explained(self, values: Sequence[Any]) -> float:
        """Return the share of the variation of the chosen features that the most probable clusters explain."""
        labels = self.nearest(values)
        return float(np.mean([1.0 - self._left(a, column, labels) for a, column in enumerate(values)]))

    def _left(self, a: int, column: Any, labels: npt.NDArray[np.intp]) -> float:
        """Mean distance to the cluster, divided by that to a single cluster (see `Measure`); 1 without any value."""
        levels = self.levels[a]
        if levels is None:
            apart = placed(column, self.means[a, labels], self.spreads[a]) ** 2
        else:
            known = np.nan_to_num(levels)
            total = (1.0 - ((known @ self.shares) ** 2).sum()) / 2.0
            at = at_codes(known, column)[np.arange(labels.size), labels]
            apart = (1.0 - at - (1.0 - (known**2).sum(axis=0)[labels]) / 2.0) / total
        return float(np.nanmean(apart)) if not np.isnan(apart).all() else 1.0

    def is_for(self, n_chosen: int, k: int) -> bool:
        """Whether the arrays, which may come from a file, have the right shapes."""
        if not isinstance(self.levels, list) or len(self.levels) != n_chosen:
            return False
        tables = [(each, (np.shape(each)[0] if np.ndim(each) else 0, k)) for each in self.levels if each is not None]
        numbers = (self.means, (n_chosen, k)), (self.deviations, (n_chosen, k)), (self.spreads, (n_chosen,))
        return have_shapes((self.shares, (k,)), *numbers, *tables)


def at_codes(levels: Floats, column: Any) -> Floats:
    """Rows of a table of levels for each code, and NaN for missing values and codes that are not in the table."""
    codes = np.asarray(column, dtype=np.float64)
    known = (codes >= 0) & (codes < len(levels)) & (codes == np.floor(codes))
    return np.where(known[:, None], levels[np.where(known, codes, 0).astype(np.intp)], np.nan)


def components(columns: Columns, mixture: Mixture, order: Order) -> Components:
    """Return the distributions of the chosen columns, with columns and clusters in the user's order."""
    numbers, levels, k, chosen = columns.numbers, columns.levels, mixture.shares.size, order.chosen
    q = numbers.units.size

    def by_cluster(values: Floats) -> Floats:
        return order.restore(Array(values, (None, "cluster")))

    means, deviations, spreads = np.zeros((chosen.size, k)), np.ones((chosen.size, k)), np.ones(chosen.size)
    own = columns.places[chosen]
    is_number, at = own < q, own[own < q]
    units = numbers.units[at, None]
    means[is_number] = numbers.origins[at, None] + units * mixture.gaussians.means[at]
    deviations[is_number] = units * np.sqrt(mixture.gaussians.variances[at])
    spreads[is_number] = numbers.units[at]
    tables: list[Floats | None] = []
    for a in own.tolist():
        if a < q:
            tables.append(None)
            continue
        codes = levels.names[a - q].astype(np.intp)
        table = np.full((codes.max() + 1, k), np.nan)
        table[codes] = mixture.probabilities[levels.starts[a - q] : levels.starts[a - q + 1]]
        tables.append(by_cluster(table))
    shares = order.restore(Array(mixture.shares, ("cluster",)))
    return Components(shares, by_cluster(means), by_cluster(deviations), spreads, tables)
