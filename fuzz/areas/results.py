"""Damaged summaries and tables of results, and folders for results that hold something else."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path

from ..case import Case
from ..checks import check_page
from ..make.damage import damaged, damaged_json
from ..processes import invoke
from .commands import csv, fitted, put

REPRODUCE = ["reproduce", "table-1a", "--cells", "mu=0.6,p=100", "--methods", "limit", "--repeats", "1", "--jobs", "1"]
FIT = ["fit", "table.csv", "-k", "2", "-s", "2", "--out", "out", "-q"]


def run(case: Case, number: int) -> None:
    """Run one of the three attacks."""
    (attack,) = case.rng.choices((summary, folder, jsonl), (12, 5, 2))
    attack(case)


def summary(case: Case) -> None:
    """Write the report of a damaged summary."""
    put(case.folder / "old", fitted())
    text = fitted()["summary.json"].decode()
    (case.folder / "old" / "summary.json").write_bytes(damaged_json(case.rng, text))
    done = invoke(case, ["report", "old"])
    if done is not None and done.code == 0:
        page = (case.folder / "old" / "report.html").read_text(encoding="utf-8", errors="replace")
        check_page(case, page, "report command", is_damaged=True)


def folder(case: Case) -> None:
    """Write a result into a folder that is not empty, not a folder, or not writable."""
    into(case, case.rng.choice(list(FOLDERS)))


def into(case: Case, before: str) -> None:
    """Write a result where there is something else before."""
    out = case.folder / "out"
    (case.folder / "table.csv").write_text(csv())
    case.script.append(f"# --out is {before}")
    FOLDERS[before](out)
    kept = out / "mine.txt"
    case.words.add("out")
    done = invoke(case, FIT + (["--force"] if case.one_in(2) and has_force() else []))
    if before == "a folder with other files" and (not kept.is_file() or kept.read_text() != "mine"):
        case.report("lost files", "A file of the user in the folder of the results is gone.", "fit --out")
    if before == "a link to a file" and (case.folder / "target").read_text() != "mine":
        case.report("lost files", "A file to which a link leads was overwritten.", "fit --out")
    if done is not None and done.code == 0:
        complete(case, out)


def complete(case: Case, out: Path) -> None:
    """Report a result that is not whole although the command says that it was written."""
    missing = [
        name for name in ("labels.csv", "features.csv", "summary.json", "report.html") if not (out / name).is_file()
    ]
    if missing:
        case.report("half files", f"The command succeeded, but {missing} are not there.", "fit --out")
    parts = [each.name for each in out.parent.rglob("*") if each.name.endswith(".part")]
    if parts:
        case.report("half files", f"Temporary files were left: {parts}", "fit --out")


@cache
def has_force() -> bool:
    """Whether `fit` has an option to replace a result."""
    import inspect

    from sparsecluster.cli.fit import fit

    return "force" in inspect.signature(fit).parameters


def _others(out: Path) -> None:
    out.mkdir()
    (out / "mine.txt").write_text("mine")


def _fifo(out: Path) -> None:
    out.mkdir()
    os.mkfifo(out / "labels.csv")


def _folder_as_file(out: Path) -> None:
    (out / "labels.csv").mkdir(parents=True)
    (out / "labels.csv" / "x").touch()


def _link_to_file(out: Path) -> None:
    out.mkdir()
    (out.parent / "target").write_text("mine")
    (out / "labels.csv").symlink_to(out.parent / "target")


def _read_only(out: Path) -> None:
    out.mkdir()
    out.chmod(0o555)


FOLDERS = {
    "nothing": lambda out: None,
    "an old result": lambda out: put(out, fitted()),
    "a damaged result": lambda out: put(out, {"summary.json": b"{", "labels.csv": b"\0"}),
    "a folder with other files": _others,
    "a file": lambda out: out.write_text("mine"),
    "a link to nowhere": lambda out: out.symlink_to("nowhere"),
    "a link to itself": lambda out: out.symlink_to("out"),
    "a link to a folder": lambda out: ((out.parent / "there").mkdir(), out.symlink_to("there")),
    "a link to a file": _link_to_file,
    "a FIFO": lambda out: os.mkfifo(out),
    "a folder with a FIFO": _fifo,
    "a folder with a folder in the place of a file": _folder_as_file,
    "read-only": _read_only,
}


@cache
def table() -> bytes:
    """Return the table of a short experiment, made once in every process."""
    import tempfile

    from typer.testing import CliRunner

    from sparsecluster.cli import app

    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(app, [*REPRODUCE, "--out", place])
        assert done.exit_code == 0, done.output
        (file,) = Path(place).glob("*.jsonl")
        return file.read_bytes()


def jsonl(case: Case) -> None:
    """Continue an experiment whose table of results is damaged."""
    out = case.folder / "out"
    out.mkdir()
    content = table()
    if case.one_in(2):
        lines = content.splitlines()
        place = case.rng.randrange(len(lines))
        lines[place] = damaged_json(case.rng, lines[place].decode())
        content = b"\n".join(lines) + b"\n"
    else:
        content = damaged(case.rng, content)
    (out / "table-1a-text.jsonl").write_bytes(content)
    invoke(case, [*REPRODUCE, "--out", "out"])
