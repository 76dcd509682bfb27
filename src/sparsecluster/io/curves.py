"""Long tuning curves, which are written in part: nobody can tell the neighbors among 200,000 sizes apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._search.curve import TuningCurve

# The number of values of a curve that are written; a few more, if the grid misses those that matter.
MOST_VALUES = 1000


def thinned(curve: TuningCurve) -> TuningCurve:
    """Return a curve with about 1,000 of its values, evenly on a log scale.

    The first and the last value, the chosen one and those with the largest and the smallest score are always kept.

    >>> values = np.arange(1, 100_001)
    >>> curve = thinned(TuningCurve("s", values, "gap", np.sin(values / 1e4), 12_345))
    >>> 500 < curve.values.size <= 1003, 12_345 in curve.values, int(curve.values[0]), int(curve.values[-1])
    (True, True, 1, 100000)
    """
    n_values = curve.values.size
    if n_values <= MOST_VALUES:
        return curve
    grid = np.geomspace(1, n_values, MOST_VALUES).round().astype(np.intp) - 1
    at = np.union1d(grid, [curve.place, np.nanargmax(curve.score), np.nanargmin(curve.score)])
    return replace(
        curve,
        values=curve.values[at],
        score=curve.score[at],
        error=None if curve.error is None else curve.error[at],
        details={name: each[at] for name, each in curve.details.items()},
    )
