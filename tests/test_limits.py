"""What a file claims to contain is not believed, and reading takes no more memory than it may."""

import bz2
import gzip
import io
import json
import lzma
import os
import socket
import stat
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite
from typer.testing import CliRunner

from sparsecluster import SASClustering
from sparsecluster.cli import app
from sparsecluster.datasets import shifted_groups
from sparsecluster.io import FileError, Options, limits, read_table
from sparsecluster.io.limits import machine_memory, memory_limit
from sparsecluster.io.models import as_dict
from tests.helpers.memory import MEASURED, reading

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
openpyxl = pytest.importorskip("openpyxl")
anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")

HEADER = "%%MatrixMarket matrix coordinate real general\n"
MILLION = 10**6


# ---------------------------------------------------------------- small files that claim much


def array(shape):
    """The header of an array of this shape, and a single number."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return content.getvalue() + bytes(8)


def archive(content):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("X.npy", content)
    return made.getvalue()


def sheet(cell):
    book, made = openpyxl.Workbook(), io.BytesIO()
    for name in ("A1", "B1"):
        book.active[name] = name
    book.active[cell] = 1
    book.save(made)
    return made.getvalue()


def annotated(change):
    made = io.BytesIO()
    names = pd.DataFrame(index=["a", "b"])
    data = anndata.AnnData(sp.csr_matrix(np.eye(2)), names, names)
    with h5py.File(made, "w") as file:
        anndata.io.write_elem(file, "/", data)
        change(file)
    return made.getvalue()


def huge_array(file):
    del file["X"]
    made = file.create_dataset("X", shape=(MILLION, MILLION), dtype="f8", chunks=(100, 100))
    made.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def huge_shape(file):
    file["X"].attrs["shape"] = [2, 10**12]


def beyond(file):
    file["X/indices"][...] = [0, 10**6]


def model_of_columns(count):
    X = shifted_groups(mu=3.0, n_features=4, n_useful=2, group_size=5, seed=0).X
    entry = {**as_dict(SASClustering(2, n_features_to_select=2).fit(X)), "preset": None}
    entry["fitted"]["n_features_in_"] = entry["columns"]["count"] = count
    return json.dumps(entry).encode()


def traps():
    """A file, the limit under which it is read, and what is said of it."""
    return {
        "rows.mtx": (f"{HEADER}300000000 1 1\n1 1 1.0\n".encode(), None, "nearly empty"),
        "columns.mtx": (f"{HEADER}1 300000000 1\n1 1 1.0\n".encode(), None, "nearly empty"),
        "rows.mtx.gz": (gzip.compress(f"{HEADER}300000000 1 1\n1 1 1.0\n".encode()), None, "nearly empty"),
        "entries.mtx": (f"{HEADER}9 9 300000000\n1 1 1.0\n".encode(), None, "cannot hold"),
        "dense.mtx": (b"%%MatrixMarket matrix array real general\n30000 300000\n1.0\n", None, "cannot hold"),
        "array.npy": (array((MILLION, 1000)), None, "cannot hold"),
        "overflow.npy": (array((2**62, 4)), None, "cannot hold"),
        "nothing.npy": (array((0, 10**15)), None, "contains no data"),
        "array.npz": (archive(array((MILLION, 1000))), None, "cannot hold"),
        "zeros.npz": (archive(array((30_000, 1000)) + bytes(240 * MILLION)), "100MB", "the limit"),
        "far.xlsx": (sheet("XFD1048576"), None, "far from the table"),
        "down.xlsx": (sheet("B1048576"), None, "far from the table"),
        "array.h5ad": (annotated(huge_array), None, "cannot hold"),
        "shape.h5ad": (annotated(huge_shape), None, "X has the shape"),
        "beyond.h5ad": (annotated(beyond), None, "indices must be"),
        "model.json": (model_of_columns(600_000_000), None, "is damaged"),
        "bomb.csv.gz": (gzip.compress(b"a,b\n" + b"0,1\n" * 50 * MILLION, 1), "100MB", "the limit"),
        # A packed file may be several in a row, so that nobody has to pack all that comes out of it.
        "bomb.csv.bz2": (100 * bz2.compress(bytes(MILLION), 1), "100MB", "the limit"),
        "bomb.csv.xz": (200 * lzma.compress(bytes(MILLION), preset=0), "100MB", "the limit"),
        "bomb.mtx.gz": (gzip.compress(HEADER.encode()) + 100 * gzip.compress(b"%\n" * MILLION), "100MB", "the limit"),
    }


@MEASURED
def test_small_files_that_claim_much_are_refused_by_name_and_take_little_memory(tmp_path):
    made = traps()
    for name, (content, _, _) in made.items():
        (tmp_path / name).write_bytes(content)
    files = [(tmp_path / name, limit) for name, (_, limit, _) in made.items()]
    found = reading([*files, ("/dev/zero", "100MB")])
    expected = [*((name, words) for name, (_, _, words) in made.items()), ("/dev/zero", "the limit")]
    for (name, words), (told, taken, _) in zip(expected, found, strict=True):
        assert told is not None, name
        assert name in told
        assert words in told
        assert taken < 150 * MILLION, (name, taken)


# ---------------------------------------------------------------- the limit

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 50))).add_prefix("c")
WRITTEN = {
    "numbers.csv": lambda frame, file: frame.round(3).to_csv(file, index=False),
    "digits.csv": lambda frame, file: (
        frame.head(9 * len(frame) // 20).round().astype(int).melt()[["value"]].to_csv(file, index=False)
    ),
    "words.csv": lambda frame, file: frame.iloc[:, :10].map("w{:.9f}".format).assign(z=1).to_csv(file, index=False),
    "table.parquet": lambda frame, file: frame.to_parquet(file),
    "table.feather": lambda frame, file: frame.to_feather(file),
    "array.npy": lambda frame, file: np.save(file, frame.to_numpy()),
    "array.npz": lambda frame, file: np.savez_compressed(file, X=frame.to_numpy()),
    "matrix.mtx": lambda frame, file: mmwrite(file, sp.random(len(frame), 500, 0.05, random_state=0), precision=4),
    "cells.h5ad": lambda frame, file: anndata.AnnData(frame.to_numpy()).write_h5ad(file, compression="gzip"),
    "sheet.xlsx": lambda frame, file: frame.head(200 + len(frame) // 25).to_excel(file, index=False),
}


def in_every_format(frame, folder):
    for name, put in WRITTEN.items():
        put(frame, folder / name)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table in every format."""
    return in_every_format(FRAME, tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def shorter_files(tmp_path_factory):
    """A table in every format, which is read soon but takes more than a pipe holds."""
    folder = in_every_format(FRAME.head(2000), tmp_path_factory.mktemp("shorter"))
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "words.csv").read_bytes()))
    return folder


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_that_needs_more_memory_than_the_limit_is_refused_with_what_to_do(files, name):
    with pytest.raises(FileError) as caught:
        read_table(files / name, options=Options(max_memory="900kB"))
    assert name in str(caught.value)
    assert "needs about" in str(caught.value)
    assert "limit is 900.0 kB" in str(caught.value)
    assert "--max-memory" in str(caught.value)


