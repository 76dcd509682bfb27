"""The page of a campaign in the documentation."""

from __future__ import annotations

import shlex
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from benchmarks.report import filled
from sparsecluster._utils.files import write
from sparsecluster._utils.markdown import escaped, markdown_table
from sparsecluster.experiments.runner import machine

from .areas import AREAS
from .campaign import Report
from .findings import grouped

PAGE = Path(__file__).parent.parent / "docs" / "results" / "fuzz.md"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "pyarrow", "anndata")
ABOUT = """\
Every case makes an input from a seed, hands it to the package, and looks for what must never happen: crashes, hangs of
more than a minute, more than 2 GiB of memory, errors that are no clean refusal, results that are not finite, warnings
of NumPy, changed input, another result of the same call, and results of which only some files are written. "worked" are
cases in which at least one fit, file, model or command was accepted; "refused" counts the clean refusals, of which one
case can have several.
"""


def rows_of(report: Report) -> list[list[str]]:
    """Return the numbers of each area, and of all."""
    found = Counter(each.case.partition(":")[0] for each in report.findings)
    rows = [
        [
            area,
            f"{counts['cases']:,}",
            f"{counts['worked']:,}",
            f"{counts['refused']:,}",
            f"{counts['skipped']:,}",
            f"{found[area]:,}",
            f"{report.seconds[area]:.0f}",
            f"{report.longest.get(area, 0.0):.1f}",
        ]
        for area, counts in ((area, report.counts[area]) for area in AREAS if area in report.counts)
    ]
    every = sum(report.counts.values(), Counter())
    total = [f"{every[key]:,}" for key in ("cases", "worked", "refused", "skipped")]
    last = f"{max(report.longest.values(), default=0.0):.1f}"
    return [*rows, ["all", *total, f"{len(report.findings):,}", f"{sum(report.seconds.values()):.0f}", last]]


HEADER = ["area", "cases", "worked", "refused", "not made", "findings", "seconds", "longest, s"]


def table_of(report: Report) -> str:
    """Return the numbers of each area as a table."""
    return markdown_table(HEADER, rows_of(report))


def page_of(report: Report, arguments: list[str]) -> str:
    """Return the whole page."""
    here = machine()
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    command = shlex.join(["python", "-m", "fuzz", *arguments])
    groups = grouped(report.findings)
    kinds = "\n".join(f"- {AREAS[area].about[0].upper()}{AREAS[area].about[1:]}: `{area}`." for area in AREAS)
    found = "\n".join(f"- {escaped(group.title)}: `{group.first.case}`." for group in groups)
    return filled(
        f"# Generated cases\n\n"
        f"Made by `{command}` in {report.elapsed / 60:.0f} minutes with {report.jobs} processes on {here['cores']} "
        f"cores, {here['memory']}, Python {here['python']}, sparsecluster {here['version']}, {libraries}. "
        f"The seed was {report.seed}.\n\n{ABOUT}\n{table_of(report)}\n\n## Findings: {len(groups)}\n\n"
        + (found or "None.")
        + f"\n\n## Areas\n\n{kinds}\n\nA single case is repeated by `python -m fuzz --repeat api:17 --seed "
        f"{report.seed}`.\n"
    )


def write_page(report: Report, arguments: list[str]) -> None:
    """Write docs/results/fuzz.md."""
    write(PAGE, page_of(report, arguments))
