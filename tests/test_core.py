"""The core: the fewest features, in the order of their scores, on which the same clusters are found again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import sparsecluster.methods._core
from sparsecluster import SASClustering, TuningCurve, adjusted_rand_index
from sparsecluster._search.core import RATIO, find_core, numbers_to_try
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._core import from_all_clusters
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import some
from tests.helpers.common import refuses
from tests.helpers.methods import CORNERS, HARD, fitted, quick
from tests.helpers.new_samples import KINDS, S, fit

pytestmark = [
    pytest.mark.usefixtures("less_work", "one_thread"),
    pytest.mark.filterwarnings("ignore:A cluster is made of 1"),
]


def cube(bits, copies=4, seed=0, samples=6):
    """Groups at the corners of a cube: group c has a high value in feature a if bit a of c is 1.

    Only the first `bits` features together tell all groups apart; every further one repeats one of them.
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(2**bits), samples).astype(np.int32)
    high = (truth[:, None] >> (np.arange(bits * copies) % bits)) & 1
    return 10.0 * high + rng.normal(size=high.shape), truth


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_the_core_has_as_many_features_as_are_needed(problem_of, bits):
    table, truth = cube(bits)
    ranked = np.arange(table.shape[1])
    core = find_core(problem_of(table, 2**bits), truth, ranked, 0.9, np.random.default_rng(0))
    assert core.subset.tolist() == list(range(bits))
    assert core.is_enough
    assert core.curve.chosen == bits
    assert core.curve.score[core.curve.place] >= 0.9 > core.curve.score[: core.curve.place].max(initial=0.0)


def test_the_order_is_that_of_the_ranking(problem_of):
    """The same bit twice is not enough, however often it comes."""
    table, truth = cube(2)
    ranked = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    core = find_core(problem_of(table, 4), truth, ranked, 0.9, np.random.default_rng(0))
    assert core.subset.tolist() == [0, 2, 4, 6, 1]


def test_where_clusters_cannot_be_found_again_the_core_is_all_that_was_chosen(problem_of):
    table = np.random.default_rng(0).normal(size=(40, 12))
    labels = np.random.default_rng(1).permutation(np.arange(40) % 3).astype(np.int32)
    core = find_core(problem_of(table, 3), labels, np.arange(10), 0.9, np.random.default_rng(0))
    assert core.subset.tolist() == list(range(10))
    assert not core.is_enough
    assert not core.curve.details["enough"].any()
    assert core.curve.values.tolist() == numbers_to_try(10)


def test_a_single_feature_is_its_own_core(problem_of):
    table, truth = cube(1)
    assert find_core(problem_of(table, 2), truth, np.array([3]), 0.9, np.random.default_rng(0)).subset.tolist() == [3]


@pytest.mark.parametrize("least", [0.3, 0.6, 0.9, 1.0])
def test_a_stricter_agreement_never_needs_fewer_features(problem_of, least):
    design = shifted_groups(mu=1.2, n_features=40, n_useful=40, group_size=15)
    problem, truth = problem_of(design.X, 3), design.truth.astype(np.int32)
    ranked = np.argsort(-problem.scores(truth))
    some, most = (find_core(problem, truth, ranked, each, np.random.default_rng(0)) for each in (least, 1.0))
    assert some.subset.size <= most.subset.size


@pytest.mark.parametrize("most", [1, 2, 7, 50, 1000])
def test_numbers_to_try_grow_by_a_ratio_from_one_to_all(most):
    numbers = numbers_to_try(most)
    assert numbers[0] == 1
    assert numbers[-1] == most
    assert (np.diff(numbers) >= 1).all()
    assert all(after <= max(before + 1, RATIO * before + 0.5) for before, after in pairwise(numbers))
    assert len(numbers) <= 6 + np.log(most) / np.log(RATIO)


# ---------------------------------------------------------------- the attributes of a fit


@pytest.fixture(scope="module")
def table():
    return shifted_groups(mu=1.5, n_features=60, n_useful=20, group_size=20)


@pytest.fixture(scope="module")
def found(table):
    return SASClustering(n_permutations=5).fit(table.X)


