"""Checks of parameters. Every message says what is allowed, what was given and what to do next."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from numbers import Integral, Real

import numpy as np

from .text import brief

# The number of names that a message lists before it says "and n more".
NAMES_SHOWN = 5


def check_choice(name: str, value: object, allowed: Sequence[str], advice: str = "") -> str:
    """Check that a value is one of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    near = difflib.get_close_matches(brief(value).strip("'"), allowed, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    listed = ", ".join(f'"{word}"' for word in allowed)
    raise ValueError(f"{name} must be one of {listed}{advice}; got {brief(value)}.{hint}")


def check_count(name: str, value: object, low: int, high: int | None = None, advice: str = "") -> int:
    """Check that a value is a whole number in [low, high]."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {high}]"
    is_count = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if is_count and low <= value and (high is None or value <= high):  # type: ignore[operator]
        return int(value)  # type: ignore[call-overload]
    raise ValueError(f"{name} must be {allowed}; got {brief(value)}.{advice and ' ' + advice}")


def check_number(name: str, value: object, allowed: str, fits: Callable[[float], bool], advice: str = "") -> float:
    """Check that a value is a number for which `fits` is true. `allowed` describes such numbers in words."""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        with suppress(OverflowError):  # a whole number that is too large for a float
            if fits(float(value)):
                return float(value)
    raise ValueError(f"{name} must be {allowed}; got {brief(value)}.{advice and ' ' + advice}")


def check_bool(name: str, value: object, advice: str = "") -> None:
    """Check that a value is True or False, not merely truthy or falsy."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False{advice}; got {brief(value)}.")


def check_jobs(value: object) -> None:
    """Check a number of threads as joblib accepts it."""
    if value is not None and (not isinstance(value, Integral) or value == 0):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all processors; got {brief(value)}.")


def check_size(value: object, n_features: int) -> int | None:
    """Return the requested number of features, or None for "auto" and "core"."""
    name, advice = "n_features_to_select", 'Use "auto" to tune it.'
    if isinstance(value, str) and value in ("auto", "core"):
        return None
    if isinstance(value, Real) and not isinstance(value, Integral):
        share = float(value)
        if 0 < share <= 1:
            return max(1, round(share * n_features))
        raise ValueError(f"{name} as a share must be in (0, 1]; got {brief(value)}. {advice}")
    if isinstance(value, str):
        raise ValueError(
            f'{name} must be "auto", "core", a whole number or a share in (0, 1]; got {brief(value)}. {advice}'
        )
    return check_count(name, value, 1, n_features, advice)


def frames_in_package() -> int:
    """Return the `stacklevel` at which a warning points to the user's own line of code."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level


def and_more(count: int) -> str:
    """Return the text that follows the names shown if there are more of them."""
    return f" and {count - NAMES_SHOWN} more" if count > NAMES_SHOWN else ""


def listed(names: Iterable[object]) -> str:
    """Return the first names in quotes, followed by how many more there are.

    >>> listed("abcdefg")
    "'a', 'b', 'c', 'd', 'e' and 2 more"
    """
    every = list(names)
    return ", ".join(map(brief, every[:NAMES_SHOWN])) + and_more(len(every))


def is_auto(value: object) -> bool:
    """Whether a parameter has the value "auto"."""
    return isinstance(value, str) and value == "auto"
