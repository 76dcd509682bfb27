"""Precomputed dissimilarities that are none are refused with the matrix, the entry and a way out."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from sparsecluster import SASClustering
from tests.helpers.common import refuses, three_groups

# Three groups far apart in 3 of 8 matrices.
X, TRUTH, USEFUL = three_groups(mu=10.0, n_features=8, n_useful=3)
D = np.abs(X.T[:, :, None] - X.T[:, None, :])


def fit(matrices, **parameters):
    return SASClustering(**{"n_permutations": 3, "metric": "precomputed", **parameters}).fit(matrices)


def with_entry(value, i=4, j=7, mirrored=True, matrix=3):
    matrices = D.copy()
    matrices[matrix, i, j] = value
    if mirrored:
        matrices[matrix, j, i] = value
    return matrices


def with_matrix(content, matrix=3):
    matrices = D.copy()
    matrices[matrix] = content
    return matrices


def as_array(matrices):
    return matrices


def as_function(matrices):
    return list(matrices).__getitem__


FORMS = pytest.mark.parametrize("form", [as_array, list, tuple, np.ndarray.tolist, as_function])


@pytest.fixture(scope="module")
def found():
    return fit(D)


# ---------------------------------------------------------------- what works


@FORMS
def test_matrices_come_as_array_lists_or_function(strict, form):
    found = fit(form(D))
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8, object])
def test_matrices_hold_any_numbers(strict, kind):
    found = fit(np.round(5 * D).astype(kind))
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)


def test_matrices_of_truth_values_say_who_differs(strict):
    found = fit(D[USEFUL] > 5)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_allclose(found.feature_scores_, 1.0)


def test_matrices_in_a_file_are_read_from_there(strict, tmp_path):
    np.save(tmp_path / "matrices.npy", D)
    on_disk = np.load(tmp_path / "matrices.npy", mmap_mode="r")
    found = fit(on_disk)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.predict(on_disk), TRUTH)


def test_matrices_in_data_frames_are_matrices(strict):
    np.testing.assert_array_equal(fit([pd.DataFrame(matrix) for matrix in D]).labels_, TRUTH)


def test_rounding_is_no_asymmetry(strict):
    noise = 1 + 1e-12 * np.random.default_rng(0).random(D.shape)
    np.testing.assert_array_equal(fit(D * noise).labels_, TRUTH)


def test_the_users_matrices_are_left_alone():
    matrices = with_entry(np.nan)
    before = matrices.copy()
    fit(matrices).predict(matrices)
    np.testing.assert_array_equal(matrices, before)


def test_pairs_that_are_not_known_are_missing_values(strict):
    missing = np.triu(np.random.default_rng(0).random(D.shape) < 0.2, 1)
    matrices = np.where(missing | missing.transpose(0, 2, 1), np.nan, D)
    found = fit(matrices)
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    np.testing.assert_array_equal(found.predict(matrices), TRUTH)


@pytest.mark.parametrize("pair", [0.0, np.nan])
def test_the_diagonal_may_be_left_out(pair):
    matrices = with_entry(pair, 2, 20)
    expected = fit(matrices, n_features_to_select=3)
    matrices[:, np.arange(30), np.arange(30)] = np.nan
    found = fit(matrices, n_features_to_select=3)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.feature_scores_, expected.feature_scores_, rtol=1e-12)


# ---------------------------------------------------------------- entries


@FORMS
def test_a_matrix_that_is_not_symmetric_is_refused_with_both_entries(form):
    with refuses("Matrix 3 must be symmetric", r"entry \(4, 7\) is 99.0", r"entry \(7, 4\) is", r"\(D \+ D.T\) / 2"):
        fit(form(with_entry(99.0, mirrored=False)))


def test_a_pair_that_is_missing_in_one_direction_only_is_not_symmetric():
    with refuses("Matrix 3 must be symmetric", r"entry \(4, 7\) is nan", r"entry \(7, 4\) is"):
        fit(with_entry(np.nan, mirrored=False))


@FORMS
def test_a_negative_entry_is_refused_with_its_place(form):
    with refuses("Matrix 3 has an entry that is negative", r"-2.0 at \(4, 7\)", "similarities"):
        fit(form(with_entry(-2.0)))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_entry_is_refused_with_its_place(value):
    with refuses("Matrix 3 has an entry that is infinite", rf"{value} at \(4, 7\)", "NaN for an unknown"):
        fit(with_entry(value))


def test_a_sample_is_not_unlike_itself():
    with refuses("Matrix 3", "not zero", "diagonal", r"0.5 at \(7, 7\)"):
        fit(with_entry(0.5, 7, 7))


def test_similarities_are_not_dissimilarities():
    with refuses("Matrix 0", "not zero on the diagonal", r"1.0 at \(0, 0\)"):
        fit(np.exp(-D))


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize("form", [as_array, list])
def test_a_matrix_is_square(form):
    with refuses("Matrix 0 must be square", r"\(30, 20\)"):
        fit(form(D[:, :, :20]))


def test_all_matrices_have_one_size():
    with refuses("Matrix 3 is 20 x 20", "30 x 30", "same size"):
        fit([*D[:3], D[3, :20, :20]])
    with refuses("Matrix 3 must be square", r"\(30, 20\)"):
        fit([*D[:3], D[3, :, :20]])


@pytest.mark.parametrize("single", [D[0], D[0].tolist(), pd.DataFrame(D[0]), X, D[None]])
def test_a_single_matrix_goes_in_as_a_list_of_one(single):
    with refuses("takes p matrices of shape", r"\(p, n, n\)", "got", r"Pass a single matrix D as \[D\]") as refused:
        fit(single)
    assert f"of shape {np.shape(single)}" in str(refused.value)
    assert fit([D[0]]).support_.tolist() == [True]


@pytest.mark.parametrize("nothing", [[], (), np.empty((0, 30, 30)), [].__getitem__])
def test_there_is_at_least_one_matrix(nothing):
    with refuses("at least one matrix", "X has none"):
        fit(nothing)


@pytest.mark.parametrize("n", [0, 1])
def test_there_are_at_least_two_samples(n):
    with refuses("Matrix 0", f"has {n} row", "at least 2"):
        fit(np.zeros((3, n, n)))


@pytest.mark.parametrize(
    "what", [None, 3, "distances", (matrix for matrix in D), {"a": D[0]}, scipy.sparse.eye_array(4)]
)
def test_anything_else_is_refused(what):
    with refuses("takes p matrices of shape", f"got {type(what).__name__}"):
        fit(what)


@pytest.mark.parametrize("what", [[D[0], None], [D[0], D], [D[0], [[0.0, 1.0], [1.0]]]])
def test_a_list_of_other_things_is_refused(what):
    with refuses("(?i)matri"):
        fit(what)


def test_words_are_no_dissimilarities():
    with refuses("Matrix 0 must hold numbers"):
        fit(np.full((2, 4, 4), "near"))
    with refuses("Matrix 1 must hold numbers"):
        fit([D[0], np.full((30, 30), "near")])


def test_sparse_matrices_of_dissimilarities_are_refused():
    with refuses("Matrix 0 must hold numbers", "csr_array"):
        fit([scipy.sparse.csr_array(matrix) for matrix in D])


def test_a_function_that_gives_no_matrix_is_refused():
    with refuses("Matrix 0 must be square", r"shape \(\)"):
        fit(lambda a: None)


def test_an_error_inside_a_function_is_passed_on():
    def broken(a):
        raise RuntimeError("the disk is gone")

    with refuses("the disk is gone", error=RuntimeError):
        fit(broken)


def test_there_are_no_more_clusters_than_samples():
    with refuses(r"n_clusters must be a whole number in \[2, 30\]", "got 31", "30 rows"):
        fit(D, n_clusters=31)


def test_there_are_no_more_features_to_choose_than_matrices():
    with refuses(r"n_features_to_select must be .*\[1, 8\]", "got 9"):
        fit(D, n_features_to_select=9)


@pytest.mark.parametrize("metric", ["auto", "sqeuclidean", "manhattan"])
def test_matrices_without_the_word_are_not_understood(metric):
    with refuses("dim 3", "dim <= 2"):
        fit(D, metric=metric)


def test_only_all_features_together_can_be_precomputed():
    with refuses(r"metric\[0\] must be one of", "got 'precomputed'"):
        fit(X, metric={0: "precomputed"})


# ---------------------------------------------------------------- matrices that say nothing


def sees_one_pair():
    matrix = np.full((30, 30), np.nan)
    matrix[:2, :2] = [[0.0, 1.0], [1.0, 0.0]]
    return matrix


@pytest.mark.parametrize(
    ("content", "why"),
    [(0.0, "constant"), (np.nan, "missing too often"), (sees_one_pair(), "missing too often")],
    ids=["zeros", "missing", "one pair"],
)
def test_a_matrix_that_says_nothing_is_kept_out_by_name(strict, content, why):
    with pytest.warns(UserWarning, match=f"^1 .*{why} and will not be used: 'x6'"):
        found = fit(with_matrix(content, 6))
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_array_equal(found.support_, USEFUL)
    assert found.feature_scores_[6] == 0.0


def test_one_of_the_matrices_is_a_matrix():
    with pytest.warns(UserWarning, match="^1 matrix is"):
        fit(with_matrix(0.0, 6))


def test_several_matrices_that_say_nothing_are_named(strict):
    with pytest.warns(UserWarning, match="2 matrices are constant.*: 'x4', 'x6'"):
        found = fit(with_matrix(0.0, [4, 6]), n_features_to_select=3)
    np.testing.assert_array_equal(found.support_, USEFUL)


@pytest.mark.parametrize("content", [0.0, np.nan])
def test_where_no_matrix_says_anything_there_is_nothing_to_group_by(content):
    with refuses("All 8 matrices are constant or have too few observed values", "nothing to cluster by"):
        fit(np.full_like(D, content))


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
def test_there_are_no_more_features_to_choose_than_matrices_that_say_something():
    with refuses("asks for 8 features", "only 7 of 8"):
        fit(with_matrix(0.0), n_features_to_select=8)


def test_a_sample_that_no_matrix_sees_is_refused_with_its_number():
    matrices = D.copy()
    matrices[:, 5] = matrices[:, :, 5] = np.nan
    with refuses("no known dissimilarity", "5"):
        fit(matrices)


def test_fewer_distinct_samples_than_clusters_are_refused():
    rows = np.repeat([0, 29], 5)
    with refuses("only 2 distinct", "n_clusters=3"):
        fit(D[:, rows][:, :, rows])


# ---------------------------------------------------------------- new samples


NEEDED = ["dissimilarities to the 30 samples of fit", "8 matrices of shape"]


@pytest.mark.parametrize(
    ("new", "shown"),
    [
        (D[:4, :5], r"ndarray of shape \(4, 5, 30\)"),
        (D[:, :5, :20], r"matrix 0 has shape \(5, 20\)"),
        (D[:, :5].transpose(1, 0, 2), r"ndarray of shape \(5, 8, 30\)"),
        (D[:, 0], r"matrix 0 has shape \(30,\)"),
        (X, r"ndarray of shape \(30, 8\)"),
        (pd.DataFrame(X), r"DataFrame of shape \(30, 8\)"),
        ([], r"list of shape \(0,\)"),
        (None, "NoneType"),
    ],
)
def test_new_samples_come_with_their_dissimilarities_to_all_samples_of_fit(found, new, shown):
    for ask in (found.predict, found.score):
        with refuses(*NEEDED, shown):
            ask(new)


def test_matrices_of_new_samples_have_one_length(found):
    with refuses(*NEEDED, r"matrix 1 has shape \(6, 30\)"):
        found.predict([matrix[: 5 + a] for a, matrix in enumerate(D)])


@pytest.mark.parametrize("value", [-1.0, np.inf])
def test_dissimilarities_of_new_samples_are_finite_and_not_negative(found, value):
    with refuses("Matrix 2 has an entry that is", "negative" if value < 0 else "infinite"):
        found.predict(with_entry(value, matrix=2)[:, :9])


def test_a_bad_dissimilarity_of_a_new_sample_is_named_with_its_place(found):
    with refuses("(?i)matrix 2", r"\(4, 7\)"):
        found.predict(with_entry(-1.0, matrix=2)[:, :9])


def test_words_are_no_dissimilarities_of_new_samples(found):
    with refuses("(?i)matrix 0"):
        found.predict(np.full((8, 5, 30), "near"))


def test_nobody_has_nothing_to_say(found):
    assert found.predict(D[:, :0]).size == 0


# ---------------------------------------------------------------- what is left out


def test_matrices_have_no_centers_and_no_names(found):
    assert not hasattr(found, "cluster_centers_")
    assert not hasattr(found, "feature_names_in_")
    assert found.n_features_in_ == 8
    assert found.get_feature_names_out().tolist() == ["x0", "x1", "x2"]


def test_nothing_is_left_of_a_table_fitted_before():
    estimator = SASClustering(n_permutations=3).fit(pd.DataFrame(X).add_prefix("gene"))
    estimator.set_params(metric="precomputed").fit(D[:5])
    assert not hasattr(estimator, "cluster_centers_")
    assert estimator.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
