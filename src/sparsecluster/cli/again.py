"""How to get a result again: the command, and Python code that gives the same labels and features."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._utils.text import visible

if TYPE_CHECKING:
    from .fitting import Fitted
    from .tables import Request

# Parameters of estimators on which the result does not depend.
NO_MATTER = ("n_jobs", "verbose")
STANDARD_INPUT = "the table is read from standard input"


def command_of(data: Sequence[str]) -> str:
    """Return the command as the user entered it."""
    command = " ".join(["sparsecluster", *map(quoted, sys.argv[1:])])
    return f"{command}  # {STANDARD_INPUT}" if list(data) == ["-"] else command


def quoted(word: str) -> str:
    r"""Return a word of a command as a shell reads it, without characters that act on a terminal.

    >>> print(quoted("plain"), quoted("two words"), quoted("a\x1b'"))
    plain 'two words' $'a\x1b\''
    """
    if visible(word) == word:
        return shlex.quote(word)
    letters = (bytes([byte]) for byte in os.fsencode(word))
    shown = (each.decode() if each.isalnum() else f"\\x{each[0]:02x}" for each in letters)
    return "$'" + "".join(shown).replace("\\x27", "\\'") + "'"


def python_of(fitted: Fitted, data: Sequence[str], request: Request) -> str | None:
    """Return code that gives the same result, as `found`, `labels` and `chosen`; None for a table in parts."""
    from ..io.parts import are_parts

    if fitted.parts is not None or are_parts(data):
        return None
    made, imported, fit = estimator_code(fitted)
    other = "" if fitted.alternative is None else f".use_alternative({fitted.alternative})"
    options = called("Options", file_options(request)) if file_options(request) else None
    columns = {**request.columns(), **({"transpose": True} if request.transpose else {})}
    arguments = [repr(data[0]), *(f"{name}={value!r}" for name, value in columns.items())]
    arguments += [f"options={options}"] if options else []
    lines = [
        f"from sparsecluster import {', '.join(sorted(imported))}",
        f"from sparsecluster.io import {'Options, ' if options else ''}read_table",
        "",
        f"table = read_table({', '.join(arguments)})" + (f"  # {STANDARD_INPUT}" if data[0] == "-" else ""),
        f"found = {made}.{fit}{other}",
        "labels = found.labels_",
        "chosen = [name for name, is_chosen in zip(table.names, found.get_support()) if is_chosen]",
    ]
    return "\n".join(lines) + "\n"


def estimator_code(fitted: Fitted) -> tuple[str, set[str], str]:
    """Return the code that creates the estimator, what it imports, and the code that fits it."""
    from ..preprocessing import EXPRESSION

    estimator = fitted.estimator
    name = type(estimator).__name__
    if fitted.preset is None:
        return called(name, changed(estimator)), {name}, "fit(table.X)"
    if name != "SASClustering":
        made = called(name, changed(estimator))
        return made, {name, "ExpressionScaler"}, "fit(ExpressionScaler().fit_transform(table.X))"
    made = called("expression_clustering", changed(estimator, EXPRESSION))
    return made, {"expression_clustering"}, "fit(table.X)[-1]"


def changed(estimator: Any, usual: dict[str, Any] | None = None) -> dict[str, Any]:
    """The number of clusters, and the parameters that an estimator does not have by default, or as usual."""
    signature = inspect.signature(type(estimator)).parameters
    default = {**{name: each.default for name, each in signature.items()}, **(usual or {})}
    given = estimator.get_params(deep=False)
    return {
        name: value
        for name, value in given.items()
        if name not in NO_MATTER
        and (name == "n_clusters" or type(value) is not type(default[name]) or value != default[name])
    }


def file_options(request: Request) -> dict[str, Any]:
    """What says how the file itself is read, as far as the table depends on it."""
    return {
        name: value for name, value in request.options._asdict().items() if value is not None and name != "max_memory"
    }


def called(name: str, arguments: dict[str, Any]) -> str:
    """Return a call with keyword arguments.

    >>> called("SASClustering", {"n_clusters": 3, "metric": {"x": "hamming"}})
    "SASClustering(n_clusters=3, metric={'x': 'hamming'})"
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
