"""Pages of results that compare methods set the best in bold, whoever it is."""

import doctest
import re
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.report import best_in_bold

RESULTS = Path(__file__).parent.parent / "docs" / "results"
OTHERS = ("K-prototypes", "K-means, one-hot")
# Of each page, the columns that are compared with each other.
COMPARED = {
    "accuracy": [("ours (sd)", "paper's best")],
    "hamming": [("ours (sd)", "paper's SAS_gs", "paper's Sparse K-medoids")],
    "missing": [("ours", "ours, filled")],
    "mixed": [("ours", *OTHERS), ("ours, given", *(f"{name}, given" for name in OTHERS))],
}


def rows_of(name):
    """The rows of all tables of a page, each as {column: cell}."""
    for table in re.findall(r"(?:^\|.*\|\n)+", (RESULTS / f"{name}.md").read_text(), re.MULTILINE):
        header, _, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines())
        yield from (dict(zip(header, row, strict=True)) for row in rows)


def test_examples_of_the_benchmarks_are_true():
    assert doctest.testmod(report) == (0, 3)


@pytest.mark.parametrize("name", COMPARED)
def test_the_best_of_every_row_is_bold(name):
    seen = 0
    for row in rows_of(name):
        for columns in COMPARED[name]:
            if columns[0] in row:
                shown = [row[column] for column in columns]
                assert shown == best_in_bold([cell.replace("**", "") for cell in shown])
                seen += 1
    assert seen > 3


def test_where_others_are_better_the_page_shows_it():
    real = {row["table"]: row for row in rows_of("mixed") if "table" in row}
    assert "**" not in real["penguins"]["ours"]
    assert real["penguins"]["K-prototypes"].startswith("**")
