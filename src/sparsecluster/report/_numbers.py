"""Numbers as they are stored in a summary, which is JSON."""

from __future__ import annotations

from typing import Any

import numpy as np


def rounded(values: Any, digits: int = 4) -> list[float | None]:
    """Round numbers for the page. NaN and infinity, which JSON does not have, become None."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.ravel().tolist()]


def finite(value: float | None) -> float | None:
    """A number as it is; None in place of NaN and infinity."""
    return None if value is None or not np.isfinite(value) else float(value)
