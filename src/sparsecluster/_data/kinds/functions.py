"""A user-defined function of two values, applied to all pairs of samples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._utils.arrays import Floats, Table
from ..content import Content, is_missing
from .dissimilarity import SAMPLES_COMPARED, Dissimilarity, Scale, observed_by_cluster
from .levels import ascending, codes_of, indicators, values_of

FunctionOfTwo = Callable[[Any, Any], Any]
# Number of entries of a matrix computed in one call that are also computed one by one, to check that they agree.
CHECKED = 20


def all_pairs(function: FunctionOfTwo, left: Any, right: Any) -> Floats:
    """function(x, y) for all x in `left` and y in `right`: in one call if it accepts arrays, else one by one."""
    rng = np.random.default_rng(0)
    try:
        with np.errstate(all="ignore"):
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
class FunctionMeasure:
    """Mean of the user's function over the values of the cluster, minus half of its mean over their pairs."""

    kind: Function
    members: Sequence[Any]
    halves: Sequence[float]

    @classmethod
    def make(cls, kind: Function, codes: Table, labels: Any, k: int) -> Self:
        """The measure for the codes and labels of `fit`."""
        members = [kind.decode(each) for each in observed_by_cluster(codes, labels, k)]
        halves = [all_pairs(kind.function, each, each).mean() / 2 if len(each) else np.nan for each in members]
        return cls(kind, members, halves)

    def __call__(self, new: Any) -> Floats:
        # New samples may have levels without a code, so they are passed as values.
        values = new if new.dtype == object else self.kind.decode(new)
        observed = np.array([i for i, value in enumerate(values) if not is_missing(value)], np.intp)
        apart = np.full((len(new), len(self.members)), np.nan)
        for c, (members, half) in enumerate(zip(self.members, self.halves, strict=True)):
            if len(members) and observed.size:
                apart[observed, c] = all_pairs(self.kind.function, values[observed], members).mean(axis=1) - half
        return apart

    def check(self) -> int:
        return len(self.members)


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
        if content.numbers is None:
            raise ValueError(
                f"Column {column!r} held numbers in fit but does not hold numbers now. Pass it in the same form."
            )
        return content.numbers

    def encode_new(self, content: Content, column: str) -> Any:
        if self.levels is None:
            return self.encode(content, column)
        # A function can compare levels that did not occur in fit, so it gets the values themselves.
        values: Any = content.numbers.tolist() if content.numbers is not None else content.values
        new = np.empty(len(values), dtype=object)
        new[:] = values
        return new

    def decode(self, codes: Table) -> Any:
        return codes if self.levels is None else values_of(codes, self.levels)

    def pairs(self, left: Table, right: Table) -> Floats:
        return all_pairs(self.function, self.decode(left), self.decode(right))

    def try_pairs(self, tried: Table, column: str) -> Floats:
        try:
            return self.pairs(tried, tried)
        except Exception as error:
            raise ValueError(
                f"The function given as metric fails on column {column!r} with {type(error).__name__}: {error}. "
                "It must take two values of the column and return a number."
            ) from error

    @property
    def comparison(self) -> Hashable:
        return self.function

    def sort_key(self, codes: Table) -> tuple[str, bytes]:
        # Two functions are distinguished by their results on the first samples.
        some = codes[~np.isnan(codes)][:SAMPLES_COMPARED]
        return "", self.pairs(some, some).tobytes()

    def measure(self, codes: Any, labels: Any, k: int) -> FunctionMeasure:
        return FunctionMeasure.make(self, codes, labels, k)

    def coordinates(self, codes: Floats) -> Floats:
        return codes[:, None] if self.levels is None else indicators(codes)
