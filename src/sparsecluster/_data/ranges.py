"""The units of the columns: whether squares, and sums of squares, stay within the range of numbers.

Standardized columns have no unit while they are clustered, so that almost any unit is accepted. It matters if columns
are not standardized, or if a method reports variances in the squared units of the user.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._features.units import power_of_two
from .._utils.arrays import Floats
from .._utils.text import brief
from .reading import COLUMNS, MATRICES, Reading
from .source import MatrixSource, TableSource

# Dissimilarities that are not standardized are between these limits, so that their sums over many samples and features
# and the squares of these sums are neither infinite nor zero.
RAW_LIMITS = (1e-140, 1e140)
# The spread of columns whose variances are reported.
LEAST_DEVIATION, MOST_DEVIATION = 1e-150, 1e150

RAW = (
    "With standardize=False, columns keep their units, and the spread of a {what}",
    "Use standardize=True, or multiply the {what} by a constant.",
)
VARIANCES = (
    "The variances of a mixture are in the squared units of X, and the spread of a {what}",
    "Multiply the {what} by a constant.",
)


def in_range(reading: Reading, *, any_unit: bool, reports_variances: bool, raw: tuple[float, float]) -> Reading:
    """The reading in a unit that can be computed with; an error that names the column if there is none.

    Parameters
    ----------
    reading : Reading
        The data.
    any_unit : bool
        Whether a unit that all columns share makes no difference to the method, so that another one may be used.
    reports_variances : bool
        Whether the method reports variances in the squared units of the user.
    raw : tuple of float
        The limits of dissimilarities that are not standardized.
    """
    if reading.request.standardize and not reports_variances:
        return reading
    spreads, powers = reading.source.extents()
    if reading.request.standardize:
        refuse_spreads(reading, spreads, np.full((2, spreads.size), [[LEAST_DEVIATION], [MOST_DEVIATION]]), VARIANCES)
        return reading
    limits = np.array(raw)[:, None] ** (1.0 / powers)
    source, is_inside = reading.source, ((limits[0] <= spreads) & (spreads <= limits[1])).all()
    if is_inside or not (any_unit and isinstance(source, TableSource)):
        refuse_spreads(reading, spreads, limits, RAW)
        return reading
    # In this unit, the largest spread is about 1.
    unit = float(1.0 / power_of_two(spreads.max()))
    refuse_spreads(reading, spreads, np.array([limits[0] * unit, np.full(spreads.size, unit)]), RAW)
    return replace(reading, source=replace(source, unit=unit))


def refuse_spreads(reading: Reading, spreads: Floats, limits: Floats, words: tuple[str, str]) -> None:
    """Refuse a column whose spread is outside of its limits, given as an array of shape (2, n_columns)."""
    bad = np.flatnonzero((spreads < limits[0]) | (spreads > limits[1]))
    if bad.size:
        source = reading.source
        j = bad[source.columns[bad].argmin()]
        what = (MATRICES if isinstance(source, MatrixSource) else COLUMNS)[0]
        why, advice = (each.format(what=what) for each in words)
        raise ValueError(
            f"{why} must be between {limits[0, j]:.3g} and {limits[1, j]:.3g}; that of {what} "
            f"{brief(reading.names[source.columns[j]])} is {spreads[j]:.3g}. {advice}"
        )
