"""The criteria for the number of clusters: any method as a black box, and nothing but data, parameters and seed."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import sparsecluster
from sparsecluster import COSA, PlainClustering, RegularizedKMeans, SASClustering, SparseKMeans
from sparsecluster.methods._clusters import CRITERIA
from sparsecluster.methods._criteria.refit import Refit, assign, fit_each, part_of
from sparsecluster.methods._criteria.tables import numbers_of
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import in_turn
from tests.helpers.common import refuses, same_groups
from tests.helpers.criteria import REFITTING, SIMULATING, choose, far_apart, few_tables, kmeans  # noqa: F401
from tests.helpers.methods import CORNERS, HARD, TRUTH, quick

pytestmark = pytest.mark.usefixtures("less_work", "few_tables", "one_thread")

CRITERION = pytest.mark.parametrize("criterion", REFITTING)
RNG = np.random.default_rng(0)


def curves(found):
    return found.n_clusters_curve_.score, found.n_clusters_curve_.error, found.labels_


def auto(X, criterion, **parameters):
    return SASClustering([2, 3, 4], cluster_criterion=criterion, n_permutations=3, **parameters).fit(X)


# ---------------------------------------------------------------- black boxes


@in_turn(name=METHODS, criterion=REFITTING)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_criterion_chooses_among_the_candidates_for_every_method(name, criterion):
    estimator = quick(name)
    before = clone(estimator).get_params()
    choice = choose(criterion, estimator, CORNERS, [2, 3])
    assert choice.k in (2, 3)
    assert choice.curve.chosen == choice.k
    assert [k for k in choice.curve.values if k > 1] == [2, 3]
    assert np.unique(choice.labels).tolist() == list(range(choice.k))
    assert np.isfinite(choice.curve.score).all()
    # The estimator is as it was: neither changed nor fitted.
    assert repr(estimator.get_params()) == repr(before)
    assert not hasattr(estimator, "labels_")


@CRITERION
def test_clear_groups_are_counted(criterion):
    found = auto(CORNERS, criterion)
    assert found.n_clusters_ == 3
    assert same_groups(found.labels_, TRUTH)
    assert found.n_clusters_curve_.parameter == "k"
    assert found.n_clusters_curve_.criterion == criterion
    assert criterion in found.n_clusters_curve_.frame().columns


@CRITERION
def test_an_estimator_may_try_few_and_any_numbers(criterion):
    X, truth = far_apart((12, 10, 9, 8))
    assert same_groups(kmeans(n_clusters=[4, 2, 6], cluster_criterion=criterion).fit(X).labels_, truth)


def test_an_unknown_criterion_is_refused():
    with refuses("cluster_criterion must be one of", '"bic", "gap"', '"prediction_strength"', 'mean "stadion"'):
        SASClustering("auto", cluster_criterion="stadium").fit(CORNERS)


# ---------------------------------------------------------------- refits


@pytest.mark.parametrize(
    ("estimator", "tuned"),
    [
        (SparseKMeans(n_permutations=2, n_init=2), "l1_bound"),
        (RegularizedKMeans(n_bootstraps=2, n_init=2), "penalty"),
        (COSA(weights="common", n_permutations=2, n_init=2), "penalty"),
    ],
)
def test_other_tables_are_fitted_with_the_values_that_were_tuned_on_the_data(estimator, tuned):
    found = fit_each(estimator, estimator.read(CORNERS), [3])[3]
    assert getattr(Refit.like(estimator, found).estimator, tuned) == found.attributes[f"{tuned}_"]
    assert getattr(estimator, tuned) == "auto"


def test_nothing_but_what_was_tuned_is_changed():
    sas = SASClustering(n_permutations=2, n_jobs=2)
    reading = sas.read(CORNERS)
    found = fit_each(sas, reading, [3])[3]
    refit = Refit.like(sas, found)
    # Besides, the tables are shared out among the threads, nothing is shown, and nothing else is looked for.
    expected = {"n_features_to_select": found.subset.size, "n_jobs": 1, "verbose": False, "n_alternatives": 0}
    assert refit.estimator.get_params() == {**sas.get_params(), **expected}
    assert refit(reading, 3, RNG).attributes["gap_curve_"] is None


def test_a_table_with_fewer_columns_gets_fewer_features():
    sas = SASClustering(n_features_to_select=30)
    reading = sas.read(CORNERS)
    refit = Refit.like(sas, fit_each(sas, reading, [2])[2])
    constant = CORNERS.copy()
    constant[:20, 5:] = 0.0
    part = part_of(sas.read(constant), np.flatnonzero(np.isin(sas.read(constant).source.samples, np.arange(20))), 2)
    assert refit(part, 2, RNG).subset.size == 5
    assert refit(None, 2, RNG) is None


def test_a_method_that_finds_no_feature_finds_no_clusters():
    method = RegularizedKMeans(penalty=1e3, n_init=2)
    table = method.read(CORNERS)
    assert Refit(method)(table, 3, RNG) is None
    with refuses("penalty=1000 leaves no feature"):
        method.fit(CORNERS)


def test_labels_that_are_given_as_a_start_belong_to_the_data_only():
    found = SASClustering([2, 3], cluster_criterion="gap", n_features_to_select=20, init=TRUTH).fit(CORNERS)
    assert found.n_clusters_ == 3


@pytest.mark.parametrize("name", ["sas", "sparse-kmeans", "if-pca", "regularized-kmeans", "kmeans++", "screened-ks"])
def test_samples_are_assigned_as_predict_does(name):
    # A fit to the first part and `predict` for the rest, and the same without a fit.
    method, half = quick(name), np.arange(0, len(CORNERS), 2)
    rest = np.setdiff1d(np.arange(len(CORNERS)), half)
    reading = method.read(CORNERS)
    part = part_of(reading, np.flatnonzero(np.isin(reading.source.samples, half)), 3)
    near = assign(part, method._solve(part, 3), rest)
    assert same_groups(near, method.fit(CORNERS[half]).predict(CORNERS[rest]))


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("groups", [None, {"first": [0, 1, 2], "last": [38, 39]}])
def test_a_table_of_numbers_has_the_units_of_the_clustering(standardize, groups):
    X = CORNERS * np.logspace(-3, 3, 40) + 100.0
    reading = SASClustering(standardize=standardize, feature_groups=groups).read(X)
    table, features = numbers_of(reading, "gap"), reading.source.features()
    np.testing.assert_allclose((table.values**2).sum(axis=0), features.total)
    again = table.read(table.values, 2)
    arranged = X[np.ix_(reading.source.samples, reading.source.columns)]
    np.testing.assert_allclose(again.source.table.values, arranged)
    np.testing.assert_allclose(again.source.features().total, features.total)
    assert again.n_usable == reading.n_usable


def test_a_table_with_too_few_different_rows_is_not_read():
    table = numbers_of(SASClustering().read(CORNERS), "gap")
    assert table.read(np.repeat(table.values[:2], 5, axis=0), 3) is None
    assert table.read(np.repeat(table.values[:3], 5, axis=0), 3) is not None


class NeverFitted(PlainClustering):
    def _solve(self, reading, k):
        raise AssertionError("a fit was made")


OTHER_DATA = {
    "missing values": (np.where(np.arange(40) == TRUTH[:, None], np.nan, CORNERS), {}),
    "categories": (pd.DataFrame({"number": CORNERS[:, 0], "word": np.array(list("abc"))[TRUTH]}), {}),
    "distances": (CORNERS, {"metric": "manhattan"}),
    "a sparse matrix": (scipy.sparse.csc_array(CORNERS * (CORNERS > 1)), {}),
    "matrices": ([abs(column[:, None] - column) for column in CORNERS.T[:3]], {"metric": "precomputed"}),
}


@pytest.mark.parametrize("criterion", SIMULATING)
@pytest.mark.parametrize("data", OTHER_DATA)
def test_criteria_that_simulate_numbers_refuse_other_data_before_any_fit(criterion, data):
    X, parameters = OTHER_DATA[data]
    method = NeverFitted(**parameters)
    words = 'compares the data with simulated tables.*"bic" and "prediction_strength" accept any data'
    with refuses(f'cluster_criterion="{criterion}"', words):
        choose(criterion, method, X, [2, 3])


@pytest.mark.parametrize("data", OTHER_DATA)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_prediction_strength_accepts_any_data(data):
    X, parameters = OTHER_DATA[data]
    found = SASClustering([2, 3], cluster_criterion="prediction_strength", n_permutations=2, **parameters).fit(X)
    assert found.n_clusters_curve_.values.tolist() == [2, 3]
    assert (found.n_clusters_curve_.score > 0).all()


# ---------------------------------------------------------------- data, parameters and seed


@CRITERION
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_order_of_rows_and_columns_does_not_matter(criterion):
    rows, columns = RNG.permutation(len(HARD)), RNG.permutation(HARD.shape[1])
    plain, mixed = auto(HARD, criterion), auto(HARD[rows][:, columns], criterion)
    np.testing.assert_array_equal(mixed.n_clusters_curve_.score, plain.n_clusters_curve_.score)
    assert same_groups(mixed.labels_, plain.labels_[rows])


@CRITERION
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_number_of_threads_does_not_matter(criterion, monkeypatch):
    alone = auto(HARD, criterion)
    monkeypatch.setattr(sparsecluster._utils.parallel, "THREADS_PAY", 0)
    for one, other in zip(curves(alone), curves(auto(HARD, criterion, n_jobs=2)), strict=True):
        np.testing.assert_array_equal(one, other)


@CRITERION
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_seed_decides_and_nothing_else(criterion):
    first, again, other = (auto(HARD, criterion, random_state=seed).n_clusters_curve_ for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.score, again.score)
    assert (first.score != other.score).any()


# Stadion needs more tables for this, and is tested with the others of its kind.
@pytest.mark.parametrize("criterion", [name for name in CRITERIA if name != "stadion"])
def test_data_without_clusters_are_reported(criterion, reference):
    for X in (reference.table("null60x20"), np.random.default_rng(5).standard_normal((60, 10))):
        with pytest.warns(UserWarning, match="may have no clusters"):
            found = kmeans(n_clusters=[2, 3, 4], cluster_criterion=criterion).fit(X)
        assert found.n_clusters_ in (2, 3, 4)


@CRITERION
def test_the_fits_to_other_tables_are_silent(criterion, recwarn):
    class Loud(PlainClustering):
        def _solve(self, reading, k):
            warnings.warn("this fit is loud", UserWarning, stacklevel=1)
            return super()._solve(reading, k)

    choose(criterion, Loud(), far_apart((12, 10, 9))[0], [2, 3])
    assert not [each for each in recwarn if "loud" in str(each.message)]
