"""The paper's experiments: what it prints, what each repeat gives, and a runner that loses and doubles nothing."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sparsecluster.datasets import MICROARRAYS, DataNotFoundError, Samples
from sparsecluster.experiments import catalogue
from sparsecluster.experiments.base import Experiment, Setting, Task
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.contenders import Options, _estimator, contend
from sparsecluster.experiments.runner import append, do, load, mend, run, table_of

PAPER = Path(__file__).parents[1] / ".." / "shared" / "paper" / "sas-clustering.tex"
CODE = Setting("code")

# ---------------------------------------------------------------- what the paper prints

IN_PAPER = {
    "SAS_gs": "sas-grid", "SAS_gss": "sas-golden", "Sparse K": "sparse-kmeans", "Sparse K-means": "sparse-kmeans",
    "IF-PCA": "if-pca", "K-means": "kmeans", "K-means++": "kmeans++", "Hier": "complete", "SpecGem": "spectral-gem",
    "AHP-GMM": "ahp-gmm", "RKmeans": "regularized-kmeans", "Sparse K-medoids": "sparse-kmedoids",
}  # fmt: skip
NAMES = {"Lung": "lung1", "Lung(2)": "lung2"}


@pytest.fixture(scope="module")
def tex():
    if not PAPER.exists():
        pytest.skip("the paper, ../shared/paper, is not here")
    return PAPER.read_text()


def lines_of(tex, label):
    """The cells of every line of the table with a label, without signs of LaTeX."""
    before, inside = tex[: tex.index(rf"\label{{{label}}}")], r"\begin{tabular}"
    body = before[before.rindex(inside) :].split(r"\end{tabular}")[0]
    for word in (r"\hline", r"\bf", r"\rm", r"\\" + "\n"):
        body = body.replace(word, "\n" if word.endswith("\n") else "")
    body = re.sub(r"\\multirow\{\d\}\{\*\}\{([\d.]+)\}\s*", r"\1 ", body).replace("\\_", "_").replace("$", "")
    body = re.sub(r"_\{(\w+)\}", r"_\1", body)
    return [[cell.strip() for cell in line.split("&")] for line in body.split("\n") if "&" in line]


def pair(text):
    """Mean and standard deviation from "0.9 (0.1)"."""
    mean, spread = re.fullmatch(r"([\d.]+)\s*\(([\d.]+)\)", text).groups()
    return float(mean), float(spread)


def blocks(tex, label, names):
    """{(row, p): {method: printed}} of a table with several methods in each row."""
    header, *lines = lines_of(tex, label)
    columns = [int(cell.removeprefix("p = ")) for cell in header[2:]]
    cells, row = {}, None
    for first, method, *values in lines:
        row = float(first) if first else row
        for column, value in zip(columns, values, strict=True):
            cells.setdefault((row, column), {})[names[method]] = pair(value)
    return cells


@pytest.mark.parametrize(
    ("name", "measure", "label", "names", "n_numbers"),
    [
        ("table-1a", "rand", "tab:1a", IN_PAPER, 5 * 4 * 4),
        ("table-1b", "time", "tab:1b", {"SAS": "sas-given", "Sparse K": "sparse-kmeans-given"}, 5 * 2 * 4),
        ("table-2a", "rand", "tab:sim_same_sigma_a", IN_PAPER, 3 * 4 * 4),
        ("table-2b", "difference", "tab:sim_same_sigma_b", IN_PAPER, 3 * 4 * 4),
        ("table-4", "rand", "tab:categorical", {**IN_PAPER, "SAS_gs": "sas-medoids"}, 4 * 2 * 4),
    ],
)
def test_what_we_say_that_the_paper_prints_it_prints(tex, name, measure, label, names, n_numbers):
    printed = blocks(tex, label, names)
    assert EXPERIMENTS[name].printed == {measure: printed}
    assert sum(map(len, printed.values())) == n_numbers


def test_table_3_is_as_the_paper_prints_it(tex):
    (_, *methods), *lines = lines_of(tex, "tab:sim_diff_sigma")
    rand, difference = ({IN_PAPER[m]: pair(v) for m, v in zip(methods, line[1:], strict=True)} for line in lines)
    assert EXPERIMENTS["table-3"].printed == {"rand": {(1.0, 500): rand}, "difference": {(1.0, 500): difference}}
    assert len(rand) == len(difference) == 4


def test_table_5_is_as_the_paper_prints_it(tex):
    (_, *methods), *lines = lines_of(tex, "tab:microarray")
    printed = {
        (NAMES.get(name, name.lower()),): {
            IN_PAPER[method]: (float(value.replace(" ", "")), None)
            for method, value in zip(methods, values, strict=True)
        }
        for name, *values in lines
    }
    assert EXPERIMENTS["table-5"].printed == {"error": printed}
    assert sum(map(len, printed.values())) == 10 * 10


def test_the_data_sets_of_table_5_have_the_sizes_that_the_paper_prints(tex):
    for _, name, kappa, p, samples in lines_of(tex, "tab:10data")[1:]:
        about = MICROARRAYS[NAMES.get(name, name.lower())]
        n, sizes = re.fullmatch(r"(\d+) \(([\d+]+)\)", samples).groups()
        assert (about.n_genes, about.n_samples, len(about.class_sizes)) == (int(p), int(n), int(kappa))
        assert about.class_sizes == tuple(map(int, sizes.split("+")))


# ---------------------------------------------------------------- declarations

SIZES = {
    "figure-convergence": (4, 2, 400), "figure-gap": (1, 2, 1), "table-1a": (20, 6, 50), "table-1b": (20, 5, 100),
    "figure-weights": (1, 2, 1), "table-2a": (12, 6, 50), "table-2b": (12, 6, 50), "table-3": (1, 6, 50),
    "figure-pca": (1, 5, 1), "table-4": (16, 5, 50), "figure-kappa": (18, 6, 50), "table-5-data": (10, 1, 1),
    "table-5": (10, 21, 5),
}  # fmt: skip


def test_every_table_and_figure_of_the_paper_is_declared_with_its_cells_methods_and_repeats():
    assert {name: (len(e.cells), len(e.methods), e.repeats) for name, e in EXPERIMENTS.items()} == SIZES
    assert all(name == each.name for name, each in EXPERIMENTS.items())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_printed_belongs_to_a_cell_and_a_method(name):
    each = EXPERIMENTS[name]
    cells = [tuple(cell.values()) for cell in each.cells]
    for measure, printed in each.printed.items():
        assert measure in each.measures
        assert sorted(printed) == sorted(cells)
        assert {method for block in printed.values() for method in block} <= {*each.methods, *each.unavailable}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tasks_come_repeat_after_repeat_and_each_once(name):
    each = EXPERIMENTS[name]
    tasks = each.tasks(3, seed=5)
    n_repeats = 1 if each.one_repeat else 3
    assert len(tasks) == len({task.key for task in tasks}) == n_repeats * len(each.cells) * len(each.methods)
    assert [task.seed for task in tasks] == sorted(task.seed for task in tasks)
    assert {task.seed for task in tasks} == set(range(5, 5 + n_repeats))
    first = [(cell, method) for cell in each.cells for method in each.methods]
    assert [(task.cell, task.method) for task in tasks if task.seed == 5] == first


def test_tasks_may_be_of_some_methods_and_cells_only():
    each = EXPERIMENTS["table-1a"]
    tasks = each.tasks(2, methods=["if-pca", "limit"], cells=each.cells[3:4])
    assert [(t.cell["p"], t.method, t.seed) for t in tasks] == [
        (1000, "limit", 0), (1000, "if-pca", 0), (1000, "limit", 1), (1000, "if-pca", 1)
    ]  # fmt: skip


# ---------------------------------------------------------------- one repeat

SMALL = [
    ("figure-convergence", {"mu": 0.9}, "sas", 10), ("figure-gap", {"mu": 1.0, "p": 60}, "sas", 60),
    ("table-1a", {"mu": 0.6, "p": 100}, "if-pca", 1), ("table-1b", {"mu": 0.6, "p": 100}, "sas-given-published", 1),
    ("figure-weights", {"mu": 0.7, "p": 60}, "sparse-kmeans", 60), ("table-2a", {"shift": 0.6, "p": 100}, "limit", 1),
    ("table-2b", {"shift": 0.6, "p": 100}, "limit", 1), ("table-3", {"shift": 1.0, "p": 60}, "if-pca", 1),
    ("figure-pca", {"p": 60}, "if-pca", 90), ("table-4", {"q": 0.6, "p": 30}, "limit-medoids", 1),
    ("figure-kappa", {"group size": 20, "kappa": 2}, "limit", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "cell", "method", "n_rows"), SMALL)
def test_a_repeat_gives_rows_with_the_measures_that_are_declared(name, cell, method, n_rows):
    each = EXPERIMENTS[name]
    assert method in each.methods
    assert cell.keys() == each.cells[0].keys()
    rows = each.run(Task(cell, method, 0), Setting())
    assert len(rows) == n_rows
    for row in rows:
        assert set(each.measures) <= row.keys()
        assert not row.keys() & cell.keys()
        assert all(np.isfinite(row[measure]) for measure in each.measures)


@pytest.fixture
def seen(monkeypatch):
    """What `contend` is given: method, data, number of clusters, seed and options; it then runs the limit."""
    calls = []

    def pretend(method, data, k, seed, options):
        calls.append((method, data, k, seed, options))
        return contend("limit", data, k, seed, Options())

    monkeypatch.setattr(catalogue, "contend", pretend)
    return calls


@pytest.mark.parametrize("setting", [Setting(), CODE])
@pytest.mark.parametrize("name", [name for name, each in EXPERIMENTS.items() if each.design is not None])
def test_methods_are_run_on_the_data_of_the_design(seen, name, setting):
    each = EXPERIMENTS[name]
    each.run(Task(each.cells[0], "sas", 3), setting)
    ((_, data, k, seed, _),) = seen
    X, truth, useful = each.design(each.cells[0], 3, setting.variant)
    assert (k, seed) == (np.unique(truth).size, 3)
    for found, simulated in zip(data, (X, truth, useful), strict=True):
        np.testing.assert_array_equal(found, simulated)


@pytest.mark.parametrize(("setting", "size", "permutations"), [(Setting(), 30, 25), (CODE, 20, 30)])
def test_table_1_has_30_samples_per_group_in_the_text_and_20_in_the_code(seen, setting, size, permutations):
    EXPERIMENTS["table-1a"].run(Task({"mu": 0.6, "p": 100}, "sas-grid", 7), setting)
    ((method, data, k, seed, options),) = seen
    assert (method, k, seed) == ("sas-grid", 3, 7)
    assert np.bincount(data.truth).tolist() == [size] * 3
    assert options == Options(n_permutations=permutations)
    assert catalogue.shifted({"mu": 0.6, "p": 100}, 0, setting.variant).X.shape == (3 * size, 100)


@pytest.mark.parametrize(("setting", "n_rotations", "standardize"), [(Setting(), 1, True), (CODE, 3, False)])
def test_table_2_has_one_covariance_in_the_text_and_three_rotations_in_the_code(
    seen, monkeypatch, setting, n_rotations, standardize
):
    made, drawn = catalogue.correlated_groups, []
    monkeypatch.setattr(catalogue, "correlated_groups", lambda *a, **k: drawn.append(k["eigenvalues"]) or made(*a, **k))
    for name in ("table-2a", "table-2b"):
        EXPERIMENTS[name].run(Task({"shift": 0.6, "p": 60}, "if-pca", 0), setting)
    assert drawn == [[(1.0, 5.0)] * n_rotations] * 2
    for *_, options in seen:
        assert options == Options(standardize_grid=standardize)


@pytest.mark.parametrize(("setting", "standardize"), [(Setting(), True), (CODE, False)])
def test_in_the_code_of_table_3_only_the_grid_search_sees_raw_data(seen, setting, standardize):
    EXPERIMENTS["table-3"].run(Task({"shift": 1.0, "p": 60}, "sas-grid", 0), setting)
    assert seen[0][-1] == Options(standardize_grid=standardize)


@pytest.mark.parametrize("name", ["brain", "colon"])
@pytest.mark.parametrize("setting", [Setting(), CODE])
def test_in_the_code_of_table_5_the_grid_search_and_sparse_k_means_see_raw_data_except_for_brain(
    seen, monkeypatch, setting, name
):
    X, y = np.random.default_rng(0).normal(size=(12, 400)), np.arange(12) % 2
    monkeypatch.setattr(catalogue, "load_microarray", lambda *_: Samples(X, y))
    EXPERIMENTS["table-5"].run(Task({"data": name}, "sas-grid", 0), setting)
    options = seen[0][-1]
    raw = {
        method
        for method in EXPERIMENTS["table-5"].methods
        if _estimator(method, 2, 0, options).get_params().get("standardize") is False
    }
    assert raw == ({"sas-grid", "sparse-kmeans"} if setting == CODE and name != "brain" else set())


def test_as_published_sas_has_one_coordinate_wise_start_and_keeps_its_features_on_permuted_copies():
    for name, search in {"sas-grid": "grid", "sas-golden": "golden"}.items():
        given = _estimator(name, 3, 0, Options()).get_params()
        assert {key: given[key] for key in ("init", "n_init", "consensus", "null", "search")} == {
            "init": "coordinate", "n_init": 1, "consensus": False, "null": "fixed", "search": search
        }  # fmt: skip
    medoids = _estimator("sas-medoids", 3, 0, Options(metric="hamming")).get_params()
    assert (medoids["clusterer"], medoids["init"], medoids["metric"]) == ("kmedoids", "random", "hamming")


# ---------------------------------------------------------------- the runner


def experiment_of(function, **changes):
    cells = [{"p": p, "group size": 3} for p in (1, 2)]
    return Experiment("tiny", "Tiny", cells, ("one", "other"), ("rand",), function, 2, **changes)


@pytest.fixture
def counting():
    """An experiment that counts how often each of its tasks is done."""
    done = []

    def one(task, setting):
        done.append(task.key)
        return [{"rand": np.float64(task.seed / 10), "n": np.int64(task.cell["p"]), "all": np.arange(2)}]

    return experiment_of(one), done


def values(results):
    return {record.task.key: record.rows for record in results.records}


def test_a_finished_run_does_nothing_again_and_more_repeats_only_add(counting, tmp_path):
    tiny, done = counting
    first = run(tiny, tmp_path)
    assert len(done) == 2 * 2 * 2
    before = (tmp_path / "tiny.jsonl").read_bytes()
    assert run(tiny, tmp_path) == first == load(tmp_path / "tiny.jsonl")
    assert (tmp_path / "tiny.jsonl").read_bytes() == before
    assert len(run(tiny, tmp_path, repeats=3, command="again").records) == len(done) == len(set(done)) == 12
    assert [each["command"] for each in load(tmp_path / "tiny.jsonl").runs if "command" in each] == ["", "again"]


def test_what_is_written_is_read_back_as_plain_numbers(counting, tmp_path):
    results = run(counting[0], tmp_path, repeats=1, seed=4)
    assert results.records[0].rows == [{"rand": 0.4, "n": 1, "all": [0, 1]}]
    row = next(results.rows())
    assert (row["p"], row["group size"], row["method"], row["seed"], row["rand"]) == (1, 3, "one", 4, 0.4)


@pytest.mark.parametrize("cut", [1, 2, 30, -1])
def test_a_table_cut_in_the_middle_of_a_line_is_mended(counting, tmp_path, cut):
    tiny, done = counting
    whole = run(tiny, tmp_path)
    table = tmp_path / "tiny.jsonl"
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(lines[:4]) + lines[4][:cut])
    assert len(load(table).records) == 3
    done.clear()
    assert values(run(tiny, tmp_path)) == values(whole)
    assert len(done) == 5
    assert all(json.loads(line) for line in table.read_text().splitlines())


def test_a_table_cut_in_the_middle_of_a_letter_can_be_read(tmp_path):
    append(tmp_path / "t", {"cell": {}, "method": "é", "seed": 0, "rows": [], "seconds": 0.0, "error": "é"})
    content = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(content + content[: content.rindex("é".encode()) + 1])
    assert len(load(tmp_path / "t").records) == 1
    mend(tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == content


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, MemoryError, ImportError, DataNotFoundError])
def test_a_method_that_fails_is_a_record_with_its_reason_and_is_tried_again(tmp_path, error):
    broken = [True]

    def sometimes(task, setting):
        if broken and task.method == "other":
            raise error("no luck")
        return [{"rand": 1.0}]

    tiny = experiment_of(sometimes)
    results = run(tiny, tmp_path)
    # Where data were looked for is the affair of one machine, so that reason is given in words of its own.
    reason = "no data set None on this machine" if error is DataNotFoundError else f"{error.__name__}: no luck"
    assert {r.task.method: r.error for r in results.records} == {"one": None, "other": reason}
    assert all(bool(record.rows) == (record.task.method == "one") for record in results.records)
    assert len(list(results.rows())) == 4
    broken.clear()
    again = run(tiny, tmp_path)
    assert [record.error for record in again.records] == [None] * 8
    assert len(again.records) == len(list(again.rows())) == 8


def test_a_row_that_is_no_number_does_not_end_the_run(tmp_path):
    results = run(experiment_of(lambda task, setting: [{"rand": np.nan if task.method == "one" else 1.0}]), tmp_path)
    assert len(results.records) == 8


def test_inner_libraries_have_one_thread_so_that_seconds_compare():
    # K-means of scikit-learn, by which the plain versions of Table 1b are written, adds OpenMP to the libraries.
    pools = experiment_of(lambda *_: [{each["user_api"]: each["num_threads"]} for each in threadpool_info()])
    rows = do(pools, Task({}, "one", 0), Setting()).rows
    assert {api: n for row in rows for api, n in row.items() if n != 1} == {}


def test_the_variants_have_tables_of_their_own_and_tables_2a_and_2b_share_theirs(tmp_path):
    assert table_of(EXPERIMENTS["table-1a"], tmp_path, CODE).name == "table-1a-code.jsonl"
    assert table_of(EXPERIMENTS["table-1b"], tmp_path, Setting()).name == "table-1b.jsonl"
    assert table_of(EXPERIMENTS["table-2a"], tmp_path, CODE) == table_of(EXPERIMENTS["table-2b"], tmp_path, CODE)


TABLE, REPEATS, ASKED = EXPERIMENTS["table-1a"], 12, ("limit", "sas-golden")


def test_the_number_of_processes_changes_nothing(tmp_path):
    asked = {"repeats": 3, "methods": ["limit", "if-pca"], "cells": TABLE.cells[:2]}
    one, two = (run(TABLE, tmp_path / str(jobs), jobs=jobs, **asked) for jobs in (1, 2))
    assert values(one) == values(two)
    assert len(two.records) == 12


SOME = ["--cells", "mu=0.6,p=100", "--methods", ",".join(ASKED), "--repeats", str(REPEATS), "--jobs", "1", "-q"]


def reproduced(folder, before=""):
    """The command, after some code, in a process of its own."""
    command = ["sparsecluster", "reproduce", "table-1a", *SOME, "--out", str(folder)]
    code = f"import sys\nsys.argv = {command!r}\n{before}\nfrom sparsecluster.cli import main\nmain()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


# The process stops itself as soon as four results are on disk: one line is about the run.
STOPPED = """
import os, signal
from sparsecluster.experiments import runner
append, lines = runner.append, []
def watched(table, entry):
    append(table, entry)
    lines.append(entry)
    if len(lines) == 5:
        os.kill(os.getpid(), signal.{sign})
runner.append = watched
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("sign", ["SIGKILL", "SIGINT"])
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path, sign):
    table, stopped = tmp_path / "table-1a-text.jsonl", reproduced(tmp_path, STOPPED.format(sign=sign))
    before = values(load(table))
    assert len(before) == 4
    assert stopped.returncode in ((-9,) if sign == "SIGKILL" else (130, -2))
    assert "Traceback" not in stopped.stderr
    ended = reproduced(tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")

    lines = [json.loads(line) for line in table.read_text().splitlines()]
    keys = [Task(line["cell"], line["method"], line["seed"]).key for line in lines if "run" not in line]
    assert len(keys) == len(set(keys)) == 2 * REPEATS
    tasks = TABLE.tasks(REPEATS, 0, ASKED, TABLE.cells[:1])
    whole = {task.key: do(TABLE, task, Setting()).rows for task in tasks}
    assert values(load(table)) == whole
    assert before.items() <= whole.items()
    assert not list(tmp_path.rglob("*.part"))
