"""A process that is ready to run commands of the package: `python -m sparsecluster.app.worker`.

It runs a small fit first, so that libraries are loaded and kernels compiled, and waits for lines of JSON on standard
input, one for each command. On standard output it writes lines of JSON: what is being done, and how the command ended.
What the command prints goes to files. The process ends after a fit, so that each one begins with the same memory, and
as soon as the program that started it is gone.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from .._utils import progress

OUTPUT, ERRORS = "stdout.txt", "stderr.txt"
# After this command, the process is as good as new.
LIGHT = "info"
HOME = Path.cwd()
# A small table with groups, fitted as the page does by default, needs nearly all that a fit needs.
PRACTICE: tuple[tuple[str, ...], ...] = (
    ("simulate", "mixed", "--features", "12", "--out", "practice.csv"),
    ("info", "practice.csv", "--json"),
    ("fit", "practice.csv", "-k", "2-3", "--drop", "group", "--out", "practice", "--jobs", "-1", "--json"),
)


class Events:
    """Writes lines of JSON where standard output was when the process began."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)

    def tell(self, event: str, **values: Any) -> None:
        """Write one line."""
        with suppress(OSError):
            print(json.dumps({"event": event, **values}), file=self._stream, flush=True)

    def progress(self, what: str, done: int, total: int, left: float | None) -> None:
        """Pass on progress."""
        self.tell("progress", what=what, done=done, total=total, left=left)


def run(argv: Sequence[str], shown: Sequence[str]) -> int:
    """Run a command as the command line does, and return its exit code. Results name the command `shown`."""
    # The command line starts this room, so it cannot be imported by it; here it is a program that is run.
    command_line = import_module("sparsecluster.cli")
    sys.argv = ["sparsecluster", *shown]
    try:
        command_line.app(args=list(argv), prog_name="sparsecluster")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def print_to(folder: Path) -> None:
    """Let what is printed go to files in a folder."""
    for number, name in ((1, OUTPUT), (2, ERRORS)):
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)


def practise() -> None:
    """Fit a small table, so that the next one is fitted without delay. Whatever is wrong will be told by that one."""
    with tempfile.TemporaryDirectory() as folder, suppress(Exception):
        os.chdir(folder)
        print_to(Path(folder))
        for argv in PRACTICE:
            run(argv, argv)
        os.chdir(HOME)
        print_to_nowhere()


def lines_from(stream: IO[str]) -> Iterator[str]:
    """Yield the lines of a stream as they come. When it ends, nobody waits for this process any more, and it ends."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        with suppress(Exception):
            for line in stream:
                lines.put(line)
        # What it has started goes with it, if these processes are a group of their own.
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield lines.get()


def main() -> None:
    """Get ready, wait for commands, and run them until one was a fit."""
    events = Events()
    lines = lines_from(sys.stdin)
    print_to_nowhere()
    if "--cold" not in sys.argv[1:]:
        practise()
    progress.listen(events.progress)
    for line in lines:
        asked = json.loads(line)
        events.tell("ready")
        os.chdir(asked["folder"])
        print_to(Path(asked["output"]))
        code = run(asked["argv"], asked["shown"])
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        print_to_nowhere()
        os.chdir(HOME)
        events.tell("end", code=code)
        if asked["argv"][0] != LIGHT:
            os._exit(0)


def print_to_nowhere() -> None:
    """Discard what is printed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


if __name__ == "__main__":
    main()
