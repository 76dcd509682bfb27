"""Checks of parameters and data. Every message says what is allowed, what came and what to do next."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .features.base import Table

# Names listed in a message before it says "and n more".
NAMES_SHOWN = 5


def check_choice(name: str, value: object, allowed: Sequence[str], advice: str = "") -> str:
    """One of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    near = difflib.get_close_matches(str(value), allowed, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    listed = ", ".join(f'"{word}"' for word in allowed)
    raise ValueError(f"{name} must be one of {listed}{advice}; got {value!r}.{hint}")


def check_count(name: str, value: object, low: int, high: int | None = None, advice: str = "") -> int:
    """A whole number in [low, high]."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {high}]"
    is_count = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if is_count and low <= value and (high is None or value <= high):  # type: ignore[operator]
        return int(value)  # type: ignore[call-overload]
    raise ValueError(f"{name} must be {allowed}; got {value!r}.{advice and ' ' + advice}")


def check_bool(name: str, value: object, advice: str = "") -> None:
    """True or False, not something that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False{advice}; got {value!r}.")


def check_jobs(value: object) -> None:
    """A number of threads as joblib takes it."""
    if value is not None and (not isinstance(value, Integral) or value == 0):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all of them; got {value!r}.")


def check_size(value: object, n_features: int) -> int | None:
    """The number of features asked for; None for "auto"."""
    name, advice = "n_features_to_select", 'Use "auto" to tune it.'
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, Real) and not isinstance(value, Integral):
        share = float(value)
        if 0 < share <= 1:
            return max(1, round(share * n_features))
        raise ValueError(f"{name} as a share must be in (0, 1]; got {value!r}. {advice}")
    if isinstance(value, str):
        raise ValueError(f'{name} must be "auto", a whole number or a share in (0, 1]; got {value!r}. {advice}')
    return check_count(name, value, 1, n_features, advice)


def check_numeric_columns(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers, by name."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return
    bad = [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == nw.Boolean)]
    if bad:
        kinds = ", ".join(f"{name!r} ({frame.schema[name]})" for name in bad[:NAMES_SHOWN])
        raise ValueError(
            f"All columns must be numbers; {len(bad)} of {len(frame.columns)} are not: {kinds}{_more(len(bad))}. "
            "Drop them or turn them into numbers first."
        )


def check_finite(X: Table, names: Sequence[str]) -> None:
    """Refuse NaN and inf, saying in which columns."""
    # A sum is not finite if a value is not, and may overflow on its own; only then is it worth looking closer.
    with np.errstate(all="ignore"):
        suspects = np.flatnonzero(~np.isfinite(X.sum(axis=0, dtype=np.float64)))
    for what, test, advice in (
        ("NaN", np.isnan, "Fill them first (for example with sklearn.impute.SimpleImputer) or drop these columns."),
        ("infinity", np.isinf, "Replace them by finite numbers or drop these columns."),
    ):
        counts = {a: int(test(X[:, a]).sum()) for a in suspects.tolist()}
        bad = [a for a in counts if counts[a]]
        if bad:
            listed = ", ".join(f"{names[a]!r} ({counts[a]})" for a in bad[:NAMES_SHOWN])
            raise ValueError(
                f"Input X contains {what} in {len(bad)} of {X.shape[1]} columns: {listed}{_more(len(bad))}. {advice}"
            )


def usable_columns(X: Table, names: Sequence[str]) -> npt.NDArray[np.intp]:
    """Columns that are not constant; the others are named in a warning."""
    usable = X.max(axis=0) > X.min(axis=0)
    constant = np.flatnonzero(~usable)
    if constant.size == X.shape[1]:
        raise ValueError(f"All {X.shape[1]} columns are constant, so there is nothing to group by. Check the input.")
    if constant.size:
        listed = ", ".join(repr(names[a]) for a in constant[:NAMES_SHOWN])
        columns = "1 constant column is" if constant.size == 1 else f"{constant.size} constant columns are"
        warnings.warn(
            f"{columns} kept out and never chosen: {listed}{_more(constant.size)}.",
            UserWarning,
            stacklevel=3,
        )
    return np.flatnonzero(usable)


def check_distinct(X: Table, n_clusters: int) -> None:
    """As many different rows as clusters."""
    distinct = len(np.unique(X, axis=0))
    if distinct < n_clusters:
        raise ValueError(
            f"X has only {distinct} distinct rows, fewer than n_clusters={n_clusters}. Ask for fewer clusters."
        )


def _more(count: int) -> str:
    return f" and {count - NAMES_SHOWN} more" if count > NAMES_SHOWN else ""
