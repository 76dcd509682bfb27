"""Reading returns a value: it sees neither an estimator nor a number of clusters, and one reading serves many fits."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsecluster import PlainClustering, SASClustering, SparseKMeans
from sparsecluster._data import checks, content, reading
from sparsecluster._data.reading import Reading
from sparsecluster.datasets import mixed_groups, shifted_groups

MIXED = mixed_groups(n_features=12, n_useful=6, group_size=12, seed=1).X
NUMBERS = shifted_groups(mu=2.0, n_features=20, n_useful=5, group_size=10).X
TABLES = {
    "numbers": NUMBERS,
    "missing values": np.where(np.random.default_rng(0).random(NUMBERS.shape) < 0.1, np.nan, NUMBERS),
    "mixed": MIXED,
    "sparse": sparse.csr_array(np.where(NUMBERS > 0, NUMBERS, 0)),
    "frame": pd.DataFrame(NUMBERS, columns=[f"gene{a}" for a in range(20)]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_fit_to_a_reading_is_the_fit_to_the_table(kind):
    table = TABLES[kind]
    once = SASClustering().read(table)
    for k in (2, 3):
        own, shared = (SASClustering(k, n_permutations=3).fit(each) for each in (table, once))
        np.testing.assert_array_equal(own.labels_, shared.labels_)
        np.testing.assert_array_equal(own.support_, shared.support_)
        assert own.objective_ == shared.objective_
        np.testing.assert_array_equal(own.predict(table), shared.predict(table))
        assert hasattr(own, "feature_names_in_") == hasattr(shared, "feature_names_in_")


def test_one_reading_serves_several_methods():
    once = SASClustering().read(NUMBERS)
    for estimator in (SASClustering(3, n_features_to_select=5), SparseKMeans(3, l1_bound=2.0), PlainClustering(3)):
        own = type(estimator)(**estimator.get_params()).fit(NUMBERS)
        np.testing.assert_array_equal(own.labels_, estimator.fit(once).labels_)


def test_names_of_an_earlier_fit_do_not_stay():
    sas = SASClustering(2, n_features_to_select=3).fit(TABLES["frame"])
    assert list(sas.feature_names_in_) == list(TABLES["frame"].columns)
    assert not hasattr(sas.fit(SASClustering().read(NUMBERS)), "feature_names_in_")


def test_reading_warns_of_nothing_and_notes_what_fit_will_warn_of():
    table = np.column_stack([NUMBERS, np.ones(len(NUMBERS))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        once = SASClustering().read(table)
    assert len(once.notes) == 1
    with pytest.warns(UserWarning, match="x20") as caught:
        SASClustering(2, n_features_to_select=3).fit(once)
    assert [str(each.message) for each in caught] == list(once.notes)


def test_columns_observed_too_rarely_for_so_many_clusters_are_left_out_for_these_only():
    table = NUMBERS[:12].copy()
    table[4:, 7] = np.nan  # observed in four samples
    once = SASClustering().read(table)
    assert once.n_usable == 20
    assert once.for_clusters(3).n_usable == 20
    assert once.for_clusters(4).n_usable == 19
    assert "x7" in once.for_clusters(4).notes[-1]


def test_a_table_is_looked_at_once(monkeypatch):
    calls = []
    of = content.contents
    monkeypatch.setattr(reading, "contents", lambda *given: calls.append(given) or of(*given))
    SASClustering(2, n_features_to_select=3).fit(MIXED)
    assert len(calls) == 1


def test_numbers_are_not_copied():
    once = SASClustering().read(NUMBERS)
    assert np.shares_memory(once.source.table.values, NUMBERS)


def test_no_function_that_reads_takes_an_estimator():
    readers = [reading.read_table, reading.read_sparse, reading.read_matrices, reading.read_columns]
    parameters = {name for function in readers for name in inspect.signature(function).parameters}
    assert parameters == {"given", "request", "X", "metric"}
    assert not {"estimator", "n_clusters"} & {*reading.Given._fields, *reading.Request._fields}
    assert {"names", "source", "reader", "notes"} <= set(Reading.__dataclass_fields__)


# ---------------------------------------------------------------- a reading made for another estimator


def test_a_reading_is_standardized_as_the_estimator_that_is_fitted_asks():
    table = NUMBERS * np.geomspace(1, 100, NUMBERS.shape[1])
    once = SASClustering(standardize=True).read(table)
    for standardize in (True, False):
        own, shared = (PlainClustering(3, standardize=standardize).fit(each) for each in (table, once))
        np.testing.assert_array_equal(own.labels_, shared.labels_)


def test_a_reading_with_another_metric_is_refused():
    with pytest.raises(ValueError, match=r"read with metric='hamming', but this estimator has metric='auto'"):
        SASClustering(2).fit(SASClustering(metric="hamming").read(np.sign(NUMBERS)))


def test_methods_of_numbers_refuse_readings_of_anything_else():
    from sparsecluster import SpectralGem

    for table in (MIXED, TABLES["sparse"]):
        with pytest.raises(TypeError, match="SpectralGem requires a dense table of numbers"):
            SpectralGem(2).fit(SASClustering().read(table))


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_columns_are_found_by_type_as_one_by_one(package):
    values = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [1, 2], "d": [True, False], "e": [3.0, 4.0], "f": ["u", "v"]}
    native = pytest.importorskip(package)
    frame = content.as_frame(native.table(values) if package == "pyarrow" else native.DataFrame(values))
    for is_wanted in (lambda kind: kind.is_numeric(), lambda kind: not kind.is_numeric(), lambda kind: False):
        expected = [name for name, kind in frame.schema.items() if is_wanted(kind)]
        assert content.columns_where(frame, is_wanted) == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_are_those_of_the_observed_values(dtype):
    table = TABLES["missing values"].astype(dtype)
    table[:, 3] = np.nan
    for values in (table, np.nan_to_num(table)):
        found = checks.extremes(values)
        assert found.has_missing == np.isnan(values).any()
        np.testing.assert_array_equal(found.low, np.fmin.reduce(values, axis=0))
        np.testing.assert_array_equal(found.high, np.fmax.reduce(values, axis=0))
        np.testing.assert_array_equal(found.varies, [np.unique(each[~np.isnan(each)]).size > 1 for each in values.T])