@MEASURED
def test_tables_need_no_more_memory_than_was_estimated(files, shorter_files):
    # Shorter ones first, because packages take memory of their own when they are first used.
    found = reading([(folder / name, None) for folder in (shorter_files, files) for name in WRITTEN])[len(WRITTEN) :]
    for name, (told, taken, estimate) in zip(WRITTEN, found, strict=True):
        assert told is None, told
        assert taken < 1.3 * estimate + 5 * MILLION, (name, taken, estimate)


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [(1000, 1000), ("1000", 1000), ("4GB", 4 * 10**9), ("4 gb", 4 * 10**9), ("1.5KiB", 1536), ("2G", 2 * 10**9)],
)
def test_a_limit_is_a_number_of_bytes_or_has_a_unit(given, bytes_):
    assert memory_limit(given) == bytes_


@pytest.mark.parametrize("given", ["", "x", "-1", "0", 0, -5, "4XB", "GB", True, 1.5, "1e9", "4GB4", [1]])
def test_other_limits_are_refused(given):
    with pytest.raises(ValueError, match=r"memory limit \(--max-memory\) must be .*4GB.*got"):
        memory_limit(given)


def test_the_limit_is_three_quarters_of_the_memory_of_the_machine_or_the_container(tmp_path, monkeypatch):
    whole = machine_memory()
    assert memory_limit() == int(0.75 * whole)
    for content, expected in (("1000000", 10**6), ("max", whole), (str(10**18), whole)):
        (tmp_path / "memory.max").write_text(content)
        monkeypatch.setattr(limits, "CONTAINER_LIMITS", (str(tmp_path / "memory.max"), "/nowhere"))
        assert machine_memory() == pytest.approx(expected)


