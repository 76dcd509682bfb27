"""The tables that were given to the app, each in a folder of its own, and what was done with them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import zipfile
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .._utils.parts import part_of
from .._utils.text import visible
from .choices import METRICS, Choices, Reading, alternative_arguments, fit_arguments, info_arguments
from .jobs import DONE, Job, Pool
from .names import EXCEL, LONGEST_NAME, as_argument, command_of, ending, quoted, result_name, safe_name

REPORT = "report.html"
# Examples of values are truncated.
MOST_LETTERS = 200


class TooLargeError(ValueError):
    """A file is larger than the limit."""


@dataclass
class Table:
    """A file that was given to the app."""

    name: str
    file: Path
    reading: Reading = field(default_factory=Reading)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    info: Job | None = None
    fits: list[Job] = field(default_factory=list)
    fits_made: int = 0

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What `info` says about the columns of the table."""
        return self.info.result.get("columns", []) if self.info else []

    def usual(self) -> dict[str, str]:
        """Return the use of each column if nothing is said about it."""
        return {column["name"]: column.get("use", "feature") for column in self.columns}

    def described(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        assert self.info is not None
        return {
            "key": self.key,
            "name": visible(self.name),
            "bytes": self.file.stat().st_size,
            "is_excel": ending(self.file.name) in EXCEL,
            "id": self.reading.id_column,
            "transpose": self.reading.transpose,
            "sheet": self.reading.sheet,
            "info": self.info.progress(),
            "samples": self.info.result.get("samples"),
            "n_columns": len(self.columns),
            "uses": _counted(column.get("use", "feature") for column in self.columns),
            "notes": [on_page(note) for note in self.info.result.get("notes", [])],
            "fits": [fitted(job) for job in self.fits],
        }

    def found(self, search: str) -> list[dict[str, Any]]:
        """Return the columns whose names contain a text, ignoring case."""
        wanted = search.casefold()
        return [column for column in self.columns if wanted in column["name"].casefold()]

    def page(self, first: int, count: int, search: str) -> dict[str, Any]:
        """Return some of the columns that a search finds, for the page."""
        found = self.found(search)
        return {"total": len(found), "first": first, "columns": [_shown(each) for each in found[first : first + count]]}


def _counted(uses: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for use in uses:
        counts[use] = counts.get(use, 0) + 1
    return counts


def _shown(column: dict[str, Any]) -> dict[str, Any]:
    """Return a column for the page: its exact name, and everything else as text that can be shown."""
    texts = {key: on_page(value) for key, value in column.items() if isinstance(value, str)}
    example = visible(column.get("example", ""))[:MOST_LETTERS]
    return {**column, **texts, "example": example, "name": column["name"], "shown": visible(column["name"])}


# What is an option on the command line is a field on the page, if it has one.
OPTIONS: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"--keep .+? to ": "choose 'Use' to ",
    r"--metric .+?=(\w+)'?": lambda found: f"choose {METRICS.get(found[2], found[2])!r}",
    r"--transpose\b": "select 'Samples are in columns'",
    r"--dates ": "use the command line with --dates ",
}


def on_page(text: str) -> str:
    """Return what the command line says in the words of the page.

    >>> on_page("Use --keep 'a b' to use it. If so, use --metric zip=hamming.")
    "Choose 'Use' to use it. If so, choose 'same level or not'."
    """
    for option, words in OPTIONS.items():
        text = re.sub(rf"\b(U|u)se {option}", partial(_in_case, words=words), text)
    return visible(text)


def _in_case(found: re.Match[str], words: str | Callable[[re.Match[str]], str]) -> str:
    """Return words in the place of others, with a capital letter if those had one."""
    made = words if isinstance(words, str) else words(found)
    return made[0].upper() + made[1:] if found[1] == "U" else made


def fitted(job: Job) -> dict[str, Any]:
    """Return what the page shows of a fit."""
    # The options that were chosen, without the file before and the folder behind them.
    options = job.shown[2 : job.shown.index("--out")]
    told = job.progress() | {
        "command": command_of(job.shown),
        "options": " ".join(map(quoted, options)),
        "first": job.first.key if job.first else job.key,
        "alternative": job.alternative,
    }
    if job.state == DONE:
        told |= {
            "n_clusters": len(job.result["sizes"]),
            "n_chosen": job.result["n_chosen"],
            "n_features": job.result["n_features"],
            "n_alternatives": job.result["n_alternatives"],
            "sizes": job.result["sizes"],
            "sentences": [visible(each) for each in (job.result["assessment"] or {}).get("sentences", [])],
            "verdict": (job.result["assessment"] or {}).get("verdict", ""),
            "warnings": [visible(each) for each in job.result["warnings"]],
            "report": job.report_key,
            "folder": results_of(job).name,
            "files": [{"name": each.name, "bytes": each.stat().st_size} for each in files_of(job)],
        }
    return told


def results_of(job: Job) -> Path:
    """Return the folder with the results of a fit."""
    return job.folder / job.argv[job.argv.index("--out") + 1]


def files_of(job: Job) -> list[Path]:
    """Return the files of a result, the report first."""
    names = sorted(os.listdir(results_of(job)), key=lambda name: (name != REPORT, name))
    return [results_of(job) / name for name in names if (results_of(job) / name).is_file()]


def zipped(job: Job) -> Path:
    """Return a ZIP file of all results of a fit, which is made the first time."""
    results = results_of(job)
    target = job.output / f"{results.name}.zip"
    if not target.exists():
        part = part_of(target)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(results.rglob("*")):
                if file.is_file():
                    archive.write(file, Path(results.name) / file.relative_to(results))
        os.replace(part, target)
    return target


class Tables:
    """All tables of this run, in a private folder."""

    def __init__(self, folder: Path, pool: Pool, most_bytes: int) -> None:
        self._folder, self._pool, self.most_bytes = folder, pool, most_bytes
        self._tables: dict[str, Table] = {}
        self._jobs: dict[str, Job] = {}

    def table(self, key: str) -> Table:
        """Return a table by its key."""
        return self._tables[key]

    def job(self, key: str) -> Job:
        """Return a fit by its key."""
        return self._jobs[key]

    def by_report(self, key: str) -> Job:
        """Return the fit to which a report belongs."""
        return next(job for job in self._jobs.values() if secrets.compare_digest(job.report_key, key))

    async def add(self, name: str, content: AsyncIterable[bytes]) -> Table:
        """Store a file while it arrives, and have its columns described. Of a file that is refused, nothing stays."""
        name = name[:LONGEST_NAME]
        folder = self._folder / f"table-{secrets.token_hex(8)}"
        folder.mkdir(mode=0o700)
        file = folder / safe_name(name)
        size = 0
        try:
            with open(file, "xb") as stream:
                async for chunk in content:
                    size += len(chunk)
                    if size > self.most_bytes:
                        raise TooLargeError
                    stream.write(chunk)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        table = Table(name, file)
        self._tables[table.key] = table
        await self.describe(table, Reading())
        return table

    async def describe(self, table: Table, reading: Reading) -> None:
        """Have the columns of a table described."""
        if table.info is not None:
            await self._pool.cancel(table.info)
        table.reading = reading
        argv = info_arguments(table.file.name, reading)
        shown = info_arguments(as_argument(table.name), reading)
        folder = table.file.parent
        output = folder / f"info-{secrets.token_hex(4)}"
        output.mkdir()
        table.info = Job(argv, shown, folder, output)
        self._pool.start(table.info, lambda job: shutil.rmtree(job.output, ignore_errors=True))

    def fit(self, table: Table, choices: Choices) -> Job:
        """Start a fit."""
        usual, out = table.usual(), result_name(table.file.name)
        argv = fit_arguments(table.file.name, out, table.reading, choices, usual)
        shown = fit_arguments(as_argument(table.name), out, table.reading, choices, usual)
        return self._started(table, [*argv, "--json"], shown)

    def look_at(self, job: Job, number: int) -> Job:
        """Start the fit that has an alternative of a result as its own result: by the same command."""
        table = next(each for each in self._tables.values() if job in each.fits)
        found = self._started(table, alternative_arguments(job.argv, number), alternative_arguments(job.shown, number))
        found.first, found.alternative = job, number
        return found

    def _started(self, table: Table, argv: list[str], shown: list[str]) -> Job:
        """Start a fit in a folder of its own, in which the file has its name."""
        table.fits_made += 1
        output = table.file.parent / f"fit-{table.fits_made}"
        folder = output / "run"
        folder.mkdir(parents=True)
        _link(table.file, folder / table.file.name)
        job = Job(argv, shown, folder, output)
        table.fits.append(job)
        self._jobs[job.key] = job
        self._pool.start(job, lambda job: None)
        return job

    async def cancel(self, job: Job) -> None:
        """Stop a fit, and remove what it has written so far."""
        if not job.is_over:
            await self._pool.cancel(job)
            shutil.rmtree(job.output, ignore_errors=True)

    async def forget(self, table: Table) -> None:
        """Remove a table and all its results."""
        self._tables.pop(table.key, None)
        for job in table.fits:
            self._jobs.pop(job.key, None)
        for job in (*table.fits, *([table.info] if table.info else [])):
            if not job.is_over:
                await self._pool.cancel(job)
        shutil.rmtree(table.file.parent, ignore_errors=True)


def _link(file: Path, place: Path) -> None:
    """Give a file a second name, without a copy where this is possible."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)
