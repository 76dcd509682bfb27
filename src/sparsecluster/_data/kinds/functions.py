"""A user-defined function of two values, applied to all pairs of samples."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._utils.arrays import Floats, Table
from ..._utils.text import brief
from ..content import Content
from .dissimilarity import SAMPLES_COMPARED, Dissimilarity, Scale
from .levels import ascending, codes_of
from .numbers import numbers_in

FunctionOfTwo = Callable[[Any, Any], Any]
# Number of entries of a matrix computed in one call that are also computed one by one, to check that they agree.
CHECKED = 20


def all_pairs(function: FunctionOfTwo, left: Any, right: Any) -> Floats:
    """function(x, y) for all x in `left` and y in `right`: in one call if it accepts arrays, else one by one."""
    rng = np.random.default_rng(0)
    # Results that are not numbers are refused later, where the column is known.
    with np.errstate(all="ignore"):
        try:
            matrix = np.asarray(function(left[:, None], right[None, :]), dtype=np.float64)
            if matrix.shape == (len(left), len(right)):
                places = rng.integers([len(left), len(right)], size=(CHECKED, 2))
                if all(matrix[i, j] == float(function(left[i], right[j])) for i, j in places):
                    return matrix
        except Exception:
            # A function may fail on arrays in any way; it only has to accept two values.
            pass
        return np.array([[float(function(x, y)) for y in right] for x in left]).reshape(len(left), len(right))


@dataclass(frozen=True)
class Function(Dissimilarity):
    """delta(x, y) = function(x, y)."""

    function: FunctionOfTwo
    levels: tuple[Any, ...] | None = None

    name = "function"
    words = "a function"
    can_be_saved = False

    @classmethod
    def learn(cls, content: Content, column: str) -> Self:
        raise TypeError("a function is not known by a name; use Function.of")

    @classmethod
    def of(cls, function: FunctionOfTwo, content: Content) -> Self:
        """The dissimilarity for a column that is compared by a function."""
        return cls(function, None if content.numbers is not None else ascending(content.distinct()))

    @property
    def keeps_numbers(self) -> bool:  # type: ignore[override]
        return self.levels is None

    @property
    def scale(self) -> Scale:  # type: ignore[override]
        return "number" if self.levels is None else "level"

    def encode(self, content: Content, column: str) -> Any:
        if self.levels is not None:
            return codes_of(content, self.levels, float(len(self.levels)))
        return numbers_in(content, column)

    def encode_new(self, content: Content, column: str) -> Any:
        if self.levels is None:
            return self.encode(content, column)
        # A function can compare levels that did not occur in fit, so it gets the values themselves.
        values: Any = content.numbers.tolist() if content.numbers is not None else content.values
        new = np.empty(len(values), dtype=object)
        new[:] = values
        return new

    def pairs(self, left: Any, right: Any) -> Floats:
        return all_pairs(self.function, self._values(left), self._values(right))

    def _values(self, given: Any) -> Any:
        # New samples may have levels without a code, so they are passed as values.
        return given if given.dtype == object else self.decode(given)

    def try_pairs(self, tried: Table, column: str) -> Floats:
        try:
            return self.pairs(tried, tried)
        except Exception as error:
            raise ValueError(
                f"The function given as metric fails on column {brief(column)} with {type(error).__name__}: {error}. "
                "It must take two values of the column and return a number."
            ) from error

    @property
    def comparison(self) -> Hashable:
        return self.function

    def sort_key(self, codes: Table) -> tuple[str, bytes]:
        # Two functions are distinguished by their results on the first samples.
        some = codes[~np.isnan(codes)][:SAMPLES_COMPARED]
        return "", self.pairs(some, some).tobytes()
