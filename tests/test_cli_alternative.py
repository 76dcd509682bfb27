"""`fit --alternative`: another good clustering of the same samples as the result, in all files."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster import adjusted_rand_index
from sparsecluster.cli import app
from sparsecluster.io.models import load_model
from tests.helpers.pages import Page

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

RNG = np.random.default_rng(0)
SEX, DISEASE = RNG.integers(2, size=(2, 60))
X = RNG.normal(size=(60, 20))
X[:, :6] += 4 * SEX[:, None]
X[:, 6:12] += 2.5 * DISEASE[:, None]
TABLE = pd.DataFrame(X.round(3)).add_prefix("f").assign(disease=np.where(DISEASE, "yes", "no"))
FIRST = ("-k", "2", "--truth", "disease")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own with the table, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments), "-o", "out"])


def test_all_files_are_those_of_the_alternative(here):
    ended = run("table.csv", *FIRST, "--alternative", 0)
    assert ended.exit_code == 0, ended.output
    labels = pd.read_csv("out/labels.csv")["cluster"]
    features = pd.read_csv("out/features.csv")
    summary = json.loads((here / "out" / "summary.json").read_text())
    assert adjusted_rand_index(DISEASE, labels) == 1
    assert set(features["name"][features["chosen"] == 1]) == {f"f{a}" for a in range(6, 12)}
    assert summary["truth"]["ari"] == 1
    assert load_model("out/model.json").predict(TABLE.drop(columns="disease")).tolist() == labels.tolist()
    page = Page((here / "out" / "report.html").read_text())
    assert "Clusters in table.csv: alternative 0" in page.text
    assert "This is alternative 0 to the clustering that is found without --alternative." in page.text
    assert not (here / "out" / "alternatives.csv").exists()
    found = {}
    exec(summary["settings"]["python"], found)
    assert ".use_alternative(0)\n" in summary["settings"]["python"]
    assert found["labels"].tolist() == labels.tolist()
    assert set(found["chosen"]) == set(features["name"][features["chosen"] == 1])


def test_it_has_the_number_that_alternatives_csv_gives_it(here):
    assert run("table.csv", *FIRST, "--no-assess").exit_code == 0
    numbered = pd.read_csv("out/alternatives.csv")["alternative_0"].tolist()
    assert run("table.csv", *FIRST, "--alternative", 0).exit_code == 0
    assert pd.read_csv("out/labels.csv")["cluster"].tolist() == numbered


def test_an_alternative_is_not_assessed_and_this_is_told(here):
    told = run("table.csv", *FIRST, "--alternative", 0).output
    assert "Note: The clustering was not assessed, because an assessment fits the method again" in told
    assert "Use --assess" not in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "sparse-kmeans", "--alternative", 0), "The method 'sparse-kmeans' finds no alternatives."),
        (("--alternative", 3), "--alternative must be a whole number in [0, 2]"),
        (("--alternative", 0, "--assess"), "--assess cannot be used with --alternative"),
        (("--alternative", -1), "--alternative"),
    ],
)
def test_what_cannot_be_is_refused_before_the_table_is_read(here, options, words):
    ended = run("no such file.csv", "-k", 2, *options)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert "no such file" not in ended.stderr


def test_a_number_that_no_alternative_has_is_told_with_how_many_there_are(here):
    ended = run("table.csv", *FIRST, "--alternative", 2)
    assert ended.exit_code == 2
    assert "--alternative must be a whole number in [0, 0]; got 2. 1 alternative was found" in ended.stderr
    TABLE.iloc[:, :6].to_csv("one way.csv", index=False)
    ended = run("one way.csv", "-k", 2, "-s", 6, "--alternative", 0)
    assert ended.exit_code == 2
    assert "no other good clustering of the samples was found" in ended.stderr
    assert not (here / "out").exists()


def test_a_table_in_blocks_has_alternatives_too(here):
    pytest.importorskip("dask")
    from tests.helpers.parts import labels_in

    rng = np.random.default_rng(1)
    sex, disease = rng.integers(2, size=(2, 2400))
    many = rng.normal(size=(2400, 8))
    many[:, :3] += 4 * sex[:, None]
    many[:, 3:6] += 3.5 * disease[:, None]
    frame = pd.DataFrame(many).add_prefix("f").assign(disease=disease)
    for number, rows in enumerate((slice(0, 900), slice(900, None))):
        frame[rows].to_parquet(f"part-{number}.parquet", index=False)
    numbers = ("part-0.parquet", "part-1.parquet", "-k", 2, "-s", 3, "--truth", "disease", "--no-report")
    assert run(*numbers).exit_code == 0
    numbered = labels_in(here / "out" / "labels")["alternative_0"].tolist()
    assert adjusted_rand_index(disease, numbered) > 0.9
    assert run(*numbers, "--alternative", 0).exit_code == 0
    labels = labels_in(here / "out" / "labels")
    assert list(labels.columns) == ["cluster"]
    assert labels["cluster"].tolist() == numbered
    summary = json.loads((here / "out" / "summary.json").read_text())
    assert sorted(summary["sizes"]) == sorted(np.bincount(numbered).tolist())
    assert summary["truth"]["ari"] > 0.9
    features = pd.read_csv("out/features.csv")
    assert set(features["name"][features["chosen"] == 1]) == {"f3", "f4", "f5"}
