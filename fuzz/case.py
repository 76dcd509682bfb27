"""One case: a short program that is executed step by step, while everything that must never happen is looked for."""

from __future__ import annotations

import os
import random
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .findings import Finding, saved_files
from .rules import calling_frame, innermost, package_frame, why_not_clean

# What every script of a case may use.
IMPORTS = """\
import numpy as np, pandas as pd, polars as pl, pyarrow as pa, scipy.sparse as sp
import datetime, decimal, sparsecluster
from pathlib import Path
from sparsecluster import make_method, save_model, load_model
"""


class NotMadeError(Exception):
    """The case could not be made, for example because a library refuses to build the table."""


class FoundError(Exception):
    """The case ends here, because a step failed in a way that it must not."""


@dataclass
class Case:
    """A case under way.

    Attributes
    ----------
    name : str
        Area and number, such as "api:17".
    rng : random.Random
        Everything in the case follows from it.
    folder : Path
        An empty folder, which is the working directory.
    words : set of str
        What a refusal may name, in addition to the usual words: parameters, columns, files.
    script : list of str
        Source of the steps so far.
    space : dict
        Names that the steps have defined.
    counts : Counter
        What has happened: fits, refusals, ...
    journal : Path or None
        File to which the script is written before every step, in case the process does not survive it.
    """

    name: str
    rng: random.Random
    folder: Path
    words: set[str] = field(default_factory=set)
    script: list[str] = field(default_factory=list)
    space: dict[str, Any] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    journal: Path | None = None

    def __post_init__(self) -> None:
        self.prepare(IMPORTS + "folder = Path()")

    def prepare(self, *sources: str) -> None:
        """Execute source that makes the input of the case. Nothing that happens here is the fault of the package."""
        self.script += sources
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for source in sources:
                    exec(compile(source, "<case>", "exec"), self.space)
            except Exception as error:
                raise NotMadeError(f"{type(error).__name__}: {error}") from error

    def do(self, source: str) -> bool:
        """Execute a step and return whether it succeeded. A clean refusal is no success; anything else is a finding."""
        self.script.append(source)
        if self.journal is not None:
            self.journal.write_text("\n".join(self.script) + "\n", encoding="utf-8", errors="backslashreplace")
        caught: dict[str, str] = {}

        def note(message: Any, category: type[Warning], file: str, line: int, *_: Any) -> None:
            if issubclass(category, RuntimeWarning):
                caught.setdefault(_place(file, line, calling_frame()), str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = note
            error = self._executed(source)
        for where, message in caught.items():
            self.report("RuntimeWarning", message, where)
        if error is None:
            return True
        reason = why_not_clean(error, self.words)
        if reason is None:
            self.counts["refused"] += 1
            return False
        self.report_error(error, reason)
        raise FoundError

    def _executed(self, source: str) -> BaseException | None:
        try:
            exec(compile(source, "<case>", "exec"), self.space)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    def report_error(self, error: BaseException, reason: str, kind: str = "traceback") -> None:
        """Add a finding for an exception."""
        file, line, function = innermost(error)
        where = _place(file, f"{line} in {function}", package_frame(error))
        kind = "memory" if isinstance(error, MemoryError) else kind
        text = "".join(traceback.format_exception(error, limit=-12, chain=False))
        self.report(kind, f"{type(error).__name__}: {error} ({reason})", where, type(error).__name__, text)

    def report(self, kind: str, message: str, where: str, what: str = "", details: str = "") -> None:
        """Add a finding. Findings with the same kind, `what` and `where` are shown as one."""
        script = "\n".join(self.script) + "\n"
        self.findings.append(
            Finding(kind, what, where, message[:2000], self.name, script, details, saved_files(self.folder))
        )

    def get(self, name: str) -> Any:
        """Return what a step has assigned to a name."""
        return self.space[name]

    def one_in(self, count: int) -> bool:
        """Return True once in `count` times."""
        return self.rng.randrange(count) == 0


def _place(file: str, line: int | str, ours: tuple[str, int, str] | None) -> str:
    """Return a place in words, with the line of the package that leads there if it is in a library."""
    called = f", called from {_short(ours[0])}:{ours[1]}" if ours and ours[0] != file else ""
    return f"{_short(file)}:{line}{called}"


def _short(file: str) -> str:
    """Return the part of a path that is the same on every machine."""
    for mark in ("site-packages/", "/src/", "/lib/"):
        if mark in file:
            return file.rpartition(mark)[2]
    return Path(file).name


@dataclass
class Outcome:
    """What became of a case, as it is sent from a worker to the campaign."""

    area: str
    number: int
    findings: list[Finding]
    counts: Counter[str]
    seconds: float = 0.0


def run_case(run: Any, name: str, rng: random.Random, root: Path | None = None, journal: Path | None = None) -> Case:
    """Run a case in a folder of its own and return it with its findings."""
    back = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="case-", dir=root, ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            case = Case(name, rng, Path(folder), journal=journal)
            case.counts["cases"] += 1
            run(case)
        except FoundError:
            pass
        except NotMadeError as error:
            case.counts["skipped"] += 1
            case.counts[f"skipped: {str(error)[:100]}"] += 1
        except Exception as error:
            # The case itself is wrong. It is shown like a finding, because it would otherwise test nothing unnoticed.
            case.report_error(error, "this is an error of the campaign, not of the package", "broken case")
        finally:
            os.chdir(back)
    case.counts["worked"] = min(case.counts["worked"], 1)
    return case


def rng_of(seed: int | str, area: str, number: int) -> random.Random:
    """Return the generator from which everything in a case follows."""
    return random.Random(f"{seed}:{area}:{number}")


def run_numbered(
    run: Any, area: str, number: int, seed: int | str, root: Path | None = None, journal: Path | None = None
) -> Outcome:
    """Run a case of an area by its number."""
    began = time.perf_counter()
    case = run_case(lambda made: run(made, number), f"{area}:{number}", rng_of(seed, area, number), root, journal)
    return Outcome(area, number, case.findings, case.counts, time.perf_counter() - began)
