"""What a result says of how to get it again: the command and the Python code give exactly this result."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.cli.again import quoted
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.common import arguments_in

pd = pytest.importorskip("pandas")

FULL = shifted_groups(mu=3.0, n_features=12, n_useful=4, group_size=10, seed=0)
TABLE = pd.DataFrame(FULL.X.round(3), columns=[f"f{a}" for a in range(12)])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fitted(*arguments):
    """The summary of a fit, and its labels and features."""
    ended = CliRunner().invoke(app, ["fit", *map(str, arguments), "--no-report", "--no-assess", "-o", "out"])
    assert ended.exit_code == 0, ended.output
    with open("out/summary.json", encoding="utf-8") as file:
        return json.load(file)["settings"]


def assert_same(code):
    """Code in Python gives the labels and features of the files, and nothing else."""
    found = {}
    exec(code, found)
    labels = pd.read_csv("out/labels.csv")["cluster"].tolist()
    features = pd.read_csv("out/features.csv", dtype={"name": str})
    assert found["labels"].tolist() == labels
    assert set(found["chosen"]) == set(features["name"][features["chosen"] == 1])
    scores = dict(zip(found["table"].names, found["found"].feature_scores_, strict=True))
    assert [round(scores[name], 6) for name in features["name"]] == features["score"].tolist()


def test_a_table_of_numbers(here):
    TABLE.assign(group=FULL.truth).to_csv("table.csv", index=False)
    code = fitted("table.csv", "--truth", "group", "--seed", 3)["python"]
    assert "SASClustering(n_clusters='auto', random_state=3)" in code
    assert "read_table('table.csv', truth='group')" in code
    assert_same(code)


def test_a_mixed_table_with_many_options(here):
    mixed = mixed_groups(n_features=12, n_useful=6, group_size=12, seed=0, shift=3.0).X.round(3)
    mixed["it's, a = b"] = np.random.default_rng(0).integers(0, 3, len(mixed))
    mixed["city"] = np.random.default_rng(1).choice(["a", "b"], len(mixed))
    mixed["customer_id"] = np.random.default_rng(2).permutation(len(mixed))
    mixed["day"] = 20240101 + np.random.default_rng(3).integers(0, 28, len(mixed))
    mixed.to_csv("mixed.csv", index=False, sep=";")
    options = (
        "--drop",
        "city,number1",
        "--keep",
        "customer_id",
        "--dates",
        "day",
        "--metric",
        "it's, a = b=hamming",
        "--metric",
        "number0=manhattan",
    )
    code = fitted("mixed.csv", "-k", 3, *options, "--delimiter", ";", "--no-standardize")["python"]
    assert "standardize=False" in code
    assert "drop=('city', 'number1')" in code
    assert "dates=('day',)" in code
    assert "Options(delimiter=';')" in code
    assert_same(code)


def test_genes_in_rows_with_the_preset_and_k_chosen(here):
    rng = np.random.default_rng(0)
    level = 200 * 2.0 ** (rng.normal(size=12) + 2 * np.eye(3, 12)[FULL.truth])
    counts = pd.DataFrame(rng.poisson(level), columns=TABLE.columns, index=[f"s{i}" for i in range(30)])
    counts.T.to_csv("genes.tsv", sep="\t", index_label="gene")
    code = fitted("genes.tsv", "--transpose", "--preset", "expression")["python"]
    assert "expression_clustering(n_clusters='auto')" in code
    assert "transpose=True" in code
    assert_same(code)
    other = fitted("genes.tsv", "--transpose", "--preset", "expression", "--method", "sparse-kmeans", "-k", 3)["python"]
    assert "ExpressionScaler" in other
    assert_same(other)


def test_an_alternative_of_prepared_genes(here):
    rng = np.random.default_rng(1)
    sex, disease = rng.integers(2, size=(2, 60))
    up_and_down, nothing = np.repeat([1, -1], 10), np.zeros(20)
    shifts = np.outer(sex, [*up_and_down, *nothing, *nothing]) + np.outer(disease, [*nothing, *up_and_down, *nothing])
    level = 200 * 2.0 ** (rng.normal(size=(60, 60), scale=0.7) + 1.5 * shifts)
    pd.DataFrame(rng.poisson(level)).add_prefix("g").to_csv("genes.csv", index=False)
    code = fitted("genes.csv", "-k", 2, "--preset", "expression", "--alternative", 0)["python"]
    assert ".fit(table.X)[-1].use_alternative(0)\n" in code
    assert_same(code)


@pytest.mark.parametrize("method", some(METHODS))
def test_every_method(here, method):
    TABLE.to_csv("table.csv", index=False)
    assert_same(fitted("table.csv", "-k", 3, "--method", method)["python"])


@pytest.mark.parametrize("kind", [sp.csr_matrix, np.asarray])
def test_an_annotated_matrix(here, kind):
    anndata = pytest.importorskip("anndata")
    genes = pd.DataFrame(index=[f"gene {a}" for a in range(12)])
    anndata.AnnData(kind(TABLE.to_numpy()), obs=pd.DataFrame(index=map(str, range(30))), var=genes).write_h5ad("c.h5ad")
    assert_same(fitted("c.h5ad", "-k", 3, "--drop", "gene 3")["python"])
    if kind is np.asarray:
        assert_same(fitted("c.h5ad", "-k", 3, "--metric", "gene 3=manhattan")["python"])


def test_a_table_in_parts_has_a_command_only(here):
    pytest.importorskip("dask")
    for number in range(2):
        TABLE.to_csv(f"part-{number}.csv", index=False)
    assert fitted("part-0.csv", "part-1.csv", "-k", 3)["python"] is None


def test_the_command_can_be_run_again_with_hostile_names(here, monkeypatch):
    name = 'it\'s $(touch x)\x1b[31m "a".csv'
    TABLE.to_csv(here / name, index=False)
    options = ["-k", "3", "-s", "4", "--drop", "f11", "--no-report", "-o", "o ut"]
    monkeypatch.setattr(sys, "argv", ["sparsecluster", "fit", name, *options])
    assert CliRunner().invoke(app, sys.argv[1:]).exit_code == 0
    first = (here / "o ut" / "labels.csv").read_bytes()
    settings = json.loads((here / "o ut" / "summary.json").read_text())["settings"]
    assert "\x1b" not in settings["command"] + settings["python"]
    (here / "o ut" / "labels.csv").unlink()
    assert CliRunner().invoke(app, arguments_in(settings["command"])).exit_code == 0
    assert (here / "o ut" / "labels.csv").read_bytes() == first
    assert not (here / "x").exists()


def test_standard_input_is_noted(here):
    ended = CliRunner().invoke(app, ["fit", "-", "-k", "3", "-s", "4", "-o", "out"], input=TABLE.to_csv(index=False))
    assert ended.exit_code == 0, ended.output
    settings = json.loads((here / "out" / "summary.json").read_text())["settings"]
    assert "# the table is read from standard input" in settings["command"]
    assert "# the table is read from standard input" in settings["python"]


@pytest.mark.parametrize(
    "word", ["plain", "two words", "it's", "", "$HOME", "a\nb", "\x1b[2J", "naïve 名前", "\udcff\x07'"]
)
def test_a_shell_reads_what_was_quoted(word):
    told = subprocess.run(["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True).stdout
    assert told == os.fsencode(word)
    assert not any(letter < " " for letter in quoted(word))
