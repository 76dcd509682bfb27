"""What the columns of a table hold, found in blocks of rows: how many values there are, and how many are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .view import describe_columns

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
        words = describe_columns(np.zeros((1, 1)), ["x"], metric)[0]["compared by"]
        return [
            {
                "name": str(name),
                "compared by": words,
                "values": min(seen.size, MOST_COUNTED),
                "missing": float(missing / self.n_rows),
                "example": "" if example is None else f"{example:.4g}",
                **({"more": True} if seen.size > MOST_COUNTED else {}),
            }
            for name, seen, missing, example in zip(self.names, self.seen, self.n_missing, self.example, strict=True)
        ]
