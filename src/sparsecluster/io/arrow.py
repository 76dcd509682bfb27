"""Reading Parquet and Feather files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._utils.arrays import Table as Array
from . import limits
from ._shared import Frame, Options, Table, read_with
from .blocks import Blocks, Rest, Take, frame_of, ignore
from .limits import FileError
from .sources import Source

# The number of values that are decoded at a time, but at least so many rows, because each column has costs of its own.
BLOCK_VALUES, LEAST_ROWS = 2**20, 1000
# The number of columns that are read at the same time into a table of few rows, and into others.
MOST_COLUMNS, FEW_COLUMNS = 50_000, 10
# The number of bytes of a column that are read at a time, where otherwise whole columns would be.
BUFFER = 2**16
# Names of columns, in the metadata of pandas, that it reads as they are.
PLAIN_NAMES = ("unicode", "string", "int64", "empty")


def parquet(source: Source, options: Options) -> Table:
    """Read a Parquet file."""

    def read() -> Frame:
        with opened_parquet(source) as file:
            blocks = parquet_blocks(file, floats_of(file.schema_arrow))
            check_arrow(file.schema_arrow, file.metadata.num_rows, source, 0 if blocks is None else len(blocks.places))
            return _named_index(_as_frame(file.read())) if blocks is None else frame_of(blocks)

    return Table(read_with("pyarrow", source, read), [])


def opened_parquet(source: Source) -> Any:
    """Open a Parquet file so that little of it is in memory at a time."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source.handle(), buffer_size=BUFFER, pre_buffer=False)


