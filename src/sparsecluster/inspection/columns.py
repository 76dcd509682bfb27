"""What the columns of a table hold and how `fit` would compare them; no column is refused, whatever it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.checks import LARGEST, observed_enough
from .._data.content import Content, as_frame, contents, word_columns
from .._data.dates import OF_DATES, shown_code
from .._data.kinds import KINDS, Dissimilarity
from .._data.metric import Metric, asked_by_column, kind_for
from .view import BLOCK_VALUES

# Different values of a column are counted up to this number.
MOST_COUNTED = 10_000
# Dissimilarities for which columns of numbers stay numbers.
OF_NUMBERS = ("auto", "sqeuclidean", "manhattan", "euclidean")
# Types of pandas that are surely numbers.
PLAIN = {"float32", "float64", "int64"}
# Why a column would not be used.
CONSTANT, EMPTY = "All its values are the same.", "It has no values."
RARE = "It is observed in too few samples."
INFINITE, LARGE = "It holds infinity.", f"It holds numbers beyond {LARGEST:.0e}."


def describe_columns(X: Any, names: Sequence[str], metric: Metric = "auto") -> list[dict[str, Any]]:
    """Describe how `fit` reads each column of a table.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    names : sequence of n_features names
        Names of the columns.
    metric : str, callable or dict, default="auto"
        Dissimilarity, as in `SASClustering`.

    Returns
    -------
    list of dict
        For each column its name, type, metric and how it is compared in words, the number of its different values, the
        share of missing values, an example, and its problem: why it would not be used, or "" if it would.

    Examples
    --------
    >>> describe_columns(np.array([[1.0], [2.0], [np.nan], [2.0]]), ["size"])[0]["values"]
    2
    >>> import pandas as pd
    >>> [described] = describe_columns(pd.DataFrame({"name": list("abcdefgh")}), ["name"])
    >>> described["type"], described["problem"].split(",")[0]
    ('text', "Column 'name' is text with 8 different values in 8 samples")
    """
    asked = asked_by_column(metric, names)
    if hasattr(X, "tocsc"):
        return _describe_sparse(X.tocsc(), names)
    made: dict[int, dict[str, Any]] = {}
    plain = _columns_of_numbers(X)
    for word in OF_NUMBERS:
        places = [a for a in plain if isinstance(asked[a], str) and asked[a] == word]
        if places:
            found = describe_numbers(_numbers(X, places), [names[a] for a in places], word)
            made |= dict(zip(places, found, strict=True))
    return [made[a] if a in made else _describe_one(X, a, name, asked[a]) for a, name in enumerate(names)]


def _columns_of_numbers(X: Any) -> list[int]:
    """The places of the columns of a table whose type is that of numbers."""
    # There may be very many columns, and it takes long to look at the type of each.
    if hasattr(X, "iloc") and set(map(str, set(X.dtypes))) <= PLAIN:
        return list(range(X.shape[1]))
    frame = as_frame(X)
    if frame is None:
        return list(range(X.shape[1])) if X.dtype.kind in "fiu" else []
    import narwhals.stable.v1 as nw

    others = set(word_columns(frame)) | {name for name, kind in frame.schema.items() if kind == nw.Boolean}
    return [a for a, name in enumerate(frame.columns) if name not in others]


def _numbers(X: Any, places: list[int]) -> npt.NDArray[Any]:
    if len(places) == X.shape[1] and isinstance(X, np.ndarray):
        return X
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, places].to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(X[:, places], dtype=np.float64)


def _describe_one(X: Any, a: int, name: str, asked: Any) -> dict[str, Any]:
    """Describe a column by its content; what `fit` would refuse is its problem."""
    frame = as_frame(X)
    some = frame[:, [a]].to_native() if frame is not None else X[:, [a]]
    n = X.shape[0]
    try:
        is_numbers = frame is None and X.dtype.kind in "fiub"
        content = Content(some[:, 0].astype(np.float64)) if is_numbers else contents(some, [name])[0]
    except ValueError as error:
        values = some.to_numpy()[:, 0] if frame is not None else some[:, 0]
        return _entry(name, "of several types", None, len({repr(value) for value in values}), 0.0, "", str(error))
    seen, kind = content.n_observed, None
    try:
        kind = kind_for(asked, content, name)
        codes = kind.encode(content, name)
        known = codes[~np.isnan(codes)]
        n_values = int(np.unique(known).size)
        value: Any = kind.decode(known[:1])[0] if known.size else ""
        example = (
            shown_code(value, content.meaning) if content.meaning != "numbers" and known.size else as_example(value)
        )
        problem = problem_of(n_values, seen, n) or _beyond(content)
    except ValueError as error:
        values, problem = content.distinct(), str(error)
        n_values, example = len(values), str(min(map(str, values), default=""))
    type_ = _type_of(content, kind)
    if type_ == "true or false" and example in ("0", "1"):
        example = str(example == "1")
    return _entry(name, type_, kind, n_values, (n - seen) / n, example, problem)


def as_example(value: Any) -> str:
    """Return a value as it is shown, a number with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _type_of(content: Content, kind: Dissimilarity | None) -> str:
    """What a column holds, in a word or two."""
    if content.order is not None and len(content.order) == 2 and set(content.order) == {0, 1}:
        return "true or false"
    if content.order is not None:
        return "ordered levels"
    if content.has_levels:
        return "text" if kind is None else "levels"
    return "dates" if content.meaning in OF_DATES else str(content.meaning)


