"""Commands that are killed at any moment, or whose disk, folder or input fails: results are whole, old or new."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..case import Case
from ..processes import INTERRUPTED, OK, Ended, check_ended, command_line, ended, real, started
from .commands import csv, put
from .results import REPRODUCE, has_force

Files = dict[str, bytes]
FIT = ["fit", "table.csv", "--drop", "group", "--out", "out", "-q"]
# Two results with different files: the first one has the curve of the gap statistic.
OLD, NEW = [*FIT, "-k", "2"], [*FIT, "-k", "3", "-s", "1"]
COMPARE = ["compare", "table.csv", "-k", "2", "--methods", "kmeans,ward", "--repeats", "1", "--out", "out", "-q"]
REPEAT = [*REPRODUCE, "--out", "out", "-q"]
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Known(NamedTuple):
    """What a command writes if nothing disturbs it, and how long it takes."""

    files: Files
    seconds: float


def content(folder: Path) -> Files:
    """Return the files of a folder by name, without temporary ones."""
    if not folder.is_dir():
        return {}
    found = (each for each in sorted(folder.iterdir()) if each.is_file() and not each.name.startswith("."))
    return {each.name: each.read_bytes() for each in found}


def parts(folder: Path) -> list[str]:
    """Return the names of temporary files and folders that were left behind."""
    return [str(each.relative_to(folder)) for each in folder.rglob("*") if each.name.endswith(".part")]


def forced(arguments: list[str]) -> list[str]:
    """Let `fit` replace an old result, if it has to be asked for that."""
    return [*arguments, "--force"] if arguments[0] == "fit" and has_force() else arguments


@cache
def known(*arguments: str) -> Known:
    """Run a command undisturbed, once in every process."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_text(csv())
        began = time.monotonic()
        done = ended(started(forced(list(arguments)), cwd=folder), seconds=150)
        seconds = time.monotonic() - began
        assert done.code == OK, done.err
        return Known(content(Path(folder, "out")), seconds)


def run(case: Case, number: int) -> None:
    """Run one of the faults."""
    (case.folder / "table.csv").write_text(csv())
    faults, shares = zip(*FAULTS, strict=True)
    (fault,) = case.rng.choices(faults, shares)
    case.script.append(f"# {fault.__doc__}")
    fault(case)


# ---------------------------------------------------------------- signals


def killed(case: Case, arguments: list[str]) -> Ended:
    """Run a command and send it a signal at a random moment, or soon after it has begun to write."""
    sign = case.rng.choice(SIGNALS)
    share, is_late, pause = case.rng.random(), case.one_in(2), case.rng.random() * 0.03
    limit = known(*arguments).seconds * 1.05
    case.script.append(f"# python -m sparsecluster {' '.join(forced(arguments))}  # {sign.name}")
    before = _looks(case.folder)
    process = started(forced(arguments))
    began = time.monotonic()
    while process.poll() is None and time.monotonic() - began < (limit if is_late else share * limit):
        if is_late and _looks(case.folder) != before:
            time.sleep(pause)
            break
        time.sleep(0.001)
    process.send_signal(sign)
    done = ended(process)
    if sign == signal.SIGINT and "Traceback" in done.err and "in wrapped" in done.err:
        check_ended(case, arguments[0], done, arguments)
    if done.code not in (OK, -sign, INTERRUPTED, 1):
        case.report(
            "exit code", f"{sign.name} ends the command with {done.code}.", f"command {arguments[0]}", "", done.err
        )
    return done


def _looks(folder: Path) -> tuple[tuple[str, int], ...]:
    """Return what can be seen of the folders of a case without reading files."""
    try:
        return tuple(sorted((str(each), each.lstat().st_mtime_ns) for each in folder.rglob("*")))
    except OSError:
        return ()


def kill_fit(case: Case) -> None:
    """A fit is killed: its folder holds the old result or the new one, and the next run makes it whole."""
    old, new = known(*OLD).files, known(*NEW).files
    has_old = case.one_in(2)
    if has_old:
        put(case.folder / "out", old)
    killed(case, NEW)
    whole(case, case.folder / "out", [old if has_old else {}, new])
    rerun(case, NEW, new)


