"""Means and standard deviations of the results, beside what the paper prints."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .experiment import Cell, Experiment, Printed, values_of
from .runner import Results

LIMITS = ("limit", "limit-medoids")
SMALLER_IS_BETTER = ("difference", "error", "time")
HEADINGS = {
    "rand": "Rand index",
    "difference": "symmetric difference",
    "time": "seconds",
    "error": "error rate",
    "n": "n",
    "p": "p",
    "kappa": "kappa",
}


class Summary(NamedTuple):
    """A measure of a method in a cell.

    Attributes
    ----------
    cell : mapping
        The cell.
    method, measure : str
        The method and the measure.
    n : int
        Number of repeats.
    mean, sd : float
        Mean and standard deviation over the repeats; NaN where there are too few.
    printed : tuple or None
        Mean and standard deviation in the paper.
    limit : float or None
        Mean of K-means with the useful features given; None for the limits themselves.
    failed : str or None
        Why the method failed.
    """

    cell: Cell
    method: str
    measure: str
    n: int
    mean: float
    sd: float
    printed: Printed | None
    limit: float | None
    failed: str | None = None

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n) if self.n > 1 else math.nan


def summaries_of(experiment: Experiment, results: Results, measure: str) -> list[Summary]:
    """Summarize one measure.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : Results
        Its results.
    measure : str
        The measure.

    Returns
    -------
    list of Summary
        One for every cell and method of the experiment, whether they have been run or not.
    """
    values: dict[tuple[Any, ...], list[float]] = {}
    for row in results.rows():
        if row.get(measure) is not None:
            key = (*(row[name] for name in experiment.cells[0]), row["method"])
            values.setdefault(key, []).append(float(row[measure]))
    failed = {(*values_of(r.task.cell), r.task.method): r.error for r in results.records if r.has_data and r.error}
    summaries = []
    for cell in experiment.cells:
        at = values_of(cell)
        limit = values.get((*at, "limit"))
        for method in experiment.methods:
            found = values.get((*at, method), [])
            summaries.append(
                Summary(
                    cell,
                    method,
                    measure,
                    len(found),
                    float(np.mean(found)) if found else math.nan,
                    float(np.std(found, ddof=1)) if len(found) > 1 else math.nan,
                    experiment.printed.get(measure, {}).get(at, {}).get(method),
                    float(np.mean(limit)) if limit and method not in LIMITS else None,
                    failed.get((*at, method)),
                )
            )
    return summaries


def digits(measure: str) -> int:
    """Return the number of decimals with which a measure is shown."""
    return {"rand": 3, "error": 3, "time": 3, "difference": 1}.get(measure, 0)


def shown(value: float, measure: str, sign: bool = False) -> str:
    """Format a number without a leading zero, as in the paper's tables; NaN becomes the empty string.

    >>> shown(0.907, "rand"), shown(-0.007, "rand", sign=True), shown(-1e-9, "rand", sign=True)
    ('.907', '-.007', '+.000')
    >>> shown(20.25, "difference")
    '20.2'
    """
    if math.isnan(value):
        return ""
    rounded = round(value, digits(measure)) + 0.0  # no minus before zero
    text = f"{rounded:{'+' if sign else ''}.{digits(measure)}f}"
    return text.replace("0.", ".", 1) if measure in ("rand", "error") and abs(value) < 1 else text
