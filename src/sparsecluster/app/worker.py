"""A process that is ready to run one command of the package: `python -m sparsecluster.app.worker`.

It runs a small fit first, so that libraries are loaded and kernels compiled, and waits for one line of JSON on standard
input. On standard output it writes lines of JSON: what is being done, and how the command ended. What the command
prints goes to files. The process ends with the command, and as soon as the program that started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from .._utils import progress

OUTPUT, ERRORS = "stdout.txt", "stderr.txt"
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
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, suppress(Exception):
        os.chdir(folder)
        print_to(Path(folder))
        for argv in PRACTICE:
            run(argv, argv)
    os.chdir(home)


def end_with_parent() -> None:
    """End this process and all it has started when standard input is closed, because nobody waits for it any more."""
    with suppress(Exception):
        sys.stdin.read()
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Get ready, wait for a command, run it and end."""
    events = Events()
    print_to_nowhere()
    if "--cold" not in sys.argv[1:]:
        practise()
        print_to_nowhere()
    events.tell("ready")
    line = sys.stdin.readline()
    if not line:
        return
    asked = json.loads(line)
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.chdir(asked["folder"])
    print_to(Path(asked["output"]))
    progress.listen(events.progress)
    code = run(asked["argv"], asked["shown"])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    events.tell("end", code=code)
    os._exit(0)


def print_to_nowhere() -> None:
    """Discard what is printed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


if __name__ == "__main__":
    main()
