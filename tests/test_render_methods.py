"""Pages with one column per method: the best in bold, the paper beside ours, and absent data in one line."""

import os
import re
from pathlib import Path

import pytest

from sparsecluster.datasets import MICROARRAYS
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.experiment import Job, Setting
from sparsecluster.experiments.grids import grids
from sparsecluster.experiments.pages import render
from sparsecluster.experiments.render import comma_separated, markdown, web_page
from sparsecluster.experiments.runner import NO_DATA, Record, Results, run
from sparsecluster.experiments.summary import shown
from sparsecluster.methods.registry import METHODS

TABLE = EXPERIMENTS["table-5"]
AHP = METHODS["ahp-gmm"].title
FOLDER = Path(
    os.environ.get("SPARSECLUSTER_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data" / "microarray"
)


def record(data, method, value=None, seed=0, error=None):
    """An error rate; or a data set that was not found, if there is neither a value nor another error."""
    task = Job({"data": data}, method, seed)
    if value is None:
        return Record(task, [], 0.1, error or f"{NO_DATA} {data!r} on this machine")
    return Record(task, [{"error": value, "selected": 9}], 0.1)


RESULTS = Results(
    [{"command": "sparsecluster reproduce table-5", "variant": "text", "cores": 2, "memory": "4 GiB", "python": "3.11",
      "version": "0.1"}],
    [
        record("colon", "sas", 0.3), record("colon", "sas", 0.2, seed=1), record("colon", "sas-grid", 0.2),
        record("colon", "ward", 0.5), record("colon", "if-pca", 0.403),
        record("lymphoma", "sas", 0.016), record("lymphoma", "ward", 0.0161), record("lymphoma", "sas-grid", 0.4),
        record("lymphoma", "if-pca", error="ValueError: too few"),
        *(record(data, method) for data in ("sucancer", "breast") for method in TABLE.methods),
    ],
)  # fmt: skip


def table_of(page):
    """Rows of the only table of a Markdown page: {first cell: {head: cell}}."""
    header, _, *rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def test_there_is_one_row_per_data_set_and_one_column_per_method_that_says_something():
    table = table_of(markdown(TABLE, RESULTS))
    assert list(table) == [name for name in MICROARRAYS if name not in ("breast", "sucancer")]
    paper = {"K-means, random starts", "K-means++", "Hierarchical, complete linkage", "SpectralGem", "IF-PCA-HCT",
             AHP, "Regularized K-means", "Sparse K-means", "SAS as published, grid",
             "SAS as published, golden section"}  # fmt: skip
    assert set(table["colon"]) == {"data", *paper, "SAS as we run it", "Hierarchical, Ward's linkage"}


def test_methods_of_which_there_is_nothing_to_say_are_in_one_line():
    (line,) = re.findall(r"^Not run: .*$", markdown(TABLE, RESULTS), re.MULTILINE)
    assert "Screening by variance" in line
    assert "Ward" not in line
    assert "Not run:" not in markdown(TABLE, Results([], [record("colon", name, 0.1) for name in TABLE.methods]))


def test_a_cell_says_ours_the_papers_and_the_difference():
    colon = table_of(markdown(TABLE, RESULTS))["colon"]
    assert colon["SAS as published, grid"] == "**.200**<br>paper .129 (+.071)"
    assert colon["IF-PCA-HCT"] == ".403<br>paper .403 (+.000)"
    assert colon["SAS as we run it"] == ".250 (.071)"
    assert colon["Sparse K-means"] == "not run<br>paper .306"
    assert colon[AHP] == "not run<br>paper .129"


def test_the_best_of_every_row_is_in_bold_with_all_that_look_the_same():
    table = table_of(markdown(TABLE, RESULTS))
    bold = {name: {head for head, cell in row.items() if cell.startswith("**")} for name, row in table.items()}
    assert bold["colon"] == {"SAS as published, grid"}
    assert bold["lymphoma"] == {"SAS as we run it", "Hierarchical, Ward's linkage"}
    assert not any(bold[name] for name in bold if name not in ("colon", "lymphoma"))


def test_the_best_is_the_largest_where_large_is_good():
    table = EXPERIMENTS["table-1a"]._replace(across="method")
    task = Job({"mu": 0.6, "p": 100}, "sas", 0)
    values = {"sas": 0.9, "sas-grid": 0.8}
    records = [Record(task._replace(method=name), [{"rand": value}], 0.1) for name, value in values.items()]
    (grid,) = grids(table, Results([], records))
    assert grid.header[:2] == ["mu", "p"]
    best = [head for row in grid.rows for head, entry in zip(grid.header, row, strict=True) if entry.is_best]
    assert best == ["SAS as we run it"]


def test_data_sets_that_were_not_found_are_in_one_line_and_nowhere_else():
    for page in (markdown(TABLE, RESULTS), web_page(TABLE, RESULTS)):
        assert page.count("breast") == page.count("sucancer") == 1
        assert "Data sets that were not found: breast, sucancer." in page
        assert NO_DATA not in page
    assert "not found" not in markdown(TABLE, Results([], [record("colon", "sas", 0.1)]))


def test_a_data_set_that_was_found_later_has_a_row():
    found = Results([], [record("brain", "sas"), record("brain", "ward", 0.3)])
    page = markdown(TABLE, found)
    assert "not found" not in page
    assert table_of(page)["brain"]["Hierarchical, Ward's linkage"] == "**.300**"
    assert "failed" not in page


def test_a_method_that_failed_on_data_that_were_found_says_so():
    page = markdown(TABLE, RESULTS)
    assert table_of(page)["lymphoma"]["IF-PCA-HCT"] == "failed<br>paper .065"
    assert "Failed: ValueError: too few" in page


def test_the_web_page_has_the_same_cells_and_bold_ones():
    page = web_page(TABLE, RESULTS)
    assert "<td><b>.200</b><small>paper .129 (+.071)</small></td>" in page
    assert page.count("<b>") == markdown(TABLE, RESULTS).count("**") / 2 == 3
    assert "<p></p>" not in page


def test_the_page_of_sizes_shows_the_data_sets_that_were_found():
    rows = [{"n": 62, "p": 2000, "kappa": 2}]
    found = [Record(Job({"data": "colon"}, "data", 0), rows, 0.1), record("breast", "data")]
    page = markdown(EXPERIMENTS["table-5-data"], Results([], found))
    assert "Data sets that were not found: breast." in page
    assert "| colon | data | 2000 |" in page
    assert "| breast" not in page


def test_the_csv_file_keeps_all_data_sets_and_methods():
    lines = comma_separated(TABLE, RESULTS).splitlines()
    assert len(lines) == 1 + 10 * len(TABLE.methods)
    assert "breast,sas,error,0,,,,,," in lines


@pytest.mark.parametrize(("value", "text"), [(-1e-9, "+.000"), (0.0, "+.000"), (-0.0004, "+.000"), (-0.0006, "-.001")])
def test_a_difference_that_is_shown_as_zero_has_no_minus(value, text):
    assert shown(value, "error", sign=True) == text


@pytest.mark.skipif(not (FOLDER / "colon.npz").is_file(), reason="the data sets, ../shared/data, are not here")
@pytest.mark.parametrize("variant", TABLE.variants)
def test_a_real_data_set_gives_a_row_and_one_that_is_not_there_a_line(tmp_path, variant):
    setting = Setting(variant, str(FOLDER))
    absent = next((name for name in MICROARRAYS if not list(FOLDER.glob(f"{name}.*"))), None)
    cells = [{"data": name} for name in ("colon", absent) if name]
    run(TABLE, tmp_path, repeats=1, methods=["ward"], cells=cells, setting=setting)
    files = render(TABLE, tmp_path, setting)
    (page,) = (file.read_text() for file in files if file.name == f"table-5-{variant}.md")
    error = float(table_of(page)["colon"]["Hierarchical, Ward's linkage"].strip("*"))
    assert 0 <= error <= 0.5
    # Errors are counted in samples.
    assert error * 62 == pytest.approx(round(error * 62), abs=0.05)
    assert (f"Data sets that were not found: {absent}." in page) == (absent is not None)
