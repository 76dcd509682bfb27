"""Damaged and odd files are refused in one line that names them, or read right with a note."""

import bz2
import gzip
import io
import json
import lzma
import random

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.experiments.runner import load
from sparsecluster.io import FileError, Options, _hdf5, read_table
from tests.helpers.cases import some

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")
anndata = pytest.importorskip("anndata")

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)).round(3), columns=list("abcd"))


@pytest.fixture
def put(tmp_path):
    """Write a file of some content and give its name."""

    def make(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return make


def refusal(file, **options):
    """What is said of a file that cannot be read: one line that names it."""
    with pytest.raises(FileError) as caught:
        read_table(file, options=Options(**options))
    assert file.name in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- all formats


def written(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def cells(folder):
    anndata.AnnData(sp.csr_matrix(FRAME.to_numpy())).write_h5ad(folder / "t.h5ad")
    return (folder / "t.h5ad").read_bytes()


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """One table in every format."""
    text = FRAME.to_csv(index=False).encode()
    return {
        "t.csv": text,
        "t.csv.gz": gzip.compress(text, mtime=0),
        "t.csv.bz2": bz2.compress(text),
        "t.csv.xz": lzma.compress(text),
        "t.parquet": written(FRAME.to_parquet),
        "t.feather": written(FRAME.to_feather),
        "t.xlsx": written(lambda file: FRAME.to_excel(file, index=False)),
        "t.npy": written(lambda file: np.save(file, FRAME)),
        "t.npz": written(lambda file: np.savez_compressed(file, X=FRAME)),
        "t.mtx": written(lambda file: mmwrite(file, sp.coo_matrix(FRAME.to_numpy()))),
        "t.mtx.gz": gzip.compress(written(lambda file: mmwrite(file, sp.coo_matrix(FRAME.to_numpy()))), mtime=0),
        "t.h5ad": cells(tmp_path_factory.mktemp("cells")),
    }


FORMATS = (
    *("t.csv", "t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.parquet", "t.feather", "t.xlsx", "t.npy", "t.npz", "t.mtx"),
    *("t.mtx.gz", "t.h5ad"),
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_refused_by_name_or_read_whatever_is_damaged(contents, put, name):
    rng, whole = random.Random(name), contents[name]
    told = []
    # The library of HDF5 itself hangs on damages that are not cuts; each such file takes a process of its own.
    for number in range(14 if name == "t.h5ad" else 60):
        is_cut = number % 3 == 0 or name == "t.h5ad"
        damaged = bytearray(whole[: rng.randrange(len(whole))] if is_cut else whole)
        for _ in range(0 if is_cut else rng.choice([1, 3, 20])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file = put(name, bytes(damaged))
        try:
            read_table(file)
        except FileError as error:
            told.append(str(error))
    assert len(told) > 10
    assert all(name in each and "\n" not in each for each in told)


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_damage_in_the_middle_of_compressed_text_is_told(put, ending, pack):
    packed = bytearray(pack(np.random.default_rng(0).integers(33, 90, 5000).astype("u1").tobytes()))
    packed[14:60] = b"\xff" * 46
    assert "cannot be decompressed" in refusal(put(f"t.csv.{ending}", bytes(packed)))


def test_damaged_names_beside_a_matrix_are_told_with_their_own_file(contents, put):
    matrix, names = put("matrix.mtx", contents["t.mtx"]), put("barcodes.tsv.gz", b"\x1f\x8b\x08\x00" + bytes(50))
    with pytest.raises(FileError, match=names.name):
        read_table(matrix)


def test_a_matrix_without_rows_contains_no_data(put):
    assert "contains no data" in refusal(put("t.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 0\n"))


def test_an_array_of_named_fields_is_not_a_table(put):
    content = written(lambda file: np.save(file, np.zeros((2, 2), dtype=[("a", float)])))
    assert "named fields" in refusal(put("t.npy", content))


def test_columns_whose_names_become_the_same_are_refused(tmp_path):
    pd.DataFrame([[1, 2], [3, 4]], columns=["1", 1]).to_excel(tmp_path / "t.xlsx", index=False)
    assert "column names must be unique" in refusal(tmp_path / "t.xlsx")


# ---------------------------------------------------------------- lines

RETURNS = {
    "unix": "a,b\n1,x\n2,y\rz\n",
    "windows": "a,b\r\n1,x\r\n2,y\rz\r\n",
    "blanks": "a b\n1 x\n2 y\rz\n",
    "beside quotes": 'a,b\n1,"x\ry"\n2,y\rz\n',
}


@pytest.mark.parametrize("kind", RETURNS)
def test_a_carriage_return_in_a_cell_is_refused_with_its_line(put, kind):
    assert "line 3: there is a carriage return" in refusal(put("t.csv", RETURNS[kind]))


@pytest.mark.parametrize(
    "text", ["a,b\r1,2\r3,4\r", "a,b\r\r\n1,2\r\r\n3,4\r\r\n", "a,b\r\n1,2\n3,4\r\n", "a,b\n1,2\n3,4\r"]
)
def test_carriage_returns_at_the_ends_of_lines_are_line_ends(put, text):
    assert read_table(put("t.csv", text)).X.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_a_carriage_return_in_quotes_is_part_of_the_cell(put):
    assert read_table(put("t.csv", 'a,b\n1,"x\ry"\n2,z\n')).X["b"].tolist() == ["x\ry", "z"]


def test_rows_of_old_macs_are_counted(put):
    assert "line 3: expected 2 cells but found 1" in refusal(put("t.csv", "a,b\r1,2\r3\r"))


def test_quotes_that_swallow_lines_are_told(put):
    assert "lines 2 to 3: expected 2 cells" in refusal(put("t.csv", 'a,b\n"1,2\n3,4\n'))
    assert "quotation mark is opened but never closed" in refusal(put("t.csv", 'a,b\n1,2\n3,"4\n'))
    assert "quotation mark is missing" in refusal(put("t.csv", 'a,b\n"' + "1,2\n" * 50_000 + '",3\n'))
    loaded = read_table(put("t.csv", 'a,b\n"x,1\ny",2\nz,3\n'))
    assert loaded.notes[0].startswith("1 row has line breaks in quotes, from line 2 on.")


@pytest.mark.parametrize("sign", some([",", ";", "\t", " "]))
def test_tables_with_lines_of_megabytes_are_read(put, sign):
    # Few columns with much in each are read sooner than many.
    names, values = sign.join(f"column{a:01600}" for a in range(1000)), sign.join([f"{1:.1600f}"] * 1000)
    assert min(len(names), len(values)) > 1_500_000
    assert read_table(put("t.csv", f"{names}\n{values}\n{values}\n")).X.shape == (2, 1000)


def test_long_lines_of_r_have_names_of_rows(put):
    names, values = " ".join(f"column{a:01600}" for a in range(1000)), " ".join([f"{1:.1600f}"] * 1000)
    assert read_table(put("t.txt", f"{names}\nr1 {values}\nr2 {values}\nr3 {values}\n")).ids == ["r1", "r2", "r3"]


# ---------------------------------------------------------------- names and characters


def test_repeated_names_are_told(put, tmp_path):
    loaded = read_table(put("t.csv", "x,x,y\n1,2,3\n4,5,6\n"))
    assert len(set(loaded.names)) == 3
    assert loaded.notes == ["These column names are repeated, so numbers were appended to them: 'x'."]
    pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]).to_excel(tmp_path / "t.xlsx", index=False)
    assert "repeated" in read_table(tmp_path / "t.xlsx").notes[0]


def test_control_characters_in_names_are_told(put):
    loaded = read_table(put("t.csv", "a\x1b[31m,b\n1,2\n3,4\n"))
    assert loaded.names[0] == "a\x1b[31m"
    assert loaded.notes == [r"These column names contain line breaks or other control characters: 'a\x1b[31m'."]


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_are_told_by_their_marks(put, name):
    assert read_table(put("t.csv", "größe,b\n1,2\n3,4\n".encode(name))).names == ["größe", "b"]


def test_text_in_two_encodings_is_refused_with_the_line(put):
    message = refusal(put("t.csv", "größe,b\n1,2\n".encode() + "ö,3\n".encode("latin-1")))
    assert "cannot be decoded as UTF-8 in line 3" in message


def test_zero_bytes_are_refused_wherever_they_are(put):
    assert "zero bytes" in refusal(put("t.csv", "a,b\n" + "1,2\n" * 5000 + "3,\x004\n"))
    assert "zero characters" in refusal(put("t.csv", "a,b\n1,\0002\n".encode("utf-16")))
    assert "utf-16-le" in refusal(put("t.csv", "a,b\n1,2\n".encode("utf-16-le")))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf \r\n"])
def test_a_mark_without_text_is_an_empty_file(put, content):
    assert "is empty" in refusal(put("t.csv", content))


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1" + "0" * 400, "1e400"])
def test_numbers_beyond_all_floats_are_infinite_and_not_words(put, number):
    assert np.isinf(read_table(put("t.csv", f"a,b\n1,{number}\n2,3\n")).X["b"].iloc[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": "::"}, "--delimiter must be a single sign"),
        ({"delimiter": '"'}, "--delimiter must be a single sign"),
        ({"decimal": "ab"}, "--decimal must be a single sign"),
        ({"delimiter": ",", "decimal": ","}, "must be different signs"),
    ],
)
def test_signs_that_cannot_be_used_are_refused(put, options, words):
    with pytest.raises(FileError, match=words):
        read_table(put("t.csv", "a,b\n1,2\n"), options=Options(**options))


# ---------------------------------------------------------------- files of results

RUN = json.dumps({"run": {"command": "x"}})
TASK = json.dumps({"cell": {"p": 1}, "method": "sas", "seed": 0, "rows": [{"ari": 1.0}], "seconds": 0.5})


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "3",
        "null",
        "",
        '{"run": 3}',
        '{"cell": 3, "method": "sas", "seed": 0, "rows": [], "seconds": 1}',
        '{"cell": {}, "method": "sas", "seed": 0, "rows": 3, "seconds": 1}',
        '{"cell": {}, "method": "sas", "seed": 0, "rows": [3], "seconds": 1}',
        '{"cell": {}, "method": "sas", "seed": 0, "rows": [], "seconds": "x"}',
        '{"method": "sas"}',
        b"\xff\xfe",
        "[" * 10_000,
    ],
)
def test_a_damaged_line_of_results_is_refused_with_its_file_and_number(put, line):
    line = line if isinstance(line, bytes) else line.encode()
    table = put("tiny.jsonl", RUN.encode() + b"\n" + TASK.encode() + b"\n" + line + b"\n" + TASK.encode() + b"\n")
    with pytest.raises(ValueError, match=r"tiny\.jsonl, line 3 is damaged .*Remove this line"):
        load(table)


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"{}", b"\xff\xfe\x00", b"[" * 10_000, b"1" * 5000])
def test_a_damaged_summary_is_refused_by_name(put, content):
    file = put("summary.json", content)
    result = CliRunner().invoke(app, ["report", str(file)])
    assert result.exit_code == 2
    assert "summary.json is damaged" in result.stderr


