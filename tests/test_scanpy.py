"""Cells of an AnnData object: clusters, genes and parameters are written where users of scanpy look for them."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparsecluster
import sparsecluster.scanpy as ssc
from sparsecluster import SASClustering
from sparsecluster._data.source_sparse import SparseSource
from sparsecluster.inspection import Projection
from tests.helpers.common import three_groups

anndata = pytest.importorskip("anndata", reason="the functions for scanpy need anndata: pip install anndata")
pd = pytest.importorskip("pandas")

X = np.maximum(three_groups(mu=3.0, n_features=20, n_useful=5, sizes=(12, 10, 8))[0], 0.0)


def cells(values=X):
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(30)])
    return anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=[f"gene{a}" for a in range(values.shape[1])]))


def assert_written(adata, found, key="sas", genes=slice(None)):
    assert adata.obs[key].dtype == "category"
    outside = found.labels_ == -1
    names = [*(str(c) for c in range(found.n_clusters_)), *(["outlier"] if outside.any() else [])]
    assert adata.obs[key].cat.categories.tolist() == names
    assert adata.obs[key].tolist() == ["outlier" if c == -1 else str(c) for c in found.labels_]
    chosen, core, scores = (adata.var[f"{key}_{name}"] for name in ("chosen", "core", "score"))
    assert chosen.dtype == core.dtype == bool
    np.testing.assert_array_equal(chosen.to_numpy()[genes], found.support_)
    np.testing.assert_array_equal(core.to_numpy()[genes], found.core_support_)
    np.testing.assert_array_equal(scores.to_numpy()[genes], found.feature_scores_)
    told = adata.uns[key]
    assert told["n_chosen"] == found.support_.sum() == chosen.sum()
    assert told["core_size"] == found.core_size_ == core.sum()
    assert (told["n_clusters"], told["n_outliers"]) == (found.n_clusters_, outside.sum())
    assert told["objective"] == found.objective_
    assert told["version"] == sparsecluster.__version__
    assert told["params"]["n_clusters"] == repr(found.n_clusters)
    if found.gap_curve_ is not None:
        for name, values in (("s", "values"), ("gap", "score"), ("error", "error")):
            np.testing.assert_array_equal(told["gap"][name], getattr(found.gap_curve_, values))
    else:
        assert told["gap"] == {}
    if found.n_clusters_curve_ is not None:
        np.testing.assert_array_equal(told["n_clusters_curve"]["k"], found.n_clusters_curve_.values)
        np.testing.assert_array_equal(told["n_clusters_curve"]["bic"], found.n_clusters_curve_.score)


def test_clusters_genes_and_parameters_are_written():
    adata = cells()
    assert ssc.sas(adata, 3, n_permutations=5) is None
    assert_written(adata, SASClustering(3, n_permutations=5).fit(X))
    assert adata.uns["sas"]["params"]["n_permutations"] == "5"


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_a_sparse_matrix_stays_sparse_on_the_way_and_after_it(monkeypatch, kind):
    seen, make = [], SparseSource.__init__
    monkeypatch.setattr(SparseSource, "__init__", lambda self, *args: (seen.append(1), make(self, *args))[1])
    adata = cells(kind(X))
    ssc.sas(adata, 3, n_features_to_select=4)
    assert seen
    assert sp.issparse(adata.X)
    np.testing.assert_array_equal(adata.X.toarray(), X)
    assert_written(adata, SASClustering(3, n_features_to_select=4).fit(sp.csr_matrix(X)))


def test_a_layer_takes_the_place_of_x():
    adata = cells(np.zeros_like(X))
    adata.layers["log"] = X
    ssc.sas(adata, 3, layer="log", n_features_to_select=4)
    assert_written(adata, SASClustering(3, n_features_to_select=4).fit(X))


@pytest.mark.parametrize(("asked", "used"), [(None, True), (True, True), (False, False)])
def test_highly_variable_genes_alone_are_looked_at_unless_told_otherwise(asked, used):
    adata, variable = cells(sp.csr_matrix(X)), np.arange(20) % 3 > 0
    adata.var["highly_variable"] = variable
    ssc.sas(adata, 3, use_highly_variable=asked, n_features_to_select=3)
    genes = np.flatnonzero(variable if used else np.ones(20, bool))
    assert_written(adata, SASClustering(3, n_features_to_select=3).fit(sp.csr_matrix(X[:, genes])), genes=genes)
    if used:
        assert not adata.var["sas_chosen"][~variable].any()
        assert (adata.var["sas_score"][~variable] == 0).all()


def test_a_copy_is_changed_in_the_place_of_the_object():
    adata = cells()
    changed = ssc.sas(adata, 3, copy=True, n_features_to_select=4)
    assert (list(adata.obs), list(adata.var), dict(adata.uns)) == ([], [], {})
    assert_written(changed, SASClustering(3, n_features_to_select=4).fit(X))


def test_two_results_stand_beside_each_other():
    adata = cells()
    ssc.sas(adata, 3, n_features_to_select=4)
    ssc.sas(adata, 2, n_features_to_select=2, key_added="two")
    assert_written(adata, SASClustering(3, n_features_to_select=4).fit(X))
    assert_written(adata, SASClustering(2, n_features_to_select=2).fit(X), "two")
    ssc.sas(adata, 2, n_features_to_select=2)
    assert_written(adata, SASClustering(2, n_features_to_select=2).fit(X))


@pytest.mark.parametrize("asked", ["auto", [2, 3, 4], range(2, 4)], ids=repr)
def test_the_number_of_clusters_may_be_chosen(asked):
    adata = cells()
    ssc.sas(adata, asked, max_clusters=4, n_features_to_select=4)
    assert_written(adata, SASClustering(asked, max_clusters=4, n_features_to_select=4).fit(X))
    assert adata.uns["sas"]["params"]["n_clusters"] == repr(asked)


def test_the_number_of_clusters_is_chosen_unless_it_is_given():
    adata = cells()
    ssc.sas(adata, max_clusters=3, n_features_to_select=4)
    assert_written(adata, SASClustering("auto", max_clusters=3, n_features_to_select=4).fit(X))
    assert adata.uns["sas"]["n_clusters_curve"]["k"].tolist() == [2, 3]


def far_cells():
    far = X.copy()
    far[[3, 20]] = 40.0 + np.arange(40).reshape(2, 20)
    return far


def test_cells_in_no_cluster_are_a_category_of_their_own():
    adata = cells(far_cells())
    ssc.sas(adata, 3, n_features_to_select=4, trim=0.1)
    assert_written(adata, SASClustering(3, n_features_to_select=4, trim=0.1).fit(far_cells()))
    assert np.flatnonzero(adata.obs["sas"] == "outlier").tolist() == [3, 20]
    assert adata.obs["sas"].notna().all()


def test_a_core_that_is_not_sought_is_not_left_from_an_earlier_result():
    adata = cells()
    ssc.sas(adata, 3, n_features_to_select=4)
    ssc.sas(adata, 3, n_features_to_select=4, core_agreement=None)
    assert "sas_core" not in adata.var
    assert "core_size" not in adata.uns["sas"]


CHOSEN = {"n_clusters": [2, 3], "n_features_to_select": 4, "trim": 0.1}


@pytest.mark.parametrize("parameters", [{}, {"n_features_to_select": 4}, {"criterion": "bic"}, CHOSEN])
def test_results_come_back_from_a_file(tmp_path, parameters):
    table, parameters = sp.csr_matrix(far_cells() if "trim" in parameters else X), {"n_clusters": 3, **parameters}
    adata = cells(table)
    ssc.sas(adata, **parameters)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    found = SASClustering(**parameters).fit(table)
    assert_written(anndata.read_h5ad(tmp_path / "cells.h5ad"), found)


@pytest.mark.parametrize("kind", [sp.csr_matrix, pytest.param(np.asarray, marks=pytest.mark.slow)])
def test_how_sure_each_cell_is_comes_back_from_a_file_if_it_was_asked_for(tmp_path, kind):
    adata = cells(kind(X))
    ssc.sas(adata, 3, n_permutations=5, assess=True, key_added="own")
    evidence = sparsecluster.assess(SASClustering(3, n_permutations=5).fit(kind(X)), kind(X))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obs["own_confidence"], evidence.samples.confidence)
    told = again.uns["own"]["assessment"]
    assert (told["verdict"], told["summary"], told["n_clusters"]) == ("groups", evidence.summary(), 3)
    assert (told["p_independent"], told["p_one_group"]) == (evidence.p_independent, evidence.p_one_group)
    np.testing.assert_array_equal(told["stability"], evidence.clusters.stability)
    ssc.sas(adata, 3, n_permutations=5, key_added="own")
    assert "own_confidence" not in adata.obs
    assert "assessment" not in adata.uns["own"]


def test_cells_in_blocks_are_not_assessed():
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"assess=True needs a matrix in memory.*Use assess=False"):
        ssc.sas(cells(dask_array.from_array(X)), 3, assess=True)


def test_what_is_not_there_is_named():
    adata = cells()
    with pytest.raises(ValueError, match=r"no layer 'log'; it has none\."):
        ssc.sas(adata, 3, layer="log")
    adata.layers["counts"] = X
    with pytest.raises(ValueError, match="no layer 'log'; it has 'counts'"):
        ssc.sas(adata, 3, layer="log")
    with pytest.raises(ValueError, match="highly_variable_genes first"):
        ssc.sas(adata, 3, use_highly_variable=True)
    with pytest.raises(ValueError, match="n_clusters"):
        ssc.sas(adata, 31)
    with pytest.raises(TypeError, match="nonsense"):
        ssc.sas(adata, 3, nonsense=1)
    assert (list(adata.obs), list(adata.var), dict(adata.uns)) == ([], [], {})


# ---------------------------------------------------------------- the picture


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_the_picture_shows_every_cell_in_the_chosen_and_in_all_genes(plt, kind):
    adata = cells(kind(X))
    ssc.sas(adata, 3, n_features_to_select=4)
    axes = ssc.plot(adata)
    assert [ax.get_title() for ax in axes] == ["4 chosen features", "all 20 features"]
    sizes = adata.obs["sas"].value_counts(sort=False).tolist()
    for ax in axes:
        assert [len(line.get_xdata()) for line in ax.lines[:3]] == sizes
    told = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    assert told == [f"cluster {c} ({size} samples)" for c, size in enumerate(sizes)]


def test_cells_in_no_cluster_are_gray_in_the_picture(plt):
    adata = cells(far_cells())
    ssc.sas(adata, 3, n_features_to_select=4, trim=0.1)
    axes = ssc.plot(adata)
    told = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    assert told[-1] == "no cluster (2 samples)"
    assert len(told) == 4
    assert len(axes[0].lines[3].get_xdata()) == 2


def test_the_picture_is_the_projection_of_the_fit(plt):
    adata = cells()
    ssc.sas(adata, 3, n_features_to_select=4, standardize=False)
    shown = Projection.from_estimator(SASClustering(3, n_features_to_select=4, standardize=False).fit(X), X)
    for ax, seen in zip(ssc.plot(adata), shown.panels.values(), strict=True):
        for c, line in enumerate(ax.lines[:3]):
            np.testing.assert_allclose(np.column_stack(line.get_data()), seen.places[shown.labels == c])


def test_the_picture_can_be_of_another_key_another_layer_and_in_given_axes(plt):
    adata = cells(np.zeros_like(X))
    adata.layers["log"] = X
    ssc.sas(adata, 11, layer="log", n_features_to_select=6, key_added="many")
    _, given = plt.subplots(1, 2)
    axes = ssc.plot(adata, "many", layer="log", axes=given)
    assert list(axes) == list(given)
    # In the order of numbers, not of words.
    assert [len(line.get_xdata()) for line in axes[0].lines[:11]] == np.bincount(adata.obs["many"].astype(int)).tolist()
    assert np.ptp(axes[1].lines[0].get_xdata()) > 0


def test_a_picture_of_what_is_not_there_is_refused(plt):
    adata = cells()
    with pytest.raises(ValueError, match="no result 'sas'"):
        ssc.plot(adata)
    ssc.sas(adata, 3, n_features_to_select=4)
    with pytest.raises(ValueError, match="no result 'other'"):
        ssc.plot(adata, "other")
    with pytest.raises(ValueError, match="no layer 'log'"):
        ssc.plot(adata, layer="log")
