"""What a user's table says: each column as numbers or as codes of levels, and how it tells samples apart."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from .._features.base import Floats, Table
from .checks import check_choice, not_numbers_now
from .columns import Column, ColumnTable, Dissimilarity, is_gap

Metric = str | Dissimilarity | Mapping[Any, Any]

# How a column can tell samples apart, besides a function of the user's.
KINDS = ("sqeuclidean", "hamming", "manhattan", "ordinal")
WITH_LEVELS = ("hamming", "ordinal")
# A column of text is refused where more than this share of its values, and more than so many, are different.
NEAR_UNIQUE, FEW_LEVELS = 0.7, 5
MICROSECONDS_A_DAY = 86_400e6


# ---------------------------------------------------------------- metric


def kinds_by_column(metric: Metric, names: Sequence[str]) -> list[str | Dissimilarity]:
    """The dissimilarity asked for each column; "auto" where none is."""
    if isinstance(metric, Mapping):
        given: list[str | Dissimilarity] = ["auto"] * len(names)
        for key, kind in metric.items():
            given[column_place(key, names, "metric")] = _check_kind(kind, f"metric[{key!r}]")
        return given
    return [_check_kind(metric, "metric")] * len(names)


def _check_kind(kind: Any, where: str) -> str | Dissimilarity:
    if callable(kind):
        return kind
    # Matrices are not columns of a table, so they are no choice for one of them.
    words = ["auto", *KINDS, *(["precomputed"] if where == "metric" else [])]
    return check_choice(where, kind, words, ", a function of two values" + " or a dict" * (where == "metric"))


def column_place(key: Any, names: Sequence[Any], where: str) -> int:
    """The place of a column by its name, or by its number where that is no name."""
    if key in names:
        return list(names).index(key)
    is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if is_number and 0 <= key < len(names) and all(isinstance(name, str) for name in names):
        return int(key)
    near = difflib.get_close_matches(str(key), list(map(str, names)), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else f" Columns are {', '.join(map(repr, names[:5]))}, ..."
    raise ValueError(f"{where} names a column {key!r} that X does not have.{hint}")


# ---------------------------------------------------------------- reading


def as_frame(X: Any) -> Any:
    """A narwhals data frame where X is one of pandas, polars or pyarrow; else None."""
    import narwhals.stable.v1 as nw

    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError("X is a lazy frame, which has no values yet. Call .collect() on it first.")
    names = getattr(X, "column_names", None) or list(getattr(X, "columns", ()))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"Column names must differ; {', '.join(map(repr, twice[:5]))} come more than once. Rename or drop columns."
        )
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def needs_reading(X: Any) -> bool:
    """Whether an array that is not a data frame holds text, or gaps that are not numbers."""
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "OUS" or array.ndim != 2:
        return False
    return array.dtype.kind in "US" or any(
        isinstance(value, str | bytes | date | timedelta) or (is_gap(value) and not isinstance(value, float))
        for value in array.flat
    )


def words_in(frame: Any) -> list[str]:
    """Columns of a data frame that hold neither numbers nor truth values."""
    import narwhals.stable.v1 as nw

    return [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == nw.Boolean)]


def read_columns(X: Any, metric: Metric, names: Sequence[str]) -> ColumnTable:
    """A table with columns of any types, read by their types or as `metric` says."""
    asked = kinds_by_column(metric, names)
    read = [_read(name, each, kind) for name, each, kind in zip(names, _columns(X), asked, strict=True)]
    return ColumnTable(np.column_stack([values for _, values in read]), tuple(column for column, _ in read))


def read_numbers(X: Table, metric: Metric, names: Sequence[str]) -> ColumnTable:
    """A table of numbers, NaN in gaps."""
    asked = ["sqeuclidean" if kind == "auto" else kind for kind in kinds_by_column(metric, names)]
    if not any(kind in WITH_LEVELS for kind in asked):
        # One object for all columns of a kind: there may be very many columns.
        kinds = {id(kind): Column(kind) for kind in asked}
        return ColumnTable(X, tuple(kinds[id(kind)] for kind in asked))
    columns = [number_column(X[:, a], kind) for a, kind in enumerate(asked)]
    return ColumnTable(recode(X, columns), tuple(columns))


def number_column(values: Table, kind: str | Dissimilarity) -> Column:
    """A column of numbers, whose levels are its different values where it is to have some."""
    if kind not in WITH_LEVELS:
        return Column(kind)
    return with_levels(kind, tuple(np.unique(values[~np.isnan(values)]).tolist()))


def recode(X: Table, columns: Sequence[Column]) -> Table:
    """Numbers with those columns that have levels as codes."""
    if all(column.levels is None for column in columns):
        return X
    coded = [X[:, a] if column.levels is None else column.encode(X[:, a]) for a, column in enumerate(columns)]
    return np.column_stack(coded)


def read_again(X: Any, columns: Sequence[Column], names: Sequence[str]) -> list[Any]:
    """Columns of new samples, read as those of `fit` were."""
    given = zip(names, _columns(X), columns, strict=True)
    return [_read_again(name, _content(name, each), column) for name, each, column in given]


def _read_again(name: str, content: Content, column: Column) -> Any:
    if column.levels is None:
        if content.numbers is None:
            raise not_numbers_now(name)
        return content.numbers
    values = content.values if content.numbers is None else content.numbers.tolist()
    # A function of the user's can compare levels that fit has not seen, so it gets them as they are.
    return column.encode(values) if isinstance(column.kind, str) else np.array([*values, None], dtype=object)[:-1]


def _columns(X: Any) -> list[Any]:
    """The columns of a data frame (as narwhals series) or of an array of objects."""
    frame = as_frame(X)
    return list(np.asarray(X, dtype=object).T) if frame is None else list(frame.iter_columns())


class Content(NamedTuple):
    """What a column holds: values, the same as numbers where they are, and what is known of their levels."""

    values: list[Any]
    numbers: Floats | None = None
    has_levels: bool = False
    is_text: bool = False
    order: tuple[Any, ...] | None = None


def _content(name: str, series: Any) -> Content:
    import narwhals.stable.v1 as nw

    if isinstance(series, np.ndarray):
        return _object_content(name, series.tolist())
    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        numbers = _floats(series)
        is_truth = kind == nw.Boolean
        return Content(numbers.tolist(), numbers, has_levels=is_truth, order=(0.0, 1.0) if is_truth else None)
    if kind in (nw.Datetime, nw.Date, nw.Duration):
        # Days, as a scale that people know; the origin does not matter.
        numbers = _floats(_microseconds(series)) / MICROSECONDS_A_DAY
        return Content(numbers.tolist(), numbers)
    if kind in (nw.Categorical, nw.Enum):
        native = getattr(series.to_native(), "dtype", None) or series.to_native().type
        if type(native).__name__ == "ArrowDtype":
            # pandas keeps the levels of Arrow's dictionaries to itself, and with them their order.
            return Content(series.to_list(), has_levels=True)
        levels = tuple(series.cat.get_categories().to_list())
        # pandas and Arrow say whether levels have an order; an Enum of polars is one by its order.
        is_ordered = bool(getattr(native, "ordered", type(native).__name__ == "Enum"))
        return Content(series.to_list(), has_levels=True, order=levels if is_ordered else None)
    return _object_content(name, series.to_list())


def _microseconds(series: Any) -> Any:
    import narwhals.stable.v1 as nw

    if series.dtype == nw.Duration:
        return series.dt.total_microseconds()
    if series.dtype == nw.Datetime and getattr(series.dtype, "time_zone", None):
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.cast(nw.Datetime("us")).dt.timestamp("us")


def _object_content(name: str, values: list[Any]) -> Content:
    """Values of no declared type: all text, all truth values, all times or all numbers."""
    kinds = {type(value) for value in values if not is_gap(value)}
    for allowed, number in NUMBERS_IN:
        if all(issubclass(kind, allowed) and not issubclass(kind, bool) for kind in kinds):
            return Content(values, np.array([np.nan if is_gap(value) else number(value) for value in values]))
    if kinds <= {bool, np.bool_}:
        return Content(values, has_levels=True, order=(False, True))
    if all(issubclass(kind, str) for kind in kinds):
        return Content(values, has_levels=True, is_text=True)
    raise ValueError(
        f"Column {name!r} must be numbers, truth values, dates, categories or text; it has values of type "
        f"{', '.join(sorted(kind.__name__ for kind in kinds))}. Turn it into one of these, or drop it."
    )


def _days(value: Any) -> float:
    """Of a date, or of a time in UTC if it has a zone, since 1970."""
    if not isinstance(value, datetime):
        return float((value - date(1970, 1, 1)).days)
    return float((value - datetime(1970, 1, 1, tzinfo=UTC if value.tzinfo else None)) / timedelta(days=1))


# What objects can be made numbers, and how.
NUMBERS_IN: tuple[tuple[Any, Any], ...] = (
    (int | float | np.number, float),
    (datetime, _days),
    (date, _days),
    (timedelta, lambda value: value / timedelta(days=1)),
)


def _floats(series: Any) -> Floats:
    import narwhals.stable.v1 as nw

    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _read(name: str, series: Any, kind: str | Dissimilarity) -> tuple[Column, Floats]:
    """A column and its values, by what it holds and by the kind asked for."""
    content = _content(name, series)
    if kind == "auto":
        refuse_identifiers(name, content)
        ranked = content.order is not None and content.numbers is None and len(content.order) > 2
        kind = "ordinal" if ranked else "hamming" if content.has_levels else "sqeuclidean"
    if kind in ("sqeuclidean", "manhattan") and content.numbers is None:
        advice = "hamming" if content.order is None else "ordinal"
        raise ValueError(f'Column {name!r} has levels, not numbers, so metric="{kind}" has no meaning. Use "{advice}".')
    if kind == "ordinal" and content.has_levels and content.order is None:
        raise ValueError(
            f'Column {name!r} has levels without an order, so metric="ordinal" has no meaning. Make it an ordered '
            'category, or use "hamming".'
        )
    if content.numbers is not None and kind not in WITH_LEVELS:
        return Column(kind), content.numbers
    values = content.values if content.numbers is None else content.numbers.tolist()
    levels = content.order if kind == "ordinal" and content.order else in_order({v for v in values if not is_gap(v)})
    column = with_levels(kind, levels)
    return column, column.encode(values)


def in_order(levels: set[Any]) -> tuple[Any, ...]:
    """Ascending; by type and text where they cannot be compared."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def refuse_identifiers(name: str, content: Content) -> None:
    """Text that is different in nearly every sample says nothing about groups."""
    seen = [value for value in content.values if not is_gap(value)]
    different = len(set(seen)) if content.is_text else 0
    if different > max(FEW_LEVELS, NEAR_UNIQUE * len(seen)):
        raise ValueError(
            f"Column {name!r} is text with {different} different values in {len(seen)} samples, as names and identifiers "
            f"are, and tells nothing about groups. Drop it, turn it into numbers if it holds numbers, or say "
            f'metric={{{name!r}: "hamming"}} if it is meant.'
        )


def with_levels(kind: str | Dissimilarity, levels: tuple[Any, ...]) -> Column:
    """A column of levels; ordinal is the distance of their ranks."""
    return Column("manhattan" if kind == "ordinal" else kind, levels)