def assert_core(found):
    """The core is a part of the support, in the order of scores, and its curve says why."""
    core, rest = found.core_support_, found.support_ & ~found.core_support_
    assert core.dtype == bool
    assert core.shape == found.support_.shape
    assert (core <= found.support_).all()
    assert core.any()
    assert found.feature_scores_[core].min() >= found.feature_scores_[rest].max(initial=0.0)
    curve = found.core_curve_
    assert isinstance(curve, TuningCurve)
    assert (curve.parameter, curve.criterion) == ("m", "agreement")
    assert curve.chosen == found.core_size_
    assert (np.diff(curve.values) > 0).all()
    assert (curve.score <= 1.0).all()


def test_the_core_is_a_small_part_of_the_chosen_features(found):
    assert_core(found)
    assert found.core_size_ == found.core_support_.sum() < found.support_.sum()
    assert f"the {found.core_size_} with the highest scores are enough" in found.summary()


def test_k_means_on_the_core_finds_the_same_clusters(found, table):
    X = table.X / table.X.std(axis=0)
    afresh = KMeans(3, n_init=20, random_state=0).fit(X[:, found.core_support_]).labels_
    assert adjusted_rand_index(afresh, found.labels_) >= 0.9
    # One feature less is not enough.
    curve = found.core_curve_
    assert curve.score[curve.values == found.core_size_ - 1][0] < 0.9 <= curve.score[curve.place]


@pytest.mark.parametrize("least", [0.5, 1.0])
def test_the_agreement_may_be_given(table, found, least):
    other = SASClustering(n_permutations=5, core_agreement=least).fit(table.X)
    np.testing.assert_array_equal(other.support_, found.support_)
    assert (other.core_size_ <= found.core_size_) == (least < 0.9)
    assert other.core_curve_.details["enough"][other.core_curve_.place] == 1.0


