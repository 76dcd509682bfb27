"""Reads the short form in which docstrings here list things, `name : what it is`, as what it is and not as a type."""

from __future__ import annotations

import re
from typing import Any

import griffe

ITEM = re.compile(r"^(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<text>.*)$")


def respelled(docstring: str) -> str:
    """Items in sections of parameters and attributes with their text below their names.

    Those that give a type say "default=" in their first line and stay as they are.

    >>> print(respelled("Attributes\\n----------\\nlabels_ : cluster of\\n    every item.\\nk : int, default=3\\n    Size."))
    Attributes
    ----------
    labels_
        cluster of
        every item.
    k : int, default=3
        Size.
    """
    lines, inside = [], False
    text = docstring.splitlines()
    for number, line in enumerate(text):
        following = text[number + 1] if number + 1 < len(text) else ""
        if following and set(following) == {"-"}:
            inside = line in ("Parameters", "Attributes")
        item = ITEM.match(line)
        if inside and item and "default=" not in item["text"]:
            lines += [item["names"], f"    {item['text']}"]
        else:
            lines.append(line)
    return "\n".join(lines)


class Items(griffe.Extension):
    """Respells every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """A module, class, function or attribute that Griffe has read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = respelled(obj.docstring.value)