def test_every_command_that_reads_a_table_takes_the_limit(tmp_path):
    X = shifted_groups(mu=3.0, n_features=4, n_useful=2, group_size=5, seed=0).X
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    pd.DataFrame(X, columns=list("abcd")).to_csv(table, index=False)
    model.write_text(json.dumps({**as_dict(SASClustering(2, n_features_to_select=2).fit(X)), "preset": None}))
    commands = (["fit", table], ["predict", model, table], ["compare", table, "-k", "2"], ["info", table])
    for command in commands:
        result = CliRunner().invoke(app, [*map(str, command), "--max-memory", "500"])
        assert result.exit_code == 2
        assert "limit is 500 bytes" in result.stderr
        assert "table.csv" in result.stderr


def test_a_matrix_without_names_has_names_that_take_no_memory(tmp_path):
    rows = "".join(f"{i} 1 1.0\n" for i in range(1, 10_001))
    (tmp_path / "t.mtx").write_text(f"{HEADER}5000000 3 10000\n{rows}")
    loaded = read_table(tmp_path / "t.mtx")
    assert len(loaded.ids) == 5_000_000
    assert (loaded.ids[4_999_999], loaded.names[2]) == ("4999999", "x2")
    assert sys.getsizeof(loaded.ids) < 1000


# ---------------------------------------------------------------- what is no regular file

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


@pipes
@pytest.mark.parametrize("name", [*WRITTEN, "packed.csv.gz"])
def test_pipes_are_read_as_files_are(shorter_files, tmp_path, name):
    content, pipe = (shorter_files / name).read_bytes(), tmp_path / name
    assert len(content) > 2**16
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    loaded, expected = read_table(pipe), read_table(shorter_files / name)
    writer.join()
    assert loaded.X.shape == expected.X.shape
    assert list(loaded.names) == list(expected.names)


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="standard input has no name")
@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_standard_input_is_read_by_any_of_its_names(monkeypatch, name):
    before = os.dup(0)
    reading_end, writing_end = os.pipe()
    os.write(writing_end, b"a,b\n1,2\n3,4\n")
    os.close(writing_end)
    os.dup2(reading_end, 0)
    try:
        with open(0, closefd=False) as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            assert read_table(name).X.to_numpy().tolist() == [[1, 2], [3, 4]]
    finally:
        os.dup2(before, 0)
        for each in (before, reading_end):
            os.close(each)


def test_folders_sockets_and_disks_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.csv")
        with pytest.raises(FileError, match=r"socket\.csv is a socket"):
            read_table("socket.csv")
    with pytest.raises(FileError, match="is a folder"):
        read_table(tmp_path)
    disk = next((each for each in Path("/dev").iterdir() if stat.S_ISBLK(each.stat().st_mode)), None)
    if disk is not None:
        with pytest.raises(FileError, match=f"{disk} is a disk"):
            read_table(disk)


@pytest.mark.parametrize("name", ["table.csv/x", "a\0b", "x" * 5000])
def test_names_that_no_file_can_have_are_refused(tmp_path, name):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"cannot be read|no file"):
        read_table(str(tmp_path / name))
