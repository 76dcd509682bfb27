"""What every method of the registry finds, and what its attributes mean."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sparsecluster.methods.registry import METHODS
from tests.helpers.cases import in_turn, some
from tests.helpers.common import plain_scores, refuses, three_groups
from tests.helpers.methods import CORNERS, EVERY, GROUPS, HARD, MIXTURES, TRUTH, fitted, quick, those

pytestmark = pytest.mark.usefixtures("less_work")

NAMES = [f"gene{a}" for a in range(40)]
FRAME = pd.DataFrame(CORNERS, columns=NAMES)
ROW, ROW_TRUTH, _ = three_groups(mu=8.0, n_features=16, n_useful=12, sizes=(12, 9, 6))
# Columns that are kept out, at the beginning and in the middle.
WITH_CONSTANTS = np.insert(CORNERS, [0, 9], [5.0, 1e300], axis=1)


@cache
def of_frame(name):
    """A quick fit to a table with names, which none of the tests changes."""
    return quick(name).set_output(transform="pandas").fit(FRAME)


# ---------------------------------------------------------------- groups


# Sparse hierarchical clustering weighs features by the one direction in which pairs of samples spread most. In a
# triangle there are two, and it takes the features of one group.
SEES_ONE_DIRECTION = ("sparse-hierarchical",)
# IF-PCA looks at k - 1 directions and i-IF-Learn at k + 2, each made as long as the others. Of groups in a row all but
# the first are noise.
SEES_TWO_DIRECTIONS = ("if-pca", "i-if-learn")
# Metagenes are compared by their proportions, which are the same in groups that have more or less of all of them.
SEES_PROPORTIONS = ("reduced-nmf",)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SEES_ONE_DIRECTION])
def test_groups_at_the_corners_of_a_triangle_are_found(name):
    np.testing.assert_array_equal(fitted(name).labels_, TRUTH)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SEES_TWO_DIRECTIONS + SEES_PROPORTIONS])
def test_groups_in_a_row_are_found(name):
    np.testing.assert_array_equal(quick(name).fit(ROW).labels_, ROW_TRUTH)


@EVERY
def test_two_groups_are_found_by_all(name):
    table, truth = CORNERS[TRUTH < 2], TRUTH[TRUTH < 2]
    np.testing.assert_array_equal(quick(name, 2).fit(table).labels_, truth)


@in_turn(name=METHODS, k=[2, 5])
def test_clusters_are_numbered_from_the_largest_to_the_smallest(name, k):
    for table in (HARD, CORNERS, HARD > 0.5):
        labels = quick(name, k).fit(table).labels_
        sizes = np.bincount(labels)
        assert labels.shape == (len(table),)
        assert sizes.size == k
        assert sizes.min() > 0
        assert (np.diff(sizes) <= 0).all()


@EVERY
def test_fit_predict_gives_the_labels(name):
    estimator = quick(name)
    np.testing.assert_array_equal(estimator.fit_predict(ROW), estimator.labels_)


@pytest.mark.parametrize("name", those(predicts=True))
def test_samples_of_fit_are_placed_where_they_are(name):
    np.testing.assert_array_equal(fitted(name).predict(CORNERS), TRUTH)
    np.testing.assert_array_equal(of_frame(name).predict(FRAME), TRUTH)


# ---------------------------------------------------------------- features


@EVERY
@pytest.mark.parametrize("groups", GROUPS)
def test_scores_are_one_minus_within_over_total(name, groups):
    found = fitted(name, groups)
    np.testing.assert_allclose(found.feature_scores_, plain_scores(GROUPS[groups], found.labels_), rtol=0, atol=1e-10)


@EVERY
def test_centers_are_means_in_the_users_units(name):
    table, found = GROUPS["in units"], fitted(name, "in units")
    means = [table[found.labels_ == c].mean(axis=0) for c in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, rtol=1e-12)


@EVERY
def test_support_is_a_mask_with_something_in_it(name):
    found = fitted(name, "hard")
    assert found.support_.dtype == bool
    assert found.support_.shape == (30,)
    assert found.support_.any()
    np.testing.assert_array_equal(found.get_support(), found.support_)
    np.testing.assert_array_equal(found.get_support(indices=True), np.flatnonzero(found.support_))


@EVERY
def test_features_with_weight_are_those_chosen(name):
    found = fitted(name, "hard")
    if hasattr(found, "feature_weights_"):
        assert (found.feature_weights_ >= 0).all()
        np.testing.assert_array_equal(found.feature_weights_ > 0, found.support_)
    weighs = name.startswith(("sparse-", "cosa", "regularized", "rskc"))
    assert hasattr(found, "feature_weights_") == weighs


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_transform_keeps_the_chosen_columns_and_inverse_puts_zeros_elsewhere(name):
    found = fitted(name)
    chosen = found.support_
    np.testing.assert_array_equal(found.transform(CORNERS), CORNERS[:, chosen])
    np.testing.assert_array_equal(quick(name).fit_transform(CORNERS), CORNERS[:, chosen])
    np.testing.assert_array_equal(found.inverse_transform(CORNERS[:, chosen]), np.where(chosen, CORNERS, 0.0))
    assert found.get_feature_names_out().tolist() == [f"x{a}" for a in np.flatnonzero(chosen)]


@EVERY
def test_names_of_columns_are_kept(name):
    found = of_frame(name)
    assert found.feature_names_in_.tolist() == NAMES
    assert found.get_feature_names_out().tolist() == [NAMES[a] for a in np.flatnonzero(found.support_)]
    pd.testing.assert_frame_equal(found.transform(FRAME), FRAME.loc[:, found.support_])


@EVERY
def test_a_frame_gives_the_answer_of_its_values(name):
    frame, values = of_frame(name), fitted(name)
    np.testing.assert_array_equal(frame.labels_, values.labels_)
    np.testing.assert_array_equal(frame.support_, values.support_)
    np.testing.assert_array_equal(frame.feature_scores_, values.feature_scores_)


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_summary_tells_the_sizes_the_number_and_the_best_features(name):
    names = ["first", *NAMES[:9], "tenth", *NAMES[9:]]
    found = quick(name).fit(pd.DataFrame(WITH_CONSTANTS, columns=names))
    text, scores = found.summary(), found.feature_scores_
    assert f"3 clusters of {', '.join(map(str, np.bincount(found.labels_)))} samples" in text
    assert f"{found.support_.sum()} of 42 features" in text
    assert f"{scores[found.support_].mean():.0%}" in text
    best = np.flatnonzero(found.support_)[np.argsort(-scores[found.support_], kind="stable")][:5]
    assert "highest scores: " + ", ".join(f"{names[a]} ({scores[a]:.2f})" for a in best) in text.splitlines()


# ---------------------------------------------------------------- odd tables


@EVERY
@pytest.mark.filterwarnings("ignore:k >= N for N [*] N square matrix:RuntimeWarning")
@pytest.mark.parametrize(("n", "p", "k"), [(45, 1, 3), (45, 2, 2), (4, 30, 2), (3, 30, 3), (2, 30, 2), (2, 1, 2)])
def test_the_smallest_tables_work(name, n, p, k):
    found = quick(name, k).fit(HARD[:n, :p])
    assert set(found.labels_) == set(range(k))
    assert 1 <= found.support_.sum() <= p
    assert np.isfinite(found.feature_scores_).all()


@in_turn(name=METHODS, k=[2, 3, 6])
def test_columns_may_have_fewer_values_than_there_are_clusters(name, k):
    for p in (3, 8):
        found = quick(name, k).fit(np.random.default_rng(0).random((40, p)) < 0.5)
        assert set(found.labels_) == set(range(k))


@pytest.mark.parametrize("name", some(METHODS, first=2))
def test_rows_that_are_equal_are_together(name):
    table = np.repeat(CORNERS[[0, 10, 25, 30, 40]], [9, 7, 5, 4, 3], axis=0)
    found = quick(name, 5).fit(table)
    assert np.bincount(found.labels_).tolist() == [9, 7, 5, 4, 3]
    np.testing.assert_array_equal(found.labels_, np.repeat(np.arange(5), [9, 7, 5, 4, 3]))


@pytest.mark.parametrize("name", some(METHODS, first=0))
def test_the_users_table_is_left_alone(name):
    table = CORNERS.copy()
    found = quick(name).fit(table)
    if METHODS[name].predicts:
        found.predict(table)
    np.testing.assert_array_equal(table, CORNERS)


@in_turn(name=METHODS, store=[np.asfortranarray, np.ndarray.tolist, lambda table: table.astype(object)])
def test_numbers_may_be_stored_in_any_way(name, store):
    found, plain = quick(name).fit(store(CORNERS)), fitted(name)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    np.testing.assert_array_equal(found.support_, plain.support_)
    np.testing.assert_array_equal(found.feature_scores_, plain.feature_scores_)


@pytest.mark.parametrize("name", some(METHODS, first=1))
def test_half_the_digits_are_enough(name):
    # Other digits are permuted in another way, so the features chosen by a few copies may differ.
    table, truth = (ROW, ROW_TRUTH) if name in SEES_ONE_DIRECTION else (CORNERS, TRUTH)
    found = quick(name).fit(table.astype(np.float32))
    np.testing.assert_array_equal(found.labels_, truth)
    np.testing.assert_allclose(found.feature_scores_, plain_scores(table, truth), rtol=0, atol=1e-5)


@in_turn(name=METHODS, scale=[1e-200, 1e200])
def test_very_large_and_very_small_numbers_are_numbers(name, scale):
    table, truth = CORNERS[TRUTH < 2] * scale, TRUTH[TRUTH < 2]
    if name in MIXTURES:
        # Their variances, which are reported in the squared units of the table, would not be numbers.
        with refuses("squared units of X", "that of column 'x0' is"):
            quick(name, 2).fit(table)
        return
    found = quick(name, 2).fit(table)
    np.testing.assert_array_equal(found.labels_, truth)
    if METHODS[name].predicts:
        np.testing.assert_array_equal(found.predict(table), truth)


@EVERY
def test_nothing_can_be_asked_before_fit(name):
    estimator = quick(name)
    asks = [estimator.transform, *([estimator.predict, estimator.score] if METHODS[name].predicts else [])]
    for ask in asks:
        with refuses("not fitted yet", error=NotFittedError):
            ask(CORNERS)
    for ask in (estimator.summary, estimator.get_support, estimator.get_feature_names_out):
        with refuses("not fitted yet", error=NotFittedError):
            ask()
