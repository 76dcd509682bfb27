"""Cells in a file, or in a Dask array, are clustered in blocks, with the same result as in memory."""

import json
import sys
import tracemalloc

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.blocks import N, counts, numbers
from helpers.cases import in_turn
from helpers.parts import ran

import sparsecluster.io.backed as backed
import sparsecluster.scanpy as ssc
from sparsecluster import ExpressionScaler, expression_clustering
from sparsecluster._blocks.look import of_numbers
from sparsecluster._data.arrange_sparse import sparse_arrangement
from sparsecluster._kernels.order import mixed, row_fingerprints
from sparsecluster._kernels.stored import stored_row_prints
from sparsecluster.io.backed import in_blocks, open_h5ad
from sparsecluster.io.limits import FileError
from sparsecluster.io.sources import source_of

da = pytest.importorskip("dask.array", reason="Dask is not installed")

pytestmark = pytest.mark.usefixtures("short_assessments")

COUNTS = sp.csr_matrix(counts(), dtype=np.float32)
KINDS = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "dense": lambda table: table.toarray()}
REWRITTEN = "ignore:X is stored by column"
QUICK = {"n_clusters": 3, "subsample": 400, "n_features_to_select": 5, "n_alternatives": 0}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(backed, "BLOCK_VALUES", 5_000)
    monkeypatch.setattr(backed, "PART_VALUES", 4_000)


def cells(X):
    names = {"obs": [f"cell{i}" for i in range(X.shape[0])], "var": [f"gene{a}" for a in range(X.shape[1])]}
    return anndata.AnnData(X, **{axis: pd.DataFrame(index=each) for axis, each in names.items()})


def written(path, X, **layers):
    adata = cells(X)
    adata.layers.update(layers)
    adata.write_h5ad(path)
    return path


def opened(path):
    return anndata.read_h5ad(path, backed="r")


def assert_same(one, other, key="sas"):
    assert one.obs[key].tolist() == other.obs[key].tolist()
    pd.testing.assert_frame_equal(one.var, other.var, check_exact=True)
    assert one.uns[key]["objective"] == other.uns[key]["objective"]
    assert one.uns[key]["params"] == other.uns[key]["params"]


# ---------------------------------------------------------------- the same result


@pytest.mark.filterwarnings(REWRITTEN)
@pytest.mark.parametrize("preset", [None, "expression"])
@pytest.mark.parametrize("kind", KINDS)
def test_cells_in_a_file_are_clustered_as_in_memory(tmp_path, kind, preset):
    X = KINDS[kind](COUNTS)
    inside, outside = cells(X), opened(written(tmp_path / "cells.h5ad", X))
    for adata in (inside, outside):
        ssc.sas(adata, preset=preset, **QUICK)
    assert_same(outside, inside)
    assert outside.isbacked


def test_highly_variable_genes_of_a_file_are_used_alone(tmp_path):
    inside, outside = cells(COUNTS), opened(written(tmp_path / "cells.h5ad", COUNTS))
    for adata in (inside, outside):
        adata.var["highly_variable"] = np.arange(40) % 3 != 1
        ssc.sas(adata, **QUICK)
    assert_same(outside, inside)


def test_a_dask_array_with_sparse_blocks_is_clustered_as_in_memory():
    lazy = da.from_array(COUNTS, chunks=(700, -1), asarray=False)
    inside, outside = cells(COUNTS), cells(lazy)
    for adata in (inside, outside):
        ssc.sas(adata, preset="expression", **QUICK)
    assert_same(outside, inside)
    assert isinstance(outside.X, da.Array)


def test_a_layer_of_a_file_takes_the_place_of_x(tmp_path):
    outside = opened(written(tmp_path / "cells.h5ad", sp.csr_matrix(COUNTS.shape, dtype=np.float32), raw=COUNTS))
    inside = cells(COUNTS)
    ssc.sas(inside, **QUICK)
    ssc.sas(outside, layer="raw", **QUICK)
    assert_same(outside, inside)


def test_few_cells_in_a_file_are_clustered_as_in_memory(tmp_path):
    few = COUNTS[:300]
    inside, outside = cells(few), opened(written(tmp_path / "cells.h5ad", few))
    for adata in (inside, outside):
        ssc.sas(adata, **QUICK)
    assert_same(outside, inside)


def test_the_preset_does_to_cells_what_its_pipeline_does():
    adata = cells(COUNTS)
    ssc.sas(adata, preset="expression", **QUICK)
    found = expression_clustering(**QUICK).fit(COUNTS)[-1]
    np.testing.assert_array_equal(adata.obs["sas"].astype(int), found.labels_)
    np.testing.assert_array_equal(adata.var["sas_score"], found.feature_scores_)
    assert (adata.X != COUNTS).nnz == 0


def test_another_preset_is_refused():
    with pytest.raises(ValueError, match="preset must be one of \"expression\" or None; got 'genes'"):
        ssc.sas(cells(COUNTS), preset="genes")


# ---------------------------------------------------------------- the preset on Dask collections

