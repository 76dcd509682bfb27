"""Reads docstrings as they are written here: lists of `name : what it is`, and examples without a heading."""

from __future__ import annotations

import re
from typing import Any

import griffe

ITEM = re.compile(r"^(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<text>.*)$")
WITH_ITEMS, WITH_EXAMPLES = ("Parameters", "Attributes"), ("Examples",)


def respelled(docstring: str) -> str:
    """The docstring as Griffe expects it.

    What an item is stands below its name, where it would be taken for a type; an item that has a type says "default="
    in its first line and stays as it is. Examples outside of a section of their own are fenced.

    >>> print(respelled("Attributes\\n----------\\nlabels_ : cluster of\\n    every item."))
    Attributes
    ----------
    labels_
        cluster of
        every item.
    """
    made: list[str] = []
    section, in_example = "", False
    lines = docstring.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following and set(following) == {"-"}:
            section = line
            # What a function returns is told in sentences, not as types; under this heading they stay sentences.
            line = "Result" if line == "Returns" else line
        if section not in WITH_EXAMPLES and not in_example and line.startswith(">>> "):
            in_example = True
            made += ["", "```pycon"]
        if in_example and not line.strip():
            in_example = False
            made.append("```")
        item = ITEM.match(line)
        if section in WITH_ITEMS and item and "default=" not in item["text"]:
            made += [item["names"], f"    {item['text']}"]
        else:
            made.append(line)
    return "\n".join([*made, "```"] if in_example else made)


class Items(griffe.Extension):
    """Respells every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """A module, class, function or attribute that Griffe has read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = respelled(obj.docstring.value)
