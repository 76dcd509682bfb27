"""Names of columns that have none of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True)
class DefaultNames(Sequence[str]):
    """x0, x1, ..., made when they are asked for: there may be very many columns. The prefix may be another.

    >>> names = DefaultNames(3)
    >>> names[1], list(names), names[-2:]
    ('x1', ['x0', 'x1', 'x2'], ['x1', 'x2'])
    """

    n_columns: int
    prefix: str = "x"

    def __len__(self) -> int:
        return self.n_columns

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        every = range(self.n_columns)
        return (
            [f"{self.prefix}{a}" for a in every[place]] if isinstance(place, slice) else f"{self.prefix}{every[place]}"
        )
