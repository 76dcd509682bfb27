"""Pages show what the table holds: means and spreads as by hand, cells that were not run, and markup that parses."""

import csv
import io
import math
import shutil
import xml.etree.ElementTree as ET
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.experiment import Job, Setting
from sparsecluster.experiments.figures import FIGURES, draw, means
from sparsecluster.experiments.grids import grids, lines_of
from sparsecluster.experiments.pages import render
from sparsecluster.experiments.render import comma_separated, markdown, web_page
from sparsecluster.experiments.runner import Record, Results, append
from sparsecluster.experiments.summary import summaries_of

TABLE = EXPERIMENTS["table-1a"]
HARD = {"mu": 0.6, "p": 100}
RUNS = [
    {"command": "sparsecluster reproduce table-1a", "jobs": 1, "variant": "text", "version": "0.1", "python": "3.11",
     "cores": 2, "memory": "24 GiB"},
    {"done": 5, "seconds": 7.4},
]  # fmt: skip
# Not the markup that it would like to be.
BAD = "ValueError: <script>alert('a|b & c')</script>"


def results_of(values, cell=HARD, measure="rand", errors=()):
    """Results with one value a repeat of each method, and methods that failed."""
    records = [Record(Job(cell, method, seed), [{measure: value}], 0.1)
               for method, each in values.items() for seed, value in enumerate(each)]  # fmt: skip
    return Results(RUNS, [*records, *(Record(Job(cell, method, 0), [], 0.1, BAD) for method in errors)])


RESULTS = results_of(
    {"limit": [0.96, 0.94], "sas-grid": [0.9, 0.8, 1.0], "sas-golden": [0.875], "sas": [1.0, 1.0]}, errors=["if-pca"]
)


def summary_of(method, cell=HARD, experiment=TABLE, results=RESULTS, measure="rand"):
    return next(s for s in summaries_of(experiment, results, measure) if s.method == method and s.cell == cell)


def cell_of(method, **options):
    return lines_of(summary_of(method, **options))


# ---------------------------------------------------------------- numbers


def test_mean_spread_and_error_are_those_by_hand():
    found = summary_of("sas-grid")
    assert found.n == 3
    assert found.mean == pytest.approx(0.9)
    assert found.sd == pytest.approx(0.1)  # the squares 0, 0.01 and 0.01 over 2
    assert found.error == pytest.approx(0.1 / math.sqrt(3))
    assert found.printed == (0.907, 0.048)
    assert found.limit == pytest.approx(0.95)


def test_one_repeat_has_no_spread():
    found = summary_of("sas-golden")
    assert (found.n, found.mean) == (1, 0.875)
    assert math.isnan(found.sd)
    assert math.isnan(found.error)


def test_every_cell_and_method_has_a_summary_run_or_not():
    summaries = summaries_of(TABLE, RESULTS, "rand")
    assert len(summaries) == 20 * 6
    assert sum(each.n == 0 for each in summaries) == 120 - 4
    assert all(math.isnan(each.mean) for each in summaries if each.n == 0)


def test_the_limit_is_that_of_the_same_cell_and_the_limit_itself_has_none():
    easy = {"mu": 1.0, "p": 100}
    both = Results([], RESULTS.records + results_of({"limit": [1.0], "sas": [0.99]}, easy).records)
    assert summary_of("sas", easy, results=both).limit == 1.0
    assert summary_of("sas", HARD, results=both).limit == pytest.approx(0.95)
    assert summary_of("limit", results=both).limit is None
    assert summary_of("sas", {"mu": 0.7, "p": 100}, results=both).limit is None


# ---------------------------------------------------------------- cells


def test_a_cell_says_ours_the_papers_the_limits_and_the_differences():
    assert cell_of("sas-grid") == [".900 (.100)", "paper .907 (-.007)", "limit .950 (-.050)"]


def test_one_repeat_is_shown_without_a_spread():
    assert cell_of("sas-golden") == [".875", "paper .900 (-.025)", "limit .950 (-.075)"]


def test_what_the_paper_does_not_print_is_not_compared():
    assert cell_of("sas") == ["1.000 (.000)", "limit .950 (+.050)"]
    assert cell_of("limit") == [".950 (.014)"]