def test_order_of_rows_and_columns_does_not_matter(table, found):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(60)
    other = SASClustering(n_permutations=5).fit(table.X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(other.core_support_, found.core_support_[columns])
    np.testing.assert_array_equal(other.core_curve_.score, found.core_curve_.score)


def test_labels_that_the_features_do_not_explain_have_no_smaller_core():
    labels = np.random.default_rng(0).permutation(np.arange(45) % 3)
    other = SASClustering(n_features_to_select=8, init=labels, max_iter=1).fit(HARD)
    np.testing.assert_array_equal(other.core_support_, other.support_)
    assert not other.core_curve_.details["enough"].any()
    assert "enough" not in other.summary()


def test_the_core_need_not_be_sought(table):
    other = SASClustering(n_features_to_select=20, core_agreement=None).fit(table.X)
    assert not any(hasattr(other, name) for name in ("core_support_", "core_size_", "core_curve_"))
    for parameters in ({"rule": "core"}, {"n_features_to_select": "core"}):
        with refuses("core_agreement is None", "the core is to be selected", "0.9"):
            SASClustering(core_agreement=None, **parameters).fit(table.X)


def test_columns_of_a_group_are_in_the_core_together(table):
    groups = [a // 2 for a in range(60)]
    other = SASClustering(n_features_to_select=8, feature_groups=groups, core_agreement=0.8).fit(table.X)
    assert_core(other)
    np.testing.assert_array_equal(other.core_support_[::2], other.core_support_[1::2])
    assert other.core_size_ == other.core_support_.sum() // 2 < 8


# ---------------------------------------------------------------- the core as the choice


@pytest.mark.parametrize("asked", [{"n_features_to_select": "core"}, {"rule": "core"}])
def test_the_core_may_be_what_is_selected(table, found, asked):
    other = SASClustering(n_permutations=5, **asked).fit(table.X)
    np.testing.assert_array_equal(other.labels_, found.labels_)
    np.testing.assert_array_equal(other.support_, found.core_support_)
    np.testing.assert_array_equal(other.core_support_, other.support_)
    assert other.transform(table.X).shape == (60, found.core_size_)
    assert other.objective_ == pytest.approx(found.feature_scores_[found.core_support_].sum())
    assert adjusted_rand_index(other.predict(table.X), other.labels_) > 0.8
    # The curve is that of the size from which the core was taken.
    assert other.gap_curve_.chosen == found.support_.sum()


def test_the_core_of_a_given_number_of_features_may_be_selected(table):
    given, core = (SASClustering(n_features_to_select=20, rule=rule).fit(table.X) for rule in ("max", "core"))
    np.testing.assert_array_equal(core.support_, given.core_support_)
    assert core.gap_curve_ is None


def test_the_core_of_amounts_sums_amounts(table):
    X = table.X * np.linspace(1, 2, 60)
    core = SASClustering(n_features_to_select=20, rule="core", standardize=False).fit(X)
    totals = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    assert core.objective_ == pytest.approx((core.feature_scores_ * totals)[core.support_].sum())


@pytest.mark.parametrize("name", ["sparse-kmeans", "sparse-hierarchical", "sparse-kmedoids", "cosa-common"])
def test_only_a_number_of_features_can_be_that_of_the_core(name):
    with refuses("rule must be one of", '"max", "1se"', "got 'core'"):
        quick(name, rule="core").fit(HARD)


# ---------------------------------------------------------------- many samples


def test_the_core_of_many_samples_is_sought_on_some_of_them(monkeypatch):
    looked_at, of = [], sparsecluster.methods._core.find_core

    def watched(problem, labels, *others):
        looked_at.append((problem.features.n_samples, np.unique(labels).size))
        return of(problem, labels, *others)

    monkeypatch.setattr(sparsecluster.methods._core, "find_core", watched)
    monkeypatch.setattr(sparsecluster.methods._core, "MOST_SAMPLES", 50)
    monkeypatch.setattr(sparsecluster.methods._core, "MOST_PAIRED_SAMPLES", 30)
    design = shifted_groups(mu=2.0, n_features=20, n_useful=10, group_size=60)
    for parameters in ({}, {"metric": "manhattan", "n_init": 1}):
        other = SASClustering(n_features_to_select=10, **parameters).fit(design.X)
        assert_core(other)
        assert other.core_size_ < 10
    assert looked_at == [(50, 3), (30, 3)]


def test_a_sample_of_some_samples_has_every_cluster_and_as_many_as_asked_for():
    labels = np.r_[np.zeros(500, np.int32), 1, 2, 2]
    for seed in range(10):
        places = from_all_clusters(labels, 40, np.random.default_rng(seed))
        assert places.size == np.unique(places).size == 40
        assert (np.diff(places) > 0).all()
        assert set(labels[places]) == {0, 1, 2}


def test_a_feature_that_does_not_vary_among_some_samples_does_no_harm(monkeypatch):
    """A rare level is in the core if a feature after it is."""
    monkeypatch.setattr(sparsecluster.methods._core, "MOST_SAMPLES", 30)
    table, _ = cube(2, samples=60)
    rare = pd.DataFrame(table[:, :2]).add_prefix("x").assign(rare=np.where(np.arange(240) == 7, "yes", "no"))
    other = SASClustering(4, n_features_to_select=3).fit(rare)
    assert_core(other)
    assert other.core_support_[:2].all()
    assert other.core_curve_.values[-1] == 3


# ---------------------------------------------------------------- all kinds and methods


def spoiled(kind):
    """The same table with a few missing values."""
    table, _, parameters = KINDS[kind]()
    table = table.copy()
    if isinstance(table, pd.DataFrame):
        return table.mask(np.random.default_rng(0).random(table.shape) < 0.05), parameters
    table[np.random.default_rng(0).random(table.shape) < 0.05] = None if table.dtype == object else np.nan
    return table, parameters


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_has_a_core(kind):
    table, _, parameters = KINDS[kind]()
    other = fit(table, **parameters)
    assert_core(other)
    assert other.core_size_ <= S
    chosen = fit(table, rule="core", **parameters)
    np.testing.assert_array_equal(chosen.support_, other.core_support_)
    assert set(chosen.predict(table)) == {0, 1, 2}


@pytest.mark.parametrize("kind", ["sqeuclidean", "manhattan", "hamming", "mixed"])
def test_missing_values_do_no_harm_to_the_core(kind):
    table, parameters = spoiled(kind)
    assert_core(fit(table, **parameters))


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_every_method_has_a_core(name):
    other = fitted(name)
    assert_core(other)
    assert other.core_size_ == other.core_support_.sum()
    assert not hasattr(quick(name, core_agreement=None).fit(CORNERS), "core_support_")
