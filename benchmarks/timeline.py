"""A time-line of one fit: the time of every kernel that is entered from Python, and of a few steps outside kernels.

All compiled functions are called through one class of Numba, so timing its calls misses no kernel, whatever its name
and wherever a reference to it is kept. Kernels that are called by other kernels count as part of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from sparsecluster import SASClustering
from sparsecluster._features import numeric

clock = time.process_time_ns
CLIMBS, UNIVARIATE, KMEANS = "whole climbs", "univariate", "K-means"
SCORES, SELECTION = "scores", "selection"
COPIES, READING, GRAM, OTHER = "copies (shuffle)", "reading and arranging", "Gram", "other kernels"
PYTHON = "Python between kernels"
# How the name of a step ends, of which only the time outside kernels is counted.
OUTSIDE = ", outside kernels"
COLUMNS = (CLIMBS, UNIVARIATE, KMEANS, SCORES, SELECTION, COPIES, READING, GRAM, OTHER, PYTHON)
# The column of a kernel: by its name or else by its file. All others are "other kernels".
BY_NAME = {"shuffle_columns": COPIES, "take_columns": KMEANS}
BY_NAME |= dict.fromkeys(["arranged", "measure_columns", "scale_columns"], READING)
BY_FILE = {
    "climbs": CLIMBS,
    "univariate": UNIVARIATE,
    "rows": KMEANS,
    "pairs": KMEANS,
    "moves": KMEANS,
    "settled": KMEANS,
    "sums": SCORES,
    "objective": SCORES,
    "select": SELECTION,
    "order": READING,
}
# Steps outside kernels, whose time without that of the kernels that they call belongs to a column. The Gram matrix is a
# product of the BLAS; columns are sorted before kernels cluster them; tables are copied before they are shuffled.
STEPS: tuple[tuple[type, str, str], ...] = (
    (SASClustering, "read", READING),
    (numeric.Source, "table", READING),
    (numeric.NumericFeatures, "seen_pairs", GRAM),
    (numeric.NumericFeatures, "permuted", COPIES),
    (numeric.NumericFeatures, "univariate", UNIVARIATE),
    (numeric.NumericFeatures, "univariate_labels", UNIVARIATE),
)


class Event(NamedTuple):
    """One call of a kernel or step, from its beginning to its end in nanoseconds."""

    what: Any
    began: int
    ended: int


class Share(NamedTuple):
    """The calls of one kernel or step, and their milliseconds without those of the kernels and steps they call."""

    column: str
    calls: int
    milliseconds: float


def column_of(kernel: Any) -> str:
    """The column of a compiled function."""
    function = kernel.py_func
    return BY_NAME.get(function.__name__) or BY_FILE.get(function.__module__.rpartition(".")[2], OTHER)


@contextmanager
def timed_kernels(events: list[Event]) -> Iterator[None]:
    """Record all calls of compiled functions from Python."""
    plain = CPUDispatcher.__call__

    def call(kernel: Any, *arguments: Any, **named: Any) -> Any:
        began = clock()
        try:
            return plain(kernel, *arguments, **named)
        finally:
            events.append((kernel, began, clock()))  # type: ignore[arg-type]  (a tuple is made faster than an Event)

    CPUDispatcher.__call__ = call
    try:
        yield
    finally:
        del CPUDispatcher.__call__


@contextmanager
def timed_steps(events: list[Event]) -> Iterator[None]:
    """Record all calls of the steps outside kernels."""
    replaced = []

    def timer(step: Callable[..., Any], what: tuple[str, str]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            began = clock()
            try:
                return step(*arguments, **named)
            finally:
                events.append(Event(what, began, clock()))

        return call

    try:
        for owner, name, column in STEPS:
            step = getattr(owner, name)
            replaced.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, timer(step, (name + OUTSIDE, column)))
        yield
    finally:
        for owner, name, own in reversed(replaced):
            if own is None:  # inherited
                delattr(owner, name)
            else:
                setattr(owner, name, own)


def shares_of(events: Iterable[Event], cost: float = 0.0) -> dict[str, Share]:
    """Sum the events by kernel and step, less the nanoseconds that timing adds to each.

    Events come in the order of their ends, so those inside an event are the last ones that began after it.
    """
    shares: dict[str, Share] = {}
    before: list[tuple[int, int]] = []
    for what, began, ended in events:
        own = ended - began - cost
        while before and before[-1][0] >= began:
            inside = before.pop()
            own -= inside[1] - inside[0]
        before.append((began, ended))
        name, column = what if isinstance(what, tuple) else (what.py_func.__name__, column_of(what))
        _, calls, milliseconds = shares.get(name, Share(column, 0, 0.0))
        shares[name] = Share(column, calls + 1, milliseconds + own / 1e6)
    return shares


def recorded(run: Callable[[], Any]) -> list[Event]:
    """Return the events of one run."""
    events: list[Event] = []
    with timed_kernels(events), timed_steps(events):
        run()
    return events


@numba.njit
def nothing(values: Any) -> None:
    """A kernel whose time is that of a call."""


def cost_of_timing(calls: int = 20_000) -> float:
    """Measure the nanoseconds that timing adds to the time of a kernel."""
    values = np.zeros(3)

    def repeat() -> None:
        for _ in range(calls):
            nothing(values)

    def untimed() -> float:
        began = clock()
        repeat()
        return (clock() - began) / calls

    def timed() -> float:
        return 1e6 * shares_of(recorded(repeat))["nothing"].milliseconds / calls

    repeat()
    return min(timed() for _ in range(5)) - min(untimed() for _ in range(5))
