"""Tables and text in Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from .text import visible


def markdown_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table in Markdown; cells must be free of bars and line breaks.

    >>> print(markdown_table(["p", "seconds"], [[100, "0.2"]]))
    | p | seconds |
    | --- | --- |
    | 100 | 0.2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def escaped(text: str) -> str:
    r"""Escape text so that a cell of a Markdown table shows it unchanged.

    >>> print(escaped("a < b | c"))
    a &lt; b \| c
    """
    return html.escape(visible(text.replace("\n", " ")), quote=False).replace("|", "\\|")