def whole(case: Case, out: Path, allowed: list[Files]) -> None:
    """Report a folder that does not hold one of the allowed results as a whole."""
    found = content(out)
    if found in allowed:
        case.counts["worked"] += 1
        return
    every = {name: {files[name] for files in allowed if name in files} for name in found}
    half = sorted(name for name, data in found.items() if data not in every[name])
    if half:
        case.report("half files", f"{half} are neither those of the old result nor of the new one.", "out")
    else:
        case.report("mixed files", f"The folder holds a mixture of two results: {sorted(found)}.", "out")


def rerun(case: Case, arguments: list[str], expected: Files) -> None:
    """Run a command once more, and report a result that is not that of an undisturbed run."""
    real(case, forced(arguments))
    found = content(case.folder / "out")
    if found != expected:
        different = sorted({*found, *expected} - {name for name in found if found[name] == expected.get(name)})
        case.report("unequal", f"After a second run, {different} are not those of an undisturbed run.", "second run")
    left = parts(case.folder)
    if left:
        case.report("half files", f"After a second run, {left} were left.", "temporary files")


def kill_compare(case: Case) -> None:
    """A comparison is killed: no half file is left under a final name, and the next run writes all of them."""
    expected = known(*COMPARE).files
    killed(case, COMPARE)
    for name, data in content(case.folder / "out").items():
        # Times differ between runs, so lines are counted.
        if data.count(b"\n") != expected[name].count(b"\n"):
            case.report("half files", f"{name} does not have all its lines.", f"compare {name}")
    real(case, COMPARE)
    lines = {name: data.count(b"\n") for name, data in content(case.folder / "out").items()}
    if lines != {name: data.count(b"\n") for name, data in expected.items()} or parts(case.folder):
        case.report("half files", f"After a second run there are {lines} and {parts(case.folder)}.", "compare")


def kill_reproduce(case: Case) -> None:
    """An experiment is killed: the next run continues it, and all results are there once."""
    expected = known(*REPEAT).files
    killed(case, REPEAT)
    real(case, REPEAT)
    found = content(case.folder / "out")
    if set(found) != set(expected) or parts(case.folder):
        case.report("half files", f"There are {sorted(found)} and {parts(case.folder)}.", "reproduce")
    tasks = [_tasks(files["table-1a-text.jsonl"]) for files in (found, expected) if "table-1a-text.jsonl" in files]
    if len(tasks) < 2 or tasks[0] != tasks[1]:
        case.report("unequal", f"The tables of results hold {tasks}.", "reproduce")
    else:
        case.counts["worked"] += 1


def _tasks(table: bytes) -> list[str]:
    """Return the tasks of a table of results, without their times."""
    entries = [json.loads(line) for line in table.decode().splitlines()]
    return sorted(
        json.dumps([each["cell"], each["method"], each["seed"], each["rows"]]) for each in entries if "cell" in each
    )


# ---------------------------------------------------------------- disks, folders, input


@cache
def can_mount() -> bool:
    """Whether a process can have file systems of its own."""
    if shutil.which("unshare") is None:
        return False
    test = ["unshare", "-m", "sh", "-c", "d=$(mktemp -d) && mount -t tmpfs none $d && umount $d && rmdir $d"]
    return subprocess.run(test, capture_output=True).returncode == 0


def on_small_disk(case: Case, arguments: list[str], options: str, first: Files) -> Ended:
    """Run a command whose folder `out` is on a disk of its own, and put into `out` what it has left there."""
    put(case.folder / "before", first)
    script = (
        "mkdir -p disk && mount -t tmpfs -o size=4m none disk && cp -r before disk/out && "
        f"mount -o remount,{options} disk;"
        '"$@"; code=$?; cp -r disk/out after 2>/dev/null; find disk -name "*.part" > left; exit $code'
    )
    wanted = ["disk/out" if each == "out" else each for each in arguments]
    process = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", script, "sh", *command_line(wanted)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    case.script.append(f"# python -m sparsecluster {' '.join(wanted)}, where disk is a tmpfs with {options}")
    return ended(process)


