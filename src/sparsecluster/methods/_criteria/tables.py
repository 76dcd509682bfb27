"""Tables of numbers that a criterion makes from the data: references without clusters, and the data with noise."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._data.kinds import SquaredEuclidean
from ..._data.reading import Reading
from ..._data.source import ColumnTable, TableSource
from ..._utils.arrays import Floats

# Criteria that accept any data.
FOR_ANY_DATA = ("bic", "prediction_strength")


class NumberTable(NamedTuple):
    """The used samples and columns of a table of numbers, centered and in the units in which they are clustered.

    Attributes
    ----------
    reading : Reading
        The data.
    values : ndarray of shape (n_samples, n_columns)
        The centered values. Their sum of squares in column a is `Features.total`: with `standardize=True` it is the
        same in all columns, and otherwise the values have the units of X.
    origin, units : ndarray of shape (n_columns,)
        A value v in column a is origin_a + units_a v in the units of X.
    """

    reading: Reading
    values: Floats
    origin: Floats
    units: Floats

    def read(self, values: Floats, k: int) -> Reading | None:
        """Read another table with the same columns, given like `values`; None if fewer than k rows are distinct."""
        source = self.reading.source
        assert isinstance(source, TableSource)
        everyone, columns = np.arange(len(values)), source.columns
        other = TableSource(
            ColumnTable(self.origin + self.units * values, tuple(source.kind(a) for a in columns.tolist())),
            None if source.groups is None else source.groups[columns],
            everyone,
            np.arange(columns.size),
            source.standardize,
            has_missing=False,
            unit=source.unit,
        ).take(everyone, k)
        return None if other is None else replace(self.reading, source=other, n_samples=len(values))


def is_number_table(reading: Reading) -> bool:
    """Whether a reading is a dense and complete table of numbers."""
    source = reading.source
    if not isinstance(source, TableSource) or source.has_missing:
        return False
    return all(isinstance(source.kind(a), SquaredEuclidean) for a in source.columns.tolist())


def numbers_of(reading: Reading, criterion: str) -> NumberTable:
    """Return the numbers of a reading, or raise an error if it is not a dense and complete table of numbers."""
    source = reading.source
    if not is_number_table(reading):
        others = " and ".join(f'"{name}"' for name in FOR_ANY_DATA)
        raise ValueError(
            f'cluster_criterion="{criterion}" compares the data with simulated tables, so it needs a dense table of '
            f"numbers without missing values. {others} accept any data."
        )
    assert isinstance(source, TableSource)
    values = source.table.values[np.ix_(source.samples, source.columns)].astype(np.float64)
    origin = values.mean(axis=0)
    values -= origin
    # Divide by the largest value first, so that squares of very large or small values stay within range.
    largest = np.abs(values).max(axis=0)
    values /= largest
    units = np.sqrt((values**2).sum(axis=0) / source.features().total)
    return NumberTable(reading, values / units, origin, largest * units)