RAW = np.exp(2.0 * numbers()[0]) * 20.0
TABLES = {
    "counts": COUNTS,
    "no counts": COUNTS * 0.37,
    "nothing stored": sp.csr_matrix((50, 3)),
    "intensities": RAW,
    "dense counts": np.round(RAW),
    "dense cells": COUNTS.toarray(),
    "cells in a data frame": pd.DataFrame(COUNTS.toarray()).add_prefix("gene"),
    "background subtracted": RAW - 15.0,
    "logarithms": numbers()[0],
    "missing values": np.where(RAW > 30, RAW, np.nan),
    "data frame": pd.DataFrame(RAW).add_prefix("gene"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_scaler_does_the_same_to_blocks_as_to_the_whole(name):
    dd = pytest.importorskip("dask.dataframe")
    X = TABLES[name]
    lazy = dd.from_pandas(X, npartitions=4) if hasattr(X, "iloc") else da.from_array(X, chunks=(700, -1), asarray=False)
    inside, outside = ExpressionScaler().fit(X), ExpressionScaler().fit(lazy)
    for attribute in ("log_", "clip_", "total_", "center_", "n_features_in_"):
        assert getattr(inside, attribute) == getattr(outside, attribute), attribute
    one, other = inside.transform(X), outside.transform(lazy).compute()
    one, other = (each.toarray() if sp.issparse(each) else np.asarray(each) for each in (one, other))
    np.testing.assert_array_equal(one, other)


def test_the_scaler_refuses_blocks_with_other_columns():
    scaler = ExpressionScaler().fit(da.ones((20, 3), chunks=5))
    with pytest.raises(ValueError, match="X has 4 features, but ExpressionScaler is expecting 3"):
        scaler.transform(da.ones((20, 4), chunks=5))


# ---------------------------------------------------------------- matrices in files


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_in_a_file_is_a_dask_array_of_many_blocks_with_the_same_values(tmp_path, kind):
    file = written(tmp_path / "cells.h5ad", KINDS[kind](COUNTS))
    with in_blocks(str(file), "X") as (X, notes):
        assert X.numblocks[0] > 3
        assert sum(X.chunks[0]) == N
        assert X.dtype == np.float32
        found = X.compute()
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(found, COUNTS.toarray())
    assert bool(notes) == (kind == "csc")


@pytest.mark.parametrize("shape", [(0, 3), (3, 2), (40, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_small_and_empty_matrices_are_opened(tmp_path, kind, shape):
    file = written(tmp_path / "cells.h5ad", KINDS[kind](sp.csr_matrix(shape, dtype=np.float32)))
    with in_blocks(str(file), "X") as (X, _):
        assert X.shape == X.compute().shape == shape


def test_a_matrix_stored_by_column_is_rewritten_with_a_note_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    adata = opened(written(tmp_path / "cells.h5ad", sp.csc_matrix(COUNTS)))
    with pytest.warns(UserWarning, match=r"X is stored by column \(CSC\), so it was rewritten by row") as told:
        ssc.sas(adata, **QUICK)
    assert told[0].filename == __file__
    assert [each.name for each in tmp_path.iterdir()] == ["cells.h5ad"]


def test_an_h5ad_file_is_opened_with_its_names_and_tables(tmp_path):
    adata = cells(COUNTS)
    adata.obs["group"] = "a"
    adata.layers["raw"] = COUNTS * 2
    adata.write_h5ad(tmp_path / "cells.h5ad")
    source = source_of(tmp_path / "cells.h5ad", 10**9)
    for layer, factor in ((None, 1), ("raw", 2)):
        with open_h5ad(source, layer) as (X, ids, names, about, notes):
            assert (X.compute() != COUNTS * factor).nnz == 0
            assert (ids[-1], names[-1], about["group"].iloc[0], notes) == (f"cell{N - 1}", "gene39", "a", [])


# ---------------------------------------------------------------- what cannot be done


def test_a_layer_that_is_not_in_the_file_is_named(tmp_path):
    file = written(tmp_path / "cells.h5ad", COUNTS)
    with pytest.raises(ValueError, match="no layer 'log'; it has none"):
        ssc.sas(opened(file), layer="log", **QUICK)
    with (
        pytest.raises(FileError, match=r"cells\.h5ad has no part 'layers/log'"),
        open_h5ad(source_of(file, 10**9), "log"),
    ):
        pass


def test_a_file_that_was_closed_is_opened_again(tmp_path):
    adata = opened(written(tmp_path / "cells.h5ad", COUNTS))
    adata.file.close()
    ssc.sas(adata, **QUICK)
    assert adata.obs["sas"].notna().all()


def test_blocks_of_a_file_that_is_gone_are_named(tmp_path):
    file = written(tmp_path / "cells.h5ad", COUNTS)
    with in_blocks(str(file), "X") as (X, _):
        file.unlink()
        with pytest.raises(ValueError, match=r"Block 1 of \d+ of X cannot be read: .*No such file"):
            ssc.sas(cells(X), **QUICK)


@pytest.mark.parametrize(("part", "place", "value"), [("indices", 7, 99), ("indices", 7, -1), ("indptr", 5, 10**9)])
def test_positions_beyond_the_matrix_are_refused_with_their_block(tmp_path, part, place, value):
    file = written(tmp_path / "cells.h5ad", COUNTS)
    with h5py.File(file, "r+") as store:
        store[f"X/{part}"][place] = value
    with pytest.raises(ValueError, match=r"Block 1 of \d+ of X cannot be read"):
        ssc.sas(opened(file), **QUICK)


def test_a_part_of_a_file_and_a_copy_are_refused_before_the_work_begins(tmp_path):
    adata = opened(written(tmp_path / "cells.h5ad", COUNTS))
    with pytest.raises(ValueError, match=r"adata is a part of a file.*adata\.to_memory\(\)"):
        ssc.sas(adata[:2000], **QUICK)
    with pytest.raises(ValueError, match="copy=True needs cells in memory"):
        ssc.sas(adata, copy=True, **QUICK)


def test_without_dask_it_is_said_how_to_install_it(tmp_path, monkeypatch):
    adata = opened(written(tmp_path / "cells.h5ad", COUNTS))
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ImportError, match=r"needs Dask. Install it with `pip install 'sparsecluster\[dask\]'`"):
        ssc.sas(adata, **QUICK)


# ---------------------------------------------------------------- the picture


def test_the_picture_shows_some_of_the_cells_in_a_file(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(ssc, "MOST_SHOWN", 200)
    adata = opened(written(tmp_path / "cells.h5ad", COUNTS))
    adata.obs["sas"] = pd.Categorical((np.arange(N) % 3).astype(str))
    adata.var["sas_chosen"] = np.arange(40) < 5
    axes = ssc.plot(adata)
    assert [sum(len(line.get_xdata()) for line in ax.lines[:3]) for ax in axes] == [200, 200]


# ---------------------------------------------------------------- sparse blocks


def test_a_sparse_block_looks_as_its_dense_copy_does():
    block = sp.random(60, 8, 0.3, format="csr", random_state=0, data_rvs=np.random.default_rng(0).standard_normal)
    block.data[:3] = [0.0, -0.0, -5.0]
    block = sp.csr_matrix(sp.hstack([block, np.full((60, 1), 4.0)]))
    for one, other in zip(of_numbers(block, {}), of_numbers(block.toarray(), {}), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_of_a_sparse_block_have_the_fingerprints_of_its_dense_copy():
    block = sp.random(60, 8, 0.3, format="csr", random_state=0)
    block.data[:2] = [0.0, -0.0]
    salts, used = mixed(np.arange(8, dtype=np.uint64)), np.arange(8) != 3
    found = stored_row_prints(block.data.view(np.uint64), block.indices, block.indptr, salts, used)
    expected = np.zeros(60, np.uint64)
    row_fingerprints((block.toarray()[:, used] + 0.0).view(np.uint64), salts[used], expected)
    np.testing.assert_array_equal(found, expected)


def test_arranging_a_sparse_table_takes_little_more_than_one_copy_of_it():
    table = sp.random(20_000, 300, 0.1, format="csc", random_state=0)
    columns = np.arange(300)
    sparse_arrangement(table[:50], columns)
    tracemalloc.start()
    sparse_arrangement(table, columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.6 * (table.data.nbytes + table.indices.nbytes)


# ---------------------------------------------------------------- on the command line


@pytest.mark.filterwarnings(REWRITTEN)
@in_turn(kind=KINDS, preset=[[], ["--preset", "expression"]])
def test_a_file_that_is_larger_than_the_memory_is_fitted_in_blocks(tmp_path, monkeypatch, kind, preset):
    # There are twice as many cells, and each block takes its time whatever is in it.
    monkeypatch.setattr(backed, "BLOCK_VALUES", 20_000)
    monkeypatch.setattr(backed, "PART_VALUES", 16_000)
    table = sp.vstack([COUNTS, COUNTS])
    adata = cells(KINDS[kind](table))
    adata.obs["group"] = [f"g{i % 3}" for i in range(table.shape[0])]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = ["-k", "3", "--size", "5", "--truth", "group", "--drop", "gene7", "--no-report", *preset]
    ran("fit", tmp_path / "cells.h5ad", *options, "-o", tmp_path / "whole")
    ran("fit", tmp_path / "cells.h5ad", *options, "--max-memory", "1500kB", "-o", tmp_path / "blocks")
    features = [(tmp_path / name / "features.csv").read_text() for name in ("whole", "blocks")]
    assert features[0] == features[1]
    whole, blocks = pd.read_csv(tmp_path / "whole/labels.csv"), pd.read_parquet(tmp_path / "blocks/labels")
    assert whole["id"].tolist() == blocks["id"].tolist()
    assert whole["cluster"].tolist() == blocks["cluster"].tolist()
    truth = [json.loads((tmp_path / name / "summary.json").read_text())["truth"] for name in ("whole", "blocks")]
    assert {key: truth[0][key] for key in truth[1]} == pytest.approx(truth[1])
    assert set(truth[1]) == {"rand", "ari", "error"}
