"""Tables are read as people write them, what is none is refused in one line, and files are written whole or not."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from sparsecluster._utils.files import write
from sparsecluster.io import FileError, Options, read_table
from sparsecluster.io.matrices import unique

pd = pytest.importorskip("pandas")

VALUES = [[1.5, 2.0, -3.25], [4.0, 5.5, 6.0]]


@pytest.fixture
def put(tmp_path):
    """Write a file of some content and give its name."""

    def make(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(tmp_path / name)

    return make


def check(loaded, names=("a", "b", "c"), ids=("0", "1"), values=VALUES):
    assert list(loaded.names) == list(names)
    assert list(loaded.ids) == list(ids)
    np.testing.assert_array_equal(np.asarray(loaded.X, dtype=float), values)


def message_of(source, **options):
    """What is said of a file that cannot be read: one line that names it."""
    with pytest.raises(FileError) as caught:
        read_table(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------- text

COMMAS = "a,b,c\n1.5,2,-3.25\n4,5.5,6\n"
# Without the time, so that the tests have the same names in every process.
ZIPPED = gzip.compress(COMMAS.encode(), mtime=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(*case, id=case[0])
        for case in (
            ("commas.csv", COMMAS),
            ("no ending", COMMAS),
            ("tabs.csv", COMMAS.replace(",", "\t")),
            ("tabs.tsv", COMMAS.replace(",", "\t")),
            ("pipes.txt", COMMAS.replace(",", "|")),
            ("semicolons.csv", COMMAS.replace(",", ";")),
            ("decimal commas.csv", COMMAS.replace(",", ";").replace(".", ",")),
            ("decimal commas.tsv", COMMAS.replace(",", "\t").replace(".", ",")),
            ("blanks.txt", COMMAS.replace(",", " ")),
            ("aligned.txt", "   a    b     c\n 1.5    2 -3.25\n   4  5.5     6\n"),
            ("after commas.csv", COMMAS.replace(",", ", ")),
            ("windows.csv", COMMAS.replace("\n", "\r\n")),
            ("old mac.csv", COMMAS.replace("\n", "\r")),
            ("no last line end.csv", COMMAS.rstrip()),
            ("empty lines.csv", "\n" + COMMAS.replace("\n", "\n\n")),
            ("quoted.csv", '"a","b","c"\n"1.5",2,"-3.25"\n4,5.5,6\n'),
            ("bom.csv", b"\xef\xbb\xbf" + COMMAS.encode()),
            ("utf16.csv", COMMAS.encode("utf-16")),
            ("packed.csv.gz", ZIPPED),
            ("packed.csv.bz2", bz2.compress(COMMAS.encode())),
            ("packed.tsv.xz", lzma.compress(COMMAS.replace(",", "\t").encode())),
            ("LOUD.CSV.GZ", ZIPPED),
        )
    ],
)
def test_text_is_read_however_it_is_divided_encoded_and_packed(put, name, content):
    check(read_table(put(name, content)))


@pytest.mark.parametrize(("sign", "decimal"), [*((sign, ".") for sign in ",;\t| "), (";", ","), ("\t", ",")])
def test_a_first_line_of_numbers_is_no_header(put, sign, decimal):
    lines = [sign.join(str(value).replace(".", decimal) for value in row) for row in VALUES]
    check(read_table(put("table.txt", "\n".join(lines) + "\n")), ["x0", "x1", "x2"])


@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_a_mark_of_byte_order_is_no_part_of_the_first_number(put, encoding):
    file = put("table.csv", b"\xef\xbb\xbf1.5,2,-3.25\n4,5.5,6\n")
    check(read_table(file, options=Options(encoding=encoding)), ["x0", "x1", "x2"])


def test_what_the_options_say_is_not_guessed(put):
    check(read_table(put("t.csv", COMMAS.replace(",", ":")), options=Options(delimiter=":")))
    loaded = read_table(put("t.csv", "a;b\n1,5;2\n"), options=Options(delimiter=";", decimal="."))
    assert loaded.X["a"].tolist() == ["1,5"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_another_encoding_is_read_where_it_is_named(put, encoding):
    file = put("table.csv", "größe,b\n1,2\n3,4\n".encode(encoding))
    assert read_table(file, options=Options(encoding=encoding)).names == ["größe", "b"]
    message_of(file)


def test_an_encoding_that_does_not_fit_is_answered_with_what_to_do(put):
    file = put("table.csv", "größe,b\n1,2\n".encode("latin-1"))
    assert "cannot be decoded as UTF-8" in message_of(file)
    assert "--encoding, such as latin-1" in message_of(file)
    assert "nonsense" in message_of(file, options=Options(encoding="nonsense"))


def test_signs_in_quotes_divide_nothing(put):
    loaded = read_table(put("t.csv", 'name,"a, or b",c\n"Smith, J.",1,2\n"say ""x""",3,4\n"two\nlines",5,6\n'))
    check(loaded, ["a, or b", "c"], ["Smith, J.", 'say "x"', "two\nlines"], [[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(
    "word", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", ".", " NA", "NA ", "#N/A"]
)
def test_words_for_a_missing_value_are_missing_values_and_the_column_stays_one_of_numbers(put, word):
    X = read_table(put("table.csv", f"a,b,c\n1,{word},3\n4,5,6\n")).X
    np.testing.assert_array_equal(X.to_numpy(dtype=float), [[1, np.nan, 3], [4, 5, 6]])


def test_text_stays_text_and_numbers_stay_numbers(put):
    X = read_table(put("table.csv", "color,n\nred,1\nblue,2\nred,3\n")).X
    assert X["color"].tolist() == ["red", "blue", "red"]
    assert X["n"].dtype.kind == "i"


def test_standard_input_is_read_for_a_dash(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(COMMAS.encode())))
    check(read_table("-"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert message_of("-") == "standard input is empty."


# ---------------------------------------------------------------- rows and columns

NAMED = "id,a,b,kind\nr1,1,2,x\nr2,3,4,y\nr3,5,6,x\n"


def test_a_first_column_of_text_without_repeats_names_the_rows(put):
    loaded = read_table(put("t.csv", NAMED), drop=("kind",))
    check(loaded, ["a", "b"], ["r1", "r2", "r3"], [[1, 2], [3, 4], [5, 6]])
    assert loaded.notes == ["Column 'id' contains a different text in every row, so it is used as the row names."]


def test_an_id_column_may_be_named_and_hold_numbers(put):
    loaded = read_table(put("t.csv", "a,n,b\n1,7,2\n3,8,4\n"), id_column="n")
    check(loaded, ["a", "b"], ["7", "8"], [[1, 2], [3, 4]])


def test_ids_must_differ_and_be_there(put):
    assert "column 'id' repeats 'x'" in message_of(put("t.csv", "id,a\nx,1\nx,2\ny,3\n"), id_column="id")
    assert "1 of 3 are missing" in message_of(put("t.csv", "id,a\nx,1\n,2\ny,3\n"), id_column="id")


def test_a_truth_is_set_apart(put):
    loaded = read_table(put("t.csv", NAMED), truth="kind")
    check(loaded, ["a", "b"], ["r1", "r2", "r3"], [[1, 2], [3, 4], [5, 6]])
    assert loaded.truth.tolist() == ["x", "y", "x"]
    assert "Column 'kind' contains the true groups" in loaded.notes[-1]


@pytest.mark.parametrize(("drop", "left"), [(("a", "kind"), ["b"]), (("id", "kind"), ["a", "b"])])
def test_columns_are_dropped_also_the_one_that_would_name_the_rows(put, drop, left):
    assert read_table(put("t.csv", NAMED), drop=drop).names == left


@pytest.mark.parametrize("option", ["id_column", "truth", "drop"])
def test_a_column_that_is_not_there_is_answered_with_the_nearest_or_with_those_there_are(put, option):
    file, wrap = put("t.csv", NAMED), (lambda name: (name,)) if option == "drop" else str
    assert "'kimd'" in message_of(file, **{option: wrap("kimd")})
    assert "Did you mean 'kind'?" in message_of(file, **{option: wrap("kimd")})
    assert "Its columns are" in message_of(file, **{option: wrap("zzzz")})


def test_features_in_rows_are_turned(put):
    loaded = read_table(put("t.csv", "gene,s1,s2\ng1,1,2\ng2,3,4\ng3,5,6\n"), transpose=True)
    check(loaded, ["g1", "g2", "g3"], ["s1", "s2"], [[1, 3, 5], [2, 4, 6]])
    assert "3 rows are features, 2 columns are samples" in loaded.notes[-1]


def test_what_cannot_be_turned_says_why(put):
    message = message_of(put("t.csv", "gene,s1,s2\ng1,1,2\ng2,3,4\ng3,x,6\n"), transpose=True)
    assert "column 's1' contains text" in message
    assert "--id" in message
    assert "no columns of samples are left" in message_of(put("t.csv", "gene,s1\ng1,a\ng1,b\n"), transpose=True)


def test_nothing_left_is_refused(put):
    assert "no columns left" in message_of(put("t.csv", "a,b\n1,2\n"), drop=("a", "b"))


# ---------------------------------------------------------------- other kinds


@pytest.mark.parametrize(("ending", "kind"), [("parquet", "parquet"), ("pq", "parquet"), ("feather", "feather")])
def test_parquet_and_feather(tmp_path, ending, kind):
    pytest.importorskip("pyarrow")
    getattr(pd.DataFrame(VALUES, columns=list("abc")), f"to_{kind}")(tmp_path / f"t.{ending}")
    check(read_table(tmp_path / f"t.{ending}"))


def test_an_index_of_names_names_the_rows_and_one_of_numbers_is_no_feature(tmp_path):
    pytest.importorskip("pyarrow")
    values, file = [*VALUES, [7.0, 8.0, 9.0]], tmp_path / "t.parquet"
    pd.DataFrame(values, columns=list("abc"), index=pd.Index(["u", "v", "w"], name="id")).to_parquet(file)
    check(read_table(file), ids="uvw", values=values)
    # What is left of a longer table has the numbers of its rows there.
    pd.DataFrame(values, columns=list("abc")).iloc[[0, 2]].to_parquet(file)
    assert read_table(file).names == ["a", "b", "c"]


def test_excel_files_have_sheets(tmp_path):
    pytest.importorskip("openpyxl")
    file = tmp_path / "t.xlsx"
    with pd.ExcelWriter(file) as book:
        pd.DataFrame(VALUES, columns=list("abc")).to_excel(book, sheet_name="first", index=False)
        pd.DataFrame([[1, "?"], [3, 4]], columns=["u", "v"]).to_excel(book, sheet_name="second", index=False)
    check(read_table(file))
    check(read_table(file, options=Options("second")), "uv", values=[[1, np.nan], [3, 4]])
    assert message_of(file, options=Options("third")).endswith("no sheet 'third'; its sheets are 'first', 'second'.")


def test_numpy_files(tmp_path):
    np.save(tmp_path / "t.npy", VALUES)
    check(read_table(tmp_path / "t.npy"), ["x0", "x1", "x2"])
    np.savez(tmp_path / "one.npz", anything=VALUES)
    check(read_table(tmp_path / "one.npz"), ["x0", "x1", "x2"])
    np.savez(tmp_path / "two.npz", X=VALUES, y=[0, 1])
    check(read_table(tmp_path / "two.npz"), ["x0", "x1", "x2"])
    np.savez(tmp_path / "other.npz", u=VALUES, v=VALUES)
    assert "must contain an array X or only one array; got u, v" in message_of(tmp_path / "other.npz")
    np.save(tmp_path / "line.npy", [1, 2])
    assert "two dimensions; got an array of shape (2,)" in message_of(tmp_path / "line.npy")


def annotated(file, X):
    anndata = pytest.importorskip("anndata")
    obs, var = pd.DataFrame({"kind": ["x", "y"]}, index=["cell1", "cell2"]), pd.DataFrame(index=list("abc"))
    anndata.AnnData(X, obs, var).write_h5ad(file)
    return file


@pytest.mark.parametrize("made", [np.array, sp.csr_matrix, sp.csc_matrix])
def test_h5ad_files_dense_and_sparse(tmp_path, made):
    loaded = read_table(annotated(tmp_path / "t.h5ad", made(VALUES)))
    assert sp.issparse(loaded.X) == (made is not np.array)
    X = loaded.X.toarray() if sp.issparse(loaded.X) else loaded.X
    check(loaded._replace(X=X), ids=["cell1", "cell2"])


def test_a_truth_that_is_asked_for_is_found_in_an_h5ad_file_or_refused(tmp_path):
    file = annotated(tmp_path / "t.h5ad", np.array(VALUES))
    message_of(file, truth="nonsense")
    assert list(read_table(file, truth="kind").truth) == ["x", "y"]


COUNTS = np.array([[1, 0, 2], [0, 3, 0]])


@pytest.mark.parametrize("made", [sp.coo_matrix, np.array])
def test_matrix_market_without_names_has_samples_in_rows(tmp_path, made):
    mmwrite(tmp_path / "t.mtx", made(COUNTS))
    loaded = read_table(tmp_path / "t.mtx")
    X = loaded.X.toarray() if sp.issparse(loaded.X) else loaded.X
    check(loaded._replace(X=X), ["x0", "x1", "x2"], values=COUNTS)


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market_of_10x_genomics_has_genes_in_rows_and_names_beside_it(tmp_path, packed):
    content = io.BytesIO()
    mmwrite(content, sp.coo_matrix(COUNTS.T))
    files = {
        "matrix.mtx": content.getvalue(),
        ("features.tsv" if packed else "genes.tsv"): b"ENSG1\tA\tGene\nENSG2\tB\tGene\nENSG3\tA\tGene\n",
        "barcodes.tsv": b"AAAC-1\nAAAG-1\n",
    }
    for name, text in files.items():
        (tmp_path / (name + ".gz" * packed)).write_bytes(gzip.compress(text) if packed else text)
    loaded = read_table(tmp_path / ("matrix.mtx" + ".gz" * packed))
    check(loaded._replace(X=loaded.X.toarray()), ["A", "B", "A-1"], ["AAAC-1", "AAAG-1"], COUNTS)
    assert "transposed" in loaded.notes[0]


def test_names_beside_a_matrix_with_samples_in_rows_do_not_turn_it(tmp_path):
    mmwrite(tmp_path / "t.mtx", sp.coo_matrix(COUNTS))
    (tmp_path / "genes.tsv").write_text("A\nB\nC\n")
    loaded = read_table(tmp_path / "t.mtx")
    check(loaded._replace(X=loaded.X.toarray()), "ABC", values=COUNTS)
    assert not any("transposed" in note for note in loaded.notes)


@pytest.mark.parametrize("names", [["a", "b", "a"], ["a", "a-1", "a"], ["a"] * 4, ["a", "a", "a-1"]])
def test_names_made_unique_are_unique(names):
    assert len(set(unique(names))) == len(names)


# ---------------------------------------------------------------- what is no table


KINDS = ("parquet", "feather", "xlsx", "npy", "npz", "h5ad", "mtx")


def pickled():
    content = io.BytesIO()
    np.save(content, np.array([[{}]], dtype=object), allow_pickle=True)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param(*case, id=case[0])
        for case in (
            ("empty.csv", "", "is empty"),
            ("blank.csv", " \n\n", "is empty"),
            ("empty.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
            ("header.csv", "a,b\n", "no rows"),
            ("binary.csv", b"\x00\x01\x02\xff" * 50, "not a text file"),
            ("image.csv", b"\x89PNG\r\n\x1a\n" + b"\x00" * 20, "not a text file"),
            ("ragged.csv", "a,b\n1,2\n\n3\n", "line 4: expected 2 cells but found 1"),
            ("ragged.tsv", "a\tb\n1\t2\n3\t4\t5\n", "line 3: expected 2 cells but found 3"),
            ("quoted short.csv", '"a","b"\n1,2\n3\n', "line 3"),
            ("quoted long.csv", '"a","b"\n1,2\n3,4,5\n', "line 3"),
            ("ragged blanks.txt", "a b c\n1 2 3\n4 5\n", "line 3"),
            ("late blanks.txt", "a b\n" + "1 2\n" * 60 + "3\n", "line 62"),
            ("open quote.csv", 'a,b\n"1,2\n3,4\n', "open quote.csv"),
            ("long cell.csv", "x" * 200_000 + "\n1\n", "long cell.csv"),
            ("no.csv.gz", COMMAS, "no.csv.gz"),
            ("no.csv.bz2", COMMAS, "no.csv.bz2"),
            ("no.csv.xz", COMMAS, "no.csv.xz"),
            ("cut.csv.gz", ZIPPED[:-4], "cut.csv.gz"),
            ("packed.csv.zip", b"PK\x03\x04", "Decompress the file first"),
            ("pickled.npy", pickled(), "allow_pickle=False"),
            *((f"no.{kind}", "nothing", "cannot be read") for kind in KINDS),
        )
    ],
)
def test_what_is_no_table_is_refused_in_one_line(put, name, content, words):
    message = message_of(put(name, content))
    assert words in message
    assert name in message


def test_what_is_not_there_or_a_folder_is_refused(tmp_path):
    assert message_of(tmp_path / "nobody.csv") == f"There is no file {tmp_path / 'nobody.csv'}."
    assert message_of(tmp_path) == f"{tmp_path} is a folder. Give the name of a file."


# ---------------------------------------------------------------- writing


def test_a_file_is_written_with_the_folders_it_needs_and_replaced_as_a_whole(tmp_path):
    file = tmp_path / "new" / "folder" / "t.txt"
    assert write(file, "größe\n") == file
    assert file.read_bytes() == "größe\n".encode()
    write(file, b"\x00\r\n")
    assert file.read_bytes() == b"\x00\r\n"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_follow_the_users_mask(tmp_path, mask):
    before = os.umask(mask)
    try:
        file = write(tmp_path / "t.txt", "x")
    finally:
        assert os.umask(before) == mask
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


def test_where_writing_fails_the_old_file_stays_and_nothing_half_written(tmp_path, monkeypatch):
    file = write(tmp_path / "t.txt", "old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder", "new")
    with pytest.raises((TypeError, AttributeError)):
        write(file, 3)
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write(file, "new")
    assert file.read_text() == "old"
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["folder", "t.txt"]
