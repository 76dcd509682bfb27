"""Write docs/results/index.md: a line for each page of results that is there; with --check only say if it is not so."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "results"
PAGE = FOLDER / "index.md"
# What a page is about, where its title does not say it.
ABOUT = {
    "accuracy.md": "Rand index on the designs of the paper's Tables 1, 2 and 3, beside the limit and the paper",
    "methods.md": "all methods on one design",
    "hamming.md": "zeros and ones, the design of Table 4",
    "mixed.md": "numbers and categories in one table, simulated and real, against K-prototypes and one-hot K-means",
    "gaps.md": "missing values as they are, against filling in",
    "choices.md": "what each choice of the search and of the gap statistic does",
    "speed.md": "against a plain version of the authors' algorithm, and roughly against the R program",
    "methods_speed.md": "Sparse K-means and IF-PCA against the clock",
    "growth.md": "time and memory as samples and features grow",
    "kinds.md": "what each kind of feature costs",
    "cold.md": "imports, the first fit ever, the first in a new process",
    "files.md": "reading tables from files",
    "picture.md": "the picture of the README",
}
HEAD = """# Results

What was measured, on simulated tables whose truth is known and on some real ones. Each page says how it was made and on
what machine; `make bench` measures the first list again, [`sparsecluster reproduce`](../reproduce.md) the second.

## Measured
"""
PAPER = """
## The paper's tables and figures

As we find them, beside what the paper prints.
"""


def title(page: Path) -> str:
    """The heading of a page."""
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").strip() or page.stem


def line(page: Path) -> str:
    """An entry of the list."""
    address = page.relative_to(FOLDER).as_posix()
    about = f": {ABOUT[address]}" if address in ABOUT else ", as in the authors' code" if "-code" in address else ""
    return f"- [{title(page)}]({address}){about}."


def page() -> str:
    """The whole page."""
    found = {each.name: each for each in sorted(FOLDER.glob("*.md")) if each != PAGE}
    known = [found[name] for name in ABOUT if name in found]
    others = [each for name, each in found.items() if name not in ABOUT]
    paper = sorted(FOLDER.glob("paper/*.md"), key=title)
    parts = [HEAD, *map(line, [*known, *others])]
    return "\n".join([*parts, PAPER, *map(line, paper)] if paper else parts) + "\n"


def main() -> None:
    """Write or check."""
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.exit(f"{PAGE.name} does not list what is there; run: python tools/results_page.py")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
