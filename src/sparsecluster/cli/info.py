"""`sparsecluster info`: show what the columns of a table are, and how they would be used."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .errors import plainly, tell
from .options import (
    AsJson,
    Dates,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Id,
    Keep,
    MaxMemory,
    Metric,
    Parts,
    Preset,
    Sheet,
    Transpose,
    Truth,
)
from .words import in_options

if TYPE_CHECKING:
    from ..io import Other, Stream
    from .tables import Request

# The number of columns that `info` lists, and of names in a line; the length at which values are truncated.
MOST_SHOWN, MOST_NAMED, MOST_LETTERS = 40, 5, 60
# The number of values that are looked at together.
VALUES_AT_A_TIME = 2**20
# What is said of a number of different values that is not exact.
COUNTED = {"more": "more than ", "least": "at least "}


@plainly
def info(
    data: Parts,
    id_: Id = None,
    truth: Truth = None,
    drop: Drop = None,
    keep: Keep = None,
    dates: Dates = None,
    metric: Metric = None,
    transpose: Transpose = False,
    preset: Preset = None,
    sheet: Sheet = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    max_memory: MaxMemory = None,
    as_json: AsJson = False,
) -> None:
    """Show how a table is read: what each column is, how it is compared, and why it would be used or not.

    All columns of the file are described, also those that would be left out. --json has all of them, also if a table
    is too wide to be listed.

    Examples:

      sparsecluster info table.csv

      sparsecluster info cells.h5ad --preset expression
    """
    from .shared import say_json
    from .tables import Request, check_preset, metric_of

    check_preset(preset)
    asked = metric_of(metric)
    named = tuple(asked) if isinstance(asked, dict) else ()
    columns = tuple(drop or ()), tuple(keep or ()), tuple(dates or ())
    request = Request(id_, truth, *columns, transpose, sheet, encoding, delimiter, decimal, max_memory, named)
    n, described, notes = described_table(data, request, asked, preset)
    told = {"samples": n, "columns": described, "notes": list(map(in_options, notes))}
    if as_json:
        say_json(told)
    else:
        _print(told)


def described_table(
    data: list[str], request: Request, metric: Any, preset: str | None
) -> tuple[int, list[dict[str, Any]], list[str]]:
    """Return the number of samples, a description of all columns in the order of the file, and notes."""
    from ..inspection.columns import OF_NUMBERS
    from ..io.parts import are_parts
    from .parts import described_parts
    from .tables import metric_for, preset_of

    if are_parts(data):
        opened: Any = request.load_or_open(data)
        n, features = described_parts(opened, metric)
        return n, all_columns(features, opened), list(opened.notes)
    needs_all = (request.transpose, request.truth, preset, isinstance(metric, dict) or metric not in OF_NUMBERS)
    is_whole = any(needs_all)
    with nullcontext() if is_whole else request.blocks(data[0]) as stream:
        if stream is not None:
            return len(stream.ids), all_columns(described_blocks(stream, metric), stream), list(stream.notes)
    loaded = request.load(data[0])
    features = described(loaded, metric_for(metric, loaded))
    is_matrix = preset or request.transpose or not hasattr(loaded.X, "columns")
    about = about_values(loaded.X, preset) if is_matrix else preset_of(preset, loaded.X)[1]
    return len(loaded.ids), all_columns(features, loaded), [*loaded.notes, *about]


def described(loaded: Any, metric: Any) -> list[dict[str, Any]]:
    """Return a description of each feature of a table in memory."""
    from ..inspection.columns import describe_columns

    return describe_columns(loaded.X, loaded.names, metric)


def described_blocks(stream: Stream, metric: str) -> list[dict[str, Any]]:
    """Return the same of a table that is read in blocks of rows."""
    from ..inspection.columns import NumberColumns, describe_columns

    numbers = NumberColumns([stream.blocks.names[place] for place in stream.places])
    for values in stream.blocks.arrays(stream.places):
        numbers.add(values)
    others = stream.words
    words = describe_columns(others, list(others.columns), metric) if others.shape[1] else []
    found = {column["name"]: column for column in (*numbers.described(metric), *words)}
    return [found[name] for name in stream.names]


# ---------------------------------------------------------------- what columns are used for

# The uses of columns, as they are counted.
USES = {"feature": "used as features", "id": "with the names", "truth": "with the true groups", "left out": "left out"}
# Why a column of each type is used as it is.
USED = {
    "numbers": "It holds numbers.",
    "dates": "It holds dates, which are compared as numbers of days.",
    "durations": "It holds durations, which are compared as numbers of days.",
    "true or false": "It holds two values, true and false.",
    "levels": "It holds text or categories.",
    "ordered levels": "It holds levels with an order, which are compared by their ranks.",
}
# Numbers with at most this many different values may be codes of categories.
FEW_VALUES = 5


def all_columns(features: list[dict[str, Any]], table: Any) -> list[dict[str, Any]]:
    """Return all columns of a file in its order: the features, and those that are not features."""
    from .again import quoted

    columns = [as_used(column, table.advice.get(column["name"])) for column in features]
    for other in sorted(table.others, key=lambda each: each.place):
        columns.insert(
            other.place,
            {
                "name": other.name,
                "use": other.use,
                "type": "",
                "metric": "",
                "compared by": "",
                "values": other.values,
                "missing": other.missing,
                "example": other.example,
                "why": other.why,
                "advice": "" if is_asked(other) else f"Use --keep {quoted(other.name)} to use it.",
            },
        )
    return columns


def is_asked(other: Other) -> bool:
    """Whether the user has said what a column is used for."""
    from ..io._columns import WHY

    return other.use != "left out" or other.why == WHY["drop"]


def as_used(column: dict[str, Any], advised: str | None = None) -> dict[str, Any]:
    """Return the description of a feature with its use, the reason, and advice."""
    problem = column["problem"]
    if problem:
        why, _, advice = in_options(problem).partition(". ")
    else:
        # What is advised is to compare numbers as categories.
        is_open = column["metric"] == "sqeuclidean"
        why = USED.get(column["type"], f"It holds {column['type']}.")
        advice = advised if advised and is_open else advice_for(column)
    order = ("name", "use", "type", "metric", "compared by", "values", "missing", "example", "why", "advice")
    made = {**column, "use": "left out" if problem else "feature", "why": why.rstrip(".") + ".", "advice": advice}
    return {**{key: made[key] for key in order}, **{key: made[key] for key in COUNTED if key in made}}


def advice_for(column: dict[str, Any]) -> str:
    """Return what could be done about a column that is used, or ""."""
    from .again import quoted

    name = column["name"]
    if column["metric"] == "sqeuclidean" and column["type"] == "numbers" and 2 < column["values"] <= FEW_VALUES:
        return f"If these are codes of categories, use --metric {quoted(f'{name}=hamming')}."
    if column["missing"] > 0.5:
        return f"Most of its values are missing. If it is of no use, leave it out with --drop {quoted(name)}."
    return ""


def about_values(X: Any, preset: str | None) -> list[str]:
    """Return notes on the values of a matrix as a whole: how many are not zero, and whether they look like counts."""
    import numpy as np

    from .tables import preset_of

    notes = []
    is_sparse = hasattr(X, "tocsc")
    try:
        values = X.data if is_sparse else np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError):
        return ["The table has columns that are not numbers, so --preset cannot be used."] if preset else []
    share = np.count_nonzero(values) / max(1, X.shape[0] * X.shape[1])
    kind = "a sparse matrix" if is_sparse else "a dense table"
    notes.append(f"The table is {kind}, in which {share:.1%} of the values are not zero.")
    low, high, is_whole = np.inf, -np.inf, True
    # A few rows at a time, because there may be very many.
    for some in np.array_split(values, max(1, values.size // VALUES_AT_A_TIME)):
        known = some[np.isfinite(some)]
        if known.size:
            low, high = min(low, known.min()), max(high, known.max())
            is_whole = is_whole and bool((known == np.round(known)).all())
    if low >= 0 and is_whole and low <= high:
        notes.append("All values are whole numbers of at least 0, like counts.")
    elif low <= high:
        notes.append(f"The values are no counts: they are between {low:.4g} and {high:.4g}.")
    try:
        return [*notes, *preset_of(preset, X)[1]]
    except (ValueError, TypeError) as error:
        return [*notes, f"--preset {preset} cannot be used. {error}"]


# ---------------------------------------------------------------- what is printed


def _print(told: dict[str, Any]) -> None:
    from .._utils.text import shortened
    from .shared import show_table

    columns = told["columns"]
    uses = Counter(USES[column["use"]] for column in columns)
    tell(f"{told['samples']:,} samples, {len(columns):,} columns: {_counted(uses)}.")
    for note in told["notes"]:
        tell(f"Note: {note}")
    show_table(
        ["column", "use", "type", "compared by", "values", "missing", "example"],
        (
            (
                " ".join(column["name"].split()),
                column["use"],
                column["type"],
                column["compared by"],
                _number(column["values"], next((word for key, word in COUNTED.items() if key in column), "")),
                "" if column["missing"] is None else f"{column['missing']:.0%}",
                shortened(column["example"], MOST_LETTERS),
            )
            for column in columns[:MOST_SHOWN]
        ),
    )
    rest = columns[MOST_SHOWN:]
    if rest:
        kinds = Counter(f"{column['use']}, {column['type']}" if column["type"] else column["use"] for column in rest)
        tell(f"... and {len(rest):,} more columns: {_counted(kinds, '; ')}. Use --json to see all of them.")
    for line in _reasons(columns):
        tell(line)


def _number(count: int | None, word: str) -> str:
    return "" if count is None else f"{word}{count:,}"


def _counted(counts: Counter[str], between: str = ", ") -> str:
    return between.join(f"{count:,} {what}" for what, count in counts.most_common())


def _reasons(columns: list[dict[str, Any]]) -> list[str]:
    """Return lines that say why columns are not used, and what to do; columns with the same reason share a line."""
    names: dict[str, list[str]] = {}
    for column in columns:
        if column["use"] != "feature":
            names.setdefault(f"{column['why']} {column['advice']}".strip(), []).append(column["name"])
        elif column["advice"]:
            names.setdefault(column["advice"], []).append(column["name"])
    return [f"{_named(same)}: {reason}" for reason, same in names.items()][:MOST_SHOWN]


def _named(names: list[str]) -> str:
    """Return the first names, followed by how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
