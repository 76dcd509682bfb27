"""Text for people: names without characters that act on a terminal, and values in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Control characters of both kinds and DEL, line and paragraph separators, marks that turn the direction of the text
# around them, and halves of characters, which stand for the bytes of file names that are not valid UTF-8.
UNSEEN = "\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# The length at which messages, values in them, and names in figures and in sentences are truncated.
LONGEST_LINE, LONGEST_VALUE, LONGEST_NAME, LONGEST_IN_SENTENCE = 950, 80, 24, 40


def visible(text: object, keep: str = "") -> str:
    r"""Return text in which control characters are shown escaped, so that they cannot act on a terminal or a page.

    Parameters
    ----------
    text : object
        Text, or what `str` makes of another object.
    keep : str, default=""
        Characters that are not escaped, such as a line break.

    Returns
    -------
    str
        The text, with escapes as in Python.

    Examples
    --------
    >>> print(visible("\x1b[31mred\x07 \u202egnp.exe"))
    \x1b[31mred\x07 \u202egnp.exe
    >>> visible("naïve 名前") == "naïve 名前"
    True
    """
    return re.sub(f"[{UNSEEN}]", lambda found: found[0] if found[0] in keep else _escaped(found[0]), str(text))


def _escaped(letter: str) -> str:
    code = ord(letter)
    return SHORT_ESCAPES.get(letter) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def brief(value: object, longest: int = LONGEST_VALUE) -> str:
    """Return a value as Python writes it, on one line and truncated in the middle of a long one.

    Parameters
    ----------
    value : object
        A value that a message quotes.
    longest : int, default=80
        Largest number of characters.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> brief("a"), brief(range(3)), brief("abcdefghijklmnop", 10)
    ("'a'", 'range(0, 3)', "'abcdefg…'")
    """
    try:
        # Of a long text only the beginning is needed.
        text = repr(value[: longest + 1] if type(value) in (str, bytes) else value)  # type: ignore[index]
    except Exception:
        # Whole numbers of many digits have no text, and objects of others may fail. The message matters more.
        text = f"<{type(value).__name__}>"
    # Texts of arrays and tables have several lines.
    text = visible(" ".join(text.split()))
    # The last character is often a quote or a bracket that ends the value.
    return text if len(text) <= longest else f"{text[: longest - 2]}…{text[-1]}"


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    r"""Return a message on one line, without control characters. If it is too long, it says how much is left out.

    >>> print(one_line("two\nlines"), one_line("abcdefghij", 3))
    two lines abc… (7 more characters)
    """
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= longest else f"{line[:longest]}… ({len(line) - longest:,} more characters)"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Return a name on one line, truncated if it is too long.

    >>> shortened("two\nlines"), shortened("a very long name indeed", 12)
    ('two lines', 'a very long…')
    >>> print(shortened("\x1b[2J"))
    \x1b[2J
    """
    text = visible(" ".join(name.split()))
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def enumerated(numbers: Sequence[Any], form: str = ",") -> str:
    """Return numbers as words.

    >>> enumerated([1000, 2, 3])
    '1,000, 2 and 3'
    """
    words = [f"{number:{form}}" for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