def test_what_failed_says_so_and_what_was_not_run_says_that_never_zero():
    assert cell_of("if-pca") == ["failed", "paper .664"]
    assert cell_of("sparse-kmeans") == ["not run", "paper .886"]
    assert cell_of("sas", cell={"mu": 0.7, "p": 500}) == ["not run"]


def test_a_mean_of_zero_is_shown_as_zero():
    assert cell_of("sas", results=results_of({"sas": [0.0, 0.0]}))[0] == ".000 (.000)"


def test_a_method_that_was_not_run_says_so_with_what_the_paper_prints():
    errors = results_of({"sas-grid": [0.129]}, {"data": "colon"}, "error")
    options = {"cell": {"data": "colon"}, "experiment": EXPERIMENTS["table-5"], "results": errors, "measure": "error"}
    assert cell_of("ahp-gmm", **options) == ["not run", "paper .129"]
    assert cell_of("sas-grid", **options) == [".129", "paper .129 (+.000)"]
    assert cell_of("ward", **options) == ["not run"]


def test_symmetric_differences_are_shown_with_one_decimal_and_not_compared_with_a_limit():
    both = results_of({"limit": [0], "sas-grid": [20, 31]}, {"shift": 0.6, "p": 100}, "difference")
    options = {"cell": {"shift": 0.6, "p": 100}, "experiment": EXPERIMENTS["table-2b"], "results": both}
    assert cell_of("sas-grid", measure="difference", **options) == ["25.5 (7.8)", "paper 26.3 (-0.8)"]


def test_tables_2a_and_2b_read_the_same_runs_for_different_measures():
    cell = {"shift": 0.6, "p": 100}
    both = Results([], [Record(Job(cell, "sas-grid", 0), [{"rand": 0.7, "difference": 30}], 0.1)])
    found = {name: summary_of("sas-grid", cell, EXPERIMENTS[name], both, EXPERIMENTS[name].measures[0]).mean
             for name in ("table-2a", "table-2b")}  # fmt: skip
    assert found == {"table-2a": 0.7, "table-2b": 30}


def test_a_grid_has_a_row_for_every_method_in_every_block_and_a_column_for_every_p():
    (grid,) = grids(TABLE, RESULTS)
    assert grid.header == ["mu", "method", "p = 100", "p = 200", "p = 500", "p = 1000"]
    assert len(grid.rows) == 5 * 6
    assert {len(row) for row in grid.rows} == {6}
    assert [entry.lines for entry in grid.rows[2][:3]] == [["0.6"], ["SAS as published, grid"], cell_of("sas-grid")]
    assert not any(entry.is_best for row in grid.rows for entry in row)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_results_every_page_says_not_run(name):
    each, nothing = EXPERIMENTS[name], Results([], [])
    assert "no results" in markdown(each, nothing)
    assert {row[-1].lines[0] for grid in grids(each, nothing) for row in grid.rows} <= {"not run", "not available"}
    assert draw(each, nothing) is None


# ---------------------------------------------------------------- CSV


def test_the_csv_file_parses_back_to_what_the_table_holds():
    rows = list(csv.DictReader(io.StringIO(comma_separated(TABLE, RESULTS))))
    names = ["mu", "p", "method", "measure", "n", "mean", "sd", "se", "paper_mean", "paper_sd", "limit"]
    assert list(rows[0]) == names
    assert len(rows) == 120
    found = {row["method"]: row for row in rows if row["mu"] == "0.6" and row["p"] == "100"}
    numbers = [float(found["sas-grid"][name]) for name in names[4:]]
    assert numbers == pytest.approx([3, 0.9, 0.1, 0.1 / math.sqrt(3), 0.907, 0.048, 0.95])
    assert found["sas-golden"]["sd"] == found["sas-golden"]["se"] == ""
    for method in ("if-pca", "sparse-kmeans"):
        assert found[method]["n"] == "0"
        assert found[method]["mean"] == found[method]["sd"] == ""


def test_the_csv_file_of_table_3_has_both_measures():
    rows = list(csv.DictReader(io.StringIO(comma_separated(EXPERIMENTS["table-3"], Results([], [])))))
    assert [row["measure"] for row in rows] == ["rand"] * 6 + ["difference"] * 6


