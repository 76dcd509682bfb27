"""Screening, then clustering: the features that pass are those of the tests, and the groups those of the clusterer."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import pdist
from scipy.stats import chi2
from sklearn.cluster import KMeans

from sparsecluster import PlainClustering, ScreenedClustering, rand_index
from sparsecluster.datasets import shifted_groups
from sparsecluster.methods._screening import TESTS, by_false_discovery_rate, by_higher_criticism, screen
from tests import naive
from tests.helpers.cases import in_turn
from tests.helpers.common import plain_scores, refuses, three_groups, within

pytestmark = pytest.mark.usefixtures("one_thread")
# What is claimed of every test of the screening holds with a null distribution of fewer samples as well.
FEWER = pytest.mark.usefixtures("less_work")

# Three groups far apart in 8 of 40 features.
X, TRUTH, USEFUL = three_groups(mu=10.0, n_features=40, n_useful=8)
NAMES = [f"gene{a}" for a in range(40)]
# Groups that overlap, and columns of different units.
HARD = X - 9.0 * USEFUL * np.array([0, 10, -10])[TRUTH, None] / 10
HARD = HARD * np.linspace(0.5, 2.0, 40)
# Two groups, of 16 and 14 samples, in 8 of 200 features: what every test is able to see.
TWO = shifted_groups(mu=10.0, n_features=200, n_useful=8, group_size=16, seed=0).X[:30]


def fit(table=X, **parameters):
    return ScreenedClustering(**{"n_clusters": 3, **parameters}).fit(table)


# ---------------------------------------------------------------- what is found


@FEWER
@in_turn(test=[test for test in TESTS if test != "skewness"], threshold=["hc", "fdr", 8])
def test_clear_groups_are_found_by_every_test(test, threshold):
    """But that of skewness, since the groups are of about the same size."""
    found = fit(TWO, n_clusters=2, test=test, threshold=threshold)
    np.testing.assert_array_equal(found.labels_, np.arange(30) >= 16)
    np.testing.assert_array_equal(found.predict(TWO), found.labels_)
    # A single sample far away is a mode of its own, for which a column of noise may be taken.
    assert found.support_[:8].sum() >= (7 if test == "bandwidth" else 8)


@FEWER
@pytest.mark.parametrize("test", TESTS)
def test_statistics_and_p_values_are_those_of_the_screening(test):
    found, expected = fit(HARD, test=test), screen(HARD, test)
    np.testing.assert_allclose(found.statistics_, expected.statistics, rtol=1e-9, atol=1e-4)
    np.testing.assert_allclose(found.p_values_, expected.p_values, rtol=0, atol=1e-4)


@FEWER
@pytest.mark.parametrize("table", [X, HARD], ids=["clear groups", "groups that overlap"])
@pytest.mark.parametrize("test", TESTS)
def test_the_threshold_is_that_of_higher_criticism_or_of_the_false_discovery_rate(test, table):
    found = fit(table, test=test)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), by_higher_criticism(found.p_values_, len(table)))
    for level in (0.05, 0.5, 0.99):
        passed = by_false_discovery_rate(found.p_values_, level)
        if passed.size:
            given = fit(table, test=test, threshold="fdr", level=level)
            np.testing.assert_array_equal(np.flatnonzero(given.support_), passed)


@pytest.mark.parametrize("threshold", [1, 2, 17, 39, 40, np.int64(5)])
def test_a_number_is_that_many_features_of_smallest_p_value(threshold):
    found = fit(HARD, threshold=threshold)
    assert found.support_.sum() == threshold
    assert found.p_values_[found.support_].max() <= np.min(found.p_values_[~found.support_], initial=1.0)


def test_where_nothing_passes_the_false_discovery_rate_the_best_feature_is_taken_with_a_warning():
    noise = np.random.default_rng(1).normal(size=(30, 20))
    with pytest.warns(UserWarning, match="No feature passes at a false discovery rate of 0.01") as seen:
        found = fit(noise, test="moments", threshold="fdr", level=0.01)
    assert [each.filename for each in seen] == [__file__]
    assert np.flatnonzero(found.support_).tolist() == [found.p_values_.argmin()]
    assert len(set(found.labels_)) == 3


def test_the_variance_of_the_noise_may_be_given():
    found = fit(HARD, test="variance", noise_variance=3.0)
    statistics = 29 * HARD.var(axis=0, ddof=1) / 3.0
    np.testing.assert_allclose(found.statistics_, statistics, rtol=1e-12)
    np.testing.assert_allclose(found.p_values_, chi2(29).sf(statistics), rtol=1e-9)
    assert fit(HARD, test="variance", threshold="fdr", noise_variance=0.5).support_.sum() > found.support_.sum()


def test_tests_look_at_the_table_as_it_is_and_standardizing_only_weighs_the_features_that_passed():
    table = X.copy()
    table[:, 0] *= 1e4
    one, other = fit(table, test="variance"), fit(table, test="variance", standardize=False)
    np.testing.assert_array_equal(one.p_values_, other.p_values_)
    np.testing.assert_array_equal(one.support_, other.support_)
    three = fit(table, threshold=40, standardize=False, random_state=1)
    on_one = fit(table[:, :1], threshold=1)
    assert within(table[:, :1], three.labels_).sum() == pytest.approx(
        within(table[:, :1], on_one.labels_).sum(), rel=1e-3
    )


# ---------------------------------------------------------------- everything kept


@pytest.mark.parametrize("standardize", [True, False])
def test_k_means_on_all_features_is_k_means(standardize):
    """Scikit-learn's ends no lower, and where groups are clear in half of the features at the same labels."""
    found = fit(HARD, threshold=40, clusterer="kmeans", standardize=standardize)
    table = naive.standardized(HARD) if standardize else HARD
    plain = KMeans(3, n_init=30, random_state=0).fit(table)
    assert within(table, found.labels_).sum() <= plain.inertia_ * (1 + 1e-9)
    for algorithm in ("kmeans", "kmeans++"):
        same = PlainClustering(3, algorithm=algorithm, standardize=standardize).fit(HARD)
        assert within(table, found.labels_).sum() <= within(table, same.labels_).sum() * (1 + 1e-9)
        same = PlainClustering(3, algorithm=algorithm, standardize=standardize).fit(X[:, :16])
        np.testing.assert_array_equal(fit(X[:, :16], threshold=16, standardize=standardize).labels_, same.labels_)


