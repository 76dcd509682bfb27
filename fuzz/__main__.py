"""Run generated cases against the package, and print what must never happen. Exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import faulthandler
import sys

from .areas import AREAS
from .campaign import Plan, Report, Screen, run_campaign
from .findings import OUT, grouped, save
from .page import table_of, write_page
from .processes import INTERRUPTED
from .worker import limit_memory


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=4.0, help="for generated cases, after the corpus (default: 4)")
    length.add_argument("--cases", type=int, help="number of generated cases, after the corpus, instead of a time")
    parser.add_argument("--seed", default="0", help="seed of all cases (default: 0)")
    parser.add_argument("--only", choices=AREAS, action="append", metavar="AREA", help=f"one of {', '.join(AREAS)}")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default: 2)")
    parser.add_argument("--repeat", metavar="AREA:NUMBER", help="run a single case in this process, with its output")
    parser.add_argument("--page", action="store_true", help="write docs/results/fuzz.md")
    return parser


def main() -> int:
    """Run the campaign that the command line asks for, and return the exit code."""
    parser = options()
    arguments = parser.parse_args()
    if arguments.repeat:
        area, _, number = arguments.repeat.partition(":")
        if area not in AREAS or not number.isdigit():
            parser.error(f"--repeat must be an area and a number, such as api:17; got {arguments.repeat!r}")
        return repeat(area, int(number), arguments.seed)
    areas = arguments.only or list(AREAS)
    screen = Screen()
    report = run_campaign(
        Plan(areas, arguments.cases, arguments.minutes), seed=arguments.seed, jobs=arguments.jobs, show=screen
    )
    screen.clear()
    tell(report)
    if arguments.page:
        write_page(report, sys.argv[1:])
    return INTERRUPTED if report.interrupted else 1 if report.findings else 0


def tell(report: Report) -> None:
    """Print what was done and found, and save the findings."""
    if report.interrupted:
        print("Interrupted. Found so far:\n")
    print(table_of(report))
    groups = grouped(report.findings)
    files = save(groups, report.seed)
    for group, file in zip(groups, files, strict=True):
        print(f"\n{'=' * 100}\n{file}\n\n{group.text(report.seed)}")
    print(f"\n{report.n_cases} cases in {report.elapsed:.0f} s; findings: {len(groups)}", end="")
    print(f" (saved in {OUT})" if groups else "")
    for group in groups:
        print(f"  {group.title}")


def repeat(area: str, number: int, seed: str) -> int:
    """Run one case here, and print its script and its findings."""
    from .case import run_numbered

    outcome = run_numbered(AREAS[area].run, area, number, seed)
    for group in grouped(outcome.findings):
        print(group.text(seed))
    print(f"{area}:{number}: {len(outcome.findings)} findings in {outcome.seconds:.1f} s; {dict(outcome.counts)}")
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    limit_memory()
    faulthandler.enable()
    sys.exit(main())