def full_disk(case: Case) -> None:
    """The disk is full: the command says so, and the old result is still there."""
    old, new = _in_disk(OLD), _in_disk(NEW)
    if can_mount() and case.one_in(2):
        room = case.rng.randrange(4, 120) * 1024 + sum(map(len, old.values()))
        done = on_small_disk(case, forced(NEW), f"size={room}", old)
        check_ended(case, "fit", done, NEW)
        _old_or_new(case, done, old, new)
        return
    put(case.folder / "out", known(*OLD).files)
    size = case.rng.choice((0, 100, 1000, 10_000, 50_000, 100_000))
    case.script.append(f"# with files of at most {size} bytes")
    done = ended(started(forced(NEW), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))))
    check_ended(case, "fit", done, NEW)
    whole(case, case.folder / "out", [known(*OLD).files, known(*NEW).files])
    if parts(case.folder):
        case.report("half files", f"{parts(case.folder)} were left.", "full disk")


def _in_disk(arguments: list[str]) -> Files:
    """Return the files of a result, without those that contain the command, which names the folder."""
    return {name: data for name, data in known(*arguments).files.items() if name not in ("summary.json", "report.html")}


def _old_or_new(case: Case, done: Ended, old: Files, new: Files) -> None:
    found = content(case.folder / "after")
    if done.code == OK:
        found = {name: data for name, data in found.items() if name not in ("summary.json", "report.html")}
    whole_or_not = found in ([new] if done.code == OK else [old])
    if not whole_or_not:
        case.report("mixed files", f"Exit code {done.code}, and the folder holds {sorted(found)}.", "full disk")
    left = (case.folder / "left").read_text().split() if (case.folder / "left").exists() else []
    if left:
        case.report("half files", f"{left} were left.", "full disk")


def read_only(case: Case) -> None:
    """The folder cannot be written to: the command says so, and the old result is still there."""
    old = _in_disk(OLD)
    if can_mount():
        done = on_small_disk(case, forced(NEW), "ro", old)
        check_ended(case, "fit", done, NEW)
        _old_or_new(case, done, old, _in_disk(NEW))
        return
    put(case.folder / "out", old)
    (case.folder / "out").chmod(0o555)
    (case.folder / "out").parent.chmod(0o555)
    done = real(case, forced(NEW))
    (case.folder / "out").parent.chmod(0o755)
    (case.folder / "out").chmod(0o755)
    if os.geteuid() != 0:
        whole(case, case.folder / "out", [old])


def vanished(case: Case) -> None:
    """The table vanishes, or is cut off, at any moment of a fit."""
    table = case.folder / "table.csv"
    process = started(forced(NEW))
    time.sleep(case.rng.random() * known(*NEW).seconds)
    if case.one_in(2):
        table.unlink()
    else:
        os.truncate(table, case.rng.randrange(200))
    done = ended(process)
    check_ended(case, "fit", done, NEW)
    found = content(case.folder / "out")
    if (done.code == OK) != bool(found):
        case.report("half files", f"Exit code {done.code}, and the folder holds {sorted(found)}.", "vanished input")


def two_at_once(case: Case) -> None:
    """Two runs write into one folder at the same time: one of the two results is there as a whole."""
    case.script.append(f"# python -m sparsecluster {' '.join(forced(OLD))} & ... {' '.join(forced(NEW))}")
    first = started(forced(OLD))
    time.sleep(case.rng.random() * abs(known(*OLD).seconds - known(*NEW).seconds))
    second = started(forced(NEW))
    for process, arguments in ((first, OLD), (second, NEW)):
        check_ended(case, "fit", ended(process), arguments)
    whole(case, case.folder / "out", [known(*OLD).files, known(*NEW).files])
    if parts(case.folder):
        case.report("half files", f"{parts(case.folder)} were left.", "two runs at once")


FAULTS: tuple[tuple[Callable[[Case], None], int], ...] = (
    (kill_fit, 50),
    (kill_compare, 8),
    (kill_reproduce, 12),
    (full_disk, 12),
    (read_only, 4),
    (vanished, 5),
    (two_at_once, 9),
)
