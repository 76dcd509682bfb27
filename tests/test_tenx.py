"""Counts of 10x Genomics: a folder is one table, an HDF5 file is the same table, and what is damaged is refused."""

import gzip
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from typer.testing import CliRunner

from sparsecluster.cli import app
from sparsecluster.io import FileError, read_table
from sparsecluster.io.parts import are_parts

pytestmark = pytest.mark.usefixtures("short_assessments")

CELLS = np.random.default_rng(0).poisson(1.0, (6, 4))
IDS = [f"CELL{i}-1" for i in range(6)]
GENES = ["CD3E", "MS4A1", "NKG7", "CD8"]
TYPES = ["Gene Expression"] * 4


def matrix(counts):
    content = io.BytesIO()
    scipy.io.mmwrite(content, sp.coo_array(counts), field="integer")
    return content.getvalue()


def lines(*columns):
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)).encode()


def files(genes="features.tsv", types=TYPES):
    ids = [f"ENSG{a}" for a in range(4)]
    named = lines(ids, GENES, types) if genes == "features.tsv" else lines(ids, GENES)
    return {"matrix.mtx": matrix(CELLS.T), genes: named, "barcodes.tsv": lines(IDS)}


def folder(place, held, packed=False, prefix=""):
    place.mkdir(exist_ok=True)
    for name, content in held.items():
        (place / f"{prefix}{name}{'.gz' * packed}").write_bytes(gzip.compress(content) if packed else content)
    return place


