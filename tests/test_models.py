"""A model on disk is the model in memory, and a file that is none is refused in one line, whatever is in it."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans

from sparsecluster import COSA, SASClustering, SparseHierarchical, SparseKMeans, SpectralGem
from sparsecluster.datasets import shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.io.models import (
    ESTIMATORS,
    FITTED,
    ModelError,
    as_dict,
    load_model,
    read_model,
    save_model,
)
from sparsecluster.report import summarize
from tests.helpers.people import people

pd = pytest.importorskip("pandas")

X, TRUTH, _ = shifted_groups(mu=1.5, n_features=15, n_useful=5, group_size=10, seed=0)
# Samples that no fit has seen.
NEW = shifted_groups(mu=1.5, n_features=15, n_useful=5, group_size=10, seed=1).X
VARIANTS = {
    "SASClustering": [{}, {"n_features_to_select": 4}, {"metric": "manhattan", "n_features_to_select": 4}],
    "SparseKMeans": [{"n_permutations": 3}, {"l1_bound": 2.0}],
    "SparseKMedoids": [{"l1_bound": 2.0}],
    "RegularizedKMeans": [{"penalty": 0.5}],
    "RobustSparseKMeans": [{"n_permutations": 3}, {"l1_bound": 2.0}],
    "RafteryDean": [{"covariance_models": "EEI"}, {"covariance_models": "VVV"}],
    "PanShenMixture": [{"penalty": 1.0, "n_init": 2}],
    "WangZhuMixture": [{"penalty": 1.0, "n_init": 2}, {"form": "hierarchical", "n_penalties": 4, "n_init": 2}],
    "XieMixture": [{"penalty": 1.0, "variance_penalty": 2.0, "n_init": 2}],
    "PairwiseFusionMixture": [{"penalty": 1.0, "n_init": 2}],
    "IFPCA": [{}],
    "IIFLearn": [{"n_draws": 20}],
    "PROCLUS": [{}, {"n_dimensions": 3.5, "standardize": False}, {"n_dimensions": 2, "outliers": True}],
    "ReducedClustering": [
        {},
        {"clusterer": "kmeans"},
        {"reduction": "nmf"},
        {"reduction": "nmf", "nonnegative": "ranks"},
    ],
    "VarSelMixture": [{"n_init": 5}, {"n_init": 5, "criterion": "micl"}],
    "ScreenedClustering": [{"test": "variance"}, {"test": "variance", "threshold": 3}],
    "PlainClustering": [
        {"algorithm": "kmeans++"},
        {"algorithm": "ward"},
        {"algorithm": "complete", "metric": "ordinal"},
    ],
}


@pytest.fixture
def again(tmp_path):
    """What comes back from a file."""

    def make(estimator, preset=None):
        return load_model(save_model(estimator, tmp_path / "model.json", preset=preset))

    return make


def assert_same_model(loaded, fitted, *tables):
    assert type(loaded) is type(fitted)
    for table in tables:
        np.testing.assert_array_equal(loaded.predict(table), fitted.predict(table))
        assert loaded.score(table) == fitted.score(table)
    for key in FITTED:
        assert hasattr(loaded, key) == hasattr(fitted, key)
        if not key.endswith("curve_") and hasattr(fitted, key):
            np.testing.assert_array_equal(getattr(loaded, key), getattr(fitted, key))
            assert np.asarray(getattr(loaded, key)).dtype.kind == np.asarray(getattr(fitted, key)).dtype.kind
    # Alternatives are not kept.
    told = [line for line in fitted.summary().splitlines() if "alternatives_" not in line]
    assert loaded.summary().splitlines() == told


# ---------------------------------------------------------------- round trips


def test_every_estimator_that_may_be_kept_is_tried_here():
    assert set(VARIANTS) == set(ESTIMATORS)


@pytest.mark.parametrize(
    ("name", "parameters"), [(name, each) for name, variants in VARIANTS.items() for each in variants]
)
def test_a_kept_model_places_and_scores_new_samples_as_the_one_in_memory_to_the_last_bit(again, name, parameters):
    fitted = ESTIMATORS[name](3, **parameters).fit(X)
    loaded = again(fitted)
    assert_same_model(loaded, fitted, X, NEW, NEW * 1e6)
    assert loaded.get_params() == fitted.get_params()
    assert clone(loaded).get_params() == fitted.get_params()


def strangers():
    """New people from towns and of sizes that fit has not seen, and with missing values of every kind."""
    frame = people(7, 30)
    frame["town"] = frame["town"].astype(object)
    frame.loc[0:3, "town"] = ["Atlantis", "", None, np.nan]
    frame["size"] = frame["size"].astype(object).where(frame.index > 2, "gigantic")
    frame["smokes"] = frame["smokes"].astype(object).where(frame.index > 1, None)
    frame.loc[4, ["height", "noise0", "noise1", "noise2"]] = np.nan
    frame.loc[5, :] = None
    return frame


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_features_to_select": 5},
        {"n_features_to_select": 8},
        {},
        {"metric": {"height": "manhattan", "noise0": "ordinal", "born": "hamming"}, "n_features_to_select": 8},
        {"feature_groups": {"place and size": ["town", "size"]}, "n_features_to_select": 3},
    ],
    ids=["five", "all", "tuned", "metrics", "groups"],
)
def test_words_orders_truth_values_dates_and_missing_values_are_kept(again, parameters):
    table = people(0)
    fitted = SASClustering(3, **parameters).fit(table)
    loaded = again(fitted)
    assert_same_model(loaded, fitted, table, people(1), strangers(), strangers().iloc[::-1])
    assert list(loaded.feature_names_in_) == list(table.columns)


def test_numbers_with_levels_and_truth_values_alone_are_kept(again):
    frame = pd.DataFrame({"n": TRUTH % 3, "b": TRUTH == 1, "x": X[:, 0]})
    fitted = SASClustering(3, n_features_to_select=3, metric={"n": "hamming"}).fit(frame)
    assert_same_model(again(fitted), fitted, frame, frame.assign(n=[5, 1] * 15, b=None, x=np.nan))


@pytest.mark.parametrize("kind", [SASClustering, SparseKMeans])
def test_a_model_of_a_sparse_matrix_is_kept(again, kind):
    table, new = (sp.csr_matrix(np.where(each > 0.3, each, 0.0)) for each in (X, NEW))
    fitted = kind(3).fit(table)
    assert_same_model(again(fitted), fitted, table, new, new.toarray())


def test_missing_values_in_numbers_are_kept(again):
    missing = np.random.default_rng(0).random(X.shape) < 0.2
    fitted = SASClustering(3, n_features_to_select=6).fit(np.where(missing, np.nan, X))
    assert_same_model(again(fitted), fitted, np.where(missing, NEW, np.nan), np.full((2, 15), np.nan))


def test_the_gap_curve_is_kept(again):
    fitted = SASClustering(3, n_permutations=4).fit(X)
    loaded = again(fitted)
    pd.testing.assert_frame_equal(loaded.gap_curve_.frame(), fitted.gap_curve_.frame(), check_exact=True)
    for key in ("chosen", "criterion", "parameter"):
        assert getattr(loaded.gap_curve_, key) == getattr(fitted.gap_curve_, key)
    assert again(SASClustering(3, n_features_to_select=4).fit(X)).gap_curve_ is None


@pytest.mark.parametrize("given", [range(2, 5), {4, 2, 3}, [2, 3, 4], (2, 3, 4), "auto"], ids=repr)
def test_the_choice_of_the_number_of_clusters_is_kept(again, given):
    fitted = SASClustering(given, max_clusters=4, n_features_to_select=4).fit(X)
    loaded = again(fitted)
    assert_same_model(loaded, fitted, X, NEW)
    assert loaded.n_clusters == (given if given == "auto" or isinstance(given, tuple) else [2, 3, 4])
    pd.testing.assert_frame_equal(loaded.n_clusters_curve_.frame(), fitted.n_clusters_curve_.frame(), check_exact=True)
    assert loaded.fit(X).n_clusters_ == fitted.n_clusters_


def test_the_core_is_kept(again):
    fitted = SASClustering(3, n_features_to_select=5).fit(X)
    loaded = again(fitted)
    np.testing.assert_array_equal(loaded.core_support_, fitted.core_support_)
    assert loaded.core_size_ == fitted.core_size_
    pd.testing.assert_frame_equal(loaded.core_curve_.frame(), fitted.core_curve_.frame(), check_exact=True)
    assert loaded.core_curve_.required == 0.9
    assert not hasattr(again(SASClustering(3, n_features_to_select=5, core_agreement=None).fit(X)), "core_support_")


def test_samples_in_no_cluster_are_kept(again):
    far = np.vstack([X, np.full((2, 15), 30.0) + NEW[:2]])
    fitted = SASClustering(3, n_features_to_select=5, trim=0.1).fit(far)
    assert (fitted.labels_[-2:] == -1).all()
    loaded = again(fitted)
    assert_same_model(loaded, fitted, far, NEW)
    shown, shown_again = (summarize(inspect(each, far))["samples"] for each in (fitted, loaded))
    assert shown_again == shown


def test_alternatives_are_not_kept_but_each_can_be_kept_as_a_model(again):
    rng = np.random.default_rng(0)
    one, other = rng.integers(2, size=(2, 60))
    table = rng.normal(size=(60, 40))
    table[:, :10] += 3 * one[:, None]
    table[:, 10:20] += 2 * other[:, None]
    fitted = SASClustering(2).fit(table)
    loaded = again(fitted)
    with pytest.raises(ValueError, match="loaded from a file, which does not contain alternatives"):
        loaded.use_alternative(0)
    assert_same_model(again(fitted.use_alternative(0)), fitted.use_alternative(0), table)


def test_a_file_from_before_the_number_of_clusters_could_be_chosen_is_read(tmp_path):
    """It has the same version, but lacks the parameters and attributes that have come since."""
    fitted = SASClustering(3, n_features_to_select=4).fit(X)
    entry = {**as_dict(fitted), "preset": None}
    newer = ("n_clusters_", "n_clusters_curve_", "core_", "bic_curve_", "outlier_scores_")
    entry["fitted"] = {key: value for key, value in entry["fitted"].items() if not key.startswith(newer)}
    parameters = ("max_clusters", "cluster_criterion", "trim", "core_agreement", "criterion", "objective")
    entry["parameters"] = {key: value for key, value in entry["parameters"].items() if key not in parameters}
    (tmp_path / "model.json").write_text(json.dumps(entry))
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(NEW), fitted.predict(NEW))
    assert (loaded.n_clusters_, loaded.n_clusters_curve_) == (3, None)
    assert loaded.summary().splitlines()[:2] == fitted.summary().splitlines()[:2]
    assert summarize(inspect(loaded, X))["sizes"] == [10, 10, 10]


def test_the_page_of_a_kept_model_is_the_page_of_the_model(again):
    fitted = SASClustering([2, 3, 4], n_alternatives=0).fit(people(0))
    shown, shown_again = (summarize(inspect(each, people(0))) for each in (fitted, again(fitted)))
    assert shown_again == shown


def test_a_preset_is_kept_and_a_model_can_be_kept_again(again, tmp_path):
    file = tmp_path / "model.json"
    again(SparseKMeans(3, l1_bound=2.0).fit(X), {"name": "expression", "log": True})
    saved, first = read_model(file), file.read_bytes()
    assert saved.preset == {"name": "expression", "log": True}
    save_model(saved.estimator, file, preset=saved.preset, names=saved.names)
    assert file.read_bytes() == first


def test_names_of_a_file_are_kept_beside_an_estimator_that_has_none(tmp_path):
    names = [f"gene{a}" for a in range(15)]
    saved = read_model(save_model(SparseKMeans(3, l1_bound=2.0).fit(X), tmp_path / "model.json", names=names))
    assert saved.names == names
    assert not hasattr(saved.estimator, "feature_names_in_")


def test_a_parameter_that_a_file_cannot_hold_is_shown_in_words(again):
    fitted = SASClustering(3, n_features_to_select=4, clusterer=KMeans(3, n_init=3)).fit(X)
    entry = as_dict(fitted)
    assert entry["parameters"]["clusterer"] == {"shown": "KMeans(n_clusters=3, n_init=3)"}
    assert_same_model(again(fitted), fitted, NEW)


# ---------------------------------------------------------------- what is not kept


def unlike(one, other):
    return abs(one - other)


REFUSED = {
    "unfitted": lambda: SASClustering(3),
    "a function": lambda: SASClustering(3, metric=unlike, n_features_to_select=4).fit(X),
    "a function for one column": lambda: SASClustering(3, metric={0: unlike}, n_features_to_select=4).fit(X[:, :5]),
    "precomputed": lambda: SASClustering(3, metric="precomputed", n_features_to_select=4).fit(
        (X.T[:, :, None] - X.T[:, None]) ** 2
    ),
    "sparse hierarchical": lambda: SparseHierarchical(3, l1_bound=2.0).fit(X),
    "COSA": lambda: COSA(3).fit(X[:, :6]),
    "SpectralGem": lambda: SpectralGem(3).fit(X),
    "another package's": lambda: KMeans(3, n_init=1).fit(X),
    "levels that are no text": lambda: SASClustering(2, n_features_to_select=2).fit(
        pd.DataFrame({"a": pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 4)), "b": range(8)})
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_kept_is_refused_in_one_line_and_nothing_is_written(tmp_path, what):
    with pytest.raises(ModelError) as caught:
        save_model(REFUSED[what](), tmp_path / "deep" / "model.json")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_refused_leaves_the_one_before(tmp_path):
    file = save_model(SASClustering(3, n_features_to_select=4).fit(X), tmp_path / "model.json")
    before = file.read_bytes()
    with pytest.raises(ModelError):
        save_model(REFUSED["a function"](), file)
    assert file.read_bytes() == before


def test_a_disk_that_fails_leaves_no_half_of_a_model(tmp_path, monkeypatch):
    fitted = SASClustering(3, n_features_to_select=4).fit(X)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(OSError, match="no space"):
        save_model(fitted, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
