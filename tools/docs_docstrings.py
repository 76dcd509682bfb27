"""Prepares docstrings for Griffe, which mkdocstrings uses; mkdocs.yml names this file."""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"^(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<text>.*)$")
WITH_ENTRIES, WITH_EXAMPLES = ("Parameters", "Attributes"), ("Examples",)


def respelled(docstring: str) -> str:
    """Return the docstring in the form that Griffe expects.

    Numpydoc entries with a type stay as they are. An entry with its description on the line of the name, where Griffe
    would take it for a type, gets the description on a line of its own. A section "Returns" that consists of sentences
    is renamed, because Griffe would take them for types. Examples outside of their section are fenced.

    >>> print(respelled("Attributes\\n----------\\nlabels_ : cluster of\\n    every sample."))
    Attributes
    ----------
    labels_
        cluster of
        every sample.
    >>> typed = "Attributes\\n----------\\nlabels_ : ndarray of shape (n_samples,)\\n    Cluster of every sample."
    >>> respelled(typed) == typed
    True
    """
    made: list[str] = []
    section, in_example = "", False
    lines = docstring.splitlines()
    for i, (line, following) in enumerate(zip(lines, [*lines[1:], ""], strict=True)):
        if following and set(following) == {"-"}:
            section = line
            line = "Result" if line == "Returns" and in_sentences([*lines[i + 2 :], "", ""]) else line
        if section not in WITH_EXAMPLES and not in_example and line.startswith(">>> "):
            in_example = True
            made += ["", "```pycon"]
        if in_example and not line.strip():
            in_example = False
            made.append("```")
        entry = ENTRY.match(line)
        if section in WITH_ENTRIES and entry and not is_type(entry["text"], following):
            made += [entry["names"], f"    {entry['text']}"]
        else:
            made.append(line)
    return "\n".join([*made, "```"] if in_example else made)


def is_type(text: str, following: str) -> bool:
    """Tell a type, below which the description begins with a capital letter, from a description."""
    description = following.strip()
    begins = following.startswith(" ") and (description[:1].isupper() or not description[:1].isalpha())
    return "default=" in text or (begins and not text.endswith("."))


def in_sentences(lines: list[str]) -> bool:
    """Tell sentences from numpydoc entries, given the lines of a section."""
    first, second = lines[:2]
    return ". " in f"{first} " or bool(second.strip() and not second.startswith(" "))


class Docstrings(griffe.Extension):
    """Respells every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change a module, class, function or attribute that Griffe has read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = respelled(obj.docstring.value)