# ---------------------------------------------------------------- Markdown and HTML


def test_a_page_says_how_it_came_about():
    page = markdown(TABLE, RESULTS)
    assert page.startswith("# Table 1a: Rand index, identity covariance\n")
    assert "`sparsecluster reproduce table-1a`" in page
    assert "3 repeats, seeds 0 to 2, variant text; 7 s on 2 cores, 24 GiB, Python 3.11, sparsecluster 0.1." in page


def test_every_row_of_a_markdown_table_has_as_many_cells():
    rows = [line for line in markdown(TABLE, RESULTS).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 30
    assert {row.replace("\\|", "").count("|") for row in rows} == {7}
    assert "| .900 (.100)<br>paper .907 (-.007)<br>limit .950 (-.050) | not run<br>paper .875 |" in rows[4]


class Reader(HTMLParser):
    """Checks that every tag that is opened is closed, in order; keeps the text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.declared, self.instructed = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_decl(self, decl):
        self.declared.append(decl)

    def handle_pi(self, data):
        self.instructed.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_the_web_page_is_well_formed_and_shows_the_cells():
    reader = read(web_page(TABLE, RESULTS))
    assert reader.declared == ["doctype html"]
    assert reader.tags.count("tr") == 1 + 30
    assert reader.tags.count("td") == 30 * 6
    for text in (".900 (.100)", "paper .907 (-.007)", "limit .950 (-.050)", "failed", "not run", TABLE.title):
        assert text in reader.text


def test_messages_are_shown_as_text_and_never_run():
    reader = read(web_page(TABLE, RESULTS))
    assert "script" not in reader.tags
    assert f"Failed: {BAD}" in reader.text
    page = markdown(TABLE, RESULTS)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_nothing_is_loaded_from_elsewhere():
    page = web_page(TABLE, RESULTS)
    assert "http" not in page
    assert "src=" not in page


# ---------------------------------------------------------------- figures


def rows_of(name, method, seed):
    """Rows that are quick to make and have all that the figure reads."""
    rng = np.random.default_rng([seed, len(method)])
    if name == "figure-convergence":
        return [{"pass": i, "rand": 0.5 + i / 30 + rng.random() / 50, "difference": 60 - 5 * i} for i in range(1, 11)]
    if name == "figure-gap":
        return [{"s": s, "gap": float(-((s - 5) ** 2)), "se": 0.5, "chosen": 5} for s in range(1, 11)]
    if name == "figure-weights":
        return [{"feature": a, "weight": max(0.0, 1 - a / 5), "useful": a < 4, "rand": 0.8} for a in range(8)]
    if name == "figure-pca":
        return [{"sample": i, "truth": i % 3, "label": i % 2, "rand": 0.7, "useful": [i, i % 3], "all": [i % 3, i]}
                for i in range(9)]  # fmt: skip
    return [{"rand": 0.9 + rng.random() / 20}]


def figure_results(name):
    return Results(
        RUNS, [Record(task, rows_of(name, task.method, task.seed), 0.1) for task in EXPERIMENTS[name].tasks(2)]
    )


def test_every_figure_of_the_paper_can_be_drawn():
    assert set(FIGURES) == {name for name, each in EXPERIMENTS.items() if each.is_figure}


@cache
def drawn(name):
    return draw(EXPERIMENTS[name], figure_results(name))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_png_and_an_svg(name):
    png, svg = drawn(name)
    assert (png[:8], ET.fromstring(svg).tag) == (b"\x89PNG\r\n\x1a\n", "{http://www.w3.org/2000/svg}svg")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (i > 0)) for i, n in enumerate(FIGURES)])
def test_a_figure_is_the_same_each_time(name):
    assert draw(EXPERIMENTS[name], figure_results(name)) == drawn(name)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_in_a_page_leaves_one_well_formed_document(name):
    reader = read(web_page(EXPERIMENTS[name], figure_results(name), drawn(name)[1]))
    assert reader.tags.count("svg") == 1
    assert reader.declared == ["doctype html"]
    assert reader.instructed == []


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("at", [0, -1])
def test_a_figure_of_a_run_that_was_stopped_is_drawn_from_what_there_is(name, at):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = FIGURES[name](EXPERIMENTS[name], Results([], [figure_results(name).records[at]]))
    assert any(len(line.get_xdata()) for ax in figure.axes for line in ax.lines)
    plt.close(figure)


def test_a_typical_data_set_is_one_also_where_the_table_has_several():
    plt = pytest.importorskip("matplotlib.pyplot")
    each = EXPERIMENTS["figure-gap"]
    tasks = [(task, seed) for seed in (0, 1) for task in each.tasks(1, seed)]
    records = [Record(task, rows_of(each.name, task.method, seed), 0.1) for task, seed in tasks]
    figure = FIGURES[each.name](each, Results([], records))
    assert all((np.diff(line.get_xdata()) >= 0).all() for line in figure.axes[0].lines)
    plt.close(figure)


def test_the_points_of_a_figure_are_means_with_95_percent_of_a_normal_distribution():
    rows = [{"pass": 2, "rand": 0.5}, {"pass": 1, "rand": 0.2}, {"pass": 1, "rand": 0.4}]
    at, mean, half = means(rows, "pass", "rand")
    assert at.tolist() == [1, 2]
    np.testing.assert_allclose(mean, [0.3, 0.5])
    np.testing.assert_allclose(half, [1.96 * math.sqrt(0.02) / math.sqrt(2), 0.0])


# ---------------------------------------------------------------- files


def write_table(file, results):
    for run in results.runs:
        append(file, {"run": run})
    for record in results.records:
        error = {} if record.error is None else {"error": record.error}
        append(file, {**record.task._asdict(), "rows": record.rows, "seconds": record.seconds, **error})


def test_pages_are_made_from_the_table_alone(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    write_table(one / "table-1a-text.jsonl", RESULTS)
    files = render(TABLE, one, Setting())
    assert sorted(file.name for file in files) == ["table-1a-text.csv", "table-1a-text.html", "table-1a-text.md"]
    shutil.copy(one / "table-1a-text.jsonl", other)
    for file in render(TABLE, other, Setting()):
        assert file.read_bytes() == (one / file.name).read_bytes()
    assert (one / "table-1a-text.md").read_text() == markdown(TABLE, RESULTS)
    assert len(list(other.iterdir())) == 4


def test_a_figure_is_written_as_png_and_svg_beside_its_page(tmp_path):
    write_table(tmp_path / "figure-gap.jsonl", figure_results("figure-gap"))
    names = {file.name for file in render(EXPERIMENTS["figure-gap"], tmp_path, Setting())}
    assert names == {f"figure-gap.{kind}" for kind in ("html", "md", "png", "svg")}
    assert "![Figure 2: the gap statistic for all s](figure-gap.png)" in (tmp_path / "figure-gap.md").read_text()


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments), "--jobs", "1"])


def test_the_command_says_where_the_page_is(tmp_path):
    result = reproduce("table-1a", "--cells", "mu=0.6,p=100", "--methods", "limit", "--repeats", 2, "--out", tmp_path)
    assert result.output == f"table-1a: 2 results; {tmp_path / 'table-1a-text.md'}\n"
    assert "not run" in (tmp_path / "table-1a-text.md").read_text()


@pytest.mark.parametrize(
    "arguments",
    [["tabel-1a"], ["table-1a", "--methods", "nobody"], ["table-1a", "--cells", "p=1"], ["table-1a", "--variant", "x"]],
)
def test_what_there_is_not_is_answered_in_one_line_by_what_there_is(tmp_path, arguments):
    result = reproduce(*arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["table-1a", "figure-kappa"])
def test_the_cells_that_a_message_names_can_be_asked_for(tmp_path, name):
    said = reproduce(name, "--cells", "nothing=0", "--out", tmp_path).stderr
    cells = said.split("whose cells are ")[1].split("; ")[0]
    assert reproduce(name, "--cells", cells, "--methods", "limit", "--repeats", 1, "--out", tmp_path).exit_code == 0


def test_a_folder_that_is_a_file_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    result = reproduce("table-1a", "--cells", "mu=0.6,p=100", "--methods", "limit", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
