"""Descriptions of the values of a column, for displays and reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._data.dates import OF_DATES
from .._data.kinds import Dissimilarity
from .._data.kinds.dissimilarity import Scale
from .._utils.arrays import Floats


def difference_words(scale: Scale, difference: float) -> str:
    """Describe how much higher the share of a level, or the mean rank, is in a cluster than among all samples."""
    return f"{100 * difference:+.0f} percentage points" if scale == "level" else f"{difference:+.1f} ranks"


def readable(kind: Dissimilarity, codes: Floats) -> tuple[Floats, tuple[Any, ...] | None]:
    """Return numbers and None, or codes and their levels. Ranks of numbers are returned as numbers."""
    if kind.scale == "rank" and not any(isinstance(level, str) for level in kind.levels or ()):
        return np.array([np.nan if level is None else float(level) for level in kind.decode(codes)]), None
    return codes, kind.levels


def as_date(kind: Dissimilarity, code: Any) -> str | None:
    """Return a number of a column of dates as a date, such as "2020-05-01"; None if the column holds no dates."""
    if kind.meaning not in OF_DATES or not isinstance(code, float | int) or not np.isfinite(code):
        return None
    return kind.shown(code)
