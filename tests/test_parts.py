"""Tables in parts: several files, and files that are larger than the memory, give the answer of the table in memory."""

import json

import numpy as np
import pandas as pd
import pytest

from sparsecluster import load_model
from sparsecluster.io import FileError, Options
from sparsecluster.io._parts_text import last_end, lengths_of
from sparsecluster.io.parts import are_parts, open_parts
from sparsecluster.metrics import adjusted_rand_index, error_rate, rand_index
from sparsecluster.metrics.agreement import measures_of
from tests.helpers.parts import FEATURES, QUICK, cut, labels_in, made_table, ran, refused, same_result

pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the whole table, with its parts in several formats, and with the result of the whole."""
    folder, table = tmp_path_factory.mktemp("parts"), made_table()
    table.to_csv(folder / "whole.csv", index=False, na_rep="?")
    table.to_parquet(folder / "whole.parquet", row_group_size=300)
    for number, part in enumerate(cut(table)):
        part.to_parquet(folder / f"part-{number}.parquet")
        part.to_csv(folder / f"part-{number}.csv", index=False, na_rep=["?", "NA", "", "."][number])
        part.to_csv(folder / f"part-{number}.csv.gz", index=False)
    ran("fit", folder / "whole.csv", *QUICK, "--truth", "group", "--out", folder / "whole")
    return folder


def test_names_stand_for_parts_if_they_are_several_or_a_folder_or_a_pattern(tmp_path):
    (tmp_path / "a[1].csv").touch()
    assert are_parts(["a.csv", "b.csv"])
    assert are_parts([str(tmp_path)])
    assert are_parts(["part-*.csv"])
    assert not are_parts(["a.csv"])
    assert not are_parts([str(tmp_path / "a[1].csv")])


# ---------------------------------------------------------------- the same answer


@pytest.mark.parametrize("pattern", ["part-*.parquet", "part-?.csv", "part-*.csv.gz"])
def test_a_table_in_parts_has_the_result_of_the_table_in_memory(place, tmp_path, pattern):
    ran("fit", place / pattern, *QUICK, "--truth", "group", "--jobs", "2", "-o", tmp_path / "result")
    same_result(tmp_path / "result", place / "whole")
    names = {file.name for file in (tmp_path / "result").iterdir()}
    assert {"labels", "model.json", "report.html"} <= names
    assert "labels.csv" not in names
    report = (tmp_path / "result" / "report.html").read_text()
    assert "random sample of 2,000 of 2,400 samples" in report


def test_a_preset_prepares_a_table_in_parts_as_it_does_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.lognormal(3.0, size=(2400, 12))).add_prefix("gene")
    table.iloc[::3, :4] *= 5.0
    table.to_parquet(tmp_path / "whole.parquet")
    for number in range(4):
        table[number * 600 : (number + 1) * 600].to_parquet(tmp_path / f"part-{number}.parquet")
    options = ("-k", "2", "--preset", "expression")
    ran("fit", tmp_path / "whole.parquet", *options, "-o", tmp_path / "whole")
    ran("fit", tmp_path / "part-*.parquet", *options, "-o", tmp_path / "parts")
    # Rows are scaled by sums whose last digits depend on the block.
    pd.testing.assert_frame_equal(*(pd.read_csv(tmp_path / name / "features.csv") for name in ("whole", "parts")))


def test_several_names_and_a_folder_are_parts_in_the_order_given(place, tmp_path):
    table = made_table()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "_SUCCESS").touch()
    for number, part in enumerate(cut(table)):
        part.to_parquet(tmp_path / "folder" / f"{number}.parquet")
    names = [str(place / f"part-{number}.parquet") for number in (2, 0, 1, 3)]
    folder = open_parts([str(tmp_path / "folder")])
    assert folder.table["name"].compute().tolist() == table["name"].tolist()
    order = [name for number in (2, 0, 1, 3) for name in cut(table)[number]["name"]]
    assert open_parts(names).table["name"].compute().tolist() == order


def test_an_array_of_zarr_has_the_result_of_the_array_in_memory(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = made_table()[FEATURES].to_numpy()
    np.save(tmp_path / "whole.npy", X)
    stored = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(500, 4), dtype="f8")
    stored[:] = X
    ran("fit", tmp_path / "whole.npy", *QUICK, "-o", tmp_path / "whole")
    ran("fit", tmp_path / "X.zarr", *QUICK, "-o", tmp_path / "result")
    same_result(tmp_path / "result", tmp_path / "whole")


@pytest.mark.parametrize("name", ["whole.csv", "whole.parquet"])
def test_a_file_that_is_larger_than_the_limit_is_read_in_blocks(place, tmp_path, name):
    limit = {"whole.csv": "1.6MB", "whole.parquet": "900kB"}[name]
    told = ran("fit", place / name, *QUICK, "--truth", "group", "--max-memory", limit, "-o", tmp_path / "result").stdout
    assert "needs more memory than the limit, so it is read in blocks" in told
    assert len(list((tmp_path / "result" / "labels").iterdir())) > 1
    same_result(tmp_path / "result", place / "whole")


def test_few_rows_and_methods_without_blocks_have_their_results_in_memory(place, tmp_path):
    for number, part in enumerate(cut(made_table().head(300))):
        part.to_parquet(tmp_path / f"{number}.parquet")
    ran("fit", tmp_path / "?.parquet", *QUICK, "--truth", "group", "-o", tmp_path / "small")
    ran("fit", tmp_path / "?.parquet", "-k", "3", "--method", "ward", "--drop", "color,f1", "-o", tmp_path / "ward")
    assert len(pd.read_csv(tmp_path / "small" / "labels.csv")) == 300
    assert len(pd.read_csv(tmp_path / "ward" / "labels.csv")) == 300
    assert "all parts at once" in refused(
        "fit", place / "whole.parque?", "-k", "3", "--method", "ward", "--max-memory", "900kB", "-o", tmp_path / "no"
    )


# ---------------------------------------------------------------- what is done with a result


def test_the_model_of_a_table_in_parts_predicts_in_parts_and_in_memory(place, tmp_path):
    ran("fit", place / "part-*.parquet", *QUICK, "--drop", "group", "-o", tmp_path / "result")
    model = tmp_path / "result" / "model.json"
    known = labels_in(tmp_path / "result" / "labels")
    assert "labels_" not in json.loads(model.read_text())["fitted"]
    assert sum(json.loads(model.read_text())["sizes"]) == len(known)
    assert "3 clusters" in load_model(model).summary()
    ran("predict", model, place / "whole.csv", "--out", tmp_path / "labels.csv")
    for _ in range(2):
        # The second time, a folder of parts is replaced.
        ran("predict", model, place / "part-?.csv", "--out", tmp_path / "labels")
    for found in (pd.read_csv(tmp_path / "labels.csv"), labels_in(tmp_path / "labels")):
        assert found["cluster"].tolist() == known["cluster"].tolist()
        assert found["id"].tolist() == known["id"].tolist()
    assert "--out" in refused("predict", model, place / "part-*.parquet")


def test_a_result_in_parts_and_one_in_memory_replace_each_other(place, tmp_path):
    out = tmp_path / "result"
    for data, own, other in (("part-*.parquet", "labels", "labels.csv"), ("whole.csv", "labels.csv", "labels")) * 2:
        ran("fit", place / data, *QUICK, "--drop", "group", "--no-report", "-o", out)
        names = [file.name for file in out.iterdir()]
        assert own in names
        assert other not in names
    (out / "labels").mkdir()
    (out / "labels" / "mine.txt").write_text("mine")
    ran("fit", place / "whole.csv", *QUICK, "--drop", "group", "--no-report", "-o", out)
    assert (out / "labels" / "mine.txt").read_text() == "mine"


def test_info_describes_parts_without_reading_them_at_once(place):
    whole = json.loads(ran("info", place / "whole.csv", "--json").stdout)
    parts = json.loads(ran("info", place / "part-?.csv", "--json").stdout)
    assert parts["samples"] == whole["samples"]
    for own, known in zip(parts["columns"], whole["columns"], strict=True):
        assert {key: own[key] for key in ("name", "compared by")} == {
            key: known[key] for key in ("name", "compared by")
        }
        # Of columns that are not features, parts tell only what they are used for.
        is_feature = own["use"] == "feature"
        assert own["use"] == known["use"]
        assert own["missing"] == (pytest.approx(known["missing"], abs=1e-3) if is_feature else None)


def test_agreement_from_counts_is_that_of_the_labels():
    rng = np.random.default_rng(0)
    truth, labels = rng.integers(4, size=50), rng.integers(3, size=50)
    counts = np.zeros((4, 3), np.int64)
    np.add.at(counts, (truth, labels), 1)
    expected = {"rand": rand_index(truth, labels), "ari": adjusted_rand_index(truth, labels)}
    assert measures_of(counts) == expected | {"error": error_rate(truth, labels)}


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("block", "end"), [(b"a,b\nc", 4), (b'a,"b\nc', 0), (b'a\n"b\nc"\nd', 8), (b'a\n"b\n', 2), (b"abc", 0)]
)
def test_a_line_does_not_end_within_quotes(block, end):
    assert last_end(block) == end


def test_text_is_cut_at_the_ends_of_lines(tmp_path):
    rows = [f'{i},"{"x" * (i % 7)}\n{i}"\n' for i in range(200)]
    (tmp_path / "a.csv").write_text("".join(rows))
    with open(tmp_path / "a.csv", "rb") as opened:
        lengths = list(lengths_of(opened, 100, "a.csv"))
    assert sum(length for length, _ in lengths) == (tmp_path / "a.csv").stat().st_size
    assert sum(lines for _, lines in lengths) == 400
    assert max(length for length, _ in lengths) <= 100


def test_parts_of_text_are_read_by_the_rules_for_one_file(tmp_path):
    (tmp_path / "1.csv").write_text('x;y;z;w\n1,5; red ;?;true\n NA;"blue;1";2;false\n')
    (tmp_path / "2.csv").write_text("x;y;z;w\n2;3;.;true\n3;;4,5;\n")
    parts = open_parts([str(tmp_path / "*.csv")])
    table = parts.table.compute()
    assert parts.check() == [2, 2]
    assert table["x"].tolist() == pytest.approx([1.5, np.nan, 2, 3], nan_ok=True)
    assert table["y"].fillna("").tolist() == ["red", "blue;1", "3", ""]
    assert table["z"].tolist() == pytest.approx([np.nan, 2, np.nan, 4.5], nan_ok=True)
    assert table["w"].tolist() == [True, False, True, pd.NA]


def test_parts_without_text_have_the_encoding_that_is_given(tmp_path):
    (tmp_path / "1.csv").write_bytes("größe,x\n1,2\n".encode("latin-1"))
    assert open_parts([str(tmp_path / "?.csv")], options=Options(encoding="latin-1")).names == ["größe", "x"]
    with pytest.raises(FileError, match="--encoding"):
        open_parts([str(tmp_path / "?.csv")])
    with pytest.raises(FileError, match="Convert the files to UTF-8"):
        open_parts([str(tmp_path / "?.csv")], options=Options(encoding="utf-16"))
