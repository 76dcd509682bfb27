"""The content of the columns of a user's table: numbers or values with levels, and which of them are missing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Floats
from .._utils.text import brief
from .dates import MICROSECONDS_A_DAY, Meaning, days_in, find_dates, meaning_of_days


class Content(NamedTuple):
    """The values of one column.

    Attributes
    ----------
    numbers : ndarray of shape (n_samples,) or None
        The values as numbers, NaN for missing values; None if they are not numbers.
    values : sequence of length n_samples or None
        The values as they are; None if they are numbers.
    has_levels : bool
        Whether the column is categorical, by its type or by its values.
    is_text : bool
        Whether the values are text without a declared type, which may turn out to be identifiers.
    order : tuple or None
        The levels in ascending order, if the column is ordered.
    meaning : {"numbers", "dates", "times", "durations"}
        What the numbers stand for: dates and times are days since 1970, and durations are days.
    """

    numbers: Floats | None = None
    values: Sequence[Any] | None = None
    has_levels: bool = False
    is_text: bool = False
    order: tuple[Any, ...] | None = None
    meaning: Meaning = "numbers"

    def distinct(self) -> list[Any]:
        """The distinct observed values, in no particular order."""
        if self.numbers is not None:
            # Adding zero turns -0.0 into 0.0.
            return np.unique(self.numbers[~np.isnan(self.numbers)] + 0.0).tolist()
        assert self.values is not None
        return [value for value in set(self.values) if not is_missing(value)]

    def as_dates(self, column: str) -> Content:
        """The same with text read as dates; an error if some of it is not a date, or may be two."""
        if self.values is None:
            return self
        found = find_dates(self.values)
        if found is None or found.odd or found.other:
            value = found.odd[0] if found and found.odd else next(each for each in self.values if not is_missing(each))
            what = f"{brief(value)} may be {found.form} or {found.other}" if found and found.other else brief(value)
            raise ValueError(
                f"Column {brief(column)} held dates in fit and must hold dates now; got {what}. Pass dates, or text "
                "such as 2024-12-31."
            )
        days = days_in(found.times)
        return Content(days, meaning=meaning_of_days(days))

    @property
    def n_observed(self) -> int:
        """The number of observed values."""
        if self.numbers is not None:
            return int(np.count_nonzero(~np.isnan(self.numbers)))
        assert self.values is not None
        return sum(count for value, count in Counter(self.values).items() if not is_missing(value))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


# ---------------------------------------------------------------- data frames and arrays


def as_frame(X: Any) -> Any:
    """A narwhals data frame if X is a pandas, polars or pyarrow table, else None."""
    if isinstance(X, np.ndarray):
        return None
    import narwhals.stable.v1 as nw

    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError("X is a lazy frame, whose values are not computed yet. Call .collect() on it first.")
    names = getattr(X, "column_names", None) or list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"Column names must be unique; repeated names are {', '.join(map(brief, repeated[:5]))}. Rename or drop "
            "columns."
        )
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def holds_words(X: Any) -> bool:
    """Whether a table holds anything besides numbers and booleans, so that its columns are read one by one."""
    frame = as_frame(X)
    if frame is not None:
        return bool(word_columns(frame))
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "OUST" or array.ndim != 2:
        return False
    return array.dtype.kind in "UST" or any(
        isinstance(value, str | bytes | date | timedelta)
        or (is_missing(value) and not isinstance(value, float))
        or is_beyond_floats(value)
        for value in array.flat
    )


def is_beyond_floats(value: Any) -> bool:
    """Whether a value is a whole number that is larger than any float."""
    return type(value) is int and abs(value) > sys.float_info.max


def word_columns(frame: Any) -> list[str]:
    """The columns of a data frame that hold neither numbers nor booleans."""
    import narwhals.stable.v1 as nw

    return columns_where(frame, lambda kind: not (kind.is_numeric() or kind == nw.Boolean))


def columns_where(frame: Any, is_wanted: Callable[[Any], bool]) -> list[str]:
    """The columns of a data frame whose type is wanted. There may be very many columns, but they have few types."""
    every = list(getattr(frame.to_native(), "dtypes", ()))
    if not every:
        return [name for name, kind in frame.schema.items() if is_wanted(kind)]
    places = dict(zip(every, range(len(every)), strict=True))
    kinds = frame[:, list(places.values())].schema.values()
    wanted = {own for own, kind in zip(places, kinds, strict=True) if is_wanted(kind)}
    return [name for name, own in zip(frame.columns, every, strict=True) if own in wanted] if wanted else []


def contents(X: Any, names: Sequence[str]) -> list[Content]:
    """The content of each column of a data frame or an array of objects."""
    frame = as_frame(X)
    if frame is None:
        columns = np.asarray(X, dtype=object).T
        return [_of_objects(name, values.tolist()) for name, values in zip(names, columns, strict=True)]
    return [_of_series(name, series) for name, series in zip(names, frame.iter_columns(), strict=True)]


# ---------------------------------------------------------------- one column


def _of_series(name: str, series: Any) -> Content:
    try:
        content = _of_typed(series)
        values = [] if content is not None else series.to_list()
    except Exception as error:
        # Each library has its own errors for values that it cannot convert, such as times before the Big Bang.
        reason = (str(error).splitlines() or [""])[0]
        raise ValueError(f"Column {name!r} of type {series.dtype} cannot be read: {reason}") from error
    return _of_objects(name, values) if content is None else content


def _of_typed(series: Any) -> Content | None:
    """The content of a column whose type says what it holds; None for other types."""
    import narwhals.stable.v1 as nw

    kind = series.dtype
    if kind.is_numeric():
        return Content(_floats(series))
    if kind == nw.Boolean:
        return Content(_floats(series), has_levels=True, order=(0.0, 1.0))
    if kind in (nw.Datetime, nw.Date, nw.Duration):
        # In days, which is a familiar unit; the origin does not matter.
        days = _floats(_microseconds(series)) / MICROSECONDS_A_DAY
        return Content(days, meaning="durations" if kind == nw.Duration else meaning_of_days(days))
    if kind in (nw.Categorical, nw.Enum):
        native = getattr(series.to_native(), "dtype", None) or series.to_native().type
        if type(native).__name__ == "ArrowDtype":
            # pandas does not reveal the levels of Arrow's dictionaries, nor their order.
            return Content(values=series.to_list(), has_levels=True)
        levels = tuple(series.cat.get_categories().to_list())
        # pandas and Arrow know whether levels are ordered; those of a polars Enum always are.
        is_ordered = bool(getattr(native, "ordered", type(native).__name__ == "Enum"))
        return Content(values=series.to_list(), has_levels=True, order=levels if is_ordered else None)
    return None


def _floats(series: Any) -> Floats:
    import narwhals.stable.v1 as nw

    values = series.to_numpy()
    if values.dtype.kind in "fiub":
        return np.asarray(values, dtype=np.float64)
    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _microseconds(series: Any) -> Any:
    import narwhals.stable.v1 as nw

    if series.dtype == nw.Duration:
        return series.dt.total_microseconds()
    if series.dtype == nw.Datetime and getattr(series.dtype, "time_zone", None):
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.cast(nw.Datetime("us")).dt.timestamp("us")


def _of_objects(name: str, values: list[Any]) -> Content:
    """Values without a declared type, which must all be text, booleans, times or numbers."""
    kinds = {kind for kind in set(map(type, values)) if not _is_type_of_missing(kind)}
    floats = {kind for kind in kinds if issubclass(kind, float | np.floating)}
    if floats and all(value != value for value in values if isinstance(value, float | np.floating)):
        kinds -= floats
    for allowed, number, meaning in NUMBERS_IN:
        if all(issubclass(kind, allowed) and not issubclass(kind, bool) for kind in kinds):
            numbers = np.array([np.nan if is_missing(value) else number(value) for value in values], dtype=float)
            return Content(numbers, meaning=meaning_of_days(numbers) if meaning == "dates" else meaning)
    if kinds <= {bool, np.bool_}:
        return Content(values=values, has_levels=True, order=(False, True))
    if all(issubclass(kind, str) for kind in kinds):
        return Content(values=values, has_levels=True, is_text=True)
    raise ValueError(
        f"Column {brief(name)} must hold numbers, booleans, dates, categories or text; it has values of type "
        f"{', '.join(sorted(kind.__name__ for kind in kinds))}. Convert the column to one of these, or drop it."
    )


def _is_type_of_missing(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType")


def _days(value: Any) -> float:
    """Days from January 1, 1970 to a date or time; times with a time zone are in UTC."""
    if not isinstance(value, datetime):
        return float((value - date(1970, 1, 1)).days)
    return float((value - datetime(1970, 1, 1, tzinfo=UTC if value.tzinfo else None)) / timedelta(days=1))


def _number(value: Any) -> float:
    """A number as a float; infinite, and refused by its column later, if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


# Types of objects that can be read as numbers, how they are converted, and what they stand for.
NUMBERS_IN: tuple[tuple[Any, Any, Meaning], ...] = (
    (Real | Decimal | np.integer | np.floating, _number, "numbers"),
    (date, _days, "dates"),
    (timedelta, lambda value: value / timedelta(days=1), "durations"),
)
