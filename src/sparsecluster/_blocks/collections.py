"""Dask collections as tables in blocks of rows: arrays of numbers, arrays of sparse blocks, and data frames.

Only this module and `_blocks.learn` know Dask. Blocks are read again in every pass, on whatever scheduler is current.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from .._data.content import Content, contents, holds_words
from .._data.kinds import Dissimilarity
from .._data.reading import encoded
from .._utils.arrays import Labels, Subset
from .memory import cut, slices_of
from .sums import added, is_sparse
from .watch import one_pass

T = TypeVar("T")

# Results of this many neighboring blocks are combined at a time.
FAN_IN = 8
# Errors of the scheduler, which say nothing about a block.
OF_SCHEDULER = ("KilledWorker", "MemoryError", "CancelledError", "CommClosedError", "TimeoutError")


class RefusedError(ValueError):
    """What a block holds is refused, which is not an error of reading it."""


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array or a Dask data frame; Dask is not imported for this."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


@dataclass(frozen=True)
class Collection:
    """A Dask array or data frame with the columns in one block each row.

    Attributes
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The collection.
    has_words : bool
        Whether some columns are not numeric.
    """

    X: Any
    has_words: bool

    @classmethod
    def of(cls, X: Any) -> Collection:
        """The collection, after a check of its form."""
        if not is_frame(X):
            if X.ndim != 2:
                raise ValueError(
                    f"Expected 2D array, got {X.ndim}D array of shape {X.shape} instead. Reshape your data."
                )
            if X.dtype.kind not in "fiub":
                raise ValueError(
                    f"A Dask array must hold numbers; got dtype {X.dtype}. Use a Dask data frame for other columns."
                )
            return cls(X if len(X.chunks[1]) == 1 else X.rechunk({1: -1}), False)
        return cls(X, holds_words(X._meta))

    @property
    def is_sparse(self) -> bool:
        """Whether the blocks are sparse matrices."""
        return not is_frame(self.X) and is_sparse(self.X._meta)

    @property
    def n_columns(self) -> int:
        return len(self.X.columns) if is_frame(self.X) else int(self.X.shape[1])

    @cached_property
    def dtype(self) -> Any:
        """The type of numbers: single precision only if all columns have it."""
        kinds = list(self.X.dtypes) if is_frame(self.X) else [self.X.dtype]
        return np.float32 if all(kind == np.float32 for kind in kinds) else np.float64

    def parts(self, columns: Subset | None) -> list[Any]:
        """The blocks as delayed objects, with some of the columns only."""
        X = self.X
        if is_frame(X):
            return list((X if columns is None else X[[X.columns[a] for a in columns.tolist()]]).to_delayed())
        return list((X if columns is None else X[:, columns]).to_delayed().ravel())


def is_frame(X: Any) -> bool:
    """Whether a collection is a data frame."""
    return hasattr(X, "columns")


def mapped(X: Any, function: Callable[[Any], Any]) -> Any:
    """A collection whose blocks are function(block), of the same shape, in double precision."""
    X = Collection.of(X).X
    by = partial(unless_empty, function=function)
    meta = X._meta.astype(np.float64)
    return X.map_partitions(by, meta=meta) if is_frame(X) else X.map_blocks(by, dtype=np.float64, meta=meta)


def unless_empty(block: Any, function: Callable[[Any], Any]) -> Any:
    """A function of a block; a block without rows stays."""
    return function(block) if block.shape[0] else block.astype(np.float64)


@dataclass(frozen=True)
class Encoder:
    """Turns a block as it is stored into codes; `kinds` is None for columns that all hold numbers."""

    names: Sequence[str]
    dtype: Any
    kinds: Sequence[Dissimilarity] | None = None

    def among(self, columns: Subset | None) -> Encoder:
        """The encoder of some of the columns."""
        if columns is None:
            return self
        places = columns.tolist()
        kinds = None if self.kinds is None else [self.kinds[a] for a in places]
        return replace(self, names=[self.names[a] for a in places], kinds=kinds)

    def __call__(self, block: Any) -> Any:
        if is_sparse(block):
            return by_row(block)
        if self.kinds is not None:
            return encoded(block_contents(block, self.names), self.kinds, self.names)
        return np.asarray(numbers_of(block, self.dtype))


def by_row(block: Any) -> Any:
    """A sparse block in double precision, compressed by row, with every value stored once; a copy only if need be."""
    block = block.tocsr().astype(np.float64, copy=False)
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    return block


def block_contents(block: Any, names: Sequence[str]) -> list[Content]:
    """The content of every column of a block, which is a data frame or an array of numbers."""
    if isinstance(block, np.ndarray):
        return [Content(np.asarray(column, dtype=np.float64)) for column in block.T]
    return contents(block, names)


def numbers_of(block: Any, dtype: Any) -> Any:
    """A block of numbers as an array; missing values of any kind are NaN."""
    if not hasattr(block, "columns"):
        return np.asarray(block, dtype=dtype)
    kinds = {kind for kind in block.dtypes if not isinstance(kind, np.dtype)}
    return block.to_numpy(dtype=dtype, na_value=np.nan) if kinds else block.to_numpy(dtype=dtype)


def run(block: Any, encoder: Encoder, function: Callable[[Any], T]) -> T:
    """The sum of a function over slices of one block that stay in the cache."""
    codes = encoder(block)
    found: Any = None
    for rows in slices_of(codes) or [slice(0, 0)]:
        own = function(cut(codes, rows, None))
        found = own if found is None else added(found, own)
    return found


def at_once(block: Any, encoder: Encoder, function: Callable[[Any], T]) -> T:
    """A function of one block as a whole."""
    return function(encoder(block))


@dataclass(frozen=True)
class DaskBlocks:
    """The codes of a collection in blocks of rows.

    Attributes
    ----------
    collection : Collection
        The table as it is stored.
    encoder : Encoder
        Turns its blocks into codes.
    lengths : tuple of int
        The number of rows of each block.
    """

    collection: Collection
    encoder: Encoder
    lengths: tuple[int, ...]

    @property
    def n_samples(self) -> int:
        return sum(self.lengths)

    def total(self, function: Callable[[Any], T], columns: Subset | None = None) -> T:
        """The sum of function(block) over all blocks: one map and one reduction by a tree."""
        by = partial(run, encoder=self.encoder.among(columns), function=function)
        return self.reduced(by, added, columns)

    def collected(self, function: Callable[[Any], list[T]]) -> list[T]:
        """The lists that a function returns for whole blocks, one after the other."""
        by = partial(at_once, encoder=self.encoder, function=function)
        return self.reduced(by, list.__add__)

    def reduced(self, by: Callable[[Any], T], combine: Callable[[T, T], T], columns: Subset | None = None) -> T:
        return reduced(self.collection, by, combine, columns)

    def each(self, function: Callable[[Any], Labels]) -> Any:
        """A Dask array of one value per sample, which is computed when it is needed."""
        import dask.array as da
        from dask.delayed import delayed

        by = delayed(partial(at_once, encoder=self.encoder, function=function), pure=False, traverse=False)
        parts = zip(self.collection.parts(None), self.lengths, strict=True)
        return da.concatenate([da.from_delayed(by(part), (rows,), np.intp) for part, rows in parts])


def reduced(
    collection: Collection, by: Callable[[Any], T], combine: Callable[[T, T], T], columns: Subset | None = None
) -> T:
    """Apply a function to every block, and combine the results of neighbors until one is left."""
    from dask.base import compute
    from dask.delayed import delayed

    step = delayed(partial(guarded, by=by), pure=False, traverse=False)
    level = [step(part) for part in collection.parts(columns)]
    n_blocks = len(level)
    join = delayed(partial(combined, combine=combine), pure=False, traverse=False)
    while len(level) > 1:
        level = [join(level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
    try:
        with one_pass(guarded.__name__, n_blocks):
            (found,) = compute(level[0])
    except RefusedError as error:
        raise ValueError(str(error)) from None
    except Exception as error:
        raise explained(error, collection) from error
    return found


def guarded(block: Any, by: Callable[[Any], T]) -> T:
    """A function of a block, whose errors can be told from those of reading the block."""
    try:
        return by(block)
    except ValueError as error:
        raise RefusedError(str(error)) from error


def combined(results: list[T], combine: Callable[[T, T], T]) -> T:
    """The results of neighboring blocks as one."""
    first, *others = results
    for other in others:
        first = combine(first, other)
    return first


def explained(error: Exception, collection: Collection) -> Exception:
    """An error with the number of the block that cannot be read; other errors are returned as they are."""
    if type(error).__name__ in OF_SCHEDULER:
        return error
    parts = collection.parts(None)
    for number, part in enumerate(parts, 1):
        try:
            part.compute()
        except Exception as cause:
            reason = (str(cause).splitlines() or [type(cause).__name__])[0]
            return ValueError(
                f"Block {number} of {len(parts)} of X cannot be read: {reason}. Repair this part, or leave it out."
            )
    return error
