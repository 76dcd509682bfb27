"""Tables of pandas, Polars and PyArrow are read by the types of their columns, and mean the same in all three."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest
from sklearn.base import clone

from tests.helpers.columns import CODES, COLORS, MISSING, PLAIN, SIZES, TRUTH, N, declared, fit, frame, values

DAY = dt.datetime(2020, 2, 27, 18)


def assert_read_as(table, numbers, kind):
    """The last column counts as these numbers, compared in this way."""
    found = fit(table)
    codes = np.array([np.nan if number is None else number for number in numbers], dtype=float)
    plain = fit(np.column_stack([PLAIN, codes]), metric={5: kind})
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-9)
    assert found.support_[5]
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    assert found.score(table) == pytest.approx(plain.score(np.column_stack([PLAIN, codes])), abs=1e-9)


# ---------------------------------------------------------------- types


def day(code):
    return (DAY + dt.timedelta(100 * code)).date()


def time(code):
    return DAY + dt.timedelta(days=code, hours=code)


def span(code):
    return dt.timedelta(hours=5 * code)


PANDAS = {
    "numbers": (pd.Series(values(float, np.nan)), values(float), "sqeuclidean"),
    "half precision": (pd.Series(values(float, np.nan), dtype="float16"), values(float), "sqeuclidean"),
    "nullable integers": (pd.array(values(int), dtype="Int64"), values(float), "sqeuclidean"),
    "small nullable integers": (pd.array(values(int, pd.NA), dtype="UInt8"), values(float), "sqeuclidean"),
    "nullable floats": (pd.array(values(float), dtype="Float64"), values(float), "sqeuclidean"),
    "integers of Arrow": (pd.Series(values(int), dtype="int64[pyarrow]"), values(float), "sqeuclidean"),
    "numbers as objects": (pd.Series(values(int, pd.NA), dtype=object), values(float), "sqeuclidean"),
    "nullable truth values": (pd.array(values(bool), dtype="boolean"), values(bool), "hamming"),
    "truth values as objects": (pd.Series(values(bool), dtype=object), values(bool), "hamming"),
    "truth values with NaN": (pd.Series(values(bool, np.nan), dtype=object), values(bool), "hamming"),
    "truth values of Arrow": (pd.Series(values(bool), dtype="bool[pyarrow]"), values(bool), "hamming"),
    "text": (pd.Series(values(COLORS.__getitem__)), values(float), "hamming"),
    "text with NA": (pd.array(values(COLORS.__getitem__, pd.NA), dtype="string"), values(float), "hamming"),
    "text of Arrow": (pd.array(values(COLORS.__getitem__), dtype="string[pyarrow]"), values(float), "hamming"),
    "objects with None": (pd.Series(values(COLORS.__getitem__), dtype=object), values(float), "hamming"),
    "objects with NaN": (pd.Series(values(COLORS.__getitem__, np.nan), dtype=object), values(float), "hamming"),
    "objects with NA": (pd.Series(values(COLORS.__getitem__, pd.NA), dtype=object), values(float), "hamming"),
    "objects with NaT": (pd.Series(values(COLORS.__getitem__, pd.NaT), dtype=object), values(float), "hamming"),
    "categories": (pd.Categorical(values(COLORS.__getitem__)), values(float), "hamming"),
    "categories of numbers": (pd.Categorical(values([7, -1, 3].__getitem__)), values(float), "hamming"),
    "ordered categories": (declared(pd, SIZES, CODES, True), values(float), "manhattan"),
    "times": (pd.Series(values(time, pd.NaT)), values(lambda c: 25 * c), "sqeuclidean"),
    "times in nanoseconds": (pd.Series(values(time)).astype("datetime64[ns]"), values(float), "sqeuclidean"),
    "times in seconds": (pd.Series(values(time)).astype("datetime64[s]"), values(float), "sqeuclidean"),
    "times of Arrow": (pd.Series(values(time), dtype="timestamp[us][pyarrow]"), values(float), "sqeuclidean"),
    "days of Arrow": (pd.Series(values(day), dtype="date32[pyarrow]"), values(float), "sqeuclidean"),
    "spans": (pd.Series(values(span, pd.NaT)), values(float), "sqeuclidean"),
}  # fmt: skip
POLARS = {
    "numbers": (pl.Series(values(float, float("nan"))), values(float), "sqeuclidean"),
    "integers": (pl.Series(values(int)), values(float), "sqeuclidean"),
    "decimals": (pl.Series(values(str)).cast(pl.Decimal(10, 2)), values(float), "sqeuclidean"),
    "truth values": (pl.Series(values(bool)), values(bool), "hamming"),
    "text": (pl.Series(values(COLORS.__getitem__)), values(float), "hamming"),
    "categories": (pl.Series(values(COLORS.__getitem__), dtype=pl.Categorical), values(float), "hamming"),
    "days": (pl.Series(values(day)), values(float), "sqeuclidean"),
    "times": (pl.Series(values(time)), values(float), "sqeuclidean"),
    "times in milliseconds": (pl.Series(values(time)).cast(pl.Datetime("ms")), values(float), "sqeuclidean"),
    "times in a zone": (pl.Series(values(time)).dt.replace_time_zone("UTC"), values(float), "sqeuclidean"),
    "spans": (pl.Series(values(span)), values(float), "sqeuclidean"),
}
ARROW = {
    "integers": (pa.array(values(int)), values(float), "sqeuclidean"),
    "truth values": (pa.array(values(bool)), values(bool), "hamming"),
    "text": (pa.array(values(COLORS.__getitem__)), values(float), "hamming"),
    "categories": (pa.array(values(COLORS.__getitem__)).dictionary_encode(), values(float), "hamming"),
    "days": (pa.array(values(day)), values(float), "sqeuclidean"),
    "times in a zone": (pa.array(values(time), pa.timestamp("us", "UTC")), values(float), "sqeuclidean"),
    "spans": (pa.array(values(span)), values(float), "sqeuclidean"),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_columns_of_pandas_are_read_by_their_types(kind):
    column, numbers, metric = PANDAS[kind]
    assert_read_as(frame(pd, column), numbers, metric)


@pytest.mark.parametrize("kind", POLARS)
def test_columns_of_polars_are_read_by_their_types(kind):
    column, numbers, metric = POLARS[kind]
    assert_read_as(frame(pl, column), numbers, metric)


@pytest.mark.parametrize("kind", ARROW)
def test_columns_of_pyarrow_are_read_by_their_types(kind):
    column, numbers, metric = ARROW[kind]
    assert_read_as(frame(pa, column), numbers, metric)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_in_a_zone_are_times(zone):
    assert_read_as(frame(pd, pd.Series(values(time)).dt.tz_localize(zone)), values(float), "sqeuclidean")


@pytest.mark.parametrize("of", [day, time, lambda code: pd.Timestamp(time(code)), span])
def test_dates_as_objects_are_dates(of):
    assert_read_as(frame(pd, pd.Series(values(of), dtype=object)), values(float), "sqeuclidean")


def test_categories_of_several_types_are_categories():
    assert_read_as(frame(pd, pd.Categorical(values([7, "a", "b"].__getitem__))), values(float), "hamming")


@pytest.mark.parametrize(
    "library",
    [
        pd,
        pytest.param(pl),
        pytest.param(pa),
    ],
)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_ranks_of_ordered_categories_are_those_declared(library, order):
    # The same words in two orders: what is small and what is large is for the user to say.
    column = declared(library, [SIZES[level] for level in order], np.argsort(order)[CODES], ordered=True)
    ranks = np.where(MISSING, np.nan, np.argsort(order)[CODES])
    assert_read_as(frame(library, column), ranks.tolist(), "manhattan")


@pytest.mark.parametrize("of", [day, time, span])
def test_new_times_may_come_in_another_form(of):
    times = [of(int(code)) for code in TRUTH]
    objects, declared = (pd.DataFrame({"c": pd.Series(times, dtype=kind)}) for kind in (object, None))
    declared = declared if of is not day else declared.astype("datetime64[us]")
    found = fit(objects, n_features_to_select=1)
    np.testing.assert_array_equal(found.predict(objects), TRUTH)
    np.testing.assert_array_equal(found.predict(declared), TRUTH)


def test_dates_and_times_in_one_column_are_on_one_scale():
    both = [day(int(code)) if i % 2 else dt.datetime.combine(day(int(code)), dt.time()) for i, code in enumerate(TRUTH)]
    found = fit(pd.DataFrame({"c": pd.Series(both, dtype=object)}), n_features_to_select=1)
    np.testing.assert_array_equal(found.labels_, TRUTH)


def test_dictionaries_of_arrow_in_pandas_are_categories():
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    column = pd.Series(pa.array(values(COLORS.__getitem__)).dictionary_encode(), dtype=kind)
    assert_read_as(frame(pd, column), values(float), "hamming")


# ---------------------------------------------------------------- one table


def mixed(library=pd):
    """Every type that all three libraries have, with missing values."""
    noise = np.random.default_rng(1)
    lists = {
        "weight": PLAIN[:, 0].tolist(),
        "count": values(int, codes=TRUTH),
        "flag": values(lambda code: code == 0, codes=TRUTH),
        "color": values(COLORS.__getitem__),
        "when": values(time, codes=TRUTH),
        "noise": PLAIN[:, 3].tolist(),
        "word": noise.choice(["u", "v", "w"], N).tolist(),
    }
    if library is pd:
        return pd.DataFrame(lists).astype({"count": "Int64", "flag": "boolean", "color": "category"})
    return pa.table(lists) if library is pa else pl.DataFrame(lists).with_columns(pl.col("color").cast(pl.Categorical))


NAMES = ["weight", "count", "flag", "color", "when", "noise", "word"]


@pytest.fixture(scope="module")
def found():
    return fit(mixed(), n_features_to_select=5)


@pytest.mark.parametrize("library", [pl, pytest.param(pa)])
def test_the_same_table_gives_the_same_answer_in_every_library(found, library):
    other = fit(mixed(library), n_features_to_select=5)
    np.testing.assert_array_equal(other.labels_, TRUTH)
    np.testing.assert_array_equal(other.labels_, found.labels_)
    np.testing.assert_array_equal(other.feature_scores_, found.feature_scores_)
    assert other.feature_names_in_.tolist() == found.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(other.predict(mixed()), found.predict(mixed(library)))


def test_chosen_columns_keep_their_names_and_types(found):
    assert found.get_feature_names_out().tolist() == NAMES[:5]
    assert found.transform(mixed()).shape == (N, 5)
    as_frame = clone(found).set_output(transform="pandas").fit(mixed())
    pd.testing.assert_frame_equal(as_frame.transform(mixed()), mixed()[NAMES[:5]])


def test_centers_are_in_the_users_units(found):
    frame = mixed()
    assert found.cluster_centers_.shape == (3, 7)
    assert found.cluster_centers_.dtype == object
    for c in range(3):
        samples = frame[found.labels_ == c]
        weight, count, flag, color, when, _, word = found.cluster_centers_[c]
        assert weight == pytest.approx(samples["weight"].mean())
        assert count == pytest.approx(samples["count"].mean())
        assert [flag, color] == [samples["flag"].mode()[0], samples["color"].mode()[0]]
        assert word in samples["word"].mode().tolist()
        # Days from 1970 on.
        assert when == pytest.approx((samples["when"] - pd.Timestamp(0)).mean() / pd.Timedelta(days=1))


def test_the_middle_of_distances_is_the_median_and_of_ranks_a_level():
    table = frame(pd, declared(pd, SIZES, CODES, True))
    found = fit(table, metric={"x1": "manhattan"})
    for c in range(3):
        samples = table[found.labels_ == c]
        assert found.cluster_centers_[c, 1] == samples["x1"].median()
        assert found.cluster_centers_[c, 5] == SIZES[c]
    numbers = fit(PLAIN, metric="manhattan")
    assert numbers.cluster_centers_.dtype == float
    medians = [np.median(PLAIN[numbers.labels_ == c], axis=0) for c in range(3)]
    np.testing.assert_allclose(numbers.cluster_centers_, medians)


def test_functions_have_no_middle():
    assert not hasattr(fit(PLAIN, metric={3: lambda x, y: abs(x - y)}), "cluster_centers_")


def test_no_centers_are_left_of_a_fit_before():
    estimator = fit(PLAIN)
    estimator.set_params(metric=lambda x, y: abs(x - y)).fit(PLAIN[:, :4])
    assert not hasattr(estimator, "cluster_centers_")


def test_the_summary_names_the_columns(found):
    text = found.summary()
    assert "3 clusters of 16, 12, 8 samples" in text
    assert "5 of 7 features" in text
    assert all(name in text for name in NAMES[:5])


def test_the_users_frame_is_left_alone(found):
    for library in (pd, pl):
        table = mixed(library)
        fit(table).predict(table)
        (pd.testing.assert_frame_equal if library is pd else pl.testing.assert_frame_equal)(table, mixed(library))


def test_a_mixed_estimator_can_be_cloned_and_pickled():
    estimator = fit(mixed(), metric={"count": "manhattan"}, feature_groups={"both": ["flag", "word"]})
    again = clone(estimator)
    assert again.get_params() == estimator.get_params()
    assert not hasattr(again, "labels_")
    stored = pickle.loads(pickle.dumps(estimator))
    new = mixed()[::-1]
    for other in (stored, again.fit(mixed())):
        np.testing.assert_array_equal(other.predict(new), estimator.predict(new))
        assert other.score(new) == estimator.score(new)
        np.testing.assert_array_equal(other.cluster_centers_, estimator.cluster_centers_)


# ---------------------------------------------------------------- arrays


def test_words_in_an_array_are_categories():
    rng = np.random.default_rng(2)
    words = np.column_stack(
        [np.array(COLORS)[CODES], *np.array([SIZES, COLORS])[:, TRUTH], rng.choice(["u", "v"], (N, 3))]
    )
    plain = fit(pd.DataFrame(words).astype("category"))
    for table in (words, words.astype(object), words.tolist()):
        found = fit(table)
        np.testing.assert_array_equal(found.labels_, TRUTH)
        np.testing.assert_array_equal(found.feature_scores_, plain.feature_scores_)
        np.testing.assert_array_equal(found.predict(table), TRUTH)
        assert found.cluster_centers_[:, 1].tolist() == SIZES


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_an_array_of_objects_has_columns_of_several_types(missing):
    table = np.column_stack([PLAIN.astype(object), np.array(values(COLORS.__getitem__, missing), dtype=object)])
    table[5, 0] = missing
    expected = frame(pd, values(COLORS.__getitem__))
    expected.loc[5, "x0"] = np.nan
    found = fit(table)
    np.testing.assert_array_equal(found.feature_scores_, fit(expected).feature_scores_)
    assert found.cluster_centers_[:, 5].tolist() == COLORS


@pytest.mark.parametrize("missing", [None, np.nan, pytest.param(pd.NA)])
def test_missing_values_in_an_array_of_objects_are_missing_values_where_all_else_is_numbers(missing):
    table = PLAIN.astype(object)
    table[5, 0] = missing
    expected = PLAIN.copy()
    expected[5, 0] = np.nan
    np.testing.assert_array_equal(fit(table).feature_scores_, fit(expected).feature_scores_)
