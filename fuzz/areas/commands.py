"""Command lines with right and wrong options, in this process and as real ones with pipes that end early."""

from __future__ import annotations

import os
import subprocess
import threading
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from ..case import Case
from ..make.lines import line
from ..make.names import HOSTILE
from ..processes import check_ended, ended, invoke, real, started


def csv(n: int = 20, word: str = "red", name: str = "x0") -> str:
    """Return a table of three columns of numbers, one of groups and one of words."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 3)) + 6.0 * (np.arange(n) % 2)[:, None]
    head = ["id", name, "x1", "x2", "group", "word"]
    rows = [
        [f"s{i}", *(f"{each:.3f}" for each in row), "ab"[i % 2], word if i % 3 else "blue"]
        for i, row in enumerate(values)
    ]
    return "\n".join(",".join(_quoted(cell) for cell in row) for row in [head, *rows]) + "\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\n\r') else cell


@cache
def fitted() -> dict[str, bytes]:
    """Return the files of a result, made once in every process."""
    import tempfile

    from typer.testing import CliRunner

    from sparsecluster.cli import app

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, out = Path(folder, "table.csv"), Path(folder, "old")
        table.write_text(csv())
        done = CliRunner().invoke(
            app, ["fit", str(table), "-k", "2", "-s", "2", "--drop", "group", "--out", str(out), "-q"]
        )
        assert done.exit_code == 0, done.output
        return {each.name: each.read_bytes() for each in out.iterdir()}


def write_files(case: Case) -> None:
    """Write the tables and the result to which command lines refer."""
    folder = case.folder
    (folder / "table.csv").write_text(csv())
    (folder / "words.csv").write_text(csv(12, "green"))
    (folder / "hostile.csv").write_text(csv(20, case.rng.choice(HOSTILE), case.rng.choice(HOSTILE)), "utf-8")
    (folder / "empty.csv").touch()
    np.save(folder / "matrix.npy", np.random.default_rng(0).normal(size=(15, 4)))
    (folder / "counts.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n4 3 4\n1 1 5\n2 2 6\n3 3 1\n4 1 4\n"
    )
    put(folder / "old", fitted())


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write some files into a folder."""
    folder.mkdir(exist_ok=True, parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def run(case: Case, number: int) -> None:
    """Run a command line."""
    write_files(case)
    if case.one_in(12):
        case.rng.choice((early_end, from_stdin, into_fifo, plain))(case)
        return
    arguments = line(case.rng)
    given = csv() if case.one_in(2) else case.rng.choice(("", "\0\0", "a,b\n1,2\n", "\n\n"))
    invoke(case, arguments, given)
    no_parts(case)


def no_parts(case: Case) -> None:
    """Report temporary files that were left behind."""
    parts = [str(each) for each in case.folder.rglob("*.part")]
    if parts:
        case.report("half files", f"Temporary files were left: {parts}", "commands")


def plain(case: Case) -> None:
    """Run a command line as a real process."""
    real(case, line(case.rng), csv().encode())
    no_parts(case)


def early_end(case: Case) -> None:
    """Close the pipe that reads the output of a command early, as `head` does."""
    arguments = case.rng.choice(
        (["info", "table.csv"], ["predict", "old/model.json", "table.csv"], ["methods"], ["--help"])
    )
    case.script.append(f"# python -m sparsecluster {' '.join(arguments)} | head -c 1")
    process = started(arguments, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(case.rng.choice((0, 1)))
    process.stdout.close()
    process.stdout = None
    done = ended(process)
    # Many programs end with an error or by a signal here, but quietly.
    if "Traceback" in done.err or "Exception ignored" in done.err:
        check_ended(case, arguments[0], done, arguments)
        if "Traceback" not in done.err:
            case.report("closed pipe", done.err[-500:], f"command {arguments[0]}")
    else:
        case.counts["worked"] += 1


def from_stdin(case: Case) -> None:
    """Give a table through standard input."""
    given = case.rng.choice(
        (csv().encode(), b"", b"\0", b"a,b\r\n1,2\r\n3,4\r\n", csv().encode("utf-16"), b"\xff" * 100)
    )
    real(case, [case.rng.choice(("fit", "info")), "-", *([] if case.one_in(2) else ["--id", "id"])], given)


def into_fifo(case: Case) -> None:
    """Write labels, or a report, where a named pipe is."""
    os.mkfifo("pipe")
    arguments = case.rng.choice(
        (
            ["predict", "old/model.json", "table.csv", "--out", "pipe"],
            ["report", "old", "--out", "pipe"],
            ["info", "pipe"],
        )
    )
    # Somebody waits at the other end, or the command would wait for ever.
    other = ["cat", "pipe"] if "--out" in arguments else ["sh", "-c", "cat table.csv > pipe"]
    beside = subprocess.Popen(other, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    killer = threading.Timer(45, beside.kill)
    killer.start()
    try:
        real(case, arguments)
    finally:
        killer.cancel()
        beside.kill()
        beside.wait()
