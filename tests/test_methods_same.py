"""What must not change the answer of any method: seeds, threads, order, earlier fits; and parameters that are wrong."""

import importlib
import pickle
import re
import warnings
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sparsecluster.datasets import mixed_groups
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import in_turn, some
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, EVERY, HARD, MIXTURES, TRUTH, fitted, quick, those

pytestmark = pytest.mark.usefixtures("less_work")

# Fewer of them, since every pair is looked at in every feature.
SOME = HARD[::2, ::3]
ANYTHING = pytest.mark.parametrize("name", those(takes="anything"))
# What a fit tunes on copies or samples, or from many starts, which threads share.
ON_COPIES = (
    *("sas", "sparse-kmeans", "rskc", "sparse-hierarchical", "sparse-kmedoids", "cosa-common"),
    "regularized-kmeans",
)
TUNES = (*ON_COPIES, *MIXTURES)
# The attribute that holds what was tuned.
CURVES = {
    "regularized-kmeans": "instability_",
    **dict.fromkeys(MIXTURES, "bic_curve_"),
    **dict.fromkeys(("reduced", "reduced-nmf"), "components_curve_"),
}
# These have nothing to tune, but their threads share random sets of features, starts, or the proposals of a step.
SHARES_WORK = (*TUNES, "reduced-nmf", "i-if-learn", "raftery-dean")


def matrices(table):
    """|x - y| of every pair in every column."""
    return np.abs(table.T[:, :, None] - table.T[:, None, :])


def attributes(found):
    """All that a fit leaves for the user, but for what scikit-learn knows of the input."""
    of_input = ("n_features_in_", "feature_names_in_")
    return {name: vars(found)[name] for name in sorted(vars(found)) if name.endswith("_") and name not in of_input}


def assert_same(one, other, rows=slice(None), columns=slice(None)):
    """The second is the first with its rows and columns in another order, to the last bit."""
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    for name in ("support_", "feature_scores_", "feature_weights_", "p_values_"):
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name)[columns])


def assert_equal_attributes(one, other):
    """Two fits left the same things, equal to the last bit."""
    assert list(attributes(one)) == list(attributes(other))
    for name, value in attributes(one).items():
        if name == "alternatives_":
            for each, twin in zip(value, other.alternatives_, strict=True):
                assert each.gap == twin.gap
                assert_equal_attributes(each.estimator, twin.estimator)
        else:
            assert pickle.dumps(value) == pickle.dumps(getattr(other, name)), name


# ---------------------------------------------------------------- seeds and earlier fits


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_the_seed_is_0_unless_another_is_given(name):
    assert_equal_attributes(fitted(name, "hard"), quick(name, random_state=0).fit(HARD))


@in_turn(name=METHODS, make=[int, np.random.RandomState])
def test_the_same_seed_gives_the_same_answer(name, make):
    assert_equal_attributes(*(quick(name, random_state=make(7)).fit(HARD) for _ in range(2)))


@cache
def fitted_again(name):
    """A method that was fitted to a table with names, and then to one without."""
    return quick(name).fit(pd.DataFrame(CORNERS).add_prefix("gene")).fit(HARD)


@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_fitting_twice_is_fitting_once(name):
    assert_equal_attributes(fitted_again(name), fitted(name, "hard"))
    assert_equal_attributes(deepcopy(fitted_again(name)).fit(HARD), fitted(name, "hard"))


@pytest.mark.parametrize("name", some(METHODS, first=2))
def test_a_clone_has_the_parameters_and_not_the_result(name):
    found = fitted(name, "hard")
    again = clone(found)
    assert again.get_params() == found.get_params()
    assert not attributes(again)
    assert_equal_attributes(found, again.fit(HARD))


@EVERY
def test_a_fitted_estimator_survives_a_pickle(name):
    found = fitted(name, "hard")
    again = pickle.loads(pickle.dumps(found))
    assert_equal_attributes(found, again)
    if METHODS[name].predicts:
        new = np.random.default_rng(0).normal(size=(50, 30))
        np.testing.assert_array_equal(again.predict(new), found.predict(new))


@EVERY
def test_nothing_stays_of_names_that_an_earlier_table_had(name):
    estimator = fitted_again(name)
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 30
    assert estimator.get_feature_names_out()[0].startswith("x")


@ANYTHING
def test_nothing_stays_of_an_earlier_table_after_matrices(name):
    estimator = quick(name).fit(pd.DataFrame(CORNERS).add_prefix("gene"))
    assert hasattr(estimator, "cluster_centers_")
    estimator.set_params(metric="precomputed").fit(matrices(SOME))
    assert not hasattr(estimator, "feature_names_in_")
    assert not hasattr(estimator, "cluster_centers_")
    assert_equal_attributes(estimator, quick(name, metric="precomputed").fit(matrices(SOME)))
    estimator.set_params(metric="auto").fit(HARD)
    assert_equal_attributes(estimator, fitted(name, "hard"))


