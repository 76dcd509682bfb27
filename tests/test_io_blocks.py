"""Tables are read in blocks of rows: every block size and format gives the same table, and memory stays small."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sparsecluster import SASClustering
from sparsecluster._search.curve import TuningCurve
from sparsecluster.cli import app
from sparsecluster.inspection.columns import NumberColumns, describe_columns, describe_numbers
from sparsecluster.io import cells, curves, formats, packed, read_blocks, read_table
from sparsecluster.io.models import ModelError, as_dict, load_model, save_model
from sparsecluster.io.text import distinct
from tests.helpers.memory import MEASURED, reading

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

MISSING = ["", "NA", "nan", "?"]
CELLS = {
    "floats": ["1.5", "-2e3", "0.1", "7"],
    "whole numbers": ["1", "-2", "+3", "007"],
    "missing numbers": ["1", "NA", "", "2.5"],
    "large whole numbers": ["1", "12345678901234567", "3", "4"],
    "infinity": ["inf", "1", "-Infinity", "2"],
    "words": ["a", "b", "a", "NA"],
    "truth values": ["True", "False", "True", "True"],
    "numbers, then a word": ["1", "2", "3", "four"],
    "blanks around": [" 1", "2 ", " NA ", "4"],
    "nothing": ["", "NA", "", "?"],
    "digits with gaps": ["1_0", "2_0", "3", "4"],
}


@pytest.mark.parametrize("block", [1, 3, 2**18])
@pytest.mark.parametrize("has_arrow", [True, False])
def test_columns_have_the_values_and_types_that_pandas_gives_them(tmp_path, monkeypatch, block, has_arrow):
    monkeypatch.setattr(cells, "BLOCK_CELLS", block)
    if not has_arrow:
        monkeypatch.setattr(cells, "parsed", lambda *given: None)
    file = tmp_path / "table.csv"
    with file.open("w") as out:
        csv.writer(out).writerows([["first", *CELLS], *zip("1234", *CELLS.values(), strict=True)])
    expected = pd.read_csv(
        file, na_values=MISSING, keep_default_na=False, skipinitialspace=True, float_precision="round_trip"
    )
    expected["blanks around"] = [1.0, 2.0, np.nan, 4.0]
    pd.testing.assert_frame_equal(read_table(file).X, expected, check_exact=True)


@given(st.lists(st.sampled_from(["a", "b", "", "a.1", "a.2", "Unnamed: 1", "a.1.1"]), min_size=2, max_size=7))
def test_repeated_names_become_those_of_pandas(header):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerow(header)
    assert distinct(header) == list(pd.read_csv(io.StringIO(text.getvalue()), nrows=0).columns)


VALUES = np.random.default_rng(0).normal(size=(60, 4)).round(3)
FRAME = pd.DataFrame(VALUES, columns=list("abcd"))
NAMED = FRAME.assign(word=np.where(VALUES[:, 0] > 0, "x", "y"))
NAMED.insert(0, "name", [f"s{i}" for i in range(60)])
WRITTEN = {
    "plain.csv": lambda file: FRAME.to_csv(file, index=False),
    "named.csv": lambda file: NAMED.to_csv(file, index=False),
    "quoted.csv": lambda file: NAMED.to_csv(file, index=False, quoting=csv.QUOTE_NONNUMERIC),
    "packed.csv.gz": lambda file: NAMED.to_csv(file, index=False),
    "spaces.txt": lambda file: NAMED.to_csv(file, index=False, sep=" "),
    "named.parquet": lambda file: NAMED.to_parquet(file),
    "index.parquet": lambda file: NAMED.set_index("name").to_parquet(file),
    "array.npy": lambda file: np.save(file, VALUES),
}


@pytest.fixture
def few(monkeypatch):
    """Tables of more than 10 rows count as long, and blocks have few rows."""
    monkeypatch.setattr(formats, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("sparsecluster.io.streams.MOST_AT_ONCE", 10)
    monkeypatch.setattr(cells, "BLOCK_CELLS", 40)
    monkeypatch.setattr("sparsecluster.io.blocks.BLOCK_VALUES", 40)
    monkeypatch.setattr("sparsecluster.io.arrow.BLOCK_VALUES", 40)
    monkeypatch.setattr("sparsecluster.io.arrow.LEAST_ROWS", 7)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_blocks_of_a_table_are_the_table(tmp_path, few, name):
    WRITTEN[name](tmp_path / name)
    whole = read_table(tmp_path / name)
    with read_blocks(tmp_path / name) as stream:
        frames = list(stream.frames())
        assert (list(stream.ids), list(stream.names)) == (list(whole.ids), list(whole.names))
    assert len(frames) > 3
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), whole.X.reset_index(drop=True))


@pytest.mark.parametrize("name", WRITTEN)
def test_info_and_predict_say_the_same_of_blocks_as_of_the_table(tmp_path, request, name):
    file, model = tmp_path / name, tmp_path / "model.json"
    WRITTEN[name](file)
    save_model(SASClustering(2, n_features_to_select=2).fit(read_table(file).X), model)

    def told():
        runs = [CliRunner().invoke(app, [*each, str(file)]) for each in (["info", "--json"], ["predict", str(model)])]
        assert [run.exit_code for run in runs] == [0, 0], runs
        return [run.stdout for run in runs]

    whole = told()
    request.getfixturevalue("few")
    assert told() == whole


def open_quote(file):
    text = NAMED.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC).rstrip()
    file.write_text(text.removesuffix('"') + "\n")


def flipped(file):
    NAMED.to_parquet(file, compression="snappy", row_group_size=20)
    content = bytearray(file.read_bytes())
    for place in range(100, len(content) // 2, 3):
        content[place] ^= 0xFF
    file.write_bytes(content)


@pytest.mark.parametrize(("name", "put"), [("open.csv", open_quote), ("flipped.parquet", flipped)])
def test_a_long_file_that_is_damaged_is_refused_with_its_name(tmp_path, few, name, put):
    put(tmp_path / name)
    run = CliRunner().invoke(app, ["info", str(tmp_path / name)])
    assert run.exit_code == 2, run.output
    assert f"{name} cannot be read" in run.stderr


def test_numbers_are_described_as_one_by_one():
    values = np.where(VALUES > 1.5, np.nan, VALUES.round())
    values[:, 3] = np.nan
    # A table of objects is described column by column.
    expected, columns = describe_columns(values.astype(object), list("abcd")), NumberColumns(list("abcd"))
    for first in range(0, 60, 7):
        columns.add(values[first : first + 7])
    assert describe_numbers(values, list("abcd")) == expected
    assert columns.described() == expected


def test_single_precision_stays_single(tmp_path):
    FRAME.astype(np.float32).to_parquet(tmp_path / "t.parquet")
    assert set(read_table(tmp_path / "t.parquet").X.dtypes) == {np.dtype("float32")}


@MEASURED
def test_a_table_of_numbers_takes_little_more_memory_than_its_array(tmp_path):
    values = np.random.default_rng(0).normal(size=(60_000, 50))
    frame = pd.DataFrame(values, columns=[f"c{a}" for a in range(50)])
    frame.to_parquet(tmp_path / "t.parquet")
    frame.head(15_000).round(6).to_csv(tmp_path / "t.csv", index=False)
    files = [(tmp_path / "t.parquet", None), (tmp_path / "t.csv", None)]
    # Twice, because packages take memory of their own when they are first used.
    found = reading([*files, *files])[2:]
    assert [told for told, _, _ in found] == [None, None]
    assert found[0][1] < 2 * values.nbytes
    assert found[1][1] < 4 * values.nbytes / 4


# ---------------------------------------------------------------- models and curves


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1500)) + 3 * (np.arange(20) % 2)[:, None] * (np.arange(1500) < 5)
    return SASClustering(2, n_permutations=2).fit(pd.DataFrame(X, columns=[f"gene{a}" for a in range(1500)])), X


def test_a_wide_model_is_read_back_and_its_file_is_small(tmp_path, wide):
    sas, X = wide
    again = load_model(save_model(sas, tmp_path / "model.json"))
    for name in ("feature_scores_", "support_", "cluster_centers_", "labels_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sas, name))
    assert again.predict(X).tolist() == sas.predict(X).tolist()
    assert (tmp_path / "model.json").stat().st_size < 150_000


def lying(part, **changes):
    return {**part, **changes}


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("feature_scores_", {"shape": [10**12]}),
        ("feature_scores_", {"shape": [1499]}),
        ("feature_scores_", {"shape": [-1500]}),
        ("feature_scores_", {"packed": "!"}),
        ("feature_scores_", {"kind": "O"}),
        ("feature_names_in_", {"size": 10**15}),
        ("feature_names_in_", {"size": 5}),
        ("feature_names_in_", {"texts": ""}),
    ],
)
def test_packed_parts_that_lie_are_refused(tmp_path, wide, key, change):
    entry = {**as_dict(wide[0]), "preset": None}
    entry["fitted"][key] = lying(entry["fitted"][key], **change)
    (tmp_path / "model.json").write_text(json.dumps(entry))
    with pytest.raises(ModelError, match="is damaged"):
        load_model(tmp_path / "model.json")


def test_a_small_model_is_written_as_before():
    sas = SASClustering(2, n_features_to_select=2).fit(FRAME)
    assert as_dict(sas)["version"] == 2
    assert "packed" not in json.dumps(as_dict(sas))


@pytest.mark.parametrize("kind", [np.float64, np.intp, np.bool_])
def test_arrays_are_packed_and_unpacked_to_the_last_bit(kind):
    array = (np.random.default_rng(0).normal(size=(40, 50)) * 3).astype(kind)
    again = packed.unpacked(json.loads(json.dumps(packed.packed(array))))
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


def test_a_long_curve_is_thinned_and_keeps_what_matters():
    values = np.arange(1, 50_001)
    score = np.sin(values / 5000)
    score[[30_017, 40_019]] = 5.0, -5.0
    curve = curves.thinned(TuningCurve("s", values, "gap", score, 777, details={"observed": score}))
    assert curve.values.size <= 1003
    assert {1, 50_000, 777, 30_018, 40_020} <= set(curve.values.tolist())
    np.testing.assert_array_equal(curve.score, score[curve.values - 1])
    np.testing.assert_array_equal(curve.details["observed"], curve.score)
    assert curves.thinned(curve.__class__("s", values[:900], "gap", score[:900], 777)).values.size == 900
