"""Whatever kind a feature is of, its scores, totals, pairs and rows follow from its dissimilarities."""

from __future__ import annotations

import numpy as np
import pytest

from sparsecluster._features.features import Rows, SparseRows
from sparsecluster._kernels.missing import improve_seen
from tests import naive
from tests.helpers.cases import in_turn
from tests.helpers.kinds import (
    COORDINATES,
    INCOMPLETE,
    KINDS,
    SUBSETS,
    K,
    N,
    P,
    apart_of,
    make,
    others,
    some_labels,
    table_case,
)
from tests.helpers.sparse import coordinates

# ---------------------------------------------------------------- scores and totals


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_sums_over_the_pairs_seen(kind, standardize):
    case = make(kind)
    features = case.features(standardize)
    assert (features.n_samples, features.n_features) == (N, P)
    for labels in (some_labels(), np.arange(N, dtype=np.int32) % 2, np.zeros(N, np.int32)):
        expected = naive.feature_scores(case.members, labels)
        np.testing.assert_allclose(features.scores(labels, K), expected, rtol=0, atol=1e-13)


def two_valued(delta):
    """Whether a dissimilarity only tells alike from unlike."""
    return np.unique(delta[delta > 0]).size == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_total_is_what_is_seen_of_a_feature(kind):
    case = make(kind)
    shares = case.parts * list(map(naive.delta_share, case.deltas))
    plain = np.array(list(map(two_valued, case.deltas)))
    np.testing.assert_allclose(case.features().total[~plain], shares[~plain], rtol=1e-12)


@pytest.mark.parametrize("kind", ["categories", "categories with missing values", "ordinal"])
def test_features_that_only_tell_alike_from_unlike_have_one_unit(kind):
    """Pairs add the same for each of them, and on average they have the total of the others."""
    case = make(kind)
    features = case.features()
    plain = np.array(list(map(two_valued, case.deltas)))
    assert plain.sum() >= 2
    assert np.ptp(case.weights(features)[plain]) < 1e-13
    shares = np.array(list(map(naive.delta_share, case.deltas)))
    assert np.mean((features.total / shares)[plain]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_without_standardizing_totals_are_plain_and_those_of_a_group_count_as_their_mean(kind):
    case = make(kind)
    expected = case.parts * list(map(naive.delta_total, case.deltas))
    np.testing.assert_allclose(case.features(standardize=False).total, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_are_known_to_be_there_and_nowhere_else(kind):
    case = make(kind)
    features = case.features()
    assert features.has_missing == (kind in INCOMPLETE) == any(np.isnan(delta).any() for delta in case.deltas)
    assert (features.seen_pairs(np.arange(P))[1] is not None) == features.has_missing


# ---------------------------------------------------------------- pairs


@in_turn(kind=KINDS, subset=SUBSETS, standardize=[True, False])
def test_pairs_add_up_what_columns_say_with_their_totals(kind, subset, standardize):
    case = make(kind)
    features, places = case.features(standardize), case.chosen(subset)
    deltas, shares = [case.deltas[j] for j in places], case.parts * list(map(naive.delta_share, case.deltas))
    similarity, seen = features.seen_pairs(np.array(subset))
    expected = naive.delta_sum(deltas, case.weights(features)[places])
    np.testing.assert_allclose(apart_of(similarity), expected, atol=1e-12)
    if seen is not None:
        np.testing.assert_allclose(seen, np.tensordot(shares[places], ~np.isnan(deltas), 1), atol=1e-13)


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", others(INCOMPLETE))
def test_within_is_trace_of_pairs_minus_their_mean_in_clusters(kind, subset):
    case, labels = make(kind), some_labels()
    features = case.features()
    similarity = features.pairs(np.array(subset)).similarity
    withins = case.weights(features) * [naive.delta_within(delta, labels) for delta in case.deltas]
    within = withins[case.chosen(subset)].sum()
    assert np.trace(similarity) - naive.similarity_objective(similarity, labels) == pytest.approx(within, rel=1e-10)


def test_what_is_seen_of_a_pair_counts_columns_of_kinds_without_missing_values_too():
    table = np.random.default_rng(0).standard_normal((N, 5))
    table[:4, 4] = np.nan
    features = table_case(table, ["sqeuclidean"] * 3 + ["manhattan"] * 2).features()
    have = ~np.isnan(table[:, 4])
    expected = 4 + (have[:, None] & have) * have.mean()
    np.testing.assert_allclose(features.seen_pairs(np.arange(5))[1], expected, rtol=1e-12)


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", INCOMPLETE)
def test_pairs_with_missing_values_are_divided_by_the_share_that_is_seen(kind, subset):
    features = make(kind).features()
    similarity, seen = features.seen_pairs(np.array(subset))
    known = (seen > 0) & ~np.eye(N, dtype=bool)
    found = apart_of(features.pairs(np.array(subset)).similarity)
    np.testing.assert_allclose(found[known], (apart_of(similarity) * seen.max())[known] / seen[known], atol=1e-12)


@pytest.mark.parametrize("kind", ["numbers with missing values", "distances with missing values"])
def test_a_pair_of_which_nothing_is_seen_counts_as_an_average_pair(kind):
    case = make(kind)
    found = apart_of(case.features().pairs(np.array([2])).similarity)
    pair = ~np.eye(N, dtype=bool)
    unseen = np.isnan(case.deltas[2])
    np.testing.assert_allclose(found[unseen & pair], found[~unseen & pair].mean(), rtol=1e-12)


# ---------------------------------------------------------------- coordinates


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("kind", COORDINATES)
def test_squared_distances_of_rows_are_the_dissimilarity(kind, subset):
    case = make(kind)
    features = case.features()
    assert features.has_rows
    rows = features.rows(np.array(subset))
    if isinstance(rows, SparseRows):
        at, seen = coordinates(rows), np.ones((N, len(subset)))
    else:
        at = rows.table * np.sqrt(rows.weights)
        seen = np.ones_like(at) if isinstance(rows, Rows) else rows.seen
    both = seen[:, None] * seen
    np.testing.assert_allclose(
        (both * (at[:, None] - at) ** 2).sum(axis=2), apart_of(features.seen_pairs(np.array(subset))[0]), atol=1e-13
    )


@pytest.mark.parametrize("kind", others(COORDINATES))
def test_where_samples_have_no_coordinates_nobody_gets_any(kind):
    features = make(kind).features()
    assert not features.has_rows
    with pytest.raises((TypeError, ValueError)):
        features.rows(np.array([1]))


@pytest.mark.parametrize("kind", ["numbers with missing values", "categories with missing values"])
def test_k_means_over_what_is_seen_lowers_just_what_scores_leave(kind):
    features = make(kind).features()
    for subset in map(np.array, SUBSETS):
        labels = some_labels()
        value = improve_seen(*features.rows(subset), labels, K, 0, 1000)
        left = features.total * (1 - features.scores(labels, K) / features.shares)
        assert -value == pytest.approx(left[subset].sum(), rel=1e-10)