GIVEN = {
    "sas": {"n_features_to_select": 5},
    "sparse-kmeans": {"l1_bound": 2.0},
    "rskc": {"l1_bound": 2.0},
    "sparse-hierarchical": {"l1_bound": 2.0},
    "sparse-kmedoids": {"l1_bound": 2.0},
    "cosa-common": {"penalty": 0.3},
    "regularized-kmeans": {"penalty": 0.1},
    **{name: {"penalty": 0.1} for name in MIXTURES},
    "reduced": {"n_components": 2},
    "reduced-nmf": {"n_components": 2},
}


@pytest.mark.parametrize("name", GIVEN)
def test_nothing_stays_of_an_earlier_choice_of_the_tuning_parameter(name):
    estimator = quick(name).fit(HARD)
    chosen = CURVES.get(name, "gap_curve_")
    assert getattr(estimator, chosen) is not None
    estimator.set_params(**GIVEN[name]).fit(HARD)
    assert getattr(estimator, chosen) is None
    assert_equal_attributes(estimator, quick(name, **GIVEN[name]).fit(HARD))


@EVERY
def test_a_fit_that_is_refused_leaves_no_answer(name):
    estimator = quick(name)
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit(np.where(HARD > 2, np.inf, HARD))
    assert not hasattr(estimator, "labels_")


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("name", [name for name in METHODS if "n_jobs" in quick(name).get_params()])
def test_threads_do_not_change_the_answer(pools, name):
    one = quick(name, n_jobs=1).fit(HARD)
    assert pools == []
    two = quick(name, n_jobs=2).fit(HARD)
    assert set(pools) == ({1} if name in SHARES_WORK else set())
    assert_equal_attributes(one, two)


# ---------------------------------------------------------------- order


@in_turn(name=METHODS, what=["rows", "columns", "both"])
def test_order_of_rows_and_columns_does_not_matter(name, what):
    rng = np.random.default_rng(0)
    rows = np.arange(45) if what == "columns" else rng.permutation(45)
    columns = np.arange(30) if what == "rows" else rng.permutation(30)
    one, other = fitted(name, "hard"), quick(name).fit(HARD[np.ix_(rows, columns)])
    assert_same(one, other, rows, columns)
    if METHODS[name].predicts:
        new = rng.normal(size=(50, 30))
        np.testing.assert_array_equal(other.predict(new[:, columns]), one.predict(new))


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_order_does_not_matter_where_rows_are_repeated(name):
    table = np.concatenate([HARD, HARD[:20]])
    rows = np.random.default_rng(0).permutation(65)
    one, other = quick(name).fit(table), quick(name).fit(table[rows])
    np.testing.assert_array_equal(one.labels_[45:], one.labels_[:20])
    assert_same(one, other, rows)


@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_order_does_not_matter_where_columns_are_repeated(name):
    # Copies of a column are told apart by nothing, so that any of them may come first: they have to end up alike.
    table = np.column_stack([CORNERS, CORNERS[:, :3], CORNERS[:, -3:]])
    columns = np.random.default_rng(0).permutation(46)
    one, other = quick(name).fit(table), quick(name).fit(table[:, columns])
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(other.feature_scores_, one.feature_scores_[columns])
    np.testing.assert_array_equal(one.feature_scores_[40:43], one.feature_scores_[:3])
    # SAS takes a number of features, which may cut between two that are equal. A copy of a chosen feature is explained
    # by it completely, so Raftery and Dean's method leaves it out.
    if name not in ("sas", "raftery-dean"):
        np.testing.assert_array_equal(one.support_[40:], one.support_[[0, 1, 2, 37, 38, 39]])
        np.testing.assert_array_equal(other.support_, one.support_[columns])


@ANYTHING
@pytest.mark.parametrize("kind", ["matrices", "mixed"])
def test_order_does_not_matter_for_other_kinds_of_tables(name, kind):
    table = mixed_groups(n_features=6, n_useful=4, group_size=6, seed=2).X if kind == "mixed" else SOME
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    if kind == "mixed":
        one, other = quick(name).fit(table), quick(name).fit(table.iloc[rows, columns])
    else:
        made = [quick(name, metric="precomputed") for _ in range(2)]
        one, other = (each.fit(matrices(part)) for each, part in zip(made, (SOME, SOME[rows][:, columns]), strict=True))
    assert_same(one, other, rows, columns)


