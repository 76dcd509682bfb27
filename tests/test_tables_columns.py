"""Metrics for single columns, and levels that fit has not seen."""

import numpy as np
import pandas as pd
import pytest

from sparsecluster._data.kinds import Ordinal
from tests.helpers.columns import CODES, COLORS, PLAIN, SIZES, TRUTH, N, declared, fit, frame, values
from tests.helpers.common import refuses

# ---------------------------------------------------------------- metrics by column


def test_a_dict_speaks_of_columns_by_name_or_by_number():
    table = frame(pd, declared(pd, SIZES, CODES, True))
    by_name, by_number = (
        fit(table, metric={"c": "hamming", "x1": "manhattan"}),
        fit(table, metric={5: "hamming", 1: "manhattan"}),
    )
    np.testing.assert_array_equal(by_name.feature_scores_, by_number.feature_scores_)
    auto = fit(table)
    assert np.isclose(by_name.feature_scores_, auto.feature_scores_).tolist() == [True, False, True, True, True, False]


def test_a_column_whose_name_is_a_number_goes_by_its_name():
    table = pd.DataFrame(PLAIN, columns=[4, 3, 2, 1, 0])
    scores = fit(table, metric={4: "manhattan"}).feature_scores_
    assert np.isclose(scores, fit(table).feature_scores_).tolist() == [False, True, True, True, True]


def test_numbers_can_be_levels():
    whole = np.column_stack([CODES * 10.0, TRUTH, -TRUTH, *np.random.default_rng(0).integers(3, size=(4, N))])
    found, words = fit(whole, metric="hamming"), fit(whole.astype(str))
    np.testing.assert_array_equal(found.labels_, TRUTH)
    np.testing.assert_allclose(found.feature_scores_, words.feature_scores_, rtol=0, atol=1e-12)
    assert found.cluster_centers_[:, 0].tolist() == [0.0, 10.0, 20.0]
    np.testing.assert_array_equal(found.predict(whole), TRUTH)


def test_numbers_can_be_ranks():
    skewed = np.exp(PLAIN)
    ranks = skewed.argsort(axis=0).argsort(axis=0).astype(float)
    np.testing.assert_array_equal(
        fit(skewed, metric="ordinal").feature_scores_, fit(ranks, metric="manhattan").feature_scores_
    )


def test_truth_values_can_be_numbers():
    table = frame(pd, CODES == 0).assign(word=np.array(COLORS)[CODES])
    assert fit(table, metric={"c": "sqeuclidean"}).feature_scores_[5] == pytest.approx(fit(table).feature_scores_[5])


def test_truth_values_have_an_order_whatever_the_other_columns_are():
    words = frame(pd, CODES == 0).assign(word=np.array(COLORS)[CODES])
    found = fit(words, metric={"c": "ordinal"})
    assert found._kept.reader.kinds[5] == Ordinal((0.0, 1.0))


def test_where_differences_of_an_ordered_category_are_asked_for_ranks_are_advised():
    with refuses("'c'", "ordinal"):
        fit(frame(pd, declared(pd, SIZES, CODES, True)), metric={"c": "manhattan"})


# ---------------------------------------------------------------- new levels


def test_a_level_never_seen_leaves_it_to_the_other_columns():
    table = frame(pd, pd.Categorical(values(COLORS.__getitem__)))
    found = fit(table)
    assert found.support_[5]
    np.testing.assert_array_equal(found.predict(table.assign(c="purple")), TRUTH)
    # It is as unlike all others as two of these are unlike each other.
    assert all(found.score(table.assign(c="purple")) < found.score(table.assign(c=color)) for color in COLORS)


def test_a_level_never_seen_has_no_rank():
    sizes = pd.Categorical.from_codes(TRUTH, SIZES, ordered=True)
    found = fit(pd.DataFrame({"c": sizes}), n_features_to_select=1)
    new = pd.DataFrame({"c": pd.Series(["huge", None], dtype=object)})
    assert found.predict(new[:1]).tolist() == found.predict(new[1:]).tolist()


def test_a_number_never_seen_has_the_rank_between_its_neighbors():
    found = fit(np.column_stack([10 * TRUTH, 10 * TRUTH]), metric="ordinal", n_features_to_select=1)
    assert found.predict(np.array([[-1, -1], [1, 1], [11, 11], [19, 19], [99, 99]])).tolist() == [0, 0, 1, 2, 2]


def test_a_function_of_words_is_given_new_words():
    words = [f"{'abc'[code] * 5}{i % 7}" for i, code in enumerate(TRUTH)]
    found = fit(pd.DataFrame({"w": words}), n_features_to_select=1,
                metric=lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)))  # fmt: skip
    assert found.predict(pd.DataFrame({"w": ["aaaaa9", "bbbbb9", "ccccc9"]})).tolist() == [0, 1, 2]
