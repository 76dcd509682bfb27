"""What cannot be clustered is refused in plain words; what is merely odd works."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import sparsecluster.progress
import sparsecluster.sas
import sparsecluster.search
from sparsecluster import SASClustering
from sparsecluster.datasets import shifted_groups

# Three groups far apart in 6 of 30 features; of 14, 10 and 6 items, so that only one numbering of them is right.
FULL = shifted_groups(mu=10.0, n_features=30, n_useful=6, group_size=14, seed=0)
ROWS = np.r_[0:14, 14:24, 28:34]
X, TRUTH, USEFUL = FULL.X[ROWS], FULL.truth[ROWS], FULL.useful
NAMES = [f"gene{a}" for a in range(30)]


def fit(table, **parameters):
    return SASClustering(**{"n_permutations": 3, **parameters}).fit(table)


def refuses(*words, error=ValueError):
    """The message has all these words, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(words))


def frame_with(column, values):
    return pd.DataFrame(X, columns=NAMES).assign(**{column: values})


def table_with(value, row=4, column=3):
    table = X.copy()
    table[row, column] = value
    return table


@pytest.fixture
def strict():
    """Any warning is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------- values that are not numbers


def test_nan_is_refused_with_its_column_and_a_way_out():
    with refuses("NaN in 1 of 30 columns", r"'x3' \(1\)", "SimpleImputer", "drop"):
        fit(table_with(np.nan))
    with refuses("NaN in 1 of 30 columns", r"'gene7' \(30\)", "SimpleImputer", "drop"):
        fit(frame_with("gene7", np.nan))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_infinity_is_refused_with_its_column_and_a_way_out(value, kind):
    with refuses("infinity in 1 of 30 columns", r"'x3' \(1\)", "finite", "drop"):
        fit(table_with(value).astype(kind))


def test_infinities_that_cancel_are_infinities():
    table = table_with(np.inf)
    table[5, 3] = -np.inf
    with refuses("infinity in 1 of 30 columns", r"'x3' \(2\)"):
        fit(table)


def test_of_many_bad_columns_a_few_are_named():
    with refuses("NaN in 30 of 30 columns", "'x0'", "'x4'", "and 25 more"):
        fit(np.full_like(X, np.nan))


def test_a_gap_in_a_column_of_whole_numbers_is_nan():
    values = [1, None, *range(28)]
    for frame in (frame_with("gene7", pd.array(values, dtype="Int64")), pl.DataFrame({"gene7": values, "b": X[:, 0]})):
        with refuses("NaN", "'gene7'", "SimpleImputer"):
            fit(frame)


@pytest.mark.parametrize("values", ["control", pd.Timestamp("2020-01-01"), pd.Categorical(["a", "b"] * 15)])
def test_columns_of_a_frame_that_are_not_numbers_are_named(values):
    frame = frame_with("tissue", values)
    for table in (frame, pl.from_pandas(frame)):
        with refuses("must be numbers", "1 of 31", "'tissue'", "Drop"):
            fit(table)


def test_words_in_an_array_are_refused():
    for kind in (object, "U20"):
        table = X.astype(kind)
        table[4, 3] = "control"
        with refuses("could not convert string to float", "control"):
            fit(table)


def test_numbers_stored_as_objects_are_numbers():
    np.testing.assert_array_equal(fit(X.astype(object)).labels_, TRUTH)


def test_complex_numbers_are_refused():
    with refuses("Complex data not supported"):
        fit(X + 1j)


def test_sparse_matrices_are_refused_with_a_way_out():
    with refuses("dense data is required", "toarray", error=TypeError):
        fit(scipy.sparse.csr_array(X))


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


@pytest.mark.parametrize(("n", "p", "k"), [(30, 1, 3), (30, 1, 2), (3, 30, 2), (3, 30, 3), (2, 30, 2), (2, 1, 2)])
@pytest.mark.parametrize("search", ["path", "grid", "golden"])
def test_the_smallest_tables_work(strict, n, p, k, search):
    found = fit(X[:: 30 // n][:n, :p], n_clusters=k, search=search)
    assert set(found.labels_) == set(range(k))
    assert 1 <= found.support_.sum() <= p
    assert np.isfinite(found.gap_curve_.gap).all()


def test_as_many_clusters_as_items_explain_everything(strict):
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
    with pytest.warns(UserWarning, match="2 constant columns .*: 'x0', 'x9'"):
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
    # Nearly all items are equal: 20 of them are seldom of four kinds.
    table = np.repeat(X[[0, 10, 20, 29]], [200, 2, 2, 2], axis=0)
    for seed in range(5):
        found = fit(table, n_clusters=4, subsample=20, random_state=seed)
        assert np.bincount(found.labels_).tolist() == [200, 2, 2, 2]


@pytest.mark.parametrize("subsample", [1, 2, 3])
def test_a_sample_may_be_too_small_for_the_clusters(strict, subsample):
    assert set(fit(X, n_clusters=4, subsample=subsample).labels_) == {0, 1, 2, 3}


def test_items_that_are_all_equal_are_refused():
    with refuses("All 30 columns are constant", "nothing to group by"):
        fit(np.tile(X[0], (20, 1)))


def test_fewer_distinct_items_than_clusters_are_refused():
    with refuses("only 2 distinct rows", "n_clusters=3", "fewer clusters"):
        fit(np.repeat(X[:2], 5, axis=0))
    assert set(fit(np.repeat(X[:3], 5, axis=0)).labels_) == {0, 1, 2}


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize("k", [1, 0, -2, True, 3.0, "3", None])
def test_number_of_clusters_is_a_whole_number_of_two_or_more(k):
    with refuses("n_clusters must be a whole number of at least 2", f"got {k!r}"):
        fit(X, n_clusters=k)


def test_there_are_no_more_clusters_than_items():
    with refuses(r"n_clusters must be a whole number in \[2, 30\]", "got 31", "30 rows"):
        fit(X, n_clusters=31)


@pytest.mark.parametrize("s", [0, -1, 31, True, np.True_, None, [3]])
def test_number_of_features_is_between_one_and_all(s):
    with refuses(r"n_features_to_select must be .*\[1, 30\]", re.escape(f"got {s!r}"), '"auto"'):
        fit(X, n_features_to_select=s)


@pytest.mark.parametrize("s", [0.0, -0.5, 1.5, np.nan, np.inf])
def test_share_of_features_is_between_none_and_all(s):
    with refuses(r"n_features_to_select as a share must be in \(0, 1\]", f"got {s!r}", '"auto"'):
        fit(X, n_features_to_select=s)


def test_the_only_word_for_a_number_of_features_is_auto():
    with refuses('n_features_to_select must be "auto", a whole number or a share', "got 'all'"):
        fit(X, n_features_to_select="all")


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
@pytest.mark.parametrize("s", [30, 1.0])
def test_there_are_no_more_features_to_choose_than_columns_that_vary(s):
    table = X.copy()
    table[:, 8] = 1.0
    with refuses("asks for 30 features", "only 29 of 30 columns are not constant"):
        fit(table, n_features_to_select=s)


@pytest.mark.parametrize(
    ("parameter", "word", "meant", "others"),
    [
        ("search", "gird", "grid", ["path", "golden"]),
        ("null", "refitted", "refit", ["fixed"]),
        ("gap", "betwen", "between", ["within"]),
        ("rule", "1-se", "1se", ["max"]),
        ("init", "coordinates", "coordinate", ["auto", "random", "shrinking"]),
    ],
)
def test_unknown_words_are_answered_by_the_known_and_the_nearest(parameter, word, meant, others):
    with refuses(f"{parameter} must be one of", f"got '{word}'", f'Did you mean "{meant}"') as refused:
        fit(X, **{parameter: word})
    assert all(f'"{other}"' in str(refused.value) for other in [meant, *others])


@pytest.mark.parametrize("parameter", ["n_permutations", "max_iter", "step", "n_init", "subsample"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True])
def test_counts_are_at_least_one(parameter, value):
    with refuses(f"{parameter} must be a whole number of at least 1", f"got {value!r}"):
        fit(X, **{parameter: value})


@pytest.mark.parametrize(
    "init",
    [
        np.zeros(30, int),
        np.arange(30),
        TRUTH[:20],
        TRUTH.astype(float),
        TRUTH.astype(str),
        np.zeros(30, bool),
        USEFUL[:20],
        [[0, 1, 2]],
        None,
        3,
    ],
)
def test_a_given_start_is_a_labelling_or_a_subset(init):
    with refuses("init", "30 whole numbers", "all 3 clusters", "30 booleans", "got", "shape") as refused:
        fit(X, init=init)
    assert str(np.shape(init)) in str(refused.value)


# ---------------------------------------------------------------- new items


def test_nothing_can_be_asked_before_fit():
    estimator = SASClustering()
    for ask in (estimator.predict, estimator.score, estimator.transform):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(X)
    for ask in (estimator.summary, estimator.get_support, estimator.get_feature_names_out):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()


def test_new_items_have_the_columns_of_fit():
    found = fit(frame_with("gene0", X[:, 0]))
    with refuses("X has 4 features", "expecting 30"):
        fit(X).predict(X[:, :4])
    with refuses("feature names should match", "unseen", "other"):
        found.predict(frame_with("gene0", X[:, 0]).rename(columns={"gene3": "other"}))
    with refuses("feature names", "same order"):
        found.predict(pd.DataFrame(X, columns=NAMES)[NAMES[::-1]])


def test_new_items_are_finite_numbers():
    found = fit(pd.DataFrame(X, columns=NAMES))
    for ask in (found.predict, found.score):
        with refuses("NaN in 1 of 30 columns", "'gene3'", "SimpleImputer"):
            ask(pd.DataFrame(table_with(np.nan), columns=NAMES))
        with refuses("infinity in 1 of 30 columns", "'gene3'"):
            ask(pd.DataFrame(table_with(np.inf), columns=NAMES))
        with refuses("must be numbers", "'gene3'"):
            ask(frame_with("gene3", "control"))


# ---------------------------------------------------------------- very large and very small


def assert_truth(found, table):
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    np.testing.assert_array_equal(found.predict(table), TRUTH)
    assert found.score(table) == pytest.approx(found.objective_ / 6, rel=1e-6)


def test_a_large_offset_changes_nothing(strict):
    # At 1e12 numbers are 1e-4 apart, and the spread is 1.
    table = X + 1e12
    found = fit(table, n_permutations=10)
    assert_truth(found, table)


@pytest.mark.parametrize("offset", [1e12, 1e15])
def test_a_large_offset_costs_no_digits(strict, offset):
    # At 1e15 even a mean is off by a tenth. The differences that are left are exact.
    table = X + offset
    found, plain = (fit(each, n_features_to_select=6) for each in (table, table - offset))
    np.testing.assert_allclose(found.feature_scores_, plain.feature_scores_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_very_large_and_very_small_values_work(strict, size):
    assert_truth(fit(X * size, n_permutations=10), X * size)


def test_columns_of_very_different_sizes_work(strict):
    table = X * np.logspace(-200, 200, 30)
    assert_truth(fit(table, n_permutations=10), table)


# ---------------------------------------------------------------- the world around a fit


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_printed_where_nobody_watches(capfd, monkeypatch, n_jobs):
    monkeypatch.setattr(sparsecluster.progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sparsecluster.sas, "THREADS_PAY", 0)
    fit(X, n_jobs=n_jobs)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_the_fit(monkeypatch, n_jobs):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(sparsecluster.search, "climb", interrupted)
    monkeypatch.setattr(sparsecluster.sas, "THREADS_PAY", 0)
    estimator = SASClustering(n_features_to_select=6, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X)
    assert not hasattr(estimator, "labels_")
