"""Write docs/results/index.md, a list of all pages of results, or with --check verify that it is up to date."""

from __future__ import annotations

from pathlib import Path

from pages import write_or_check

FOLDER = Path(__file__).parent.parent / "docs" / "results"
PAGE = FOLDER / "index.md"
# What a page shows, in the order of the list; other pages come last, with their titles only.
ABOUT = {
    "accuracy.md": "the Rand index on the designs of the paper's Tables 1, 2 and 3, beside the limit and the paper",
    "methods.md": "all methods on six designs of the paper, with the time that each takes",
    "hamming.md": "zeros and ones, the design of Table 4",
    "mixed.md": "numbers and categories in one table, compared with K-prototypes and K-means on one-hot columns",
    "missing.md": "missing values used as they are, compared with filling them in",
    "clusters.md": "how often each criterion finds the true number of clusters",
    "clusters_real.md": "the default criterion for the number of clusters on real tables that played no part in it",
    "evidence.md": "how often the tests find groups where there are none and where there are some, and honest lists",
    "expression.md": "the preset for gene expression and its core genes, compared with plain K-means",
    "cells.md": "simulated counts of single cells whose totals differ, compared with K-means on all genes and on PCA",
    "outliers.md": "samples that belong nowhere and single wild values, with and without trimming",
    "choices.md": "how every parameter of the search and of the gap statistic changes the result",
    "speed.md": "compared with plain versions of the methods and the R programs in one run, on one thread and on two",
    "profile.md": "where the time of one fit goes, by kernel and by instruction",
    "mixtures.md": "the time that penalized mixtures take, compared with a plain version",
    "growth.md": "time and memory by number of samples and features",
    "kinds.md": "the time that every kind of feature takes",
    "reading.md": "reading a mixed table, importing the package and showing the help",
    "cold.md": "the import, the first fit ever, and the first fit in a new process",
    "files.md": "time and memory of commands on files of every format",
    "scale.md": "up to 20,000,000 rows in blocks, on threads and on workers",
    "backed.md": "single cells in a file that is not loaded",
    "fuzz.md": "generated cases that look for crashes, hangs, unclean errors and half results",
    "picture.md": "the picture in the README",
}
# What the end of a name says about a page of the paper.
VARIANTS = {
    "-code.md": ", as in the authors' code",
    "-preset.md": ", with data prepared as for gene expression",
}
HEAD = """# Results

Measurements on simulated tables, for which the truth is known, and on some real tables. Every page gives the command
and the machine that produced it. `make bench` repeats the first list, `make fuzz` the generated cases, and
[`sparsecluster reproduce`](../reproduce.md) the second list.

## Benchmarks
"""
PAPER = """
## The paper's tables and figures

Our results beside those in the paper.
"""


def title(page: Path) -> str:
    """Return the heading of a page."""
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").strip() or page.stem


def line(page: Path) -> str:
    """Return an entry of the list."""
    address = page.relative_to(FOLDER).as_posix()
    variant = next((about for end, about in VARIANTS.items() if address.endswith(end)), "")
    return f"- [{title(page)}]({address}){f': {ABOUT[address]}' if address in ABOUT else variant}."


def page() -> str:
    """Return the whole page."""
    found = {each.name: each for each in sorted(FOLDER.glob("*.md")) if each != PAGE}
    known = [found[name] for name in ABOUT if name in found]
    others = [each for name, each in found.items() if name not in ABOUT]
    paper = sorted(FOLDER.glob("paper/*.md"), key=lambda each: (title(each), each.name))
    parts = [HEAD, *map(line, [*known, *others])]
    return "\n".join([*parts, PAPER, *map(line, paper)] if paper else parts) + "\n"


if __name__ == "__main__":
    write_or_check(PAGE, page(), "tools/results_page.py")
