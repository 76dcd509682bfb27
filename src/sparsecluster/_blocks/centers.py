"""A clustering of all samples that is given by its centers: every sample belongs to the nearest one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._kernels.passes import level_distances, nearest, number_distances, stored_distances
from .._utils.arrays import Floats, Labels, Subset
from .sums import Counts, Scale, Sums, is_sparse, sums_of


class Columns(NamedTuple):
    """How far samples are from the centers, in some of the columns.

    Attributes
    ----------
    places : ndarray of shape (q,)
        The columns of numbers among those of the table.
    origin, unit, weights, spreads : ndarray of shape (q,)
        A number x is at u = (x - origin) * unit; squared distances are multiplied by the weights; `spreads` are the
        mean squared distances to the mean of all samples.
    centers : ndarray of shape (k, q)
        The mean of u in every cluster; NaN if it is not known.
    coded : ndarray of shape (r,)
        The columns of levels.
    firsts : ndarray of shape (r,)
        The first row of every column of levels in `table`.
    table : ndarray of shape (n_levels, k)
        The weighted distance of every level to every cluster.
    """

    places: Subset
    origin: Floats
    unit: Floats
    weights: Floats
    spreads: Floats
    centers: Floats
    coded: Subset
    firsts: Counts
    table: Floats

    def among(self, columns: Subset) -> Columns:
        """The same for a block that has only the given columns, in ascending order."""
        return self._replace(places=np.searchsorted(columns, self.places), coded=np.searchsorted(columns, self.coded))


@dataclass(frozen=True, eq=False)
class Centers:
    """A clustering of all samples by the nearest of k centers.

    Attributes
    ----------
    columns : Columns
        The distances to the centers in the chosen columns.
    basis : Sums
        The sums that the centers were computed from.
    subset : ndarray of int
        The features that these columns belong to.
    before : Centers or None
        The clustering that this one was made from, so that samples that moved can be counted.
    is_settled : bool
        Whether K-means on the subset has come to an end.
    known : dict
        The sums of this clustering over all columns, once they have been computed.
    """

    columns: Columns
    basis: Sums
    subset: Subset
    before: Centers | None = None
    is_settled: bool = False
    known: dict[str, Sums] = field(default_factory=dict)

    @property
    def sums(self) -> Sums:
        """The sums of this clustering over all columns, after they have been computed."""
        return self.known["sums"]


def labels_of(block: Any, columns: Columns) -> Labels:
    """The nearest center of every sample of a block."""
    apart = np.zeros((block.shape[0], columns.centers.shape[0]))
    if is_sparse(block):
        places = np.full(block.shape[1], -1, np.int64)
        places[columns.places] = np.arange(columns.places.size)
        stored_distances(
            block.data, block.indices, block.indptr, places, columns.unit, columns.centers, columns.weights, apart
        )
    elif columns.places.size:
        number_distances(
            block,
            columns.places,
            columns.origin,
            columns.unit,
            columns.centers,
            columns.weights,
            columns.spreads,
            apart,
        )
    if columns.coded.size:
        level_distances(block, columns.coded, columns.firsts, columns.table, apart)
    labels: Labels = nearest(apart)
    return labels


def sums_by(block: Any, scale: Scale, columns: Columns, before: Columns | None = None) -> Sums:
    """The sums of a block by the nearest center; counts samples for which it was another one before."""
    labels = labels_of(block, columns)
    moved = 0 if before is None else int(np.count_nonzero(labels != labels_of(block, before)))
    return sums_of(block, scale, labels, columns.centers.shape[0], moved)
