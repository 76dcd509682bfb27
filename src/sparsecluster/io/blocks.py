"""Tables of files in blocks of rows, and as a whole: numbers go straight into one array, whatever the format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.names import DefaultNames
from .._utils.arrays import Table
from ._shared import Frame

# Takes the numbers of the next rows, of shape (n_rows, n_numbers).
Take = Callable[[Table], None]
# Up to this number, columns are put between others one by one, which copies none of the others.
MOST_PUT = 100
# The number of values of an array that are looked at together.
BLOCK_VALUES = 2**20


class Rest(NamedTuple):
    """What a table has besides its numbers.

    Attributes
    ----------
    places : sequence of int
        The positions of the columns of numbers.
    whole : ndarray of shape (n_numbers,), dtype=bool
        Which of them hold whole numbers only.
    others : pandas.DataFrame
        The other columns.
    """

    places: Sequence[int]
    whole: npt.NDArray[np.bool_]
    others: Frame


class Blocks(ABC):
    """A table that is read in blocks of rows.

    Attributes
    ----------
    names : sequence of str
        The names of all columns.
    n_rows : int
        The number of rows.
    dtype : dtype
        The type of the numbers.
    notes : list of str
        Decisions made while reading the file.
    """

    dtype: Any = np.float64

    def __init__(self, names: Sequence[str], n_rows: int, notes: list[str] | None = None) -> None:
        self.names, self.n_rows, self.notes = names, n_rows, notes or []

    @abstractmethod
    def arrays(self, places: Sequence[int]) -> Iterator[Table]:
        """Yield the columns of numbers in blocks of rows."""

    @abstractmethod
    def read(self, start: Callable[[Sequence[int]], Take]) -> Rest:
        """Read all rows once, and return what is not numbers.

        Parameters
        ----------
        start : callable
            It is called with the positions of the columns of numbers and returns what takes their blocks. It may be
            called again, to take all blocks of fewer columns, if one of them turns out to hold words.
        """

    def whole(self) -> tuple[Table, Rest]:
        """Read all rows into one array, and return it with what is not numbers."""
        array: Table = np.empty((0, 0))

        def start(places: Sequence[int]) -> Take:
            nonlocal array
            array, at = np.empty((self.n_rows, len(places)), dtype=self.dtype), 0

            def take(values: Table) -> None:
                nonlocal at
                array[at : at + len(values)] = values
                at += len(values)

            return take

        rest = self.read(start)
        return array, rest

    def rest(self) -> Rest:
        """Return what is not numbers."""
        return self.read(lambda _: ignore)


def ignore(values: Table) -> None:
    """Take numbers that nobody needs."""


class ArrayBlocks(Blocks):
    """An array in a file, row after row from some byte on, in blocks of rows."""

    def __init__(self, file: Path, offset: int, shape: tuple[int, int], dtype: Any) -> None:
        super().__init__(DefaultNames(shape[1]), shape[0])
        self.file, self.offset, self.dtype = file, offset, dtype

    def arrays(self, places: Sequence[int]) -> Iterator[Table]:
        width = len(self.names)
        left, step = self.n_rows, max(1, BLOCK_VALUES // width)
        # Mapped into memory, the file would stay there as long as there is room.
        with open(self.file, "rb") as file:
            file.seek(self.offset)
            while left > 0:
                values = np.fromfile(file, self.dtype, min(left, step) * width).reshape(-1, width)
                left -= step
                yield values if len(places) == width else values[:, places]

    def read(self, start: Callable[[Sequence[int]], Take]) -> Rest:
        import pandas as pd

        places = range(len(self.names))
        take = start(places)
        for values in self.arrays(places) if take is not ignore else ():
            take(values)
        return Rest(places, np.zeros(len(places), bool), pd.DataFrame(index=range(self.n_rows)))


def frame_of(blocks: Blocks) -> Frame:
    """Read a whole table as a data frame, in which the numbers are one array."""
    import pandas as pd

    array, rest = blocks.whole()
    numbers = pd.DataFrame(array, columns=[blocks.names[a] for a in rest.places], copy=False)
    del array
    if rest.whole.any():
        numbers = _with_whole(numbers, rest.whole)
    return together(numbers, rest.others, blocks.names)


def _with_whole(numbers: Frame, whole: npt.NDArray[np.bool_]) -> Frame:
    values = numbers.to_numpy()
    if whole.all():
        return numbers.astype(np.int64)
    names = numbers.columns
    parts = [values[:, whole].astype(np.int64), values[:, ~whole]]
    del values
    frames = [_named(part, names[which]) for part, which in zip(parts, (whole, ~whole), strict=True)]
    return together(frames[1], frames[0], names)


def _named(values: Table, names: Any) -> Frame:
    import pandas as pd

    return pd.DataFrame(values, columns=names, copy=False)


def together(many: Frame, few: Frame, names: Sequence[str]) -> Frame:
    """Return the columns of two data frames in the order of the names, copying as little as possible."""
    import pandas as pd

    if not few.shape[1]:
        return many
    if not many.shape[1]:
        return few
    if few.shape[1] > MOST_PUT:
        return pd.concat([many, few], axis=1)[list(names)]
    place = {name: at for at, name in enumerate(names)}
    for name in few.columns:
        many.insert(place[name], name, few[name])
    return many
