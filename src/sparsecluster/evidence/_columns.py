"""The columns of a reading as numbers that can be compared: normal scores, with the levels of nominal columns apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.reading import Reading
from .._data.source import MatrixSource
from .._utils.arrays import Floats, Subset
from ._copies import by_frequency
from ._copula import normal_scores

# No more values than this are held in memory as normal scores.
MOST_VALUES = 200_000_000


class Columns(NamedTuple):
    """The columns of a reading, with samples and columns in the order of the source.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        The codes, NaN where a value is missing.
    scores : ndarray of shape (n_samples, n_columns)
        Their normal scores, in which equal values are equal; of nominal columns, the codes.
    owners : ndarray of shape (n_columns,)
        The feature of every column.
    is_nominal : ndarray of shape (n_columns,), dtype=bool
        Whether the codes of a column are names of levels.
    """

    values: Floats
    scores: Floats
    owners: Subset
    is_nominal: npt.NDArray[np.bool_]

    def ordered(self, places: Subset) -> Floats:
        """The values of some columns as numbers with an order; levels without one are ordered by their frequency."""
        values = self.values[:, places]
        for place, j in enumerate(places.tolist()):
            if self.is_nominal[j]:
                values[:, place] = by_frequency(values[:, place])
        return values

    def of(self, features: Subset) -> Subset:
        """Places of the columns of some features."""
        return np.flatnonzero(np.isin(self.owners, features))


def columns_of(reading: Reading, scored: Callable[[Floats], Floats] = normal_scores) -> Columns | None:
    """Return the columns; None if the features are matrices, which have no values, or if there are too many values.

    Numbers are replaced by their normal scores, or by what another function of the table returns.
    """
    source = reading.source
    n_values = source.samples.size * source.columns.size
    if isinstance(source, MatrixSource) or n_values > MOST_VALUES:
        return None
    looked = [source.look(a, source.samples, source.samples) for a in source.columns.tolist()]
    values = np.column_stack([np.asarray(each, dtype=np.float64) for each in looked])
    is_nominal = np.array([source.kind(a).codes_are_names for a in source.columns.tolist()], bool)
    scores = scored(values)
    scores[:, is_nominal] = values[:, is_nominal]
    return Columns(values, scores, source.owners, is_nominal)


def standardized(values: Floats) -> Floats:
    """Columns with mean 0 and variance 1."""
    seen = ~np.isnan(values)
    count = np.maximum(seen.sum(axis=0), 1)
    centered = values - np.nan_to_num(values).sum(axis=0) / count
    spread = np.sqrt(np.nan_to_num(centered**2).sum(axis=0) / count)
    return np.asarray(centered / np.where(spread > 0, spread, 1.0))
