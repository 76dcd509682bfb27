"""Expression data are put on one footing: counts by size factors, logarithms where they belong, samples scaled."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsecluster import (
    ExpressionScaler,
    SASClustering,
    adjusted_rand_index,
    expression_clustering,
    rand_index,
)
from tests.helpers.cells import cells

DEPTH = np.array([1, 3, 10, 1, 5, 2, 8, 4])[:, None]
COUNTS = np.random.default_rng(0).poisson(30, (8, 6)) * DEPTH
# Intensities are no whole numbers.
RAW = COUNTS + 0.5
# Most counts of single cells are zero, and some are missing.
CELLS = np.random.default_rng(1).poisson(0.4, (9, 40)) * np.array([1, 2, 3, 1, 4, 2, 9, 1, 1])[:, None]


def total_of(counts):
    """The total to which samples are scaled, by the formula in the docstring."""
    totals = counts.sum(axis=1)
    factors = totals / np.median(totals)
    low, high = np.percentile(factors, [5, 95])
    return np.median(totals) / max(1, 1 / low - 1 / high)


def by_size(counts):
    return counts * (total_of(counts) / counts.sum(axis=1, keepdims=True))


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
@pytest.mark.parametrize(("table", "sized"), [(RAW, RAW), (COUNTS, by_size(COUNTS))], ids=["intensities", "counts"])
def test_values_are_those_that_one_gets_by_hand(log, table, sized):
    taken = np.log2(1 + sized) if log is not False else table
    expected = [(row - row.mean()) / row.std() for row in taken]
    np.testing.assert_allclose(ExpressionScaler(log=log).fit_transform(table), expected, rtol=1e-12)


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


@pytest.mark.parametrize("table", [RAW, COUNTS, CELLS], ids=["intensities", "counts", "cells"])
def test_a_sample_without_any_value_stays_one_and_says_nothing_else(strict, table):
    missing = table.astype(float)
    missing[2] = np.nan
    scaled = ExpressionScaler().fit_transform(missing)
    assert np.isnan(scaled[2]).all()
    np.testing.assert_array_equal(np.delete(scaled, 2, 0), ExpressionScaler().fit_transform(np.delete(table, 2, 0)))


@pytest.mark.parametrize("table", [RAW, np.log2(RAW)], ids=["intensities", "logarithms"])
def test_a_sample_of_equal_values_is_zero(strict, table):
    table = table.copy()
    table[0] = 7
    assert (ExpressionScaler().fit_transform(table)[0] == 0).all()


def test_samples_do_not_depend_on_each_other_and_the_input_stays():
    scaler, before = ExpressionScaler().fit(COUNTS), COUNTS.copy()
    np.testing.assert_array_equal(scaler.transform(COUNTS[3:5]), scaler.transform(COUNTS)[3:5])
    np.testing.assert_array_equal(before, COUNTS)


def test_new_samples_are_treated_as_those_of_fit():
    scaler = ExpressionScaler().fit(RAW)
    small = RAW / 1000
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


# ---------------------------------------------------------------- counts


def test_counts_of_cells_are_divided_by_size_factors_and_logged_and_nothing_else():
    scaler = ExpressionScaler().fit(CELLS)
    assert (scaler.log_, scaler.clip_, scaler.center_) == (True, False, False)
    assert scaler.total_ == pytest.approx(total_of(CELLS), rel=1e-12)
    assert scaler.total_ < np.median(CELLS.sum(axis=1))
    np.testing.assert_allclose(scaler.transform(CELLS), np.log2(1 + by_size(CELLS)), rtol=1e-12)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, pd.DataFrame, lambda X: X.astype(np.float32)])
def test_cells_have_the_same_values_in_every_kind_of_table(make):
    expected = ExpressionScaler().fit_transform(CELLS)
    scaled = ExpressionScaler().fit_transform(make(CELLS))
    np.testing.assert_array_equal(scaled.toarray() if sp.issparse(scaled) else scaled, expected)


def test_twice_as_much_of_everything_is_the_same_cell():
    scaler = ExpressionScaler().fit(CELLS)
    np.testing.assert_allclose(scaler.transform(CELLS * DEPTH[[0, *range(8)]]), scaler.transform(CELLS), rtol=1e-12)


def test_a_new_cell_alone_has_the_values_that_it_had_in_fit():
    scaler, state = ExpressionScaler().fit(CELLS), ExpressionScaler().fit(CELLS).to_dict()
    for i in range(len(CELLS)):
        alone = CELLS[i : i + 1]
        np.testing.assert_array_equal(scaler.transform(alone), scaler.transform(CELLS)[i : i + 1])
        np.testing.assert_array_equal(
            ExpressionScaler.from_dict(state, alone).transform(alone), scaler.transform(alone)
        )


def test_the_total_of_a_cell_with_missing_values_is_estimated_from_the_others():
    table = np.where(np.arange(40) % 2, np.nan, np.repeat(CELLS[:, :20], 2, axis=1))
    scaler = ExpressionScaler().fit(table)
    assert scaler.total_ == pytest.approx(2 * total_of(CELLS[:, :20]), rel=1e-12)
    expected = np.log2(1 + by_size(CELLS[:, :20]))
    np.testing.assert_allclose(scaler.transform(table)[:, ::2], expected, rtol=1e-12)


def test_a_cell_without_any_counts_stays_zero(strict):
    empty = np.vstack([CELLS, np.zeros(40, int)])
    for table in (empty, sp.csr_array(empty)):
        scaled = ExpressionScaler().fit_transform(table)
        assert (scaled.toarray() if sp.issparse(scaled) else scaled)[-1].sum() == 0
    assert ExpressionScaler().fit(empty).total_ == ExpressionScaler().fit(CELLS).total_


@pytest.mark.parametrize(
    ("table", "total", "center"),
    [
        pytest.param(CELLS * 0.37, False, True, id="no whole numbers"),
        pytest.param(np.log1p(CELLS), False, True, id="logarithms of counts"),
        pytest.param(CELLS - 1, False, True, id="some below zero"),
        pytest.param(np.arange(12).reshape(3, 4), False, True, id="small whole numbers that are not mostly zero"),
        pytest.param(np.arange(12.0).reshape(3, 4) * 1e300, False, True, id="numbers too large to count"),
        pytest.param(COUNTS, True, True, id="counts that are not mostly zero"),
        pytest.param(CELLS, True, False, id="counts that are mostly zero"),
        pytest.param(np.minimum(CELLS, 1), True, False, id="few molecules"),
        pytest.param(np.zeros((3, 4)), True, False, id="nothing"),
        pytest.param(sp.csr_array(COUNTS), True, False, id="sparse"),
    ],
)
def test_counts_are_whole_numbers_and_those_of_cells_are_not_centered(table, total, center, strict):
    scaler = ExpressionScaler().fit(table)
    assert (scaler.total_ is not None, scaler.center_) == (total, center)


def test_clusters_of_cells_do_not_follow_the_sequencing_depth():
    aris, depths = [], []
    for seed in range(3):
        counts, kind = cells(seed)
        totals = counts.sum(axis=1)
        found = expression_clustering(3).fit(counts)[-1]
        aris.append(adjusted_rand_index(kind, found.labels_))
        shallow, deep = totals < np.quantile(totals, 1 / 3), totals > np.quantile(totals, 2 / 3)
        depths.append(adjusted_rand_index(shallow + 2 * deep, found.labels_))
    assert min(aris) > 0.9
    assert max(depths) < 0.1


def test_types_of_cells_are_found_also_if_the_sequencing_depth_varies_much_more_than_the_types():
    # Size factors and log2(1 + x) alone reach .2 on average, and logarithms of scaled samples .5.
    aris = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        kind, level = rng.integers(0, 3, 300), rng.lognormal(0.5, 1.2, 1000)
        fold = np.ones((3, 1000))
        for number, marker in enumerate(rng.permutation(1000)[:118]):
            fold[number % 3, marker] = 2.0
        mean = rng.lognormal(0, 0.8, (300, 1)) * level * fold[kind]
        counts = rng.poisson(mean * rng.gamma(2.0, 0.5, mean.shape))
        aris.append(adjusted_rand_index(kind, expression_clustering(3).fit(counts)[-1].labels_))
    assert np.mean(aris) > 0.75


def test_a_cell_predicted_alone_gets_the_label_it_had_among_others():
    counts, _ = cells(0, 0.5)
    for table in (counts, sp.csr_array(counts), pd.DataFrame(counts).add_prefix("gene")):
        pipeline = expression_clustering(3).fit(table)
        rows = table.iloc if hasattr(table, "iloc") else table
        alone = [pipeline.predict(rows[i : i + 1])[0] for i in range(0, 150, 10)]
        np.testing.assert_array_equal(alone, pipeline.predict(table)[::10])


@pytest.mark.parametrize("old", [{"log": True}, {"log": True, "clip": False, "total": None}])
def test_states_of_older_versions_do_what_they_did(old):
    expected = [(row - row.mean()) / row.std() for row in np.log2(1 + COUNTS)]
    np.testing.assert_allclose(ExpressionScaler.from_dict(old, COUNTS).transform(COUNTS), expected)


def test_states_of_older_versions_of_sparse_matrices_do_what_they_did():
    logged = sp.csr_array(np.log1p(CELLS))
    scaler = ExpressionScaler.from_dict({"log": False, "clip": False, "total": None}, logged)
    np.testing.assert_array_equal(scaler.transform(logged).toarray(), logged.toarray())
    scaler = ExpressionScaler.from_dict({"log": True, "clip": False, "total": 100.0}, sp.csr_array(CELLS))
    expected = np.log2(1 + CELLS * (100.0 / CELLS.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(scaler.transform(sp.csr_array(CELLS)).toarray(), expected)


def test_new_samples_may_be_sparse_where_those_of_fit_were_dense():
    scaler = ExpressionScaler().fit(COUNTS)
    np.testing.assert_array_equal(scaler.transform(sp.csr_array(COUNTS)), scaler.transform(COUNTS))


WORDS = {
    "counts of cells": (
        CELLS,
        ["counts", "size factor, to a total of", "log2(1 + x)"],
        ["centered", "unchanged", "negative"],
    ),
    "other counts": (
        COUNTS,
        ["counts", "size factor, to a total of", "log2(1 + x)", "centered and scaled"],
        ["unchanged"],
    ),
    "intensities": (RAW, ["log2(1 + x)", "centered and scaled"], ["counts", "size factor"]),
    "logarithms": (np.log1p(RAW), ["each sample was centered and scaled"], ["log2", "counts"]),
    "normalized cells": (sp.csr_array(np.log1p(CELLS)), ["left unchanged"], ["log2", "centered"]),
}


@pytest.mark.parametrize("kind", WORDS)
def test_what_is_done_is_told_in_words(kind):
    table, told, untold = WORDS[kind]
    words = ExpressionScaler().fit(table).describe()
    assert all(each in words for each in told)
    assert not any(each in words for each in untold)


# ---------------------------------------------------------------- sparse matrices


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array])
def test_sparse_counts_get_one_total_and_logarithms_and_stay_sparse(make):
    cells = np.random.default_rng(0).poisson(0.5, (20, 30)) * np.arange(1, 21)[:, None]
    scaled = ExpressionScaler().fit_transform(make(cells))
    assert sp.issparse(scaled)
    assert scaled.nnz == np.count_nonzero(cells)
    np.testing.assert_allclose(scaled.toarray(), np.log2(1 + by_size(cells)))


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
