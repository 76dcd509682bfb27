"""What a clean refusal is: an error that the package raises on purpose, with a message for people."""

from __future__ import annotations

import ast
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

import sparsecluster

PACKAGE = str(Path(sparsecluster.__file__).parent)
# Files of scikit-learn that check tables and parameters. Its own tests ask for some of these messages word for word, so
# they may have several lines.
SKLEARN = ("validation.py", "_array_api.py", "_param_validation.py", "base.py")
# What refusals usually name, if it is not a parameter, a column or a file of the case.
USUAL = re.compile(
    r"\b(X|y|columns?|rows?|samples?|features?|matrix|matrices|clusters?|table|file|model|values?|metric|method|"
    r"n_[a-z_]+|names?|ids?|pip install|option|alternative|standard input|must be one of)\b",
    re.IGNORECASE,
)
MOST_CHARACTERS = 1000
BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def innermost(error: BaseException) -> tuple[str, int, str]:
    """Return the file, line and function in which an error was raised."""
    frames = list(_frames(error.__traceback__))
    return frames[-1] if frames else ("?", 0, "?")


def package_frame(error: BaseException) -> tuple[str, int, str] | None:
    """Return the innermost frame that belongs to the package."""
    return next((each for each in reversed(list(_frames(error.__traceback__))) if _is_ours(each[0])), None)


def calling_frame() -> tuple[str, int, str] | None:
    """Return the innermost frame of the package among those that are being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _frames(trace: TracebackType | None):
    while trace is not None:
        code = trace.tb_frame.f_code
        yield code.co_filename, trace.tb_lineno, code.co_name
        trace = trace.tb_next


def _is_ours(file: str) -> bool:
    return file.startswith(PACKAGE)


@cache
def _raising_lines(file: str) -> frozenset[int]:
    """Return the lines of a file that belong to a raise statement."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    raises = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return frozenset(line for node in raises for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def why_not_clean(error: BaseException, words: set[str] = frozenset()) -> str | None:
    """Return why an error is not a clean refusal, or None if it is one."""
    if not isinstance(error, ValueError | TypeError | ImportError):
        return "an error of this type is never a refusal"
    file, line, _ = innermost(error)
    if "/sklearn/" in file and Path(file).name in SKLEARN:
        return None
    if not _is_ours(file):
        return "it was raised outside the package"
    if line not in _raising_lines(file):
        return "it was not raised on purpose"
    return why_not_readable(str(error), words)


def why_not_readable(message: str, words: set[str] = frozenset()) -> str | None:
    """Return what is wrong with the message of a refusal, or None."""
    if not message.strip():
        return "it has no message"
    strange = odd_characters(message)
    if strange:
        return f"its message contains {strange}"
    if len(message) >= MOST_CHARACTERS:
        return f"its message has {len(message)} characters"
    if not USUAL.search(message) and not any(word and word in message for word in words):
        return "its message does not name what is wrong"
    return None


def odd_characters(text: str, allowed: str = "") -> str:
    """Return the first control character of a text in words, or an empty text."""
    for sign in text:
        if sign not in allowed and (sign in BIDI or unicodedata.category(sign) in ("Cc", "Cs")):
            return f"the control character {sign!a}"
    return ""
