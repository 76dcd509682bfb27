"""`info` describes every column of a table: what it is, how it is compared, and why it would be used or not."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from sparsecluster.cli import app

pd = pytest.importorskip("pandas")

KEYS = ["name", "use", "type", "metric", "compared by", "values", "missing", "example", "why", "advice"]
STRANGE = "name,n,word,flag,still,rare,[bold]x[/bold]\n" + "".join(
    f"r{i},{i / 2},{'ab'[i % 2]},{i % 2 == 0},1,{i if i == 3 else ''},{'' if i < 5 else i}\n" for i in range(20)
)


def run(*arguments, given=None, **env):
    return CliRunner().invoke(app, ["info", *map(str, arguments)], input=given, env=env)


def done(*arguments, given=None, **env):
    ended = run(*arguments, given=given, **env)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def told(*arguments, given=None):
    """What is said as JSON: the columns by name, and the notes."""
    found = json.loads(done(*arguments, "--json", given=given))
    assert all(list(column)[:10] == KEYS for column in found["columns"])
    return {column["name"]: column for column in found["columns"]}, " ".join(found["notes"])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=40),
            "email": [f"user{i}@example.org" for i in range(40)],
            "city": rng.choice(["Rome", "Oslo"], 40),
            "stars": rng.integers(1, 5, 40),
            "vip": rng.random(40) < 0.5,
            "still": "same",
            "empty": [None] * 40,
        }
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_every_column_is_described_in_the_order_of_the_file(table):
    columns, _ = told(table)
    assert list(columns) == ["size", "email", "city", "stars", "vip", "still", "empty"]
    types = {name: column["type"] for name, column in columns.items() if column["use"] == "feature"}
    assert types == {"size": "numbers", "city": "levels", "stars": "numbers", "vip": "true or false"}
    assert {name for name, column in columns.items() if column["use"] == "left out"} == {"email", "still", "empty"}
    assert [columns[name]["metric"] for name in ("size", "city", "vip")] == ["sqeuclidean", "hamming", "hamming"]
    assert columns["city"]["compared by"] == "same level or not"
    assert (columns["stars"]["values"], columns["empty"]["missing"]) == (4, 1.0)
    assert all(column["why"].endswith(".") for column in columns.values())


def test_text_in_which_every_value_is_different_is_explained_and_stops_nothing(table):
    columns, _ = told(table)
    assert columns["email"]["values"] == 40
    assert columns["email"]["why"]
    assert "email" in done(table)
    assert columns["stars"]["advice"] == "If these are codes of categories, use --metric stars=hamming."


def test_a_metric_by_column_is_shown_and_columns_can_be_left_out(table):
    columns, _ = told(table, "--metric", "stars=hamming,size=manhattan", "--drop", "city", "--drop", "vip")
    assert (columns["stars"]["metric"], columns["size"]["metric"]) == ("hamming", "manhattan")
    assert not {"city", "vip"} & {name for name, column in columns.items() if column["use"] == "feature"}
    assert "--metric must name a column" in run(table, "--metric", "starz=hamming").stderr


@pytest.mark.parametrize("content", ["infinite", "large"])
def test_what_a_fit_would_refuse_is_said_of_its_column(tmp_path, content):
    value = {"infinite": "inf", "large": "1e305"}[content]
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{value if i == 3 else i}\n" for i in range(10)))
    columns, _ = told(tmp_path / "t.csv")
    assert columns["b"]["use"] == "left out"
    assert columns["b"]["why"].startswith("It holds")


def test_names_are_printed_as_they_are(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "table.csv").write_text(STRANGE)
    words = done("-", given=STRANGE)
    assert words.startswith("20 samples, ")
    assert "[bold]x[/bold]" in words
    assert re.search(r"rare +left out +numbers +squared difference +1 +95%", words)


def test_long_names_are_whole_without_a_terminal_and_fold_on_a_narrow_one(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    name = "expression of a gene with a very long name indeed " * 4
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 2)), columns=[name.strip(), "b"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert name.strip() in done(tmp_path / "t.csv")
    narrow = done(tmp_path / "t.csv", COLUMNS="80")
    lines = narrow.splitlines()[1:]
    assert max(map(len, lines)) <= 80
    assert "…" not in narrow
    assert narrow.count("indeed") == 4


def test_a_wide_table_is_counted_by_kind_and_reason(tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 300))).add_prefix("c").assign(word=["a", "b"] * 10)
    wide[["c50", "c60"]] = 1.0
    wide.to_csv(tmp_path / "wide.csv", index=False)
    words = done(tmp_path / "wide.csv")
    assert "20 samples, 301 columns: 299 used as features, 2 left out." in words
    assert "... and 261 more columns: 258 feature, numbers; 2 left out, numbers; 1 feature, levels." in words
    assert "c50, c60: All its values are the same." in words
    assert len(told(tmp_path / "wide.csv")[0]) == 301


@pytest.mark.parametrize("kind", [sp.csr_matrix, np.asarray])
def test_an_annotated_matrix_is_described_with_its_density_and_counts(tmp_path, kind):
    anndata = pytest.importorskip("anndata")
    counts = np.random.default_rng(0).poisson(0.5, size=(30, 8)).astype(float)
    counts[:, 3] = 0
    about = pd.DataFrame({"tissue": ["a", "b"] * 15}, index=[f"cell{i}" for i in range(30)])
    genes = pd.DataFrame(index=[f"gene{a}" for a in range(8)])
    anndata.AnnData(kind(counts), obs=about, var=genes).write_h5ad(tmp_path / "cells.h5ad")
    columns, notes = told(tmp_path / "cells.h5ad")
    features = [f"gene{a}" for a in range(8)]
    assert [name for name in columns if name in features] == features
    assert [columns[name]["values"] for name in features] == [np.unique(each).size for each in counts.T]
    assert (columns["gene3"]["use"], columns["gene3"]["why"]) == ("left out", "All its values are the same.")
    assert f"{(counts != 0).mean():.1%} of the values are not zero" in notes
    assert "like counts" in notes
    assert "Preset expression" in told(tmp_path / "cells.h5ad", "--preset", "expression")[1]


def test_a_matrix_of_logarithms_is_no_counts(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 9)), index=[f"g{a}" for a in range(5)])
    table.add_prefix("s").to_csv(tmp_path / "genes.csv", index_label="gene")
    columns, notes = told(tmp_path / "genes.csv", "--transpose")
    assert [name for name, column in columns.items() if column["use"] == "feature"] == [f"g{a}" for a in range(5)]
    assert columns["gene"]["use"] == "id"
    assert "The values are no counts" in notes


def test_a_preset_for_a_table_with_words_is_said_and_stops_nothing(table):
    columns, notes = told(table, "--preset", "expression")
    assert len(columns) == 7
    assert "--preset" in notes
