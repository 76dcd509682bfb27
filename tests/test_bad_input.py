"""What cannot be clustered is refused in plain words; what is merely odd works."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from tests.helpers.bad_input import NAMES, TRUTH, USEFUL, WORDS, X, fit, frame_with, table_with
from tests.helpers.common import refuses


def assert_truth(found, table):
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    assert found.score(table) == pytest.approx(found.objective_ / 6, rel=1e-6)


# ---------------------------------------------------------------- missing values and infinity


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_nan_is_a_missing_value(strict, kind):
    table = table_with(np.nan).astype(kind)
    assert_truth(fit(table, n_permutations=10), table)


def test_nan_in_a_column_of_whole_numbers_is_a_missing_value(strict):
    values = [None, *np.round(X[1:, 0] * 10).astype(int).tolist()]
    for frame in (frame_with("gene0", pd.array(values, dtype="Int64")), pl.DataFrame({"a": values, "b": X[:, 1]})):
        np.testing.assert_array_equal(fit(frame).labels_, TRUTH)


@pytest.mark.parametrize("seen", [0, 1, 3])
def test_columns_that_are_seldom_seen_are_named_and_never_chosen(strict, seen):
    # A column has to be seen in more samples than there are clusters.
    table = X.copy()
    table[seen:, [5, 9]] = np.nan
    with pytest.warns(UserWarning, match="2 columns are missing too often and will not be used: 'x5', 'x9'"):
        found = fit(table, n_permutations=10)
    np.testing.assert_array_equal(found.support_, USEFUL & (np.arange(30) != 5))
    assert found.feature_scores_[[5, 9]].tolist() == [0.0, 0.0]
    assert np.isnan(found.cluster_centers_[:, 9]).any()


def test_of_many_columns_kept_out_a_few_are_named():
    table = X.copy()
    table[:, 20:] = np.nan
    with pytest.warns(UserWarning, match="10 columns .*: 'x20', .*'x24' and 5 more"):
        fit(table)


def test_where_nothing_is_seen_there_is_nothing_to_group_by():
    table = np.full_like(X, np.nan)
    with refuses("All 30 columns are constant or have too few observed values", "nothing to cluster by"):
        fit(table)
    table[:, :15] = 1.0
    with refuses("All 30 columns are constant or have too few observed values", "nothing to cluster by"):
        fit(table)


def test_samples_without_any_value_are_refused_with_their_numbers():
    table = X.copy()
    table[[3, 9]] = np.nan
    with refuses("2 of 30 rows have no value", "rows 3, 9", "Drop"):
        fit(table)
    # A value in a column that is left out does not help.
    table[:, 0] = 1.0
    with refuses("2 of 30 rows", "usable column", "rows 3, 9"):
        fit(table)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_infinity_is_refused_with_its_column_and_a_way_out(value, kind):
    with refuses("infinity in 1 of 30 columns", r"'x3' \(1\)", "finite", "NaN", "drop"):
        fit(table_with(value).astype(kind))


@pytest.mark.parametrize("other", [-np.inf, np.nan])
def test_infinities_are_seen_beside_what_hides_them_in_a_sum(other):
    table = table_with(np.inf)
    table[5:7, 3] = other, 1.0
    with refuses("infinity in 1 of 30 columns", rf"'x3' \({1 + np.isinf(other)}\)"):
        fit(table)


# ---------------------------------------------------------------- values that are not numbers


NAMED = [f"patient {i}" for i in range(30)]


def test_columns_of_other_types_are_read_and_kept_out_where_they_are_constant(strict):
    for values in ("control", pd.Timestamp("2020-01-01"), pd.Categorical(["a"] * 30), True):
        frame = frame_with("tissue", values)
        for table in (frame, pl.from_pandas(frame)):
            with pytest.warns(UserWarning, match="1 column is constant and will not be used: 'tissue'"):
                np.testing.assert_array_equal(fit(table).labels_, TRUTH)


@pytest.mark.parametrize("library", [pd, pl])
def test_text_that_is_different_in_nearly_all_samples_is_refused_by_name_with_a_way_out(library):
    columns = {**dict(zip(NAMES, X.T, strict=True)), "who": NAMED}
    with refuses("'who'", "30 different values in 30 samples", "identifiers", "Drop it", "'who': \"hamming\""):
        fit(library.DataFrame(columns))
    # Said so, it is meant.
    found = fit(library.DataFrame(columns), metric={"who": "hamming"}, n_features_to_select=6)
    np.testing.assert_array_equal(found.support_, [*USEFUL, False])


@pytest.mark.parametrize(
    ("values", "types"), [([1, "b"] * 15, "int, str"), ([True, "b"] * 15, "bool, str"), ([[1, 2]] * 30, "list")]
)
def test_columns_of_several_types_are_refused_by_name_with_a_way_out(values, types):
    with refuses("Column 'tissue' must hold numbers, booleans, dates, categories or text", types, "drop it"):
        fit(frame_with("tissue", pd.Series(values, dtype=object)))


def test_words_among_numbers_are_refused_by_name():
    table = X.astype(object)
    table[4, 3] = "control"
    with refuses("Column 'x3' must hold numbers", "float, str"):
        fit(table)
    with refuses("Column 'x0' is text", "convert it if it holds numbers"):
        fit(X.astype("U20"))


def test_numbers_stored_as_objects_are_numbers():
    np.testing.assert_array_equal(fit(X.astype(object)).labels_, TRUTH)


def test_complex_numbers_are_refused():
    with refuses("Complex data not supported"):
        fit(X + 1j)
    with refuses("Column 'gene0'", "complex"):
        fit(pd.DataFrame(X + 1j, columns=NAMES))


def test_columns_have_names_of_their_own():
    frame = pd.DataFrame(X, columns=["a", "b", "a", *NAMES[3:]])
    for table in (frame, frame.assign(tissue=WORDS)):
        with refuses("Column names must be unique", "'a'", "Rename or drop"):
            fit(table)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_a_sparse_matrix_stores_is_finite(value):
    with refuses("sparse matrix must hold finite numbers", "1 of its stored values", r"toarray\(\)"):
        fit(scipy.sparse.csr_array(table_with(value)))


def test_sparse_matrices_have_one_metric():
    for metric in ("manhattan", "hamming", {3: "ordinal"}, abs):
        with refuses('metric="sqeuclidean"', "'x3'" if isinstance(metric, dict) else "'x0'", r"toarray\(\)"):
            fit(scipy.sparse.csr_array(X), metric=metric)


def test_sparse_matrices_are_tables(strict):
    assert_truth(fit(scipy.sparse.csr_array(X), n_permutations=10), scipy.sparse.csc_array(X))


# ---------------------------------------------------------------- metrics


@pytest.mark.parametrize(("word", "meant"), [("euclidian", "euclidean"), ("Hamming", "hamming"), ("l1", None)])
def test_unknown_metrics_are_answered_by_the_known_and_the_nearest(word, meant):
    for metric, where in ((word, "metric"), ({"gene3": word}, r"metric\['gene3'\]")):
        with refuses(f"{where} must be one of", '"manhattan"', "function", f"got '{word}'") as refused:
            fit(pd.DataFrame(X, columns=NAMES), metric=metric)
        assert str(refused.value).endswith(f'Did you mean "{meant}"?') == (meant is not None)


def test_precomputed_is_a_metric():
    with refuses('"precomputed"', "Did you mean"):
        fit(X, metric="precompute")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("gene_3", "Did you mean 'gene3'"),
        ("zzz", "The columns are .?gene0"),
        (30, "The columns"),
        (-1, "The columns"),
        (None, ""),
    ],
)
def test_unknown_columns_are_answered_by_the_nearest(key, hint):
    with refuses(f"metric names a column {key!r} that X does not have", hint):
        fit(pd.DataFrame(X, columns=NAMES), metric={key: "manhattan"})
    with refuses(rf"feature_groups\['g'\] names a column {key!r} that X does not have", hint):
        fit(pd.DataFrame(X, columns=NAMES), feature_groups={"g": [key, "gene5"]})


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
def test_words_have_no_differences(metric):
    for values in (WORDS, pd.Categorical(WORDS)):
        for asked in (metric, {"tissue": metric}):
            with refuses(f'metric="{metric}" compares numbers', "column 'tissue' holds levels", "hamming"):
                fit(frame_with("tissue", values), metric=asked)


def test_words_without_an_order_have_no_ranks():
    for values in (WORDS, pd.Categorical(WORDS)):
        with refuses("ordinal", "column 'tissue' have no order", "ordered category", "hamming"):
            fit(frame_with("tissue", values), metric={"tissue": "ordinal"})


def raises(x, y):
    raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raises, ["fails on column 'gene3'", "RuntimeError: no luck", "two values", "a number"]),
        (lambda x: 0.0, ["fails on column 'gene3'", "TypeError", "two values"]),
        (lambda x, y: "far", ["fails on column 'gene3'", "ValueError", "a number"]),
        (lambda x, y: np.maximum(x - y, 0), ["column 'gene3'", "symmetric", r"entry \(0, 1\)", r"entry \(1, 0\)"]),
        (lambda x, y: -abs(x - y), ["column 'gene3'", "negative", r"at \(0, 1\)", "must not be negative"]),
        (lambda x, y: 1 + abs(x - y), ["column 'gene3'", "not zero", r"1.0 at \(0, 0\)"]),
        (lambda x, y: np.inf if x != y else 0.0, ["column 'gene3'", "infinite", r"at \(0, 1\)"]),
    ],
)
def test_a_function_is_a_dissimilarity(function, words):
    with refuses(*words):
        fit(pd.DataFrame(X, columns=NAMES), metric={"gene3": function})


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_function_that_tells_no_samples_apart_is_kept_out_by_name(strict, value):
    with pytest.warns(UserWarning, match="1 column is constant and will not be used: 'x9'"):
        found = fit(X, metric={9: lambda x, y: value}, n_features_to_select=6)
    np.testing.assert_array_equal(found.support_, USEFUL)


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (X[:0], ["0 sample", "minimum of 2"]),
        (X[:1], ["1 sample", "minimum of 2"]),
        (X[:, :0], ["0 feature", "minimum of 1"]),
        (X[0], ["Expected 2D array", "1D", "reshape"]),
        (X[None], ["dim 3", "dim <= 2"]),
    ],
)
def test_a_table_has_rows_and_columns(table, words):
    with refuses(*words):
        fit(table)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (frame_with("tissue", "a")[:1], ["number of rows", "at least 2", "got 1"]),
        (np.full((0, 3), "a"), ["number of rows", "at least 2", "got 0"]),
        (np.full(5, "a"), ["Expected 2D array", "1D", "Reshape"]),
        pytest.param(pd.DataFrame(index=range(9)), ["0 feature|no column"]),
    ],
    ids=["one row", "no row", "no table", "no column"],
)
def test_a_table_with_words_has_rows_and_columns(table, words):
    with refuses(*words):
        fit(table, n_clusters=2)


def test_a_lazy_frame_is_to_be_collected():
    with refuses("lazy", "collect", error=TypeError):
        fit(pl.LazyFrame({"a": [1.0, 2.0]}), n_clusters=2)


@pytest.mark.parametrize(("n", "p", "k"), [(30, 1, 3), (30, 1, 2), (3, 30, 2), (3, 30, 3), (2, 30, 2), (2, 1, 2)])
@pytest.mark.parametrize("search", ["path", "grid", "golden"])
def test_the_smallest_tables_work(strict, n, p, k, search):
    found = fit(X[:: 30 // n][:n, :p], n_clusters=k, search=search)
    assert set(found.labels_) == set(range(k))
    assert 1 <= found.support_.sum() <= p
    assert np.isfinite(found.gap_curve_.score).all()


def test_as_many_clusters_as_samples_explain_everything(strict):
    found = fit(X[:5], n_clusters=5, n_features_to_select=2)
    assert sorted(found.labels_) == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found.feature_scores_, 1.0, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_columns_may_have_fewer_values_than_there_are_clusters(strict, k):
    for seed in range(5):
        found = fit(np.random.default_rng(seed).random((40, 8)) < 0.5, n_clusters=k)
        assert set(found.labels_) == set(range(k))


# ---------------------------------------------------------------- tables with nothing to find


@pytest.mark.parametrize("size", ["auto", 5, 28])
def test_constant_columns_are_named_and_never_chosen(strict, size):
    table = X.copy()
    table[:, [0, 9]] = [0.0, 1e300]
    with pytest.warns(UserWarning, match="2 columns are constant and will not be used: 'x0', 'x9'"):
        found = fit(table, n_features_to_select=size)
    assert not found.support_[[0, 9]].any()
    assert found.feature_scores_[[0, 9]].tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
def test_constant_columns_do_not_disturb_the_others():
    table = X.copy()
    table[:, [0, 9]] = [0.0, 1e300]
    found = fit(table, n_permutations=10)
    np.testing.assert_array_equal(found.support_, USEFUL & (np.arange(30) > 0))
    np.testing.assert_array_equal(found.labels_, TRUTH)


def test_a_sample_may_miss_clusters_that_the_whole_has(strict):
    # Nearly all samples are equal: 20 of them are seldom of four kinds.
    table = np.repeat(X[[0, 10, 20, 29]], [200, 2, 2, 2], axis=0)
    for seed in range(5):
        with pytest.warns(UserWarning, match="3 clusters are made of 6 samples that are far from all others"):
            found = fit(table, n_clusters=4, subsample=20, random_state=seed)
        assert np.bincount(found.labels_).tolist() == [200, 2, 2, 2]


@pytest.mark.parametrize("subsample", [1, 2, 3])
def test_a_sample_may_be_too_small_for_the_clusters(strict, subsample):
    assert set(fit(X, n_clusters=4, subsample=subsample).labels_) == {0, 1, 2, 3}


def test_samples_that_are_all_equal_are_refused():
    with refuses("All 30 columns are constant", "nothing to cluster by"):
        fit(np.tile(X[0], (20, 1)))


def test_fewer_distinct_samples_than_clusters_are_refused():
    with refuses("only 2 distinct rows", "n_clusters=3", "fewer clusters"):
        fit(np.repeat(X[:2], 5, axis=0))
    assert set(fit(np.repeat(X[:3], 5, axis=0)).labels_) == {0, 1, 2}
