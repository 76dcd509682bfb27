"""A table as the features read it: every column as numbers, with what the numbers mean."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._features.base import Floats, Table

Dissimilarity = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Column:
    """A kind, "sqeuclidean", "hamming", "manhattan" or a function of two values, and the levels that codes stand for."""

    kind: str | Dissimilarity
    levels: tuple[Hashable, ...] | None = None

    def encode(self, values: Iterable[Any]) -> Floats:
        """Codes 0, 1, ... of levels, NaN in gaps.

        A level that is not among them gets a code that no other has; where codes are ranks, a number gets the rank
        between its neighbors, and a word none.
        """
        assert self.levels is not None
        is_rank = self.kind == "manhattan"
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            levels = np.array(self.levels, dtype=np.float64)
            if is_rank:
                return np.interp(values, levels, np.arange(levels.size))
            places = np.minimum(np.searchsorted(levels, values), levels.size - 1)
            return np.where(np.isnan(values), np.nan, np.where(levels[places] == values, places, float(levels.size)))
        codes = {level: float(code) for code, level in enumerate(self.levels)}
        new = np.nan if is_rank else float(len(codes))
        return np.array([np.nan if is_gap(value) else codes.get(value, new) for value in values])

    def decode(self, values: Table) -> Any:
        """The user's own values; None in gaps of a column with levels."""
        if self.levels is None:
            return values
        codes = np.where(np.isnan(values), len(self.levels), values).astype(int)
        return np.array([*self.levels, None], dtype=object)[codes]


@dataclass(frozen=True)
class ColumnTable:
    """n samples x p columns as numbers, NaN in gaps."""

    values: Table
    columns: tuple[Column, ...]


def is_gap(value: Any) -> bool:
    """None, NaN, NaT or NA: what is missing or differs from itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)
