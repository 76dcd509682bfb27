"""Findings: what they say, how equal ones are grouped, and how they are shown and saved."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

OUT = Path(__file__).parent / "out"
# Files of a case that are kept with its finding, if they are not larger than this in all.
MOST_KEPT = 2**20


@dataclass(frozen=True)
class Finding:
    """Something that must never happen, and how to repeat it.

    Attributes
    ----------
    kind : str
        crash, hang, memory, traceback, non-finite, changed input, RuntimeWarning, unequal, mixed files, ...
    what, where : str
        The type of the exception or the name of the result, and the place. With `kind`, they say which findings are
        equal.
    message : str
        What has happened.
    case : str
        Area and number of the case.
    script : str
        Source that repeats the steps of the case.
    details : str
        The traceback, or the output of the command.
    files : tuple of (str, bytes)
        Small files of the case.
    """

    kind: str
    what: str
    where: str
    message: str
    case: str
    script: str = ""
    details: str = ""
    files: tuple[tuple[str, bytes], ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What equal findings have in common."""
        return self.kind, self.what, self.where


@dataclass
class Group:
    """Equal findings: the one with the shortest script, and all cases."""

    first: Finding
    cases: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """One line for a list."""
        first = self.first
        times = f" ({len(self.cases)} times)" if len(self.cases) > 1 else ""
        return f"{first.kind}{f' {first.what}' if first.what else ''} at {first.where}{times}"

    def text(self, seed: int | str) -> str:
        """Everything about the finding, as a Python file."""
        first = self.first
        about = [self.title, "", *first.message.splitlines()]
        about += ["", f"Cases: {', '.join(self.cases[:20])}{' ...' if len(self.cases) > 20 else ''}"]
        about += [f"Repeat: python -m fuzz --repeat {first.case} --seed {seed}", "", *first.details.splitlines()]
        comments = "\n".join(f"# {_plain(line)}".rstrip() for line in about)
        return f"{comments}\n\n{first.script or '# This case is made of files and processes: see Repeat above.'}"


def _plain(line: str) -> str:
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Group equal findings, the most frequent first."""
    groups: dict[tuple[str, str, str], Group] = {}
    for each in findings:
        group = groups.setdefault(each.key, Group(each))
        if each.case not in group.cases:
            group.cases.append(each.case)
        if len(each.script) < len(group.first.script):
            group.first = each
    return sorted(groups.values(), key=lambda group: (group.first.kind, -len(group.cases), group.title))


def saved_files(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Return the small plain files of a case."""
    try:
        files = [each for each in sorted(folder.rglob("*")) if each.is_file() and not each.is_symlink()]
        if sum(each.stat().st_size for each in files) > MOST_KEPT:
            return ()
        return tuple((str(each.relative_to(folder)), each.read_bytes()) for each in files)
    except OSError:
        return ()


def save(groups: list[Group], seed: int | str, out: Path = OUT) -> list[Path]:
    """Write every group as a script, with the files of its case beside it, and remove those of earlier campaigns."""
    shutil.rmtree(out, ignore_errors=True)
    saved = []
    for number, group in enumerate(groups, 1):
        slug = re.sub(r"[^a-z0-9]+", "-", f"{group.first.kind} {group.first.what} {group.first.case}".lower())
        file = out / f"{number:03d}-{slug.strip('-')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(group.text(seed), encoding="utf-8")
        saved.append(file)
        for name, content in group.first.files:
            beside = out / file.stem / name
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
    return saved