class ParquetBlocks(Blocks):
    """A Parquet file in blocks of rows. Columns other than those of numbers are read as a whole."""

    def __init__(self, file: Any, numbers: Sequence[str], others: Frame, dtype: Any) -> None:
        at = {name: place for place, name in enumerate(file.schema_arrow.names)}
        for name in (file.schema_arrow.pandas_metadata or {}).get("index_columns", []):
            # The index of pandas comes first, though it is stored last.
            at.pop(name if isinstance(name, str) else None, None)
        super().__init__(sorted([*others.columns, *numbers], key=lambda name: at.get(name, -1)), file.metadata.num_rows)
        places = {name: place for place, name in enumerate(self.names)}
        self.places = [places[name] for name in numbers]
        self.file, self.others, self.dtype = file, others, dtype

    def arrays(self, places: Sequence[int]) -> Iterator[Array]:
        names = [self.names[place] for place in places]
        size = max(LEAST_ROWS, BLOCK_VALUES // max(1, len(names)))
        for batch in self.file.iter_batches(size, columns=names) if names else ():
            values = np.empty((batch.num_rows, len(names)), self.dtype)
            _put(batch, values)
            yield values

    def whole(self) -> tuple[Array, Rest]:
        # Some columns after the others: Arrow takes much memory for each column that is read at the same time.
        array = np.empty((self.n_rows, len(self.places)), self.dtype)
        step = MOST_COLUMNS if self.n_rows <= LEAST_ROWS else FEW_COLUMNS
        for first in range(0, len(self.places), step):
            names, at = [self.names[place] for place in self.places[first : first + step]], 0
            for batch in self.file.iter_batches(max(LEAST_ROWS, BLOCK_VALUES // len(names)), columns=names):
                _put(batch, array[at : at + batch.num_rows, first:])
                at += batch.num_rows
        return array, self.rest()

    def read(self, start: Callable[[Sequence[int]], Take]) -> Rest:
        take = start(self.places)
        for values in self.arrays(self.places) if take is not ignore else ():
            take(values)
        return Rest(self.places, np.zeros(len(self.places), bool), self.others)


def _put(batch: Any, values: Array) -> None:
    """Put the columns of a batch of rows into an array."""
    # Arrow trusts the positions in a file. If they are damaged, a conversion would read foreign memory.
    batch.validate(full=True)
    for a, column in enumerate(batch.columns):
        values[:, a] = column.to_numpy(zero_copy_only=False)


def parquet_blocks(file: Any, numbers: Sequence[str]) -> ParquetBlocks | None:
    """Return a Parquet file in blocks of rows, with these columns of numbers, or None if it has to be read at once."""
    schema = file.schema_arrow
    known = schema.pandas_metadata or {}
    labels, index = (
        known.get("column_indexes", []),
        {each for each in known.get("index_columns", []) if isinstance(each, str)},
    )
    numbers = [name for name in numbers if name not in index]
    is_plain = len(labels) < 2 and all(each.get("pandas_type") in PLAIN_NAMES for each in labels)
    # Columns within columns have names with dots, by which others cannot be told apart.
    is_flat = len(file.schema) == len(schema) == len(set(schema.names))
    if not (numbers and is_plain and is_flat):
        return None
    chosen = set(numbers)
    others = _as_frame(file.read(columns=[name for name in schema.names if name not in chosen]))
    single = all(schema.field(name).type == "float" for name in numbers)
    return ParquetBlocks(file, numbers, _named_index(others), np.float32 if single else np.float64)


def floats_of(schema: Any) -> list[str]:
    """Return the columns of the longer kind of floating-point numbers that there is, or else of the shorter one."""
    kinds = {str(field.type) for field in schema}
    kind = "double" if "double" in kinds else "float"
    return [field.name for field in schema if str(field.type) == kind]


@contextmanager
def telling_of_arrow(name: str) -> Iterator[None]:
    """Turn errors of Arrow, which may occur in any block of a file, into errors that name the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = (str(error).splitlines() or [""])[0]
        raise FileError(f"{name} cannot be read ({type(error).__name__}: {reason}).") from error


def feather(source: Source, options: Options) -> Table:
    """Read a Feather file, which may also be called an Arrow file."""

    def read() -> Frame:
        import pandas as pd
        import pyarrow as pa

        handle = source.handle()
        with pa.memory_map(handle) if source.is_plain else pa.BufferReader(handle.getbuffer()) as file:
            if file.read(4) == b"FEA1":
                source.check(limits.ARROW_VALUE * file.size())
                return pd.read_feather(handle)
            file.seek(0)
            reader = pa.ipc.open_file(file)
            batches: list[Any] = []
            for number in range(reader.num_record_batches):
                # Batches are decompressed one by one, so that the limit stops a file that grows without end.
                batches.append(reader.get_batch(number))
                check_arrow(reader.schema, sum(each.num_rows for each in batches), source)
            return _as_frame(pa.Table.from_batches(batches, reader.schema))

    return Table(_named_index(read_with("pyarrow", source, read)), [])


def _as_frame(table: Any) -> Frame:
    # As above, positions may be damaged.
    table.validate(full=True)
    # Each column of Arrow is given up as soon as it is converted.
    return table.to_pandas(self_destruct=True)


def check_arrow(schema: Any, n_rows: int, source: Source, n_direct: int = 0) -> None:
    """Check the size of a table in pandas, into which some columns of numbers are read directly."""
    import pyarrow as pa

    plain = sum(pa.types.is_primitive(each.type) for each in schema)
    per_row = (plain - n_direct) * limits.ARROW_VALUE + (len(schema) - plain) * limits.ARROW_OBJECT
    # A block is in memory as Arrow has it and as an array.
    block = min(n_rows * n_direct, max(BLOCK_VALUES, LEAST_ROWS * n_direct))
    source.check(n_rows * (per_row + n_direct * limits.ARROW_NUMBER) + 2 * limits.ARROW_NUMBER * block)


def _named_index(frame: Frame) -> Frame:
    """Turn the index into the first column, as in a text file, unless it only numbers the rows."""
    import pandas as pd

    if frame.index.name is None and pd.api.types.is_integer_dtype(frame.index.dtype):
        frame.index = pd.RangeIndex(len(frame))
        return frame
    if frame.index.name in frame.columns:
        frame.index.name = None
    return frame.reset_index()
