"""What every method of the registry takes, and what it refuses in plain words."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from sparsecluster import rand_index
from sparsecluster.datasets import mixed_groups
from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import in_turn, some
from tests.helpers.common import refuses, three_groups
from tests.helpers.methods import CORNERS, EVERY, HARD, fitted, quick, those

pytestmark = pytest.mark.usefixtures("less_work")

NUMBERS_ONLY = pytest.mark.parametrize("name", those(takes="numbers"))
COORDINATES = pytest.mark.parametrize("name", those(takes="coordinates"))
ANYTHING = pytest.mark.parametrize("name", those(takes="anything"))
MORE = [*those(takes="coordinates"), *those(takes="anything")]
MORE_THAN_NUMBERS = pytest.mark.parametrize("name", MORE)

# Groups in a row, which all methods find that take more than numbers.
ROW, ROW_TRUTH, _ = three_groups(mu=8.0, n_features=16, n_useful=12, sizes=(12, 9, 6))
NAMES = [f"gene{a}" for a in range(16)]


def with_missing(table, share=0.05):
    return np.where(np.random.default_rng(0).random(table.shape) < share, np.nan, table)


def matrices(table):
    """|x - y| of every pair in every column."""
    return np.abs(table.T[:, :, None] - table.T[:, None, :])


def letters(n_useful=9, n_features=12):
    """Categories of three levels: in the useful ones every group has its own."""
    own = (ROW_TRUTH[:, None] + np.arange(n_useful)) % 3
    other = np.random.default_rng(0).integers(0, 3, (ROW_TRUTH.size, n_features - n_useful))
    return np.array(["a", "b", "c"], dtype=object)[np.column_stack([own, other])]


def mixture():
    """Numbers and categories, with missing values."""
    return mixed_groups(n_features=12, n_useful=10, group_size=8, shift=5.0, likely=0.9, missing=0.05, seed=3)


# ---------------------------------------------------------------- numbers without missing values


@NUMBERS_ONLY
def test_missing_values_are_refused_by_name_with_a_way_out(name):
    table = ROW.copy()
    table[3, [5, 9]] = np.nan
    with refuses("NaN in 2 of 16 columns: 'gene5', 'gene9'", "does not accept missing values", "Impute"):
        quick(name).fit(pd.DataFrame(table, columns=NAMES))


@pytest.mark.parametrize("name", those(takes="numbers", predicts=True))
def test_missing_values_in_new_samples_are_refused_with_a_way_out(name):
    found = quick(name).fit(ROW)
    for ask in (found.predict, found.score):
        with refuses("NaN", type(found).__name__, "does not accept missing values", "Impute"):
            ask(with_missing(ROW))


@pytest.mark.parametrize("name", those(takes="numbers", predicts=True))
def test_a_column_that_is_never_seen_is_a_gap_like_any_other(name):
    table = ROW.copy()
    table[:, 5] = np.nan
    with pytest.warns(UserWarning, match="missing too often"), refuses("NaN", "1 of 16 columns", "'x5'"):
        quick(name).fit(table)


@NUMBERS_ONLY
def test_sparse_matrices_are_refused_with_a_way_out(name):
    made = quick(name)
    with refuses("sparse matrix", f"{type(made).__name__} takes dense tables", r"toarray\(\)", error=TypeError):
        made.fit(scipy.sparse.csr_array(ROW))
    if METHODS[name].predicts:
        with refuses("sparse matrix", "dense tables", r"toarray\(\)", error=TypeError):
            quick(name).fit(ROW).predict(scipy.sparse.csr_array(ROW))


@NUMBERS_ONLY
@pytest.mark.parametrize("make", [pd.Categorical, np.asarray], ids=["categories", "text"])
def test_text_and_categories_are_refused_by_name(name, make):
    frame = pd.DataFrame(ROW, columns=NAMES).assign(tissue=make(letters()[:, 0]))
    with refuses("takes numbers only, but column 'tissue'"):
        quick(name).fit(frame)


@NUMBERS_ONLY
def test_the_way_out_for_text_is_one_that_there_is(name):
    # There is no metric to set here: such columns have to be dropped or turned into numbers.
    assert "metric" not in quick(name).get_params()
    with refuses("column 'tissue'") as refused:
        quick(name).fit(pd.DataFrame(ROW, columns=NAMES).assign(tissue=letters()[:, 0]))
    assert "metric" not in str(refused.value)
    assert "hamming" not in str(refused.value)


# ---------------------------------------------------------------- more than numbers


@in_turn(name=MORE, form=[np.asarray, pd.DataFrame, partial(pd.DataFrame, dtype="category")])
def test_text_and_categories_are_compared_by_level(name, form):
    found = quick(name).fit(form(letters()))
    np.testing.assert_array_equal(found.labels_, ROW_TRUTH)
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(form(letters())), ROW_TRUTH)


@MORE_THAN_NUMBERS
def test_missing_values_need_no_filling_in(name):
    found = quick(name).fit(with_missing(ROW))
    np.testing.assert_array_equal(found.labels_, ROW_TRUTH)
    assert np.isfinite(found.feature_scores_).all()
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(with_missing(ROW)), ROW_TRUTH)


@MORE_THAN_NUMBERS
def test_numbers_and_categories_with_missing_values_go_together(name):
    table, truth, _ = mixture()
    assert table.isna().any(axis=None)
    found = quick(name).fit(table)
    assert rand_index(truth, found.labels_) == 1.0
    assert found.feature_names_in_.tolist() == list(table.columns)
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(table), found.labels_)


@in_turn(name=MORE, form=[scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_sparse_matrices_are_tables(name, form):
    found, dense = quick(name).fit(form(ROW)), quick(name).fit(ROW)
    np.testing.assert_array_equal(found.labels_, dense.labels_)
    np.testing.assert_allclose(found.feature_scores_, dense.feature_scores_, rtol=0, atol=1e-9)
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(form(ROW)), ROW_TRUTH)


# ---------------------------------------------------------------- coordinates


@COORDINATES
@pytest.mark.parametrize("metric", ["manhattan", lambda x, y: abs(x - y), {0: "manhattan"}])
def test_without_coordinates_it_is_refused(name, metric):
    with refuses("needs coordinates of the samples", "only dissimilarities of pairs", "Use"):
        quick(name, metric=metric).fit(ROW)


@COORDINATES
def test_matrices_have_no_coordinates(name):
    with refuses("needs coordinates of the samples", "only dissimilarities of pairs", "Use"):
        quick(name, metric="precomputed").fit(matrices(ROW))


@COORDINATES
def test_who_needs_coordinates_is_called_by_a_name_that_the_user_knows(name):
    made = quick(name, metric="manhattan")
    with refuses("needs coordinates") as refused:
        made.fit(ROW)
    # What is not a parameter of the method is no way out.
    assert "Own" not in str(refused.value)
    assert ("clusterer" in str(refused.value)) <= ("clusterer" in made.get_params())


# ---------------------------------------------------------------- any dissimilarity


@in_turn(
    name=those(takes="anything"), metric=["manhattan", lambda x, y: abs(x - y), {0: "manhattan", 5: "sqeuclidean"}]
)
def test_numbers_may_be_compared_in_any_way(name, metric):
    found = quick(name, metric=metric).fit(ROW)
    np.testing.assert_array_equal(found.labels_, ROW_TRUTH)


@ANYTHING
def test_a_function_and_its_matrices_say_the_same(name):
    fits = [quick(name, metric="manhattan").fit(ROW), quick(name, metric="precomputed").fit(matrices(ROW))]
    fits.append(quick(name, metric=lambda x, y: abs(x - y)).fit(ROW))
    for found in fits:
        np.testing.assert_array_equal(found.labels_, ROW_TRUTH)
        np.testing.assert_allclose(found.feature_scores_, fits[0].feature_scores_, rtol=0, atol=1e-9)


@in_turn(name=those(takes="anything"), form=[np.asarray, list, lambda stack: lambda a: stack[a]])
def test_matrices_may_come_in_any_form(name, form):
    found = quick(name, metric="precomputed").fit(form(matrices(ROW)))
    np.testing.assert_array_equal(found.labels_, ROW_TRUTH)
    assert found.n_features_in_ == 16
    assert not hasattr(found, "cluster_centers_")
    if METHODS[name].predicts:
        new = matrices(ROW)[:, :5]
        np.testing.assert_array_equal(found.predict(new), found.predict(matrices(ROW))[:5])
        assert np.mean(found.predict(matrices(ROW)) == ROW_TRUTH) > 0.9


# ---------------------------------------------------------------- refused by all


@EVERY
def test_infinity_is_refused_with_its_column_and_a_way_out(name):
    table = ROW.copy()
    table[4, 3] = -np.inf
    with refuses("infinity in 1 of 16 columns", r"'x3' \(1\)", "finite", "drop"):
        quick(name).fit(table)
    if METHODS[name].predicts:
        with refuses("infinity in 1 of 16 columns", "'x3'"):
            quick(name).fit(ROW).predict(table)


@EVERY
@pytest.mark.parametrize("k", [1, 0, -2, True, 3.0, "a", None])
def test_number_of_clusters_is_a_whole_number_of_two_or_more(name, k):
    with refuses("n_clusters must be a whole number of at least 2", f"got {k!r}"):
        quick(name, n_clusters=k).fit(ROW)


@EVERY
def test_there_are_no_more_clusters_than_samples(name):
    with refuses(r"n_clusters must be a whole number in \[2, 27\]", "got 28", "27 rows"):
        quick(name, 28).fit(ROW)


@EVERY
def test_fewer_distinct_samples_than_clusters_are_refused(name):
    with refuses("only 2 distinct rows", "n_clusters=3", "fewer clusters"):
        quick(name).fit(np.repeat(ROW[:2], 5, axis=0))


@EVERY
def test_samples_that_are_all_equal_are_refused(name):
    with refuses("All 16 columns are constant", "nothing to cluster by"):
        quick(name).fit(np.tile(ROW[0], (20, 1)))


@EVERY
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (ROW[:0], ["0 sample"]),
        (ROW[:1], ["1 sample"]),
        (ROW[:, :0], ["0 feature"]),
        (ROW[0], ["Expected 2D array", "reshape"]),
        (ROW + 1j, ["Complex data not supported"]),
    ],
    ids=["no row", "one row", "no column", "one dimension", "complex"],
)
def test_a_table_has_rows_and_columns_of_numbers(name, table, words):
    with refuses(*words):
        quick(name).fit(table)


@pytest.mark.parametrize("name", those(predicts=True))
def test_new_samples_have_the_columns_of_fit(name):
    found = quick(name).fit(pd.DataFrame(ROW, columns=NAMES))
    with refuses("feature names", "same order"):
        found.predict(pd.DataFrame(ROW, columns=NAMES)[NAMES[::-1]])
    with refuses("X has 4 features", "expecting 16"):
        quick(name).fit(ROW).predict(ROW[:, :4])


# ---------------------------------------------------------------- columns that say nothing


@EVERY
def test_constant_columns_are_named_and_never_chosen(name):
    table = CORNERS.copy()
    table[:, [0, 9]] = [0.0, 1e300]
    with pytest.warns(UserWarning, match="2 columns are constant and will not be used: 'x0', 'x9'"):
        found = quick(name).fit(table)
    assert not found.support_[[0, 9]].any()
    assert found.feature_scores_[[0, 9]].tolist() == [0.0, 0.0]
    assert found.support_.shape == (40,)
    if hasattr(found, "feature_weights_"):
        assert found.feature_weights_[[0, 9]].tolist() == [0.0, 0.0]
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(table), found.labels_)
        # Whatever they are in new samples does not matter.
        np.testing.assert_array_equal(found.predict(CORNERS), found.labels_)


@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_constant_columns_do_not_disturb_the_others(name):
    with pytest.warns(UserWarning, match="constant"):
        found = quick(name).fit(np.insert(HARD, [0, 17], [5.0, -3.0], axis=1))
    kept = np.setdiff1d(np.arange(32), [0, 18])
    plain = fitted(name, "hard")
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_array_equal(found.support_[kept], plain.support_)
    np.testing.assert_array_equal(found.feature_scores_[kept], plain.feature_scores_)


@EVERY
def test_the_warning_points_to_the_line_of_the_user(name):
    with pytest.warns(UserWarning, match="constant") as warned:
        quick(name).fit(np.insert(ROW, 1, 3.0, axis=1))
    assert warned[0].filename == __file__


@EVERY
def test_nothing_is_warned_of_where_all_is_well(strict, name):
    # With fewer features, sparse hierarchical clustering cuts off a single sample, of which it would warn.
    quick(name, **({"l1_bound": 4.0} if name == "sparse-hierarchical" else {})).fit(CORNERS)
