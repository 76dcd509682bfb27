"""Commands of the package, in this process or as real ones, and what is allowed to come out of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from .case import Case, Found
from .rules import odd_characters, why_not_readable

# Lines that may stand beside the error: usage, notes and warnings.
BESIDE = re.compile(r"^(Usage: |Try |Note: |Warning: |\s*$|.*(User|Convergence|Future)Warning|  )")
OK, REFUSED, INTERRUPTED = 0, 2, 130


@dataclass
class Ended:
    """How a command has ended."""

    code: int
    out: str
    err: str


def command_line(arguments: list[str]) -> list[str]:
    """Return the command as a real process runs it."""
    return [sys.executable, "-m", "sparsecluster", *arguments]


def started(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, so that a signal to it reaches nobody else."""
    environment = {**os.environ, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"}
    pipe = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command_line(arguments), env=environment, start_new_session=True, **{**pipe, **options})


def ended(process: subprocess.Popen[bytes], given: bytes | None = None, seconds: float = 50.0) -> Ended:
    """Wait for a command. One that does not end is killed, and raises TimeoutExpired."""
    try:
        out, err = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    return Ended(process.returncode, (out or b"").decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace"))


def invoke(case: Case, arguments: list[str], given: str | bytes | None = None) -> Ended | None:
    """Run a command in this process and check how it ends. None if it could not even be called."""
    case.prepare("from typer.testing import CliRunner", "from sparsecluster.cli import app")
    case.do(f"result = CliRunner().invoke(app, {arguments!r}, input={given!r})")
    result = case.get("result")
    name = arguments[0] if arguments else "no command"
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        case.report_error(error, f"the command `{name}` does not print it in one line")
        raise Found
    done = Ended(result.exit_code, result.stdout, result.stderr)
    check_ended(case, name, done, arguments)
    return done


def real(case: Case, arguments: list[str], given: bytes | None = None, **options: Any) -> Ended:
    """Run a command as a real process and check how it ends."""
    shown = " ".join(map(repr, arguments))
    case.script.append(f"# python -m sparsecluster {shown}")
    if given is not None:
        options["stdin"] = subprocess.PIPE
    try:
        done = ended(started(arguments, **options), given)
    except subprocess.TimeoutExpired:
        case.report("hang", f"The command did not end: {shown}", f"command {arguments[0]}")
        raise Found from None
    check_ended(case, arguments[0] if arguments else "no command", done, arguments)
    return done


def check_ended(case: Case, name: str, done: Ended, arguments: list[str]) -> None:
    """Report a command that has ended in a way that it must not."""
    where, about = f"command {name}", f"{arguments!r}\nstdout: {done.out[-1500:]}\nstderr: {done.err[-3000:]}"
    if "Traceback (most recent call last)" in done.err + done.out:
        last = done.err.strip().splitlines()[-1] if done.err.strip() else ""
        frame = re.findall(r'File "[^"]*?(sparsecluster/[^"]+)", line (\d+)', done.err)
        place = f"{frame[-1][0]}:{frame[-1][1]}" if frame else where
        case.report("traceback", f"The command prints a traceback: {last}", place, last.partition(":")[0], about)
        return
    if "RuntimeWarning" in done.err:
        case.report("RuntimeWarning", "The command prints a RuntimeWarning.", where, "", about)
    if done.code == OK:
        case.counts["worked"] += 1
        strange = odd_characters(done.out if name not in ("predict", "no command") else "", "\n\t")
        if strange:
            case.report("control characters", f"The output contains {strange}.", where, strange, about)
        return
    if done.code != REFUSED:
        case.report("exit code", f"The exit code is {done.code}.", where, str(done.code), about)
        return
    case.counts["refused"] += 1
    lines = done.err.splitlines()
    errors = [line for line in lines if line.startswith("Error: ")]
    others = [line for line in lines if not line.startswith("Error: ") and not BESIDE.match(line)]
    # A command without arguments shows its help.
    if not errors and "Usage: " in done.err + done.out:
        return
    if len(errors) != 1 or others:
        case.report("not one line", f"{len(errors)} errors and {len(others)} other lines.", where, "", about)
        return
    # What click says about options that it does not know is its own affair.
    if "Usage: " in done.err:
        return
    reason = why_not_readable(
        errors[0], {word for each in arguments for word in (each, each.partition("=")[0]) if word}
    )
    if reason:
        key = re.sub(r"\d+", "N", reason)
        case.report("message", f"The message of the error: {reason}.", where, key, about)
