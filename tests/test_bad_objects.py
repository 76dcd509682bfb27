"""Whatever is passed as a table is read, or refused in one sentence that says what to do and names the column."""

import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import check_dtype_object

from sparsecluster import SASClustering, write_report
from tests.helpers.bad_input import NAMES, TRUTH, X, fit, frame_with
from tests.helpers.common import refuses

GROUPS = (TRUTH > 0).tolist()


def arrow(column):
    return pa.table({**dict(zip(NAMES, X.T, strict=True)), "z": column})


def objects(column):
    return frame_with("z", pd.Series(column, dtype=object))


# ---------------------------------------------------------------- what is not a table

NO_TABLES = {
    "a name": ("table.csv", "got an object of type str. Read files with sparsecluster.io.read_table"),
    "bytes": (b"abc", "type bytes"),
    "a dict": ({"a": [1, 2]}, "type dict. Use pandas.DataFrame"),
    "a generator": ((row for row in X), r"type generator. Use list\(X\)"),
    "a number": (3.5, "type float"),
    "nothing": (None, "type NoneType"),
    "a set": ({1, 2}, "type set"),
    "a function": (len, "type builtin_function_or_method"),
    "a class": (pd.DataFrame, "type type"),
    "an estimator": (SASClustering(), "type SASClustering"),
    "a dataset": (pa.dataset.dataset(pa.table({"a": [1]})), r"Call .to_table\(\)"),
    "a stream": (pa.table({"a": [1]}).to_reader(), r"Call .read_all\(\)"),
    "named fields": (np.zeros(5, dtype=[("a", float)]), "structured array.*pandas.DataFrame"),
    "raw memory": (np.zeros((5, 2), dtype="V4"), "structured array"),
}


@pytest.mark.parametrize("what", NO_TABLES)
def test_what_is_not_a_table_is_refused_with_what_to_do(what):
    table, words = NO_TABLES[what]
    with refuses("X must", words, error=TypeError) as caught:
        fit(table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (X[:, 0], "got 1D array of shape .30,."),
        (np.array(3.0), "got 0D array"),
        (pd.Series(X[:, 0]), r"X.to_frame\(\)"),
        (pl.Series(X[:, 0]), "got 1D array"),
        (pa.array(X[:, 0]), "got 1D array"),
        (["ab", "cd"], "got a list of str"),
        ([{"a": 1}] * 5, "got a list of dict.*pandas.DataFrame"),
        ([1.0, 2.0], "got a list of float"),
        ([[1, 2], [3]], "same length; that of the first is 2, but that of row 1 is 1"),
        (X + 1j, "Complex data not supported: X has dtype complex128"),
    ],
)
def test_a_table_of_another_form_is_refused_in_one_line(table, words):
    with refuses(words) as caught:
        fit(table)
    assert "\n" not in str(caught.value)


def test_arrays_in_an_array_are_refused_with_their_column():
    table = X.astype(object)
    table[3, 2] = np.zeros(2)
    with refuses("Column 'x2' has a value of type ndarray", error=TypeError):
        fit(table)
    check_dtype_object("SASClustering", SASClustering(n_clusters=2))


def test_a_sparse_matrix_with_positions_beyond_it_is_refused():
    matrix = scipy.sparse.csr_matrix(X)
    matrix.indices[5] = 10**6
    with refuses("indices must be"):
        fit(matrix)


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize("number", [10**400, -(10**400), decimal.Decimal("Infinity")])
def test_numbers_beyond_all_floats_are_refused_with_their_column(number):
    column = [number, *X[1:, 0].tolist()]
    with refuses("infinity in 1 of 31 columns: 'z'"):
        fit(objects(column))
    with refuses("infinity in 1 of 30 columns: 'x0'"):
        fit(np.column_stack([np.array(column, dtype=object), X[:, 1:].astype(object)]))


@pytest.mark.parametrize("kind", [decimal.Decimal, fractions.Fraction])
def test_decimals_and_fractions_are_numbers(kind):
    np.testing.assert_array_equal(fit(objects([kind(int(group)) for group in TRUTH])).labels_, TRUTH)


