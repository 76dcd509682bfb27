"""Expression data are put on one footing: logarithms where they belong, each sample with mean 0 and variance 1."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsecluster import ExpressionScaler, SASClustering, expression_clustering, rand_index

COUNTS = np.random.default_rng(0).poisson(30, (8, 6)) * np.array([1, 3, 10, 1, 5, 2, 8, 4])[:, None]


@parametrize_with_checks([ExpressionScaler(), ExpressionScaler(log=False)])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [(0.0, 50.0, False), (0.0, 50.001, True), (1e-9, 1e6, True), (-1e-9, 1e6, False), (-5.0, 5.0, False)],
)
def test_logarithms_are_taken_if_nothing_is_below_zero_and_something_above_fifty(low, high, log):
    table = np.linspace(low, high, 12).reshape(3, 4)
    assert ExpressionScaler().fit(table).log_ is log
    table[1, 1] = np.nan
    assert ExpressionScaler().fit(table).log_ is log


@pytest.mark.parametrize("log", ["auto", True, False, np.True_])
def test_values_are_those_that_one_gets_by_hand(log):
    taken = np.log2(1 + COUNTS) if log is not False else COUNTS
    expected = [(row - row.mean()) / row.std() for row in taken]
    np.testing.assert_allclose(ExpressionScaler(log=log).fit_transform(COUNTS), expected, rtol=1e-12)


def test_every_sample_has_mean_zero_and_variance_one_whatever_its_depth():
    scaled = ExpressionScaler().fit_transform(COUNTS)
    np.testing.assert_allclose(scaled.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.var(axis=1), 1)
    # Without logarithms twice as much of everything is the same sample.
    plain = ExpressionScaler(log=False)
    np.testing.assert_allclose(plain.fit_transform(2.0 * COUNTS), plain.fit_transform(COUNTS))


def test_missing_values_stay_and_what_is_seen_has_mean_zero_and_variance_one(strict):
    missing = np.random.default_rng(1).random(COUNTS.shape) < 0.2
    scaled = ExpressionScaler().fit_transform(np.where(missing, np.nan, COUNTS))
    np.testing.assert_array_equal(np.isnan(scaled), missing)
    np.testing.assert_allclose(np.nanmean(scaled, axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanvar(scaled, axis=1), 1)


def test_a_sample_without_any_value_stays_one_and_says_nothing_else(strict):
    table = COUNTS.astype(float)
    table[2] = np.nan
    scaled = ExpressionScaler().fit_transform(table)
    assert np.isnan(scaled[2]).all()
    np.testing.assert_array_equal(np.delete(scaled, 2, 0), ExpressionScaler().fit_transform(np.delete(COUNTS, 2, 0)))


def test_a_sample_of_equal_values_is_zero(strict):
    table = COUNTS.astype(float)
    table[0] = 7
    assert (ExpressionScaler().fit_transform(table)[0] == 0).all()


def test_samples_do_not_depend_on_each_other_and_the_input_stays():
    scaler, before = ExpressionScaler().fit(COUNTS), COUNTS.copy()
    np.testing.assert_array_equal(scaler.transform(COUNTS[3:5]), scaler.transform(COUNTS)[3:5])
    np.testing.assert_array_equal(before, COUNTS)


def test_new_samples_are_treated_as_those_of_fit():
    scaler = ExpressionScaler().fit(COUNTS)
    small = COUNTS / 1000
    np.testing.assert_array_equal(scaler.transform(small), ExpressionScaler(log=True).fit_transform(small))
    with pytest.raises(ValueError, match="below 0"):
        scaler.transform(-COUNTS)


def test_raw_intensities_below_the_background_count_as_zero():
    rng = np.random.default_rng(0)
    raw = rng.lognormal(5, 2, (6, 300)) - 20
    scaler = ExpressionScaler().fit(raw)
    assert scaler.log_
    assert scaler.clip_
    assert (raw < 0).any()
    np.testing.assert_allclose(scaler.transform(raw), ExpressionScaler().fit_transform(np.maximum(raw, 0)))
    # Log ratios may be large, too, but they have no long tail on one side.
    assert not ExpressionScaler().fit(rng.normal(0, 30, (6, 300))).log_


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array])
def test_sparse_counts_get_one_total_and_logarithms_and_stay_sparse(make):
    cells = np.random.default_rng(0).poisson(0.5, (20, 30)) * np.arange(1, 21)[:, None]
    scaled = ExpressionScaler().fit_transform(make(cells))
    assert sp.issparse(scaled)
    assert scaled.nnz == np.count_nonzero(cells)
    totals = cells.sum(axis=1)
    expected = np.log2(1 + cells / totals[:, None] * np.median(totals))
    np.testing.assert_allclose(scaled.toarray(), expected)


def test_the_total_of_sparse_counts_does_not_depend_on_their_precision():
    counts = np.random.default_rng(0).gamma(0.5, 900.0, size=(30, 200)).astype(np.float32)
    single, double = (sp.csr_array(counts.astype(kind)) for kind in (np.float32, np.float64))
    assert ExpressionScaler().fit(single).total_ == ExpressionScaler().fit(double).total_


def test_sparse_values_that_are_no_counts_are_left_as_they_are():
    logged = sp.random_array((10, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    scaler = ExpressionScaler().fit(logged)
    assert not scaler.log_
    np.testing.assert_array_equal(scaler.transform(logged).toarray(), logged.toarray())


def test_the_pipeline_for_expression_data_finds_types_of_cells_and_a_few_genes(strict):
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], 20)
    level = rng.lognormal(4, 1, size=400) * np.where(np.arange(400) // 15 == kind[:, None], 4.0, 1.0)
    counts = rng.poisson(level * rng.lognormal(0, 0.3, size=(60, 1)))
    for table in (counts, sp.csr_array(counts)):
        pipeline = expression_clustering().fit(table)
        found = pipeline[-1]
        assert found.n_clusters_ == 3
        assert rand_index(kind, found.labels_) == 1
        assert found.support_.sum() <= 40
        assert found.support_[:45].sum() == found.support_.sum()
        np.testing.assert_array_equal(found.support_, found.core_support_)
        np.testing.assert_array_equal(pipeline.predict(table), found.labels_)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="at least 0; the smallest is -1"):
        ExpressionScaler(log=True).fit(COUNTS - COUNTS.min() - 1)
    with pytest.raises((ValueError, TypeError), match=r'log must be .*"auto"'):
        ExpressionScaler(log="yes").fit(COUNTS)
    with pytest.raises(ValueError, match="infinity"):
        ExpressionScaler().fit(np.where(COUNTS > 100, np.inf, COUNTS))
    with pytest.raises(ValueError, match="takes numbers only, but column 'tissue' does not hold numbers"):
        ExpressionScaler().fit(pd.DataFrame(COUNTS).add_prefix("g").assign(tissue="skin"))
    with pytest.raises(NotFittedError):
        ExpressionScaler().transform(COUNTS)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_pandas_table_comes_back_as_one(output):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COUNTS, columns=list("abcdef"), index=[f"s{i}" for i in range(8)])
    scaled = ExpressionScaler().set_output(transform=output).fit_transform(frame)
    pd.testing.assert_index_equal(scaled.index, frame.index)
    pd.testing.assert_index_equal(scaled.columns, frame.columns)
    np.testing.assert_array_equal(scaled.to_numpy(), ExpressionScaler().fit_transform(COUNTS))
    assert ExpressionScaler().fit(frame).get_feature_names_out().tolist() == list("abcdef")


def test_groups_that_depth_hides_are_found_behind_it():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 15)
    level = 100 * 2.0 ** rng.normal(size=40) * np.where(np.arange(40) < 6, 1 + 3 * truth[:, None], 1)
    counts = rng.poisson(level * 10.0 ** rng.uniform(-1, 1, (30, 1)))
    sas = SASClustering(2, n_features_to_select=6)
    assert rand_index(truth, make_pipeline(ExpressionScaler(), sas).fit_predict(counts)) == 1
    assert rand_index(truth, sas.fit_predict(counts)) < 0.8
