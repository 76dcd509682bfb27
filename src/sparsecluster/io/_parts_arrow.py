"""Parquet files as blocks of rows: one block is one or several neighboring row groups of a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from .._utils.text import brief
from . import limits
from ._parts_shared import AT_ONCE, BLOCK_BYTES, Opened, refuse_other_columns, told
from .limits import FileError, check_memory

# The name under which pandas stores an index without a name, and the name that it has as a column.
UNNAMED, INDEX = "__index_level_0__", "index"


class Groups(NamedTuple):
    """Some of the row groups of a file."""

    file: str
    groups: tuple[int, ...]


class Footer(NamedTuple):
    """What the end of a file says: the type of every column, and the rows and bytes of every row group."""

    file: str
    types: dict[str, Any]
    rows: list[int]
    sizes: list[int]


def open_parquet(files: Sequence[str], limit: int) -> Opened:
    """Open Parquet files. Only their ends are read."""
    footers = [told(file, partial(footer_of, file)) for file in files]
    first = footers[0]
    types = dict(first.types)
    for each in footers[1:]:
        refuse_other_columns(list(first.types), first.file, list(each.types), each.file)
        types = {name: joined_type(name, kind, each, first.file) for name, kind in types.items()}
    per_row = bytes_per_row(list(types.values()))
    pieces = []
    for each in footers:
        most = max(each.rows, default=0)
        advice = "Write it again with smaller row groups"
        check_memory(AT_ONCE * most * per_row, limit, f"a row group of {each.file}", advice)
        largest = min(
            BLOCK_BYTES, limit // (AT_ONCE * max(1, per_row)) * max(1, sum(each.sizes) // max(1, sum(each.rows)))
        )
        pieces += [Groups(each.file, groups) for groups in together(each.sizes, largest)]
    meta = empty_frame(types)
    read = partial(read_groups, meta=meta)
    needed = float(per_row) * sum(sum(each.rows) for each in footers)
    return Opened(read, pieces, [piece.file for piece in pieces], meta, needed, [])


def footer_of(file: str) -> Footer:
    """Read the end of a file. The index of a pandas data frame comes first, unless it only numbers the rows."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file) as opened:
        schema, about = opened.schema_arrow, opened.metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
    stored = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
    types = {name: schema.field(name).type for name in (*stored, *schema.names)}
    if UNNAMED in types and pa.types.is_integer(types[UNNAMED]):
        del types[UNNAMED]
    if len(schema.names) > len(set(schema.names)):
        raise FileError(f"{file}: column names must be unique.")
    return Footer(file, types, [each.num_rows for each in groups], [each.total_byte_size for each in groups])


def kind_of(kind: Any) -> str:
    """What the values of a type are, for a reader: numbers of all sizes are the same."""
    import pyarrow as pa

    is_a = pa.types
    tests = {
        "nothing": is_a.is_null,
        "true and false": is_a.is_boolean,
        "numbers": lambda each: is_a.is_integer(each) or is_a.is_floating(each) or is_a.is_decimal(each),
        "text": lambda each: is_a.is_string(each) or is_a.is_large_string(each) or is_a.is_string_view(each),
        "categories": is_a.is_dictionary,
    }
    return next((word for word, test in tests.items() if test(kind)), str(kind))


def joined_type(name: str, kind: Any, part: Footer, first: str) -> Any:
    """The type of a column in all parts, of which some may hold nothing but missing values."""
    import pyarrow as pa

    own = part.types[name]
    if own == kind or pa.types.is_null(own):
        return kind
    if pa.types.is_null(kind):
        return own
    if kind_of(own) != kind_of(kind):
        raise FileError(
            f"Column {brief(name)} must have the same type in all parts; it holds {kind_of(kind)} in {first} and "
            f"{kind_of(own)} in {part.file}. Convert it in one of them, or leave it out with --drop."
        )
    # Numbers of different sizes are read as the widest ones.
    return pa.float64() if kind_of(kind) == "numbers" else kind


def bytes_per_row(types: list[Any]) -> int:
    """An estimate of the memory that a row needs in pandas."""
    import pyarrow as pa

    plain = sum(pa.types.is_primitive(each) for each in types)
    return plain * limits.ARROW_VALUE + (len(types) - plain) * limits.ARROW_OBJECT


def together(sizes: list[int], largest: int) -> list[tuple[int, ...]]:
    """Neighboring row groups that are read as one block, because each of them is small.

    >>> together([3, 3, 3, 9, 1], 7)
    [(0, 1), (2,), (3,), (4,)]
    """
    blocks: list[tuple[int, ...]] = []
    filled = largest + 1
    for number, size in enumerate(sizes):
        if filled + size > largest:
            blocks.append(())
            filled = 0
        blocks[-1] += (number,)
        filled += size
    return blocks


def empty_frame(types: dict[str, Any]) -> Any:
    """A pandas data frame without rows, with the types that the columns have in a block."""
    import pyarrow as pa

    arrays = {name: pa.array([], pa.float64() if pa.types.is_null(kind) else kind) for name, kind in types.items()}
    frame = pa.table(arrays).to_pandas()
    flags = [name for name, kind in types.items() if pa.types.is_boolean(kind)]
    frame = frame.astype(dict.fromkeys(flags, "boolean"))
    return frame if INDEX in types else frame.rename(columns={UNNAMED: INDEX})


def read_groups(piece: Groups, columns: Sequence[str] | None = None, *, meta: Any) -> Any:
    """Read a block as a pandas data frame with the columns of `meta`, or some of them."""
    names = list(meta.columns if columns is None else columns)

    def read() -> Any:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(piece.file) as opened:
            stored = [UNNAMED if name == INDEX and name not in opened.schema_arrow.names else name for name in names]
            table = opened.read_row_groups(list(piece.groups), columns=stored)
        # Arrow trusts the positions in a file. If they are damaged, a conversion would read foreign memory.
        table.validate(full=True)
        frame = table.to_pandas(ignore_metadata=True)[stored]
        frame.columns = names
        return as_in(meta, frame)

    return told(piece.file, read)


def as_in(meta: Any, frame: Any) -> Any:
    """A block whose numbers, and whose true and false, have the same type whether or not some of them are missing."""
    kinds = {name: meta[name].dtype for name in frame.columns}
    wanted = {name: "float64" for name, kind in kinds.items() if kind.kind in "fiu" and frame[name].dtype == object}
    wanted |= {name: "boolean" for name, kind in kinds.items() if str(kind) == "boolean"}
    return frame.astype(wanted) if wanted else frame