@EVERY
def test_labels_follow_the_rows_where_groups_are_clear(name):
    rows = np.random.default_rng(0).permutation(45)
    found = quick(name, 2).fit(CORNERS[rows][TRUTH[rows] < 2])
    np.testing.assert_array_equal(found.labels_, TRUTH[rows][TRUTH[rows] < 2])


# ---------------------------------------------------------------- parameters that are wrong


# Of every parameter that several methods share: what it must be, and values that it must not have.
SHARED = {
    "n_clusters": ("a whole number of at least 2", ["a", 1, 2.0, True]),
    "n_permutations": ("a whole number of at least 1", [0, -1, 2.5, "many"]),
    "n_bootstraps": ("a whole number of at least 1", [0, 2.5]),
    "n_init": ("a whole number of at least 1", [0, 2.5, "x"]),
    "max_iter": ("a whole number of at least 1", [0, 2.5, None]),
    "n_jobs": ("None, a number of threads, or -1", [0, 1.5, "all"]),
    "verbose": ('True or False or "auto"', [3, "loud", None]),
    "standardize": ("True or False", [1, "yes", None]),
    "rule": ('one of "max", "1se"', ["x", 1, None]),
}


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, each) for name in METHODS for each in SHARED if each in quick(name).get_params()]
)
def test_shared_parameters_are_refused_before_the_table_is_looked_at(name, parameter):
    allowed, values = SHARED[parameter]
    for value in values:
        with refuses(f"{parameter} must be {re.escape(allowed)}", f"got {value!r}"):
            quick(name).set_params(**{parameter: value}).fit(None)


# Where the work of a fit begins.
WORK = {
    "sas": "_search.solve.choose_size",
    "sparse-kmeans": "methods._bounded.tuned",
    "rskc": "methods._bounded.tuned",
    "sparse-hierarchical": "methods._bounded.tuned",
    "sparse-kmedoids": "methods._bounded.tuned",
    "cosa": "methods.cosa.by_pair",
    "cosa-common": "methods.cosa.tuned",
    "regularized-kmeans": "methods.regularized.start",
    **dict.fromkeys(MIXTURES, "methods._penalized.follow"),
    "raftery-dean": "methods.raftery_dean.Evidence",
    "if-pca": "methods.ifpca.ks_null",
    "i-if-learn": "methods.ifpca.ks_null",
    "proclus": "methods.proclus.candidates_of",
    "reduced": "methods.reduced.principal",
    "reduced-nmf": "methods.reduced.factorize",
    "varsel": "methods.varsel.short_runs",
    "spectral-gem": "methods.spectral_gem.graph_spectrum",
    **dict.fromkeys((name for name in METHODS if name.startswith("screened")), "methods.screened.screen"),
    **dict.fromkeys(("kmeans", "kmeans++", "complete", "ward", "spectral"), "_clusterers.own.prepared"),
    "kmedoids": "_clusterers.kmedoids.seed_pairs",
}


@EVERY
def test_what_is_no_seed_is_refused_before_any_work(monkeypatch, name):
    home, function = WORK[name].rsplit(".", 1)

    def begun(*args, **kwargs):
        raise AssertionError(f"{function} began before the seed was looked at")

    monkeypatch.setattr(importlib.import_module(f"sparsecluster.{home}"), function, begun)
    with pytest.raises(AssertionError, match="began before"):
        quick(name).fit(HARD)
    with pytest.raises(ValueError, match=r"random_state must be .*; got 'a'"):
        quick(name, random_state="a").fit(HARD)


@pytest.mark.parametrize("name", [name for name in METHODS if "metric" in quick(name).get_params()])
def test_unknown_metrics_are_answered_by_the_known_and_the_nearest(name):
    with refuses("metric must be one of", '"manhattan"', "got 'euclidian'", 'Did you mean "euclidean"'):
        quick(name, metric="euclidian").fit(HARD)


@pytest.mark.parametrize("name", [name for name in METHODS if "clusterer" in quick(name).get_params()])
def test_unknown_clusterers_are_answered_by_the_known_and_the_nearest(name):
    with refuses("clusterer must be one of", '"kmedoids"', "got 'kmedoid'", 'Did you mean "kmedoids"'):
        quick(name, clusterer="kmedoid").fit(HARD)


@pytest.mark.parametrize("name", some(METHODS, first=2))
def test_y_is_ignored(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # On groups that overlap, a hierarchical method may cut off a single sample, of which it warns, and the BIC of a
        # mixture may prefer a single cluster.
        warnings.filterwarnings("ignore", "A cluster is made of 1 sample|By the BIC, a single cluster")
        assert_same(fitted(name, "hard"), quick(name).fit(HARD, np.arange(45)))
