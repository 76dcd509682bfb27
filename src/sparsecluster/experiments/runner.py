"""Runs an experiment's tasks in parallel and appends each result to a table on disk as it comes."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib

from .._utils.parallel import one_thread_blas
from .._utils.progress import Progress
from .._version import __version__
from .base import Cell, Experiment, Row, Setting, Task


class Record(NamedTuple):
    """A task that is done: its rows and seconds, or why it failed."""

    task: Task
    rows: list[Row]
    seconds: float
    error: str | None = None


class Results(NamedTuple):
    """What a table on disk holds: the runs that added to it and the tasks they did."""

    runs: list[dict[str, Any]]
    records: list[Record]

    def rows(self) -> Iterator[Row]:
        """Every row with its cell, method, seed and seconds; failed tasks have none."""
        for record in self.records:
            for row in record.rows:
                yield {
                    **record.task.cell,
                    "method": record.task.method,
                    "seed": record.task.seed,
                    "seconds": record.seconds,
                    **row,
                }


# ---------------------------------------------------------------- the table on disk


def table_of(experiment: Experiment, folder: Path, setting: Setting) -> Path:
    """Where the results of an experiment are."""
    suffix = f"-{setting.variant}" if len(experiment.variants) > 1 else ""
    return folder / f"{experiment.table or experiment.name}{suffix}.jsonl"


def load(table: Path) -> Results:
    """All whole lines of a table; a line that was being written when the run was stopped is left out."""
    runs: list[dict[str, Any]] = []
    records: dict[tuple[Any, ...], Record] = {}
    for line in _whole_lines(table):
        entry = json.loads(line)
        if "run" in entry:
            runs.append(entry["run"])
            continue
        task = Task(entry["cell"], entry["method"], entry["seed"])
        records[task.key] = Record(task, entry["rows"], entry["seconds"], entry.get("error"))
    return Results(runs, list(records.values()))


def _whole_lines(table: Path) -> list[str]:
    if not table.exists():
        return []
    content = table.read_bytes()
    return content[: content.rfind(b"\n") + 1].decode("utf-8").split("\n")[:-1]


def mend(table: Path) -> None:
    """Cut off a line that was not written to its end, so that the next one begins where it should."""
    if not table.exists():
        return
    content = table.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(table, whole)


def append(table: Path, entry: dict[str, Any]) -> None:
    """Add a line, whole unless the machine stops in the middle of it."""
    with table.open("ab") as file:
        file.write(json.dumps(_finite(entry), ensure_ascii=False, allow_nan=False, default=_plain).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as Python has them."""
    return value.tolist()


def _finite(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have: they become null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def machine() -> dict[str, Any]:
    """What a reader needs to compare times."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0.0
    return {
        "version": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GiB",
    }


# ---------------------------------------------------------------- the runner


def do(experiment: Experiment, task: Task, setting: Setting) -> Record:
    """One task, timed. A method that fails is a result too; what is wrong with the data or the machine is not."""
    from ..datasets import DataNotFoundError

    began = time.perf_counter()
    try:
        with one_thread_blas():
            rows = experiment.run(task, setting)
    except DataNotFoundError:
        # Where it was looked for is the affair of one machine, and the table of all.
        return Record(task, [], time.perf_counter() - began, f"no data set {task.cell.get('data')!r} on this machine")
    except (ValueError, ArithmeticError, MemoryError, ImportError) as error:
        return Record(task, [], time.perf_counter() - began, f"{type(error).__name__}: {error}")
    return Record(task, rows, time.perf_counter() - began)


def run(
    experiment: Experiment,
    folder: Path,
    *,
    repeats: int | None = None,
    seed: int = 0,
    methods: Sequence[str] = (),
    cells: Sequence[Cell] = (),
    jobs: int = 1,
    setting: Setting | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Results:
    """Do what the table on disk does not have yet, and return all that it then has.

    Every result is on disk before the next is waited for, so a run that is stopped goes on where it was.
    """
    setting = setting or Setting()
    progress = progress or Progress(verbose=False)
    folder.mkdir(parents=True, exist_ok=True)
    table = table_of(experiment, folder, setting)
    mend(table)
    # What failed is tried again: a package may have been installed, a file put in its place.
    done = {record.task.key for record in load(table).records if record.error is None}
    wanted = experiment.tasks(repeats or experiment.repeats, seed, methods, cells)
    tasks = [task for task in wanted if task.key not in done]
    if tasks:
        append(table, {"run": {"command": command, "jobs": jobs, "variant": setting.variant, **machine()}})
        began = time.monotonic()
        for record in progress.track(_results(experiment, tasks, setting, jobs), experiment.name, len(tasks)):
            error = {} if record.error is None else {"error": record.error}
            append(table, {**record.task._asdict(), "rows": record.rows, "seconds": record.seconds, **error})
        append(table, {"run": {"done": len(tasks), "seconds": time.monotonic() - began}})
    return load(table)


def _results(experiment: Experiment, tasks: list[Task], setting: Setting, jobs: int) -> Iterator[Record]:
    if jobs == 1 or len(tasks) == 1:
        return (do(experiment, task, setting) for task in tasks)
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    return parallel(joblib.delayed(_by_name)(experiment.name, task, setting) for task in tasks)


def _by_name(name: str, task: Task, setting: Setting) -> Record:
    """In another process, which knows the experiment by its name."""
    from .catalogue import EXPERIMENTS

    return do(EXPERIMENTS[name], task, setting)
