"""`predict` gives new samples what labels.csv has for those of the fit."""

import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.datasets import mixed_groups, shifted_groups
from sparsecluster.methods.registry import METHODS

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("short_assessments")

FULL = shifted_groups(mu=3.0, n_features=12, n_useful=4, group_size=10, seed=0)
TABLE = pd.DataFrame(FULL.X.round(3), columns=[f"f{a}" for a in range(12)], index=[f"s{i}" for i in range(30)])
MIXED = mixed_groups(n_features=12, n_useful=6, group_size=12, seed=0, shift=4.0, missing=0.0).X.round(3)
PLACES = ["distance", "second_cluster", "silhouette"]


def done(*arguments):
    ended = CliRunner().invoke(app, [*map(str, arguments)])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def fitted(folder, table, *options, **more):
    """The labels of a fit, and where the same samples are as new ones."""
    table.to_csv(folder / "table.csv", index_label="name")
    done("fit", folder / "table.csv", "--no-report", "--no-assess", *options, "-o", folder / "out")
    told = done("predict", folder / "out" / "model.json", folder / "table.csv", *more.get("predict", ()))
    return pd.read_csv(folder / "out" / "labels.csv"), pd.read_csv(io.StringIO(told))


@pytest.mark.parametrize(
    ("table", "options"),
    [(TABLE, ("-s", 4)), (MIXED, ("-s", 6)), (TABLE.abs() * 100, ("--preset", "expression"))],
    ids=["numbers", "mixed", "preset"],
)
def test_the_samples_of_the_fit_get_the_values_of_labels_csv(tmp_path, table, options):
    labels, told = fitted(tmp_path, table, "-k", 3, *options)
    assert told.columns.tolist() == ["id", "cluster", *PLACES]
    pd.testing.assert_frame_equal(told, labels[told.columns])


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.soft])
def test_mixtures_give_the_probability_of_the_cluster(tmp_path, method):
    labels, told = fitted(tmp_path, TABLE, "-k", 3, "--method", method)
    assert told.columns.tolist() == ["id", "cluster", "probability", "second_cluster"]
    assert told["cluster"].tolist() == labels["cluster"].tolist()
    assert told["probability"].between(1 / 3, 1).all()
    np.testing.assert_allclose(told["probability"], labels["probability"], atol=1e-4)


def test_new_samples_are_measured_against_the_clusters(tmp_path):
    fitted(tmp_path, TABLE, "-k", 3, "-s", 4)
    far = TABLE.iloc[[0, 0, 0]].copy()
    far.iloc[1] += 5
    far.iloc[2] = np.nan
    far.index = ["known", "far", "blank"]
    far.to_csv(tmp_path / "new.csv", index_label="name")
    ended = CliRunner().invoke(app, ["predict", str(tmp_path / "out/model.json"), str(tmp_path / "new.csv"), "--json"])
    known, distant, blank = json.loads(ended.stdout)
    assert distant["distance"] > 3 * known["distance"]
    assert known["cluster"] != known["second_cluster"]
    assert -1 <= distant["silhouette"] <= 1
    assert blank == {"id": "blank", "cluster": -1, "distance": None, "second_cluster": -1, "silhouette": None}
    assert "1 of 3 samples have no observed value" in ended.stderr


def test_parts_have_the_same_columns_and_empty_ones_too(tmp_path):
    pytest.importorskip("dask")
    labels, _ = fitted(tmp_path, TABLE, "-k", 3, "-s", 4)
    for number, rows in enumerate((slice(0, 12), slice(12, 12), slice(12, 30))):
        TABLE.iloc[rows].reset_index(names="name").to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    done("predict", tmp_path / "out/model.json", tmp_path / "part-*.parquet", "--id", "name", "-o", tmp_path / "new")
    parts = [pd.read_parquet(file) for file in sorted((tmp_path / "new").glob("part-*.parquet"))]
    assert all(part.columns.tolist() == ["id", "cluster", *PLACES] for part in parts)
    told = pd.concat([part for part in parts if len(part)], ignore_index=True)
    pd.testing.assert_frame_equal(told, labels[told.columns], check_dtype=False)


def test_long_tables_in_blocks_have_the_same_values(tmp_path, monkeypatch):
    labels, _ = fitted(tmp_path, TABLE, "-k", 3, "-s", 4)
    monkeypatch.setattr("sparsecluster.io.streams.MOST_AT_ONCE", 5)
    monkeypatch.setattr("sparsecluster.io.formats.MOST_AT_ONCE", 5)
    told = pd.read_csv(io.StringIO(done("predict", tmp_path / "out/model.json", tmp_path / "table.csv")))
    pd.testing.assert_frame_equal(told, labels[told.columns])
