"""The paper's experiments: what it prints, what is declared, and what each repeat gives."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sparsecluster.datasets import MICROARRAYS, Samples, correlated_groups, diagonal_groups
from sparsecluster.experiments import catalogue, contenders
from sparsecluster.experiments.catalogue import EXPERIMENTS
from sparsecluster.experiments.contenders import Conditions, Result, _estimator, contend
from sparsecluster.experiments.experiment import Job, Setting
from sparsecluster.methods.registry import METHODS
from sparsecluster.preprocessing import ExpressionScaler

PAPER = Path(__file__).parents[1] / ".." / "shared" / "paper" / "sas-clustering.tex"
CODE, PRESET = Setting("code"), Setting("preset")

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
    "figure-weights": (1, 2, 1), "table-2a": (12, 6, 50), "table-2b": (12, 6, 50),
    "table-2-rotated": (12, 6, 20), "table-3": (1, 6, 50), "figure-pca": (1, 5, 1), "table-4": (16, 5, 50),
    "figure-kappa": (18, 6, 50), "table-5-data": (10, 1, 1), "table-5": (10, 2 + len(METHODS), 5),
}  # fmt: skip


def test_every_table_and_figure_of_the_paper_is_declared_with_its_cells_methods_and_repeats():
    assert {name: (len(e.cells), len(e.methods), e.repeats) for name, e in EXPERIMENTS.items()} == SIZES
    assert all(name == each.name for name, each in EXPERIMENTS.items())


def test_a_variant_may_have_repeats_of_its_own():
    for name in ("table-2a", "table-2b"):
        assert [EXPERIMENTS[name].repeats_of(variant) for variant in ("text", "code")] == [50, 20]
    assert [EXPERIMENTS["table-1a"].repeats_of(variant) for variant in ("text", "code")] == [50, 50]
    assert EXPERIMENTS["figure-gap"]._replace(repeats=7).repeats_of("text") == 1


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_printed_belongs_to_a_cell_and_a_method(name):
    each = EXPERIMENTS[name]
    cells = [tuple(cell.values()) for cell in each.cells]
    for measure, printed in each.printed.items():
        assert measure in each.measures
        assert sorted(printed) == sorted(cells)
        assert {method for block in printed.values() for method in block} <= set(each.methods)


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
    ("table-2b", {"shift": 0.6, "p": 100}, "limit", 1), ("table-2-rotated", {"shift": 0.6, "p": 100}, "limit", 1),
    ("table-3", {"shift": 1.0, "p": 60}, "if-pca", 1), ("figure-pca", {"p": 60}, "if-pca", 90),
    ("table-4", {"q": 0.6, "p": 30}, "limit-medoids", 1), ("figure-kappa", {"group size": 20, "kappa": 2}, "limit", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "cell", "method", "n_rows"), SMALL)
def test_a_repeat_gives_rows_with_the_measures_that_are_declared(name, cell, method, n_rows):
    each = EXPERIMENTS[name]
    assert method in each.methods
    assert cell.keys() == each.cells[0].keys()
    rows = each.run(Job(cell, method, 0), Setting())
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
        return contend("limit", data, k, seed, Conditions())

    monkeypatch.setattr(catalogue, "contend", pretend)
    return calls


@pytest.mark.parametrize("setting", [Setting(), CODE])
@pytest.mark.parametrize("name", [name for name, each in EXPERIMENTS.items() if each.design is not None])
def test_methods_are_run_on_the_data_of_the_design(seen, name, setting):
    each = EXPERIMENTS[name]
    each.run(Job(each.cells[0], "sas", 3), setting)
    ((_, data, k, seed, _),) = seen
    X, truth, useful = each.design(each.cells[0], 3, setting.variant)
    assert (k, seed) == (np.unique(truth).size, 3)
    for found, simulated in zip(data, (X, truth, useful), strict=True):
        np.testing.assert_array_equal(found, simulated)


@pytest.mark.parametrize(("setting", "size", "permutations"), [(Setting(), 30, 25), (CODE, 20, 30)])
def test_table_1_has_30_samples_per_group_in_the_text_and_20_in_the_code(seen, setting, size, permutations):
    EXPERIMENTS["table-1a"].run(Job({"mu": 0.6, "p": 100}, "sas-grid", 7), setting)
    ((method, data, k, seed, options),) = seen
    assert (method, k, seed) == ("sas-grid", 3, 7)
    assert np.bincount(data.truth).tolist() == [size] * 3
    assert options == Conditions(n_permutations=permutations)
    assert catalogue.shifted({"mu": 0.6, "p": 100}, 0, setting.variant).X.shape == (3 * size, 100)


@pytest.mark.parametrize(
    ("name", "setting", "design", "raw"),
    [
        ("table-2a", Setting(), diagonal_groups, ()),
        ("table-2b", Setting(), diagonal_groups, ()),
        ("table-2a", CODE, partial(correlated_groups, eigenvalues=[(1.0, 5.0)] * 3), ("sas-grid",)),
        ("table-2b", CODE, partial(correlated_groups, eigenvalues=[(1.0, 5.0)] * 3), ("sas-grid",)),
        ("table-2-rotated", Setting(), partial(correlated_groups, eigenvalues=[(1.0, 5.0)]), ()),
    ],
)
def test_table_2_is_diagonal_in_the_text_has_three_rotations_in_the_code_and_one_under_its_own_name(
    seen, name, setting, design, raw
):
    EXPERIMENTS[name].run(Job({"shift": 0.6, "p": 60}, "if-pca", 4), setting)
    ((_, data, _, _, options),) = seen
    np.testing.assert_array_equal(data.X, design(shift=0.6, n_features=60, seed=4).X)
    assert options == Conditions(raw=raw)


@pytest.mark.parametrize(("setting", "raw"), [(Setting(), ()), (CODE, ("sas-grid",))])
def test_in_the_code_of_table_3_only_the_grid_search_sees_raw_data(seen, setting, raw):
    EXPERIMENTS["table-3"].run(Job({"shift": 1.0, "p": 60}, "sas-grid", 0), setting)
    assert seen[0][-1] == Conditions(raw=raw)


@pytest.mark.parametrize("name", ["brain", "colon"])
@pytest.mark.parametrize("setting", [Setting(), CODE])
def test_in_the_code_of_table_5_the_grid_search_and_sparse_k_means_see_raw_data_except_for_brain(
    seen, monkeypatch, setting, name
):
    X, y = np.random.default_rng(0).normal(size=(12, 400)), np.arange(12) % 2
    monkeypatch.setattr(catalogue, "load_microarray", lambda *_: Samples(X, y))
    EXPERIMENTS["table-5"].run(Job({"data": name}, "sas-grid", 0), setting)
    options = seen[0][-1]
    raw = {
        method
        for method in EXPERIMENTS["table-5"].methods
        if _estimator(method, 2, 0, options).get_params().get("standardize") is False
    }
    assert raw == ({"sas-grid", "sparse-kmeans"} if setting == CODE and name != "brain" else set())


@pytest.mark.parametrize("method", [name for name in EXPERIMENTS["table-5"].methods if name != "sas"])
def test_in_the_preset_of_table_5_methods_see_scaled_samples_and_do_not_scale_genes(monkeypatch, method):
    counts, y = np.random.default_rng(0).poisson(40, size=(12, 400)).astype(float), np.arange(12) % 2
    monkeypatch.setattr(catalogue, "load_microarray", lambda *_: Samples(counts, y))
    calls = []
    monkeypatch.setattr(contenders, "contend", lambda *given: calls.append(given) or Result(y, np.ones(400, bool)))
    EXPERIMENTS["table-5"].run(Job({"data": "colon"}, method, 3), PRESET)
    ((name, data, k, seed, options),) = calls
    assert (name, k, seed) == (method, 2, 3)
    np.testing.assert_allclose(data.X, ExpressionScaler().fit_transform(counts))
    assert _estimator(method, k, seed, options).get_params().get("standardize") in (False, None)


@pytest.mark.parametrize("method", ["sas", "ward", "screened-variance"])
def test_in_the_preset_of_table_5_the_scale_of_a_sample_does_not_matter(monkeypatch, method):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 60)) + np.outer(np.arange(12) % 2, np.arange(60) < 20), np.arange(12) % 2
    rows = []
    for factors in (1.0, 2.0 ** rng.integers(-3, 4, (12, 1))):  # powers of two, so that nothing is rounded
        monkeypatch.setattr(catalogue, "load_microarray", lambda *_, f=factors: Samples(f * X, y))
        rows.append(EXPERIMENTS["table-5"].run(Job({"data": "colon"}, method, 0), PRESET))
    assert rows[0] == rows[1]


def test_as_published_sas_has_one_coordinate_wise_start_and_keeps_its_features_on_permuted_copies():
    for name, search in {"sas-grid": "grid", "sas-golden": "golden"}.items():
        given = _estimator(name, 3, 0, Conditions()).get_params()
        assert {key: given[key] for key in ("init", "n_init", "consensus", "null", "search")} == {
            "init": "coordinate", "n_init": 1, "consensus": False, "null": "fixed", "search": search
        }  # fmt: skip
    medoids = _estimator("sas-medoids", 3, 0, Conditions(metric="hamming")).get_params()
    assert (medoids["clusterer"], medoids["init"], medoids["metric"]) == ("kmedoids", "random", "hamming")
