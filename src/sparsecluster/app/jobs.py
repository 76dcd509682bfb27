"""Commands that run in processes of their own: how far they are, how they ended, and how they are stopped."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._utils.text import one_line
from .worker import ERRORS, LIGHT, OUTPUT

# Commands that run at the same time; others wait.
MOST_RUNNING = 2
# How long a process may take to end after it was asked to.
PATIENCE_SECONDS = 2.0
# The longest line that a process writes is far shorter.
LONGEST_LINE = 2**20
SHOWN = ("key", "state", "phase", "what", "done", "total", "left", "error")
QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
KILLED = (
    "The computation was stopped from outside, most likely because the memory of this machine was used up. Close other "
    "programs, leave out columns that you do not need, or use a machine with more memory, and try again."
)
CRASHED = (
    "The computation ended without an answer (exit code {code}). Try again, and please report it if it happens again."
)


@dataclass
class Job:
    """One command: what is run, how far it is, and what came of it."""

    argv: list[str]
    shown: list[str]
    folder: Path
    output: Path
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    # The report has an address of its own, from which nothing else can be guessed.
    report_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    state: str = QUEUED
    phase: str = ""
    what: str = ""
    done: int = 0
    total: int = 0
    left: float | None = None
    error: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    process: asyncio.subprocess.Process | None = None
    # The fit of which this one has an alternative as its result, and its number.
    first: Job | None = None
    alternative: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the command has ended in whatever way."""
        return self.state in (DONE, FAILED, CANCELLED)

    @property
    def seconds(self) -> float:
        """How long it has been running, or did."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    def progress(self) -> dict[str, Any]:
        """Return how far it is, for the page."""
        return {
            **{name: getattr(self, name) for name in SHOWN},
            "seconds": round(self.seconds, 1),
        }

    def end(self, state: str, error: str = "") -> None:
        """Say how it ended, once."""
        if not self.is_over:
            self.state, self.error, self.ended = state, error, time.monotonic()


def error_of(folder: Path) -> str:
    """Return the error that a command printed, without the word before it."""
    lines = (folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    told = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return one_line((told or lines or ["The command failed without a message. Please report this."])[-1])


class Pool:
    """Runs commands in processes, one of which is always started in advance.

    Parameters
    ----------
    folder : Path
        Folder for temporary files, and for what interrupted fits leave behind, by which they continue if they are
        started again.
    """

    def __init__(self, folder: Path) -> None:
        places = dict.fromkeys(("SPARSECLUSTER_CACHE", "TMPDIR", "TEMP", "TMP"), str(folder))
        self._environment = {**os.environ, "PYTHONUTF8": "1", **places}
        self._spare: asyncio.subprocess.Process | None = None
        self._slots = asyncio.Semaphore(MOST_RUNNING)
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: set[asyncio.subprocess.Process] = set()
        self._refilling = asyncio.Lock()
        self._is_open = True

    async def refill(self) -> None:
        """Start a process in advance if there is none."""
        async with self._refilling:
            if self._is_open and (self._spare is None or self._spare.returncode is not None):
                self._spare = await self._started()

    async def _started(self, *options: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sparsecluster.app.worker", *options),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environment,
            limit=LONGEST_LINE,
            # In a group of its own, which is ended as a whole, and not by Ctrl-C in the terminal.
            start_new_session=True,
        )

    def start(self, job: Job, finished: Callable[[Job], None]) -> None:
        """Run a command as soon as its turn comes; `finished` is called when it has ended well."""
        task = asyncio.create_task(self._turn(job, finished))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _turn(self, job: Job, finished: Callable[[Job], None]) -> None:
        async with self._slots:
            if job.is_over:
                return
            job.state, job.phase, job.began = RUNNING, "getting ready", time.monotonic()
            process = None
            try:
                process = await self._taken()
                job.process = process
                self._running.add(process)
                code = await self._watched(job, process)
                if code is None:
                    self._lost(job, await process.wait())
                elif code:
                    job.end(FAILED, error_of(job.output))
                elif not job.is_over:
                    job.result = json.loads((job.output / OUTPUT).read_text(encoding="utf-8").splitlines()[-1])
                    finished(job)
                    job.end(DONE)
            except (OSError, ValueError, IndexError) as error:
                job.end(FAILED, one_line(f"The answer of the command could not be read: {error}. Try again."))
            finally:
                job.process = None
                if process is not None:
                    await self._given_back(process, job)
                self._later(self.refill())

    async def _given_back(self, process: asyncio.subprocess.Process, job: Job) -> None:
        """Keep a process for the next command if it is as good as new, else end it."""
        is_good = job.argv[0] == LIGHT and job.state in (DONE, FAILED) and process.returncode is None
        if is_good and self._spare is None and self._is_open:
            self._running.discard(process)
            self._spare = process
        else:
            await self._ended(process)

    async def _taken(self) -> asyncio.subprocess.Process:
        async with self._refilling:
            spare, self._spare = self._spare, None
        if spare is not None and spare.returncode is None:
            return spare
        return await self._started("--cold")

    async def _watched(self, job: Job, process: asyncio.subprocess.Process) -> int | None:
        """Give a process its command and follow it; returns the exit code of the command, None if there is none."""
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"argv": job.argv, "shown": job.shown, "folder": str(job.folder), "output": str(job.output)}
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            await process.stdin.drain()
        async for line in process.stdout:
            told = json.loads(line)
            if told["event"] == "ready":
                job.phase = "reading the table"
            elif told["event"] == "progress":
                job.done, job.total, job.left = told["done"], told["total"], told["left"]
                # Within a stage whose steps are not counted, there are others whose steps are.
                job.phase, job.what = (job.phase, told["what"]) if job.total else (told["what"], "")
            else:
                return int(told["code"])
        return None

    @staticmethod
    def _lost(job: Job, code: int) -> None:
        is_killed = code in (-signal.SIGKILL, 128 + signal.SIGKILL) if os.name == "posix" else False
        job.end(FAILED, KILLED if is_killed else CRASHED.format(code=code))

    async def cancel(self, job: Job) -> None:
        """Stop a command, whether it runs or waits."""
        job.end(CANCELLED)
        if job.process is not None:
            await self._ended(job.process)

    async def _ended(self, process: asyncio.subprocess.Process) -> None:
        """End a process and all that it has started: politely first."""
        self._running.discard(process)
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
            except TimeoutError:
                _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
                await process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _later(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all processes."""
        self._is_open = False
        processes = [*self._running, *([self._spare] if self._spare else [])]
        await asyncio.gather(*map(self._ended, processes))
        for task in self._tasks:
            task.cancel()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