NESTED = {
    "list": [[group] for group in GROUPS],
    "struct": [{"a": group} for group in GROUPS],
    "binary": [b"a" if group else b"b" for group in GROUPS],
    "time": [dt.time(int(group)) for group in GROUPS],
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("make", [objects, arrow, lambda column: pl.DataFrame({"a": X[:, 0], "z": column})])
def test_columns_of_other_types_are_refused_by_name(kind, make):
    with refuses("Column 'z' must hold numbers, booleans, dates, categories or text"):
        fit(make(NESTED[kind]))


def test_times_that_cannot_be_converted_are_refused_by_name():
    far = pa.array([2**62 if group else -(2**62) for group in GROUPS]).cast(pa.timestamp("s"))
    with refuses("Column 'z' of type Datetime.* cannot be read: "):
        fit(arrow(far))


EMPTY = {
    "floats": np.nan,
    "objects": None,
    "text": pd.array([None] * 30, dtype="string"),
    "categories": pd.Categorical([None] * 30, categories=[], ordered=True),
    "integers": pd.array([None] * 30, dtype="Int64"),
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("metric", ["hamming", "ordinal"])
def test_a_column_without_values_is_left_out_by_any_metric_and_in_the_report(tmp_path, kind, metric):
    table = pd.DataFrame(X[:, :8].round(), columns=NAMES[:8]).assign(z=EMPTY[kind])
    with pytest.warns(UserWarning, match="1 column is missing too often and will not be used: 'z'"):
        found = fit(table, metric=metric, n_features_to_select=4)
    assert not found.support_[8]
    assert write_report(found, table, tmp_path / "report.html").stat().st_size > 0


# ---------------------------------------------------------------- transform

DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=100 * int(group)) for group in TRUTH]
MIXED = pd.DataFrame(X[:, :3], columns=NAMES[:3]).assign(day=DAYS, color=np.array(["r", "g", "b"])[TRUTH])
TABLES = {
    "pandas": MIXED,
    "polars": pl.from_pandas(MIXED),
    "arrow": pa.Table.from_pandas(MIXED),
    "objects": MIXED.astype(object).to_numpy(),
    "lists": MIXED.astype(object).to_numpy().tolist(),
    "dates": MIXED[["day", "gene0"]],
    "spans": pd.DataFrame({"a": X[:, 0], "b": pd.to_timedelta(TRUTH, unit="D")}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_whatever_is_fitted_is_transformed_to_its_chosen_columns(kind):
    table = TABLES[kind]
    found = fit(table, n_features_to_select=2)
    chosen = found.transform(table)
    assert isinstance(chosen, np.ndarray)
    whole = table if isinstance(table, list) else table.to_pandas() if hasattr(table, "to_pandas") else table
    expected = np.asarray(whole, dtype=object)[:, found.support_]
    assert chosen.shape == expected.shape
    assert [str(each)[:10] for each in chosen.flat] == [str(each)[:10] for each in expected.flat]


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_data_frames_are_made_of_any_table(kind, output):
    found = fit(TABLES[kind], n_features_to_select=4).set_output(transform=output)
    chosen = found.transform(TABLES[kind])
    assert type(chosen).__module__.startswith(output)
    assert list(chosen.columns) == MIXED.columns[found.support_].tolist()


def test_transform_checks_the_columns():
    found = fit(MIXED, n_features_to_select=2)
    with refuses("feature names"):
        found.transform(MIXED.rename(columns={"day": "night"}))
    with refuses("features"):
        found.transform(MIXED.astype(object).to_numpy()[:, :3])


def test_sparse_stays_sparse_and_numbers_stay_numbers():
    matrix = scipy.sparse.csr_matrix(X)
    assert scipy.sparse.issparse(fit(matrix).transform(matrix))
    assert fit(X).transform(X).dtype == np.float64


def test_the_way_back_is_for_numbers():
    found = fit(MIXED, n_features_to_select=2)
    with refuses("inverse_transform takes numbers only"):
        found.inverse_transform(found.transform(MIXED).astype(str))


def test_whole_numbers_of_128_bits_are_numbers():
    pl = pytest.importorskip("polars")
    X = np.random.default_rng(0).integers(0, 1000, size=(20, 3))
    X[:10, 0] += 5000
    wide = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(pl.col("a").cast(pl.Int128))
    found = SASClustering(2, n_features_to_select=1).fit(wide)
    np.testing.assert_array_equal(found.labels_, SASClustering(2, n_features_to_select=1).fit(X).labels_)
    np.testing.assert_array_equal(found.predict(wide), found.labels_)


def test_a_record_batch_is_refused_with_the_way_to_a_table():
    pa = pytest.importorskip("pyarrow")
    (batch,) = pa.table({"a": [1.0, 2.0, 5.0], "b": ["x", "y", "x"]}).to_batches()
    with pytest.raises(TypeError, match=r"Use pyarrow\.Table\.from_batches"):
        SASClustering(2).fit(batch)
