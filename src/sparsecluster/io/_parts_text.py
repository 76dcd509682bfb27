"""Text tables as blocks of rows: a block is a range of bytes that ends with a line, or a whole compressed file.

The form of the files is that of the first one. The types of the columns are decided by a look at many places.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .._blocks.collections import RefusedError
from .._utils.text import brief
from ._parts_shared import AT_ONCE, BLOCK_BYTES, Opened, refuse_other_columns, told
from ._shared import Options
from .cells import MISSING
from .limits import FileError, check_memory
from .lines import Lines, decoded
from .sources import OPENERS, Source, source_of
from .text import IN_WORDS, names_of, numbers_of, tidied
from .text_form import TextForm, check_line_ends, checked_signs, counted_rows, first_lines, form_of, reader_of

# The memory that a byte of text needs at the most while pandas makes it a table; a value has at least two bytes.
PER_BYTE = 24
# Text is read slowly, so its blocks are smaller than others. Smaller ones than the least are not worth a task.
LARGEST, LEAST = BLOCK_BYTES // 4, 2**14
# A quotation mark that stays open for so many blocks was never meant to be one.
MOST_OPEN = 4
# The types of columns are looked up in so many places, and in so many bytes of each.
PLACES, LOOKED_AT = 16, 2**18


class Bytes(NamedTuple):
    """A range of the bytes of a file, and the number of its first line. A compressed file is read as a whole."""

    file: str
    first: int
    last: int | None
    line: int = 1


class Columns(NamedTuple):
    """How text is read as a table.

    Attributes
    ----------
    form : TextForm
        The delimiter, the decimal sign and the header.
    names : tuple of str
        The names of the columns.
    kinds : dict of str to str
        What each column holds: "numbers", "text" or "true and false".
    encoding : str or None
        The encoding; None for UTF-8.
    limit : int
        The memory that reading a compressed file may take.
    """

    form: TextForm
    names: tuple[str, ...]
    kinds: dict[str, str]
    encoding: str | None
    limit: int


def open_text(files: Sequence[str], options: Options, limit: int) -> Opened:
    """Open text files. All of their bytes are read once to find the ends of lines, and a few of them as a table."""
    largest = min(LARGEST, limit // (AT_ONCE * PER_BYTE))
    if largest < LEAST:
        check_memory(LEAST * AT_ONCE * PER_BYTE, limit, files[0], "Use another format")
    if options.encoding and "\n".encode(options.encoding) != b"\n":
        raise FileError(f"Text in {brief(options.encoding)} cannot be read in parts. Convert the files to UTF-8.")
    sign = checked_signs(options.delimiter, options.decimal)
    delimiter = sign or ("\t" if ".tsv" in Path(files[0]).name.lower() else None)
    heads = {file: told(file, partial(head_of, file, options.encoding, limit)) for file in files}
    first = files[0]
    form = form_of(first_lines(io.StringIO(heads[first], newline="\n")), delimiter, options.decimal)
    header = header_of(heads[first], form)
    names, notes = names_of(lines_in(heads[first]), form, len(header))
    for file in files[1:]:
        check_header(header, form, first, header_of(heads[file], form), file)
    pieces = [piece for file in files for piece in told(file, partial(pieces_of, file, largest))]
    whole = Columns(form, tuple(names), {}, options.encoding, limit)
    kinds = told(first, partial(kinds_of, pieces, whole))
    columns = whole._replace(kinds=kinds)
    meta = empty_frame(columns)
    needed = float(PER_BYTE * sum(Path(file).stat().st_size for file in files))
    read, check = partial(read_bytes, how=columns), partial(check_bytes, how=columns)
    return Opened(read, pieces, [piece.file for piece in pieces], meta, needed, notes, check)


# ---------------------------------------------------------------- bytes


def is_packed(file: str) -> bool:
    """Whether a file is compressed, so that it can only be read from its beginning."""
    return Path(file).suffix.lower() in OPENERS


def head_of(file: str, encoding: str | None, limit: int) -> str:
    """The first lines of a file."""
    source = source_of(file, limit)
    with source.telling(), source.reopener()() as opened:
        data = opened.read(LOOKED_AT)
        while b"\n" not in data and (more := opened.read(LOOKED_AT)):
            data += more
    return text_of(data[: data.rfind(b"\n") + 1] or data, file, encoding)


def text_of(data: bytes, file: str, encoding: str | None) -> str:
    """Bytes as text with plain ends of lines; those of old Macs are carriage returns."""
    text = decoded(data, file, encoding)
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def lines_in(text: str) -> Lines:
    """The lines of a text in memory."""
    counts = Counter({sign: text.count(sign) for sign in ('"', "\r")})
    return Lines(partial(io.BytesIO, text.encode()), "utf-8", counts, 0, "\n")


def pieces_of(file: str, largest: int) -> list[Bytes]:
    """Cut a file into ranges of bytes that end with a line; an end of line within quotes is none."""
    if is_packed(file):
        return [Bytes(file, 0, None)]
    pieces, first, line = [], 0, 1
    with open(file, "rb") as opened:
        for length, lines in lengths_of(opened, largest, file):
            pieces.append(Bytes(file, first, first + length, line))
            first, line = first + length, line + lines
    return pieces


def lengths_of(opened: Any, largest: int, file: str) -> Iterator[tuple[int, int]]:
    """The numbers of bytes and lines of each block of an open file."""
    rest, line = b"", 1
    while block := rest + opened.read(largest - len(rest)):
        end = last_end(block)
        while not end and (more := opened.read(largest)):
            block += more
            end = last_end(block)
            if not end and len(block) > MOST_OPEN * largest:
                raise FileError(
                    f"{file}: from line {line} on, no line ends for {len(block):,} bytes. Perhaps a quotation mark is "
                    "opened but never closed."
                )
        end = end or len(block)
        rest = block[end:]
        lines = block.count(b"\n", 0, end)
        line += lines
        yield end, lines


def last_end(block: bytes) -> int:
    """The place after the last end of a line that is not within quotes; 0 if there is none."""
    end, quotes = len(block), block.count(b'"')
    while True:
        place = block.rfind(b"\n", 0, end)
        quotes -= block.count(b'"', max(place, 0), end)
        if place < 0 or quotes % 2 == 0:
            return place + 1
        end = place


# ---------------------------------------------------------------- the form of all files


def header_of(head: str, form: TextForm) -> list[str]:
    """The cells of the first row."""
    rows = reader_of(io.StringIO(head, newline="\n"), form)
    return next(row for row in rows if any(map(str.strip, row)) or len(row) > 1)


def style(form: TextForm) -> dict[str, Any]:
    """How pandas reads text of this form."""
    return {
        "sep": r"\s+" if form.delimiter == " " else form.delimiter,
        "decimal": form.decimal,
        "na_values": list(MISSING),
        "keep_default_na": False,
        "low_memory": False,
        "skipinitialspace": True,
        "float_precision": "round_trip",
    }


def check_header(header: list[str], form: TextForm, first: str, own: list[str], file: str) -> None:
    """Refuse a part whose first line is not that of the first part."""
    if not form.has_header:
        if len(own) != len(header):
            raise FileError(
                f"All parts must have the same columns, but {file} has {len(own)} columns, and {first} has "
                f"{len(header)}. Leave this file out, or write it again."
            )
        return
    refuse_other_columns(header, first, own, file)
    if own != header:
        raise FileError(
            f"The columns of {file} are those of {first} in another order. Write them in the same order in all parts."
        )


def kinds_of(pieces: list[Bytes], how: Columns) -> dict[str, str]:
    """What each column holds, by the beginnings of blocks that are spread over all of them."""
    step = max(1, len(pieces) // PLACES)
    seen: dict[str, set[str]] = {name: set() for name in how.names}
    for piece in pieces[::step]:
        frame = tidied(parsed(beginning(piece, how), piece, how), how.form.decimal)
        for name in how.names:
            seen[name] |= kind_in(frame[name])
    return {
        name: next(iter(found)) if len(found) == 1 else "text" if found else "numbers" for name, found in seen.items()
    }


def beginning(piece: Bytes, how: Columns) -> str:
    """The first lines of a block."""
    if piece.last is None:
        return head_of(piece.file, how.encoding, how.limit)
    with open(piece.file, "rb") as opened:
        opened.seek(piece.first)
        data = opened.read(min(LOOKED_AT, piece.last - piece.first))
        if len(data) < piece.last - piece.first:
            # A line longer than this is read as a whole.
            data = data[: last_end(data)] or data + opened.read(piece.last - piece.first - len(data))
    return text_of(data, piece.file, how.encoding)


def kind_in(column: Any) -> set[str]:
    """What a column holds; nothing if all of its values are missing."""
    known = column.dropna()
    if not len(known):
        return set()
    if column.dtype.kind in "fiu":
        return {"numbers"}
    return {"true and false" if known.map(lambda value: isinstance(value, bool)).all() else "text"}


# ---------------------------------------------------------------- one block


def parsed(text: str, piece: Bytes, how: Columns, columns: Sequence[str] | None = None) -> Any:
    """Text as a pandas data frame; columns of text are kept as they are written."""
    import pandas as pd

    words = [name for name, kind in how.kinds.items() if kind == "text" and (columns is None or name in columns)]
    has_header = how.form.has_header and piece.first == 0
    try:
        return pd.read_csv(
            io.StringIO(text),
            names=list(how.names),
            usecols=None if columns is None else list(columns),
            header=0 if has_header else None,
            dtype=dict.fromkeys(words, str),
            index_col=False,
            **style(how.form),
        )
    except (pd.errors.ParserError, csv.Error) as error:
        check_widths(text, piece, how)
        reason = next((said for part, said in IN_WORDS.items() if part in str(error)), str(error).strip())
        raise RefusedError(f"{where(piece)} cannot be read as a table: {reason}") from error


def where(piece: Bytes) -> str:
    """The place of a block in words."""
    return piece.file if piece.line == 1 else f"{piece.file}, from line {piece.line} on,"


def block_text(piece: Bytes, how: Columns) -> str:
    """The text of a block; nothing if there are only blank lines."""
    if piece.last is None:
        data = Source(piece.file, Path(piece.file), how.limit).read(PER_BYTE)
    else:
        with open(piece.file, "rb") as opened:
            opened.seek(piece.first)
            data = opened.read(piece.last - piece.first)
        if len(data) < piece.last - piece.first:
            raise RefusedError(f"{piece.file} became shorter while it was read. Repeat the command.")
    return text_of(data, piece.file, how.encoding) if data.strip() else ""


def read_bytes(piece: Bytes, columns: Sequence[str] | None = None, *, how: Columns) -> Any:
    """Read a block as a pandas data frame with all columns, or some of them."""

    def read() -> Any:
        names = list(how.names if columns is None else columns)
        text = block_text(piece, how)
        if not text:
            return empty_frame(how)[names]
        frame = parsed(text, piece, how, names)[names]
        for name in names:
            if how.kinds[name] != "numbers" or frame[name].dtype.kind not in "fiu":
                frame[name] = typed(frame[name], how.kinds[name], piece, how)
        return frame

    return told(piece.file, read)


def typed(values: Any, kind: str, piece: Bytes, how: Columns) -> Any:
    """A column as what it holds in all parts."""
    words = values.map(lambda value: value.strip() if isinstance(value, str) else value)
    words = words.where(~words.isin(list(MISSING)))
    if kind == "text":
        return words
    known = words.dropna()
    if kind == "true and false" and known.map(lambda value: isinstance(value, bool)).all():
        return words.astype("boolean")
    if not len(known):
        return words.astype(float)
    is_flag = known.map(lambda value: isinstance(value, bool))
    numbers = None if kind != "numbers" or is_flag.any() else numbers_of(words, how.form.decimal)
    if numbers is None:
        plain = [str(word).replace(how.form.decimal, ".") for word in known]
        odd = next((word for word, each in zip(known, plain, strict=True) if not is_plain(each)), known.iloc[0])
        raise RefusedError(
            f"{where(piece)} has {brief(str(odd))} in column {brief(values.name)}, which holds {kind} in the parts "
            "that were looked at first. Convert the column to one type, or leave it out with --drop."
        )
    return numbers


def is_plain(word: str) -> bool:
    """Whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def check_bytes(piece: Bytes, *, how: Columns) -> None:
    """Check the rows and values of a block, before it is read again and again without these checks."""
    text = told(piece.file, partial(block_text, piece, how))
    if not text:
        return
    try:
        check_line_ends(lines_in(text), how.form, where(piece))
    except FileError as error:
        raise RefusedError(str(error)) from error
    check_widths(text, piece, how)
    read_bytes(piece, how=how)


def check_widths(text: str, piece: Bytes, how: Columns) -> None:
    """Check that every row has one cell per column."""
    expected = len(how.names)
    is_header = how.form.has_header and piece.first == 0
    for number, cells in counted_rows(lines_in(text), how.form):
        if is_header and cells:
            is_header = False
        elif cells and cells != expected:
            raise RefusedError(
                f"{piece.file}, line {piece.line + number - 1}: expected {expected} cells but found {cells}. Every row "
                "must have one cell per column."
            )


def empty_frame(how: Columns) -> Any:
    """A data frame without rows, with the types of the columns."""
    import pandas as pd

    kinds = {"numbers": "float64", "text": "object", "true and false": "boolean"}
    return pd.DataFrame({name: pd.Series(dtype=kinds[how.kinds[name]]) for name in how.names})