@pytest.mark.parametrize("data", ["gauss", "leukemia500"])
def test_k_means_on_all_features_ends_no_higher_than_that_of_r(reference, data):
    result, table = reference.result(data, "kmeans"), reference.table(data)
    found = fit(table, n_clusters=result["k"], threshold=table.shape[1], standardize=False)
    assert within(table, found.labels_).sum() <= result["tot_withinss"] * (1 + 1e-9)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("clusterer", ["average", "complete", "ward"])
def test_linkage_of_all_features_is_that_of_scipy(clusterer, standardize):
    found = fit(HARD, threshold=40, clusterer=clusterer, standardize=standardize)
    table = naive.standardized(HARD) if standardize else HARD
    apart = pdist(table) if clusterer == "ward" else pdist(table, "sqeuclidean")
    assert rand_index(found.labels_, cut_tree(linkage(apart, clusterer), 3)[:, 0]) == 1.0


@pytest.mark.parametrize("algorithm", ["complete", "ward", "kmedoids"])
def test_on_all_features_it_is_the_plain_method(algorithm):
    pytest.importorskip("kmedoids")
    found = fit(HARD, threshold=40, clusterer=algorithm, n_init=30)
    plain = PlainClustering(3, algorithm=algorithm).fit(HARD)
    assert rand_index(found.labels_, plain.labels_) == 1.0
    np.testing.assert_array_equal(found.support_, plain.support_)
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("clusterer", ["kmeans", "complete", "average", "ward", "spectral", "hillclimb"])
def test_on_some_features_it_is_the_clusterer_on_the_table_of_these(clusterer):
    found = fit(HARD, threshold=12, clusterer=clusterer)
    alone = fit(HARD[:, found.support_], threshold=12, clusterer=clusterer)
    assert rand_index(found.labels_, alone.labels_) == 1.0
    np.testing.assert_allclose(found.feature_scores_[found.support_], alone.feature_scores_, rtol=1e-12, atol=1e-14)


def test_an_object_of_scikit_learn_is_a_clusterer():
    np.testing.assert_array_equal(fit(clusterer=KMeans(n_init=5)).labels_, TRUTH)


# ---------------------------------------------------------------- order, units, seeds