def _beyond(content: Content) -> str:
    """Return what is wrong with numbers that no fit accepts."""
    numbers = content.numbers
    if numbers is None or not numbers.size:
        return ""
    most = np.fmax.reduce(np.abs(numbers))
    return INFINITE if np.isinf(most) else LARGE if most > LARGEST else ""


def problem_of(n_values: int, n_observed: int, n_samples: int) -> str:
    """Return why a column would be left out, or "" if it would be used."""
    if not n_observed:
        return EMPTY
    if not observed_enough(np.array([n_observed]), n_samples)[0]:
        return RARE
    return CONSTANT if n_values < 2 else ""


def _entry(name: str, type_: str, kind: Any, values: int, missing: float, example: str, problem: str) -> dict[str, Any]:
    return {
        "name": str(name),
        "type": type_,
        "metric": "" if kind is None else kind.name,
        "compared by": "" if kind is None else kind.words,
        "values": values,
        "missing": missing,
        "example": example,
        "problem": problem,
    }


# ---------------------------------------------------------------- numbers


class NumberColumns:
    """Columns of numbers, which are described from one block of rows after the other.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.

    Examples
    --------
    >>> columns = NumberColumns(["size"])
    >>> columns.add(np.array([[1.0], [2.0]]))
    >>> columns.add(np.array([[np.nan], [2.0]]))
    >>> [described] = columns.described()
    >>> described["values"], described["missing"], described["example"]
    (2, 0.25, '1')
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.n_rows = names, 0
        self.n_missing = np.zeros(len(names), np.intp)
        self.most = np.zeros(len(names))
        self.seen: list[npt.NDArray[Any]] = [np.empty(0)] * len(names)
        self.example: list[float | None] = [None] * len(names)

    def add(self, values: npt.NDArray[Any]) -> None:
        """Look at the next rows, of shape (n_rows, n_columns)."""
        missing = np.isnan(values)
        self.n_missing += missing.sum(axis=0)
        self.n_rows += len(values)
        self.most = np.fmax(self.most, np.fmax.reduce(np.abs(values), axis=0, initial=0.0))
        for a, seen in enumerate(self.seen):
            if seen.size <= MOST_COUNTED:
                known = values[~missing[:, a], a]
                if known.size and self.example[a] is None:
                    self.example[a] = float(known[0])
                # One more is enough to know that there are more.
                self.seen[a] = np.union1d(seen, known)[: MOST_COUNTED + 1]

    def described(self, metric: str = "auto") -> list[dict[str, Any]]:
        """Return a description of each column, as `describe_columns` does.

        Of columns with more values than are counted, `values` is that number, and there is an entry `more`.
        """
        counts = np.array([seen.size for seen in self.seen])
        made = _described(
            self.names, metric, np.minimum(counts, MOST_COUNTED), self.n_missing, self.n_rows, self.example, self.most
        )
        for a in np.flatnonzero(counts > MOST_COUNTED).tolist():
            made[a]["more"] = True
        return made


def describe_numbers(values: npt.NDArray[Any], names: Sequence[str], metric: str = "auto") -> list[dict[str, Any]]:
    """Describe the columns of a table of numbers as `describe_columns` does, many at a time.

    >>> describe_numbers(np.array([[1.0], [2.0], [np.nan], [2.0]]), ["size"])[0]["missing"]
    0.25
    """
    n, p = values.shape
    counts, n_missing, most = np.zeros(p, np.intp), np.zeros(p, np.intp), np.zeros(p)
    examples = list[float | None]()
    step = max(1, BLOCK_VALUES // max(n, 1))
    for first in range(0, p, step):
        some = slice(first, first + step)
        block = np.asarray(values[:, some], dtype=np.float64)
        is_known = ~np.isnan(block)
        at, known = is_known.argmax(axis=0), np.asarray(is_known.any(axis=0))
        found = block[at, np.arange(at.size)]
        # Missing values are sorted to the end.
        block = np.sort(block, axis=0)
        counts[some] = known.astype(np.intp) + ((block[1:] != block[:-1]) & ~np.isnan(block[1:])).sum(axis=0)
        n_missing[some] = (~is_known).sum(axis=0)
        most[some] = np.fmax.reduce(np.abs(block), axis=0, initial=0.0)
        examples += [
            float(value) if is_any else None for value, is_any in zip(found.tolist(), known.tolist(), strict=True)
        ]
    return _described(names, metric, counts, n_missing, n, examples, most)


def _described(
    names: Sequence[str],
    metric: str,
    counts: npt.NDArray[Any],
    n_missing: npt.NDArray[Any],
    n: int,
    examples: Sequence[float | None],
    most: npt.NDArray[Any],
) -> list[dict[str, Any]]:
    kind = KINDS["sqeuclidean" if metric == "auto" else metric]
    problems = np.select(
        [n_missing == n, ~observed_enough(n - n_missing, n), counts < 2, np.isinf(most), most > LARGEST],
        [EMPTY, RARE, CONSTANT, INFINITE, LARGE],
        "",
    )
    return [
        _entry(name, "numbers", kind, count, missing / n, "" if example is None else as_example(example), problem)
        for name, count, missing, example, problem in zip(
            names, counts.tolist(), n_missing.tolist(), examples, problems.tolist(), strict=True
        )
    ]


def _describe_sparse(X: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the columns of a sparse matrix, in which all values that are not stored are zero."""
    n, p = X.shape
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    stored = np.diff(X.indptr)
    owners = np.repeat(np.arange(p), stored)
    values, order = X.data, np.lexsort((X.data, owners))
    ordered, of = values[order], owners[order]
    is_new = np.r_[True, (ordered[1:] != ordered[:-1]) | (of[1:] != of[:-1])] if ordered.size else np.empty(0, bool)
    # Stored zeros are no further value beside those that are not stored.
    counts = np.bincount(of[is_new & ((ordered != 0) | (stored[of] == n))], minlength=p) + (stored < n)
    most = np.zeros(p)
    np.maximum.at(most, owners, np.abs(values.astype(np.float64)))
    examples = [float(values[first]) if size else 0.0 for first, size in zip(X.indptr[:-1], stored, strict=True)]
    return _described(names, "auto", counts, np.zeros(p, np.intp), n, examples, most)
