"""Numbers in a summary, which is JSON, and numbers for people."""

from __future__ import annotations

from typing import Any

import numpy as np

# Numbers from here on, and below this, are written as a power of ten.
LARGEST, SMALLEST = 1e7, 1e-3
# A blank at which lines are not broken.
NO_BREAK = "\N{NO-BREAK SPACE}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounded(values: Any, digits: int = 4) -> list[float | None]:
    """Round numbers for the page. NaN and infinity, which JSON does not have, become None."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.ravel().tolist()]


def finite(value: float | None) -> float | None:
    """A number as it is; None in place of NaN and infinity."""
    return None if value is None or not np.isfinite(value) else float(value)


def percent(share: float, space: str = NO_BREAK) -> str:
    """A share in percent. Only a share of exactly 0 is 0 %, and only all is 100 %.

    >>> [percent(share, " ") for share in (0.824, 0.0, 0.002, 0.999, -0.31)]
    ['82 %', '0 %', 'under 1 %', 'over 99 %', '-31 %']
    """
    if 0 < share < 0.005:
        return f"under 1{space}%"
    if 0.995 <= share < 1:
        return f"over 99{space}%"
    return f"{np.round(100 * share) + 0.0:.0f}{space}%"


def p_value(p: float) -> str:
    """A p-value in a sentence.

    >>> p_value(0.0312), p_value(0.4449), p_value(0.00004)
    ('p = 0.031', 'p = 0.44', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p >= 0.0095 else f"p = {p:.3f}"


def powered(value: float) -> str:
    """A very large or very small number.

    >>> powered(0.00001386), powered(-25000000.0)
    ('1.39 × 10⁻⁵', '-2.5 × 10⁷')
    """
    digits, power = f"{value:.2e}".split("e")
    return f"{float(digits):g} × 10{str(int(power)).translate(SUPERSCRIPTS)}"


def in_units(value: float, difference: float) -> str:
    """A number with three digits, or with as many as show a difference of this size.

    >>> in_units(1.2346, 0.5), in_units(-0.0001, 2.0), in_units(1995.34, 5.0), in_units(123456.7, 30000.0)
    ('1.23', '0.00', '1,995.3', '123,457')
    >>> in_units(0.00001386, 0.00001), in_units(float("nan"), 1.0)
    ('1.39 × 10⁻⁵', 'missing')
    """
    if not np.isfinite(value):
        return "missing"
    largest = max(abs(value), abs(difference))
    if largest and not SMALLEST <= largest < LARGEST:
        return powered(value) if value else "0"
    own, shown = (int(np.floor(np.log10(each))) if each else 0 for each in (abs(value), abs(difference)))
    digits = int(np.clip(max(min(2 - shown, 2 - own), 1 - shown), 0, 6))
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def ticks(low: float, high: float) -> list[float]:
    """From two to five round numbers between two numbers.

    >>> ticks(0.3, 9.7), ticks(-0.02, 0.013), ticks(4.0, 4.0)
    ([2.0, 4.0, 6.0, 8.0], [-0.02, -0.01, 0.0, 0.01], [4.0])
    """
    if not low < high or not np.isfinite(high - low):
        return [low]
    size = 10.0 ** np.floor(np.log10((high - low) / 2))
    for step in (size * each for each in (0.5, 1, 2, 5)):
        first, last = np.ceil(low / step), np.floor(high / step)
        if 1 <= last - first <= 4:
            return [float(f"{step * place:.10g}") + 0.0 for place in np.arange(first, last + 1)]
    return [low, high]
