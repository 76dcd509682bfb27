"""Tables as CSV that every program reads in the same way, and in which a spreadsheet finds nothing to run."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# A spreadsheet may take a text that begins with one of these signs for a formula; some of them do so after blanks.
SIGNS = ("=", "+", "-", "@")
BREAKS = ("\t", "\r", "\n")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Cells are put in quotes if they have a delimiter, also that of other countries, a quote, or something that a program
# may take for the end of a line.
SPECIAL = re.compile('[,;"\x00-\x1f\x7f-\x9f\u2028\u2029]')
# The number of rows that are in memory as text.
ROWS_AT_A_TIME = 10_000
# Categories of Unicode that are not seen at the beginning of a text: controls, formats and separators.
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")


def as_csv(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a table as CSV. Missing values are empty, and a spreadsheet cannot mistake text for a formula.

    Parameters
    ----------
    header : sequence of length n_columns
        Names of the columns.
    rows : iterable of sequences of length n_columns
        The cells: numbers, text, or None and NaN for missing values.

    Returns
    -------
    str
        The table, with "\n" at the end of each line.

    Examples
    --------
    >>> print(as_csv(["id", "score"], [["a, b", 0.5], ["=1+1", None]]), end="")
    id,score
    "a, b",0.5
    '=1+1,
    """
    return "".join(csv_parts(header, rows))


def csv_parts(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield the text of `as_csv` in parts, so that a long table is never in memory as text."""
    lines = (",".join(map(_cell, row)) + "\n" for row in itertools.chain([header], rows))
    while part := "".join(itertools.islice(lines, ROWS_AT_A_TIME)):
        yield part


def frame_csv(frame: Any, index: bool = True) -> str:
    """Return a pandas data frame as CSV, with its index as the first column if this is wanted."""
    header = [*([frame.index.name or ""] if index else []), *frame.columns]
    values = frame.astype(object).where(frame.notna(), None)
    return as_csv(header, values.itertuples(index=index, name=None))


def harmless(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate as a formula.

    >>> harmless("=1+1"), harmless(" ＋1+1"), harmless("-5"), harmless("a=b")
    ("'=1+1", "' ＋1+1", '-5', 'a=b')
    """
    start = next((letter for letter in text if unicodedata.category(letter) not in UNSEEN), "")
    # Spreadsheets take the wide signs of East Asian fonts for the plain ones.
    is_signed = unicodedata.normalize("NFKC", start) in SIGNS and not NUMBER.fullmatch(text)
    return f"'{text}" if is_signed or text.startswith(BREAKS) else text


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = harmless(value)
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text
