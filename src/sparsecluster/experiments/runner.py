"""Runs the tasks of an experiment in parallel and appends every result to a table on disk."""

from __future__ import annotations

import json
import math
import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib

from .._utils.files import writing
from .._utils.parallel import one_thread_blas
from .._utils.progress import Progress
from .._utils.text import brief
from .._version import __version__
from .experiment import Cell, Experiment, Job, Row, Setting, values_of

# How the reason begins if the data set of a task was not found.
NO_DATA = "no data set"


class Record(NamedTuple):
    """A finished task: its rows and its seconds, or the reason why it failed."""

    task: Job
    rows: list[Row]
    seconds: float
    error: str | None = None

    @property
    def has_data(self) -> bool:
        """Whether the data of the task were found."""
        return self.error is None or not self.error.startswith(NO_DATA)


class Results(NamedTuple):
    """The contents of a table on disk: the runs that wrote to it, and the tasks that they finished."""

    runs: list[dict[str, Any]]
    records: list[Record]

    def absent(self) -> set[tuple[Any, ...]]:
        """Return the values of the cells whose data were never found."""
        found = {values_of(record.task.cell) for record in self.records if record.has_data}
        return {values_of(record.task.cell) for record in self.records} - found

    def rows(self) -> Iterator[Row]:
        """Iterate over the rows, each with its cell, method, seed and seconds; failed tasks have no rows."""
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
    """Return the file of the results of an experiment."""
    suffix = f"-{setting.variant}" if len(experiment.variants) > 1 else ""
    return folder / f"{experiment.table or experiment.name}{suffix}.jsonl"


def load(table: Path) -> Results:
    """Read a table of results.

    Parameters
    ----------
    table : Path
        The file. It need not exist, and its last line may be incomplete: a line that was being written when the run
        was interrupted is ignored.

    Returns
    -------
    Results
        If a task was run more than once, its last record is kept.
    """
    runs: list[dict[str, Any]] = []
    records: dict[tuple[Any, ...], Record] = {}
    for number, line in enumerate(_whole_lines(table), 1):
        try:
            entry = json.loads(line)
            if "run" in entry:
                runs += _rows([entry["run"]])
                continue
            task = Job(entry["cell"], entry["method"], entry["seed"])
            records[task.key] = Record(task, _rows(entry["rows"]), float(entry["seconds"]), entry.get("error"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{table}, line {number} is damaged ({type(error).__name__}: {error}). Remove this line, and its task "
                "will be run again."
            ) from error
    return Results(runs, list(records.values()))


def _rows(given: Any) -> list[Row]:
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        raise TypeError("rows must be a list of objects")
    return given


def _whole_lines(table: Path) -> list[bytes]:
    if not table.exists():
        return []
    content = table.read_bytes()
    return content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]


def mend(table: Path) -> None:
    """Remove an incomplete last line, so that the next line starts at the beginning of a line."""
    if not table.exists():
        return
    content = table.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(table, whole)


def append(table: Path, entry: dict[str, Any]) -> None:
    """Append one line and wait until it is on disk."""
    with writing(table), table.open("ab") as file:
        file.write(json.dumps(_finite(entry), ensure_ascii=False, allow_nan=False, default=_plain).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to plain Python."""
    return value.tolist()


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def machine() -> dict[str, Any]:
    """Describe this machine, so that readers can compare times.

    Returns
    -------
    dict
        `version` of this package, `python`, the number of `cores`, and the `memory`.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0.0
    return {
        "version": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GiB",
    }


# ---------------------------------------------------------------- the runner


def do(experiment: Experiment, task: Job, setting: Setting) -> Record:
    """Run and time one task.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    task : Job
        The task.
    setting : Setting
        The variant and the folder of data.

    Returns
    -------
    Record
        With the reason if the method failed or its data set was not found. Other errors are bugs and are raised.
    """
    from ..datasets import DataNotFoundError

    began = time.perf_counter()
    try:
        with one_thread_blas(), warnings.catch_warnings():
            # What methods warn of is a matter of single tables, of which there are many.
            warnings.simplefilter("ignore", UserWarning)
            rows = experiment.run(task, setting)
    except DataNotFoundError:
        # The message names folders of this machine, and tables are published.
        return Record(
            task, [], time.perf_counter() - began, f"{NO_DATA} {brief(task.cell.get('data'))} on this machine"
        )
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
    """Run the tasks that have no result yet and return all results.

    Every result is written to disk immediately, so that a run that is interrupted can be continued. Tasks that failed
    are run again.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    folder : Path
        The folder of the table of results; created if it does not exist.
    repeats : int or None, default=None
        Number of repeats; None for that of the variant.
    seed : int, default=0
        Seed of the first repeat.
    methods, cells : sequence, default=()
        Methods and cells to run; all of them if empty.
    jobs : int, default=1
        Number of processes, -1 for all cores. The results do not depend on it.
    setting : Setting or None, default=None
        The variant and the folder of data; None for the defaults.
    command : str, default=""
        The command to show on the page.
    progress : Progress or None, default=None
        Shows the progress; None to show nothing.

    Returns
    -------
    Results
        Everything in the table, including the results of earlier runs.
    """
    setting = setting or Setting()
    progress = progress or Progress(verbose=False)
    table = table_of(experiment, folder, setting)
    with writing(table):
        folder.mkdir(parents=True, exist_ok=True)
        mend(table)
    # Tasks that failed are run again: a missing package or file may be there now.
    done = {record.task.key for record in load(table).records if record.error is None}
    wanted = experiment.tasks(repeats or experiment.repeats_of(setting.variant), seed, methods, cells)
    tasks = [task for task in wanted if task.key not in done]
    if tasks:
        append(table, {"run": {"command": command, "jobs": jobs, "variant": setting.variant, **machine()}})
        began = time.monotonic()
        # A data set that was not found once is not sought again for the other methods.
        absent: set[tuple[Any, ...]] = set()
        pending = (task for task in tasks if values_of(task.cell) not in absent)
        jobs = jobs if len(tasks) > 1 else 1
        for record in progress.track(_results(experiment, pending, setting, jobs), experiment.name, len(tasks)):
            if not record.has_data:
                absent.add(values_of(record.task.cell))
            error = {} if record.error is None else {"error": record.error}
            append(table, {**record.task._asdict(), "rows": record.rows, "seconds": record.seconds, **error})
        append(table, {"run": {"done": len(tasks), "seconds": time.monotonic() - began}})
    return load(table)


def _results(experiment: Experiment, tasks: Iterable[Job], setting: Setting, jobs: int) -> Iterator[Record]:
    if jobs == 1:
        return (do(experiment, task, setting) for task in tasks)
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    return parallel(joblib.delayed(_by_name)(experiment.name, task, setting) for task in tasks)


def _by_name(name: str, task: Job, setting: Setting) -> Record:
    """Run a task in another process, which gets the experiment by name because functions cannot be sent."""
    from .catalogue import EXPERIMENTS

    return do(EXPERIMENTS[name], task, setting)
