"""Prepares docstrings for Griffe, which mkdocstrings uses; mkdocs.yml names this file."""

from __future__ import annotations

import re
from typing import Any

import griffe

# The name of a numpydoc entry, if its type is more than a single name, such as `float` or `TuningCurve or None`.
ENTRY = re.compile(r"^([\w*]+(?:, [\w*]+)* : )(?![\w.]+(?: or None)?(?:, default=.*)?$)", re.MULTILINE)
# An invisible character that is not allowed in Python.
WORD_JOINER = "\u2060"


def respelled(docstring: str) -> str:
    r"""Return the docstring with types that Griffe shows as they are written.

    Griffe would read a type such as `{"max", "1se"} or int, default="1se"` as Python: it would show a tuple, drop what
    follows the braces, and take the first choice for the default. A single name is left as it is, and becomes a link.

    >>> respelled("name : str\n    The name.")
    'name : str\n    The name.'
    >>> respelled('rule : {"max", "1se"}, default="1se"\n    The rule.')
    'rule : \u2060{"max", "1se"}, default="1se"\n    The rule.'
    """
    return ENTRY.sub(rf"\1{WORD_JOINER}", docstring)


class Docstrings(griffe.Extension):
    """Respells every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change a module, class, function or attribute that Griffe has read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = respelled(obj.docstring.value)
