"""What was chosen on the page, checked, as the arguments of a command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._utils.text import brief

USES = ("feature", "id", "truth", "left out")
# The dissimilarities that can be chosen for a column, and their words on the page. The first one is the choice of the
# command.
METRICS = {
    "auto": "automatic",
    "sqeuclidean": "squared difference",
    "manhattan": "distance",
    "hamming": "same level or not",
    "ordinal": "distance of ranks",
}
# All threads: the result does not depend on their number.
THREADS = ("--jobs", "-1")
NUMBER = re.compile(r"[1-9]\d{0,8}")


class ChoiceError(ValueError):
    """What came from the page cannot be understood."""


@dataclass(frozen=True)
class Reading:
    """How a table is read: what `info` is asked for before it can describe the columns."""

    id_column: str | None = None
    transpose: bool = False
    sheet: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Reading:
        """Check what came from the page."""
        return cls(
            _text(given.get("id"), "the column with the names of the rows"),
            _flag(given.get("transpose", False), "transpose"),
            _text(given.get("sheet"), "the sheet"),
        )

    def arguments(self) -> list[str]:
        """Return the options of a command."""
        return [
            *_option("--id", self.id_column),
            *(["--transpose"] if self.transpose else []),
            *_option("--sheet", self.sheet),
        ]


@dataclass(frozen=True)
class Choices:
    """What is fitted: numbers, a preset, and the columns whose use or metric was changed."""

    clusters: str = "auto"
    size: str = "auto"
    expression: bool = False
    columns: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Choices:
        """Check what came from the page."""
        columns = given.get("columns", [])
        if not isinstance(columns, list) or not all(isinstance(each, list) and len(each) == 3 for each in columns):
            raise ChoiceError("The columns must be a list of name, use and metric. Load the page again.")
        changed = {}
        for name, use, metric in columns:
            if not isinstance(name, str) or use not in USES or metric not in METRICS:
                raise ChoiceError(f"Unknown use or metric of the column {brief(name)}. Load the page again.")
            changed[name] = (use, metric)
        return cls(
            _number(given.get("clusters", "auto"), "The number of clusters", ("auto",), least=2),
            _number(given.get("size", "auto"), "The number of features", ("auto", "core"), least=1),
            _flag(given.get("expression", False), "gene expression"),
            changed,
        )

    def arguments(self, usual: Mapping[str, str]) -> list[str]:
        """Return the options of `fit`, given the use of each column if nothing is said about it."""
        return [
            *([] if self.clusters == "auto" else ["-k", self.clusters]),
            *([] if self.size == "auto" else ["--size", self.size]),
            *(["--preset", "expression"] if self.expression else []),
            *_used(self.columns, usual),
        ]


# The option that changes the use of a column.
OPTIONS = {"feature": "--keep", "id": "--id", "truth": "--truth", "left out": "--drop"}


def _used(columns: Mapping[str, tuple[str, str]], usual: Mapping[str, str]) -> list[str]:
    asked = []
    for name, (use, metric) in columns.items():
        if name not in usual:
            raise ChoiceError(f"The table has no column {brief(name)}. Load the page again.")
        if use != usual[name]:
            asked += _option(OPTIONS[use], name)
        if use == "feature" and metric != "auto":
            asked += _option("--metric", f"{name}={metric}")
    return asked


def info_arguments(file: str, reading: Reading) -> list[str]:
    """Return the arguments that describe a table.

    >>> info_arguments("a.csv", Reading(transpose=True))
    ['info', 'a.csv', '--transpose', '--json']
    """
    return ["info", file, *reading.arguments(), "--json"]


def fit_arguments(
    file: str, out: str, reading: Reading, choices: Choices, usual: Mapping[str, str] | None = None
) -> list[str]:
    """Return the arguments that fit a table.

    >>> choices = Choices(clusters="3", columns={"island": ("left out", "auto")})
    >>> fit_arguments("a.csv", "a-clusters", Reading(), choices, {"island": "feature"})
    ['fit', 'a.csv', '-k', '3', '--drop', 'island', '--out', 'a-clusters', '--jobs', '-1']
    """
    return ["fit", file, *reading.arguments(), *choices.arguments(usual or {}), "--out", out, *THREADS]


def alternative_arguments(argv: Sequence[str], number: int) -> list[str]:
    """Return the arguments of a fit with an alternative as its result.

    >>> alternative_arguments(["fit", "a.csv", "-k", "3", "--out", "a-clusters"], 0)
    ['fit', 'a.csv', '-k', '3', '--alternative', '0', '--out', 'a-clusters']
    """
    end = argv.index("--out")
    return [*argv[:end], "--alternative", str(number), *argv[end:]]


def _option(name: str, value: str | None) -> list[str]:
    """Return an option with its value; one that begins with a dash would be taken for another option."""
    if value is None:
        return []
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _text(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ChoiceError(f"The name of {what} must be text; got {brief(value)}. Load the page again.")
    return value or None


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise ChoiceError(f"{what} must be true or false; got {brief(value)}. Load the page again.")
    return value


def _number(value: object, what: str, words: Sequence[str], least: int) -> str:
    text = str(value).strip()
    if text in words or (NUMBER.fullmatch(text) and int(text) >= least):
        return text
    raise ChoiceError(f"{what} must be a whole number of at least {least}; got {brief(text)}. Change it in step 2.")
