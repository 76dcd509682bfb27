"""The campaign: which cases are run, the workers that run them, and what is shown meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from .areas import AREAS, corpus_numbers
from .case import Outcome
from .findings import Finding, grouped
from .worker import ONE_THREAD, dead_outcome, work

# Seconds within which a worker must start: the first one on a machine compiles kernels.
START_SECONDS = 300.0
Task = tuple[str, int]


@dataclass
class Plan:
    """Which case comes next: the corpus first, then a fixed number of cases, or as many as fit into some minutes.

    A number of cases is divided over the areas by their shares of cases, always in the same way. Time is divided by
    their shares of time. `corpus=6` takes every sixth case of the corpus, and 0 none of them.
    """

    areas: Sequence[str]
    cases: int | None
    minutes: float
    corpus: int = 1
    given: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        known = corpus_numbers(self.areas)[:: self.corpus] if self.corpus else []
        self.first = deque(("corpus", number) for number in known)
        self.areas = [area for area in self.areas if area != "corpus"]
        self.until: float | None = None

    def next(self) -> Task | None:
        """Return the next case, or None if there is none."""
        if self.first:
            return self.first.popleft()
        # The corpus takes as long as it takes; the minutes are for generated cases.
        if self.until is None:
            self.until = time.monotonic() + 60 * self.minutes
        done = sum(self.given.values())
        if not self.areas or (done >= self.cases if self.cases is not None else time.monotonic() >= self.until):
            return None
        area = min(self.areas, key=self._use_of)
        number = self.given[area]
        self.given[area] += 1
        return area, number

    def _use_of(self, area: str) -> float:
        if self.cases is not None:
            return (self.given[area] + 1) / AREAS[area].cases
        # Before the first case of an area has ended, nobody knows how long it takes.
        return (self.spent[area] + 0.05 * self.given[area]) / AREAS[area].time

    def left(self, done: int) -> str:
        """Say how much is left to do."""
        if self.cases is not None:
            return f"{max(self.cases - done, 0)} cases left"
        left = self.minutes * 60 if self.until is None else self.until - time.monotonic()
        return f"{max(left, 0) / 60:.1f} minutes left"


@dataclass
class Report:
    """What a campaign has done and found."""

    seed: int | str
    jobs: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    elapsed: float = 0.0
    interrupted: bool = False

    @property
    def n_cases(self) -> int:
        """The number of cases that were run."""
        return sum(counts["cases"] for counts in self.counts.values())

    def add(self, outcome: Outcome) -> None:
        """Add what became of a case."""
        self.counts.setdefault(outcome.area, Counter()).update(outcome.counts)
        self.seconds[outcome.area] += outcome.seconds
        self.longest[outcome.area] = max(self.longest.get(outcome.area, 0.0), outcome.seconds)
        self.findings += outcome.findings


class Worker:
    """A process that runs cases, and the case that it is running."""

    def __init__(self, seed: int | str, root: Path, limit: float | None, prepare: Callable[[], None] | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, end = context.Pipe()
        self.root, self.limit = root, limit
        self.process = context.Process(target=work, args=(end, seed, root, limit, prepare))
        self.process.start()
        end.close()
        self.task: Task | None = None
        self.last: Task | None = None
        self.began = time.monotonic()
        self.is_ready = False
        self.seconds = START_SECONDS

    def give(self, task: Task) -> None:
        """Send a case to the worker."""
        self.task = self.last = task
        self.began = time.monotonic()
        self.seconds = self.limit or AREAS[task[0]].limit
        self.connection.send(task)

    def outcome(self) -> Outcome | None:
        """Return the outcome of the case that has just ended, whichever way, or None if the worker is still busy."""
        try:
            if self.connection.poll():
                told = self.connection.recv()
                self.is_ready = True
                return None if told == "ready" else told
        except (EOFError, ConnectionError):
            self.process.join(10)
        if not self.process.is_alive():
            return self._dead("crash", f"The process ended with {_ending(self.process.exitcode)}.")
        if (self.task or not self.is_ready) and time.monotonic() - self.began > self.seconds:
            self.kill()
            return self._dead("hang", f"The case took more than {self.seconds:.0f} s.")
        return None

    def _dead(self, kind: str, message: str) -> Outcome:
        # A process that dies between two cases dies of the last one.
        if self.last is None:
            raise RuntimeError(f"A worker could not start. {message}")
        return dead_outcome(*self.last, kind, message, self.root, self.process.pid, time.monotonic() - self.began)

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        """Let the process end, or end it if it is busy or still starting."""
        self.connection.close()
        self.process.join(10 if self.is_ready and self.task is None else 0)
        if self.process.is_alive():
            self.kill()


def _ending(code: int | None) -> str:
    try:
        return f"signal {signal.Signals(-(code or 0)).name}"
    except ValueError:
        return f"exit code {code}"


def run_campaign(
    plan: Plan,
    *,
    seed: int | str = 0,
    jobs: int = 2,
    limit: float | None = None,
    prepare: Callable[[], None] | None = None,
    show: Callable[[str], Any] | None = None,
) -> Report:
    """Run the cases of a plan in several processes.

    Parameters
    ----------
    plan : Plan
        Which cases are run.
    seed : int or str, default=0
        Seed of all cases.
    jobs : int, default=2
        Number of processes.
    limit : float, default=None
        Seconds after which a case is a hang; by default, those of its area.
    prepare : callable, default=None
        Function of a module that every worker calls first, with which tests plant bugs.
    show : callable, default=None
        Function that is called with a line of progress now and then.

    Returns
    -------
    Report
        What was done and found. Ctrl-C ends the campaign early.
    """
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    report, began = Report(seed, jobs), time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    workers: list[Worker] = []
    try:
        _run(plan, report, workers, jobs, lambda: Worker(seed, root, limit, prepare), show)
    except KeyboardInterrupt:
        report.interrupted = True
    finally:
        for each in workers:
            each.close()
        shutil.rmtree(root, ignore_errors=True)
        report.elapsed = time.monotonic() - began
    return report


def _run(
    plan: Plan,
    report: Report,
    workers: list[Worker],
    jobs: int,
    start: Callable[[], Worker],
    show: Callable[[str], Any] | None,
) -> None:
    waiting = plan.next()
    while waiting is not None or any(each.task for each in workers):
        while waiting is not None and len(workers) < jobs:
            workers.append(start())
        for each in list(workers):
            if each.is_ready and each.task is None and waiting is not None:
                each.give(waiting)
                waiting = plan.next()
        wait([thing for each in workers for thing in (each.connection, each.process.sentinel)], timeout=0.5)
        for each in list(workers):
            outcome = each.outcome()
            if outcome is None:
                continue
            each.task = None
            report.add(outcome)
            plan.spent[outcome.area] += outcome.seconds
            # A process that has used much memory would not notice the next case that does.
            if not each.process.is_alive() or any(found.kind == "memory" for found in outcome.findings):
                workers.remove(each)
                each.kill()
        if show is not None:
            show(progress(plan, report))


def progress(plan: Plan, report: Report) -> str:
    """Say in one line how far the campaign is."""
    kinds = len(grouped(report.findings))
    found = f"{len(report.findings)} findings of {kinds} kinds" if report.findings else "no findings"
    return f"{report.n_cases} cases, {found}, {plan.left(sum(plan.given.values()))}"


class Screen:
    """Shows progress in one line of a terminal, and nothing where nobody watches."""

    def __init__(self) -> None:
        self.watched = sys.stderr.isatty()
        self.last = 0.0

    def __call__(self, text: str) -> None:
        if self.watched and time.monotonic() - self.last > 0.5:
            self.last = time.monotonic()
            sys.stderr.write(f"\r{text:<100}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Wipe the line out."""
        if self.watched:
            sys.stderr.write("\r" + " " * 100 + "\r")