@FEWER
@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_rows_and_columns_does_not_matter(test):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(30), rng.permutation(40)
    one, other = fit(HARD, test=test), fit(HARD[np.ix_(rows, columns)], test=test)
    np.testing.assert_array_equal(other.labels_, one.labels_[rows])
    np.testing.assert_array_equal(other.support_, one.support_[columns])
    for name in ("p_values_", "statistics_", "feature_scores_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name)[columns])
    np.testing.assert_array_equal(other.predict(HARD[:, columns]), one.predict(HARD))


@FEWER
@in_turn(test=TESTS, scale=[1e-3, 1e200, 1e-200])
def test_the_unit_of_all_columns_does_not_matter(test, scale):
    one, other = fit(HARD, test=test), fit(HARD * scale, test=test)
    assert rand_index(other.labels_, one.labels_) == 1.0
    np.testing.assert_array_equal(other.support_, one.support_)
    np.testing.assert_array_equal(other.predict(HARD * scale), other.labels_)


def test_a_seed_decides_everything():
    many = {seed: fit(HARD, threshold=40, n_init=1, random_state=seed).labels_ for seed in range(12)}
    assert len({labels.tobytes() for labels in many.values()}) > 1
    for seed in (0, 7):
        again = fit(HARD, threshold=40, n_init=1, random_state=np.random.RandomState(seed))
        np.testing.assert_array_equal(again.labels_, many[seed])


def test_more_starts_end_no_higher():
    few, many = (fit(HARD, threshold=40, n_init=count).labels_ for count in (1, 50))
    assert within(naive.standardized(HARD), many).sum() <= within(naive.standardized(HARD), few).sum() * (1 + 1e-12)


# ---------------------------------------------------------------- new samples


@pytest.mark.parametrize("standardize", [True, False])
def test_new_samples_join_the_nearest_center_by_the_features_that_passed(standardize):
    found = fit(HARD, threshold=10, standardize=standardize)
    new = np.random.default_rng(0).normal(0.0, 2.0, (200, 40))
    units = HARD.std(axis=0) if standardize else np.ones(40)
    chosen = found.support_
    centers = np.array([HARD[found.labels_ == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(found.cluster_centers_, centers, rtol=1e-12)
    apart = (((new[:, None] - centers) / units)[:, :, chosen] ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.predict(new), apart.argmin(axis=1))
    left = (new - centers[apart.argmin(axis=1)])[:, chosen] ** 2
    assert found.score(new) == pytest.approx(1 - (left.mean(axis=0) / HARD[:, chosen].var(axis=0)).mean(), rel=1e-9)
    assert found.score(HARD) == pytest.approx(found.feature_scores_[chosen].mean(), rel=1e-9)


def test_features_that_did_not_pass_have_no_say():
    found, new = fit(HARD, threshold=10), np.random.default_rng(0).normal(0.0, 2.0, (50, 40))
    other = np.where(found.support_, new, 99.0)
    np.testing.assert_array_equal(found.predict(other), found.predict(new))


def test_scores_are_the_share_of_the_spread_that_the_clusters_explain():
    found = fit(HARD)
    np.testing.assert_allclose(found.feature_scores_, plain_scores(HARD, found.labels_), rtol=0, atol=1e-12)


def test_tables_with_names_keep_them():
    frame = pd.DataFrame(X, columns=NAMES)
    found = fit(frame, threshold=8)
    assert found.get_feature_names_out().tolist() == [NAMES[a] for a in np.flatnonzero(USEFUL)]
    assert found.transform(frame).shape == (30, 8)
    assert f"{NAMES[0]} (" in found.summary()
    assert found.summary().startswith("3 clusters of 14, 10, 6 samples\n8 of 40 features chosen")
    for same in (frame, pl.DataFrame(X, schema=NAMES)):
        np.testing.assert_array_equal(fit(same, threshold=8).labels_, TRUTH)
        np.testing.assert_array_equal(found.predict(same), TRUTH)


def test_the_table_stays_as_it_was():
    before = X.copy()
    for test in TESTS:
        fit(test=test, standardize=True).predict(X)
    np.testing.assert_array_equal(X, before)


# ---------------------------------------------------------------- columns that say nothing


def test_constant_columns_have_no_statistic_and_never_pass():
    table = X.copy()
    table[:, [3, 20]] = 1.5
    for test in TESTS:
        with pytest.warns(UserWarning, match="2 columns are constant and will not be used: 'x3', 'x20'"):
            found = fit(table, test=test)
        for values in (found.statistics_, found.p_values_):
            assert np.flatnonzero(np.isnan(values)).tolist() == [3, 20]
        assert not found.support_[[3, 20]].any()
        assert found.feature_scores_[[3, 20]].tolist() == [0.0, 0.0]
        np.testing.assert_array_equal(found.labels_, TRUTH)
        np.testing.assert_array_equal(found.predict(table), TRUTH)


def test_no_more_features_can_pass_than_vary():
    table = X.copy()
    table[:, 3] = 1.5
    with pytest.warns(UserWarning, match="constant"), refuses("threshold", r"\[1, 39\]", "got 40"):
        fit(table, threshold=40)


def test_a_warning_points_at_the_line_that_called_fit():
    table = X.copy()
    table[:, 3] = 1.5
    with pytest.warns(UserWarning, match="constant") as seen:
        ScreenedClustering(threshold=4).fit(table)
    assert [each.filename for each in seen] == [__file__]


def test_what_fit_takes_predict_takes():
    """A column with nothing in it: kept out with a warning, so that it has no say later either; or else refused."""
    table = X.copy()
    table[:, 39] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = fit(table)
        except ValueError as error:
            assert "NaN" in str(error)  # noqa: PT017
        else:
            np.testing.assert_array_equal(found.predict(table), found.labels_)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"test": "x"}, ["test must be one of", "ks", "moments", "mode", "variance", "got 'x'"]),
        ({"test": "moment"}, ["got 'moment'", 'Did you mean "moments"']),
        ({"threshold": "x"}, ["threshold must be one of", "hc", "fdr", "or a number of features", "got 'x'"]),
        ({"threshold": 0}, ["threshold", r"\[1, 40\]", "got 0", "hc"]),
        ({"threshold": 41}, ["threshold", r"\[1, 40\]", "got 41"]),
        ({"threshold": 2.5}, ["threshold", "whole number", "got 2.5"]),
        ({"threshold": True}, ["threshold", "whole number", "got True"]),
        ({"threshold": None}, ["threshold", "got None"]),
        ({"level": 0}, ["level must be a number between 0 and 1; got 0"]),
        ({"level": 1}, ["level", "got 1"]),
        ({"level": "a"}, ["level", "got 'a'"]),
        ({"level": np.nan}, ["level", "got nan"]),
        ({"noise_variance": -1}, ["noise_variance must be None or a number above 0; got -1"]),
        ({"noise_variance": 0.0}, ["noise_variance", "got 0.0"]),
        ({"noise_variance": np.inf}, ["noise_variance", "got inf"]),
        ({"clusterer": "x"}, ["clusterer must be one of", "got 'x'"]),
        ({"n_clusters": 1}, ["n_clusters", "got 1"]),
        ({"n_clusters": 31}, ["n_clusters", r"\[2, 30\]", "got 31"]),
        ({"n_init": 0}, ["n_init", "got 0"]),
        ({"standardize": "yes"}, ["standardize must be True or False", "got 'yes'"]),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    with refuses(*words):
        fit(**parameters)


def test_missing_values_are_refused_in_fit_and_in_predict():
    table = X.copy()
    table[1:3, 5] = np.nan
    with refuses("NaN", "1 of 40 columns", "'x5'", "Impute", "SASClustering"):
        fit(table)
    with refuses("NaN", "ScreenedClustering"):
        fit().predict(table)


def test_sparse_matrices_are_refused_in_fit_and_in_predict():
    for call in (fit, fit().predict):
        with refuses("sparse", "ScreenedClustering", "toarray", error=TypeError):
            call(scipy.sparse.csr_array(X))


def test_infinity_is_refused_by_the_name_of_its_column():
    with refuses("infinity", "'gene7'"):
        fit(pd.DataFrame(X, columns=NAMES).assign(gene7=np.where(TRUTH == 0, np.inf, 0.0)))


def test_words_are_refused_with_advice_that_can_be_followed():
    with refuses("'gene7'", "number") as seen:
        fit(pd.DataFrame(X, columns=NAMES).assign(gene7=np.array(["red", "blue"])[(TRUTH == 0).astype(int)]))
    assert "metric" not in str(seen.value)