def hdf5(file, types=TYPES, group="matrix", **changed):
    h5py = pytest.importorskip("h5py")
    X = sp.csr_array(CELLS)
    names = {"features/name": GENES, "features/feature_type": types} if group == "matrix" else {"gene_names": GENES}
    held = {
        **{"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(CELLS.shape[::-1])},
        **{"barcodes": np.array(IDS, "S"), **{key: np.array(value, "S") for key, value in names.items()}},
        **{key.replace("__", "/"): value for key, value in changed.items()},
    }
    with h5py.File(file, "w") as opened:
        for key, value in held.items():
            if value is not None:
                opened[f"{group}/{key}"] = value
    return file


def check(loaded, genes=slice(None)):
    np.testing.assert_array_equal(loaded.X.toarray(), CELLS[:, genes])
    assert list(loaded.ids) == IDS
    assert list(loaded.names) == GENES[genes]


def refusal(place):
    with pytest.raises(FileError) as caught:
        read_table(place)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("genes", ["features.tsv", "genes.tsv"])
@pytest.mark.parametrize("prefix", ["", "GSM123_"])
def test_a_folder_of_10x_genomics_is_one_table_with_cells_in_rows(tmp_path, packed, genes, prefix):
    place = folder(tmp_path / "counts", files(genes), packed, prefix)
    assert not are_parts([str(place)])
    check(read_table(place))
    # The matrix alone finds the names next to it.
    check(read_table(place / f"{prefix}matrix.mtx{'.gz' * packed}"))


def test_links_to_files_are_followed_and_cells_in_rows_are_recognized(tmp_path):
    stored = folder(tmp_path / "stored", files() | {"matrix.mtx": matrix(CELLS)})
    place = tmp_path / "links"
    place.mkdir()
    for file in stored.iterdir():
        (place / file.name).symlink_to(file)
    (tmp_path / "linked").symlink_to(place)
    check(read_table(place))
    check(read_table(tmp_path / "linked"))


def test_features_that_are_not_genes_are_left_out_with_a_note(tmp_path):
    types = ["Gene Expression", "Antibody Capture", "Gene Expression", "Antibody Capture"]
    place = folder(tmp_path / "counts", files(types=types))
    for given in (place, place / "matrix.mtx", hdf5(tmp_path / "counts.h5", types)):
        loaded = read_table(given)
        check(loaded, slice(0, None, 2))
        told = "Only the 2 features of gene expression are used; 2 of the type 'Antibody Capture' are left out."
        assert told in loaded.notes
    # Where there are no genes at all, nothing is left out.
    check(read_table(folder(tmp_path / "proteins", files(types=["Antibody Capture"] * 4))))


def test_genes_without_a_name_are_known_by_their_identifier_and_repeated_names_are_numbered(tmp_path):
    rows = lines(["E0", "E1", "E2", "E3"], ["A", "", "A", " "], TYPES)
    assert read_table(folder(tmp_path / "counts", files() | {"features.tsv": rows})).names == ["A", "E1", "A-1", "E3"]


@pytest.mark.parametrize("group", ["matrix", "GRCh38"])
def test_the_hdf5_file_is_the_same_table(tmp_path, group):
    check(read_table(hdf5(tmp_path / "filtered_feature_bc_matrix.h5", group=group)))


def without(name):
    return {key: value for key, value in files().items() if key != name}


FAULTS = {
    "no names of cells": (without("barcodes.tsv"), "no file barcodes.tsv or cells.tsv"),
    "no names of genes": (without("features.tsv"), "no file features.tsv or genes.tsv"),
    "fewer names of cells": (files() | {"barcodes.tsv": lines(IDS[:5])}, "each of the 6 columns"),
    "more names of genes": (files() | {"features.tsv": lines([*GENES, "CD4"])}, "each of the 4 rows"),
    "no names in a file": (files() | {"barcodes.tsv": b""}, "barcodes.tsv"),
    "names that are no text": (files() | {"barcodes.tsv": bytes(range(256))}, "barcodes.tsv"),
    "no matrix in the file": (files() | {"matrix.mtx": b"hello\n"}, "cannot be read as a Matrix Market file"),
    "an empty matrix": (files() | {"matrix.mtx": b""}, "matrix.mtx"),
    "a matrix that ends early": (files() | {"matrix.mtx": matrix(CELLS.T)[:-8]}, "matrix.mtx is damaged"),
    "two matrices": (files() | {"other_matrix.mtx": matrix(CELLS.T)}, "must contain one matrix of counts; it has"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_damaged_folder_is_refused_in_one_line(tmp_path, kind):
    held, told = FAULTS[kind]
    assert told in refusal(folder(tmp_path / "counts", held))


def test_a_matrix_that_is_no_file_is_refused(tmp_path):
    place = folder(tmp_path / "counts", without("matrix.mtx"))
    (place / "matrix.mtx").mkdir()
    assert "matrix.mtx" in refusal(place)
    (place / "matrix.mtx").rmdir()
    (place / "matrix.mtx").symlink_to(tmp_path / "nowhere")
    assert "matrix.mtx" in refusal(place)
    (place / "matrix.mtx").unlink()
    (place / "matrix.mtx.gz").write_bytes(gzip.compress(matrix(CELLS.T))[:-20])
    assert "cannot be decompressed" in refusal(place)


FAR = np.array([10**9] * np.count_nonzero(CELLS))
DAMAGED = {
    "positions beyond the matrix": {"indices": FAR},
    "positions below zero": {"indices": -FAR},
    "fewer values than positions": {"data": np.ones(2)},
    "rows that end nowhere": {"indptr": np.array([0, 1, 2, 3, 4, 5, 10**9])},
    "too few rows": {"indptr": np.array([0, 1])},
    "a shape of another matrix": {"shape": np.array([5, 6])},
    "a negative shape": {"shape": np.array([-4, 6])},
    "a shape that is no pair": {"shape": np.array([4])},
    "more genes than rows": {"features__name": np.array([*GENES, "CD4"], "S")},
    "fewer types than genes": {"features__feature_type": np.array(TYPES[:2], "S")},
    "text that is no text": {"barcodes": np.array([b"\xff\xfe"] * 6)},
    "values that are words": {"data": np.array(["x"] * np.count_nonzero(CELLS), "S")},
    "no values": {"data": None},
    "no cells": {"barcodes": None},
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_hdf5_file_is_refused_in_one_line(tmp_path, kind):
    assert "cells.h5" in refusal(hdf5(tmp_path / "cells.h5", **DAMAGED[kind]))


def test_an_hdf5_file_that_claims_more_than_it_holds_is_refused(tmp_path):
    file = hdf5(tmp_path / "cells.h5", data=None)
    h5py = pytest.importorskip("h5py")
    with h5py.File(file, "a") as opened:
        opened.create_dataset("matrix/data", shape=(10**13,), dtype="f8", chunks=(1000,))
    assert "which a file of its size cannot hold" in refusal(file)


def test_data_in_another_hdf5_file_are_not_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    other = hdf5(tmp_path / "other.h5")
    with h5py.File(hdf5(tmp_path / "cells.h5", data=None), "a") as opened:
        opened["matrix/data"] = h5py.ExternalLink(str(other), "matrix/data")
    assert "has no 'matrix/data'" in refusal(tmp_path / "cells.h5")
    with h5py.File(tmp_path / "link.h5", "w") as opened:
        opened["matrix"] = h5py.ExternalLink(str(other), "matrix")
    assert "has no group 'matrix'" in refusal(tmp_path / "link.h5")


def test_other_hdf5_files_are_told_what_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "table.h5", "w") as opened:
        opened["table"], opened["more"] = np.ones((3, 3)), np.ones(3)
    assert "filtered_feature_bc_matrix.h5" in refusal(tmp_path / "table.h5")
    (tmp_path / "text.h5").write_text("a,b\n1,2\n")
    assert "text.h5 cannot be read" in refusal(tmp_path / "text.h5")


# ---------------------------------------------------------------- commands


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A folder of 10x Genomics with two types of cells, and the types."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], [30, 20])
    fold = np.where(np.arange(60) // 10 == kind[:, None], 8.0, 1.0)
    counts = rng.poisson(2.0 * fold * rng.lognormal(0, 0.5, (50, 1)))
    genes = lines([f"E{a}" for a in range(60)], [f"gene{a}" for a in range(60)], ["Gene Expression"] * 60)
    names = lines([f"cell{i}" for i in range(50)])
    held = {"matrix.mtx": matrix(counts.T), "features.tsv": genes, "barcodes.tsv": names}
    return folder(tmp_path_factory.mktemp("made") / "filtered_feature_bc_matrix", held, packed=True), kind


def test_the_commands_read_a_folder_as_one_table(cells, tmp_path):
    place, kind = cells
    fitted = run("fit", place, "-k", 2, "--preset", "expression", "-o", tmp_path / "out")
    assert fitted.exit_code == 0, fitted.output
    assert "with 30 and 20 samples" in fitted.stdout
    labels = (tmp_path / "out" / "labels.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in labels[1:]] == [[f"cell{i}", str(c)] for i, c in enumerate(kind)]
    predicted = run("predict", tmp_path / "out" / "model.json", place)
    assert predicted.stdout.splitlines() == labels
    assert "50 samples, 60 columns" in run("info", place).stdout
    assert run("compare", place, "-k", 2, "--methods", "sas,kmeans").exit_code == 0


def test_a_folder_of_counts_is_no_part_and_that_around_it_says_which_one_to_give(cells):
    place, _ = cells
    assert "cannot be one of several parts" in run("fit", place, place).stderr
    assert "filtered_feature_bc_matrix. Give that folder" in " ".join(run("info", place.parent).stderr.split())
