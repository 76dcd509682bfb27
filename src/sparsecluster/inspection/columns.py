"""What the columns of a table hold, found in blocks of rows: how many values there are, and how many are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .view import BLOCK_VALUES, describe_columns

# Different values of a column are counted up to this number.
MOST_COUNTED = 10_000


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
    >>> columns.described()
    [{'name': 'size', 'compared by': 'squared difference', 'values': 2, 'missing': 0.25, 'example': '1'}]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.n_rows = names, 0
        self.n_missing = np.zeros(len(names), np.intp)
        self.seen: list[npt.NDArray[Any]] = [np.empty(0)] * len(names)
        self.example: list[float | None] = [None] * len(names)

    def add(self, values: npt.NDArray[Any]) -> None:
        """Look at the next rows, of shape (n_rows, n_columns)."""
        missing = np.isnan(values)
        self.n_missing += missing.sum(axis=0)
        self.n_rows += len(values)
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
            self.names, metric, np.minimum(counts, MOST_COUNTED), self.n_missing / self.n_rows, self.example
        )
        for a in np.flatnonzero(counts > MOST_COUNTED).tolist():
            made[a]["more"] = True
        return made


def describe_numbers(values: npt.NDArray[Any], names: Sequence[str], metric: str = "auto") -> list[dict[str, Any]]:
    """Describe the columns of a table of numbers as `describe_columns` does, many at a time.

    >>> describe_numbers(np.array([[1.0], [2.0], [np.nan], [2.0]]), ["size"])
    [{'name': 'size', 'compared by': 'squared difference', 'values': 2, 'missing': 0.25, 'example': '1'}]
    """
    n, p = values.shape
    counts, shares, examples = np.zeros(p, np.intp), np.zeros(p), list[float | None]()
    step = max(1, BLOCK_VALUES // n)
    for first in range(0, p, step):
        some = slice(first, first + step)
        block = values[:, some]
        is_known = ~np.isnan(block)
        at, known = is_known.argmax(axis=0), is_known.any(axis=0)
        # Missing values are sorted to the end.
        block = np.sort(block, axis=0)
        counts[some] = known + ((block[1:] != block[:-1]) & ~np.isnan(block[1:])).sum(axis=0)
        shares[some] = (~is_known).mean(axis=0)
        found = values[at, np.arange(first, first + at.size)]
        examples += [float(value) if is_any else None for value, is_any in zip(found, known, strict=True)]
    return _described(names, metric, counts, shares, examples)


def _described(
    names: Sequence[str], metric: str, counts: Any, shares: Any, examples: Sequence[float | None]
) -> list[dict[str, Any]]:
    words = describe_columns(np.zeros((1, 1)), ["x"], metric)[0]["compared by"]
    return [
        {
            "name": str(name),
            "compared by": words,
            "values": count,
            "missing": share,
            "example": "" if example is None else f"{example:.4g}",
        }
        for name, count, share, example in zip(names, counts.tolist(), shares.tolist(), examples, strict=True)
    ]