def test_an_arrow_file_whose_text_points_outside_of_the_file_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.feather

    file = tmp_path / "table.feather"
    table = pa.table({"word": ["aaa", "bbb", "ccc", "ddd"], "x": [1.0, 2.0, 3.0, 4.0]})
    pyarrow.feather.write_feather(table, str(file), compression="uncompressed")
    places = np.array([0, 3, 6, 9, 12], "<i4")
    content = file.read_bytes()
    assert content.count(places.tobytes()) == 1
    assert read_table(file).X.shape[0] == 4
    places[-1] = 2**30
    file.write_bytes(content.replace(np.array([0, 3, 6, 9, 12], "<i4").tobytes(), places.tobytes()))
    with pytest.raises(FileError, match=r"table\.feather"):
        read_table(file)


@pytest.mark.parametrize(
    ("look", "told"), [("while True: pass", "does not finish"), ("import os; os.abort()", "crashes when it reads")]
)
def test_an_h5ad_file_on_which_the_library_hangs_or_crashes_is_refused(tmp_path, monkeypatch, look, told):
    pytest.importorskip("anndata")
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    monkeypatch.setattr(_hdf5, "LOOK", look)
    monkeypatch.setattr(_hdf5, "SECONDS", 2.0)
    with pytest.raises(FileError, match=rf"cells\.h5ad is damaged: the HDF5 library {told}"):
        read_table(tmp_path / "cells.h5ad")


@pytest.mark.parametrize("transpose", [False, True])
def test_an_exponent_of_many_digits_is_an_infinite_number(tmp_path, transpose):
    # pandas.to_numeric ends the process on this text.
    (tmp_path / "table.csv").write_text(f"a,b\n1,2.5e+21{'1' * 200}\n2, 3\n4, 5\n")
    X = read_table(tmp_path / "table.csv", transpose=transpose).X
    assert np.isposinf(X.to_numpy(float).max())


def test_times_that_no_calendar_has_are_refused(tmp_path):
    np.save(tmp_path / "times.npy", np.full((3, 2), 2**62, "datetime64[D]"))
    with pytest.raises(FileError, match=r"times\.npy cannot be read"):
        read_table(tmp_path / "times.npy")
