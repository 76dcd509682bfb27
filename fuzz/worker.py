"""A worker: a process that runs one case after the other, so that a crash or a hang costs one case only."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

GIB = 2**30
# A worker cannot have more address space than this, and a case on a tiny table must not need more memory.
MOST_ADDRESSES, MOST_GROWTH = 8 * GIB, 2 * GIB
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "ARROW_NUM_THREADS")


def work(
    connection: Connection, seed: int | str, root: Path, limit: float | None, prepare: Callable[[], None] | None
) -> None:
    """Run the cases that come through a connection until it is closed."""
    # A handler that does nothing, unlike an ignored signal, is not inherited by the commands that a case starts.
    signal.signal(signal.SIGINT, lambda *_: None)
    limit_memory()
    # What the package and the libraries print is of no interest.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    from .areas import AREAS
    from .case import run_numbered

    warm()
    if prepare is not None:
        prepare()
    journal = root / f"script-{os.getpid()}"
    stacks = (root / f"stacks-{os.getpid()}").open("w")
    faulthandler.enable(stacks)
    connection.send("ready")
    while True:
        try:
            area, number = connection.recv()
        except EOFError:
            return
        journal.unlink(missing_ok=True)
        stacks.seek(0)
        stacks.truncate()
        faulthandler.dump_traceback_later(0.9 * (limit or AREAS[area].limit), file=stacks)
        before = peak()
        outcome = run_numbered(AREAS[area].run, area, number, seed, root, journal)
        faulthandler.cancel_dump_traceback_later()
        grown = peak() - before
        if grown > MOST_GROWTH:
            outcome.findings.append(memory_finding(area, number, grown, _left(journal)))
        connection.send(outcome)


def limit_memory() -> None:
    """Let a case that asks for too much memory fail, instead of the machine."""
    for name, most in ((resource.RLIMIT_AS, MOST_ADDRESSES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(name, (most, resource.getrlimit(name)[1]))


def peak() -> int:
    """Return the largest memory in bytes that this process, or a command that it has run, has used."""
    scale = 1 if sys.platform == "darwin" else 1024
    commands = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return scale * max(_own_peak(), commands)


def _own_peak() -> int:
    # On Linux, `ru_maxrss` begins with the memory of the process that started this one.
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory_finding(area: str, number: int, grown: int, script: str) -> Any:
    """Return the finding of a case that used too much memory."""
    from .findings import Finding

    message = f"The case used {grown / GIB:.1f} GiB of memory."
    last = script.strip().rpartition("\n")[2]
    return Finding("memory", "", f"{area}: {last[:100]}", message, f"{area}:{number}", script)


def warm() -> None:
    """Load the kernels that almost every case needs, so that no case is charged for it."""
    import numpy as np

    from sparsecluster import SASClustering

    X = np.random.default_rng(0).normal(size=(12, 4))
    SASClustering(2, n_permutations=1).fit(X).predict(X)


def dead_outcome(area: str, number: int, kind: str, message: str, root: Path, pid: int, seconds: float) -> Any:
    """Return the outcome of a case that has ended its worker, from what the worker has left behind."""
    from .case import Outcome
    from .findings import Finding

    stack, script = (_left(root / f"{name}-{pid}") for name in ("stacks", "script"))
    where = _place(stack) or area
    # After the stacks of all threads there is a long list of modules.
    details = stack.partition("Extension modules:")[0][:6000]
    finding = Finding(kind, "", where, message, f"{area}:{number}", script, details)
    return Outcome(area, number, [finding], Counter(cases=1), seconds)


def _left(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _place(stack: str) -> str:
    """Return the innermost frame of the package in a stack that faulthandler has written."""
    for line in stack.splitlines():
        if "/sparsecluster/" in line and "File " in line:
            file, _, rest = line.strip().removeprefix('File "').partition('", line ')
            return f"sparsecluster/{file.rpartition('/sparsecluster/')[2]}:{rest}"
    return ""
